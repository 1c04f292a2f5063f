"""Types of arrays: what functions return, and what users may give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias, Union

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
"""What numeric functions return."""

RealNumber: TypeAlias = float | np.floating[Any] | np.integer[Any]
"""One real number."""

_Numbers: TypeAlias = npt.NDArray[np.floating[Any] | np.integer[Any]]
_Row: TypeAlias = Sequence[RealNumber]
_Matrix: TypeAlias = Sequence[_Row | _Numbers]

RealArray: TypeAlias = Union[
    _Numbers,
    npt.NDArray[np.object_],  # symbols
    Sequence[RealNumber | _Row | _Numbers | _Matrix],
]
"""Real numbers as users give them: arrays, or nested sequences. NumPy's ``ArrayLike`` would admit text.

The nesting is bounded because text is a sequence of text, which a recursive type would admit."""
