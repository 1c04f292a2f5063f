"""Arrays as kernels read and write them: rows without gaps, their addresses, and what may be written to."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import StateError


def check_out(name: str, out: Any, shape: tuple[int, ...]) -> None:
    """An error unless the result of a function can be written to ``out``."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.float64:
        given = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise StateError(f"out of {name} must be a float64 array of shape {shape}; found {given}.")
    if not out.flags.writeable:
        raise StateError(f"out of {name} is read-only: pass a writeable array.")


def given_arrays(name: str, out: Any, shapes: Sequence[tuple[int, ...]], is_tuple: bool) -> list[Any]:
    """The arrays in ``out`` of a function, checked; None for each where there is none."""
    if out is None:
        return [None] * len(shapes)
    if not is_tuple:
        check_out(name, out, shapes[0])
        return [out]
    if not isinstance(out, (tuple, list)) or len(out) != len(shapes):
        given = f"{len(out)} of them" if isinstance(out, (tuple, list)) else type(out).__name__
        raise StateError(f"out of {name} is a tuple of {len(shapes)} arrays, one per result; found {given}.")
    for i, (array, shape) in enumerate(zip(out, shapes, strict=True)):
        check_out(f"{name}, result {i},", array, shape)
    if any(np.shares_memory(a, b) for a, b in combinations(out, 2)):
        raise StateError(f"two arrays in out of {name} share memory: pass separate arrays.")
    return list(out)


def target(out: Array | None, shape: tuple[int, ...], inputs: Sequence[Array]) -> Array:
    """Where to compute: ``out`` itself if it is plain memory apart from the inputs, else a new array."""
    if out is None:
        return np.empty(shape)
    if not out.flags.c_contiguous or not out.flags.aligned or any(np.may_share_memory(out, a) for a in inputs):
        return np.empty(shape)
    return out


def address(a: Array) -> int:
    """Where the data start; quicker than ``a.ctypes.data``."""
    return int(a.__array_interface__["data"][0])


def gapless(a: Array) -> Array:
    """The array itself if its memory is in order, else a copy; ``np.ascontiguousarray`` leaves it unaligned."""
    return a if a.flags.c_contiguous and a.flags.aligned else np.array(a, order="C")


def as_rows(arrays: list[Array], batch: tuple[int, ...], rows: int) -> tuple[list[Array], list[int]]:
    """Arrays of shape (rows, n) or (1, n) with gapless rows, and the row strides in doubles (0: one row for all)."""
    flat, strides = [], []
    for a in arrays:
        n = a.shape[-1]
        if a.size == n:
            a = gapless(a.reshape(1, n))
            stride = 0
        else:
            if a.shape[:-1] != batch:
                a = np.broadcast_to(a, (*batch, n))
            a = a.reshape(rows, n)
            if not (a.strides[1] == 8 or n == 1) or a.strides[0] % 8 or not a.flags.aligned:
                a = np.array(a, order="C")
            stride = a.strides[0] // 8
        flat.append(a)
        strides.append(stride)
    return flat, strides
