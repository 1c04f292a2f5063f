"""Dual quaternions over any scalar: the type ``DQ`` and its arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.quaternion import ONE, ZERO, Quaternion, dot4, pure, real
from dqdyn.algebra.real import real_number, scalar_array
from dqdyn.algebra.removable import safe_ratio
from dqdyn.algebra.scalar import Scalar, divide, is_numeric, is_scalar, stack, unstack
from dqdyn.arrays import Array
from dqdyn.errors import Error


class DQ:
    """A dual quaternion ``P + ε D`` [Silva, eq. (1)] [Farias, eq. (5)] [Quiroz, eq. (A.14)]; an immutable value.

    The dual unit has ε² = 0 [Quiroz, eq. (A.15)]. ``DQ([w, x, y, z, w', x', y', z'])`` takes 8 numbers or symbols, or
    an array of shape (..., 8) for a batch. Fewer mean what they mean in DQ Robotics: 1 a real number, 3 a pure
    quaternion, 4 a quaternion, 6 a pure dual quaternion.
    """

    __array_ufunc__ = None  # so that array * dq asks the dual quaternion
    __slots__ = ("dual", "primary")
    primary: Quaternion
    dual: Quaternion

    def __init__(self, coefficients: Any = (0.0,)) -> None:
        parts = _coefficients(coefficients)
        self.primary, self.dual = Quaternion(*parts[:4]), Quaternion(*parts[4:])

    @classmethod
    def of(cls, primary: Quaternion, dual: Quaternion = ZERO) -> DQ:
        """P + ε D from two quaternions."""
        new = object.__new__(cls)
        new.primary, new.dual = primary, dual
        return new

    @classmethod
    def of8(cls, c: Sequence[Scalar]) -> DQ:
        """The dual quaternion of eight coefficients, unchecked."""
        return cls.of(Quaternion(*c[:4]), Quaternion(*c[4:]))

    @classmethod
    def of6(cls, c: Sequence[Scalar]) -> DQ:
        """The pure dual quaternion of six imaginary coefficients, such as a twist or a line, unchecked."""
        return cls.of(pure(*c[:3]), pure(*c[3:]))

    # --- parts --------------------------------------------------------------------------------------------------

    def P(self) -> DQ:
        """Primary part."""
        return DQ.of(self.primary)

    def D(self) -> DQ:
        """Dual part."""
        return DQ.of(self.dual)

    def Re(self) -> DQ:
        """Real part, a dual number."""
        return DQ.of(real(self.primary.w), real(self.dual.w))

    def Im(self) -> DQ:
        """Imaginary part, a pure dual quaternion."""
        return DQ.of6(self.vector)

    @property
    def components(self) -> tuple[Scalar, ...]:
        return *self.primary.components, *self.dual.components

    @property
    def vector(self) -> tuple[Scalar, ...]:
        """The imaginary components of primary and dual part."""
        return *self.primary.vector, *self.dual.vector

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading shape of a batch; () for one dual quaternion."""
        return np.broadcast_shapes(*(c.shape for c in self.components if isinstance(c, np.ndarray)))

    def vec3(self) -> Array:
        """Imaginary coefficients of the primary part, shape (..., 3)."""
        return stack(self.primary.vector)

    def vec4(self) -> Array:
        """Coefficients of the primary part, shape (..., 4)."""
        return stack(self.primary.components)

    def vec6(self) -> Array:
        """Imaginary coefficients of primary and dual part, shape (..., 6)."""
        return stack(self.vector)

    def vec8(self) -> Array:
        """All coefficients, shape (..., 8)."""
        return stack(self.components)

    # --- arithmetic ---------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> DQ:
        other = as_dq(other)
        return DQ.of(self.primary + other.primary, self.dual + other.dual)

    __radd__ = __add__

    def __sub__(self, other: Any) -> DQ:
        other = as_dq(other)
        return DQ.of(self.primary - other.primary, self.dual - other.dual)

    def __rsub__(self, other: Any) -> DQ:
        return as_dq(other) - self

    def __neg__(self) -> DQ:
        return DQ.of(-self.primary, -self.dual)

    def __mul__(self, other: Any) -> DQ:
        if isinstance(other, DQ):
            return DQ.of(self.primary * other.primary, self.primary * other.dual + self.dual * other.primary)
        if not isinstance(other, Quaternion) and not is_scalar(other):
            return NotImplemented
        return DQ.of(self.primary * other, self.dual * other)

    def __rmul__(self, other: Any) -> DQ:
        if not isinstance(other, Quaternion) and not is_scalar(other):
            return NotImplemented
        return DQ.of(other * self.primary, other * self.dual)

    def __truediv__(self, other: Any) -> DQ:
        return self * (other.inv() if isinstance(other, DQ) else divide(1.0, other))

    def __rtruediv__(self, other: Scalar) -> DQ:
        result: DQ = other * self.inv()
        return result

    def __pow__(self, exponent: Scalar) -> DQ:
        return self.pow(exponent)

    def __eq__(self, other: object) -> bool:
        """Equality of every coefficient, exactly; see :func:`dqdyn.isclose` for a tolerance."""
        if not isinstance(other, (DQ, int, float)):
            return NotImplemented
        other = as_dq(other)
        mine, theirs = self.components, other.components
        if all(type(c) is float for c in (*mine, *theirs)):  # the constants of robots: compared often
            return all(a == b for a, b in zip(mine, theirs, strict=True))
        pairs = zip(mine, theirs, strict=True)
        return self.shape == other.shape and all(bool(np.all(a == b)) for a, b in pairs)

    def __hash__(self) -> int:
        real, *rest = self.components
        is_real = all(isinstance(c, (int, float)) and c == 0 for c in rest)
        return hash(real if is_real else self.components)  # a real number hashes as the number it equals

    # --- conjugates, norm, inverse --------------------------------------------------------------------------------

    def conj(self) -> DQ:
        """Classical conjugate P* + εD* [Quiroz, eq. (A.16)]."""
        return DQ.of(self.primary.conj(), self.dual.conj())

    def sharp(self) -> DQ:
        """Dual conjugate P − εD."""
        return DQ.of(self.primary, -self.dual)

    def conj_sharp(self) -> DQ:
        """Both conjugates P* − εD*."""
        return DQ.of(self.primary.conj(), -self.dual.conj())

    def norm(self) -> DQ:
        """Dual norm √(h h*) = ‖P‖ + ε⟨P, D⟩/‖P‖, a dual number; 0 where P = 0, since then h h* = 0."""
        p, d = self.primary, self.dual
        n = p.norm()
        return DQ.of(real(n), real(safe_ratio(dot4(p, d), n)))

    def inv(self) -> DQ:
        """Inverse h*/(h h*); needs P ≠ 0."""
        p, d = self.primary, self.dual
        s = divide(1.0, p.norm_squared())
        return self.conj() * DQ.of(real(s), real(-2.0 * dot4(p, d) * s * s))

    def normalize(self) -> DQ:
        """h/‖h‖, a unit dual quaternion."""
        return self * self.norm().inv()

    # --- functions of poses, named as in DQ Robotics; see algebra.poses and algebra.exponential ----------------------

    def rotation(self) -> DQ:
        """Rotation r of a unit dual quaternion r + ½εpr."""
        from dqdyn.algebra import poses

        return poses.rotation(self)

    def translation(self) -> DQ:
        """Translation p of a unit dual quaternion r + ½εpr, a pure quaternion."""
        from dqdyn.algebra import poses

        return poses.translation(self)

    def rotation_angle(self) -> Any:
        """Rotation angle in [0, 2π] of a unit dual quaternion."""
        from dqdyn.algebra import poses

        return poses.rotation_angle(self)

    def rotation_axis(self) -> DQ:
        """Rotation axis of a unit dual quaternion, k where the rotation vanishes."""
        from dqdyn.algebra import poses

        return poses.rotation_axis(self)

    def log(self) -> DQ:
        """Logarithm with rotation and translation apart; see :func:`dqdyn.log`."""
        from dqdyn.algebra import exponential

        return exponential.log(self)

    def exp(self) -> DQ:
        """Exponential with rotation and translation apart; see :func:`dqdyn.exp`."""
        from dqdyn.algebra import exponential

        return exponential.exp(self)

    def pow(self, exponent: Scalar) -> DQ:
        """Geometric power exp(λ log x); see :func:`dqdyn.pow`."""
        from dqdyn.algebra import exponential

        return exponential.pow(self, exponent)

    def __repr__(self) -> str:
        if all(is_numeric(c) and np.ndim(c) == 0 for c in self.components):
            return f"DQ([{', '.join(f'{c:.6g}' for c in self.components)}])"
        return f"DQ({list(self.components)})"


