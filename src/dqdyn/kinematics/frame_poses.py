"""Poses of all frames of a robot, made one by one as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array, refuse_lazy
from dqdyn.model.description import WORLD


class Poses(Mapping[str, Pose]):
    """Poses in the world by the names of frames, as a dictionary that does not change; ``vec8()`` has all in one array.

    A pose is made when it is asked for: having all of them costs little where few are used.
    """

    __slots__ = ("_coefficients", "_made", "frames")
    _coefficients: Array
    _made: dict[str, Pose] | None
    frames: Mapping[str, int]
    """Which row is that of a frame."""

    @classmethod
    def of_array(cls, vec8: Array, *names: str) -> Poses:
        """Those of coefficients of shape (..., frames, 8), unchecked but for Dask arrays."""
        if type(vec8) is not np.ndarray:
            refuse_lazy(vec8, "poses")
        new = object.__new__(cls)
        new._coefficients, new._made, new.frames = vec8, None, {name: row for row, name in enumerate(names)}
        return new

    def vec8(self) -> Array:
        """Coefficients in the order of the frames, shape (..., frames, 8)."""
        return self._coefficients.copy()

    def __getitem__(self, name: str) -> Pose:
        if self._made is None:
            self._made = {}
        if name not in self._made:
            self._made[name] = Pose.of_array(self._coefficients[..., self.frames[name], :], name, WORLD)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.frames)

    def __len__(self) -> int:
        return len(self.frames)

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return type(self).of_array, (self._coefficients, *self.frames)

    def __repr__(self) -> str:
        return repr(dict(self))
