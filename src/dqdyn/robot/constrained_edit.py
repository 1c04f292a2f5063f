"""A robot with more constraints, refused where they contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dqdyn.arrays import Array
from dqdyn.constraints.conformity import require_rate, require_sizes
from dqdyn.constraints.stabilisation import StabilisationChoice, as_stabilisation, to_numbers
from dqdyn.errors import ModelError, StateError
from dqdyn.robot.constrained import checked, fitting

if TYPE_CHECKING:
    from dqdyn.constraints.constraint import Constraint
    from dqdyn.model.model import Model
    from dqdyn.robot.constrained import ConstrainedMethods
    from dqdyn.robot.robot import Robot

_SEED = 0
_STARTS = 20  # random configurations from which a consistent one is sought


def with_constraints(
    robot: ConstrainedMethods, constraints: Sequence[Constraint], stabilisation: StabilisationChoice, check: bool
) -> Robot:
    """The robot with these constraints after those it has."""
    from dqdyn.robot.robot import Robot

    model = robot.model
    held = model.stabilisation if stabilisation is None else as_stabilisation(stabilisation)
    everything = checked(replace(model, constraints=(*model.constraints, *constraints))).constraints
    own = [c for c in constraints if not type(c).__module__.startswith("dqdyn.")]
    for c in own:
        with fitting(c, model):
            require_sizes(c, model, robot.random_configuration(_SEED).tolist())
    loops = tuple(loop for c in everything if (loop := c.loop()) is not None)
    description = model.description.with_changes(loops=loops, stabilisation=to_numbers(held))
    new = Robot(replace(model, constraints=everything, stabilisation=held, description=description))
    if check and constraints:
        _require_rates(own, model, require_possible(new, own))
    return new


def _require_rates(constraints: Sequence[Constraint], model: Model, q: Array) -> None:
    v = np.random.default_rng(_SEED).normal(size=model.nv).tolist()
    for c in constraints:
        with fitting(c, model):
            require_rate(c, model, q.tolist(), v)


def require_possible(robot: Robot, own: Sequence[Constraint]) -> Array:
    """A q that obeys all constraints, or an error: the one that is missed, and by how much.

    Where a constraint of the user's ``own`` has a residual that A does not reduce, the error says that too.
    """
    from dqdyn.robot.robot import Robot

    if not any(c.holonomic or c.moves for c in robot.constraints):
        return robot.neutral()  # at rest all of them are obeyed anywhere
    robot = Robot(robot.model, native=False)
    rng = np.random.default_rng(0)
    best: StateError | None = None
    starts = [robot.neutral(), *(robot.random_configuration(rng) for _ in range(_STARTS))]
    for q in starts:
        try:
            return robot.project(q, rng.normal(size=robot.nv))[0]
        except StateError as problem:
            if best is None or problem.data.get("residual", np.inf) < best.data["residual"]:
                best = problem
    assert best is not None
    hint = ""
    try:
        _require_rates(own, robot.model, robot.neutral())
    except ModelError as problem:
        hint = f"; {problem}"
    raise ModelError(
        f"the constraints of {robot.name!r} contradict each other: from {len(starts)} configurations none was found "
        f"that obeys all; nearest, {best.constraint!r} was off by {best.residual:.3g} (check=False skips this search)"
        f"{hint.rstrip('.')}.",
        constraint=best.constraint,
        residual=best.residual,
    )
