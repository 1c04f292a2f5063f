"""Constraints that a description brings: its base's and its loops'."""

from __future__ import annotations

from dqdyn.constraints.constraint import Constraint
from dqdyn.errors import ModelError, unknown_name
from dqdyn.model.description import Description, Loop

_SIZES = {"point": 0, "axis": 4, "pose": 8, "distance": 1}


def described(description: Description, base: str) -> tuple[Constraint, ...]:
    """The rolling constraint of a differential base, then the loops."""
    loops = tuple(constraint_of(loop) for loop in description.loops)
    return (rolling(description), *loops) if base == "differential" else loops


def rolling(description: Description) -> Constraint:
    """What the base "differential" means."""
    from dqdyn.constraints.kinds.rolling import Rolling

    drive = description.drive
    return Rolling(wheel_radius=drive.wheel_radius, wheel_distance=drive.wheel_distance)


def constraint_of(loop: Loop) -> Constraint:
    """The constraint that a loop of a description stands for."""
    from dqdyn import constraints as kinds

    if loop.kind == "coupling":
        return kinds.JointCoupling(loop.between, loop.values[:-1], loop.values[-1] if loop.values else 0.0, loop.name)
    if loop.kind not in _SIZES:
        raise unknown_name("kind of loop", loop.kind, [*_SIZES, "coupling"])
    if len(loop.between) != 2 or len(loop.values) != _SIZES[loop.kind]:
        raise ModelError(
            f"the loop {loop.name!r} of kind {loop.kind!r} lies between 2 frames and has {_SIZES[loop.kind]} values; "
            f"found {len(loop.between)} and {len(loop.values)}.",
            constraint=loop.name,
        )
    first, second = loop.between
    values = loop.values
    if loop.kind == "point":
        return kinds.PointClosure(first, second, loop.name)
    if loop.kind == "axis":
        return kinds.AxisClosure(first, second, (values[0], values[1], values[2]), bool(values[3]), loop.name)
    if loop.kind == "pose":
        from dqdyn.algebra.dual import DQ

        return kinds.PoseClosure(first, second, DQ(list(values)), loop.name)
    return kinds.DistanceClosure(first, second, values[0], loop.name)
