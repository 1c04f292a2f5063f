"""The same numbers in every memory layout that NumPy knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def unaligned(a: np.ndarray) -> np.ndarray:
    raw = np.zeros(a.nbytes + 16, dtype=np.uint8)
    result = raw[3 : 3 + a.nbytes].view(np.float64).reshape(a.shape)
    result[...] = a
    assert not a.size or not result.flags.aligned
    return result


def frozen(a: np.ndarray) -> np.ndarray:
    a = a.copy()
    a.setflags(write=False)
    return a


def inside(a: np.ndarray) -> np.ndarray:
    """Rows with gaps between them: columns 2… of a wider array."""
    wide = np.full((*a.shape[:-1], a.shape[-1] + 5), np.nan)
    wide[..., 2 : 2 + a.shape[-1]] = a
    return wide[..., 2 : 2 + a.shape[-1]]


def spread(a: np.ndarray) -> np.ndarray:
    """Every second row and every third column of a larger array."""
    wide = np.full((*(2 * n for n in a.shape[:-1]), 3 * a.shape[-1]), np.nan)
    index = (*(slice(None, None, 2) for _ in a.shape[:-1]), slice(None, None, 3))
    wide[index] = a
    return wide[index]


def odd_stride(a: np.ndarray) -> np.ndarray:
    """A field of a packed record: rows 8·n + 4 bytes apart."""
    record = np.zeros(a.shape[:-1], dtype=[("head", "i4"), ("body", "f8", a.shape[-1:])])
    record["body"] = a
    return record["body"]


LAYOUTS: dict[str, Callable[[np.ndarray], Any]] = {
    "plain": np.copy,
    "fortran": np.asfortranarray,
    "row gaps": inside,
    "spread": spread,
    "rows reversed": lambda a: np.flip(np.flip(a, 0).copy(), 0),
    "columns reversed": lambda a: np.flip(np.flip(a, -1).copy(), -1),
    "transposed": lambda a: np.ascontiguousarray(a.T).T,
    "read-only": frozen,
    "unaligned": unaligned,
    "record": odd_stride,
    "other byte order": lambda a: a.astype(">f8"),
    "extended": lambda a: a.astype(np.longdouble),
    "list": lambda a: a.tolist(),
    "subclass": lambda a: a.view(type("Sub", (np.ndarray,), {})),
}
