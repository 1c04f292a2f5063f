"""What the printed steps share: products as the papers count them, and the tree seen from its centers of mass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.poses import translator
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.scalar import Scalar
from dqdyn.model.model import WORLD_BODY, Model, TreeJoint

K = TypeVar("K")
Q = TypeVar("Q", Quaternion, DQ)


def conjugate(a: Q) -> Q:
    """The conjugate of a quaternion or dual quaternion; a change of sign counts as a multiplication, as by Quiroz."""
    if isinstance(a, DQ):
        return DQ.of(conjugate(a.primary), conjugate(a.dual))
    return Quaternion(a.w, a.x * -1.0, a.y * -1.0, a.z * -1.0)


def adjoint(a: Q, b: Q) -> Q:
    """Ad(a) b = a b a* as two products and a conjugate, of quaternions or dual quaternions."""
    return a * b * conjugate(a)


def center(model: Model, body: int) -> DQ:
    """The pose of the center of mass in the frame of its body; 1 for the world."""
    return IDENTITY if body == WORLD_BODY else translator(model.bodies[body].inertia.center)


def to_joint(model: Model, joint: TreeJoint) -> DQ:
    """The constant pose of a joint in the frame of the center of mass before it."""
    return center(model, joint.parent).conj() * joint.placement


def summed(entries: Iterable[tuple[K, Scalar]]) -> dict[K, Scalar]:
    """Entries by place; those of one place add up, as those of joints that mimic one another."""
    result: dict[K, Scalar] = {}
    for place, entry in entries:
        result[place] = result[place] + entry if place in result else entry
    return result


def by_velocity(forces: Iterable[tuple[int, Scalar]]) -> list[Scalar]:
    """Forces (nv) from the axes, each with its index into v."""
    return [force for _, force in sorted(summed(forces).items())]
