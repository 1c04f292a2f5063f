"""Inertias whose numbers are inputs: mass, first moment and tensor as scalars of any kind.

The fast forms ask inertias for nothing but mass, first moment and second moments, which are linear in the ten
parameters of a body. What else algorithms ask for, the center of mass and the tensor about it, takes a division by the
mass unless the inertia was given by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.inertia_maps import inertia_rows
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar, Scalars, divide, less, select
from dqdyn.algebra.tensor import Symmetric, shifted
from dqdyn.caching import cached_property
from dqdyn.dynamics.fast.regroup import Moments
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import constant_adjoint

PER_BODY = 10
"""m; m c_x, m c_y, m c_z; I_xx, I_xy, I_yy, I_xz, I_yz, I_zz about the origin of the body's frame."""
PLACES = ((0, 1, 3), (1, 2, 4), (3, 4, 5))
"""Where the entries of a tensor are among xx, xy, yy, xz, yz, zz."""
Rows = Sequence[Scalars]


class OpenMoments(Moments):
    """Moments about the origin whose entries are scalars of any kind.

    ``central`` is the center of mass and the tensor about it, where the inertia was given by them.
    """

    def __init__(self, mass: Scalar, first: Any, tensor: Any, central: tuple[Scalars, Rows] | None = None) -> None:
        self.mass, self.first = mass, _array(first)
        self.origin_tensor, self._given = _array(tensor), central

    @classmethod
    def of(cls, entries: Scalars) -> OpenMoments:
        """From the ten parameters of a body."""
        return cls(entries[0], list(entries[1:4]), symmetric(entries[4:]))

    @classmethod
    def about_center(cls, mass: Scalar, center: Scalars, tensor: Rows) -> OpenMoments:
        """From the mass, the center of mass and the tensor about it."""
        c = list(center)
        first = [mass * e for e in c]
        return cls(mass, first, _added(tensor, _point(first, c)), (c, tensor))

    @classmethod
    def opened(cls, inertia: Inertia | Moments) -> OpenMoments:
        """The same inertia as one that may be seen from frames whose pose is an input."""
        if isinstance(inertia, OpenMoments):
            return inertia
        if isinstance(inertia, Moments):
            return cls(inertia.mass, inertia.first.tolist(), inertia.origin_tensor.tolist())
        return cls.about_center(inertia.mass, inertia.com, inertia.tensor)

    @cached_property
    def first_moment(self) -> Quaternion:
        """m c, a pure quaternion."""
        return pure(*self.first)

    @cached_property
    def second_moments(self) -> Any:
        """Σ about the origin."""
        half = (self.origin_tensor[0, 0] + self.origin_tensor[1, 1] + self.origin_tensor[2, 2]) * 0.5
        rows = [[-e for e in row] for row in self.origin_tensor]
        for k in range(3):
            rows[k][k] = half - self.origin_tensor[k, k]
        return tuple(tuple(row) for row in rows)

    @cached_property
    def _central(self) -> tuple[Scalars, Rows]:
        """The center of mass and the tensor about it; the origin where there is no mass."""
        if self._given is not None:
            return self._given
        some = less(0.0, self.mass)
        over = divide(1.0, select(some, self.mass, 1.0))
        center = [select(some, h * over, 0.0) for h in self.first]
        moved = _point([-h for h in self.first], center)
        return center, _added(self.origin_tensor.tolist(), moved)

    @property
    def com(self) -> Scalars:
        """The center of mass."""
        return self._central[0]

    @property
    def center(self) -> Quaternion:
        """The center of mass as a pure quaternion."""
        return pure(*self.com)

    @property
    def tensor(self) -> Rows:
        """The tensor about the center of mass."""
        return self._central[1]

    @cached_property
    def rows(self) -> Any:
        """That tensor as three pure quaternions."""
        return inertia_rows(self.tensor)

    def moved_by(self, x: DQ) -> OpenMoments:
        """The same body seen from frame a, for x = x_ab and these moments in frame b."""
        ad = constant_adjoint(x)
        if self._given is None:
            return self._seen_through(ad)
        center = ad.p + ad.rotate(self.center)
        return OpenMoments.about_center(self.mass, center.vector, Symmetric.of(self.tensor).rotated(ad.columns).matrix)

    def seen_from(self, rotation: np.ndarray, origin: np.ndarray) -> OpenMoments:
        a, b, c = (pure(*column) for column in rotation.T.tolist())
        return self._seen_through(Adjoint.of((a, b, c), pure(*origin.tolist())))

    def _seen_through(self, ad: Adjoint) -> OpenMoments:
        """The same in the frame that ``ad`` leads to."""
        first, shift = ad.rotate(self.first_moment), ad.p * self.mass
        # 2⟨p, h⟩ − p hᵀ − h pᵀ + m (⟨p, p⟩ − p pᵀ), whose terms are alike but for a half.
        moved = shifted(ad.p, first + shift * 0.5)
        tensor = Symmetric.of(self.origin_tensor).rotated(ad.columns) + moved
        return OpenMoments(self.mass, (first + shift).vector, tensor.matrix)

    def symmetric_part(self) -> OpenMoments:
        share = (self.origin_tensor[0, 0] + self.origin_tensor[1, 1] - self.origin_tensor[2, 2]) * 0.5
        none: Scalar = 0.0
        tensor = [[share, none, none], [none, share, none], [none, none, none]]
        return OpenMoments(self.mass, [none, none, self.first[2]], tensor)

    def turning_part(self) -> OpenMoments:
        """Nothing: what may be handed on would have to be divided by the mass."""
        return OpenMoments.of([0.0] * PER_BODY)

    def cleaned(self, original: Moments) -> OpenMoments:
        return self


def symmetric(entries: Scalars) -> list[list[Scalar]]:
    """A tensor from xx, xy, yy, xz, yz, zz."""
    return [[entries[k] for k in row] for row in PLACES]


def _array(entries: Any) -> np.ndarray:
    """An array of objects, whatever its entries can be iterated over."""
    rows = [list(row) if isinstance(row, (list, tuple, np.ndarray)) else row for row in entries]
    shape = (len(rows), len(rows[0])) if rows and isinstance(rows[0], list) else (len(rows),)
    result = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        result[index] = rows[index[0]][index[1]] if len(shape) == 2 else rows[index[0]]
    return result


def _point(first: Scalars, c: Scalars) -> list[list[Scalar]]:
    """⟨h, c⟩ − h cᵀ for parallel h and c: m (c² − c cᵀ) where h = m c."""
    square = [a * b for a, b in zip(first, c, strict=True)]
    result: list[list[Scalar]] = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        result[i][i] = square[i - 2] + square[i - 1]
        for j in range(i):
            result[i][j] = result[j][i] = -(first[i] * c[j])
    return result


def _added(a: Rows, b: Rows) -> list[list[Scalar]]:
    return [[a[i][j] + b[i][j] for j in range(3)] for i in range(3)]
