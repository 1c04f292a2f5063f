"""The inertia of a robot as felt at one of its frames, and the inverse of the Jacobian that belongs to it.

With M = LᵀDL the inverse J M⁻¹ Jᵀ = Yᵀ D⁻¹ Y needs Y = L⁻ᵀ Jᵀ alone, which has entries only for the joints that move
the frame. Its own inverse Λ exists where these joints can move the frame in all six directions. (Khatib, A unified
approach for motion and force control of robot manipulators, IEEE Journal of Robotics and Automation 1987.) Elsewhere
the first entry of a result is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from dqdyn.algebra.scalar import Scalar, less, select, total
from dqdyn.caching import cached_property
from dqdyn.dynamics.arguments import Matrix, Scalars, is_absent
from dqdyn.dynamics.choice import Candidate, Form
from dqdyn.dynamics.fast.sparse_solve import factored, substitute
from dqdyn.dynamics.methods import MASS_MATRIX
from dqdyn.kinematics.frames import Expressed, twist_jacobian
from dqdyn.model.model import Frame, Model

_TOLERANCE = 1e-10  # pivot relative to the diagonal entry that it came from: J has lost half of its digits
_ROUNDING = 1e-3  # and relative to the largest entry of the same unit: 1e-13 of it is rounding
_SIZE = 6


def candidates(algorithm: Callable[..., Any], model: Model, frame: Frame) -> list[Candidate]:
    """A function of this module with the mass matrices among which that of the robot is chosen."""
    alone = replace(model, frames={frame.name: frame}, constraints=())
    return [(partial(_with, algorithm, mass), on) for mass, on in MASS_MATRIX.candidates(alone, "auto")]


def _with(algorithm: Callable[..., Any], mass: Form, model: Model, q: Scalars, frame: Frame, **options: Any) -> Any:
    """The algorithm at the frame as the model has it, which may be in other axes."""
    return algorithm(Operational(mass, model, model.frames[frame.name], q, **options))


def inverse_inertia(at: Operational) -> Matrix:
    """Λ⁻¹ = J M⁻¹ Jᵀ (6×6), which exists at every state."""
    return at.inverse_inertia


def inertia(at: Operational) -> Matrix:
    """Λ = (J M⁻¹ Jᵀ)⁻¹ (6×6)."""
    return at.marked(at.inertia)


def consistent_inverse(at: Operational) -> Matrix:
    """J̄ = M⁻¹ Jᵀ Λ (nv×6), the right inverse of J with the least kinetic energy."""
    columns = []
    for column in range(_SIZE):
        z: list[Scalar] = [0.0] * at.nv
        for k, y in at.y.items():
            z[k] = (
                total(e * row[column] for e, row in zip(y, at.inertia, strict=True) if not is_absent(e)) * at.inverse[k]
            )
        for k in range(at.nv):
            for i in range(k):
                if not is_absent(at.lower[k][i]) and not is_absent(z[i]):
                    z[k] = z[k] - at.lower[k][i] * z[i]
        columns.append(z)
    return at.marked([[column[k] for column in columns] for k in range(at.nv)])


def has_rank(model: Model, frame: Frame) -> bool:
    """Whether a frame can move in all six directions at every state: with a free joint before it."""
    return any(model.joints[i].motion.group == "pose" for i in model.path(frame.body))


def _largest(values: Sequence[Scalar]) -> Scalar:
    result = values[0]
    for value in values[1:]:
        result = select(less(result, value), value, result)
    return result


class Operational:
    """A frame at a state: M = LᵀDL, Y by joint velocity, and J M⁻¹ Jᵀ."""

    def __init__(self, mass: Form, model: Model, frame: Frame, q: Scalars, expressed: Expressed = "body") -> None:
        self.nv, self.has_rank = model.nv, has_rank(model, frame)
        self.lower, self.inverse = factored(mass(model, q))
        jacobian = twist_jacobian(model, frame, q, expressed)
        self.y = self._eliminated([[row[k] for row in jacobian] for k in range(model.nv)])
        weighted = {k: [e * self.inverse[k] for e in y] for k, y in self.y.items()}
        self.inverse_inertia: Matrix = [[0.0] * _SIZE for _ in range(_SIZE)]
        for i in range(_SIZE):
            for j in range(i + 1):
                for k, y in self.y.items():
                    self.inverse_inertia[i][j] = self.inverse_inertia[i][j] + y[i] * weighted[k][j]
                self.inverse_inertia[j][i] = self.inverse_inertia[i][j]

    def _eliminated(self, y: Matrix) -> dict[int, list[Scalar]]:
        """L⁻ᵀ Jᵀ by rows, those without entries left out."""
        for k in reversed(range(self.nv)):
            for i in range(k):
                factor = self.lower[k][i]
                if not is_absent(factor):
                    y[i] = [a if is_absent(b) else a - factor * b for a, b in zip(y[i], y[k], strict=True)]
        return {k: row for k, row in enumerate(y) if not all(map(is_absent, row))}

    @cached_property
    def inertia(self) -> Matrix:
        """Λ."""
        lower, inverse = self._factors
        units = [[1.0 if i == k else 0.0 for i in range(_SIZE)] for k in range(_SIZE)]
        return [substitute(lower, inverse, unit) for unit in units]

    @cached_property
    def _factors(self) -> tuple[Matrix, list[Scalar]]:
        return factored(self.inverse_inertia)

    def marked(self, matrix: Matrix) -> Matrix:
        """A matrix made from Λ, whose first entry is NaN where Λ does not exist."""
        if self.has_rank:
            return matrix
        (first, *others), *rows = matrix
        exists = less(self._loss(), _TOLERANCE**-2)
        return [[select(exists, first, math.nan), *others], *rows]

    def _loss(self) -> Scalar:
        """How many digits Λ lacks: Σ (s/p)² over the pivots p of Λ⁻¹ and the entries s that they came from."""
        diagonal = [row[k] for k, row in enumerate(self.inverse_inertia)]
        largest = [_largest(diagonal[:3])] * 3 + [_largest(diagonal[3:])] * 3
        sizes = (_largest([own, of_unit * _ROUNDING]) for own, of_unit in zip(diagonal, largest, strict=True))
        ratios = [inverse * size for inverse, size in zip(self._factors[1], sizes, strict=True)]
        return total(ratio * ratio for ratio in ratios)
