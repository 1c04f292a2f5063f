"""Constraints that a description brings: its base's and its loops'."""

from __future__ import annotations

from typing import Any

from dqdyn.constraints.constraint import Constraint
from dqdyn.errors import ModelError, unknown_name
from dqdyn.model.description import Description, Loop

_CLOSURES = {
    "point": ("PointClosure", 0),
    "axis": ("AxisClosure", 4),
    "pose": ("PoseClosure", 8),
    "distance": ("DistanceClosure", 1),
}
"""The class behind each kind of loop between two frames, and how many values it has."""


def described(description: Description, base: str) -> tuple[Constraint, ...]:
    """The rolling constraint of a differential base, then the loops."""
    loops = tuple(constraint_of(loop) for loop in description.loops)
    return (rolling(description), *loops) if base == "differential" else loops


def rolling(description: Description) -> Constraint:
    """What the base "differential" means."""
    from dqdyn.constraints.kinds.rolling import Rolling

    drive = description.drive
    return Rolling(wheel_radius=drive.wheel_radius, wheel_distance=drive.wheel_distance)


def has_loop_kind(constraint: Constraint, kind: str) -> bool:
    """Whether a loop of that kind is read as a constraint of this very class; those of users are not."""
    from dqdyn import constraints as kinds

    return kind in _CLOSURES and getattr(kinds, _CLOSURES[kind][0]) is type(constraint)


def constraint_of(loop: Loop) -> Constraint:
    """The constraint that a loop of a description stands for."""
    from dqdyn import constraints as kinds

    values = loop.values
    if loop.kind == "coupling":
        return kinds.JointCoupling(loop.between, values[:-1], values[-1] if values else 0.0, loop.name)
    if loop.kind not in _CLOSURES:
        raise unknown_name("kind of loop", loop.kind, [*_CLOSURES, "coupling"])
    closure, size = _CLOSURES[loop.kind]
    if len(loop.between) != 2 or len(values) != size:
        expected = f"the loop {loop.name!r} of kind {loop.kind!r} lies between 2 frames and has {size} values"
        raise ModelError(f"{expected}; found {len(loop.between)} and {len(values)}.", constraint=loop.name)
    arguments: tuple[Any, ...] = values
    if loop.kind == "axis":
        arguments = values[:3], bool(values[3])
    elif loop.kind == "pose":
        arguments = (values,)
    closed: Constraint = getattr(kinds, closure)(*loop.between, *arguments, loop.name)
    return closed
