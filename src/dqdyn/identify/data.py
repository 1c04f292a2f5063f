"""Measured motion: states, accelerations and torques, checked at the door; whole, in pieces, or lazy in Dask arrays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import StateError
from dqdyn.robot import Robot
from dqdyn.robot.state import as_state

CHUNK = 4096
"""Rows whose regressor is in memory at a time."""
QUANTITIES = ("q", "v", "a", "tau")


@dataclass(frozen=True, eq=False)
class Data:
    """N measurements: q (N, nq), v, a and tau (N, nv), and maybe their times t (N,) in s, which must rise."""

    q: Any
    v: Any
    a: Any
    tau: Any
    t: Any = None

    def __len__(self) -> int:
        return int(self.q.shape[0])

    @property
    def is_lazy(self) -> bool:
        """Whether the arrays are those of Dask."""
        return all(hasattr(getattr(self, name), "__dask_graph__") for name in QUANTITIES)


def pieces(robot: Robot, data: Any) -> Iterator[Data]:
    """Checked pieces of at most ``CHUNK`` rows: of one Data or tuple of arrays, or of an iterable of them."""
    if is_one(data):
        yield from _split(checked(robot, as_data(data)))
        return
    if isinstance(data, (str, bytes)) or not isinstance(data, Iterable):
        raise StateError(f"data is Data(q, v, a, tau), a tuple of these arrays, or an iterable; found {data!r}.")
    for one in data:
        yield from _split(checked(robot, as_data(one)))


def is_one(data: Any) -> bool:
    """Whether it is one set of arrays rather than an iterable of them."""
    return isinstance(data, Data) or (isinstance(data, tuple) and 4 <= len(data) <= 5 and hasattr(data[0], "shape"))


def as_data(value: Any) -> Data:
    """Data, or a tuple (q, v, a, tau[, t])."""
    if isinstance(value, Data):
        return value
    if isinstance(value, (tuple, list)) and 4 <= len(value) <= 5:
        return Data(*value)
    raise StateError(
        f"measurements are Data(q, v, a, tau) or a tuple (q, v, a, tau[, t]); found {type(value).__name__}."
    )


def checked(robot: Robot, data: Data) -> Data:
    """The same as arrays of floats; an error that names what is of the wrong size, NaN, or out of order in time."""
    arrays = [as_state(robot.model, name, getattr(data, name), False) for name in QUANTITIES]
    for name, array in zip(QUANTITIES, arrays, strict=True):
        if array.ndim != 2:
            raise StateError(
                f"{name} of the data has shape {array.shape}: give one row per measurement.", argument=name
            )
        if len(array) != len(arrays[0]):
            rows = f"{len(array)} rows of {name} and {len(arrays[0])} of q"
            raise StateError(f"the data have {rows}: give as many of each.", argument=name)
        if not np.isfinite(array).all():
            row, column = (int(k) for k in np.argwhere(~np.isfinite(array))[0])
            text = f"{name}[{column}] of the data is {array[row, column]} at row {row}: leave rows without numbers out."
            raise StateError(text, argument=name, row=row)
    as_state(robot.model, "q", arrays[0])  # whose quaternions have norm one
    t = data.t
    if t is not None:
        t = np.asarray(t, float)
        if t.shape != (len(arrays[0]),):
            raise StateError(
                f"t of the data has shape {t.shape}: give one time per row, {len(arrays[0])}.", argument="t"
            )
        if not np.isfinite(t).all():
            raise StateError("t of the data has values that are not finite: leave these rows out.", argument="t")
        back = np.flatnonzero(np.diff(t) <= 0.0)
        if back.size:
            k = int(back[0]) + 1
            text = f"the time of the data does not rise at row {k}: {t[k - 1]:.9g} s is followed by {t[k]:.9g} s"
            raise StateError(f"{text}; sort the rows, and drop repeated ones.", argument="t", row=k)
    q, v, a, tau = arrays
    return Data(q, v, a, tau, t)


def _split(data: Data) -> Iterator[Data]:
    for start in range(0, len(data), CHUNK):
        part = slice(start, start + CHUNK)
        yield Data(data.q[part], data.v[part], data.a[part], data.tau[part], None if data.t is None else data.t[part])


def noise_of(tau: Array) -> Array:
    """Noise (nv,) of torques along a smooth motion, from third differences, in which the motion all but vanishes."""
    third = np.diff(tau, n=3, axis=0)
    return np.asarray(np.sqrt((third**2).mean(axis=0) / 20.0))
