"""Inverse kinematics: any frame, any joint kind, limits respected, loops closed, and a reason where it fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.algebra.any_pose import PoseLike, as_pose
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.real import in_words
from dqdyn.algebra.rows import row_number
from dqdyn.algebra.scalar import is_numeric
from dqdyn.algebra.value import require_broadcast
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array, Reals
from dqdyn.errors import Error, unknown_name
from dqdyn.robot.inverse_search import GOAL_AXES, PoseProblem
from dqdyn.robot.kinematic import Seed
from dqdyn.robot.least_squares import Flags
from dqdyn.robot.manipulability import twist_mask
from dqdyn.robot.state import as_state

if TYPE_CHECKING:
    from dqdyn.model.model import Frame
    from dqdyn.robot.robot import Robot

_SAME = 1e-4
"""Configurations nearer to each other than this are one solution, in rad and m."""
_POSTURE_STEPS = 100


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """The outcome: ``q`` is the best configuration found, ``success`` says whether it meets the tolerance.

    ``reason`` is one sentence; errors are in rad and m; ``at_limits`` names the joints at a limit. ``solutions``
    (k, nq) are all that were found, the nearest to the start or posture first; ``q`` is the first of them.
    """

    q: Array
    success: bool
    reason: str
    rotation_error: float
    translation_error: float
    iterations: int
    restarts: int
    at_limits: tuple[str, ...] = ()
    solutions: Array = field(default_factory=lambda: np.zeros((0, 0)))
    constraint_error: float = 0.0
    """Largest residual of the robot's holonomic constraints, in rad or m."""

    def __bool__(self) -> bool:
        return self.success


@dataclass(frozen=True, eq=False)
class InverseKinematicsBatch(InverseKinematics):
    """The outcome for a batch of goals: ``q`` is (..., nq), and ``reached`` (...) says which goals were met.

    ``success`` says whether all were; errors are the largest; ``reason`` speaks of the first failure, if any.
    ``found[i]`` is the outcome of one goal, and so is each that iteration gives. ``solutions`` are theirs alone.
    """

    reached: Flags = field(default_factory=lambda: np.zeros(0, dtype=bool))
    outcomes: tuple[InverseKinematics, ...] = ()
    """One per goal, in the order of ``reached.ravel()``."""

    def __len__(self) -> int:
        return len(self.reached)

    def __getitem__(self, index: Any) -> InverseKinematics:
        number = np.arange(self.reached.size).reshape(self.reached.shape)[index]
        if np.ndim(number):
            raise Error(f"found[i] is the outcome of one goal of the batch {self.reached.shape}; found {index!r}.")
        return self.outcomes[int(number)]

    def __iter__(self) -> Iterator[InverseKinematics]:
        return iter(self.outcomes)


def solve(
    robot: Robot,
    frame: Frame,
    pose: PoseLike,
    q0: Reals | None,
    *,
    tolerance: float,
    iterations: int,
    starts: int,
    restarts: int,
    rng: Seed,
    mask: Reals | None,
    axes: str,
    posture: Reals | None,
    position_only: bool,
) -> InverseKinematics:
    """Searches from all starts at once, then restarts for goals that none reached; see ``Robot.inverse_kinematics``."""
    _require_counts(tolerance, iterations=(iterations, 1), starts=(starts, 1), restarts=(restarts, 0))
    problem = PoseProblem(robot, frame, _mask(mask, position_only), _axes(axes))
    goals, start, near, batch = _broadcast(robot, pose, q0, posture)
    rng = _generator(rng)
    search = _Search(problem, goals, start, near, tolerance, iterations, relaxed=posture is not None)
    given = [start] if posture is None or q0 is None else [start, near]
    drawn = [_everywhere(robot.random_configuration(rng), start) for _ in range(starts - len(given))]
    search.run([*given, *drawn][:starts])
    used = 0
    while used < restarts and not search.success.all() and robot.nv:
        used += 1
        search.run([_everywhere(robot.random_configuration(rng), start)], only=~search.success, restart=used)
    outcomes = tuple(search.outcome(i) for i in range(len(goals)))
    return outcomes[0] if batch is None else _gathered(outcomes, batch, robot.nq)


