"""Configurations on the manifold of the joints: along a velocity, from one to another, and their rates."""

from __future__ import annotations

from collections.abc import Callable

from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.model.model import Model, TreeJoint

Matrix = list[list[Scalar]]
"""Rows of scalars."""


def integrate(model: Model, q: Scalars, v: Scalars, dt: Scalar) -> list[Scalar]:
    """q after following the constant v for the time dt in s."""
    return _per_joint(model, lambda joint: joint.motion.integrate(q[joint.q], v[joint.v], dt))


def difference(model: Model, q: Scalars, q1: Scalars) -> list[Scalar]:
    """The v that leads from q to q1 in unit time."""
    return _per_joint(model, lambda joint: joint.motion.difference(q[joint.q], q1[joint.q]))


def configuration_rate(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """q̇ for the velocity v."""
    return _per_joint(model, lambda joint: joint.motion.rate(q[joint.q], v[joint.v]))


def integrate_jacobians(model: Model, q: Scalars, v: Scalars, dt: Scalar) -> tuple[Matrix, Matrix]:
    """∂/∂q and ∂/∂v (nv×nv) of :func:`integrate`, in the tangent spaces of q and of the result."""
    return _blocks(model, lambda joint: joint.motion.integrate_jacobians(q[joint.q], v[joint.v], dt))


def difference_jacobians(model: Model, q: Scalars, q1: Scalars) -> tuple[Matrix, Matrix]:
    """∂/∂q and ∂/∂q1 (nv×nv) of :func:`difference`, in the tangent spaces of q and q1."""
    return _blocks(model, lambda joint: joint.motion.difference_jacobians(q[joint.q], q1[joint.q]))


def _blocks(model: Model, function: Callable[[TreeJoint], tuple[Matrix, Matrix]]) -> tuple[Matrix, Matrix]:
    """Two matrices with a block per joint on their diagonals."""
    results: tuple[Matrix, Matrix] = ([], [])
    for joint in model.joints:
        if joint.master is None:
            for result, rows in zip(results, function(joint), strict=True):
                result += [[0.0] * joint.v.start + row + [0.0] * (model.nv - joint.v.stop) for row in rows]
    return results


def _per_joint(model: Model, function: Callable[[TreeJoint], Scalars]) -> list[Scalar]:
    return [c for joint in model.joints if joint.master is None for c in function(joint)]
