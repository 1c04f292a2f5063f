"""Newton-Euler recursion along screws, with frames at the centers of mass [Farias, section 5].

The paper treats serial arms with revolute joints. Here the tree gives the parents, a joint may have several axes a,
and where these depend on q their rate enters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.inertia_maps import G
from dqdyn.algebra.parts import swap
from dqdyn.algebra.products import cross, geodesic
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Scalars, Wrenches
from dqdyn.kinematics.center_frames import CenterFrames, gravity_rate, to_center
from dqdyn.kinematics.tree import apply, forward
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import WORLD_BODY, Model, TreeJoint


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """τ (nv) that gives the acceleration a at the state (q, v) [Farias, algorithm 1].

    ``wrenches`` are external ones by body, in the frame of the body at its origin. They act on the robot; the paper's
    wrench of the end effector acts on what it holds, so it enters there with the other sign.
    """
    at = CenterFrames(model, q)
    twist = twists(at, v)
    rate = twist_rates(at, v, a, twist)
    own = []
    for i, body in enumerate(model.bodies):
        resultant = body_wrench(body.inertia, twist[i], rate[i])
        own.append(resultant - to_center(body.inertia, wrenches[i]) if wrenches and i in wrenches else resultant)
    return joint_forces(at, joint_wrenches(at, own))


def twists(at: CenterFrames, v: Scalars) -> dict[int, DQ]:
    """ω_i = Σ a v + Ad(x_ip) ω_p of every body, in F_i [Farias, eq. (40)]; the world (−1) is at rest."""
    return forward(
        at.model,
        zero_twist(),
        lambda joint, carried: apply(at.axes[joint.index], v) + at.relative[joint.index].back(carried),
    )


def twist_rates(at: CenterFrames, v: Scalars, a: Scalars, twist: Mapping[int, DQ]) -> dict[int, DQ]:
    """ω̇_i = Σ a v̇ + Ad(x_ip) ω̇_p + ω_i × Σ a v [Farias, eq. (44)], and Σ ȧ v where the axes depend on q.

    This is the rate of (40) [Farias, eq. (41)] with the rate of the joint's pose [Farias, eq. (42)] put in
    [Farias, eq. (43)]. Gravity enters as the acceleration −g of the world.
    """

    def step(joint: TreeJoint, carried: DQ) -> DQ:
        i = joint.index
        rate = apply(at.axes[i], a) + at.relative[i].back(carried) + cross(twist[i], apply(at.axes[i], v))
        moving = at.axis_rates(joint, v)
        return rate + apply(moving, v) if moving else rate

    return forward(at.model, gravity_rate(at.model), step)


def body_wrench(inertia: Inertia, twist: DQ, rate: DQ) -> DQ:
    """f_R = ω × G(ω) + G(ω̇) of [Farias, eq. (45)]: the wrench at the center of mass for this motion.

    It is the balance of a single rigid body [Farias, eq. (31)].
    """
    momentum = G(inertia.mass, inertia.rows, twist)
    return cross(twist, momentum) + G(inertia.mass, inertia.rows, rate)


def joint_wrenches(at: CenterFrames, own: Sequence[DQ]) -> list[DQ]:
    """f_i = f_R,i + Σ Ad(x_ic) f_c over the children c: what each joint transmits, in F_i [Farias, eq. (47)].

    The prints of (47) and of the balance f_R,i = f_i − Σ Ad(x_ic) f_c [Farias, eq. (46)] have the other sign;
    Algorithm 1 has this one.
    """
    total = list(own)
    for i in reversed(range(len(total))):
        parent = at.model.joints[i].parent
        if parent != WORLD_BODY:
            total[parent] = total[parent] + at.relative[i](total[i])
    return total


def joint_forces(at: CenterFrames, wrench: Sequence[DQ]) -> list[Scalar]:
    """τ = f ⊙ (D(a) + εP(a)) for every axis [Farias, eq. (48)]; Algorithm 1 prints it without the swap."""
    tau: list[Scalar] = [0.0] * at.model.nv
    for i, axes in enumerate(at.axes):
        for k, axis in axes:
            tau[k] = tau[k] + geodesic(wrench[i], swap(axis))
    return tau
