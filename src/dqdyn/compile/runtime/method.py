"""Methods as fast as bound functions: they look up the compiled function of their object without running Python code.

``robot.twist_jacobian(frame, q)`` is always a method of the class: it pickles, copies, shows its signature and can be
patched like any other. Where its arguments are the plain ones and the object has a compiled function for them, emitted
code calls that function; all other calls go to the Python method. The compiled functions are in a table in the first
slot of the object (:mod:`~dqdyn.compile.runtime.method_table`), by name, then by frames, then by the one option that
the method may have: ``{"gravity_forces": f, "pose_jacobian": {"tool": g}, "twist_jacobian": {"tool": {"body": h}}}``.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar, cast

from dqdyn.compile.codegen.method_call import MOST_FRAMES, MOST_INPUTS, Word, entry_name, method_call
from dqdyn.compile.runtime import python_abi as abi
from dqdyn.compile.runtime.function import warn_once
from dqdyn.compile.runtime.method_table import HELD, MethodTable, next_row
from dqdyn.compile.runtime.process_lock import LOCK

P = ParamSpec("P")
R = TypeVar("R")


class MethodBase:
    """The attributes that a compiled method shares with the Python method that it stands for."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__wrapped__, self.__doc__, self.__module__ = function, function.__doc__, function.__module__

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.__wrapped__(*arguments, **options)

    def __get__(self, instance: Any, kind: Any = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name: str) -> Any:
        if name == "__wrapped__":
            raise AttributeError(name)
        return getattr(self.__wrapped__, name)

    def __reduce__(self) -> str:
        return str(self.__qualname__)

    def __repr__(self) -> str:
        return f"<compiled method {self.__qualname__}>"


_Member = abi.structure(
    name=ctypes.c_char_p, type=ctypes.c_int, offset=ctypes.c_ssize_t, flags=ctypes.c_int, doc=ctypes.c_char_p
)
_Slot = abi.structure(slot=ctypes.c_int, value=ctypes.c_void_p)
_Spec = abi.structure(
    name=ctypes.c_char_p, basicsize=ctypes.c_int, itemsize=ctypes.c_int, flags=ctypes.c_uint, slots=ctypes.c_void_p
)
_OFFSET = MethodBase.__basicsize__
_PY_SSIZE_T, _READ_ONLY, _MEMBERS = 19, 1, 72  # of the stable ABI, as the flags below
_DEFAULT, _HAVE_VECTORCALL, _METHOD_DESCRIPTOR = 1 << 18, 1 << 11, 1 << 17


@lru_cache(maxsize=1)
def _kind() -> type[MethodBase]:
    """The type of compiled methods: Python calls its objects like functions, without creating a bound method first.

    An object whose first word is empty is called by ``MethodBase.__call__``; :func:`load_methods` fills it.
    """
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _PY_SSIZE_T, _OFFSET, _READ_ONLY, None))
    slots = (_Slot * 2)(_Slot(_MEMBERS, ctypes.addressof(members)))
    flags = _DEFAULT | _HAVE_VECTORCALL | _METHOD_DESCRIPTOR
    name, size = b"dqdyn.compile.runtime.method.CompiledMethod", _OFFSET + 8 * len(Word)
    spec = _Spec(name, size, 0, flags, ctypes.addressof(slots))
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object]
    abi.immortal(members)  # the type may read them as long as it exists
    kind: type[MethodBase] = make(ctypes.addressof(spec), (MethodBase,))
    for one in (MethodBase, kind):
        abi.freeze(one)
    return kind


_waiting: list[MethodBase] = []  # methods that run in Python until emitted code is loaded


def compiled_method(
    inputs: int, option: str | None = None, default: Any = None
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A method ``name(self, [frames,] *inputs, [option,] **others)`` that calls the compiled function of its name.

    It must do nothing beyond that where all others have their defaults. ``option`` is the parameter that chooses among
    the functions of that name. The last input may have a default: that of the signature, or the ``default``.
    """

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        if not abi.layout_is_known():
            return method
        parameters = inspect.signature(method).parameters
        names = list(parameters)
        frames = sum(name in ("frame", "frame1", "frame2") for name in names)
        last = parameters[names[frames + inputs]]
        given = last.default if default is None else default
        optional = last.default is not inspect.Parameter.empty
        after = names[frames + inputs + 1] if len(names) > frames + inputs + 1 else None
        assert inputs <= MOST_INPUTS, method
        assert frames <= MOST_FRAMES, method
        compiled = _kind()(method)
        words = _words(compiled)
        words[Word.NAME], words[Word.PYTHON] = abi.immortal(method.__name__.lstrip("_")), abi.immortal(method)
        words[Word.FRAMES], words[Word.INPUTS], words[Word.REQUIRED] = frames, inputs, inputs - optional
        words[Word.MOST] = 1 + frames + inputs + (option is not None and after == option)
        words[Word.OUT], words[Word.CHECK] = _keyword("out", names), _keyword("check", names)
        if optional:
            words[Word.LAST], words[Word.DEFAULT_INPUT] = _keyword(last.name, names), abi.immortal(given)
        if option is not None:
            words[Word.OPTION], words[Word.USUAL] = _keyword(option, names), abi.immortal(parameters[option].default)
        words[Word.PLAIN] = 1 + frames + inputs
        words[Word.TABLE], words[Word.ROW] = abi.immortal(MethodTable), next_row()
        _waiting.append(compiled)
        return cast(Callable[P, R], compiled)

    return decorate


def _keyword(name: str, names: list[str]) -> int:
    """The address of a keyword, as it stands in calls; 0 where the method does not take it."""
    return abi.immortal(sys.intern(name)) if name in names else 0


def load_methods(owner: type) -> None:
    """Let the compiled methods of a class, and of those derived from it, run emitted code from now on."""
    if not _waiting:
        return
    with LOCK:
        try:
            addresses = [_library().address(entry_name(frames)) for frames in range(MOST_FRAMES + 1)]
        except Exception as problem:  # whatever LLVM or the loader may raise
            reason = f"{type(problem).__name__}: {problem}"
            warn_once(f"methods run in Python ({reason}); each call takes some 0.3 µs longer.", "methods")
            _waiting.clear()
        while _waiting:
            words = _words(_waiting.pop())
            words[Word.OWNER], words[Word.KNOWN] = abi.immortal(owner), abi.immortal(owner)
            words[Word.VECTORCALL] = addresses[words[Word.FRAMES]]


@lru_cache(maxsize=1)
def _library() -> Any:
    from dqdyn.compile.runtime.native import Library

    library = Library(f"{abi.CONTEXT_IR}\n{method_call(_OFFSET)}", f"methods {_OFFSET} {abi.SLOT} {HELD}")
    abi.fill_context(library.address("context"))
    ctypes.c_int64.from_address(library.address("counted")).value = abi.references_are_counted()
    abi.immortal(library)
    return library


def _words(method: Any) -> Any:
    return (ctypes.c_int64 * len(Word)).from_address(id(method) + _OFFSET)
