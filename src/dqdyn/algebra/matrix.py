"""Vectors and matrices of dual quaternions [Farias, eq. (8)] [Farias, eq. (12)]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dqdyn.algebra import functions
from dqdyn.algebra.dual import DQ, as_dq
from dqdyn.algebra.scalar import stack
from dqdyn.errors import Error


class DQMatrix:
    """A vector (n,) or matrix (n, m) whose elements are dual quaternions over any scalar.

    ``+ - @`` and a product with a scalar act as on matrices of numbers, with the dual-quaternion product in place of the
    product of numbers. Elements of the papers' pure vectors [Farias, eq. (14)] are pure dual quaternions.
    """

    __array_ufunc__ = None
    __slots__ = ("elements",)

    def __init__(self, elements: Any) -> None:
        rows = elements.tolist() if isinstance(elements, np.ndarray) else list(elements)
        if rows and isinstance(rows[0], (list, tuple)):
            if len({len(row) for row in rows}) != 1:
                raise Error(f"Rows of a DQMatrix have equal lengths; found {[len(row) for row in rows]}.")
            array = np.empty((len(rows), len(rows[0])), dtype=object)
            for i, row in enumerate(rows):
                for j, element in enumerate(row):
                    array[i, j] = as_dq(element)
        else:
            array = np.empty(len(rows), dtype=object)
            for i, element in enumerate(rows):
                array[i] = as_dq(element)
        self.elements = array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.elements.shape

    @property
    def T(self) -> DQMatrix:
        """Transpose [Farias, eq. (9)] [Farias, eq. (13)]; a vector stays as it is."""
        return DQMatrix(self.elements.T)

    def conj(self) -> DQMatrix:
        """Every element conjugated [Farias, eq. (9)] [Farias, eq. (13)]; no transposition."""
        return self.map(functions.conj)

    def map(self, function: Callable[[DQ], DQ]) -> DQMatrix:
        """The function on every element, as :func:`dqdyn.G` in [Farias, eq. (32)]."""
        return DQMatrix(_elementwise(function, self.elements))

    def __getitem__(self, index: Any) -> Any:
        found = self.elements[index]
        return found if isinstance(found, DQ) else DQMatrix(found)

    def __len__(self) -> int:
        return len(self.elements)

    def __add__(self, other: DQMatrix) -> DQMatrix:
        """Element by element [Farias, eq. (10)]."""
        return DQMatrix(_elementwise(lambda a, b: a + b, self.elements, other.elements))

    def __sub__(self, other: DQMatrix) -> DQMatrix:
        return DQMatrix(_elementwise(lambda a, b: a - b, self.elements, other.elements))

    def __neg__(self) -> DQMatrix:
        return self.map(lambda a: -a)

    def __mul__(self, scalar: Any) -> DQMatrix:
        return self.map(lambda a: a * scalar)

    __rmul__ = __mul__

    def __matmul__(self, other: Any) -> Any:
        """Matrix product; of two vectors the sum of products [Farias, eq. (11)], a dual quaternion.

        The right side may be a vector of scalars, such as joint velocities.
        """
        right = other.elements if isinstance(other, DQMatrix) else np.asarray(other, dtype=object)
        if self.shape[-1] != right.shape[0]:
            raise Error(f"Shapes {self.shape} and {right.shape} do not multiply.", expected=self.shape[-1])
        result = self.elements @ right
        return result if isinstance(result, DQ) else DQMatrix(result)

    def cross(self, other: DQMatrix) -> DQMatrix:
        """⊗: cross products element by element [Farias, eq. (15)]."""
        return DQMatrix(_elementwise(functions.cross, self.elements, other.elements))

    def dot(self, other: DQMatrix) -> DQMatrix:
        """⊙ of vectors: inner products element by element, dual numbers [Farias, eq. (16)]."""
        return DQMatrix(_elementwise(functions.dot, self.elements, other.elements))

    def geodesic(self, other: DQMatrix) -> np.ndarray:
        """⊛: double geodesic products element by element, real numbers [Farias, eq. (17)]."""
        result = _elementwise(functions.geodesic, self.elements, other.elements)
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


def _elementwise(function: Callable[..., Any], *arrays: np.ndarray) -> np.ndarray:
    shape = arrays[0].shape
    if any(a.shape != shape for a in arrays):
        raise Error(f"Element-by-element operations need equal shapes; found {[a.shape for a in arrays]}.")
    result = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        result[index] = function(*(a[index] for a in arrays))
    return result
