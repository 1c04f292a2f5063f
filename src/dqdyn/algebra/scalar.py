"""What an algorithm may do with a scalar, whatever the scalar is.

Algorithms use ``+ - *`` and the functions of this module, never a branch on a value. So the same source runs on
Python floats, NumPy arrays (one array per component, any batch shape), counters, jets, SymPy and CasADi symbols, and
on any class that registers itself with :func:`register`.
"""

from __future__ import annotations

import functools
import math
import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

import numpy as np

from dqdyn.arrays import Array, refuse_lazy

T = TypeVar("T")
Scalar = Any
"""A float, an array of floats (a batch), a counter, a jet, or a symbol."""

Scalars: TypeAlias = Sequence[Scalar]
"""Coordinates, velocities, components: scalars in a row."""


@dataclass(frozen=True)
class Functions:
    """The functions of one kind of scalar. Among mixed arguments the kind with the highest rank decides."""

    rank: int
    sin: Callable[[Any], Any]
    cos: Callable[[Any], Any]
    sqrt: Callable[[Any], Any]
    atan2: Callable[[Any, Any], Any]
    divide: Callable[[Any, Any], Any]
    less: Callable[[Any, Any], Any]
    select: Callable[[Any, Any, Any], Any]


_kinds: dict[type, Functions] = {}


def register(kind: type, functions: Functions) -> None:
    """Make ``kind`` a scalar: algorithms find its functions by type."""
    _kinds[kind] = functions


def _functions(*values: Any) -> Functions:
    best: Functions | None = None
    for value in values:
        functions = _kinds.get(type(value)) or _discover(type(value))
        if best is None or functions.rank > best.rank:
            best = functions
    assert best is not None
    return best


def sin(x: Scalar) -> Scalar:
    return _functions(x).sin(x)


def cos(x: Scalar) -> Scalar:
    return _functions(x).cos(x)


