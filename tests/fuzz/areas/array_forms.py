"""The same numbers in every form that a caller may give them in, and forms that must be refused."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
from array_layouts import LAYOUTS

Form = Callable[[np.ndarray], Any]


def _mapped(a: np.ndarray) -> np.ndarray:
    if not a.size:
        return a
    with tempfile.NamedTemporaryFile() as file:
        result = np.memmap(file, dtype=a.dtype, shape=a.shape or (1,))
        result[...] = a
    return result.reshape(a.shape)


def _matrix(a: np.ndarray) -> np.ndarray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy advises against it; people have them all the same
        return np.matrix(a)


def _reversed(a: np.ndarray) -> np.ndarray:
    return np.flip(np.flip(a).copy())


def _stretched(a: np.ndarray) -> np.ndarray:
    """Rows with a stride of zero where there is one row only."""
    return np.broadcast_to(a[:1], a.shape) if a.ndim > 1 and a.shape[0] == 1 else a


FORMS: dict[str, Form] = {
    **LAYOUTS,
    "tuple": lambda a: tuple(a.tolist()) if a.ndim else a,
    "list of arrays": lambda a: list(a) if a.ndim else a,
    "memory map": _mapped,
    "reversed": _reversed,
    "stretched": _stretched,
    "masked, nothing hidden": np.ma.array,
    "matrix": lambda a: _matrix(a) if a.ndim == 2 else a,
    "object": lambda a: a.astype(object),
    "object of NumPy numbers": lambda a: _objects(a, np.float64),
    "float32": lambda a: a.astype("f4"),
    "float32, other byte order, gaps": lambda a: np.repeat(a.astype(">f4"), 2, axis=-1)[..., ::2],
    "interface": lambda a: type("Given", (), {"__array_interface__": a.__array_interface__, "keep": a})(),
    "buffer": lambda a: memoryview(np.ascontiguousarray(a)) if a.size and a.ndim else a,
}
"""Forms that hold float32 numbers exactly."""

WHOLE_FORMS: dict[str, Form] = {
    f"whole {kind}": (lambda a, kind=kind: a.astype(kind)) for kind in ("i1", "i2", "i4", "i8", "u1", "u8", ">i4", "f2")
} | {
    "whole list": lambda a: a.astype(int).tolist(),
    "whole object": lambda a: _objects(a, int),
}
ZERO_FORMS: dict[str, Form] = {"flags": lambda a: a.astype(bool)}

BAD_FORMS: dict[str, Form] = {
    "complex": lambda a: a.astype(complex),
    "complex, really": lambda a: a + 1j,
    "object of complex": lambda a: _objects(a + 1j, complex),
    "text": lambda a: a.astype(str),
    "bytes": lambda a: a.astype("S9"),
    "time": lambda a: np.zeros(a.shape, "m8[s]"),
    "records": lambda a: a.astype([("x", "f8")]),
    "hidden": lambda a: np.ma.array(a, mask=True),
    "too long": lambda a: np.concatenate([a, a[..., :1]], axis=-1),
    "too short": lambda a: a[..., 1:],
    "number": lambda a: 1.0,
    "nothing": lambda a: None,
    "word": lambda a: "q",
    "set": lambda a: {1.0},
    "dictionary": lambda a: {"q": a},
    "ragged": lambda a: [[1.0], [1.0, 2.0]],
    "huge integers": lambda a: _objects(a, lambda x: 10**400),
    "decimals": lambda a: _objects(np.nan_to_num(a), Decimal),
    "fractions with text": lambda a: _objects(np.nan_to_num(a), lambda x: "x"),
    "itself": lambda a: [a, a, [a]],
    "many axes": lambda a: a.reshape((1,) * 40 + a.shape),
    "function": lambda a: print,
}
"""Forms that are not real numbers of the right size; refused in one sentence."""

LOSING = ("list", "tuple", "list of arrays", "whole list", "buffer", "interface")
"""Forms that lose the shape of an array without entries."""


def in_form(form: str, a: np.ndarray) -> Any:
    """The array in a form of one of the tables; a single number, as a time is, stays one."""
    if (not a.ndim and form not in SCALAR_FORMS) or (not a.size and form in LOSING):
        return a
    for table in (FORMS, WHOLE_FORMS, ZERO_FORMS, BAD_FORMS):
        if form in table:
            return table[form](a)
    raise KeyError(form)


SCALAR_FORMS = ("list", "object", "float32", "complex", "text", "nothing", "word", "set", "function", "huge integers")


def _objects(a: np.ndarray, kind: Callable[[Any], Any]) -> np.ndarray:
    result = np.empty(a.shape, dtype=object)
    for index, value in np.ndenumerate(a):
        result[index] = kind(value)
    return result
