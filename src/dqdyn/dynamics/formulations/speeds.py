"""Quasi-velocities u, Kane's generalized speeds: v = B(q) u with B given as a function over scalars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar, divide, sqrt, total
from dqdyn.dynamics.arguments import Matrix, Scalars
from dqdyn.dynamics.formulations.mass_centers import row_times
from dqdyn.errors import StateError
from dqdyn.kinematics.configuration import configuration_rate
from dqdyn.model.model import Model

Speeds = Callable[[Scalars], Matrix]
"""B(q), nv rows of m entries, with v = B(q) u [Parsa, eq. (8)].

A square B is a change of velocities. A tall one, whose columns span the velocities that constraints A(q) v = 0 admit,
so that A B = 0 [Parsa, eq. (9)], describes the motion of a constrained robot.
"""


@dataclass(frozen=True)
class InverseSpeeds:
    """B(q) = Y(q)⁻¹ by orthogonal columns, Y = Q R, so that no pivot is chosen by its value; a left inverse if tall."""

    y: Speeds

    def __call__(self, q: Scalars) -> Matrix:
        basis, r = orthogonal([list(column) for column in zip(*self.y(q), strict=True)])
        result: Matrix = [[] for _ in basis]
        for i in reversed(range(len(basis))):
            below = [[r[i][k] * b for b in result[k]] for k in range(i + 1, len(basis))]
            result[i] = [divide(total([e, *(-t[j] for t in below)]), r[i][i]) for j, e in enumerate(basis[i])]
        return result


def speeds_from(y: Callable[[Scalars], Matrix]) -> Speeds:
    """B(q) = Y(q)⁻¹ for quasi-velocities given as u = Y(q) v; Y is square and never singular."""
    return InverseSpeeds(y)


def speed_matrix(speeds: Speeds, model: Model, q: Scalars) -> Matrix:
    """B(q), after a check of its shape."""
    b = speeds(q)
    if len(b) != model.nv or len({len(row) for row in b}) != 1:
        lengths = [len(row) for row in b]
        message = f"The speeds B(q) of v = B u need {model.nv} rows of one length; found rows of lengths {lengths}."
        raise StateError(message, expected=model.nv, found=lengths)
    return b


def velocities(
    speeds: Speeds, model: Model, q: Scalars, u: Scalars, u_rate: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """v = B u and a = B u̇ + Ḃ u, with Ḃ by jets along the motion; of B = Y⁻¹ it is −B Ẏ B, which is cheaper."""
    b = speed_matrix(speeds, model, q)
    m = len(b[0])
    if len(u) != m or len(u_rate) != m:
        raise StateError(f"u and u̇ have {m} components here; found {len(u)} and {len(u_rate)}.", expected=m)
    v = [row_times(row, u) for row in b]
    rate = configuration_rate(model, q, v)
    if isinstance(speeds, InverseSpeeds):
        left = [a - row_times(row, v) for a, row in zip(u_rate, _rate(speeds.y, q, rate), strict=True)]
        return v, [row_times(row, left) for row in b]
    return v, [row_times(x, u_rate) + row_times(y, u) for x, y in zip(b, _rate(speeds, q, rate), strict=True)]


def _rate(matrix: Speeds, q: Scalars, along: Scalars) -> Matrix:
    """The rate of a matrix along q̇."""
    flat = derivative(lambda x: [e for row in matrix(x) for e in row], list(q), along)
    width = len(matrix(q)[0])
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def orthogonal(columns: Matrix) -> tuple[Matrix, Matrix]:
    """Orthonormal columns Q and upper triangular R of the matrix with these columns."""
    basis: Matrix = []
    r: Matrix = [[0.0] * len(columns) for _ in columns]
    for j, column in enumerate(columns):
        for _ in range(2):  # a second pass takes away what rounding left of the first
            for i, e in enumerate(basis):
                share = row_times(e, column)
                r[i][j] = r[i][j] + share
                column = [c - share * ei for c, ei in zip(column, e, strict=True)]
        r[j][j] = sqrt(row_times(column, column))
        basis.append([divide(c, r[j][j]) for c in column])
    return basis, r
