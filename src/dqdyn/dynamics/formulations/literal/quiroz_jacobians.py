"""Jacobians of a center of mass as [Quiroz, section 5.5.1] counts them: of its pose, of its twist, and their rates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar, cos, sin
from dqdyn.dynamics.arguments import Matrix, Scalars
from dqdyn.dynamics.formulations.literal.matrices import plus, product, transposed
from dqdyn.dynamics.formulations.literal.products import adjoint, center, to_joint
from dqdyn.kinematics.center_frames import to_center
from dqdyn.kinematics.tree import AxisTwists, apply
from dqdyn.model.model import Model, TreeJoint


class JacobianJoint(Protocol):
    """What a Jacobian needs from a joint between two frames, in the poses x of both in the base."""

    def pose(self) -> DQ:
        """The pose of the frame behind in the frame before."""

    def half_axes(self, before: DQ, behind: DQ) -> AxisTwists:
        """½ Ad(x) a of every axis, by index into v."""


@dataclass(frozen=True)
class DHJoint:
    """A revolute joint by Denavit-Hartenberg parameters: half the angle, d along z, a along x, and the constant α."""

    index: int
    half_angle: Scalar
    half_d: Scalar
    half_a: Scalar
    half_alpha: Scalar

    def pose(self) -> DQ:
        """12 products and 4 sums beside sines and cosines."""
        ct, st = cos(self.half_angle), sin(self.half_angle)
        ca, sa = cos(self.half_alpha), sin(self.half_alpha)
        w, x, y, z = ct * ca, ct * sa, st * sa, st * ca
        d, a = self.half_d, self.half_a
        return DQ.of(Quaternion(w, x, y, z), Quaternion(-(d * z) - a * x, a * w - d * y, d * x + a * z, d * w - a * y))

    def half_axes(self, before: DQ, behind: DQ) -> AxisTwists:
        """½ x k x*: 21 products and 14 sums."""
        w, i, j, k = before.primary.components
        dw, di, dj, dk = before.dual.components
        axis = pure(i * k + w * j, j * k - w * i, (k * k - j * j - i * i + w * w) * 0.5)
        moment = pure(
            i * dk + di * k + w * dj + dw * j,
            j * dk + dj * k - w * di - dw * i,
            k * dk - j * dj - i * di + w * dw,
        )
        return [(self.index, DQ.of(axis, moment))]


@dataclass(frozen=True)
class CenterJoint:
    """A joint of any kind between the frames of two centers of mass, at a configuration."""

    model: Model
    joint: TreeJoint
    q: Scalars

    def pose(self) -> DQ:
        """x_pi of the center of mass in that of the parent."""
        moved = self.joint.motion.pose(self.joint.coordinates(self.q))
        return to_joint(self.model, self.joint) * (moved * center(self.model, self.joint.index))

    def half_axes(self, before: DQ, behind: DQ) -> AxisTwists:
        """The axes are known in the frame behind."""
        return self._halves(behind, self.joint.motion.subspace(self.joint.coordinates(self.q)))

    def half_axis_rates(self, behind: DQ, v: Scalars) -> AxisTwists:
        """½ Ad(x) ȧ of axes that depend on q; of others none."""
        if self.joint.motion.constant_subspace:
            return []
        rates = self.joint.motion.subspace_rate(self.joint.coordinates(self.q), self.joint.rates(v))
        return self._halves(behind, rates)

    def _halves(self, behind: DQ, axes: Sequence[DQ]) -> AxisTwists:
        inertia = self.model.bodies[self.joint.index].inertia
        return [(k, adjoint(behind, to_center(inertia, a)) * 0.5) for k, a in self.joint.columns(axes)]


# --- Jacobians --------------------------------------------------------------------------------------------------------


def pose_jacobian(joints: Sequence[JacobianJoint], first: DQ) -> tuple[list[DQ], list[AxisTwists], list[DQ]]:
    """The poses of the frames, x of the last one at the end; the half axes z by joint; the Jacobian of x, columns z x.

    The forward kinematics come first, then per joint its axes, their columns and the running pose once more. ``first``
    is the pose of the base, 1.
    """
    end = reduce(lambda x, y: x * y, [joint.pose() for joint in joints])
    axes, columns, running = [], [], [first]
    for joint in joints:
        running.append(running[-1] * joint.pose())
        axes.append(joint.half_axes(*running[-2:]))
        columns += [z * end for _, z in axes[-1]]
    return [*running[1:-1], end], axes, columns


def pose_jacobian_rate(
    end: DQ, axes: Sequence[AxisTwists], v: Scalars, changing: Sequence[AxisTwists] = ()
) -> tuple[DQ, list[DQ]]:
    """ẋ, and the columns ż x + z ẋ of J̇_x, where ż = s z − z s = 2 s × z.

    s is half the twist of the frame behind the joint. ``changing`` is, by joint, what axes that depend on q add to ż.
    """
    halves = [apply(own, v) for own in axes]
    sums = [halves[0]]
    for half in halves[1:]:
        sums.append(sums[-1] + half)
    end_rate = sums[-1] * end
    columns = []
    for i, (s, own) in enumerate(zip(sums, axes, strict=True)):
        rates = [cross(s, z) * 2.0 for _, z in own]
        if changing and changing[i]:
            rates = [rate + more for rate, (_, more) in zip(rates, changing[i], strict=True)]
        columns += [rate * end + z * end_rate for rate, (_, z) in zip(rates, own, strict=True)]
    return end_rate, columns


def twist_rows(x: DQ) -> Matrix:
    """The rows of H⁺₈(2x*) that give a twist (6×8): those of the real parts are removed; 2x is the only cost."""
    p, d = (x.primary * 2.0).conj(), (x.dual * 2.0).conj()
    zero = [[0.0] * 4 for _ in range(3)]
    return [[*a, *b] for a, b in zip(_hamilton(p), zero, strict=True)] + [
        [*a, *b] for a, b in zip(_hamilton(d), _hamilton(p), strict=True)
    ]


def twist_jacobian_rate(rate_rows: Matrix, columns: Matrix, rows: Matrix, column_rates: Matrix) -> Matrix:
    """J̇_ξ = 2Ī(H⁺₈(ẋ*) J_x + H⁺₈(x*) J̇_x) (6×i) [Quiroz, eq. (5.61)] [Quiroz, eq. (5.62)]."""
    return plus(product(rate_rows, columns), product(rows, column_rates))


def by_columns(columns: Sequence[DQ]) -> Matrix:
    """Dual quaternions as the columns of a matrix (8×i)."""
    return transposed([list(c.components) for c in columns])


def _hamilton(h: Quaternion) -> Matrix:
    """The rows of i, j, k of H⁺₄(h)."""
    w, x, y, z = h.components
    return [[x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]
