"""Derivatives of any function of the algebra, by running it on jets.

A jet ``a + a' δ`` with ``δ² = 0`` carries a value and its derivative along one direction. Its parts are scalars of any
kind, jets included, so second derivatives come from jets of jets. One source therefore gives a distance, its Jacobian,
its residual and their rates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dqdyn.algebra import scalar
from dqdyn.algebra.scalar import Functions, Scalar, divide, register


class Jet:
    """A value and its derivative along one direction."""

    __array_ufunc__ = None
    __slots__ = ("slope", "value")

    def __init__(self, value: Scalar, slope: Scalar = 0.0) -> None:
        self.value, self.slope = value, slope

    def __repr__(self) -> str:
        return f"Jet({self.value}, {self.slope})"

    def __add__(self, other: Any) -> Jet:
        other = _jet(other)
        return Jet(self.value + other.value, self.slope + other.slope)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Jet:
        other = _jet(other)
        return Jet(self.value - other.value, self.slope - other.slope)

    def __rsub__(self, other: Any) -> Jet:
        return _jet(other) - self

    def __neg__(self) -> Jet:
        return Jet(-self.value, -self.slope)

    def __mul__(self, other: Any) -> Jet:
        if not isinstance(other, Jet):
            return Jet(self.value * other, self.slope * other)
        return Jet(self.value * other.value, self.value * other.slope + self.slope * other.value)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Jet:
        return _divide(self, other)

    def __rtruediv__(self, other: Any) -> Jet:
        return _divide(other, self)


def _jet(x: Any) -> Jet:
    return x if isinstance(x, Jet) else Jet(x)


def _divide(a: Any, b: Any) -> Jet:
    a, b = _jet(a), _jet(b)
    quotient = divide(a.value, b.value)
    return Jet(quotient, divide(a.slope - quotient * b.slope, b.value))


def _sqrt(a: Jet) -> Jet:
    root = scalar.sqrt(a.value)
    return Jet(root, divide(a.slope, 2.0 * root))


def _atan2(y: Any, x: Any) -> Jet:
    y, x = _jet(y), _jet(x)
    slope = divide(x.value * y.slope - y.value * x.slope, x.value * x.value + y.value * y.value)
    return Jet(scalar.atan2(y.value, x.value), slope)


def _select(condition: Any, a: Any, b: Any) -> Jet:
    a, b = _jet(a), _jet(b)
    return Jet(scalar.select(condition, a.value, b.value), scalar.select(condition, a.slope, b.slope))


register(
    Jet,
    Functions(
        rank=10,
        sin=lambda a: Jet(scalar.sin(a.value), scalar.cos(a.value) * a.slope),
        cos=lambda a: Jet(scalar.cos(a.value), -(scalar.sin(a.value) * a.slope)),
        sqrt=_sqrt,
        atan2=_atan2,
        divide=_divide,
        less=lambda a, b: scalar.less(_jet(a).value, _jet(b).value),
        select=_select,
    ),
)


def slope_of(x: Scalar) -> Scalar:
    """The derivative that a result carries; zero where the result did not depend on the direction."""
    return x.slope if isinstance(x, Jet) else 0.0


def value_of(x: Scalar) -> Scalar:
    """The value that a result carries."""
    return x.value if isinstance(x, Jet) else x


def derivative(
    function: Callable[[list[Scalar]], Sequence[Scalar]],
    at: Sequence[Scalar],
    along: Sequence[Scalar],
) -> list[Scalar]:
    """d/dt of ``function(x)`` for ẋ = ``along`` at x = ``at``; the function maps a list to a sequence of scalars."""
    jets: list[Scalar] = [Jet(x, dx) for x, dx in zip(at, along, strict=True)]
    return [slope_of(y) for y in function(jets)]


def gradient(function: Callable[[list[Scalar]], Scalar], at: Sequence[Scalar]) -> list[Scalar]:
    """∂f/∂xᵢ of a scalar function of a list of scalars."""
    result = []
    for i in range(len(at)):
        jets: list[Scalar] = [Jet(x, 1.0) if j == i else x for j, x in enumerate(at)]
        result.append(slope_of(function(jets)))
    return result


def gradient_rate(
    function: Callable[[list[Scalar]], Scalar], at: Sequence[Scalar], along: Sequence[Scalar]
) -> list[Scalar]:
    """d/dt ∂f/∂xᵢ for ẋ = ``along``: the Hessian times a direction, by jets of jets."""
    return derivative(lambda x: gradient(function, x), at, along)
