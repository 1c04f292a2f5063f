"""The door of every numeric function: sizes, numbers and quaternions are checked here, and nowhere inside."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dqdyn.algebra import foreign_poses
from dqdyn.algebra.any_pose import as_pose
from dqdyn.algebra.checks import UNIT_TOLERANCE
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.real import MOST_AXES, any_array, scalar_array
from dqdyn.algebra.rows import at_row, first_row, row_number
from dqdyn.algebra.scalar import stack
from dqdyn.algebra.value import Value
from dqdyn.errors import StateError
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.model.model import Model, TreeJoint

SIZES = {"q": "nq", "q1": "nq", **dict.fromkeys(("v", "a", "tau", "weights", "dq", "dv", "da"), "nv")}
MEANING = {
    "q": "configuration",
    "q1": "configuration",
    "v": "velocity",
    "a": "acceleration",
    "tau": "torque",
    "weights": "one per torque",
    "dq": "direction of q, in its tangent space",
    "dv": "direction of v",
    "da": "direction of a",
}


def as_input(model: Model, name: str, size: int, value: Any, check: bool = True) -> np.ndarray:
    """Any input of the catalog: states, times, wrenches, and points, lines and planes as values or components."""
    if name in SIZES:
        return as_state(model, name, value, check)
    if name in ("dt", "t"):
        value = any_array(value, f"{name} of {model.name!r}", StateError, argument=name)[..., None]
    if name == "goal":
        return _goal(model, value, check, size)
    array = as_state(model, name, primitive(name, value), check, size=size)
    if check and name == "joint_poses" and array.dtype != object:
        _check_placements(model, array)
    return array


def _goal(model: Model, value: Any, check: bool, size: int) -> np.ndarray:
    """vec8 of a pose in any form; numbers with a unit quaternion, unless unchecked."""
    if isinstance(value, (Value, DQ)) or foreign_poses.reader(value) is not None or _ends_in_matrices(model, value):
        value = as_pose(value).vec8()
    array = as_state(model, "goal", value, check, size=size)
    if check and array.dtype != object:
        norm = np.sqrt((array[..., :4] ** 2).sum(-1))
        row = first_row(np.abs(norm - 1.0) > UNIT_TOLERANCE)
        if row is not None:
            raise StateError(
                f"the goal has a quaternion of norm {norm[row]:.9g}{at_row(row)}: divide it by its norm.",
                argument="goal",
                row=row_number(row),
                norm=float(norm[row]),
            )
    return array


def _ends_in_matrices(model: Model, value: Any) -> bool:
    return any_array(value, f"goal of {model.name!r}", StateError, argument="goal").shape[-2:] in ((3, 3), (4, 4))


_VALUES: dict[str, type[Value]] = {"point": Point, "line": Line, "plane": Plane}


def primitive(kind: str, value: Any) -> Any:
    """A point, line or plane as an array of its components; arrays pass."""
    if not isinstance(value, (Value, DQ)):
        return value
    if kind not in _VALUES or not isinstance(value, (_VALUES[kind], DQ)):
        raise StateError(f"{kind} is given by numbers or by the value of that name; found {value!r}.", argument=kind)
    dq = value.dq if isinstance(value, Value) else value
    p, d = dq.primary, dq.dual
    return stack({"point": p.vector, "line": (*p.vector, *d.vector), "plane": (*p.vector, d.w)}[kind])


def as_state(model: Model, name: str, value: Any, check: bool = True, size: int | None = None) -> np.ndarray:
    """An input as a float64 array of shape (..., size); symbols pass as an object array of shape (size,)."""
    size = getattr(model, SIZES[name]) if size is None else size
    if type(value) is not np.ndarray or value.dtype != np.float64 or value.ndim > MOST_AXES:
        _require_no_names(model, name, value)
        given = value if name in ("dt", "t") else symbols(value, size)
        value = scalar_array(given, f"{name} of {model.name!r}", StateError, argument=name)
        if value.dtype == object:
            return _symbols(model, name, value, size)
    array: np.ndarray = value
    if array.ndim == 0 or array.shape[-1] != size:
        raise wrong_size(model, name, size, array.shape)
    if check:
        if not _surely_finite(array) and not np.isfinite(array).all():
            _not_finite(model, name, array)
        if name in ("q", "q1"):
            _check_quaternions(model, array)
    return array


def _require_no_names(model: Model, name: str, value: Any) -> None:
    """An error for numbers by name, in a dictionary or in pandas: their order may be another one."""
    keys = value.keys() if hasattr(value, "keys") else ()
    if isinstance(value, dict) or any(isinstance(key, str) for key in keys):
        call = f"robot.{'q' if name in ('q', 'q1') else 'v'}(values)"
        by_name = f"{name} of {model.name!r} is a list of numbers in the order of the joints"
        raise StateError(f"{by_name}; found values by name: {call} brings them into order.", argument=name, found=value)


def _surely_finite(array: np.ndarray) -> bool:
    """A quick yes for most batches: a finite sum of squares has finite terms. A no means to look closely."""
    if not array.flags.c_contiguous:
        return False
    flat = array.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        return math.isfinite(np.dot(flat, flat))


def wrong_size(model: Model, name: str, size: int, found: tuple[int, ...]) -> StateError:
    """The error for a vector of the wrong length."""
    meaning = f" ({MEANING[name]})" if name in MEANING else ""
    return StateError(
        f"{name}{meaning} of {model.name!r} has {size} components, so shape ({size},) or (..., {size}); found {found}.",
        argument=name,
        expected=size,
        found=found,
    )


def symbols(value: Any, size: int) -> Any:
    """A column of CasADi's symbols or numbers as a list or an array, since NumPy cannot take it apart; others pass."""
    if type(value).__module__.partition(".")[0] != "casadi" or getattr(value, "shape", None) != (size, 1):
        return value
    return value.full()[:, 0] if type(value).__name__ == "DM" else [value[i] for i in range(size)]


