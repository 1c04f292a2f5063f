"""Newton-Euler recursion with dual quaternions [Silva, section 3].

Forward, from the root: twists of the centers of mass and their rates. Backward, from the leaves: wrenches, and from
them the generalized forces. Any joint kind and any base. Twists are carried in the frames of the bodies, at their
joints, and brought to the centers of mass where Newton's and Euler's laws are stated.
"""

from __future__ import annotations

from dqdyn.algebra.adjoint import Adjoint, Factored
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.inertia_maps import L3
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ZERO, I, J, K, cross3, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Scalars, Wrenches
from dqdyn.dynamics.wrenches import power
from dqdyn.kinematics.tree import closing
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import WORLD_BODY, Model


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """τ (nv) that gives the acceleration a at the state (q, v) [Silva, eq. (15)]: wrenches on axes [Silva, eq. (30)].

    ``wrenches`` are external ones by body, in the frame of the body at its origin.
    """
    tau: list[Scalar] = [0.0] * model.nv
    wrench, subspace = joint_wrenches(model, q, v, a, wrenches)
    for joint in model.joints:
        for k, s in joint.columns(subspace[joint.index]):
            # (30) for every axis: the wrench on the motion subspace, with parts swapped.
            zeta = wrench[joint.index]
            tau[k] = tau[k] + power(s, zeta)
    return tau


def joint_wrenches(
    model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None
) -> tuple[list[DQ], list[tuple[DQ, ...]]]:
    """The wrench that each joint transmits to its body, in the body's frame, and the motion subspaces.

    Forward: twists [Silva, eq. (19)] and their rates [Silva, eq. (20)] with [Silva, eq. (21)]. Backward: wrenches
    [Silva, eq. (28)] [Silva, eq. (29)]. Gravity is an acceleration of the world: a body at rest feels −g, which is the
    sign of [Silva, eq. (24)] that holds.
    """
    gx, gy, gz = model.gravity
    twist: dict[int, DQ] = {WORLD_BODY: zero_twist()}
    rate: dict[int, DQ] = {WORLD_BODY: DQ.of(ZERO, pure(-gx, -gy, -gz))}
    from_parent: list[Factored] = []
    subspace: list[tuple[DQ, ...]] = []
    total: list[DQ] = []
    for (i, joint), done in zip(enumerate(model.joints), closing(model), strict=True):
        own, own_v, own_a = joint.coordinates(q), joint.rates(v), joint.rates(a)
        x = joint.transform(q)
        from_parent.append(x)
        subspace.append(joint.motion.subspace(own))
        joint_twist = joint.motion.twist(own, own_v)
        carried = x.back(twist[joint.parent])
        twist[i] = carried + joint_twist
        rate[i] = x.back(rate[joint.parent]) + joint.motion.twist_rate(own, own_v, own_a) - cross(joint_twist, carried)
        zeta = body_wrench(model.bodies[i].inertia, twist[i], rate[i])
        total.append(zeta - wrenches[i] if wrenches and i in wrenches else zeta)
        for k in done:  # back over every subtree as soon as it is complete
            parent = model.joints[k].parent
            if parent != WORLD_BODY:
                total[parent] = total[parent] + from_parent[k](total[k])  # (29)
    return total, subspace


def body_wrench(inertia: Inertia, twist: DQ, rate: DQ) -> DQ:
    """The wrench that moves a body, in its frame: computed at the center of mass, brought to the frame's origin.

    Newton [Silva, eq. (25)] with the acceleration of [Silva, eq. (23)], Euler [Silva, eq. (26)], and the adjoint
    [Silva, eq. (27)].
    """
    to_center = Adjoint.of((I, J, K), inertia.center)
    at_center, rate_at_center = to_center.back(twist), to_center.back(rate)
    omega = at_center.primary
    acceleration = rate_at_center.dual + cross3(omega, at_center.dual)  # (23)
    force = acceleration * inertia.mass  # (25)
    torque = L3(inertia.rows, rate_at_center.primary) + cross3(omega, L3(inertia.rows, omega))  # (26)
    return to_center(DQ.of(force, torque))  # (27)