class _Search:
    """Rows of goals, and what has been found for each: all solutions, or the nearest miss."""

    def __init__(
        self,
        problem: PoseProblem,
        goals: Array,
        start: Array,
        near: Array,
        tolerance: float,
        iterations: int,
        relaxed: bool,
    ) -> None:
        self.problem, self.goals, self.near, self.relaxed = problem, goals, near, relaxed
        self.tolerance, self.iterations = tolerance, iterations
        self.best = problem.clip(start)
        self.error = np.full(
            (len(goals), problem.error(self.best[:1], goals[:1]).shape[1] if len(goals) else 0), np.inf
        )
        self.success = np.zeros(len(goals), dtype=bool)
        self.steps, self.restarts = np.zeros(len(goals), dtype=int), np.zeros(len(goals), dtype=int)
        self.solutions: list[list[Array]] = [[] for _ in goals]

    def run(self, starts: list[Array], only: Flags | None = None, restart: int = 0) -> None:
        """Search from one or more starts of each row, or of some rows only."""
        rows = np.arange(len(self.goals)) if only is None else np.flatnonzero(only)
        if not rows.size:
            return
        problem, tolerance = self.problem, self.tolerance
        owner = np.tile(rows, len(starts))
        q = problem.clip(np.concatenate([start[rows] for start in starts]))
        q, error, steps = problem.descend(q, self.goals[owner], tolerance, self.iterations)
        met = problem.met(error, tolerance)
        if self.relaxed and met.any():
            at = owner[met]
            q[met] = problem.relax(q[met], self.goals[at], self.near[at], tolerance, _POSTURE_STEPS)
            error[met] = problem.error(q[met], self.goals[at])
        np.add.at(self.steps, owner, steps)
        self.restarts[rows] = restart
        distance = problem.distance(q, self.near[owner])
        self._keep(owner, q, error, met, np.where(met, distance, np.linalg.norm(error, axis=1)))

    def _keep(self, owner: Any, q: Array, error: Array, met: Flags, merit: Array) -> None:
        """The solutions of each row, the nearest first; while there is none, the smallest error."""
        for k in np.lexsort((merit, ~met)):
            row = owner[k]
            if met[k]:
                known = self.solutions[row]
                if not known or self.problem.distance(np.array(known), np.array([q[k]] * len(known))).min() > _SAME:
                    known.append(q[k])
                if not self.success[row]:
                    self.best[row], self.error[row], self.success[row] = q[k], error[k], True
            elif not self.success[row] and np.linalg.norm(error[k]) < np.linalg.norm(self.error[row]):
                self.best[row], self.error[row] = q[k], error[k]

    def outcome(self, row: int) -> InverseKinematics:
        """The result of one row, with its reason."""
        problem, robot = self.problem, self.problem.robot
        q = self.best[row]
        rotation, translation, residual = (float(size[0]) for size in problem.sizes(self.error[row : row + 1]))
        limited = problem.at_limits(q)
        at = tuple(j.name for j in robot.joints if not j.is_mimic and limited[j.q].any())
        solutions = np.array(self.solutions[row]).reshape(len(self.solutions[row]), robot.nq)
        found = (rotation, translation, int(self.steps[row]), int(self.restarts[row]), at, solutions, residual)
        return InverseKinematics(q, bool(self.success[row]), self._reason(row, at, rotation, translation), *found)

    def _reason(self, row: int, at: tuple[str, ...], rotation: float, translation: float) -> str:
        problem, robot, frame = self.problem, self.problem.robot, self.problem.frame
        if self.success[row]:
            return f"Reached within {self.tolerance:g}."
        off = f"off by {rotation:.3g} rad and {translation:.3g} m"
        residual = np.abs(self.error[row][len(problem.rows) :])
        if residual.size and residual.max() > self.tolerance:
            worst = int(residual.argmax())
            off += f", and the constraint {problem.constraint_names[worst]!r} by {residual[worst]:.3g}"
        if robot.nv == 0:
            return f"The robot has no moving joint, and the frame {frame.name!r} is {off}."
        if not robot.model.path(frame.body):
            return f"The frame {frame.name!r} is fixed to the world, and no joint moves it; it is {off}."
        if at:
            return f"Not reached: {off}, with joints at their limits: {', '.join(at)}."
        matrix = problem.matrix(self.best[row : row + 1], self.goals[row : row + 1])[0]
        rank = int(np.linalg.matrix_rank(matrix[: len(problem.rows)], tol=1e-6))
        return f"Not reached: {off}; the Jacobian has rank {rank} there, so the pose seems out of reach."


