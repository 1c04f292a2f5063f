"""The robot seen from the centers of mass of its bodies, where [Farias, section 5.1] puts the frames.

Frame F_i has its origin at the center of mass of body i and the axes of the body's own frame; F_0 is the world.
"""

from __future__ import annotations

from dqdyn.algebra.adjoint import Adjoint, Factored
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import ZERO, cross3, pure
from dqdyn.algebra.scalar import Scalars
from dqdyn.kinematics.tree import AxisTwists
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import WORLD_BODY, Model, TreeJoint


def to_center(inertia: Inertia, y: DQ) -> DQ:
    """A twist or a wrench of a body, from the origin of the body's frame to the center of mass; axes stay."""
    return DQ.of(y.primary, y.dual - cross3(inertia.center, y.primary))


def from_center(inertia: Inertia, y: DQ) -> DQ:
    """The inverse of :func:`to_center`."""
    return DQ.of(y.primary, y.dual + cross3(inertia.center, y.primary))


def gravity_rate(model: Model) -> DQ:
    """−εg: gravity as an acceleration of the world, which a body at rest feels as −g."""
    gx, gy, gz = model.gravity
    return DQ.of(ZERO, pure(-gx, -gy, -gz))


class CenterFrames:
    """Poses and joint axes between the frames F_i at a configuration; lists by body.

    ``relative[i]`` is Ad(x_pi), with x_pi the pose of F_i in the frame F_p of the parent: it takes twists and wrenches
    from F_i to F_p, its ``back`` the other way. ``axes[i]`` holds the axes a of joint i, expressed in F_i.
    """

    def __init__(self, model: Model, q: Scalars) -> None:
        self.model, self.q = model, q
        self.relative = [self._relative(joint) for joint in model.joints]
        self.axes = [self._axes(joint) for joint in model.joints]

    def home(self, joint: TreeJoint) -> Adjoint:
        """Ad(δ) of the constant pose of F_i in F_p with the joint at home, where its own pose is 1."""
        start = ZERO if joint.parent == WORLD_BODY else self.model.bodies[joint.parent].inertia.center
        end = self.model.bodies[joint.index].inertia.center
        placed = joint.placement_adjoint
        return Adjoint.of(placed.columns, placed.p + placed.rotate(end) - start)

    def _relative(self, joint: TreeJoint) -> Factored:
        """Ad of x = δ exp(a Δθ/2) [Farias, eq. (38)], with the motion of any joint kind for the exponential.

        The print has δ the other way round. Its a is expressed in F_i, so the joint's own pose is seen from there.
        """
        center = self.model.bodies[joint.index].inertia.center
        moved = joint.motion.adjoint(joint.coordinates(self.q))
        return Factored(self.home(joint), Adjoint.of(moved.columns, moved.p + (moved.rotate(center) - center)))

    def _axes(self, joint: TreeJoint) -> AxisTwists:
        inertia = self.model.bodies[joint.index].inertia
        return joint.columns([to_center(inertia, s) for s in joint.motion.subspace(joint.coordinates(self.q))])

    def axis_rates(self, joint: TreeJoint, v: Scalars) -> AxisTwists:
        """ȧ, the rates of the components of the axes in F_i; none where these are constant."""
        if joint.motion.constant_subspace:
            return []
        inertia = self.model.bodies[joint.index].inertia
        rates = joint.motion.subspace_rate(joint.coordinates(self.q), joint.rates(v))
        return joint.columns([to_center(inertia, s) for s in rates])
