"""The Newton-Euler recursion of [Silva, section 3] step by step and as printed.

Adjoints are two full products and a conjugate, and nothing is taken from the kind of the joint. For the same with fewer
operations see :mod:`dqdyn.dynamics.formulations.newton_euler`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.dual import DQ, IDENTITY, zero_twist
from dqdyn.algebra.inertia_maps import L3
from dqdyn.algebra.products import cross, dot
from dqdyn.algebra.quaternion import ZERO, Quaternion, cross3, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Scalars, Wrenches
from dqdyn.dynamics.formulations.literal.products import adjoint, by_velocity, center, conjugate, to_joint
from dqdyn.kinematics.tree import AxisTwists as Axes
from dqdyn.model.joints.joint_kind import JointKind
from dqdyn.model.model import WORLD_BODY, Model, TreeJoint


@dataclass(frozen=True)
class SilvaLink:
    """A body and the joint before it, at a state.

    ``to_joint`` is the constant pose of the joint in the frame of the center of mass before, ``from_joint`` that of
    the center of mass in the joint's frame, which depends on its coordinates; twist, its rate and axes in that frame.
    """

    parent: int
    to_joint: DQ
    from_joint: DQ
    twist: DQ
    twist_rate: DQ
    axes: Axes
    mass: Scalar
    inertia: Columns


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """τ (nv) that gives the acceleration a at the state (q, v) [Silva, eq. (15)].

    ``wrenches`` are external ones by body, in the frame of the body at its origin.
    """
    links = [_link(model, joint, q, v, a) for joint in model.joints]
    loads = {i: (conjugate(center(model, i)), -wrench) for i, wrench in (wrenches or {}).items()}
    return newton_euler(links, pure(*model.gravity), (IDENTITY, zero_twist()), loads)


def newton_euler(
    links: Sequence[SilvaLink], gravity: Quaternion, base: tuple[DQ, DQ], loads: Mapping[int, tuple[DQ, DQ]]
) -> list[Scalar]:
    """τ (nv) of a tree under a constant gravity.

    ``base`` is the pose and the twist of the world, 1 and 0; ``loads`` are by body a pose, seen from the center of
    mass, and the wrench that the body exerts there.
    """
    world, at_rest = base
    poses, twists, rates = {WORLD_BODY: world}, {WORLD_BODY: at_rest}, {WORLD_BODY: at_rest}
    total: list[DQ] = []
    for i, link in enumerate(links):
        p = link.parent
        poses[i] = center_pose(link, None if p == WORLD_BODY else poses[p])
        twists[i], rates[i] = twist_and_rate(link, conjugate(poses[i]) * poses[p], twists[p], rates[p])
        total.append(body_wrench(link, poses[i], twists[i], rates[i], gravity))
    for i, load in loads.items():
        total[i] = total[i] + adjoint(*load)
    forces = []
    for i in reversed(range(len(links))):
        link = links[i]
        wrench = adjoint(link.from_joint, total[i])  # [Silva, eq. (27)]
        if link.parent != WORLD_BODY:
            total[link.parent] = transmitted(link, total[link.parent], wrench)
        forces += [(k, dot(wrench, axis).dual.w) for k, axis in link.axes]  # [Silva, eq. (30)]
    return by_velocity(forces)


def center_pose(link: SilvaLink, before: DQ | None) -> DQ:
    """x_c of a body in the world from that of its parent, with one product less for a body on the world."""
    return (link.to_joint if before is None else before * link.to_joint) * link.from_joint


def twist_and_rate(link: SilvaLink, relative: DQ, before: DQ, rate_before: DQ) -> tuple[DQ, DQ]:
    """[Silva, eq. (19)] and [Silva, eq. (20)] with [Silva, eq. (21)]; ``relative`` is the body before, from here."""
    back = conjugate(link.from_joint)
    carried, own = adjoint(relative, before), adjoint(back, link.twist)
    rate = adjoint(relative, rate_before) + adjoint(back, link.twist_rate) - cross(own, carried)
    return carried + own, rate


def body_wrench(link: SilvaLink, pose: DQ, twist: DQ, rate: DQ, gravity: Quaternion) -> DQ:
    """[Silva, eq. (24)] with the sign that holds, [Silva, eq. (25)] and [Silva, eq. (26)], at the center of mass."""
    omega = twist.primary
    force = (rate.dual + cross3(omega, twist.dual)) * link.mass
    weight = adjoint(conjugate(pose.primary), gravity) * link.mass
    torque = L3(link.inertia, rate.primary) + cross3(omega, L3(link.inertia, omega))
    return DQ.of(force - weight, torque)


def transmitted(behind: SilvaLink, own: DQ, wrench_behind: DQ) -> DQ:
    """[Silva, eq. (29)]: a body's wrench with that of a joint behind it, at the center of mass.

    As printed, both adjoints carry from the center of mass to the joint, though the wrench behind comes in the frame of
    its own joint: the constant pose of that joint brings it to the center of mass.
    """
    return own + adjoint(behind.to_joint, wrench_behind)


def _link(model: Model, joint: TreeJoint, q: Scalars, v: Scalars, a: Scalars) -> SilvaLink:
    """A joint of any kind [Silva, table 1]; its frame is on the side of the parent, where twists and axes are seen."""
    motion, own, rates = joint.motion, joint.coordinates(q), joint.rates(v)
    moved, inertia = motion.pose(own), model.bodies[joint.index].inertia
    seen = [motion.twist(own, rates), motion.twist_rate(own, rates, joint.rates(a)), *motion.subspace(own)]
    if not _commute(motion):
        seen = [adjoint(moved, s) for s in seen]
    twist, twist_rate, *axes = seen
    from_joint = moved * center(model, joint.index)
    return SilvaLink(
        joint.parent,
        to_joint(model, joint),
        from_joint,
        twist,
        twist_rate,
        joint.columns(axes),
        inertia.mass,
        inertia.rows,
    )


def _commute(motion: JointKind) -> bool:
    """Whether the axes commute, so that they are the same from both sides of the joint."""
    pairs = combinations(motion.subspace(motion.neutral()), 2)
    return motion.constant_subspace and all(cross(a, b) == DQ.of(ZERO) for a, b in pairs)
