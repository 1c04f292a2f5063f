"""Joint kinds of ten lines each, as somebody outside the package would write them, and a robot with them."""

from __future__ import annotations

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import ZERO, I, J, K, Quaternion
from dqdyn.algebra.scalar import cos, sin
from dqdyn.model.description import Description, Joint, Link, NamedFrame, placement
from dqdyn.model.inertia import Inertia
from dqdyn.model.joints import KINDS, JointKind
from dqdyn.model.joints.joint_kind import ChainPart, one_axis
from dqdyn.model.joints.prismatic import Prismatic
from dqdyn.model.joints.revolute import Revolute


class Polar(JointKind):
    """A turn θ about z, then a displacement d along the x that has turned."""

    name, nq, nv, angular = "polar", 2, 2, (True, False)

    def pose(self, q):
        half = q[0] * 0.5
        return pose(Quaternion(cos(half), 0.0, 0.0, sin(half)), ZERO) * pose(Quaternion(1.0, 0.0, 0.0, 0.0), I * q[1])

    def subspace(self, q):
        return DQ.of(K, J * q[1]), DQ.of(ZERO, I)

    def expansion(self):
        return one_axis("turn", Revolute((0.0, 0.0, 1.0)), 0), one_axis("reach", Prismatic((1.0, 0.0, 0.0)), 1)


class Progressive(JointKind):
    """A screw about y whose pitch grows with the angle."""

    name, nq, nv, angular = "progressive", 1, 1, (True,)

    def pose(self, q):
        half = q[0] * 0.5
        return pose(Quaternion(cos(half), 0.0, sin(half), 0.0), J * (0.1 * q[0] + 0.05 * q[0] * q[0]))

    def subspace(self, q):
        return (DQ.of(J, J * (0.1 + 0.1 * q[0])),)


class Pinion(JointKind):
    """A pinion that turns about z and rolls along x."""

    name, nq, nv, angular = "pinion", 1, 1, (True,)
    radius = 0.1

    def pose(self, q):
        half = q[0] * 0.5
        return pose(Quaternion(cos(half), 0.0, 0.0, sin(half)), I * (self.radius * q[0]))

    def subspace(self, q):
        return (DQ.of(K, (I * cos(q[0]) - J * sin(q[0])) * self.radius),)

    def expansion(self):
        travel = ChainPart("travel", Prismatic((1.0, 0.0, 0.0)), ratio=self.radius)
        return travel, one_axis("turn", Revolute((0.0, 0.0, 1.0)), 0)


# Other tests go through all kinds: here they are registered for those tests alone that ask for them.
OWN = {kind.name: KINDS.pop(kind.name) for kind in (Polar, Progressive, Pinion)}

_BODY = Inertia(2.0, (0.1, -0.05, 0.2), ((0.05, 0.01, 0.0), (0.01, 0.06, -0.01), (0.0, -0.01, 0.04)))


def description(*kinds: str) -> Description:
    """A chain of joints of these kinds, with limits, damping and armature, and the frame "tool" at its end."""
    joints = [
        Joint(
            f"joint{i}",
            kind,
            f"link{i}",
            f"link{i + 1}",
            origin=placement((0.2, 0.1, -0.1), (0.3, -0.4, 0.5)),
            axis=(0.6, 0.0, 0.8),
            second_axis=(0.0, 0.6, -0.8),
            pitch=0.1,
            child_origin=placement((0.0, 0.05, 0.0), (0.0, 0.2, 0.0)),
            lower=-2.0,
            upper=2.0,
            velocity=5.0,
            damping=0.1,
            armature=0.2,
        )
        for i, kind in enumerate(kinds)
    ]
    links = [Link(f"link{i}", _BODY) for i in range(len(kinds) + 1)]
    frames = [NamedFrame("tool", links[-1].name, placement((0.1, 0.2, 0.3)))]
    return Description("own", tuple(links), tuple(joints), tuple(frames))
