"""Types of arrays: what functions return, and what users may give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dqdyn.errors import LazyArrayError

Array: TypeAlias = npt.NDArray[np.float64]
"""What numeric functions return."""

Out: TypeAlias = Array | None
"""Where a result is to be written, or None for a new array."""

RealNumber: TypeAlias = float | np.floating[Any] | np.integer[Any]
"""One real number."""

_Numbers: TypeAlias = npt.NDArray[np.floating[Any] | np.integer[Any]]
_Row: TypeAlias = Sequence[RealNumber]
_Matrix: TypeAlias = Sequence[_Row | _Numbers]

_Symbols: TypeAlias = npt.NDArray[np.object_]

RealArray: TypeAlias = _Numbers | _Symbols | Sequence[RealNumber | _Row | _Numbers | _Matrix]
"""Real numbers as users give them: arrays (of objects for symbols), or nested sequences.

NumPy's ``ArrayLike`` would admit text. The nesting is bounded because text is a sequence of text, which a recursive
type would admit."""

Reals: TypeAlias = RealArray
"""A vector of real numbers as users give it, (n,), or a batch of vectors, (..., n): q, v, a, τ, a point, a wrench."""

Times: TypeAlias = RealNumber | RealArray
"""One time in s, or a batch of them."""


def is_lazy(value: Any) -> bool:
    """Whether a value is a Dask array; asked of its type, so that Dask is not imported."""
    return type(value).__module__.startswith("dask.array")


def refuse_lazy(value: Any, what: str) -> None:
    """An error for a Dask array where a value of the algebra is to hold numbers."""
    if is_lazy(value):
        remedy = "rows that stay lazy are those of robot.function, as in robot.function('pose', frame='tool')(q)"
        raise LazyArrayError(f"{what} holds numbers, not a Dask array: {remedy}.")
