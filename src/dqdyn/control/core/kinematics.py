"""How features of the robot and signals move at one state, and functions of them: Jacobian, residual, rates, by jets.

For y = F(a, b) with a on the robot and b given from outside,

    ẏ = J v + ζ,    J = ∂F/∂a · J_a,    ζ = ∂F/∂b · ḃ,    ÿ = J v̇ + drift,    drift = J̇ v + ζ̇.

A controller needs J̇ v, never J̇ alone, so one second derivative along the motion serves all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar
from dqdyn.caching import cached_property
from dqdyn.constraints.methods.sparse import dot, sparse
from dqdyn.kinematics.tree import WorldMotion
from dqdyn.model.model import Model

VectorFunction = Callable[[list[Scalar]], Sequence[Scalar]]
"""F of the components of all features, then of all signals."""
Matrix = list[list[Scalar]]
GainMatrices = tuple[Matrix, Matrix]
"""Of the rate and of the value: gains of components that differ, or that act on each other."""


@dataclass(frozen=True)
class FeatureKinematics:
    """Components of a feature of the robot and how they move: ȧ = J v, ä = J v̇ + drift.

    ``columns[k]`` is column k of J; missing ones are zero. Without velocities ``rate`` and ``drift`` are None.
    """

    value: list[Scalar]
    columns: Mapping[int, Sequence[Scalar]]
    rate: list[Scalar] | None = None
    drift: list[Scalar] | None = None


class State:
    """q and, at the level of accelerations, v; over any scalar. All that a controller evaluates there shares it."""

    def __init__(self, model: Model, q: Sequence[Scalar], v: Sequence[Scalar] | None = None) -> None:
        self.model, self.q, self.v = model, q, v
        self.motion = WorldMotion(model, q, v)

    @cached_property
    def twist_drifts(self) -> dict[int, DQ]:
        """Rates of the world twists of the bodies where no joint accelerates."""
        assert self.v is not None
        return self.motion.twist_rates(self.v, [0.0] * self.model.nv)


@dataclass(frozen=True)
class Rows:
    """Values y and how they move; ``rate`` ẏ and ``drift`` are None without velocities."""

    value: list[Scalar]
    jacobian: list[list[Scalar]]
    residual: list[Scalar]
    rate: list[Scalar] | None = None
    drift: list[Scalar] | None = None
    gain_matrices: GainMatrices | None = None

    def decay(self, i: int, gains: tuple[Scalar, Scalar]) -> Scalar:
        """What ẏ + η y, or ÿ + k_d ẏ + k_p y, of component i has beside J u; matrices multiply k_d and k_p, or η."""
        first, second = gains
        of_rate, of_value = self.gain_matrices or (None, None)
        value = _component(of_value, self.value, i)
        if self.rate is None or self.drift is None:  # ẏ = −η y [Quiroz, eq. (3.1)]
            return self.residual[i] + first * value
        # ÿ = −k_d ẏ − k_p y [Quiroz, eq. (3.3)]
        return self.drift[i] + first * _component(of_rate, self.rate, i) + second * value

    def chosen(self, kept: Sequence[int]) -> Rows:
        """Those of these components alone."""

        def of(part: list[Any]) -> list[Any]:
            return [part[i] for i in kept]

        matrices = None
        if self.gain_matrices is not None:
            of_rate, of_value = ([of(row) for row in of(matrix)] for matrix in self.gain_matrices)
            matrices = of_rate, of_value
        rate, drift = (None if part is None else of(part) for part in (self.rate, self.drift))
        return Rows(of(self.value), of(self.jacobian), of(self.residual), rate, drift, matrices)

    def pulls(self, gains: tuple[Scalar, Scalar]) -> list[Scalar]:
        """k_p y of every component: the share of the value in :meth:`decay` at the level of accelerations."""
        of_value = None if self.gain_matrices is None else self.gain_matrices[1]
        return [gains[1] * _component(of_value, self.value, i) for i in range(len(self.value))]


def _component(matrix: Matrix | None, c: list[Scalar], i: int) -> Scalar:
    """Component i of matrix · c; without a matrix that of c."""
    return c[i] if matrix is None else dot(sparse(matrix[i]), sparse(c))


@dataclass(frozen=True)
class SignalMotion:
    """Components of signals, their rates and accelerations."""

    value: list[Scalar]
    rate: list[Scalar]
    acceleration: list[Scalar]


def differentiate(function: VectorFunction, robot: FeatureKinematics, given: SignalMotion, nv: int) -> Rows:
    """F with its derivatives along the motion of the robot and of the signals."""
    at = [*robot.value, *given.value]
    value = list(function(at))
    slopes = [_slopes(function, at, j) for j in range(len(robot.value))]
    gradients = [sparse([slope[i] for slope in slopes]) for i in range(len(value))]
    columns = [sparse(robot.columns.get(k, ())) for k in range(nv)]
    jacobian = [[dot(gradient, column) for column in columns] for gradient in gradients]
    residual: list[Scalar] = [0.0] * len(value)
    if given.value:
        residual = derivative(lambda c: function([*robot.value, *c]), given.value, given.rate)
    if robot.rate is None or robot.drift is None:
        return Rows(value, jacobian, residual)
    rate, drift = along(function, at, [*robot.rate, *given.rate], [*robot.drift, *given.acceleration])
    return Rows(value, jacobian, residual, rate, drift)


def along(
    function: VectorFunction, at: list[Scalar], rate: list[Scalar], acceleration: list[Scalar]
) -> tuple[list[Scalar], list[Scalar]]:
    """First and second derivative of F along a motion."""
    n = len(at)
    second = derivative(lambda c: derivative(function, c[:n], c[n:]), [*at, *rate], [*rate, *acceleration])
    return derivative(function, at, rate), second


def _slopes(function: VectorFunction, at: Sequence[Scalar], j: int) -> list[Scalar]:
    """∂F/∂xⱼ of all components of F."""
    before, after = list(at[:j]), list(at[j + 1 :])
    return derivative(lambda c: function([*before, c[0], *after]), [at[j]], [1.0])
