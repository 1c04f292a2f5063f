"""What kind of dual quaternion a value is. Numbers only: a symbol could be any of these."""

from __future__ import annotations

import numpy as np

from dqdyn.algebra.dual import DQ, as_dq
from dqdyn.algebra.quaternion import dot4
from dqdyn.algebra.scalar import is_numeric, sqrt
from dqdyn.errors import Error

UNIT_TOLERANCE = 1e-6
"""How far a norm may be from one before a value is refused as not unit; inside it, it is used as it is."""

EXACT_TOLERANCE = 1e-12
"""How far a coefficient may be from zero in the tests ``is_pure``, ``is_real`` and their like."""


def is_unit(x: DQ, tolerance: float = UNIT_TOLERANCE) -> bool:
    """Whether ‖x‖ = 1: ‖P‖ = 1 and ⟨P, D⟩ = 0 relative to the size of D, for every element of a batch."""
    p, d = x.primary, x.dual
    if all(type(c) is float for c in x.components):  # the constants of robots: checked often
        size, scale, mixed = sqrt(p.norm_squared()), max(1.0, sqrt(d.norm_squared())), abs(dot4(p, d))
        return bool(abs(size - 1.0) <= tolerance and mixed <= tolerance * scale)
    with np.errstate(over="ignore", invalid="ignore"):  # infinities and NaN are not unit, and no reason to warn
        size = np.sqrt(p.norm_squared())
        scale = np.maximum(1.0, np.sqrt(d.norm_squared()))
        mixed = np.abs(dot4(p, d))
    return bool(np.all(np.abs(size - 1.0) <= tolerance) and np.all(mixed <= tolerance * scale))


def require_unit(x: DQ, what: str) -> DQ:
    """x, or an :class:`Error` where numbers show that it is not a unit dual quaternion. Symbols pass."""
    if all(is_numeric(c) for c in x.components) and not is_unit(x):
        raise Error(f"{what} needs a unit dual quaternion, found {x!r}: use normalize(x) first.", found=x)
    return x


def is_pure(x: DQ, tolerance: float = EXACT_TOLERANCE) -> bool:
    """Whether Re(x) = 0: twists, wrenches, lines."""
    return _vanish(x.Re(), tolerance)


def is_real(x: DQ, tolerance: float = EXACT_TOLERANCE) -> bool:
    """Whether Im(x) = 0: a dual number."""
    return _vanish(x.Im(), tolerance)


def is_quaternion(x: DQ, tolerance: float = EXACT_TOLERANCE) -> bool:
    """Whether D(x) = 0."""
    return _vanish(x.D(), tolerance)


def is_real_number(x: DQ, tolerance: float = EXACT_TOLERANCE) -> bool:
    """Whether Im(x) = 0 and D(x) = 0."""
    return is_real(x, tolerance) and is_quaternion(x, tolerance)


def is_pure_quaternion(x: DQ, tolerance: float = EXACT_TOLERANCE) -> bool:
    """Whether Re(x) = 0 and D(x) = 0: a point, a direction."""
    return is_pure(x, tolerance) and is_quaternion(x, tolerance)


def is_line(x: DQ, tolerance: float = UNIT_TOLERANCE) -> bool:
    """Whether x = l + εm with ‖l‖ = 1 and ⟨l, m⟩ = 0: a line in Plücker coordinates."""
    return is_pure(x, tolerance) and is_unit(x, tolerance)


def is_plane(x: DQ, tolerance: float = UNIT_TOLERANCE) -> bool:
    """Whether x = n + εd with a pure unit n and a real d. DQ Robotics also takes unit quaternions for planes."""
    return is_pure(x.P(), tolerance) and is_real(x.D(), tolerance) and is_unit(x, tolerance)


def _vanish(x: DQ, tolerance: float) -> bool:
    return all(bool(np.all(np.abs(c) <= tolerance)) for c in x.components)


def require_pure(g: DQ, what: str) -> DQ:
    """g, or an :class:`Error` where numbers show a real part. Symbols pass, and so does NaN, to propagate."""
    if any(is_numeric(c) and np.any(np.abs(c) > UNIT_TOLERANCE) for c in (g.primary.w, g.dual.w)):
        raise Error(f"{what} needs a pure dual quaternion, found {g!r}: use Im(g) first.", found=g)
    return g


def isclose(x: DQ, y: DQ, tolerance: float = 1e-12) -> bool:
    """Whether all coefficients agree within ``tolerance`` (absolute)."""
    pairs = zip(as_dq(x).components, as_dq(y).components, strict=True)
    return all(bool(np.all(np.abs(a - b) <= tolerance)) for a, b in pairs)
