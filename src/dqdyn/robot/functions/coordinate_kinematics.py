"""Points and frames of a robot in other coordinates: Jacobians with respect to q, and what they add at q̈ = 0."""

from __future__ import annotations

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.quaternion import combine, cross3, pure, rotation_columns
from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.coordinates.tree import Matrix, TreeCoordinates
from dqdyn.kinematics.frames import Expressed, twist, twist_jacobian, twist_jacobian_derivative, twist_rate
from dqdyn.kinematics.tree import frame_pose
from dqdyn.model.model import Frame
from dqdyn.robot.robot_function import RobotFunction

Subject = TreeCoordinates


def _point_jacobian(tree: Subject, q: Scalars, frame: Frame, point: tuple[float, float, float]) -> Matrix:
    from dqdyn.coordinates.equation_of_motion import EquationOfMotion

    columns = EquationOfMotion(tree, q, [0.0] * tree.n).point_jacobian(frame.name, point)
    return [[getattr(c, axis) for c in columns] for axis in "xyz"]


def _point_jacobian_rate(
    tree: Subject, q: Scalars, qd: Scalars, frame: Frame, point: tuple[float, float, float]
) -> Matrix:
    """J̇_t (3×n) along q̇."""
    flat = lambda x: [c for row in _point_jacobian(tree, x, frame, point) for c in row]
    rates = derivative(flat, list(q), list(qd))
    return [rates[tree.n * i : tree.n * (i + 1)] for i in range(3)]


def _point_bias(
    tree: Subject, q: Scalars, qd: Scalars, frame: Frame, point: tuple[float, float, float]
) -> list[Scalar]:
    """J̇_t q̇ (3): the acceleration of the point at q̈ = 0, p̈ + ω̇ × r + ω × (ω × r)."""
    own, r = tree.minimal(q), pure(*point)
    turned = combine(rotation_columns(frame_pose(tree.model, frame, own).primary), r)
    omega = twist(tree.model, frame, own, tree.velocity(q, qd), "aligned").primary
    rate = _twist_bias(tree, q, qd, frame, "aligned")
    return list((rate.dual + cross3(rate.primary, turned) + cross3(omega, cross3(omega, turned))).vector)


def _twist_jacobian(tree: Subject, q: Scalars, frame: Frame, expressed: Expressed) -> Matrix:
    """J E (6×n)."""
    E, J = tree.velocity_columns(q), twist_jacobian(tree.model, frame, tree.minimal(q), expressed)
    return [[total(row[k] * e for k, e in column) for column in E] for row in J]


def _twist_jacobian_rate(tree: Subject, q: Scalars, qd: Scalars, frame: Frame, expressed: Expressed) -> Matrix:
    """J̇ E + J Ė (6×n)."""
    own, E, E_rate = tree.minimal(q), tree.velocity_columns(q), tree.velocity_rate_columns(q, qd)
    J = twist_jacobian(tree.model, frame, own, expressed)
    J_rate = twist_jacobian_derivative(tree.model, frame, own, tree.velocity(q, qd), expressed)
    return [
        [
            total([*(rates[k] * e for k, e in column), *(row[k] * e for k, e in turning)])
            for column, turning in zip(E, E_rate, strict=True)
        ]
        for row, rates in zip(J, J_rate, strict=True)
    ]


def _twist_bias(tree: Subject, q: Scalars, qd: Scalars, frame: Frame, expressed: Expressed) -> DQ:
    """J̇ q̇: the rate of the frame's twist at q̈ = 0."""
    turning = tree.acceleration(q, qd, [0.0] * tree.n)
    return twist_rate(tree.model, frame, tree.minimal(q), tree.velocity(q, qd), turning, expressed)


_of = RobotFunction.of
COORDINATE_KINEMATICS = RobotFunction.table(
    _of("point_jacobian", "q", "matrix", _point_jacobian, "frame point"),
    _of("point_jacobian_rate", "q qd", "matrix", _point_jacobian_rate, "frame point"),
    _of("point_bias", "q qd", "list", _point_bias, "frame point"),
    _of("twist_jacobian", "q", "matrix", _twist_jacobian, "frame expressed"),
    _of("twist_jacobian_rate", "q qd", "matrix", _twist_jacobian_rate, "frame expressed"),
    _of("twist_bias", "q qd", "twist", _twist_bias, "frame expressed"),
)
