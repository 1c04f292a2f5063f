"""States in other coordinates brought onto the conditions of the coordinates and the constraints of the robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.arrays import Array, Reals, Times
from dqdyn.errors import Error
from dqdyn.robot import coordinate_checks as checks

if TYPE_CHECKING:
    from dqdyn.robot.coordinates import RobotInCoordinates

_CLOSE, _STEPS = 1e-13, 20  # in rad or m, per unit of the coordinates


def project(robot: RobotInCoordinates, q: Reals, qd: Reals | None, t: Times) -> Any:
    """q, or (q, q̇), on both kinds of equations."""
    at = _onto_conditions(robot, np.array(robot._variables.state("q", q), dtype=float))
    rate = None if qd is None else np.array(robot._variables.state("qd", qd), dtype=float)
    if robot.robot.constraints:
        return _onto_constraints(robot, at, rate, t)
    return at if rate is None else (at, _along_conditions(robot, at, rate))


def _onto_conditions(robot: RobotInCoordinates, q: Array) -> Array:
    for _ in range(_STEPS):
        residual = robot.constraint_residual(q)
        if not residual.size or np.abs(residual).max() < 1e-15:
            break
        inverse = np.linalg.pinv(robot.constraint_matrix(q))
        q = q - 0.5 * np.einsum("...ij,...j->...i", inverse, residual)  # rows of A are half gradients
    if robot.nc and np.abs(robot.constraint_residual(q)).max() > 1e-9:
        raise Error(
            f"coordinates of {robot.robot.name!r} are too far from their conditions to be projected: "
            f"{np.abs(robot.constraint_residual(q)).max():.3g} is left after {_STEPS} steps."
        )
    return q


def _along_conditions(robot: RobotInCoordinates, q: Array, rate: Array) -> Array:
    A = robot.constraint_matrix(q)
    across: Array = np.einsum("...ij,...jk,...k->...i", np.linalg.pinv(A), A, rate)
    return rate - across


def _onto_constraints(robot: RobotInCoordinates, q: Array, rate: Array | None, t: Times) -> Any:
    """By the robot's own projection, and back to the coordinates that are nearest to those given."""
    own = robot.to_minimal(q)
    v = None if rate is None else robot.to_minimal(q, _along_conditions(robot, q, rate))[1]
    own, v = robot.robot.project(own, v, t)
    q = _nearest(robot, np.broadcast_to(q, (*own.shape[:-1], robot.nq)), own)
    return q if rate is None else (q, robot._run("rate", (q, v)))


def _nearest(robot: RobotInCoordinates, q: Array, own: Array) -> Array:
    """Coordinates of the minimal q on the branch of those given: angles keep their turns, quaternions their sign."""
    for _ in range(_STEPS):
        step = robot.robot.difference(robot.to_minimal(q), own)
        if np.abs(step).max(initial=0.0) < _CLOSE:
            return q
        checks.check_regular(robot._tree, q)
        q = _onto_conditions(robot, q + robot._run("rate", (q, step)))
    left = np.abs(robot.robot.difference(robot.to_minimal(q), own)).max(initial=0.0)
    return q if left < 1e-9 else np.asarray(robot.from_minimal(own))
