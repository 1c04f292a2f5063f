"""A robot with more constraints, refused where they contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dqdyn.constraints.stabilisation import StabilisationChoice, as_stabilisation, to_numbers
from dqdyn.errors import ModelError, StateError
from dqdyn.robot.constrained import checked

if TYPE_CHECKING:
    from dqdyn.constraints.constraint import Constraint
    from dqdyn.robot.constrained import ConstrainedMethods
    from dqdyn.robot.robot import Robot

_STARTS = 20  # random configurations from which a consistent one is sought


def with_constraints(
    robot: ConstrainedMethods, constraints: Sequence[Constraint], stabilisation: StabilisationChoice, check: bool
) -> Robot:
    """The robot with these constraints after those it has."""
    from dqdyn.robot.robot import Robot

    model = robot.model
    held = model.stabilisation if stabilisation is None else as_stabilisation(stabilisation)
    everything = checked(replace(model, constraints=(*model.constraints, *constraints))).constraints
    loops = tuple(loop for c in everything if (loop := c.loop()) is not None)
    description = model.description.with_changes(loops=loops, stabilisation=to_numbers(held))
    new = Robot(replace(model, constraints=everything, stabilisation=held, description=description))
    if check and constraints:
        require_possible(new)
    return new


def require_possible(robot: Robot) -> None:
    """An error unless some state obeys all constraints: the one that is missed, and by how much."""
    from dqdyn.robot.robot import Robot

    if not any(c.holonomic or c.moves for c in robot.constraints):
        return  # at rest all of them are obeyed anywhere
    robot = Robot(robot.model, native=False)
    rng = np.random.default_rng(0)
    best: StateError | None = None
    starts = [robot.neutral(), *(robot.random_configuration(rng) for _ in range(_STARTS))]
    for q in starts:
        try:
            robot.project(q, rng.normal(size=robot.nv))
            return
        except StateError as problem:
            if best is None or problem.data.get("residual", np.inf) < best.data["residual"]:
                best = problem
    assert best is not None
    raise ModelError(
        f"the constraints of {robot.name!r} contradict each other: from {len(starts)} configurations none was found "
        f"that obeys all; nearest, {best.constraint!r} was off by {best.residual:.3g} (check=False skips this search).",
        constraint=best.constraint,
        residual=best.residual,
    )