def _symbols(model: Model, name: str, array: np.ndarray, size: int) -> np.ndarray:
    if array.shape == (size, 1) and size > 1:  # a column, as symbolic packages have them
        array = array[:, 0]
    if array.shape != (size,):
        raise wrong_size(model, name, size, array.shape)
    return array


def _owner(model: Model, name: str, component: int) -> TreeJoint | None:
    for joint in model.joints:
        part = joint.q if name in ("q", "q1") else joint.v
        if joint.master is None and part.start <= component < part.stop:
            return joint
    return None


def _not_finite(model: Model, name: str, array: np.ndarray) -> None:
    index = tuple(np.argwhere(~np.isfinite(array))[0].tolist())
    row, component = index[:-1], index[-1]
    joint = _owner(model, name, component) if name in SIZES else None
    of_joint = f" (joint {joint.name!r})" if joint else ""
    raise StateError(
        f"{name}[{component}]{of_joint} of {model.name!r} is {array[index]}{at_row(row)}: "
        "give finite numbers, or pass check=False to let them propagate.",
        argument=name,
        joint=joint.name if joint else None,
        row=row_number(row),
    )


def _check_placements(model: Model, poses: np.ndarray) -> None:
    r = poses.reshape(*poses.shape[:-1], len(model.joints), -1)[..., :4]
    norm = np.sqrt((r * r).sum(-1))
    at = first_row(np.abs(norm - 1.0) > UNIT_TOLERANCE)
    if at is not None:
        joint, row = model.joints[at[-1]].name, at[:-1]
        raise StateError(
            f"the pose of joint {joint!r} of {model.name!r} has a quaternion of norm {norm[at]:.9g}{at_row(row)}: "
            "divide it by its norm (components w, x, y, z, then the translation).",
            argument="joint_poses",
            joint=joint,
            row=row_number(row),
            norm=float(norm[at]),
        )


def _check_quaternions(model: Model, q: np.ndarray) -> None:
    for joint in model.joints:
        part = joint.motion.quaternion
        if part is None:
            continue
        r = q[..., joint.q][..., part]
        norm = np.sqrt((r * r).sum(-1))
        row = first_row(np.abs(norm - 1.0) > UNIT_TOLERANCE)
        if row is not None:
            raise StateError(
                f"the quaternion of joint {joint.name!r} of {model.name!r} has norm {norm[row]:.9g}{at_row(row)}: "
                "divide it by its norm (components w, x, y, z).",
                argument="q",
                joint=joint.name,
                row=row_number(row),
                norm=float(norm[row]),
            )
