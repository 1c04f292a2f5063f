"""In which frames recursions over pairs of bodies express motions and forces.

In the frames of the bodies axes and inertias are sparse, but what meets an axis must be carried there, from body to
body. In the frame of the root body every axis meets every force as it is, which is cheap for long chains.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from dqdyn.algebra.adjoint import Adjoint, Factored
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import I, J, K, Quaternion
from dqdyn.dynamics.arguments import Scalars
from dqdyn.model.model import WORLD_BODY, Model, TreeJoint

_UNMOVED = Adjoint.of((I, J, K))


class Seen(Protocol):
    """What has a form in every frame, such as an inertia."""

    def seen_through(self: T, x: Adjoint) -> T:
        """The same in the parent's frame, for Ad(x_parent,child)."""
        ...


T = TypeVar("T", bound=Seen)


class BodyFrames:
    """The frame in which each body is expressed: its own, or with ``from_root`` that of its root body.

    Joints are entered parents first, so that a recursion need not keep what it does not use yet.
    """

    def __init__(self, model: Model, q: Scalars, from_root: bool) -> None:
        self.model, self.q, self.from_root = model, q, from_root
        self.seen: list[Adjoint] = []
        """From each body to the frame in which it is expressed."""
        self.relative: list[Factored | None] = []
        """From that frame to the one of the parent; None where they are the same, or the parent is the world."""

    def enter(self, joint: TreeJoint) -> Adjoint:
        """``seen`` of the joint's body."""
        seen, relative = _UNMOVED, None
        if joint.parent != WORLD_BODY:
            x = joint.transform(self.q)
            if self.from_root:
                seen = self.seen[joint.parent] @ x.first @ x.second
            else:
                relative = x
        self.seen.append(seen)
        self.relative.append(relative)
        return seen

    def rotated_up(self, i: int, a: Quaternion) -> Quaternion:
        """A vector of body i in the frame of its parent."""
        x = self.relative[i]
        return a if x is None else x.rotate(a)

    def up(self, i: int, a: DQ) -> DQ:
        """A twist or wrench of body i in the frame of its parent."""
        x = self.relative[i]
        return a if x is None else x(a)

    def down(self, i: int, a: DQ) -> DQ:
        """A twist or wrench of the parent in the frame of body i."""
        x = self.relative[i]
        return a if x is None else x.back(a)

    def seen_from_parent(self, i: int, a: T) -> T:
        """What belongs to body i in the frame of its parent."""
        x = self.relative[i]
        return a if x is None else a.seen_through(x.second).seen_through(x.first)