_LAYOUTS = {1: (0,), 3: (1, 2, 3), 4: (0, 1, 2, 3), 6: (1, 2, 3, 5, 6, 7), 8: tuple(range(8))}
"""Which of the eight coefficients a list of 1, 3, 4, 6 or 8 numbers gives."""


def _coefficients(given: Any) -> list[Scalar]:
    """Eight scalars from what a user wrote: a list of scalars, or an array or nested list with the batch in front."""
    if isinstance(given, (list, tuple)) and not any(isinstance(c, (list, tuple, np.ndarray)) for c in given):
        values = [real_number(c, "A coefficient of a dual quaternion") if is_numeric(c) else c for c in given]
    else:
        values = _last_axis(given)
    if len(values) not in _LAYOUTS or not all(is_scalar(v) for v in values):
        raise Error(
            f"A dual quaternion takes 8 numbers or symbols, or 1, 3, 4 or 6 of them; found {given!r}.",
            expected=8,
            found=given,
        )
    parts: list[Scalar] = [0.0] * 8
    for place, value in zip(_LAYOUTS[len(values)], values, strict=True):
        parts[place] = value
    return parts


def _last_axis(given: Any) -> list[Scalar]:
    """The components along the last axis of an array-like; empty where it is not an array of numbers or symbols."""
    if is_scalar(given) and not isinstance(given, np.ndarray):
        return []
    array = scalar_array(given, "A dual quaternion")
    if array.ndim == 0 or (array.dtype == object and array.ndim != 1):
        return []
    return unstack(array, array.shape[-1])


def as_dq(value: Any) -> DQ:
    """A dual quaternion, or a real number as one."""
    if isinstance(value, DQ):
        return value
    if isinstance(value, Quaternion):
        return DQ.of(value)
    if not is_scalar(value):
        raise Error(f"A dual quaternion or a scalar is needed; found {value!r}.", found=value)
    return DQ.of(real(value))


IDENTITY = DQ.of(ONE)
EPSILON = DQ.of(ZERO, ONE)


def zero_twist() -> DQ:
    """0 + ε0."""
    return DQ.of(ZERO, ZERO)
