"""Arrays as kernels read and write them: rows without gaps, their addresses, and what may be written to."""

from __future__ import annotations

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
