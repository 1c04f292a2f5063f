"""The robot's own constraints in other coordinates: A E q̇ = b, A E q̈ = b − A Ė q̇, and their residuals."""

from __future__ import annotations

from typing import Any

from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.coordinates.tree import TreeCoordinates
from dqdyn.dynamics.deferred import Deferred
from dqdyn.robot.robot_function import RobotFunction

Subject = TreeCoordinates
_velocity_rows = Deferred("coordinates.constrained", "velocity_rows")
_acceleration_rows = Deferred("coordinates.constrained", "acceleration_rows")


def _robot_matrix(tree: Subject, q: Scalars, t: Scalar) -> Any:
    return _velocity_rows(tree, q, t)[0]


def _robot_bias(tree: Subject, q: Scalars, qd: Scalars, t: Scalar) -> Any:
    return _acceleration_rows(tree, q, qd, t)[1]


_of = RobotFunction.of
COORDINATE_CONSTRAINTS = RobotFunction.table(
    _of("robot_constraint_matrix", "q t", "matrix", _robot_matrix),
    _of("robot_constraint_bias", "q qd t", "list", _robot_bias),
    _of("robot_constraint_residual", "q t", "list", Deferred("coordinates.constrained", "residual")),
    _of("robot_constraint_velocity", "q qd t", "list", Deferred("coordinates.constrained", "violation")),
)
"""Those of the robot's own constraints, which only robots with constraints have."""
