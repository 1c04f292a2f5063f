"""Configurations on the manifold of the joints: along a velocity, from one to another, and their rates."""

from __future__ import annotations

from collections.abc import Callable

from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.model.model import Model, TreeJoint


def integrate(model: Model, q: Scalars, v: Scalars, dt: Scalar) -> list[Scalar]:
    """q after following the constant v for the time dt in s."""
    return _per_joint(model, lambda joint: joint.motion.integrate(q[joint.q], v[joint.v], dt))


def difference(model: Model, q: Scalars, q1: Scalars) -> list[Scalar]:
    """The v that leads from q to q1 in unit time."""
    return _per_joint(model, lambda joint: joint.motion.difference(q[joint.q], q1[joint.q]))


def configuration_rate(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """q̇ for the velocity v."""
    return _per_joint(model, lambda joint: joint.motion.rate(q[joint.q], v[joint.v]))


def _per_joint(model: Model, function: Callable[[TreeJoint], Scalars]) -> list[Scalar]:
    return [c for joint in model.joints if joint.master is None for c in function(joint)]
