"""Carrying motions outward and wrenches inward through a tree: the matrices Q and L of [Farias, section 5.3].

They hold maps, not dual quaternions: an element Ad(x) acts on y as x y x*, which no single factor beside y does. The
paper writes the map by two Hamilton operators; :class:`~dqdyn.algebra.adjoint.Adjoint` is the same map.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.matrix import DQMatrix
from dqdyn.algebra.quaternion import I, J, K
from dqdyn.kinematics.center_frames import CenterFrames
from dqdyn.model.model import WORLD_BODY


class Propagation:
    """L = (I − Q)⁻¹ [Farias, eq. (62)]: ``L @ Y`` carries motions from every body to all bodies behind it.

    It is never formed: L Y is the X with X = Y + Q X, found from the root to the leaves.
    """

    def __init__(self, at: CenterFrames) -> None:
        self._relative = at.relative
        self._parents = [joint.parent for joint in at.model.joints]

    def __matmul__(self, right: DQMatrix) -> DQMatrix:
        rows = _rows(right)
        for i, parent in enumerate(self._parents):
            if parent != WORLD_BODY:
                _add(rows, i, self._relative[i].back, parent)
        return DQMatrix(rows.reshape(right.shape))

    def star(self, right: DQMatrix) -> DQMatrix:
        """L* Y: carries wrenches from every body to all bodies before it.

        The star is the conjugate of every pose *and* the transpose, which the paper's conjugate of matrices is not.
        """
        rows = _rows(right)
        for i in reversed(range(len(rows))):
            if self._parents[i] != WORLD_BODY:
                _add(rows, self._parents[i], self._relative[i], i)
        return DQMatrix(rows.reshape(right.shape))

    def Q(self) -> MapMatrix:
        """Ad(x_ip) from each parent to its child [Farias, eq. (61)]."""
        return MapMatrix({(i, p): self._step(i) for i, p in enumerate(self._parents) if p != WORLD_BODY})

    def matrix(self) -> MapMatrix:
        """All elements of L: Ad(x_ij) for each body j before i, and 1 for i itself [Farias, eq. (62)]."""
        elements: dict[tuple[int, int], Adjoint] = {}
        for i, parent in enumerate(self._parents):
            step = self._step(i)
            for (row, j), before in list(elements.items()):
                if row == parent:
                    elements[i, j] = step @ before
            elements[i, i] = Adjoint.of((I, J, K))
        return MapMatrix(elements)

    def _step(self, i: int) -> Adjoint:
        return (self._relative[i].first @ self._relative[i].second).inverse()


class MapMatrix:
    """A square matrix of maps Ad(x), its zeros left out [Farias, eq. (59)] [Farias, eq. (60)].

    ``elements[i, j]`` takes a twist or wrench from F_j to F_i; ``Q @ Y`` sums these along the rows.
    """

    def __init__(self, elements: Mapping[tuple[int, int], Adjoint]) -> None:
        self.elements = dict(elements)

    def __matmul__(self, right: DQMatrix) -> DQMatrix:
        given, rows = _rows(right), _rows(right)
        rows.fill(zero_twist())
        for (i, j), element in self.elements.items():
            for column, y in enumerate(given[j]):
                rows[i, column] = _sum(rows[i, column], y, element)
        return DQMatrix(rows.reshape(right.shape))

    def star(self) -> MapMatrix:
        """Transposed, with every pose conjugated."""
        return MapMatrix({(j, i): element.inverse() for (i, j), element in self.elements.items()})


def _rows(matrix: DQMatrix) -> np.ndarray:
    """A copy of the elements with two axes; a vector is one column."""
    return (matrix.elements if matrix.elements.ndim == 2 else matrix.elements[:, None]).copy()


def _add(rows: np.ndarray, to: int, carry: Callable[[DQ], DQ], start: int) -> None:
    """Row ``start`` carried over and added to row ``to``."""
    for column, y in enumerate(rows[start]):
        rows[to, column] = _sum(rows[to, column], y, carry)


def _sum(x: DQ, y: DQ, carry: Callable[[DQ], DQ]) -> DQ:
    """x + carry(y) without the work on zeros by structure, of which A is full."""
    if _absent(y):
        return x
    return carry(y) if _absent(x) else x + carry(y)


def _absent(y: DQ) -> bool:
    """All elements are the number zero; what an algorithm computes is of another type unless all is numbers."""
    return all(type(c) is float and c == 0.0 for c in y.components)
