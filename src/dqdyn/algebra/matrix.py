"""Vectors and matrices of dual quaternions [Farias, eq. (8)] [Farias, eq. (12)]."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from dqdyn.algebra import products
from dqdyn.algebra.dual import DQ, as_dq
from dqdyn.algebra.scalar import stack
from dqdyn.arrays import Array
from dqdyn.errors import Error


class DQMatrix:
    """A vector (n,) or matrix (n, m) whose elements are dual quaternions over any scalar.

    ``+ - @`` and a product with a scalar act as on matrices of numbers, with the dual-quaternion product instead of
    the product of numbers. Elements of the papers' pure vectors [Farias, eq. (14)] are pure dual quaternions.
    """

    __array_ufunc__ = None
    __slots__ = ("elements",)

    def __init__(self, elements: Any) -> None:
        given = elements if isinstance(elements, np.ndarray) else _nested(list(elements))
        if given.ndim not in (1, 2):
            raise Error(f"A DQMatrix is a vector or a matrix; found shape {given.shape}.", found=given.shape)
        self.elements = _elementwise(as_dq, given)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.elements.shape

    @property
    def T(self) -> DQMatrix:
        """Transpose [Farias, eq. (9)] [Farias, eq. (13)]; a vector stays as it is."""
        return DQMatrix(self.elements.T)

    def conj(self) -> DQMatrix:
        """Every element conjugated [Farias, eq. (9)] [Farias, eq. (13)]; no transposition."""
        return self.map(DQ.conj)

    def map(self, function: Callable[[DQ], DQ]) -> DQMatrix:
        """The function on every element, as :func:`dqdyn.G` in [Farias, eq. (32)]."""
        return DQMatrix(_elementwise(function, self.elements))

    def __getitem__(self, index: Any) -> Any:
        part = self.elements[index]
        return part if isinstance(part, DQ) else DQMatrix(part)

    def __len__(self) -> int:
        return len(self.elements)

    def __add__(self, other: DQMatrix) -> DQMatrix:
        """Element by element [Farias, eq. (10)]."""
        return DQMatrix(_elementwise(operator.add, self.elements, _elements(other)))

    def __sub__(self, other: DQMatrix) -> DQMatrix:
        return DQMatrix(_elementwise(operator.sub, self.elements, _elements(other)))

    def __neg__(self) -> DQMatrix:
        return self.map(lambda a: -a)

    def __mul__(self, factor: Any) -> DQMatrix:
        """Every element times a scalar or a dual quaternion on its right."""
        return self.map(lambda a: a * factor)

    def __rmul__(self, factor: Any) -> DQMatrix:
        """Every element times a scalar or a dual quaternion on its left."""
        return self.map(lambda a: factor * a)

    def __matmul__(self, other: Any) -> Any:
        """Matrix product; of two vectors the sum of products [Farias, eq. (11)], a dual quaternion.

        The right side may be a vector of scalars, such as joint velocities.
        """
        right = other.elements if isinstance(other, DQMatrix) else np.asarray(other, dtype=object)
        if right.ndim not in (1, 2) or self.shape[-1] != right.shape[0]:
            raise Error(f"Shapes {self.shape} and {right.shape} do not multiply.", expected=self.shape[-1])
        result = self.elements @ right
        return DQMatrix(result) if isinstance(result, np.ndarray) else as_dq(result)

    def cross(self, other: DQMatrix) -> DQMatrix:
        """⊗: cross products element by element [Farias, eq. (15)]."""
        return DQMatrix(_elementwise(products.cross, self.elements, _elements(other)))

    def dot(self, other: DQMatrix) -> DQMatrix:
        """⊙ of vectors: inner products element by element, dual numbers [Farias, eq. (16)]."""
        return DQMatrix(_elementwise(products.dot, self.elements, _elements(other)))

    def geodesic(self, other: DQMatrix) -> Array:
        """⊛: double geodesic products element by element, real numbers [Farias, eq. (17)]."""
        result = _elementwise(products.geodesic, self.elements, _elements(other))
        return stack(list(result.flat), result.shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DQMatrix):
            return NotImplemented
        return self.shape == other.shape and all(
            a == b for a, b in zip(self.elements.flat, other.elements.flat, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"DQMatrix({self.elements.tolist()})"


def _nested(rows: list[Any]) -> np.ndarray:
    """A list, or a list of rows, as an array of objects; NumPy would look for sequences inside of the elements."""
    lengths = {len(row) if isinstance(row, (list, tuple)) else None for row in rows}
    if len(lengths) > 1:
        raise Error(f"Rows of a DQMatrix have equal lengths; found {sorted(lengths, key=str)}.")
    length = lengths.pop() if lengths else None
    shape: tuple[int, ...] = (len(rows),) if length is None else (len(rows), length)
    array = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        array[index] = rows[index[0]] if len(index) == 1 else rows[index[0]][index[1]]
    return array


def _elements(other: Any) -> np.ndarray:
    if not isinstance(other, DQMatrix):
        raise Error(f"This operation needs a DQMatrix on both sides; found a {type(other).__name__}.", found=other)
    return other.elements


def _elementwise(function: Callable[..., Any], *arrays: np.ndarray) -> Array:
    shape = arrays[0].shape
    if any(a.shape != shape for a in arrays):
        raise Error(f"Element-by-element operations need equal shapes; found {[a.shape for a in arrays]}.")
    result = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        result[index] = function(*(a[index] for a in arrays))
    return result
