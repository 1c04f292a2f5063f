"""The motion of one frame as seen from another, through the joints between them only."""

from __future__ import annotations

from collections.abc import Callable

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ONE, ZERO, Quaternion, cross3
from dqdyn.algebra.scalar import Scalars
from dqdyn.constraints.constraint import Row
from dqdyn.kinematics.tree import added, apply, chained, joint_columns
from dqdyn.model.model import Frame, Model, TreeJoint


class RelativeMotion:
    """Twist of frame 2 against frame 1, in axes of frame 1, at the origin of frame 2 (or of frame 1).

    Joints that move both frames alike do not enter. ``x`` is Ad(x_12), the pose of frame 2 in frame 1.
    """

    def __init__(
        self, model: Model, first: str | Frame, second: str | Frame, q: Scalars, at_second: bool = True
    ) -> None:
        frame1, frame2 = model.frame(first), model.frame(second)
        self.q, self.nv, self.at_second = q, model.nv, at_second
        self.joints = joints_between(model, frame1.body, frame2.body)
        adjoints: list[Adjoint] = []
        ad = frame1.adjoint.inverse()
        for joint, sign in self.joints:
            if sign < 0.0:
                adjoints.append(ad)
                ad = ad @ joint.motion.adjoint(joint.coordinates(q)).inverse() @ joint.placement_inverse
            else:
                ad = ad @ joint.adjoint(q)
                adjoints.append(ad)
        self.x = ad @ frame2.adjoint
        # Arms from the point of reference, so that one cross product per column is enough.
        self.adjoints = [Adjoint.of(a.columns, a.p - self.x.p) for a in adjoints] if at_second else adjoints
        self._parts = [
            [(k, column if sign > 0.0 else -column) for k, column in joint_columns(joint, ad, q)]
            for (joint, sign), ad in zip(self.joints, self.adjoints, strict=True)
        ]

    def rows(self, components: Callable[[DQ], Scalars], count: int) -> list[Row]:
        """``count`` linear components of the twist as rows of nv entries, one per velocity."""
        twists = added(column for part in self._parts for column in part)
        entries = {k: components(twist) for k, twist in twists.items()}
        return [[entries[k][i] if k in entries else 0.0 for k in range(self.nv)] for i in range(count)]

    def twist(self, v: Scalars) -> DQ:
        """ξ."""
        return apply([column for part in self._parts for column in part], v)

    def bias(self, v: Scalars) -> DQ:
        """The rate of the twist's components at zero acceleration, J̇ v.

        Each joint's part turns with the twist of its body against frame 1: of the joints before it, and its own where
        the chain runs outward, for there the axes are carried by the far side.
        """
        total, rate = zero_twist(), zero_twist()
        for (joint, sign), ad, part in zip(self.joints, self.adjoints, self._parts, strict=True):
            own = apply(part, v)
            carried = total if sign < 0.0 else total + own
            rate = rate + cross(carried, own)
            if not joint.motion.constant_subspace:
                rates = joint.motion.subspace_rate(joint.coordinates(self.q), joint.rates(v))
                turned = apply(joint.columns([ad(s) for s in rates]), v)
                rate = rate + (turned if sign > 0.0 else -turned)
            total = total + own
        if self.at_second:  # the point of reference moves: ξ × εṗ, with ṗ the dual part of the twist there
            rate = DQ.of(rate.primary, rate.dual + cross3(total.primary, total.dual))
        return rate


def joints_between(model: Model, body1: int, body2: int) -> list[tuple[TreeJoint, float]]:
    """Joints from body1 inward (−1) and then outward to body2 (+1), without those that both hang on.

    The numbers are the signs of their parts in the twist of body 2 against body 1.
    """
    path1, path2 = model.path(body1), model.path(body2)
    shared = 0
    while shared < min(len(path1), len(path2)) and path1[shared] == path2[shared]:
        shared += 1
    inward = [(model.joints[i], -1.0) for i in reversed(path1[shared:])]
    return inward + [(model.joints[i], 1.0) for i in path2[shared:]]


def relative_pose(model: Model, first: str | Frame, second: str | Frame, q: Scalars) -> tuple[Quaternion, Quaternion]:
    """(r, p) of x_12, by the joints between the frames."""
    frame1, frame2 = model.frame(first), model.frame(second)
    x = chained((ONE, ZERO), frame1.placement.conj())
    for joint, sign in joints_between(model, frame1.body, frame2.body):
        steps = joint.placement, joint.motion.pose(joint.coordinates(q))
        for step in steps if sign > 0.0 else (steps[1].conj(), steps[0].conj()):
            x = chained(x, step)
    return chained(x, frame2.placement)
