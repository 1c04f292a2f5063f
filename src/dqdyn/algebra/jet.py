"""Derivatives of any function of the algebra, by running it on jets.

A jet ``a + a' δ`` with ``δ² = 0`` carries a value and its derivative along one direction. Its parts are scalars of any
kind, jets included, so second derivatives come from jets of jets. One source therefore gives a distance, its Jacobian,
its residual and their rates.

Each call of :func:`derivative` or :func:`gradient` has its own δ, identified by the ``level`` of the jet: a jet of an
outer call that the function uses is a constant to the inner one, and is never taken for the inner direction.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from dqdyn.algebra import scalar
from dqdyn.algebra.scalar import Functions, Scalar, Scalars, divide, register, scalars_only


class Jet:
    """A value and its derivative along one direction; ``level`` tells directions of nested derivatives apart."""

    __array_ufunc__ = None
    __slots__ = ("level", "slope", "value")

    def __init__(self, value: Scalar, slope: Scalar = 0.0, level: int = 0) -> None:
        self.value, self.slope, self.level = value, slope, level

    def __repr__(self) -> str:
        return f"Jet({self.value}, {self.slope})"

    @scalars_only
    def __add__(self, other: Any) -> Jet:
        a, b = _same_level(self, other)
        return Jet(a.value + b.value, a.slope + b.slope, a.level)

    __radd__ = __add__

    @scalars_only
    def __sub__(self, other: Any) -> Jet:
        a, b = _same_level(self, other)
        return Jet(a.value - b.value, a.slope - b.slope, a.level)

    @scalars_only
    def __rsub__(self, other: Any) -> Jet:
        a, b = _same_level(other, self)
        return Jet(a.value - b.value, a.slope - b.slope, a.level)

    def __neg__(self) -> Jet:
        return Jet(-self.value, -self.slope, self.level)

    @scalars_only
    def __mul__(self, other: Any) -> Jet:
        if not isinstance(other, Jet) or other.level < self.level:
            return Jet(self.value * other, self.slope * other, self.level)
        if other.level > self.level:
            return Jet(self * other.value, self * other.slope, other.level)
        slope = self.value * other.slope + self.slope * other.value
        return Jet(self.value * other.value, slope, self.level)

    __rmul__ = __mul__

    @scalars_only
    def __truediv__(self, other: Any) -> Jet:
        return _divide(self, other)

    @scalars_only
    def __rtruediv__(self, other: Any) -> Jet:
        return _divide(other, self)


def _same_level(a: Any, b: Any) -> tuple[Jet, Jet]:
    """Both as jets of the higher level; what has no part in that direction gets the slope zero."""
    above = a.level if isinstance(a, Jet) else -1
    other = b.level if isinstance(b, Jet) else -1
    if above == other:
        return a, b
    return (a, Jet(b, 0.0, above)) if above > other else (Jet(a, 0.0, other), b)


def _divide(a: Any, b: Any) -> Jet:
    a, b = _same_level(a, b)
    quotient = divide(a.value, b.value)
    return Jet(quotient, divide(a.slope - quotient * b.slope, b.value), a.level)


def _sqrt(a: Jet) -> Jet:
    root = scalar.sqrt(a.value)
    return Jet(root, divide(a.slope, 2.0 * root), a.level)


def _atan2(y: Any, x: Any) -> Jet:
    y, x = _same_level(y, x)
    slope = divide(x.value * y.slope - y.value * x.slope, x.value * x.value + y.value * y.value)
    return Jet(scalar.atan2(y.value, x.value), slope, y.level)


def _less(a: Any, b: Any) -> Any:
    a, b = _same_level(a, b)
    return scalar.less(a.value, b.value)


def _select(condition: Any, a: Any, b: Any) -> Jet:
    a, b = _same_level(a, b)
    return Jet(scalar.select(condition, a.value, b.value), scalar.select(condition, a.slope, b.slope), a.level)


def _sin(a: Jet) -> Jet:
    return Jet(scalar.sin(a.value), scalar.cos(a.value) * a.slope, a.level)


def _cos(a: Jet) -> Jet:
    return Jet(scalar.cos(a.value), -(scalar.sin(a.value) * a.slope), a.level)


register(Jet, Functions(10, _sin, _cos, _sqrt, _atan2, _divide, _less, _select))

_levels = count(1)


def slope_of(x: Scalar) -> Scalar:
    """The derivative that a result carries; zero where the result did not depend on the direction."""
    return x.slope if isinstance(x, Jet) else 0.0


def value_of(x: Scalar) -> Scalar:
    """The value that a result carries."""
    return x.value if isinstance(x, Jet) else x


def derivative(function: Callable[[list[Scalar]], Scalars], at: Scalars, along: Scalars) -> list[Scalar]:
    """d/dt of ``function(x)`` for ẋ = ``along`` at x = ``at``; the function maps a list to a sequence of scalars."""
    level = next(_levels)
    jets: list[Scalar] = [Jet(x, dx, level) for x, dx in zip(at, along, strict=True)]
    return [_slope_at(level, y) for y in function(jets)]


def _slope_at(level: int, x: Scalar) -> Scalar:
    return x.slope if isinstance(x, Jet) and x.level == level else 0.0


def gradient(function: Callable[[list[Scalar]], Scalar], at: Scalars) -> list[Scalar]:
    """∂f/∂xᵢ of a scalar function of a list of scalars."""
    result = []
    for i in range(len(at)):
        level = next(_levels)
        jets: list[Scalar] = [Jet(x, 1.0, level) if j == i else x for j, x in enumerate(at)]
        result.append(_slope_at(level, function(jets)))
    return result


def gradient_rate(function: Callable[[list[Scalar]], Scalar], at: Scalars, along: Scalars) -> list[Scalar]:
    """d/dt ∂f/∂xᵢ for ẋ = ``along``: the Hessian times a direction, by jets of jets."""
    return derivative(lambda x: gradient(function, x), at, along)
