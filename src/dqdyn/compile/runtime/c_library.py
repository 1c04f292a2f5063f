"""Functions of the system that emitted code calls, by address: a library may be out of reach of calls by name."""

from __future__ import annotations

import ctypes
import math
import sys
import warnings
from functools import lru_cache
from typing import Any

from dqdyn.errors import CompileWarning

# Where to look for functions of the C library, in this order; None is the process with all that it has loaded.
# Windows has no such view of a process: ctypes.CDLL(None) raises TypeError there.
_PLACES: dict[str, tuple[str | None, ...]] = {
    "win32": ("ucrtbase", "msvcrt"),
    "darwin": (None, "/usr/lib/libSystem.B.dylib"),
}
_ELSEWHERE: tuple[str | None, ...] = (None, "libm.so.6")

_kept: list[Any] = []  # callbacks whose addresses emitted code holds


def places(platform: str) -> tuple[str | None, ...]:
    """Names of the libraries that may have the functions of C on a platform, as ``sys.platform`` calls it."""
    return _PLACES.get(platform, _ELSEWHERE)


def found(function: str, libraries: tuple[str | None, ...]) -> int | None:
    """The address of a function in the first of some libraries that has it; None where none has."""
    for name in libraries:
        try:
            return ctypes.cast(getattr(ctypes.CDLL(name), function), ctypes.c_void_p).value
        except (OSError, AttributeError, TypeError):  # no such library, no such function, no view of the process
            continue
    return None


@lru_cache(maxsize=1)
def atan2() -> int:
    """The address of atan2 of C, or else of Python's, which is slower; one warning then says so."""
    address = found("atan2", places(sys.platform))
    if address is None:
        text = "no atan2 was found in the C library: native code calls Python's, which is slower."
        warnings.warn(text, CompileWarning, stacklevel=2)
        _kept.append(ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)(math.atan2))
        address = ctypes.cast(_kept[-1], ctypes.c_void_p).value
    assert address is not None
    return address


def stack_probe(platform: str = sys.platform) -> tuple[str, int] | None:
    """Name and address of the function that code with more than a page of stack calls on Windows; None elsewhere.

    It touches the pages of the stack in order, for Windows provides each only when the one before was touched.
    """
    address = found("__chkstk", ("ntdll",)) if platform == "win32" else None
    return None if address is None else ("__chkstk", address)


def allocation() -> dict[str, int | None]:
    """Addresses of functions that allocate and release memory, by the names of emitted code for them.

    Python's own need no GIL and exist on every platform.
    """
    python = {"allocate_at": ctypes.pythonapi.PyMem_RawMalloc, "release_at": ctypes.pythonapi.PyMem_RawFree}
    return {name: ctypes.cast(function, ctypes.c_void_p).value for name, function in python.items()}
