"""Methods as fast as bound functions: they find the compiled function of their object without running Python code.

``robot.twist_jacobian(frame, q)`` is a method of the class, whatever has been called before: it pickles, copies, shows
its signature and can be patched like any other. Where its arguments are the plain ones and the object has a compiled
function for them, emitted code calls that function; anything else goes to the Python method. The compiled functions are
in a dictionary in the first slot of the object: ``{"mass_matrix": f, "twist_jacobian": {"tool": g}}``.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar

from dqdyn.compile.runtime.function import warn_once
from dqdyn.compile.runtime.process_lock import LOCK
from dqdyn.compile.runtime.python_abi import CONTEXT_IR, SLOT, TYPE, fill_context, from_context, layout_is_known

P = ParamSpec("P")
R = TypeVar("R")

# Words of a compiled method behind what every object of a Python class has.
_VECTORCALL, _OWNER, _NAME, _PYTHON, _OUT, _KEYS, _COUNT, _WORDS = range(8)


class MethodBase:
    """What a compiled method has in common with the Python method that it stands for."""

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


class _Member(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("type", ctypes.c_int),
        ("offset", ctypes.c_ssize_t),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


class _Slot(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_int), ("value", ctypes.c_void_p)]


class _Spec(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("basicsize", ctypes.c_int),
        ("itemsize", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.c_void_p),
    ]


_OFFSET = MethodBase.__basicsize__
_PY_SSIZE_T, _READ_ONLY, _MEMBERS = 19, 1, 72  # of the stable ABI, as the flags below
_DEFAULT, _HAVE_VECTORCALL, _METHOD_DESCRIPTOR = 1 << 18, 1 << 11, 1 << 17


@lru_cache(maxsize=1)
def _kind() -> type[MethodBase]:
    """The type of compiled methods: Python calls its objects like functions, without making a bound method first.

    An object whose first word is empty is called by ``MethodBase.__call__``; emitted code comes in when it is loaded.
    """
    members = (_Member * 2)(_Member(b"__vectorcalloffset__", _PY_SSIZE_T, _OFFSET, _READ_ONLY, None))
    slots = (_Slot * 2)(_Slot(_MEMBERS, ctypes.addressof(members)))
    flags = _DEFAULT | _HAVE_VECTORCALL | _METHOD_DESCRIPTOR
    spec = _Spec(
        b"dqdyn.compile.runtime.method.CompiledMethod", _OFFSET + 8 * _WORDS, 0, flags, ctypes.addressof(slots)
    )
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object]
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(members))  # the type may read it as long as it lives
    made: type[MethodBase] = make(ctypes.addressof(spec), (MethodBase,))
    return made


_waiting: list[Any] = []  # methods that run in Python until emitted code is loaded


def compiled_method(inputs: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A method ``name(self, [frame,] *inputs, **options)`` that calls the compiled function of the same name.

    It must do nothing beyond that where all its options have their defaults.
    """

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        if not layout_is_known():
            return method
        names = list(inspect.signature(method).parameters)
        keys = names.count("frame")
        made: Any = _kind()(method)
        words = _words(made)
        words[_KEYS], words[_COUNT] = keys, 1 + keys + inputs
        words[_OUT] = _kept(sys.intern("out")) if "out" in names else 0  # the one keyword that is passed on
        words[_NAME], words[_PYTHON] = _kept(method.__name__.lstrip("_")), _kept(method)
        _waiting.append(made)
        return made

    return decorate


def load_methods(owner: type) -> None:
    """Let the compiled methods of objects of a class, and of those derived from it, run emitted code from now on."""
    if not _waiting:
        return
    with LOCK:
        try:
            address = _library().address("call_method")
        except Exception as problem:  # whatever LLVM or the loader may raise
            reason = f"{type(problem).__name__}: {problem}"
            warn_once(f"methods run in Python ({reason}); each call takes some 0.3 µs longer.", "methods")
            _waiting.clear()
        while _waiting:
            words = _words(_waiting.pop())
            words[_OWNER] = _kept(owner)
            words[_VECTORCALL] = address


@lru_cache(maxsize=1)
def _library() -> Any:
    from dqdyn.compile.runtime.native import Library

    library = Library(f"{CONTEXT_IR}\n{_ir()}", f"methods 2 {_OFFSET} {SLOT}")
    fill_context(library.address("context"))
    _kept(library)
    return library


def _words(method: Any) -> Any:
    return (ctypes.c_int64 * _WORDS).from_address(id(method) + _OFFSET)


