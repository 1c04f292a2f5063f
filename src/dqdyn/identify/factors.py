"""Least squares over data of any size: small triangular factors of pieces, combined pairwise.

Each joint has a factor of its own, so that its weight may be chosen after the data have been read once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import StateError
from dqdyn.identify.base import BaseParameters
from dqdyn.identify.data import QUANTITIES, Data, as_data, checked, is_one, noise_of, pieces


@dataclass(frozen=True, eq=False)
class Factor:
    """R (nv, b + 1, b + 1) of [Y_b | τ] per joint, of ``rows`` measurements, and what tells odd data apart."""

    r: Array
    rows: int
    lower: Array
    """Least coordinates (nq,) of all rows, and greatest."""
    upper: Array
    noise: Array
    """Sum of squared noise (nv,) times rows, by differences along the motion."""
    likeness: Array
    """Sums (3, nv) of τ τ̂, τ² and τ̂², with the torques τ̂ that the robot as it is described needs."""

    def __add__(self, other: Factor) -> Factor:
        return Factor(
            _triangular(np.concatenate([self.r, other.r], axis=1)),
            self.rows + other.rows,
            np.minimum(self.lower, other.lower),
            np.maximum(self.upper, other.upper),
            self.noise + other.noise,
            self.likeness + other.likeness,
        )


def factor(base: BaseParameters, data: Any) -> Factor:
    """The factor of all data: arrays, an iterable of pieces, or Dask arrays, whose chunks are reduced in place."""
    robot = base.columns.robot
    if is_one(data) and as_data(data).is_lazy:
        return _lazy(base, as_data(data))
    parts = combined((of_piece(base, piece) for piece in pieces(robot, data)), lambda a, b: a + b)
    if parts is None:
        raise StateError("the data have no rows: give measurements.")
    found: Factor = parts
    return found


def of_piece(base: BaseParameters, data: Data) -> Factor:
    """The factor of one piece, which is in memory."""
    columns = base.columns
    tau = data.tau - columns.known(data.q)
    y = base.regressor(data.q, data.v, data.a, check=False)
    expected = y @ base.values()
    stacked = np.moveaxis(np.concatenate([y, tau[..., None]], axis=-1), 1, 0)
    noise = noise_of(tau) if len(tau) > 3 else np.zeros(tau.shape[1])
    likeness = np.array([(tau * expected).sum(axis=0), (tau**2).sum(axis=0), (expected**2).sum(axis=0)])
    return Factor(_triangular(stacked), len(tau), data.q.min(axis=0), data.q.max(axis=0), noise**2 * len(tau), likeness)


def combined(parts: Iterable[Any], join: Callable[[Any, Any], Any]) -> Any:
    """All parts joined pairwise, as in a tree: as many at a time as their number has binary digits."""
    waiting: list[tuple[int, Any]] = []
    for part in parts:
        level = 0
        while waiting and waiting[-1][0] == level:
            part = join(waiting.pop()[1], part)
            level += 1
        waiting.append((level, part))
    result = None
    for _, part in reversed(waiting):
        result = part if result is None else join(part, result)
    return result


def _triangular(stacked: Array) -> Array:
    """R of each matrix of a stack, with as many rows as columns."""
    n = stacked.shape[-1]
    if stacked.shape[-2] < n:
        stacked = np.concatenate([stacked, np.zeros((stacked.shape[0], n - stacked.shape[-2], n))], axis=1)
    return np.asarray(np.linalg.qr(stacked, mode="r"))


def _lazy(base: BaseParameters, data: Data) -> Factor:
    """The same for Dask arrays with equal chunks of rows: a tree of tasks, of which small factors travel."""
    dask: Any = import_module("dask")
    arrays = [getattr(data, name) for name in QUANTITIES]
    for name, array in zip(QUANTITIES, arrays, strict=True):
        if array.ndim != 2 or array.numblocks[1] != 1:
            raise StateError(f"{name} of the data is cut through its rows: rechunk it to (rows, -1).", argument=name)
        if array.chunks[0] != arrays[0].chunks[0]:
            raise StateError(f"{name} and q of the data have other chunks: rechunk them alike.", argument=name)

    def of_block(q: Array, v: Array, a: Array, tau: Array) -> Any:
        robot = base.columns.robot
        parts = (of_piece(base, piece) for piece in pieces(robot, checked(robot, Data(q, v, a, tau))))
        return combined(parts, lambda x, y: x + y)

    blocks = zip(*(array.to_delayed().ravel() for array in arrays), strict=True)
    reduce = dask.delayed(lambda a, b: a if b is None else b if a is None else a + b, pure=False)
    found = combined((dask.delayed(of_block, pure=False)(*block) for block in blocks), reduce)
    result: Factor | None = None if found is None else found.compute()
    if result is None:
        raise StateError("the data have no rows: give measurements.")
    return result
