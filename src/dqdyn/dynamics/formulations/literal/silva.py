"""The Newton-Euler recursion of [Silva, section 3] step by step and as printed, for :mod:`dqdyn.analysis.costs.silva`.

Adjoints are two full products and a conjugate, and nothing is taken from the joint being revolute. On numbers it
gives the forces of a serial arm. For a robot use :mod:`dqdyn.dynamics.formulations.newton_euler`,
which is general and cheaper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.inertia_maps import L3
from dqdyn.algebra.products import cross, dot
from dqdyn.algebra.quaternion import Quaternion, cross3
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.formulations.literal.quiroz import adjoint, conjugate


@dataclass(frozen=True)
class SilvaLink:
    """A body and the joint before it, at a state.

    ``to_joint`` is the constant pose of the joint in the frame of the center of mass before, ``from_joint`` that of
    the center of mass in the joint's frame, which depends on its coordinate; twist, its rate and axis in that frame.
    """

    to_joint: DQ
    from_joint: DQ
    twist: DQ
    twist_rate: DQ
    axis: Quaternion
    mass: Scalar
    inertia: Columns


def center_poses(links: Sequence[SilvaLink]) -> list[DQ]:
    """x_c of every body in the base, with one product less for the first."""
    poses = [links[0].to_joint * links[0].from_joint]
    for link in links[1:]:
        poses.append(poses[-1] * link.to_joint * link.from_joint)
    return poses


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


def transmitted(link: SilvaLink, own: DQ, joint_behind: DQ, wrench_behind: DQ) -> DQ:
    """[Silva, eq. (29)] with its two adjoints in the order that closes.

    As printed, both carry from the center of mass to the joint, though the wrench behind comes in the frame of the next
    joint: the constant pose ``joint_behind`` brings it to the center of mass.
    """
    return adjoint(link.from_joint, own + adjoint(joint_behind, wrench_behind))


def newton_euler(
    links: Sequence[SilvaLink], gravity: Quaternion, base: tuple[DQ, DQ], end: tuple[DQ, DQ]
) -> list[Scalar]:
    """τ (n) of a serial arm of revolute joints under a constant gravity.

    ``base`` is its pose and twist, 1 and 0; ``end`` the pose of the end in the last body and the wrench there.
    """
    poses = center_poses(links)
    before, (_, twist) = base[0], base
    rate = twist
    own: list[DQ] = []
    for link, pose in zip(links, poses, strict=True):
        twist, rate = twist_and_rate(link, conjugate(pose) * before, twist, rate)
        own.append(body_wrench(link, pose, twist, rate, gravity))
        before = pose
    tau: list[Scalar] = []
    joint_behind, wrench_behind = end
    for link, wrench in zip(reversed(links), reversed(own), strict=True):
        wrench_behind = transmitted(link, wrench, joint_behind, wrench_behind)
        joint_behind = link.to_joint
        tau.append(dot(wrench_behind, DQ.of(link.axis)).dual.w)  # [Silva, eq. (30)]
    return tau[::-1]