def _kept(thing: Any) -> int:
    """The address of an object that lives on until the end of the program, as methods of classes do."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
    return id(thing)


def _word(index: int, into: str, kind: str = "ptr") -> list[str]:
    return [
        f"  {into}.at = getelementptr i8, ptr %method, i64 {_OFFSET + 8 * index}",
        f"  {into} = load {kind}, ptr {into}.at",
    ]


def _ir() -> str:
    """``ptr call_method(ptr method, ptr args, i64 nargsf, ptr kwnames)``, a vectorcall; ``args[0]`` is the object."""
    lines = [
        "define ptr @call_method(ptr %method, ptr %args, i64 %nargsf, ptr %kwnames) {",
        "entry:",
        f"  %nargs = and i64 %nargsf, {(1 << 63) - 1}",
        *_word(_COUNT, "%count", "i64"),
        "  %enough = icmp eq i64 %nargs, %count",
        "  br i1 %enough, label %typed, label %slow",
        "typed:",
        "  %self = load ptr, ptr %args",
        f"  %type.at = getelementptr i8, ptr %self, i64 {TYPE}",
        "  %type = load ptr, ptr %type.at",
        *_word(_OWNER, "%owner"),
        "  %exactly = icmp eq ptr %type, %owner",
        "  br i1 %exactly, label %words, label %derived",
        "derived:",
        *from_context("is_subtype", "%is_subtype"),
        "  %kind = call i32 %is_subtype(ptr %type, ptr %owner)",
        "  %fits = icmp ne i32 %kind, 0",
        "  br i1 %fits, label %words, label %slow",
        "words:",
        "  %plain = icmp eq ptr %kwnames, null",
        "  br i1 %plain, label %find, label %keyword",
        "keyword:",
        *from_context("tuple_size", "%tuple_size"),
        *from_context("tuple_item", "%tuple_item"),
        *_word(_OUT, "%out"),
        "  %size = call i64 %tuple_size(ptr %kwnames)",
        "  %one = icmp eq i64 %size, 1",
        "  br i1 %one, label %named, label %slow",
        "named:",
        "  %word = call ptr %tuple_item(ptr %kwnames, i64 0)",
        "  %is_out = icmp eq ptr %word, %out",
        "  br i1 %is_out, label %find, label %slow",
        "find:",
        f"  %table.at = getelementptr i8, ptr %self, i64 {SLOT}",
        "  %table = load ptr, ptr %table.at",
        "  %there = icmp ne ptr %table, null",
        "  br i1 %there, label %look, label %slow",
        "look:",
        *_word(_NAME, "%name"),
        *_word(_KEYS, "%keys", "i64"),
        *from_context("get_item", "%get_item"),
        *from_context("decrease", "%decrease"),
        *from_context("vectorcall", "%vectorcall"),
        "  %first = call ptr %get_item(ptr %table, ptr %name)",
        "  %known = icmp ne ptr %first, null",
        "  br i1 %known, label %which, label %clear",
        "which:",
        "  %single = icmp eq i64 %keys, 0",
        "  br i1 %single, label %go, label %by_key",
        "by_key:",
        "  %key.at = getelementptr ptr, ptr %args, i64 1",
        "  %key = load ptr, ptr %key.at",
        "  %second = call ptr %get_item(ptr %first, ptr %key)",
        "  call void %decrease(ptr %first)",
        "  %found = icmp ne ptr %second, null",
        "  br i1 %found, label %go, label %clear",
        "go:",
        "  %function = phi ptr [ %first, %which ], [ %second, %by_key ]",
        "  %skip = add i64 %keys, 1",
        "  %rest = getelementptr ptr, ptr %args, i64 %skip",
        "  %left = sub i64 %nargs, %skip",
        "  %result = call ptr %vectorcall(ptr %function, ptr %rest, i64 %left, ptr %kwnames)",
        "  call void %decrease(ptr %function)",
        "  ret ptr %result",
        "clear:",  # not there yet, or not a key at all: Python knows what to say
        *from_context("clear_error", "%clear_error"),
        "  call void %clear_error()",
        "  br label %slow",
        "slow:",
        *_word(_PYTHON, "%python"),
        *from_context("vectorcall", "%call"),
        "  %answer = musttail call ptr %call(ptr %python, ptr %args, i64 %nargsf, ptr %kwnames)",
        "  ret ptr %answer",
        "}",
        "",
    ]
    return "\n".join(lines)
