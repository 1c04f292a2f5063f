"""Parts, conjugates, norm and coefficients of dual quaternions as functions, named as in DQ Robotics."""

from __future__ import annotations

from dqdyn.algebra.dual import DQ, EPSILON
from dqdyn.arrays import Array

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


def vec3(x: DQ) -> Array:
    """Imaginary coefficients of the primary part, shape (..., 3)."""
    return x.vec3()


def vec4(x: DQ) -> Array:
    """Coefficients of the primary part, shape (..., 4) [Quiroz, eq. (A.4)]."""
    return x.vec4()


def vec6(x: DQ) -> Array:
    """Imaginary coefficients of primary and dual part, shape (..., 6)."""
    return x.vec6()


def vec8(x: DQ) -> Array:
    """All coefficients, shape (..., 8)."""
    return x.vec8()


def swap(a: DQ) -> DQ:
    """D(a) + εP(a): the parts exchanged, as power and [Farias, eq. (48)] need them."""
    return DQ.of(a.dual, a.primary)
