"""Checks of states in other coordinates: conditions, gimbal lock, rates and contacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.checks import UNIT_TOLERANCE
from dqdyn.algebra.real import real_array
from dqdyn.algebra.rows import Row, at_row, first_row, row_number
from dqdyn.algebra.scalar import unstack
from dqdyn.arrays import Reals
from dqdyn.coordinates.dual_quaternion import UnitDualQuaternion
from dqdyn.coordinates.joint_coordinates import JointCoordinates
from dqdyn.coordinates.minimal_form import Contact
from dqdyn.coordinates.tree import Part, TreeCoordinates
from dqdyn.errors import Error, StateError
from dqdyn.model.model import Model

LOCK_TOLERANCE = 1e-6
"""Gimbal lock: the determinant of J_ω, the cosine (or sine) of the second angle, is below this."""

KKT_TOLERANCE = 1e-6
"""Error of method="kkt" above which a state is refused, relative to the largest q̈ (or 1, where all are smaller)."""
_NEAR = 0.1
"""Determinant of J_ω below which this error is estimated: it grows as 1/determinant²."""


def is_healthy(tree: TreeCoordinates, health: np.ndarray) -> bool:
    """A quick yes for most states, from the function "health"; a no means to look closely."""
    chosen = sum(part.by is not None for part in tree.parts)
    residuals, regular = health[..., :-chosen], health[..., -chosen:]
    small = not residuals.size or (residuals.max() < UNIT_TOLERANCE and residuals.min() > -UNIT_TOLERANCE)
    return bool(small and (not regular.size or regular.min() > LOCK_TOLERANCE * LOCK_TOLERANCE))


def check_state(tree: TreeCoordinates, q: np.ndarray) -> None:
    """An error that names the joint, how far off it is, and the remedy, where q breaks a condition."""
    for part, by, own in _chosen(tree, q):
        off, text = by.fault(unstack(own, own.shape[-1]))
        row = first_row(np.broadcast_to(off, own.shape[:-1]) > UNIT_TOLERANCE)
        if row is not None:
            amount = float(np.broadcast_to(off, own.shape[:-1])[row])
            raise _fault(tree, part, row, text.format(off=amount), off=amount)


def check_regular(tree: TreeCoordinates, q: np.ndarray) -> None:
    """An error that names sequence, angle and remedy where coordinates are singular."""
    for part, by, own in _chosen(tree, q):
        regularity = np.asarray(by.regularity(unstack(own, own.shape[-1])))
        size = np.broadcast_to(np.sqrt(np.abs(regularity)), own.shape[:-1])
        row = first_row(~(size >= LOCK_TOLERANCE))  # NaN is singular too
        if row is not None:
            data = {"angles": own[row][:3].copy(), "determinant": float(size[row])}
            raise _fault(tree, part, row, by.lock(own[row]), **data)


def _fault(tree: TreeCoordinates, part: Part, row: Row, text: str, **data: Any) -> StateError:
    """The error for coordinates of a joint."""
    joint, by = part.joint.name, part.by.name if part.by else ""
    where = f"(joint {joint!r} of {tree.model.name!r}{at_row(row, ', row ')})"
    return StateError(f"{text} {where}.", argument="q", joint=joint, coordinates=by, row=row_number(row), **data)


def check_kkt(tree: TreeCoordinates, q: np.ndarray, found: np.ndarray, better: Callable[[], np.ndarray]) -> None:
    """An error where method="kkt" lost its digits near a singularity of the coordinates.

    M holds J_ω twice, so what is lost grows as 1/determinant²; ``better``, through the robot's own v, as 1/determinant.
    Their difference is the error, and costs a second solution only where it may matter.
    """
    regularities = [by.regularity(unstack(own, own.shape[-1])) for _, by, own in _chosen(tree, q)]
    least = np.min([np.broadcast_to(np.abs(r), q.shape[:-1]) for r in regularities], axis=0)
    if found.dtype == object or not (least < _NEAR * _NEAR).any():
        return
    expected = better()
    error = np.abs(found - expected).max(-1) / np.maximum(1.0, np.abs(expected).max(-1))
    row = first_row(~(error <= KKT_TOLERANCE) & (least < _NEAR * _NEAR))
    if row is not None:
        raise StateError(
            f"method='kkt' is inaccurate this close to a singularity of {tree.model.name!r}'s coordinates: the error "
            f"of its accelerations is estimated at {float(error[row]):.2g} of the largest{at_row(row, ', row ')}, "
            f"above {KKT_TOLERANCE:g}; use method='minimal', or other coordinates there, such as 'quaternion'.",
            argument="q",
            row=row_number(row),
            error=float(error[row]),
            determinant=float(np.sqrt(least[row])),
        )


def check_rates(tree: TreeCoordinates, A: np.ndarray, rate: np.ndarray) -> None:
    """An error where q̇ leaves the conditions: A q̇ ≠ 0."""
    if not A.shape[-2]:
        return
    off = np.abs(np.einsum("...ij,...j->...i", A, rate))
    scale = np.maximum(1.0, np.abs(rate).max(-1, keepdims=True))
    for part in tree.parts:
        own = (off / scale)[..., part.conditions].max(-1, initial=0.0)
        row = first_row(own > UNIT_TOLERANCE)
        if row is not None:
            amount = float(off[..., part.conditions].max(-1)[row])
            raise StateError(
                f"rates of joint {part.joint.name!r} of {tree.model.name!r} leave the condition of its "
                f"{part.by.name if part.by else ''} coordinates by {amount:.3g}{at_row(row, ', row ')}: take them from "
                "from_minimal(q, v), or project(q, qd).",
                argument="qd",
                joint=part.joint.name,
                row=row_number(row),
                off=amount,
            )


Contacts = Mapping[str | tuple[str, Reals], Reals]
"""Forces in world axes by the frame, or by (frame, point in its axes), at which they act."""


def as_contacts(
    model: Model, contacts: Contacts | None, check: bool
) -> tuple[tuple[Contact, ...], tuple[np.ndarray, ...]]:
    """Points of frames, and their forces one after the other as one array (..., 3k); no array if there are none."""
    if contacts is None or (isinstance(contacts, Mapping) and not contacts):
        return (), ()
    if not isinstance(contacts, Mapping):
        raise StateError(
            "contacts maps a frame, or (frame, point), to a force in world axes, as in {'left_foot': [0, 0, 300]}; "
            f"found {type(contacts).__name__}.",
            argument="contacts",
        )
    keys, parts = [], []
    for key, force in contacts.items():
        name, point = key if isinstance(key, tuple) else (key, (0.0, 0.0, 0.0))
        what, data = f"the contact at frame {name!r}", {"argument": "contacts", "frame": name}
        place = real_array(point, f"the point of {what}", StateError, **data)
        if place.shape != (3,):
            raise StateError(f"the point of {what} has three components; found shape {place.shape}.", **data)
        x, y, z = place.tolist()
        array = real_array(force, f"the force of {what}", StateError, **data)
        if not array.ndim or array.shape[-1] != 3:
            found = f"found shape {array.shape}"
            raise StateError(f"the contact force at frame {name!r} has three components; {found}.", **data)
        if check and not (np.isfinite(array).all() and np.isfinite([x, y, z]).all()):
            raise StateError(f"{what} is not finite.", **data)
        keys.append((model.frame(name).name, (x, y, z)))
        parts.append(array)
    try:
        batch = np.broadcast_shapes(*(p.shape[:-1] for p in parts))
    except ValueError:
        shapes = ", ".join(str(p.shape) for p in parts)
        raise StateError(f"contact forces have batches that do not fit together: {shapes}.") from None
    return tuple(keys), (np.concatenate([np.broadcast_to(p, (*batch, 3)) for p in parts], axis=-1),)


def named_joints(model: Model, choice: object, joint: str | Sequence[str] | None) -> list[str]:
    """The joints that a choice is for: those named, or all that accept it."""
    if joint is not None:
        return [joint] if isinstance(joint, str) else list(joint)
    dual = choice == "dual-quaternion" or isinstance(choice, UnitDualQuaternion)
    groups = ("pose",) if dual else ("pose", "rotation")
    found = [j.name for j in model.joints if j.motion.group in groups]
    if not found:
        raise Error(
            f"{model.name!r} has no free joint, and a dual quaternion is a pose: load it with base='free', or use "
            "'quaternion' for its spherical joints."
        )
    return found


def _chosen(tree: TreeCoordinates, q: np.ndarray) -> list[tuple[Part, JointCoordinates, np.ndarray]]:
    return [(part, part.by, q[..., part.q]) for part in tree.parts if part.by is not None]
