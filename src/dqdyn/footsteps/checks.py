"""Checks at the door: numbers and points that users give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array, real_number
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.errors import Error


def number(value: Any, what: str, least: float = -math.inf, *, above: bool = False) -> float:
    """One finite number, from ``least`` on, or only ``above`` it."""
    found = math.nan if isinstance(value, bool) or value is None else real_number(value, what)
    if not math.isfinite(found) or found < least or (above and found == least):
        wanted = "" if least == -math.inf else f" {'above' if above else 'from'} {least:g}"
        raise Error(f"{what} must be a number{wanted}; found {value!r}.", found=value)
    return found


def count(value: Any, what: str, least: int = 1) -> int:
    """A whole number from ``least`` on."""
    found = number(value, what, least)
    if not found.is_integer():
        raise Error(f"{what} must be a whole number; found {value!r}.", found=value)
    return int(found)


def point(value: Any, what: str) -> Array:
    """A point (3,) in m, a copy."""
    found = real_array(value, what)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise Error(f"{what} is a point (3,) of finite numbers in m; found {value!r}.", found=value)
    return found.copy()


def one_pose(value: Any, what: str) -> Pose:
    """One pose in the world."""
    if not isinstance(value, Pose) or value.shape:
        raise Error(f"{what} is one dq.Pose; found {value!r}.", found=value)
    if not np.isfinite(value.vec8()).all():
        raise Error(f"{what} must be finite; found {value!r}.", found=value)
    return value
