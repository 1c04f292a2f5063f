"""Functions of dual quaternions, named as in DQ Robotics where it has them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra import removable as singular
from dqdyn.algebra.checks import (  # noqa: F401  some only to be found here, next to the other names of DQ Robotics
    UNIT_TOLERANCE,
    is_line,
    is_plane,
    is_pure,
    is_pure_quaternion,
    is_quaternion,
    is_real,
    is_real_number,
    is_unit,
    require_pure,
    require_unit,
)
from dqdyn.algebra.dual import DQ, EPSILON, as_dq
from dqdyn.algebra.quaternion import (
    ZERO,
    I,
    J,
    K,
    Quaternion,
    combine,
    cross3,
    dot3,
    pure,
    rotation_columns,
)
from dqdyn.algebra.scalar import Scalar, atan2, less, select, sqrt, stack, total

Columns = tuple[Quaternion, Quaternion, Quaternion]
"""The images of i, j, k under a rotation."""

i_, j_, k_, E_ = DQ([0, 1, 0, 0]), DQ([0, 0, 1, 0]), DQ([0, 0, 0, 1]), EPSILON
"""The units i, j, k and ε."""


def P(x: DQ) -> DQ:
    """Primary part."""
    return x.P()


def D(x: DQ) -> DQ:
    """Dual part."""
    return x.D()


def Re(x: DQ) -> DQ:
    """Real part, a dual number."""
    return x.Re()


def Im(x: DQ) -> DQ:
    """Imaginary part, a pure dual quaternion."""
    return x.Im()


def conj(x: DQ) -> DQ:
    """Classical conjugate P* + εD* [Quiroz, eq. (A.16)]."""
    return x.conj()


def sharp(x: DQ) -> DQ:
    """Dual conjugate P − εD."""
    return x.sharp()


def conj_sharp(x: DQ) -> DQ:
    """Both conjugates P* − εD*; ``x y conj_sharp(x)`` moves the point 1 + εp."""
    return x.conj_sharp()


def norm(x: DQ) -> DQ:
    """Dual norm √(h h*), a dual number."""
    return x.norm()


def normalize(x: DQ) -> DQ:
    """h/‖h‖."""
    return x.normalize()


def inv(x: DQ) -> DQ:
    """Inverse; needs P ≠ 0."""
    return x.inv()


def vec3(x: DQ) -> np.ndarray:
    """Imaginary coefficients of the primary part, shape (..., 3)."""
    return x.vec3()


def vec4(x: DQ) -> np.ndarray:
    """Coefficients of the primary part, shape (..., 4) [Quiroz, eq. (A.4)]."""
    return x.vec4()


def vec6(x: DQ) -> np.ndarray:
    """Imaginary coefficients of primary and dual part, shape (..., 6)."""
    return x.vec6()


def vec8(x: DQ) -> np.ndarray:
    """All coefficients, shape (..., 8)."""
    return x.vec8()


# --- products of pure elements ------------------------------------------------------------------------------------


def cross(a: DQ, b: DQ) -> DQ:
    """a × b = (ab − ba)/2 of pure dual quaternions [Silva, eq. (8)] [Farias, eq. (6)]."""
    return DQ.of(cross3(a.primary, b.primary), cross3(a.primary, b.dual) + cross3(a.dual, b.primary))


def dot(a: DQ, b: DQ) -> DQ:
    """⟨a, b⟩ = −(ab + ba)/2 of pure dual quaternions, a dual number [Silva, eq. (30)]."""
    return DQ.of(
        Quaternion(dot3(a.primary, b.primary), 0.0, 0.0, 0.0),
        Quaternion(dot3(a.primary, b.dual) + dot3(a.dual, b.primary), 0.0, 0.0, 0.0),
    )


def geodesic(a: DQ, b: DQ) -> Scalar:
    """a ⊙ b = ⟨P(a), P(b)⟩ + ⟨D(a), D(b)⟩, a real number [Farias, eq. (7)]."""
    return dot3(a.primary, b.primary) + dot3(a.dual, b.dual)


def swap(a: DQ) -> DQ:
    """D(a) + εP(a): the parts exchanged, as power and [Farias, eq. (48)] need them."""
    return DQ.of(a.dual, a.primary)


def dec_mult(a: DQ, b: DQ) -> DQ:
    """Decompositional product of poses: translations add, rotations multiply as r_b r_a (the order of DQ Robotics)."""
    r = b.primary * a.primary
    p = translation(a).primary + translation(b).primary
    return DQ.of(r, p * r * 0.5)


def pinv(x: DQ) -> DQ:
    """Inverse of a pose for :func:`dec_mult`: rotation r*, translation −p. Not :func:`inv`, the inverse motion."""
    require_unit(x, "pinv")
    return pose(x.primary.conj(), -position(x))


# --- matrices -----------------------------------------------------------------------------------------------------


def _hamilton_plus(h: Quaternion) -> list[list[Scalar]]:
    w, x, y, z = h.components
    return [[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]


def _hamilton_minus(h: Quaternion) -> list[list[Scalar]]:
    w, x, y, z = h.components
    return [[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]]


def _matrix(rows: list[list[Scalar]]) -> np.ndarray:
    return stack([c for row in rows for c in row], (len(rows), len(rows[0])))


def _block(p: list[list[Scalar]], d: list[list[Scalar]]) -> np.ndarray:
    return _matrix([row + [0.0] * 4 for row in p] + [a + b for a, b in zip(d, p, strict=True)])


def hamiplus4(x: DQ) -> np.ndarray:
    """H⁺₄ with vec4(ab) = H⁺₄(a) vec4(b) [Farias, eq. (19)] [Quiroz, eq. (A.5)]."""
    return _matrix(_hamilton_plus(x.primary))


def haminus4(x: DQ) -> np.ndarray:
    """H⁻₄ with vec4(ab) = H⁻₄(b) vec4(a) [Farias, eq. (18)] [Quiroz, eq. (A.6)]."""
    return _matrix(_hamilton_minus(x.primary))


def hamiplus8(x: DQ) -> np.ndarray:
    """H⁺₈ with vec8(ab) = H⁺₈(a) vec8(b) [Quiroz, eq. (A.17)]."""
    return _block(_hamilton_plus(x.primary), _hamilton_plus(x.dual))


def haminus8(x: DQ) -> np.ndarray:
    """H⁻₈ with vec8(ab) = H⁻₈(b) vec8(a) [Quiroz, eq. (A.17)]."""
    return _block(_hamilton_minus(x.primary), _hamilton_minus(x.dual))


def crossmatrix4(a: DQ) -> np.ndarray:
    """S(a) = (H⁺₄(a) − H⁻₄(a))/2 with vec4(a × b) = S(a) vec4(b), for pure quaternions [Quiroz, eq. (A.10)].

    Without its first row and column it is the matrix [a×] of a vector [Bouyarmane, eq. (4)].
    """
    x, y, z = a.primary.vector
    return _matrix([[0.0] * 4, [0.0, 0.0, -z, y], [0.0, z, 0.0, -x], [0.0, -y, x, 0.0]])


def C4() -> np.ndarray:
    """C₄ with vec4(h*) = C₄ vec4(h) [Quiroz, eq. (A.7)]."""
    return np.diag([1.0, -1.0, -1.0, -1.0])


def C8() -> np.ndarray:
    """C₈ with vec8(h*) = C₈ vec8(h) [Quiroz, eq. (A.18)]."""
    return np.diag([1.0, -1.0, -1.0, -1.0] * 2)


def T4(m: tuple[DQ, ...], q: DQ) -> DQ:
    """Linear map of quaternions by the images of 1, i, j, k [Farias, eq. (20)]."""
    return DQ.of(total(image.primary * c for image, c in zip(m, q.primary.components, strict=True)))


def T8(n: tuple[DQ, ...], q: DQ) -> DQ:
    """Linear map of dual quaternions by the images of 1, i, j, k, ε, εi, εj, εk [Farias, eq. (21)]."""
    return total(image * c for image, c in zip(n, q.components, strict=True))


def h_plus(x: DQ) -> tuple[DQ, ...]:
    """(x, xi, xj, xk): T4(h_plus(a), b) = ab without a matrix [Farias, eq. (22)] [Farias, eq. (23)]."""
    return tuple(DQ.of(c) for c in _columns(_hamilton_plus(x.primary)))


def h_minus(x: DQ) -> tuple[DQ, ...]:
    """(x, ix, jx, kx): T4(h_minus(b), a) = ab without a matrix [Farias, eq. (22)] [Farias, eq. (23)]."""
    return tuple(DQ.of(c) for c in _columns(_hamilton_minus(x.primary)))


def h8_plus(x: DQ) -> tuple[DQ, ...]:
    """Images of the basis under x·: T8(h8_plus(a), b) = ab [Farias, eq. (24)]."""
    return _images(_columns(_hamilton_plus(x.primary)), _columns(_hamilton_plus(x.dual)))


def h8_minus(x: DQ) -> tuple[DQ, ...]:
    """Images of the basis under ·x: T8(h8_minus(b), a) = ab [Farias, eq. (24)]."""
    return _images(_columns(_hamilton_minus(x.primary)), _columns(_hamilton_minus(x.dual)))


def _columns(rows: list[list[Scalar]]) -> list[Quaternion]:
    return [Quaternion(*column) for column in zip(*rows, strict=True)]


def _images(primary: list[Quaternion], dual: list[Quaternion]) -> tuple[DQ, ...]:
    front = [DQ.of(p, d) for p, d in zip(primary, dual, strict=True)]
    return (*front, *(DQ.of(ZERO, p) for p in primary))


# --- poses ----------------------------------------------------------------------------------------------------------


def pose(r: Quaternion, p: Quaternion) -> DQ:
    """x = r + ½ε p r: rotation r, then translation p in the reference frame."""
    return DQ.of(r, p * r * 0.5)


def translator(p: Quaternion) -> DQ:
    """1 + ½ε p: a pure translation."""
    return DQ.of(Quaternion(1.0, 0.0, 0.0, 0.0), p * 0.5)


def position(x: DQ) -> Quaternion:
    """p = 2 D P* of a pose r + ½ε p r, as a pure quaternion; no check."""
    p, d = x.primary, x.dual
    return pure(
        2.0 * (d.x * p.w - d.w * p.x + d.z * p.y - d.y * p.z),
        2.0 * (d.y * p.w - d.w * p.y + d.x * p.z - d.z * p.x),
        2.0 * (d.z * p.w - d.w * p.z + d.y * p.x - d.x * p.y),
    )


def rotation(x: DQ) -> DQ:
    """Rotation r of the pose r + ½ε p r."""
    return require_unit(x, "rotation").P()


def translation(x: DQ) -> DQ:
    """Translation p of the pose r + ½ε p r, a pure quaternion; in the moving frame it is r*pr [Farias, eq. (28)]."""
    return DQ.of(position(require_unit(x, "translation")))


def tplus(x: DQ) -> DQ:
    """1 + ½ε p: the translation of the pose x = tplus(x) rotation(x), as a pose."""
    return translator(position(require_unit(x, "tplus")))


def rotation_angle(x: DQ) -> Scalar:
    """φ in [0, 2π] of r = cos(φ/2) + n sin(φ/2)."""
    r = require_unit(x, "rotation_angle").primary
    return 2.0 * atan2(sqrt(dot3(r, r)), r.w)


def rotation_axis(x: DQ) -> DQ:
    """n of r = cos(φ/2) + n sin(φ/2), a pure quaternion; k where sin(φ/2) = 0."""
    r = require_unit(x, "rotation_axis").primary
    return DQ.of(pure(*singular.unit_or(r.vector, (0.0, 0.0, 1.0))))


def rotation_matrix(x: DQ) -> np.ndarray:
    """The 3×3 rotation matrix of a unit (dual) quaternion, shape (..., 3, 3)."""
    a, b, c = rotation_columns(x.primary)
    return stack([a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z], (3, 3))


class Adjoint:
    """Ad(x) as a map, by the images of the basis: A_P [Farias, eq. (34)] and the translation.

    ``Adjoint(x)(y) = x y x*`` for unit x and pure y [Farias, eq. (33)] [Farias, eq. (36)]; the matrices of (34) are
    computed once. The term A_D y = p × (A_P y) of [Farias, eq. (35)] is applied as a cross product, which is cheaper.
    Maps chain as poses do: ``Adjoint(x) @ Adjoint(y)`` is ``Adjoint(x * y)``.
    """

    __slots__ = ("columns", "p")
    columns: Columns
    p: Quaternion

    def __init__(self, x: DQ) -> None:
        self.columns = rotation_columns(x.primary)
        self.p = position(x)

    @classmethod
    def of(cls, columns: Columns, p: Quaternion = ZERO) -> Adjoint:
        """The map of a rotation, by the images of i, j, k, and a translation."""
        new = object.__new__(cls)
        new.columns, new.p = columns, p
        return new

    def rotate(self, v: Quaternion) -> Quaternion:
        """A_P v: the rotation alone."""
        return combine(self.columns, v)

    def rotate_back(self, v: Quaternion) -> Quaternion:
        """A_P of x* on v: the inverse rotation."""
        a, b, c = self.columns
        return pure(dot3(a, v), dot3(b, v), dot3(c, v))

    def __call__(self, y: DQ) -> DQ:
        a = self.rotate(y.primary)
        return DQ.of(a, self.rotate(y.dual) + cross3(self.p, a))

    def back(self, y: DQ) -> DQ:
        """Ad(x*) y, the inverse map."""
        return DQ.of(self.rotate_back(y.primary), self.rotate_back(y.dual - cross3(self.p, y.primary)))

    def __matmul__(self, other: Adjoint) -> Adjoint:
        a, b, c = other.columns
        return Adjoint.of((self.rotate(a), self.rotate(b), self.rotate(c)), self.p + self.rotate(other.p))

    def inverse(self) -> Adjoint:
        """Ad(x*)."""
        a, b, c = self.columns
        rows = pure(a.x, b.x, c.x), pure(a.y, b.y, c.y), pure(a.z, b.z, c.z)
        return Adjoint.of(rows, -self.rotate_back(self.p))


class Factored:
    """Ad(x y) for a constant x and a moving y, applied one after the other.

    The same map as ``Adjoint(x) @ Adjoint(y)``; cheaper where it is applied few times and both factors have zeros.
    """

    __slots__ = ("first", "p", "second")

    def __init__(self, first: Adjoint, second: Adjoint) -> None:
        self.first, self.second = first, second
        self.p = first.p + first.rotate(second.p)

    def rotate(self, v: Quaternion) -> Quaternion:
        """The rotation alone."""
        return self.first.rotate(self.second.rotate(v))

    def rotate_back(self, v: Quaternion) -> Quaternion:
        """The inverse rotation alone."""
        return self.second.rotate_back(self.first.rotate_back(v))

    def __call__(self, y: DQ) -> DQ:
        return self.first(self.second(y))

    def back(self, y: DQ) -> DQ:
        """The inverse map."""
        return self.second.back(self.first.back(y))


def A_D(x: DQ, v: DQ) -> DQ:
    """A_D(x) v = 2 Im(x_P v x_D*) [Farias, eq. (35)]; the third column there is with k, not j."""
    return DQ.of((x.primary * v.primary * x.dual.conj()) * 2.0).Im()


def A_P(x: DQ, v: DQ) -> DQ:
    """A_P(x) v = x_P v x_P* [Farias, eq. (34)]."""
    return DQ.of(combine(rotation_columns(x.primary), v.primary))


def Ad(x: DQ, y: DQ) -> DQ:
    """x y x*: takes pure y from frame b to frame a by the pose x_ab [Silva, eq. (3)] [Farias, eq. (33)]."""
    return x * y * x.conj()


def Adsharp(x: DQ, y: DQ) -> DQ:
    """x♯ y x*: takes the plane y from frame b to frame a by the pose x_ab."""
    return x.sharp() * y * x.conj()


# --- exponentials and logarithms --------------------------------------------------------------------------------------


def _exp4(a: Quaternion) -> Quaternion:
    s = dot3(a, a)
    f = singular.sinc_root(s)
    return Quaternion(singular.cos_root(s), f * a.x, f * a.y, f * a.z)


def _log4(r: Quaternion) -> Quaternion:
    s = dot3(r, r)
    f = singular.angle_over_sine(r.w, s)
    turn = singular.is_full_turn(r.w, s)
    return pure(f * r.x, f * r.y, select(turn, np.pi, f * r.z))


def exp(g: DQ) -> DQ:
    """P(exp g) + ε D(g) P(exp g): rotation and translation apart [Farias, eq. (25)] [Farias, eq. (26)].

    Inverse of :func:`log` [Quiroz, def. (A.22)]. Not the Lie exponential: see :func:`screw_exp`.
    """
    require_pure(g, "exp")
    r = _exp4(g.primary)
    return DQ.of(r, g.dual * r)


def log(x: DQ) -> DQ:
    """φn/2 + εp/2 of the pose x [Quiroz, def. (A.21)]; at a rotation of 2π the axis is k."""
    require_unit(x, "log")
    return DQ.of(_log4(x.primary), position(x) * 0.5)


def pow(x: DQ, exponent: Scalar) -> DQ:
    """x^{λ} = exp(λ log x): rotation and translation scaled apart [Quiroz, def. (A.23)]."""
    return exp(log(x) * exponent)


def screw_exp(g: DQ) -> DQ:
    """cos(θ̂/2) + s sin(θ̂/2) for g = s θ̂/2: the motion along a screw, the Lie exponential [Farias, eq. (27)].

    A constant twist ξ acts for the time t as ``screw_exp(ξ t / 2)``.
    """
    require_pure(g, "screw_exp")
    a, b = g.primary, g.dual
    s, ab = dot3(a, a), dot3(a, b)
    f = singular.sinc_root(s)
    dual_vector = b * f + a * (ab * singular.sinc_slope_root(s))
    return DQ.of(
        Quaternion(singular.cos_root(s), f * a.x, f * a.y, f * a.z),
        Quaternion(-f * ab, dual_vector.x, dual_vector.y, dual_vector.z),
    )


def screw_log(x: DQ) -> DQ:
    """s θ̂/2 of the pose x: inverse of :func:`screw_exp`, with the half-angle in [0, π].

    At a rotation of 2π the axis is along the translation, or k where there is none.
    """
    require_unit(x, "screw_log")
    r, d = x.primary, x.dual
    s = dot3(r, r)
    f, k = singular.angle_over_sine(r.w, s), singular.log_slope(r.w, s)
    turn = singular.is_full_turn(r.w, s)
    axis = singular.unit_or((-d.x, -d.y, -d.z), (0.0, 0.0, 1.0))
    a = pure(*(select(turn, np.pi * n, f * c) for n, c in zip(axis, r.vector, strict=True)))
    kd = k * d.w
    b = pure(*(select(turn, -dc, f * dc + kd * rc) for dc, rc in zip(d.vector, r.vector, strict=True)))
    return DQ.of(a, b)


def screw_pow(x: DQ, exponent: Scalar) -> DQ:
    """The motion x followed for the share λ of its screw: screw_exp(λ screw_log x)."""
    return screw_exp(screw_log(x) * exponent)


def sclerp(x: DQ, y: DQ, t: Scalar) -> DQ:
    """Screw interpolation from pose x (t = 0) to pose y (t = 1), the shorter way round."""
    relative = x.conj() * y
    sign = select(less(relative.primary.w, 0.0), -1.0, 1.0)
    return x * screw_pow(relative * sign, t)


# --- derivatives of poses -------------------------------------------------------------------------------------------


def _exp_columns(g: DQ) -> list[Quaternion]:
    """∂ exp(a)/∂aᵢ of the pure quaternion a = P(g), one quaternion for each of its three components."""
    a = g.primary
    s = dot3(a, a)
    f, k = singular.sinc_root(s), singular.sinc_slope_root(s)
    columns = []
    for unit, c in zip((I, J, K), a.vector, strict=True):
        v = a * (k * c) + unit * f
        columns.append(Quaternion(-(f * c), v.x, v.y, v.z))
    return columns


def Q4(r: DQ) -> np.ndarray:
    """∂ vec4(r)/∂ vec3(log r), shape (..., 4, 3): how a rotation answers to its logarithm."""
    columns = _exp_columns(log(r))
    return _matrix([list(row) for row in zip(*(c.components for c in columns), strict=True)])


def Q8(x: DQ) -> np.ndarray:
    """∂ vec8(x)/∂ vec6(log x), shape (..., 8, 6): how a pose answers to its logarithm."""
    g = log(x)
    turning = [DQ.of(c, g.dual * c) for c in _exp_columns(g)]
    shifting = [DQ.of(ZERO, unit * x.primary) for unit in (I, J, K)]
    return _matrix([list(row) for row in zip(*(c.components for c in turning + shifting), strict=True)])


def generalized_jacobian(x: DQ) -> np.ndarray:
    """The 8×8 matrix that takes vec8(ẋ) of a pose to [vec4(ṗ), vec4(ω)], both in the reference frame.

    Its rows are ṗ = 2(ẋ_D x_P* + x_D ẋ_P*) and ω = 2 ẋ_P x_P*.
    """
    rotation_rows = _hamilton_minus(x.primary.conj() * 2.0)
    # vec4(x_D ẋ_P*) is H⁺₄(x_D) C₄ vec4(ẋ_P)
    moment_rows = [[row[0], -row[1], -row[2], -row[3]] for row in _hamilton_plus(x.dual * 2.0)]
    return _matrix(
        [a + b for a, b in zip(moment_rows, rotation_rows, strict=True)] + [r + [0.0] * 4 for r in rotation_rows]
    )


def isclose(x: DQ, y: DQ, tolerance: float = 1e-12) -> bool:
    """Whether all coefficients agree within ``tolerance`` (absolute)."""
    pairs = zip(as_dq(x).components, as_dq(y).components, strict=True)
    return all(bool(np.all(np.abs(a - b) <= tolerance)) for a, b in pairs)


# --- inertia --------------------------------------------------------------------------------------------------------


def L3(inertia: tuple[Quaternion, Quaternion, Quaternion], b: Quaternion) -> Quaternion:
    """i⟨I_x, b⟩ + j⟨I_y, b⟩ + k⟨I_z, b⟩ of the tensor given by its rows [Silva, eq. (11)] [Silva, eq. (12)].

    With ω for b it is the angular momentum [Silva, eq. (13)].
    """
    ix, iy, iz = inertia
    return pure(dot3(ix, b), dot3(iy, b), dot3(iz, b))


def G(mass: Scalar, inertia: tuple[Quaternion, Quaternion, Quaternion], twist: DQ) -> DQ:
    """m D(ω) + ε(I_x ω_x + I_y ω_y + I_z ω_z): momentum of a twist at the center of mass [Farias, eq. (30)]."""
    x, y, z = twist.dual.vector
    return DQ.of(pure(x * mass, y * mass, z * mass), combine(inertia, twist.primary))


def inertia_rows(tensor: Any) -> tuple[Quaternion, Quaternion, Quaternion]:
    """A symmetric 3×3 tensor as three pure quaternions [Silva, eq. (11)]."""
    rows = [[tensor[i][j] for j in range(3)] for i in range(3)]
    return pure(*rows[0]), pure(*rows[1]), pure(*rows[2])


def zero_twist() -> DQ:
    """0 + ε0."""
    return DQ.of(ZERO, ZERO)