def sqrt(x: Scalar) -> Scalar:
    return _functions(x).sqrt(x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    return _functions(y, x).atan2(y, x)


def divide(a: Scalar, b: Scalar) -> Scalar:
    """a / b with 1/0 = ∞ and 0/0 = NaN, as on arrays, also for Python floats."""
    return _functions(a, b).divide(a, b)


def is_known_zero(x: Scalar) -> bool:
    """Whether x is the number 0, whatever the state; a symbol never is."""
    return isinstance(x, (int, float)) and x == 0.0


def less(a: Scalar, b: Scalar) -> Any:
    """a < b as a condition for :func:`select`; never used in an ``if``."""
    return _functions(a, b).less(a, b)


def select(condition: Any, a: Scalar, b: Scalar) -> Scalar:
    """a where the condition holds, else b. Both are computed: keep the unused one finite."""
    return _functions(condition, a, b).select(condition, a, b)


# --- Python numbers ---------------------------------------------------------------------------------------------


def _quiet(function: Callable[[float], float]) -> Callable[[float], float]:
    def call(x: float) -> float:
        try:
            return function(x)
        except ValueError:
            return math.nan

    return call


def _float_divide(a: float, b: float) -> float:
    try:
        return a / b
    except ZeroDivisionError:
        if a == 0 or a != a:
            return math.nan
        return math.copysign(math.inf, a) * math.copysign(1.0, b)


def _float_select(condition: bool, a: float, b: float) -> float:
    return a if condition else b


_SIN, _COS, _SQRT = map(_quiet, (math.sin, math.cos, math.sqrt))
_FLOAT = Functions(0, _SIN, _COS, _SQRT, math.atan2, _float_divide, operator.lt, _float_select)

# --- NumPy ------------------------------------------------------------------------------------------------------


def _numpy_divide(a: Any, b: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(a, b)


def _numpy_select(condition: Any, a: Any, b: Any) -> Any:
    return np.where(condition, a, b)[()]  # a number, not an array without axes


_NUMPY = Functions(1, np.sin, np.cos, np.sqrt, np.arctan2, _numpy_divide, np.less, _numpy_select)

for _kind in (float, int, bool):
    register(_kind, _FLOAT)
for _array_kind in (np.ndarray, np.float64, np.float32, np.int64, np.int32, np.bool_):
    register(_array_kind, _NUMPY)

# --- Symbols ----------------------------------------------------------------------------------------------------


def _sympy() -> Functions:
    import sympy

    def select(condition: Any, a: Any, b: Any) -> Any:
        if condition in (True, sympy.true):
            return a
        if condition in (False, sympy.false):
            return b
        # Unevaluated: SymPy's simplification of conditions with floats is slow and may not end.
        return sympy.Piecewise((a, condition), (b, True), evaluate=False)

    divide, less = lambda a, b: sympy.sympify(a) / b, lambda a, b: sympy.sympify(a) < b
    return Functions(3, sympy.sin, sympy.cos, sympy.sqrt, sympy.atan2, divide, less, select)


def _casadi() -> Functions:
    import casadi

    c = casadi
    return Functions(2, c.sin, c.cos, c.sqrt, c.atan2, operator.truediv, c.lt, c.if_else)


_symbolic = {"sympy": _sympy, "casadi": _casadi}


def _discover(kind: type) -> Functions:
    """Functions of a type not met before: a subclass of a known kind or a symbol of a package already imported."""
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if base in _kinds:
            functions = _kinds[base]
        elif root in _symbolic and root in sys.modules:
            functions = _symbolic[root]()
        else:
            continue
        register(kind, functions)
        return functions
    raise TypeError(f"{kind.__name__} is not a scalar that dqdyn knows; see dqdyn.algebra.scalar.register.")


def is_scalar(value: Any) -> bool:
    """True for anything an algorithm can take as a scalar: numbers, batches of numbers, counters, jets, symbols."""
    kind = type(value)
    if kind in _kinds:
        return True
    try:
        _discover(kind)
    except TypeError:
        return False
    return True


def rank_of(value: Scalar) -> int:
    """The rank of a scalar's kind: among mixed operands the highest decides."""
    return _functions(value).rank


def scalars_only(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator of a scalar class that leaves dual quaternions, and all else that is not a scalar, to the other side.

    Scalars of a higher rank decide as well: a counter times a jet is a jet, on whichever side the jet stands.
    """

    @functools.wraps(operation)
    def checked(self: Any, other: Any) -> Any:
        kind = type(other)
        if kind is type(self) or kind is float:  # nearly always
            return operation(self, other)
        if not is_scalar(other) or _kinds[kind].rank > _functions(self).rank:
            return NotImplemented
        return operation(self, other)

    return checked


# --- Arrays -----------------------------------------------------------------------------------------------------


def is_numeric(value: Any) -> bool:
    """True for numbers and batches of numbers, False for symbols, counters and jets."""
    if isinstance(value, np.ndarray):
        return bool(value.dtype != object)
    return isinstance(value, (int, float, np.integer, np.floating))


def stack(entries: Sequence[Scalar], shape: tuple[int, ...] | None = None, batch: tuple[int, ...] = ()) -> Array:
    """Scalars as one array of shape ``batch + shape``; symbols give an object array of shape ``shape``."""
    shape = (len(entries),) if shape is None else shape
    if not all(is_numeric(e) for e in entries):
        result = np.empty(len(entries), dtype=object)
        result[:] = list(entries)
        return result.reshape(shape)
    batch = np.broadcast_shapes(batch, *(np.shape(e) for e in entries if not isinstance(e, (float, int))))
    array = np.empty((*batch, len(entries)))
    if batch:
        for i, entry in enumerate(entries):
            array[..., i] = entry
    else:
        array[:] = entries
    return array.reshape(*batch, *shape)


def unstack(array: Any, size: int) -> list[Scalar]:
    """The components along the last axis of an array: Python floats for one vector, arrays for a batch."""
    if type(array) is np.ndarray and array.ndim == 1 and array.dtype.char == "d":
        entries: list[Scalar] = array[:size].tolist()
        return entries
    if type(array) is not np.ndarray:
        refuse_lazy(array, "a value")
    array = np.asarray(array)
    if array.dtype == object:
        return list(array)
    array = array.astype(float, copy=False)
    if array.ndim == 1:
        return [float(a) for a in array[:size]]
    return [np.ascontiguousarray(array[..., i]) for i in range(size)]


def total(terms: Iterable[T]) -> T:
    """Sum of at least one term, without the initial zero that would count as an addition."""
    iterator = iter(terms)
    result = next(iterator)
    for term in iterator:
        result = result + term  # type: ignore[operator]
    return result
