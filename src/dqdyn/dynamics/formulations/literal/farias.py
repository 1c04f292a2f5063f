"""The recursion along screws of [Farias, algorithm 1] step by step and as printed.

Frames are at the centers of mass, and adjoints are applied by the maps A_P and A_D of a pose. For the same with fewer
operations see :mod:`dqdyn.dynamics.formulations.screw`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.hamilton import h_plus
from dqdyn.algebra.inertia_maps import G
from dqdyn.algebra.parts import swap
from dqdyn.algebra.products import cross, geodesic
from dqdyn.algebra.quaternion import Quaternion, combine, pure
from dqdyn.algebra.scalar import Scalar, cos, sin
from dqdyn.dynamics.arguments import Scalars, Wrenches
from dqdyn.dynamics.formulations.literal.products import by_velocity, center, to_joint
from dqdyn.kinematics.center_frames import gravity_rate, to_center
from dqdyn.kinematics.tree import AxisTwists as Axes
from dqdyn.model.joints.revolute import Revolute
from dqdyn.model.model import WORLD_BODY, Model, TreeJoint

Maps = tuple[Columns, Columns]
"""A_P and A_D by the images of i, j, k."""


@dataclass(frozen=True)
class ScrewLink:
    """A body and the joint before it: axes and inertia in the body's frame, at its center of mass.

    ``home`` is δ, the pose of that frame in the parent's at home, and ``motion`` the exponential of the joint;
    ``axis_rates`` are those of axes that depend on q.
    """

    parent: int
    home: DQ
    motion: DQ
    axes: Axes
    axis_rates: Axes
    mass: Scalar
    inertia: Columns


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """τ (nv) that gives the acceleration a at the state (q, v) [Farias, algorithm 1].

    ``wrenches`` are external ones by body, in the frame of the body at its origin. They act on the robot; the paper's
    wrench of the end effector acts on what it holds.
    """
    links = [_link(model, joint, q, v) for joint in model.joints]
    loads = {i: (adjoint_maps(center(model, i).conj()), -wrench) for i, wrench in (wrenches or {}).items()}
    return algorithm_1(links, v, a, gravity_rate(model), loads)


def algorithm_1(
    links: Sequence[ScrewLink], v: Scalars, a: Scalars, base_rate: DQ, loads: Mapping[int, tuple[Maps, DQ]]
) -> list[Scalar]:
    """τ (nv) of a tree, step by step as printed [Farias, algorithm 1].

    ``base_rate`` is −εg; ``loads`` are by body the maps of a pose in its frame and the wrench that it exerts there.
    """
    omega, omega_rate = {WORLD_BODY: zero_twist()}, {WORLD_BODY: base_rate}
    maps, total = [], []
    for i, link in enumerate(links):
        maps.append(adjoint_maps(joint_pose(link.home, link.motion)))
        back = inverse_maps(maps[i])
        omega[i] = twist(link.axes, v, back, omega[link.parent])
        omega_rate[i] = twist_rate(link.axes, a, back, omega_rate[link.parent], omega[i], v)
        for k, changing in link.axis_rates:
            omega_rate[i] = omega_rate[i] + _scaled(changing, v[k])
        total.append(resultant(link.mass, link.inertia, omega[i], omega_rate[i]))
    for i, load in loads.items():
        total[i] = transmitted(total[i], *load)
    for i in reversed(range(len(links))):
        if (parent := links[i].parent) != WORLD_BODY:
            total[parent] = transmitted(total[parent], maps[i], total[i])
    return by_velocity((k, force(f, axis)) for f, link in zip(total, links, strict=True) for k, axis in link.axes)


def exponential(axis: DQ, angle: Scalar, home_angle: Scalar) -> DQ:
    """exp(a Δθ/2) of a revolute joint, with exp(a φ) = cos φ + a sin φ."""
    half = (angle - home_angle) * 0.5
    s = sin(half)
    p, d = axis.primary, axis.dual
    return DQ.of(Quaternion(cos(half), p.x * s, p.y * s, p.z * s), pure(d.x * s, d.y * s, d.z * s))


def joint_pose(home: DQ, motion: DQ) -> DQ:
    """δ exp(a Δθ/2) [Farias, eq. (38)]."""
    return home * motion


def adjoint_maps(x: DQ) -> Maps:
    """A_P and A_D of [Farias, eq. (34)] and [Farias, eq. (35)]: six products of quaternions and three doublings."""
    _, *turned = (image.primary for image in h_plus(x))
    primary = [_vector(image * x.primary.conj()) for image in turned]
    dual = [_vector((image * x.dual.conj()) * 2.0) for image in turned]
    return (primary[0], primary[1], primary[2]), (dual[0], dual[1], dual[2])


def inverse_maps(maps: Maps) -> Maps:
    """Those of x*: the same numbers transposed, so the way back costs no second construction."""
    return _transposed(maps[0]), _transposed(maps[1])


def adjoint_by_maps(maps: Maps, y: DQ) -> DQ:
    """A_P y_P + ε(A_P y_D + A_D y_P) [Farias, eq. (36)]."""
    return DQ.of(combine(maps[0], y.primary), combine(maps[0], y.dual) + combine(maps[1], y.primary))


def twist(axes: Axes, v: Scalars, maps: Maps, before: DQ) -> DQ:
    """[Farias, eq. (40)], with every axis of the joint."""
    result = adjoint_by_maps(maps, before)
    for k, axis in axes:
        result = result + _scaled(axis, v[k])
    return result


def twist_rate(axes: Axes, a: Scalars, maps: Maps, before: DQ, omega: DQ, v: Scalars) -> DQ:
    """[Farias, eq. (44)], with every axis of the joint."""
    result = adjoint_by_maps(maps, before)
    for k, axis in axes:
        result = result + _scaled(axis, a[k]) + _scaled(cross(omega, axis), v[k])
    return result


def resultant(mass: Scalar, inertia: Columns, omega: DQ, omega_rate: DQ) -> DQ:
    """[Farias, eq. (45)]."""
    return cross(omega, G(mass, inertia, omega)) + G(mass, inertia, omega_rate)


def transmitted(own: DQ, maps: Maps, behind: DQ) -> DQ:
    """[Farias, eq. (46)], solved for f_i with the sign of Algorithm 1."""
    return own + adjoint_by_maps(maps, behind)


def force(wrench: DQ, axis: DQ) -> Scalar:
    """[Farias, eq. (48)]."""
    return geodesic(wrench, swap(axis))


def _link(model: Model, joint: TreeJoint, q: Scalars, v: Scalars) -> ScrewLink:
    """A joint of any kind: the motion of one that is not revolute, the paper's only kind, is its own pose."""
    motion, own, inertia = joint.motion, joint.coordinates(q), model.bodies[joint.index].inertia
    axes, c = [to_center(inertia, s) for s in motion.subspace(own)], center(model, joint.index)
    moved = exponential(axes[0], own[0], 0.0) if type(motion) is Revolute else c.conj() * motion.pose(own) * c
    rates: Axes = []
    if not motion.constant_subspace:
        rates = joint.columns([to_center(inertia, s) for s in motion.subspace_rate(own, joint.rates(v))])
    home = to_joint(model, joint) * c
    return ScrewLink(joint.parent, home, moved, joint.columns(axes), rates, inertia.mass, inertia.rows)


def _vector(a: Quaternion) -> Quaternion:
    return pure(*a.vector)


def _transposed(columns: Columns) -> Columns:
    a, b, c = columns
    return pure(a.x, b.x, c.x), pure(a.y, b.y, c.y), pure(a.z, b.z, c.z)


def _scaled(a: DQ, s: Scalar) -> DQ:
    """A pure dual quaternion times a scalar: six products, where a general one takes eight."""
    p, d = a.primary, a.dual
    return DQ.of(pure(p.x * s, p.y * s, p.z * s), pure(d.x * s, d.y * s, d.z * s))
