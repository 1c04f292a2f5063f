"""Discrete momenta of a tree of bodies between two configurations, over any scalar.

A body that moves from the pose x_k to x_{k+1} = x_k y, y = r + ½ε p r, has the mean angular velocity ζ/dt with the
Cayley coordinates ζ = 2 Im(r)/Re(r), and its center of mass c moves by d = r c r* + p − c, seen from the body at k.
Since (1 + ζ/2)(1 + σ/2) has the coordinates ζ + σ + ½ ζ × σ + ¼ ζ⟨ζ, σ⟩ to first order in σ, the discrete Lagrangian

    dt (½ m ‖d/dt‖² + ½ ⟨ζ/dt, I ζ/dt⟩)

has the linear momentum m d/dt and, with π = I ζ/dt, the angular momenta about the center of mass

    leaving k:  π − ½ π × ζ + ¼ ζ⟨ζ, π⟩,      arriving at k + 1:  π + ½ π × ζ + ¼ ζ⟨ζ, π⟩.

Rotation and translation of the center are apart, so the common center of mass of a free robot moves exactly along a
line. Projected on the joints these are the discrete momenta of the robot (Marsden and West, Discrete mechanics and
variational integrators, Acta Numerica 2001; Kobilarov and Marsden, Discrete geometric optimal control on Lie groups,
IEEE T-RO 2011, for the Cayley map; Lee, Liu, Park and Srinivasa, A linear-time variational integrator for multibody
systems, WAFR 2016, for the recursion over a tree).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.inertia_maps import L3
from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3, pure, rotate
from dqdyn.algebra.scalar import Scalar, Scalars, divide
from dqdyn.dynamics.joint_forces import armature, turning_rotors
from dqdyn.model.model import WORLD_BODY, Body, Model, TreeJoint


def leaving(model: Model, q: Scalars, q1: Scalars, w: Scalars, dt: Scalar) -> list[Scalar]:
    """Discrete momentum (nv) with which the robot leaves q for q1, the increment being dt w."""
    return _discrete_momentum(model, q, q1, w, dt, arrives=False)


def arriving(model: Model, q: Scalars, q1: Scalars, w: Scalars, dt: Scalar) -> list[Scalar]:
    """Discrete momentum (nv) with which the robot arrives at q1."""
    return _discrete_momentum(model, q, q1, w, dt, arrives=True)


def _discrete_momentum(model: Model, q: Scalars, q1: Scalars, w: Scalars, dt: Scalar, arrives: bool) -> list[Scalar]:
    moved, momenta = {WORLD_BODY: IDENTITY}, []
    for i, joint in enumerate(model.joints):
        moved[i] = _carried(joint, q, moved[joint.parent]) * _own(joint, q, q1, w, dt)
        momenta.append(_momentum(model.bodies[i], moved[i], dt, arrives))
    return _projected(model, q1 if arrives else q, momenta, _of_rotors(model, q, q1, w, dt, arrives))


def _momentum(body: Body, y: DQ, dt: Scalar, arrives: bool) -> DQ:
    """Linear momentum and that about the body's origin, in its axes at the one or the other end."""
    inertia, r, rate = body.inertia, y.primary, divide(1.0, dt)
    center, vector = inertia.center, pure(*r.vector)
    # r c r* − c as a small number: the difference of the two would lose digits.
    turned = cross3(vector, cross3(vector, center) + center * r.w) * 2.0
    linear = (turned + position(y)) * (inertia.mass * rate)
    angular = _spin(y, lambda zeta: L3(inertia.rows, zeta), rate, arrives)
    if arrives:
        linear = rotate(r.conj(), linear)
    return DQ.of(linear, angular + cross3(center, linear))


def _spin(y: DQ, tensor: Callable[[Quaternion], Quaternion], rate: Scalar, arrives: bool) -> Quaternion:
    """Angular momentum of a body that turns by y, about its center of mass."""
    zeta = pure(*y.primary.vector) * divide(2.0, y.primary.w)
    spin: Quaternion = tensor(zeta) * rate
    momentum: Quaternion = spin + cross3(spin, zeta) * (0.5 if arrives else -0.5) + zeta * (dot3(zeta, spin) * 0.25)
    return momentum


def _carried(joint: TreeJoint, q: Scalars, y: DQ) -> DQ:
    """The displacement of the parent seen from the child: the real part stays, the rest turns with Ad.

    Small displacements stay small numbers this way; as a product of poses they would drown in rounding.
    """
    if y is IDENTITY:
        return y
    turned = joint.transform(q).back(DQ.of(pure(*y.primary.vector), pure(*y.dual.vector)))
    return DQ.of(Quaternion(y.primary.w, *turned.primary.vector), Quaternion(y.dual.w, *turned.dual.vector))


def _own(joint: TreeJoint, q: Scalars, q1: Scalars, w: Scalars, dt: Scalar) -> DQ:
    """The displacement of the joint itself."""
    motion = joint.motion
    if motion.constant_subspace:  # then the displacement depends on the increment alone
        return motion.pose(motion.integrate(motion.neutral(), joint.rates(w), dt))
    return motion.pose(joint.coordinates(q)).conj() * motion.pose(joint.coordinates(q1))


def _of_rotors(model: Model, q: Scalars, q1: Scalars, w: Scalars, dt: Scalar, arrives: bool) -> list[Scalar]:
    """Momenta (nv) of the joints' armature, for ½ ⟨d, P d⟩/dt + ½ ⟨ζ, R ζ⟩/dt of joints that turn."""
    result: list[Scalar] = [wk * r if r else 0.0 for wk, r in zip(w, armature(model), strict=True)]
    for joint, r, p in turning_rotors(model):
        y, rate = _own(joint, q, q1, w, dt), divide(1.0, dt)
        d = position(y)
        linear = _scaled(p, d) * rate
        angular = _spin(y, partial(_scaled, r), rate, arrives)
        if arrives:
            linear = rotate(y.primary.conj(), linear)
        else:
            angular = angular + cross3(d, linear)
        result[joint.v] = [*angular.vector, *linear.vector][: joint.motion.nv]
    return result


def _scaled(factors: Sequence[float], x: Quaternion) -> Quaternion:
    return pure(x.x * factors[0], x.y * factors[1], x.z * factors[2])


def _projected(model: Model, q: Scalars, momenta: Sequence[DQ], rotors: Scalars) -> list[Scalar]:
    """Jᵀ μ at q, and the rotors of the joints."""
    total, result = list(momenta), list(rotors)
    for i in reversed(range(len(total))):
        joint = model.joints[i]
        for k, s in joint.columns(joint.motion.subspace(joint.coordinates(q))):
            result[k] = result[k] + (dot3(s.primary, total[i].dual) + dot3(s.dual, total[i].primary))
        if joint.parent != WORLD_BODY:
            total[joint.parent] = total[joint.parent] + joint.transform(q)(total[i])
    return result
