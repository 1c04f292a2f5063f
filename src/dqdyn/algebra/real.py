"""What users give as numbers: real, and with few enough axes for NumPy to work with."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.scalar import is_scalar
from dqdyn.arrays import Array, is_lazy
from dqdyn.errors import Error, LazyArrayError, one_line

MOST_AXES = 32
"""Of an array from outside; some of NumPy's functions take no more, and results have some beyond those of arguments."""

REAL = (int, float, np.integer, np.floating, np.bool_)
"""Types of single real numbers."""


def real_array(value: Any, what: str, error: type[Error] = Error, **data: Any) -> Array:
    """``value`` as a float64 array, itself where it is one; an error where something in it is not a real number.

    NumPy alone would drop imaginary parts with a warning, read texts as numbers and None as NaN, and raise errors of
    three kinds.
    """
    array = any_array(value, what, error, **data)
    if array.dtype == np.float64:
        return array
    try:
        if array.dtype.kind in "fiub" or (array.dtype == object and all(map(is_real, array.flat))):
            with np.errstate(over="ignore"):  # of longer floats; infinity is somebody else's question
                return array.astype(np.float64)
    except OverflowError:
        raise _too_large(what, error, value, data) from None
    except (TypeError, ValueError):  # of a symbol
        pass
    shown = f"the type {array.dtype}" if array.dtype.kind in "cV" else repr(value)
    raise error(f"{what} must be real numbers; found {shown}.", found=value, **data)


def scalar_array(value: Any, what: str, error: type[Error] = Error, **data: Any) -> Array:
    """``value`` as a float64 array, or as an array of objects where not all of them are real numbers: symbols."""
    array = any_array(value, what, error, **data)
    if array.dtype != object or all(isinstance(entry, REAL) for entry in array.flat):
        return real_array(array, what, error, **data)
    if not all(map(is_scalar, array.flat)):
        raise error(f"{what} must be real numbers or symbols; found {value!r}.", found=value, **data)
    return array


def real_number(value: Any, what: str, error: type[Error] = Error, **data: Any) -> float:
    """``value`` as one float, or an error where it is not one real number."""
    if type(value) is float:
        return value
    array = real_array(value, what, error, **data)
    if array.ndim:
        raise error(f"{what} is one number; found shape {array.shape}.", found=value, **data)
    return float(array)


def any_array(value: Any, what: str, error: type[Error] = Error, **data: Any) -> Array:
    """``value`` as an array of any type; an error where its rows differ, or it has masked entries or too many axes."""
    if is_lazy(value):  # np.asarray would compute all of it, here and now
        remedy = "give its .compute(), or work chunk by chunk with da.map_blocks"
        raise LazyArrayError(f"{what} is a Dask array, and numbers are needed here: {remedy}.", **data)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        remedy = "leave them out, or fill them in, as .filled() does"
        raise error(f"{what} has masked entries: {remedy}.", found=value, **data)
    try:
        array = np.asarray(value)
    except OverflowError:
        raise _too_large(what, error, value, data) from None
    except ValueError:
        raise error(f"{what} has rows of different lengths: make them equal.", found=value, **data) from None
    except (TypeError, RuntimeError):
        raise error(f"{what} must be numbers; found {value!r}.", found=value, **data) from None
    if array.ndim > MOST_AXES:
        raise error(f"{what} has {array.ndim} axes, more than {MOST_AXES}: reshape it.", found=array.shape, **data)
    return array


def in_words(value: Any) -> str:
    """What was found in place of something else, short enough for a message."""
    return f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else one_line(repr(value), 80)


def is_real(entry: Any) -> bool:
    """Whether ``float(entry)`` is all of an entry of an array of objects; a symbol may still refuse."""
    return hasattr(entry, "__float__") and not isinstance(entry, (complex, np.complexfloating, np.ndarray, str, bytes))


def _too_large(what: str, error: type[Error], value: Any, data: dict[str, Any]) -> Error:
    return error(f"{what} has an integer that no float can hold: give smaller numbers.", found=value, **data)
