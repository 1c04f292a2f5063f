"""A robot rebuilt with other parameters: the inverse of making them inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.algebra.dual import IDENTITY
from dqdyn.arrays import Array
from dqdyn.dynamics.open_inertia import PER_BODY, symmetric
from dqdyn.dynamics.open_placements import POSE, ROW, as_placement, table
from dqdyn.dynamics.parameters import OF_AXES, OF_BODIES, PARAMETERS, checked_names, values
from dqdyn.errors import StateError
from dqdyn.formats.serial.dh import row_poses
from dqdyn.model.description import ROOT_JOINT, Description, DHTable
from dqdyn.model.inertia import Inertia, as_tensor, as_vector
from dqdyn.model.model import Model
from dqdyn.robot.parameter_checks import ParameterChecks
from dqdyn.robot.state import as_input

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot


def with_parameters(old: Any, given: Mapping[str, Any]) -> Robot:
    """The robot with these values of its parameters, each one row."""
    if not isinstance(given, Mapping):
        raise StateError(f"with_parameters takes a dictionary, as robot.parameters() gives it; found {given!r}.")
    robot: Robot = old
    names = checked_names(robot.model, given, "with_parameters")
    arrays = {name: _one_row(robot.model, name, given[name]) for name in names}
    ParameterChecks(robot.model, names)(list(arrays.values()))
    for name in names:
        if name == "gravity":
            robot = robot.with_gravity(arrays[name])
        elif name == "joint_poses":
            robot = robot._rebuilt(_placed(robot.model, arrays[name].reshape(-1, POSE)))
        elif name == "dh":
            robot = robot._rebuilt(_on_table(robot.model, arrays[name].reshape(-1, ROW)))
    if any(name in arrays for name in OF_BODIES):  # in the frames that the joints have by now
        robot = robot._rebuilt(_with_inertias(robot.model, _inertias(robot.model, arrays)))
    axes = {name: arrays[name] for name in OF_AXES if name in arrays}
    return robot._rebuilt(_with_axes(robot.model, axes)) if axes else robot


def _one_row(model: Model, name: str, value: Any) -> Array:
    array = as_input(model, name, PARAMETERS[name](model), value)
    if array.ndim != 1 or array.dtype == object:
        raise StateError(
            f"with_parameters makes one robot of one row of numbers per parameter; found {name} of shape "
            f"{array.shape}: call it for each row, or pass the rows to robot.function(..., parameters=...).",
            argument=name,
        )
    return array


def _inertias(model: Model, given: Mapping[str, Array]) -> list[Inertia]:
    """The inertia of each body in its frame."""
    if "inertia" in given:
        return [_of_ten(row, model.bodies[i].name) for i, row in enumerate(given["inertia"].reshape(-1, PER_BODY))]
    own = {name: np.array(entries) for name, entries in values(model, OF_BODIES[1:]).items()} | dict(given)
    parts = own["mass"], own["center_of_mass"].reshape(-1, 3), own["rotational_inertia"].reshape(-1, 6)
    return [Inertia(float(m), as_vector(c), as_tensor(symmetric(t.tolist()))) for m, c, t in zip(*parts, strict=True)]


def _of_ten(row: Array, body: str) -> Inertia:
    mass, first = float(row[0]), row[1:4]
    tensor: Array = np.array(symmetric(row[4:].tolist()))
    if mass == 0.0:
        if first.any():
            text = f"body {body!r} has a first moment m c but no mass: give it a mass, or no first moment."
            raise StateError(text, argument="inertia", body=body)
        return Inertia(0.0, tensor=as_tensor(tensor))
    center = first / mass
    return Inertia(mass, as_vector(center), as_tensor(tensor - (first @ center * np.eye(3) - np.outer(first, center))))


def _with_inertias(model: Model, inertias: list[Inertia]) -> Description:
    """A body's inertia goes to the link that its joint moves; links fixed to that one get none."""
    links = []
    for link in model.description.links:
        frame = model.frames[link.name]
        if frame.body >= 0:
            own = link.name == model.bodies[frame.body].name
            moved = inertias[frame.body].moved_by(frame.placement.conj()) if own else Inertia()
            link = replace(link, inertia=moved)
        links.append(link)
    return model.description.with_changes(links=tuple(links))


def _placed(model: Model, rows: Array) -> Description:
    """Joints at these poses in the frames of their parents' bodies."""
    at = {joint.name: as_placement(row) for joint, row in zip(model.joints, rows.tolist(), strict=True)}
    if model.base != "fixed" and at.pop(ROOT_JOINT, IDENTITY) != IDENTITY:
        text = f"the base of {model.name!r} moves from the origin of the world: leave the pose of {ROOT_JOINT!r} as it"
        raise StateError(f"{text} is, and put the robot elsewhere by its q.", argument="joint_poses", joint=ROOT_JOINT)
    joints = tuple(
        replace(j, origin=model.frames[j.parent].placement.conj() * at[j.name]) if j.name in at else j
        for j in model.description.joints
    )
    return model.description.with_changes(joints=joints)


def _on_table(model: Model, rows: Array) -> Description:
    """Joints by other Denavit-Hartenberg constants, behind the same base."""
    old, joints = table(model), list(model.description.joints)
    first = joints[0].origin
    if old.modified:
        first = first * row_poses(old.rows[0], IDENTITY, True)[0].conj()
    for i, row in enumerate(rows.tolist()):
        origin, child = row_poses(row, first if i == 0 else IDENTITY, old.modified)
        joints[i] = replace(joints[i], origin=origin, child_origin=child)
    made = DHTable(tuple((r[0], r[1], r[2], r[3]) for r in rows.tolist()), old.modified)
    return model.description.with_changes(joints=tuple(joints), dh=made)


def _with_axes(model: Model, given: Mapping[str, Array]) -> Description:
    """Damping, friction, armature and springs of the joints that have coordinates of their own."""
    changed: dict[str, dict[str, Any]] = {}
    for joint in model.joints:
        if joint.is_mimic:
            continue
        own = {name: tuple(entries[joint.v].tolist()) for name, entries in given.items()}
        if joint.name == ROOT_JOINT and model.base != "fixed":
            name = next((n for n, e in own.items() if e != getattr(joint, n)), None)
            if name is not None:
                text = f"the base of {model.name!r} has no {name}: leave that of {ROOT_JOINT!r} at 0."
                raise StateError(text, argument=name, joint=ROOT_JOINT)
            continue
        changed[joint.name] = {name: e[0] if len(e) == 1 else e for name, e in own.items()}
    joints = tuple(replace(j, **changed.get(j.name, {})) for j in model.description.joints)
    return model.description.with_changes(joints=joints)
