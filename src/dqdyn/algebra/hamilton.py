"""Hamilton operators: products with a dual quaternion as linear maps, by matrices and by images of the basis."""

from __future__ import annotations

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import ZERO, Quaternion
from dqdyn.algebra.scalar import Scalar, stack, total
from dqdyn.arrays import Array


def plus_rows(h: Quaternion) -> list[list[Scalar]]:
    """H⁺₄(h) by rows."""
    w, x, y, z = h.components
    return [[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]]


def minus_rows(h: Quaternion) -> list[list[Scalar]]:
    """H⁻₄(h) by rows."""
    w, x, y, z = h.components
    return [[w, -x, -y, -z], [x, w, z, -y], [y, -z, w, x], [z, y, -x, w]]


def matrix_of_rows(rows: list[list[Scalar]]) -> Array:
    """An array of shape (..., rows, columns); the batch of its entries comes first."""
    return stack([c for row in rows for c in row], (len(rows), len(rows[0])))


def _block(p: list[list[Scalar]], d: list[list[Scalar]]) -> Array:
    return matrix_of_rows([row + [0.0] * 4 for row in p] + [a + b for a, b in zip(d, p, strict=True)])


def hamiplus4(x: DQ) -> Array:
    """H⁺₄ with vec4(ab) = H⁺₄(a) vec4(b) [Farias, eq. (19)] [Quiroz, eq. (A.5)]."""
    return matrix_of_rows(plus_rows(x.primary))


def haminus4(x: DQ) -> Array:
    """H⁻₄ with vec4(ab) = H⁻₄(b) vec4(a) [Farias, eq. (18)] [Quiroz, eq. (A.6)]."""
    return matrix_of_rows(minus_rows(x.primary))


def hamiplus8(x: DQ) -> Array:
    """H⁺₈ with vec8(ab) = H⁺₈(a) vec8(b) [Quiroz, eq. (A.17)]."""
    return _block(plus_rows(x.primary), plus_rows(x.dual))


def haminus8(x: DQ) -> Array:
    """H⁻₈ with vec8(ab) = H⁻₈(b) vec8(a) [Quiroz, eq. (A.17)]."""
    return _block(minus_rows(x.primary), minus_rows(x.dual))


def crossmatrix4(a: DQ) -> Array:
    """S(a) = (H⁺₄(a) − H⁻₄(a))/2 with vec4(a × b) = S(a) vec4(b), for pure quaternions [Quiroz, eq. (A.10)].

    Without its first row and column it is the matrix [a×] of a vector [Bouyarmane, eq. (4)].
    """
    x, y, z = a.primary.vector
    return matrix_of_rows([[0.0] * 4, [0.0, 0.0, -z, y], [0.0, z, 0.0, -x], [0.0, -y, x, 0.0]])


def C4() -> Array:
    """C₄ with vec4(h*) = C₄ vec4(h) [Quiroz, eq. (A.7)]."""
    return np.diag([1.0, -1.0, -1.0, -1.0])


def C8() -> Array:
    """C₈ with vec8(h*) = C₈ vec8(h) [Quiroz, eq. (A.18)]."""
    return np.diag([1.0, -1.0, -1.0, -1.0] * 2)


def T4(m: tuple[DQ, ...], q: DQ) -> DQ:
    """Linear map of quaternions by the images of 1, i, j, k [Farias, eq. (20)]."""
    return DQ.of(total(image.primary * c for image, c in zip(m, q.primary.components, strict=True)))


def T8(n: tuple[DQ, ...], q: DQ) -> DQ:
    """Linear map of dual quaternions by the images of 1, i, j, k, ε, εi, εj, εk [Farias, eq. (21)]."""
    result: DQ = total(image * c for image, c in zip(n, q.components, strict=True))
    return result


def h_plus(x: DQ) -> tuple[DQ, ...]:
    """(x, xi, xj, xk): T4(h_plus(a), b) = ab without a matrix [Farias, eq. (22)] [Farias, eq. (23)]."""
    return tuple(DQ.of(c) for c in _columns(plus_rows(x.primary)))


def h_minus(x: DQ) -> tuple[DQ, ...]:
    """(x, ix, jx, kx): T4(h_minus(b), a) = ab without a matrix [Farias, eq. (22)] [Farias, eq. (23)]."""
    return tuple(DQ.of(c) for c in _columns(minus_rows(x.primary)))


def h8_plus(x: DQ) -> tuple[DQ, ...]:
    """Images of the basis under x·: T8(h8_plus(a), b) = ab [Farias, eq. (24)]."""
    return _images(_columns(plus_rows(x.primary)), _columns(plus_rows(x.dual)))


def h8_minus(x: DQ) -> tuple[DQ, ...]:
    """Images of the basis under ·x: T8(h8_minus(b), a) = ab [Farias, eq. (24)]."""
    return _images(_columns(minus_rows(x.primary)), _columns(minus_rows(x.dual)))


def _columns(rows: list[list[Scalar]]) -> list[Quaternion]:
    return [Quaternion(*column) for column in zip(*rows, strict=True)]


def _images(primary: list[Quaternion], dual: list[Quaternion]) -> tuple[DQ, ...]:
    front = [DQ.of(p, d) for p, d in zip(primary, dual, strict=True)]
    return (*front, *(DQ.of(ZERO, p) for p in primary))
