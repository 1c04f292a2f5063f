"""Poses of all frames as products of dual quaternions, cheaper than rotations and positions apart where all are wanted.

A constant pose is a rotation and a translation, each with zeros, so a product with it is taken in two steps. Its
rotation r is used as s u, where the largest component of u is 1: turning by u takes fewer multiplications, and the
joint, of which only one coordinate moves, takes the factor s.
"""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import Quaternion, pure, rotate
from dqdyn.algebra.scalar import Scalars
from dqdyn.kinematics.frames import Matrix
from dqdyn.kinematics.tree import forward
from dqdyn.model.model import Model, TreeJoint, snapped


def poses(model: Model, q: Scalars) -> Matrix:
    """vec8 of x_0f for every frame, one row each, in the order of ``model.frames``."""

    def step(joint: TreeJoint, x_0p: DQ) -> DQ:
        place, moving = ConstantPose.of(joint.placement), joint.motion.pose(joint.coordinates(q))
        if joint.kind != "revolute":
            return place.after(x_0p) * moving
        return place.after(x_0p, scaled=False) * (moving * place.scale)

    bodies = forward(model, IDENTITY, step)
    return [list(ConstantPose.of(f.placement).after(bodies[f.body]).components) for f in model.frames.values()]


@dataclass(frozen=True)
class ConstantPose:
    """The pose (1 + ½ε t) s u = s u (1 + ½ε t'), whichever of t and t' has more zeros; ``scale`` is s."""

    scale: float
    u: Quaternion
    before: Quaternion | None
    after_turn: Quaternion | None

    @classmethod
    def of(cls, x: DQ) -> ConstantPose:
        """A constant pose, its components rounded to 0 and ±1 where they miss them by rounding only.

        One that is an input of the program is taken as it is.
        """
        p = position(x)
        if not all(isinstance(c, (int, float)) for c in (*x.primary.components, *p.vector)):
            return cls(1.0, x.primary, p * 0.5, None)
        components = [snapped(c) for c in x.primary.components]
        scale = max(components, key=abs)
        u = Quaternion(*(snapped(c / scale) for c in components))
        t, turned = (pure(*(0.5 * snapped(c) for c in e.vector)) for e in (p, rotate(x.primary.conj(), p)))
        if sum(c != 0.0 for c in turned.vector) < sum(c != 0.0 for c in t.vector):
            return cls(scale, u, None, turned)
        return cls(scale, u, t, None)

    def after(self, x: DQ, scaled: bool = True) -> DQ:
        """x times this pose, or times it over s."""
        r, d = x.primary, x.dual
        if self.before is not None:
            d = d + r * self.before
        r, d = r * self.u, d * self.u
        if scaled and self.scale != 1.0:
            r, d = r * self.scale, d * self.scale
        if self.after_turn is not None:
            d = d + r * self.after_turn
        return DQ.of(r, d)
