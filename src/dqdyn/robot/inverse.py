"""Inverse kinematics: any frame, any joint kind, limits respected, and a reason where it fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import screw_log
from dqdyn.algebra.scalar import is_numeric
from dqdyn.arrays import Reals
from dqdyn.errors import Error
from dqdyn.model.model import Frame
from dqdyn.robot.kinematic import Seed
from dqdyn.robot.state import as_state

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot


@dataclass(frozen=True, eq=False)
class InverseKinematics:
    """The outcome: ``q`` is the best configuration found, ``success`` says whether it meets the tolerance.

    ``reason`` is one sentence; errors are in rad and m; ``at_limits`` names the joints at a limit.
    """

    q: np.ndarray
    success: bool
    reason: str
    rotation_error: float
    translation_error: float
    iterations: int
    restarts: int
    at_limits: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.success


def solve(
    problem: PoseProblem, q0: Reals | None, tolerance: float, iterations: int, restarts: int, rng: Seed
) -> InverseKinematics:
    """Levenberg–Marquardt on the screw from the frame to the target, with steps clipped to the limits."""
    robot, target = problem.robot, problem.target
    if iterations < 1 or restarts < 0 or not tolerance > 0.0:
        raise Error("inverse kinematics needs iterations ≥ 1, restarts ≥ 0 and tolerance > 0.")
    if not all(is_numeric(c) and np.ndim(c) == 0 for c in target.components):
        raise Error("inverse kinematics takes one pose of numbers; give the poses of a batch one by one.")
    rng = np.random.default_rng(rng)
    start = robot.neutral() if q0 is None else as_state(robot.model, "q", q0)
    if start.ndim != 1:
        raise Error(f"inverse kinematics starts at one configuration of shape ({robot.nq},); found {start.shape}.")
    best, used, total = None, 0, 0
    for attempt in range(restarts + 1):
        used = attempt
        q, error, steps = problem.descend(problem.clip(start), tolerance, iterations)
        total += steps
        if best is None or np.linalg.norm(error) < np.linalg.norm(best[1]):
            best = q, error
        if problem.met(error, tolerance):
            break
        start = robot.random_configuration(rng)
    assert best is not None
    return problem.outcome(*best, tolerance, total, used)


class PoseProblem:
    def __init__(self, robot: Robot, frame: Frame, target: DQ, position_only: bool) -> None:
        self.robot, self.frame, self.target, self.position_only = robot, frame, target, position_only
        self.pose = robot.function("pose", frame=frame)
        self.jacobian = robot.function("twist_jacobian", frame=frame, expressed="body")
        self.lower, self.upper = robot.limits.lower, robot.limits.upper

    def error(self, q: np.ndarray) -> np.ndarray:
        """Body twist [ω, v] that reaches the target in unit time; only v where the position alone counts."""
        relative = DQ(self.pose(q, check=False)).conj() * self.target
        if relative.primary.w < 0:
            relative = -relative
        if self.position_only:
            return relative.translation().vec3()
        return screw_log(relative).vec6() * 2.0

    def task_jacobian(self, q: np.ndarray) -> np.ndarray:
        """Rows of the Jacobian that change the error."""
        return self.jacobian(q, check=False)[3 if self.position_only else 0 :]

    def met(self, error: np.ndarray, tolerance: float) -> bool:
        rotation, translation = self.sizes(error)
        return rotation <= tolerance and translation <= tolerance

    def sizes(self, error: np.ndarray) -> tuple[float, float]:
        if self.position_only:
            return 0.0, float(np.linalg.norm(error))
        return float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))

    def clip(self, q: np.ndarray) -> np.ndarray:
        return np.asarray(np.clip(q, self.lower, self.upper))

    def descend(self, q: np.ndarray, tolerance: float, iterations: int) -> tuple[np.ndarray, np.ndarray, int]:
        error, damping, steps = self.error(q), 1e-3, 0
        while steps < iterations:
            steps += 1
            if self.met(error, tolerance) or self.robot.nv == 0:
                break
            jacobian = self.task_jacobian(q)
            trial, trial_error = self.trial(q, jacobian, error, damping)
            # Joints that the step would push through a limit stop there, or stay and leave the work to the others.
            held = self.held(trial)
            if held.any():
                other, other_error = self.trial(q, jacobian * ~held, error, damping)
                if np.linalg.norm(other_error) < np.linalg.norm(trial_error):
                    trial, trial_error = other, other_error
            if np.linalg.norm(trial_error) < np.linalg.norm(error):
                q, error, damping = trial, trial_error, max(damping * 0.2, 1e-12)
            else:
                damping *= 10.0
                if damping > 1e8:
                    break
        return q, error, steps

    def trial(
        self, q: np.ndarray, jacobian: np.ndarray, error: np.ndarray, damping: float
    ) -> tuple[np.ndarray, np.ndarray]:
        square = jacobian @ jacobian.T
        dv = jacobian.T @ np.linalg.solve(square + damping * np.eye(len(square)), error)
        size = np.linalg.norm(dv)
        trial = self.clip(self.robot.integrate(q, dv * min(1.0, 2.0 / size if size > 0 else 1.0), check=False))
        return trial, self.error(trial)

    def held(self, q: np.ndarray) -> np.ndarray:
        """Velocities of joints whose coordinates sit at a limit after the step."""
        result, at = np.zeros(self.robot.nv, dtype=bool), self.at_limits(q)
        for joint in self.robot.joints:
            if not joint.is_mimic and joint.motion.nq == joint.motion.nv:
                result[joint.v] = at[joint.q]
        return result

    def at_limits(self, q: np.ndarray) -> np.ndarray:
        """Whether each coordinate sits at a limit."""
        return np.asarray((q <= self.lower) | (q >= self.upper))

    def outcome(
        self, q: np.ndarray, error: np.ndarray, tolerance: float, iterations: int, restarts: int
    ) -> InverseKinematics:
        rotation, translation = self.sizes(error)
        success = self.met(error, tolerance)
        limited = self.at_limits(q)
        at = tuple(j.name for j in self.robot.joints if not j.is_mimic and limited[j.q].any())
        off = f"off by {rotation:.3g} rad and {translation:.3g} m"
        if success:
            reason = f"Reached within {tolerance:g}."
        elif self.robot.nv == 0:
            reason = f"The robot has no moving joint, and the frame {self.frame.name!r} is {off}."
        elif not self.robot.model.path(self.frame.body):
            reason = f"The frame {self.frame.name!r} is fixed to the world, and no joint moves it; it is {off}."
        elif at:
            reason = f"Not reached: {off}, with joints at their limits: {', '.join(at)}."
        else:
            rank = int(np.linalg.matrix_rank(self.task_jacobian(q), tol=1e-6))
            reason = f"Not reached: {off}; the Jacobian has rank {rank} there, so the pose seems out of reach."
        return InverseKinematics(q, success, reason, rotation, translation, iterations, restarts, at)
