"""Kinetic and potential energy."""

from __future__ import annotations

from dqdyn.algebra.dual import zero_twist
from dqdyn.algebra.quaternion import dot3, pure
from dqdyn.algebra.scalar import Scalar, is_known_zero
from dqdyn.algebra.scalar import total as sum_of
from dqdyn.dynamics.arguments import Scalars
from dqdyn.dynamics.fast.composite import Composite
from dqdyn.dynamics.formulations.mass_centers import center_poses
from dqdyn.dynamics.joint_forces import armature, spring_energy
from dqdyn.dynamics.wrenches import power
from dqdyn.kinematics.tree import adjoints, forward
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.model import Model


def kinetic_energy(model: Model, q: Scalars, v: Scalars) -> Scalar:
    """½ Σ ⟨ξ, G(ξ)⟩ in J, with the rotors of the joints."""
    twists = forward(
        model,
        zero_twist(),
        lambda joint, twist: joint.transform(q).back(twist) + joint.motion.twist(joint.coordinates(q), joint.rates(v)),
    )
    total: Scalar = 0.0
    for i, body in enumerate(model.bodies):
        total = total + power(twists[i], Composite.of(body.inertia).momentum(twists[i]))
    for r, vk in zip(armature(model), v, strict=True):
        if not is_known_zero(r):
            total = total + vk * vk * r
    return total * 0.5


def potential_energy(model: Model, q: Scalars) -> Scalar:
    """−Σ ⟨m g, c⟩ and that of springs, in J; zero with all centers of mass at the height of the world origin.

    In a gravity field its energy takes the place of the first term.
    """
    springs = spring_energy(model, q)
    if isinstance(model.gravity, FieldGravity):
        pairs = zip(model.bodies, center_poses(model, q), strict=True)
        return sum_of([0.0, *(model.gravity.field.energy(body.inertia, seen) for body, seen in pairs), *springs])
    g = pure(*model.gravity)
    seen = adjoints(model, q)
    total: Scalar = 0.0
    for i, body in enumerate(model.bodies):
        inertia = body.inertia
        if not is_known_zero(inertia.mass):
            total = total - (dot3(seen[i].p, g) * inertia.mass + dot3(seen[i].rotate(inertia.first_moment), g))
    return sum_of([total, *springs])
