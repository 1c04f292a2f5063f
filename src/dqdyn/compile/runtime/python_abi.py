"""What emitted code assumes of CPython and NumPy: functions of the stable ABI by address, and offsets in objects.

The type of an object is the last word of its header, whose size is ``object.__basicsize__``: 16 bytes, or 32 in
free-threaded builds. Behind the header a float has its value, an array the documented fields of ``PyArrayObject``, and
an object of a class with one slot that slot. :func:`layout_problem` checks the offsets on probe objects of this
process. Dictionaries, and most of what concerns tuples and reference counts, are left to CPython's own functions; where
:func:`references_are_counted`, emitted code sees by the count of a result, and of the items of a tuple, that nothing
else refers to them, and hands them out again.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from functools import lru_cache
from typing import Any

import numpy as np

HEADER = object.__basicsize__
TYPE = HEADER - 8
FLOAT = SLOT = DATA = HEADER
NDIM, DIMS, BASE, DESCR, FLAGS, WEAK_REFERENCES = (HEADER + offset for offset in (8, 16, 32, 40, 48, 56))
C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
AS_MADE = C_CONTIGUOUS | ALIGNED | WRITEABLE | 0x4
"""Flags of a new array: it owns its data, too."""
NOT_AS_MADE = 0x2000 | 1 << 31
"""Flags that it has not: to be written back into another array, and to warn when it is written to."""
TUPLE_ITEMS = tuple.__basicsize__
"""Where a tuple has its items."""
TYPE_FLAGS = HEADER + 152
"""Where a class has its flags, an unsigned long."""
REFERENCES = 0
"""Where an object has the number of references to it: a word, of which the lower half is enough to tell 1."""

_NEW_FROM_DESCR = 94  # PyArray_NewFromDescr in NumPy's table of functions

_FUNCTIONS = {
    "vectorcall": "PyObject_Vectorcall",
    "get_item": "PyObject_GetItem",
    "is_subtype": "PyType_IsSubtype",
    "clear_error": "PyErr_Clear",
    "tuple_size": "PyTuple_Size",
    "tuple_item": "PyTuple_GetItem",
    "new_tuple": "PyTuple_New",
    "set_item": "PyTuple_SetItem",
    "allocate": "PyType_GenericAlloc",
    "increase": "Py_IncRef",
    "decrease": "Py_DecRef",
    "release_gil": "PyEval_SaveThread",
    "take_gil": "PyEval_RestoreThread",
    "flags_of": "PyCFunction_GetFlags",
    "code_of": "PyCFunction_GetFunction",
    "self_of": "PyCFunction_GetSelf",
}
_OBJECTS: dict[str, Any] = {
    "array_type": np.ndarray,  # what every call reads comes first, in one line of the cache
    "descr": np.dtype(np.float64),
    "none": None,
    "float_type": float,
    "tuple_type": tuple,
    "true": True,
    "false": False,
    "function_type": type(len),
    "out": sys.intern("out"),
    "check": sys.intern("check"),
    "out_alone": (sys.intern("out"),),
    "check_alone": (sys.intern("check"),),
    "out_and_check": (sys.intern("out"), sys.intern("check")),
}
CONTEXT = (*_OBJECTS, *_FUNCTIONS, "new_array")
"""Entries of the table of addresses in every module of emitted code, in this order."""


class Slotted:
    """A class whose objects have one slot, as the methods of :mod:`~dqdyn.compile.runtime.method` expect it."""

    __slots__ = ("probe",)
    probe: float


@lru_cache(maxsize=1)
def layout_problem() -> str | None:
    """Why emitted code cannot read the objects of this interpreter; None where it can."""
    if sys.implementation.name != "cpython":
        return f"the interpreter is {sys.implementation.name}, not CPython"
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return "the machine is not 64-bit little-endian"
    missing = [name for name in _FUNCTIONS.values() if not hasattr(ctypes.pythonapi, name)]
    if missing:
        return f"CPython has no {missing[0]}"
    for what, fits in (
        ("an object's type", _read(id(1.5) + TYPE, ctypes.c_void_p) == id(float)),
        ("a float", _read(id(_FLOAT_PROBE) + FLOAT, ctypes.c_double) == _FLOAT_PROBE),
        ("a slot", _slot_fits()),
        ("an array", all(_array_fits(probe) for probe in _arrays())),
    ):
        if not fits:
            return f"{what} has another layout in Python {sys.version.split()[0]} with NumPy {np.__version__}"
    return None


@lru_cache
def slots_fit(kind: type, names: tuple[str, ...]) -> bool:
    """Whether objects of a class have these slots, one behind the other from the first one on."""
    probe: Any = object.__new__(kind)
    marks = [float(i) for i in range(len(names))]
    if kind.__basicsize__ != SLOT + 8 * len(names) or kind.__dictoffset__ or kind.__weakrefoffset__:
        return False
    for name, mark in zip(names, marks, strict=True):
        object.__setattr__(probe, name, mark)
    return [_read(id(probe) + SLOT + 8 * i, ctypes.c_void_p) for i in range(len(names))] == [id(m) for m in marks]


def layout_is_known() -> bool:
    """Whether emitted code may read objects of this interpreter."""
    return layout_problem() is None


@lru_cache(maxsize=1)
def references_are_counted() -> bool:
    """Whether emitted code can see that nothing else refers to an object; not so in free-threaded builds.

    Nor in debug builds, which keep the number of all references.
    """
    if not layout_is_known() or HEADER != 16 or np.ndarray.__weakrefoffset__ != WEAK_REFERENCES:
        return False
    if hasattr(sys, "gettotalrefcount"):
        return False
    whole = np.zeros(3)
    part = whole[1:]
    at, pair = [id(part), id(whole)], (part, whole)
    items = [_read(id(pair) + TUPLE_ITEMS + 8 * i, ctypes.c_void_p) for i in range(2)]
    del pair
    held = [_read(address + REFERENCES, ctypes.c_int32) for address in at]
    bases = [_read(address + BASE, ctypes.c_void_p) for address in at]
    flags = _read(id(whole) + FLAGS, ctypes.c_uint32) & (AS_MADE | NOT_AS_MADE)
    return held == [1, 2] and items == at and bases == [at[1], None] and flags == AS_MADE


def freeze(kind: type) -> bool:
    """Let a class, whose bases are frozen, change no more, where this interpreter admits it; whether it did.

    CPython remembers where it found a method only if the class of the method cannot change: otherwise it asks all
    classes of the object again in every call. This is ``PyType_Freeze``, which is new in Python 3.14; before, the flag
    is set here, where the offset of flags is right for all of some classes.
    """
    if hasattr(ctypes.pythonapi, "PyType_Freeze"):
        with contextlib.suppress(TypeError):  # where a base can change
            ctypes.pythonapi.PyType_Freeze(ctypes.py_object(kind))
    elif HEADER == 16 and layout_is_known() and all(_flags(one).value == one.__flags__ for one in _CLASSES):
        _flags(kind).value |= _IMMUTABLE
        ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))
    return bool(kind.__flags__ & _IMMUTABLE)


_CLASSES = (object, type, int, dict, Exception, np.ndarray, Slotted)
_IMMUTABLE = 1 << 8


def _flags(kind: type) -> Any:
    return ctypes.c_ulong.from_address(id(kind) + TYPE_FLAGS)


_FLOAT_PROBE = float("1.5")


def _read(address: int, kind: Any) -> Any:
    return kind.from_address(address).value


def _slot_fits() -> bool:
    holder = Slotted()
    holder.probe = _FLOAT_PROBE
    return bool(_read(id(holder) + SLOT, ctypes.c_void_p) == id(_FLOAT_PROBE))


def _arrays() -> list[np.ndarray]:
    frozen = np.arange(4.0)
    frozen.setflags(write=False)
    return [np.zeros(3), np.zeros((2, 5)), np.zeros((4, 6))[::2, 1:3], np.zeros(5, dtype=np.int32), frozen]


def _array_fits(a: np.ndarray) -> bool:
    at, pointer, integer = id(a), ctypes.c_void_p, ctypes.c_int64
    shown = {C_CONTIGUOUS: a.flags.c_contiguous, ALIGNED: a.flags.aligned, WRITEABLE: a.flags.writeable}
    if not (
        np.ndarray.__basicsize__ >= FLAGS + 4
        and _read(at + TYPE, pointer) == id(np.ndarray)
        and _read(at + DATA, pointer) == a.ctypes.data
        and _read(at + NDIM, ctypes.c_int32) == a.ndim
        and _read(at + DESCR, pointer) == id(a.dtype)
        and all(bool(_read(at + FLAGS, ctypes.c_int32) & flag) == is_set for flag, is_set in shown.items())
    ):
        return False
    dims = _read(at + DIMS, pointer)  # an address: followed only where all else is right
    return dims is not None and tuple(_read(dims + 8 * i, integer) for i in range(a.ndim)) == a.shape


@lru_cache(maxsize=1)
def _context() -> Any:
    """The table of addresses. They differ from process to process, so no cached object file ever holds one."""
    values = {name: ctypes.cast(getattr(ctypes.pythonapi, f), ctypes.c_void_p).value for name, f in _FUNCTIONS.items()}
    values |= {name: id(value) for name, value in _OBJECTS.items()}
    numpy = sys.modules["numpy._core._multiarray_umath" if np.__version__ >= "2" else "numpy.core._multiarray_umath"]
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    values["new_array"] = _read(pointer_of(numpy._ARRAY_API, None) + 8 * _NEW_FROM_DESCR, ctypes.c_void_p)
    return (ctypes.c_void_p * len(CONTEXT))(*(values[name] for name in CONTEXT))


MANY_IR = "@many = dso_local global ptr null"
"""In modules of code for one state: where the code for batches is, once it is compiled."""
CONTEXT_IR = f"@context = dso_local global [{len(CONTEXT)} x ptr] zeroinitializer, align 64"
"""The table in a module of emitted code, empty; :func:`fill_context` fills it when the code is loaded."""


def fill_context(address: int) -> None:
    """Write the table of addresses into loaded code."""
    table = _context()
    ctypes.memmove(address, table, ctypes.sizeof(table))


def structure(**fields: Any) -> type[ctypes.Structure]:
    """A C structure with these fields."""
    return type("Structure", (ctypes.Structure,), {"_fields_": list(fields.items())})


def immortal(value: Any) -> int:
    """The address of an object that lives until the end of the program."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
    return id(value)


_MethodDef = structure(name=ctypes.c_char_p, function=ctypes.c_void_p, flags=ctypes.c_int, doc=ctypes.c_char_p)
FASTCALL_KEYWORDS = 0x0080 | 0x0002
"""Flags of built-in functions ``ptr f(ptr self, ptr args, i64 nargs, ptr kwnames)``."""


def python_function(address: int, owner: Any, name: str, doc: str) -> Any:
    """A built-in function of that machine code whose ``__self__`` is ``owner``."""
    definition = _MethodDef(name.encode(), address, FASTCALL_KEYWORDS, doc.encode())
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    immortal(definition)  # a dying function reads it, and at the end of the program no list here would still exist
    return make(ctypes.addressof(definition), owner, None)
