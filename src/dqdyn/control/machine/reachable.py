"""Whether a posture within the joint limits meets several tasks and inequalities at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.arrays import Array, Reals
from dqdyn.control.core.composition import Composition
from dqdyn.control.core.coordinates import require_robot
from dqdyn.control.core.design import Design, as_list
from dqdyn.control.core.errors import refused
from dqdyn.control.core.inequality import Inequality
from dqdyn.control.core.settings import positive
from dqdyn.control.core.task import Task
from dqdyn.errors import Error
from dqdyn.robot import Robot
from dqdyn.robot.least_squares import Flags, LeastSquares
from dqdyn.robot.state import as_state

_MARGIN = 1e-4  # by which inequalities are aimed at, so that the search does not end at their border
_ITERATIONS = 100
_NO_GOALS = np.zeros((1, 0))  # all of the error depends on q


@dataclass(frozen=True, eq=False)
class PostureSearch:
    """``q`` (nq,) is the best posture found; ``success`` says whether it meets all, ``reason`` in words.

    ``missed``: by how much it misses each part, by name, in the part's unit. ``starts``: how many were tried.
    """

    q: Array
    success: bool
    reason: str
    missed: dict[str, float]
    starts: int

    def __bool__(self) -> bool:
        return self.success


def reachable(
    robot: Robot,
    parts: Task | Inequality | Sequence[Task | Inequality],
    *,
    starts: int = 50,
    seed: int = 0,
    q0: Reals | None = None,
    tolerance: float = 1e-6,
) -> PostureSearch:
    """Search a posture within the joint limits that meets tasks (e = 0) and inequalities (h ≥ 0) at t = 0.

    ``ct.reachable(robot, [ct.Region("left_hand", planes), ct.PoseTask("left_foot", pose)])``. Inverse kinematics by
    Levenberg and Marquardt starts at ``q0``, neutral unless given, then at random postures drawn by ``seed``,
    ``starts`` in all. ``tolerance`` bounds the norm of each error, in its unit. Constraints of the robot itself are
    left out. That nothing was found proves nothing, but after 50 starts it is a good reason to doubt.
    """
    require_robot(robot)
    if isinstance(starts, bool) or not isinstance(starts, (int, np.integer)) or starts < 1:
        raise refused("starts is a whole number from 1", starts)
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise refused("seed is a whole number from 0", seed)
    problem = _Postures(robot, as_list(parts, "parts are tasks and inequalities"))
    limit, draw = positive(tolerance, "tolerance of a posture"), np.random.default_rng(seed)
    start = robot.neutral() if q0 is None else as_state(robot.model, "q", q0)
    if start.shape != (robot.nq,):
        raise Error(f"a posture has the shape ({robot.nq},); found {start.shape}.", found=start.shape)
    best: tuple[Array, Array] | None = None
    used = 0
    for used in range(1, starts + 1):  # noqa: B007
        rows, errors, _ = problem.descend(problem.clip(start)[None], _NO_GOALS, limit, _ITERATIONS)
        if best is None or np.linalg.norm(errors[0]) < np.linalg.norm(best[1]):
            best = rows[0], errors[0]
        if problem.met(errors, limit)[0]:
            break
        start = robot.random_configuration(draw)
    assert best is not None
    missed = problem.missed(best[1])
    worst = ", ".join(f"{name!r} by {size:.3g}" for name, size in missed.items() if size > limit)
    success = bool(problem.met(best[1][None], limit)[0])
    reason = f"found at start {used}" if success else f"none in {used} starts; the best misses {worst}"
    return PostureSearch(best[0], success, reason, missed, used)


class _Postures(LeastSquares):
    """Errors of tasks and of inequalities that are violated, as one error to descend on."""

    def __init__(self, robot: Robot, parts: Sequence[Any]) -> None:
        for part in parts:
            if not isinstance(part, (Task, Inequality)):
                raise refused("a posture meets tasks and inequalities", part)
        if not parts:
            raise Error("a posture has to meet something: give tasks or inequalities.")
        tasks = [part for part in parts if isinstance(part, Task)]
        others = [part for part in parts if not isinstance(part, Task)]
        named = Design.of(robot.model, "velocity", tasks, others, 0.0) if tasks else None
        design = Design((), () if named is None else named.tasks[0], _bound(robot, others, named), ())
        super().__init__(robot)
        self.composition = Composition(robot.model, "velocity", design)
        self._rest = np.zeros(robot.nv)
        self._tasks = [(task.name, self.composition.task_sizes[id(task)]) for task in design.equalities]
        self._count = sum(size for _, size in self._tasks)
        self._first = self.composition.size.equalities

    def error(self, q: Array, goals: Array) -> Array:
        return np.array([self._error(row) for row in q])

    def matrix(self, q: Array, goals: Array) -> Array:
        return np.array([self._matrix(row) for row in q])

    def met(self, error: Array, tolerance: float) -> Flags:
        return np.array([all(size <= tolerance for size in self.missed(row).values()) for row in error], dtype=bool)

    def _error(self, q: Array) -> Array:
        """e, and by how much h is above the margin where it is short of it, which is negative."""
        self.composition.evaluate(0.0, np.ascontiguousarray(q), self._rest)
        views = self.composition.views
        return np.concatenate([views["error"], np.minimum(views["h"] - _MARGIN, 0.0)])

    def _matrix(self, q: Array) -> Array:
        short = self._error(q)[self._count :] < 0.0
        views = self.composition.views
        return np.vstack([views["jacobian"], -views["A"][self._first :] * short[:, None]])

    def missed(self, error: Array) -> dict[str, float]:
        """By how much each part is missed."""
        sizes, start = {}, 0
        for name, size in self._tasks:
            sizes[name], start = float(np.linalg.norm(error[start : start + size])), start + size
        for name, above in zip(self.composition.guards, error[start:].tolist(), strict=True):
            sizes[name] = max(-above - _MARGIN, 0.0)
        return sizes


def _bound(robot: Robot, inequalities: Sequence[Inequality], named: Design | None) -> Any:
    """Inequalities with names of their own."""
    if named is not None:
        return named.constraints
    return tuple(part.bound_to(robot.model) for part in inequalities)
