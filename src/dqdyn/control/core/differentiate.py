"""A function of things on the robot and of signals, with its Jacobian, residual and rates, by jets.

For y = F(a, b) with a on the robot and b given from outside,

    ẏ = J v + ζ,    J = ∂F/∂a · J_a,    ζ = ∂F/∂b · ḃ,    ÿ = J v̇ + drift,    drift = J̇ v + ζ̇.

A controller needs J̇ v, never J̇ alone, so one second derivative along the motion serves all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.state import Seen

Function = Callable[[list[Scalar]], Sequence[Scalar]]
"""F of the components of all things, then of all signals."""


@dataclass(frozen=True)
class Rows:
    """Values y and how they move; ``rate`` ẏ and ``drift`` are None without velocities."""

    value: list[Scalar]
    jacobian: list[list[Scalar]]
    residual: list[Scalar]
    rate: list[Scalar] | None = None
    drift: list[Scalar] | None = None


@dataclass(frozen=True)
class Given:
    """Components of signals, their rates and accelerations."""

    value: list[Scalar]
    rate: list[Scalar]
    acceleration: list[Scalar]


def differentiate(function: Function, robot: Seen, given: Given, nv: int) -> Rows:
    """F with its derivatives along the motion of the robot and of the signals."""
    n, at = len(robot.value), [*robot.value, *given.value]
    value = list(function(at))
    slopes = [_slopes(function, at, j) for j in range(n)]
    jacobian = [[_dot([s[i] for s in slopes], robot.columns.get(k)) for k in range(nv)] for i in range(len(value))]
    still = [0.0] * n
    residual = derivative(lambda c: function([*robot.value, *c]), given.value, given.rate) if given.value else still[:0]
    residual = residual or [0.0] * len(value)
    if robot.rate is None or robot.drift is None:
        return Rows(value, jacobian, residual)
    rates, seconds = [*robot.rate, *given.rate], [*robot.drift, *given.acceleration]
    rate = derivative(function, at, rates)
    size = len(at)
    drift = derivative(lambda c: derivative(function, c[:size], c[size:]), [*at, *rates], [*rates, *seconds])
    return Rows(value, jacobian, residual, rate, drift)


def _slopes(function: Function, at: Sequence[Scalar], j: int) -> list[Scalar]:
    """∂F/∂xⱼ of all components of F."""
    before, after = list(at[:j]), list(at[j + 1 :])
    return derivative(lambda c: function([*before, c[0], *after]), [at[j]], [1.0])


def _dot(row: Sequence[Scalar], column: Sequence[Scalar] | None) -> Scalar:
    result: Scalar = 0.0
    for a, b in zip(row, column or (), strict=column is not None):
        if not (_is_zero(a) or _is_zero(b)):
            result = result + a * b
    return result


def _is_zero(x: Scalar) -> bool:
    return isinstance(x, float) and x == 0.0
