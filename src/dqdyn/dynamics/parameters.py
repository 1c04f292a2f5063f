"""Parameters of a robot as inputs: inertias, gravity, what the joints contribute, and where they stand.

A model whose numbers are scalars of any kind, traced ones too, runs in the fast forms. One program then serves robots
that differ in these parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from dqdyn.algebra.open_pose import OpenPose
from dqdyn.algebra.quaternion import combine, pure
from dqdyn.algebra.scalar import Scalars
from dqdyn.algebra.tensor import Symmetric
from dqdyn.dynamics.fast.regressor import inertial_parameters
from dqdyn.dynamics.open_inertia import PER_BODY, OpenMoments, symmetric
from dqdyn.dynamics.open_placements import POSE, ROW, joint_frame, joint_pose, table, with_dh, with_joint_poses
from dqdyn.errors import Error, unknown_name
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import Body, Model

PARAMETERS: Mapping[str, Callable[[Model], int]] = {
    "inertia": lambda model: PER_BODY * len(model.bodies),
    "mass": lambda model: len(model.bodies),
    "center_of_mass": lambda model: 3 * len(model.bodies),
    "rotational_inertia": lambda model: 6 * len(model.bodies),
    "gravity": lambda model: 3,
    "damping": lambda model: model.nv,
    "friction": lambda model: model.nv,
    "armature": lambda model: model.nv,
    "stiffness": lambda model: model.nv,
    "rest": lambda model: model.nv,
    "joint_poses": lambda model: POSE * len(model.joints),
    "dh": lambda model: ROW * len(model.joints),
}
"""Length of each parameter that can be an input, in the order of the inputs."""
OF_BODIES = ("inertia", "mass", "center_of_mass", "rotational_inertia")
"""Parameters of the bodies: the first stands for the three others."""
OF_AXES = ("damping", "friction", "armature", "stiffness", "rest")
"""Parameters per velocity, of the joints that have coordinates of their own."""
IN_MASS_MATRIX = (*OF_BODIES, "armature", "joint_poses", "dh")
"""Parameters on which the mass matrix depends."""
_TOGETHER = (*(("inertia", name) for name in OF_BODIES[1:]), ("joint_poses", "dh"))


def checked_names(model: Model, names: Any, function: str) -> tuple[str, ...]:
    """Names of parameters in their own order, each once; an error for others, and for what the robot cannot have."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise Error(f"parameters is a list, as in ['inertia', 'gravity']; found {names!r}.", option="parameters")
    given = list(names)
    for name in given:
        if not isinstance(name, str) or name not in PARAMETERS:
            raise unknown_name(f"parameter of {function}", name, PARAMETERS)
    for one, other in _TOGETHER:
        if one in given and other in given:
            text = f"{one!r} and {other!r} say the same of {model.name!r} in two ways: choose one of them"
            raise Error(f"{text} as parameter of {function}.", option="parameters")
    if given and isinstance(model.gravity, FieldGravity):
        text = f"{model.name!r} is in a gravity field, which sees its bodies, so {function} takes no parameters"
        raise Error(f"{text}: use with_gravity with a vector.", option="parameters")
    if given and model.constraints:
        text = f"{function} of {model.name!r}, which has constraints, takes no parameters as inputs"
        raise Error(f"{text}: use a robot without them.", option="parameters")
    if "dh" in given:
        table(model)
    return tuple(name for name in PARAMETERS if name in given)


def values(model: Model, names: Iterable[str]) -> dict[str, list[float]]:
    """The robot's own parameters, by name, in the order of the inputs."""
    return {name: _value(model, name) for name in names}


def _value(model: Model, name: str) -> list[float]:
    if name == "inertia":
        own: list[float] = inertial_parameters(model).tolist()
        return own
    if name == "gravity":
        assert not isinstance(model.gravity, FieldGravity)
        return list(model.gravity)
    if name == "joint_poses":
        return [e for joint in model.joints for e in joint_pose(joint)]
    if name == "dh":
        return [e for row in table(model).rows for e in row]
    if name in OF_BODIES:
        return [e for body in model.bodies for e in _of_body(body.inertia, name)]
    return [e for joint in model.joints if not joint.is_mimic for e in getattr(joint, name)]


def _of_body(inertia: Inertia, name: str) -> list[float]:
    t = inertia.tensor
    return {
        "mass": [inertia.mass],
        "center_of_mass": list(inertia.com),
        "rotational_inertia": [t[0][0], t[0][1], t[1][1], t[0][2], t[1][2], t[2][2]],
    }[name]


def with_parameters(model: Model, given: Mapping[str, Scalars]) -> Model:
    """The model with these parameters, which may be scalars of any kind."""
    frames: list[OpenPose | None] = [None] * len(model.bodies)  # in which the parameters of bodies are given
    if "gravity" in given:
        model = replace(model, gravity=tuple(given["gravity"]))
    if "joint_poses" in given:
        model = with_joint_poses(model, given["joint_poses"])
    if "dh" in given:
        frames = [joint_frame(model, i, given["dh"]) for i in range(len(model.bodies))]
        model = with_dh(model, given["dh"])
    if any(name in given for name in OF_BODIES):
        own = [(body, _inertia(body.inertia, i, given, frames[i])) for i, body in enumerate(model.bodies)]
        model = replace(model, bodies=tuple(Body(body.name, inertia) for body, inertia in own))  # type: ignore[arg-type]
    for name in OF_AXES:
        if name in given:
            model = replace(model, joints=tuple(_with_axes(joint, name, given[name]) for joint in model.joints))
    return model


def _with_axes(joint: Any, name: str, entries: Scalars) -> Any:
    """A joint with its share of a parameter per velocity; joints that mimic others keep theirs."""
    has_none = name in ("stiffness", "rest") and joint.motion.quaternion is not None
    return joint if joint.is_mimic or has_none else replace(joint, **{name: tuple(entries[joint.v])})


def _inertia(inertia: Any, body: int, given: Mapping[str, Scalars], frame: OpenPose | None) -> OpenMoments:
    """The inertia of a body with its parameters, which are in a frame on the body; what is not given stays."""
    if "inertia" in given:
        moments = OpenMoments.of(given["inertia"][PER_BODY * body : PER_BODY * (body + 1)])
        return moments if frame is None else moments.moved_by(frame)
    mass = given["mass"][body] if "mass" in given else inertia.mass
    center: Scalars = inertia.com
    if "center_of_mass" in given:
        center = given["center_of_mass"][3 * body : 3 * body + 3]
        center = center if frame is None else (frame.position + combine(frame.columns, pure(*center))).vector
    tensor: Any = inertia.tensor
    if "rotational_inertia" in given:
        tensor = symmetric(given["rotational_inertia"][6 * body : 6 * body + 6])
        tensor = tensor if frame is None else Symmetric.of(tensor).rotated(frame.columns).matrix
    return OpenMoments.about_center(mass, center, tensor)
