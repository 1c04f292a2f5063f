"""What the joints themselves contribute: springs, damping, friction and armature, in every formulation alike.

Armature r is the kinetic energy ½ Σ r v². Velocities of spherical and free joints turn with their child and are not
rates of coordinates, so Lagrange's equations of that energy (Euler and Poincaré's, in such velocities) have more terms
than r a: with R = diag(r) of the angular and P = diag(r) of the linear velocities

    ω × R ω + v × P v   in the rows of ω,        ω × P v   in those of v.

Where all axes have the same armature r, as in most files, only r ω × v of free joints is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dqdyn.algebra.scalar import Scalar, is_known_zero, less, select
from dqdyn.dynamics.arguments import Scalars
from dqdyn.model.model import Model, TreeJoint


def armature(model: Model) -> list[float]:
    """Rotor inertia per velocity (nv) in kg m² or kg; a mimic joint adds ratio² times its own to its master."""
    return _collected(model, "armature", power=2)


def damping(model: Model) -> list[float]:
    """Viscous damping per velocity (nv) in N m s/rad or N s/m."""
    return _collected(model, "damping", power=2)


def resisting_forces(model: Model, v: Scalars) -> list[Scalar]:
    """Forces (nv) that hold against the motion: damping · v + friction · sign(v), with sign(0) = 0."""
    viscous = [0.0 if is_known_zero(d) else vk * d for d, vk in zip(damping(model), v, strict=True)]
    return [a + b for a, b in zip(viscous, coulomb_forces(model, v), strict=True)]


def coulomb_forces(model: Model, v: Scalars) -> list[Scalar]:
    """Forces (nv) that hold against Coulomb friction: friction · sign(v), with sign(0) = 0."""
    sizes = _collected(model, "friction", power=1)
    return [
        0.0 if is_known_zero(f) else select(less(vk, 0.0), -f, select(less(0.0, vk), f, 0.0))
        for f, vk in zip(sizes, v, strict=True)
    ]


def velocity_forces(model: Model, v: Scalars) -> list[Scalar]:
    """Forces (nv) that the joints need at a = 0: against damping and friction, and for armature that turns."""
    result = resisting_forces(model, v)
    for joint, r, p in turning_rotors(model):
        w = joint.v.start
        for i, j, k in _CYCLES:
            for at, s in ((w, r), (w + 3, p)):
                if not _same(s[k], s[j]):
                    result[w + i] = result[w + i] + v[at + j] * v[at + k] * (s[k] - s[j])
            if not is_known_zero(p[k]):
                result[w + 3 + i] = result[w + 3 + i] + v[w + j] * (v[w + 3 + k] * p[k])
            if not is_known_zero(p[j]):
                result[w + 3 + i] = result[w + 3 + i] - v[w + k] * (v[w + 3 + j] * p[j])
    return result


def spring_forces(model: Model, q: Scalars) -> list[Scalar]:
    """Forces (nv) that hold against the springs: stiffness · (q − rest); a mimic joint's act on its master."""
    result: list[Scalar] = [0.0] * model.nv
    for joint, k, stiffness, stretch in _springs(model, q):
        force = stretch * stiffness
        result[k] = result[k] + (force if joint.master is None else force * joint.master.ratio)
    return result


def spring_energy(model: Model, q: Scalars) -> list[Scalar]:
    """½ stiffness · (q − rest)² in J of each axis that has a spring."""
    return [stretch * stretch * (0.5 * stiffness) for _, _, stiffness, stretch in _springs(model, q)]


def stiffness(model: Model) -> list[float]:
    """Derivative of the spring forces in N m/rad or N/m per velocity axis (nv); it is diagonal."""
    return _collected(model, "stiffness", power=2)


def state_forces(model: Model, q: Scalars, v: Scalars) -> list[Scalar]:
    """Forces (nv) that the joints need at a = 0: :func:`velocity_forces` and those against springs."""
    return [f + s for f, s in zip(velocity_forces(model, v), spring_forces(model, q), strict=True)]


def _springs(model: Model, q: Scalars) -> Iterator[tuple[TreeJoint, int, float, Scalar]]:
    """Each axis with a spring: its joint, its index into v, its stiffness, and by how much it is stretched."""
    for joint in model.joints:
        if not all(map(is_known_zero, joint.stiffness)):
            at = zip(
                range(joint.v.start, joint.v.stop), joint.stiffness, joint.rest, joint.displacements(q), strict=True
            )
            for k, stiff, rest, x in at:
                if not is_known_zero(stiff):
                    yield joint, k, stiff, x if is_known_zero(rest) else x - rest


def turning_derivative(model: Model, v: Scalars) -> Iterator[tuple[int, int, Scalar]]:
    """(row, column, entry) of the derivative with respect to v of the forces for armature that turns."""
    return _entries(model, v, bracket=0.0, scale=1.0)


def turning_coriolis(model: Model, v: Scalars) -> Iterator[tuple[int, int, Scalar]]:
    """(row, column, entry) of what armature that turns adds to C: skew-symmetric, of Christoffel symbols.

    In velocities that are not rates the symmetry of these symbols is C(x) y − C(y) x = diag(r) [x, y], with the
    commutator of twists.
    """
    return _entries(model, v, bracket=1.0, scale=0.5)


_CYCLES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
_ORDERS = tuple((i, j, k, 1.0) for i, j, k in _CYCLES) + tuple((j, i, k, -1.0) for i, j, k in _CYCLES)


def turning_rotors(model: Model) -> Iterator[tuple[TreeJoint, Sequence[float], Sequence[float]]]:
    """Spherical and free joints with armature: that of ω, which comes first in v, and of the linear velocity."""
    for joint in model.joints:
        if joint.motion.quaternion is not None and not all(map(is_known_zero, joint.armature)):
            yield joint, joint.armature[:3], joint.armature[3:] or (0.0, 0.0, 0.0)


def _entries(model: Model, v: Scalars, bracket: float, scale: float) -> Iterator[tuple[int, int, Scalar]]:
    """``scale`` · (derivative + ``bracket`` · diag(r) [v, ·]), entry by entry; [·, ·] is the commutator of twists."""
    for joint, r, p in turning_rotors(model):
        w = joint.v.start
        for i, j, k, sign in _ORDERS:
            for row, column, at, factor in (
                (w, w, w, bracket * r[i] + r[j] - r[k]),
                (w, w + 3, w + 3, p[j] - p[k]),
                (w + 3, w, w + 3, bracket * p[i] - p[k]),
                (w + 3, w + 3, w, bracket * p[i] + p[j]),
            ):
                if not is_known_zero(factor):
                    yield row + i, column + j, v[at + k] * (factor * (-sign * scale))


def _same(a: Scalar, b: Scalar) -> bool:
    """Whether both are known to be the same number."""
    return a is b or (isinstance(a, (int, float)) and isinstance(b, (int, float)) and a == b)


def _collected(model: Model, name: str, power: int) -> list[float]:
    result = [0.0] * model.nv
    for joint in model.joints:
        ratio = abs(joint.master.ratio) ** power if joint.master else 1.0
        for k, value in zip(range(joint.v.start, joint.v.stop), getattr(joint, name), strict=True):
            result[k] = result[k] + (value if ratio == 1.0 else ratio * value)
    return result
