"""What all values for users share: a dual quaternion behind them, batches, equality, pickling, names of frames."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeVar

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.frame_names import Name, require_names
from dqdyn.algebra.real import scalar_array
from dqdyn.algebra.scalar import Scalar, unstack
from dqdyn.arrays import Array, refuse_lazy
from dqdyn.errors import Error

V = TypeVar("V", bound="Value")


class Value:
    """A frozen value backed by a dual quaternion ``dq``; batches have a leading shape.

    ``frames`` are the names of its frames, in the order of ``FRAMES``; None is a name that was not given. ``PLACES``
    are those of vec8 that are not zero in values of this kind.
    """

    FRAMES: ClassVar[tuple[str, ...]] = ()
    PLACES: ClassVar[tuple[int, ...]] = tuple(range(8))
    __array_ufunc__ = None  # so that array * value asks the value
    __slots__ = ("_coefficients", "_dq", "frames")
    _coefficients: Array | None  # where the value came as an array; the dual quaternion is made on first use
    _dq: DQ | None
    frames: tuple[Name, ...]

    def __init__(self, dq: DQ, *frames: Name) -> None:
        self._dq, self._coefficients, self.frames = dq, None, require_names(frames)

    @classmethod
    def of(cls: type[V], dq: DQ, *frames: Name) -> V:
        """The value of a dual quaternion, unchecked."""
        new = object.__new__(cls)
        new._dq, new._coefficients, new.frames = dq, None, frames or (None,) * len(cls.FRAMES)
        return new

    @classmethod
    def of_array(cls: type[V], coefficients: Array, *frames: Name) -> V:
        """The value of coefficients of shape (..., 8), or of those in ``PLACES``, unchecked but for Dask arrays."""
        if type(coefficients) is not np.ndarray:
            refuse_lazy(coefficients, f"a {cls.__name__}")
        new = object.__new__(cls)
        new._dq, new._coefficients, new.frames = None, coefficients, frames or (None,) * len(cls.FRAMES)
        return new

    @property
    def dq(self) -> DQ:
        """The dual quaternion behind the value."""
        if self._dq is None:
            assert self._coefficients is not None
            size = self._coefficients.shape[-1]
            vec8: list[Scalar] = [0.0] * 8
            places = self.PLACES if size < 8 else range(8)
            for place, number in zip(places, unstack(self._coefficients, size), strict=True):
                vec8[place] = number
            self._dq = DQ.of8(vec8)
        return self._dq

    def _own(self, size: int) -> Array | None:
        """A copy of the coefficients where they came as an array of so many."""
        array = self._coefficients
        return array.copy() if array is not None and array.shape[-1] == size else None

    def vec8(self) -> Array:
        """Coefficients, shape (..., 8)."""
        own = self._own(8)
        return self.dq.vec8() if own is None else own

    @property
    def shape(self) -> tuple[int, ...]:
        """Leading shape of the batch; () for one value."""
        return self.dq.shape if self._coefficients is None else self._coefficients.shape[:-1]

    def __getitem__(self: V, index: Any) -> V:
        """Part of a batch."""
        if not self.shape:
            raise Error(f"One {type(self).__name__} has no elements to index; only batches have.")
        shape = self.shape  # components that do not vary are kept as one number
        components = np.stack([np.broadcast_to(c, shape)[index] for c in self.dq.components], axis=-1)
        return type(self).of(DQ(components), *self.frames)

    def __eq__(self, other: object) -> bool:
        """Whether kind, shape, every coefficient and all names of frames are the same."""
        if not isinstance(other, type(self)):
            return NotImplemented
        return self.frames == other.frames and self.dq == other.dq

    def __hash__(self) -> int:
        return hash(self.dq)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self).of, (self.dq, *self.frames)


def vector(value: Any, size: int, what: str) -> list[Scalar]:
    """Components of an array-like of shape (..., size), checked: size, NaN and infinity."""
    array = scalar_array(value, what)
    if array.ndim == 0 or array.shape[-1] != size or (array.dtype == object and array.ndim > 1):
        raise Error(f"{what} has {size} components; found shape {array.shape}.", expected=size, found=array.shape)
    if array.dtype != object and not np.isfinite(array).all():
        raise Error(f"{what} must be finite; found {array}.", found=array)
    return unstack(array, size)


def batch_shape(component: Scalar) -> tuple[int, ...]:
    """Leading shape of a component; () for one number and for symbols, some of which are matrices."""
    return component.shape if isinstance(component, np.ndarray) else ()


def require_broadcast(*shapes: tuple[int, ...]) -> None:
    """An :class:`Error` where batches of these leading shapes cannot be combined."""
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        sizes = " and ".join(map(str, shapes))
        raise Error(f"Batches of shapes {sizes} cannot be combined: make them equal or 1.", found=shapes) from None
