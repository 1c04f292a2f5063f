"""Cooperative dual task space: relative and absolute pose of two hands, with exact Jacobians.

``x_r = x_2* x_1`` is the pose of hand 1 seen from hand 2; ``x_a = x_2 x_r^{1/2}`` lies half-way between the hands, with
rotation and translation halved apart. The square root of the rotation r is ``(1 + r)/‖1 + r‖``: the branch that is
continuous along a motion until the relative rotation reaches 2π, where it is singular. It depends on the sign of r, so
poses must be continuous along the motion, as those of a robot are.
"""

from __future__ import annotations

from collections.abc import Callable

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import ONE
from dqdyn.algebra.rates import pose_rate
from dqdyn.algebra.scalar import Scalar, Scalars, divide
from dqdyn.kinematics.frames import Matrix, rows_of_columns
from dqdyn.kinematics.tree import WorldMotion
from dqdyn.model.model import Frame, Model

Pair = Callable[[DQ, DQ], DQ]


def relative(x1: DQ, x2: DQ) -> DQ:
    """x_r = x_2* x_1."""
    return x2.conj() * x1


def absolute(x1: DQ, x2: DQ) -> DQ:
    """x_a = x_2 x_r^{1/2}."""
    return x2 * half(relative(x1, x2))


def half(x: DQ) -> DQ:
    """x^{1/2} = s + ½ε (p/2) s with s² = r, on the branch Re(s) > 0."""
    s = ONE + x.primary
    s = s * divide(1.0, s.norm())  # √(2 + 2 Re(r)) is the same length, but loses its digits near 2π
    return DQ.of(s, position(x) * s * 0.25)


def pair_pose(pair: Pair, model: Model, frame1: Frame, frame2: Frame, q: Scalars) -> DQ:
    """The pair's pose at q."""
    return pair(*_Hands(model, frame1, frame2, q).poses)


def pair_jacobian(pair: Pair, model: Model, frame1: Frame, frame2: Frame, q: Scalars) -> Matrix:
    """J (8×nv) with vec8 ẋ = J v, exact: the derivative of the pair along the rates of both hands."""
    hands = _Hands(model, frame1, frame2, q)
    state = _parts(*hands.poses)
    columns = {k: tuple(_pair_rate(pair, [*state, *_parts(*rates)])) for k, rates in hands.pose_columns().items()}
    return rows_of_columns(model.nv, columns, 8)


def pair_jacobian_derivative(pair: Pair, model: Model, frame1: Frame, frame2: Frame, q: Scalars, v: Scalars) -> Matrix:
    """J̇ (8×nv) along v, so that vec8 ẍ = J a + J̇ v."""
    hands = _Hands(model, frame1, frame2, q, v)
    columns, column_rates = hands.pose_columns(), hands.pose_column_rates()
    state, velocity = _parts(*hands.poses), _parts(*hands.pose_rates)
    result = {}
    for k, rates in columns.items():
        at, along = [*state, *_parts(*rates)], [*velocity, *_parts(*column_rates[k])]
        result[k] = tuple(derivative(lambda c: _pair_rate(pair, c), at, along))
    return rows_of_columns(model.nv, result, 8)


def _pair_rate(pair: Pair, c: Scalars) -> list[Scalar]:
    """d/dt pair(x1, x2) from the coefficients of x1, x2, ẋ1, ẋ2."""
    return derivative(lambda s: pair(DQ.of8(s[:8]), DQ.of8(s[8:])).components, c[:16], c[16:])


class _Hands:
    """Poses of two frames, and their rates along each axis and along v."""

    def __init__(self, model: Model, frame1: Frame, frame2: Frame, q: Scalars, v: Scalars | None = None) -> None:
        self.frames = (frame1, frame2)
        paths = sorted({*model.path(frame1.body), *model.path(frame2.body)})
        self.motion = WorldMotion(model, q, v, paths)
        self.poses = tuple(self.motion.pose[f.body] * f.placement for f in self.frames)
        self.pose_rates: tuple[DQ, ...] = ()
        if v is not None:
            self.pose_rates = tuple(
                pose_rate(self.motion.twist[f.body], x) for f, x in zip(self.frames, self.poses, strict=True)
            )

    def pose_columns(self) -> dict[int, tuple[DQ, DQ]]:
        """(ẋ1, ẋ2) per unit of vₖ."""
        sides = [self.motion.path_columns(f.body) for f in self.frames]
        return self._by_axis(
            [{k: pose_rate(c, x) for k, c in side.items()} for side, x in zip(sides, self.poses, strict=True)]
        )

    def pose_column_rates(self) -> dict[int, tuple[DQ, DQ]]:
        """Rates of :meth:`pose_columns` along v."""
        sides = []
        for frame, x, x_rate in zip(self.frames, self.poses, self.pose_rates, strict=True):
            columns = self.motion.path_columns(frame.body)
            rates = self.motion.path_columns(frame.body, rates=True)
            sides.append({k: pose_rate(rates[k], x) + pose_rate(columns[k], x_rate) for k in columns})
        return self._by_axis(sides)

    @staticmethod
    def _by_axis(sides: list[dict[int, DQ]]) -> dict[int, tuple[DQ, DQ]]:
        zero = IDENTITY * 0.0
        first, second = sides
        return {k: (first.get(k, zero), second.get(k, zero)) for k in sorted({*first, *second})}


def _parts(*elements: DQ) -> list[Scalar]:
    return [c for x in elements for c in x.components]