def _gathered(outcomes: tuple[InverseKinematics, ...], batch: tuple[int, ...], nq: int) -> InverseKinematicsBatch:
    """The outcomes of a batch as one."""
    reached = np.array([one.success for one in outcomes], dtype=bool)
    missed = np.flatnonzero(~reached)
    reason = f"All {len(outcomes)} reached: {outcomes[0].reason}" if outcomes else "There was no pose to reach."
    if missed.size:
        row = tuple(int(i) for i in np.unravel_index(missed[0], batch))
        first = f"the first, at row {row_number(row)}: {outcomes[missed[0]].reason}"
        reason = f"{missed.size} of {len(outcomes)} not reached; {first}"
    return InverseKinematicsBatch(
        np.array([one.q for one in outcomes]).reshape(*batch, nq),
        not missed.size,
        reason,
        max((one.rotation_error for one in outcomes), default=0.0),
        max((one.translation_error for one in outcomes), default=0.0),
        sum(one.iterations for one in outcomes),
        max((one.restarts for one in outcomes), default=0),
        tuple(dict.fromkeys(name for one in outcomes for name in one.at_limits)),
        constraint_error=max((one.constraint_error for one in outcomes), default=0.0),
        reached=reached.reshape(batch),
        outcomes=outcomes,
    )


# --- arguments --------------------------------------------------------------------------------------------------------


def _broadcast(
    robot: Robot, pose: PoseLike, q0: Reals | None, posture: Reals | None
) -> tuple[Array, Array, Array, tuple[int, ...] | None]:
    """Goals (n, 8), starts and what solutions should be near to (n, nq), and the shape of the batch, None for one."""
    if isinstance(q0, (Pose, DQ)):
        raise Error("inverse_kinematics takes the goal before the start, as in (frame, pose, q0).", found=q0)
    goal = as_pose(pose)
    if not all(is_numeric(c) for c in goal.dq.components):
        raise Error("inverse kinematics takes poses of numbers, not of symbols.", found=pose)
    near = None if posture is None else as_state(robot.model, "q", posture)
    start = as_state(robot.model, "q", q0) if q0 is not None else robot.neutral() if near is None else near
    near = start if near is None else near
    if start.dtype == object or near.dtype == object:
        raise Error("inverse kinematics starts at numbers, not at symbols.", found=q0)
    shapes = (goal.shape, start.shape[:-1], near.shape[:-1])
    require_broadcast(*shapes)
    batch = np.broadcast_shapes(*shapes)
    count = int(np.prod(batch))
    rows = [np.broadcast_to(a, (*batch, a.shape[-1])).reshape(count, a.shape[-1]) for a in (goal.vec8(), start, near)]
    return np.ascontiguousarray(rows[0]), rows[1], rows[2], batch or None


def _everywhere(q: Array, start: Array) -> Array:
    """One configuration for every row."""
    return np.broadcast_to(q, start.shape)


def _generator(rng: Seed) -> np.random.Generator:
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        found = in_words(rng)
        raise Error(f"rng is a seed, a whole number from 0, or a NumPy Generator; found {found}.", found=rng) from None


def _mask(mask: Reals | None, position_only: bool) -> Flags:
    """Which of [φ, p] count."""
    if not isinstance(position_only, (bool, np.bool_)):
        raise Error(f"position_only is True or False; found {in_words(position_only)}.", found=position_only)
    if mask is None:
        return np.array([not position_only] * 3 + [True] * 3)
    if position_only:
        raise Error("position_only=True is mask=[0, 0, 0, 1, 1, 1]: give one of them.", found=mask)
    return twist_mask(mask, "inverse kinematics")


def _axes(axes: str) -> str:
    if not isinstance(axes, str) or axes not in GOAL_AXES:
        raise unknown_name("expression of a mask", axes, GOAL_AXES)
    return axes


def _require_counts(tolerance: float, **counts: tuple[Any, int]) -> None:
    numbers = (int, float, np.integer, np.floating)
    whole = all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n, _ in counts.values())
    whole = whole and all(n >= least for n, least in counts.values())
    positive = isinstance(tolerance, numbers) and not isinstance(tolerance, bool) and 0.0 < tolerance < np.inf
    if not (whole and positive):
        wanted = ", ".join(f"{name} ≥ {least}" for name, (_, least) in counts.items())
        found = ", ".join(f"{name}={in_words(n)}" for name, (n, _) in {**counts, "tolerance": (tolerance, 0)}.items())
        raise Error(f"inverse kinematics needs whole numbers {wanted} and a finite tolerance > 0; found {found}.")
