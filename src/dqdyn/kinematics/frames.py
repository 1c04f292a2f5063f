"""Pose, twist and Jacobians of a frame, with their rates.

``expressed`` is "body" (at the frame, its axes), "world" (at the world origin, world axes) or "aligned" (at the frame,
world axes). A rate is always the rate of the components in that expression, so ``ξ̇ = J a + J̇ v`` holds in all three.
"""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import Adjoint, cross, position, translator, zero_twist
from dqdyn.algebra.motion import pose_rate
from dqdyn.algebra.quaternion import ZERO, cross3
from dqdyn.algebra.scalar import Scalar
from dqdyn.errors import unknown_name
from dqdyn.kinematics.tree import Motion, poses
from dqdyn.model.model import Frame, Model

EXPRESSIONS = ("body", "world", "aligned")
Matrix = list[list[Scalar]]
"""Rows of scalars."""


def pose(model: Model, frame: Frame, q: Sequence[Scalar]) -> DQ:
    """x_0f: pose of the frame in the world."""
    return poses(model, q, model.path(frame.body))[frame.body] * frame.placement


def twist(model: Model, frame: Frame, q: Sequence[Scalar], v: Sequence[Scalar], expressed: str = "body") -> DQ:
    """ξ of the frame against the world [Silva, eq. (18)]."""
    motion = Motion(model, q, v, model.path(frame.body))
    return Expression(motion, frame, expressed).value(motion.twist[frame.body])


def twist_rate(
    model: Model, frame: Frame, q: Sequence[Scalar], v: Sequence[Scalar], a: Sequence[Scalar], expressed: str = "body"
) -> DQ:
    """ξ̇ of the frame: the rate of the components of its twist."""
    motion = Motion(model, q, v, model.path(frame.body))
    rate = motion.twist_rates(v, a)[frame.body]
    return Expression(motion, frame, expressed).rate(motion.twist[frame.body], rate)


def twist_jacobian(model: Model, frame: Frame, q: Sequence[Scalar], expressed: str = "body") -> Matrix:
    """J (6×nv) with vec6 ξ = J v."""
    motion = Motion(model, q, None, model.path(frame.body))
    to = Expression(motion, frame, expressed)
    return _rows6(model, {k: to.value(column) for k, column in motion.path_columns(frame.body).items()})


def twist_jacobian_derivative(
    model: Model, frame: Frame, q: Sequence[Scalar], v: Sequence[Scalar], expressed: str = "body"
) -> Matrix:
    """J̇ (6×nv) along v, so that vec6 ξ̇ = J a + J̇ v."""
    motion = Motion(model, q, v, model.path(frame.body))
    to = Expression(motion, frame, expressed)
    columns, rates = motion.path_columns(frame.body), motion.path_columns(frame.body, rates=True)
    return _rows6(model, {k: to.rate(columns[k], rates[k]) for k in columns})


def pose_jacobian(model: Model, frame: Frame, q: Sequence[Scalar]) -> Matrix:
    """J (8×nv) with vec8 ẋ = J v: columns ½ξₖx [Silva, eq. (4)]."""
    motion = Motion(model, q, None, model.path(frame.body))
    x = motion.pose[frame.body] * frame.placement
    return _rows8(model, {k: pose_rate(column, x) for k, column in motion.path_columns(frame.body).items()})


def pose_jacobian_derivative(model: Model, frame: Frame, q: Sequence[Scalar], v: Sequence[Scalar]) -> Matrix:
    """J̇ (8×nv) along v, so that vec8 ẍ = J a + J̇ v."""
    motion = Motion(model, q, v, model.path(frame.body))
    x = motion.pose[frame.body] * frame.placement
    x_rate = pose_rate(motion.twist[frame.body], x)
    columns, rates = motion.path_columns(frame.body), motion.path_columns(frame.body, rates=True)
    return _rows8(model, {k: pose_rate(rates[k], x) + pose_rate(columns[k], x_rate) for k in columns})


class Expression:
    """Takes twists of a frame, and their rates, from world expression to another one."""

    def __init__(self, motion: Motion, frame: Frame, expressed: str) -> None:
        if expressed not in EXPRESSIONS:
            raise unknown_name("expression", expressed, EXPRESSIONS)
        self.expressed = expressed
        x = motion.pose[frame.body] * frame.placement
        world_twist = motion.twist.get(frame.body, zero_twist())
        if expressed == "body":
            self.back = Adjoint(x.conj())
            self.moving = world_twist
        elif expressed == "aligned":
            p = position(x)
            self.back = Adjoint(translator(-p))
            # The frame that follows the origin without turning has the twist εṗ in the world.
            self.moving = DQ.of(ZERO, world_twist.dual + cross3(world_twist.primary, p))

    def value(self, twist: DQ) -> DQ:
        return twist if self.expressed == "world" else self.back(twist)

    def rate(self, twist: DQ, rate: DQ) -> DQ:
        """d/dt (Ad(y*) ξ) = Ad(y*)(ξ̇ − ξ_y × ξ) for a frame y with world twist ξ_y [Silva, eq. (9)]."""
        return rate if self.expressed == "world" else self.back(rate - cross(self.moving, twist))


def _rows6(model: Model, columns: dict[int, DQ]) -> Matrix:
    return rows_of_columns(model.nv, {k: (*c.primary.vector, *c.dual.vector) for k, c in columns.items()}, 6)


def _rows8(model: Model, columns: dict[int, DQ]) -> Matrix:
    return rows_of_columns(model.nv, {k: c.components for k, c in columns.items()}, 8)


def rows_of_columns(width: int, columns: dict[int, tuple[Scalar, ...]], height: int) -> Matrix:
    """A matrix by rows from its columns by index; missing columns are zero."""
    return [[columns[k][i] if k in columns else 0.0 for k in range(width)] for i in range(height)]
