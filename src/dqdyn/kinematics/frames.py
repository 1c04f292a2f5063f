"""Pose, twist and Jacobians of a frame, with their rates.

``expressed`` is "body" (at the frame, its axes), "world" (at the world origin, world axes) or "aligned" (at the frame,
world axes). A rate is always the rate of the components in that expression, so ``ξ̇ = J a + J̇ v`` holds in all three.
"""

from __future__ import annotations

from typing import Literal

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.frame_names import aligned
from dqdyn.algebra.quaternion import ZERO
from dqdyn.algebra.rates import pose_rate
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.errors import unknown_name
from dqdyn.kinematics import tree
from dqdyn.kinematics.tree import AxisTwists, added, apply, frame_pose
from dqdyn.model.description import WORLD
from dqdyn.model.model import Frame, Model

EXPRESSIONS = ("body", "world", "aligned")
Expressed = Literal["body", "world", "aligned"]
Matrix = list[list[Scalar]]
"""Rows of scalars."""


def expression_frame(frame: str, expressed: str) -> str:
    """The name of the frame in which a twist or wrench of ``frame`` is expressed: itself, the world, or "aligned"."""
    return {"body": frame, "world": WORLD, "aligned": aligned(frame, WORLD)}[expressed]


def pose(model: Model, frame: Frame, q: Scalars) -> DQ:
    """x_0f: pose of the frame in the world."""
    return frame_pose(model, frame, q)


def twist(model: Model, frame: Frame, q: Scalars, v: Scalars, expressed: Expressed = "body") -> DQ:
    """ξ of the frame against the world [Silva, eq. (18)]."""
    return Path(model, frame, q, expressed).twist(v)


def twist_rate(model: Model, frame: Frame, q: Scalars, v: Scalars, a: Scalars, expressed: Expressed = "body") -> DQ:
    """ξ̇ of the frame: the rate of the components of its twist.

    In its own axes it is Ad(x*) ξ̇⁰ [Quiroz, eq. (A.25)] = ω̇ + ε(p̈ + ṗ × ω) [Silva, eq. (22)] [Quiroz, eq. (A.27)].
    """
    path = Path(model, frame, q, expressed)
    return path.twist(a) + apply(_flat(path.rates(v)), v)


def twist_jacobian(model: Model, frame: Frame, q: Scalars, expressed: Expressed = "body") -> Matrix:
    """J (6×nv) with vec6 ξ = J v."""
    return _rows6(model, Path(model, frame, q, expressed).columns)


def twist_jacobian_derivative(
    model: Model, frame: Frame, q: Scalars, v: Scalars, expressed: Expressed = "body"
) -> Matrix:
    """J̇ (6×nv) along v, so that vec6 ξ̇ = J a + J̇ v."""
    return _rows6(model, Path(model, frame, q, expressed).rates(v))


def pose_jacobian(model: Model, frame: Frame, q: Scalars) -> Matrix:
    """J (8×nv) with vec8 ẋ = J v: columns ½xξₖ with ξₖ in the frame [Silva, eq. (4)]."""
    x = frame_pose(model, frame, q)
    columns = added(_flat(Path(model, frame, q, "body").columns))
    return _rows8(model, {k: pose_rate(column, x, "body") for k, column in columns.items()})


def pose_jacobian_derivative(model: Model, frame: Frame, q: Scalars, v: Scalars) -> Matrix:
    """J̇ (8×nv) along v, so that vec8 ẍ = J a + J̇ v."""
    path = Path(model, frame, q, "body")
    x = frame_pose(model, frame, q)
    x_rate = pose_rate(path.twist(v), x, "body")
    columns, rates = added(_flat(path.columns)), added(_flat(path.rates(v)))
    return _rows8(model, {k: pose_rate(rates[k], x, "body") + pose_rate(columns[k], x_rate, "body") for k in columns})


class Path:
    """The joints that move a frame, and what each contributes to its twist in the chosen expression."""

    def __init__(self, model: Model, frame: Frame, q: Scalars, expressed: str) -> None:
        if expressed not in EXPRESSIONS:
            raise unknown_name("expression", expressed, EXPRESSIONS)
        self.q, self.expressed = q, expressed
        self.joints = [model.joints[i] for i in model.path(frame.body)]
        self.adjoints = self._seen_from_frame(frame) if expressed == "body" else self._seen_from_world(model, frame)
        self.columns: list[AxisTwists] = [
            tree.joint_columns(j, ad, q) for j, ad in zip(self.joints, self.adjoints, strict=True)
        ]

    def _seen_from_frame(self, frame: Frame) -> list[Adjoint]:
        """Ad(x_fi) of the bodies, from the frame back to the root."""
        ad_fi = frame.adjoint.inverse()
        result = []
        for joint in reversed(self.joints):
            result.append(ad_fi)
            ad_fi = ad_fi @ joint.motion.adjoint(joint.coordinates(self.q)).inverse() @ joint.placement_inverse
        return result[::-1]

    def _seen_from_world(self, model: Model, frame: Frame) -> list[Adjoint]:
        """Ad(x_0i); for "aligned" with arms from the origin of the frame."""
        chain = tree.adjoints(model, self.q, [joint.index for joint in self.joints])
        result = [chain[joint.index] for joint in self.joints]
        if self.expressed == "world":
            return result
        p = (chain[frame.body] @ frame.adjoint).p
        return [Adjoint.of(ad.columns, ad.p - p) for ad in result]

    def twist(self, v: Scalars) -> DQ:
        """Σ columnₖ vₖ."""
        return apply(_flat(self.columns), v)

    def rates(self, v: Scalars) -> list[AxisTwists]:
        """Rates of the columns: each moves with the twist of its body relative to the frame of expression."""
        moving = self._relative_twists(v)
        triples = zip(self.joints, self.adjoints, self.columns, moving, strict=True)
        return [tree.joint_column_rates(j, ad, columns, w, self.q, v) for j, ad, columns, w in triples]

    def _relative_twists(self, v: Scalars) -> list[DQ]:
        contributions = [apply(columns, v) for columns in self.columns]
        result: list[DQ] = []
        total = zero_twist()
        if self.expressed == "body":
            # Against the frame, a body moves opposite to the joints that come after it.
            for contribution in reversed(contributions):
                result.append(-total)
                total = total + contribution
            return result[::-1]
        for contribution in contributions:
            total = total + contribution
            result.append(total)
        if self.expressed == "world":
            return result
        following = DQ.of(ZERO, total.dual)  # the frame that follows the origin without turning has the twist εṗ
        return [twist - following for twist in result]


def _flat(columns: list[AxisTwists]) -> AxisTwists:
    return [column for part in columns for column in part]


def _rows6(model: Model, columns: list[AxisTwists]) -> Matrix:
    by_index = added(_flat(columns))
    return rows_of_columns(model.nv, {k: c.vector for k, c in by_index.items()}, 6)


def _rows8(model: Model, columns: dict[int, DQ]) -> Matrix:
    return rows_of_columns(model.nv, {k: c.components for k, c in columns.items()}, 8)


def rows_of_columns(width: int, columns: dict[int, tuple[Scalar, ...]], height: int) -> Matrix:
    """A matrix by rows from its columns by index; missing columns are zero."""
    return [[columns[k][i] if k in columns else 0.0 for k in range(width)] for i in range(height)]
