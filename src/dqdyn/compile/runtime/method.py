"""Methods as fast as bound functions: they look up the compiled function of their object without running Python code.

``robot.twist_jacobian(frame, q)`` is always a method of the class: it pickles, copies, shows its signature and can be
patched like any other. Where its arguments are the plain ones and the object has a compiled function for them, emitted
code calls that function; all other calls go to the Python method. The compiled functions are in a dictionary in the
first slot of the object: ``{"mass_matrix": f, "twist_jacobian": {"tool": g}}``.
"""

from __future__ import annotations

import ctypes
import inspect
import sys
import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ParamSpec, TypeVar, cast

from dqdyn.compile.codegen.python_objects import ObjectEmitter
from dqdyn.compile.runtime import python_abi as abi
from dqdyn.compile.runtime.function import warn_once
from dqdyn.compile.runtime.process_lock import LOCK

P = ParamSpec("P")
R = TypeVar("R")

# Words of a compiled method behind the fields that every object of a Python class has.
_VECTORCALL, _OWNER, _NAME, _PYTHON, _OUT, _KEYS, _COUNT, _WORDS = range(8)


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
    name, size = b"dqdyn.compile.runtime.method.CompiledMethod", _OFFSET + 8 * _WORDS
    spec = _Spec(name, size, 0, flags, ctypes.addressof(slots))
    make = ctypes.pythonapi.PyType_FromSpecWithBases
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object]
    abi.immortal(members)  # the type may read them as long as it exists
    kind: type[MethodBase] = make(ctypes.addressof(spec), (MethodBase,))
    return kind


_waiting: list[MethodBase] = []  # methods that run in Python until emitted code is loaded


def compiled_method(inputs: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A method ``name(self, [frame,] *inputs, **options)`` that calls the compiled function of the same name.

    It must do nothing beyond that where all its options have their defaults.
    """

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        if not abi.layout_is_known():
            return method
        names = list(inspect.signature(method).parameters)
        keys = names.count("frame")
        compiled = _kind()(method)
        words = _words(compiled)
        words[_KEYS], words[_COUNT] = keys, 1 + keys + inputs
        words[_OUT] = abi.immortal(sys.intern("out")) if "out" in names else 0  # the one keyword that is passed on
        words[_NAME], words[_PYTHON] = abi.immortal(method.__name__.lstrip("_")), abi.immortal(method)
        _waiting.append(compiled)
        return cast(Callable[P, R], compiled)

    return decorate


def load_methods(owner: type) -> None:
    """Let the compiled methods of a class, and of those derived from it, run emitted code from now on."""
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
            words[_OWNER] = abi.immortal(owner)
            words[_VECTORCALL] = address


@lru_cache(maxsize=1)
def _library() -> Any:
    from dqdyn.compile.runtime.native import Library

    library = Library(f"{abi.CONTEXT_IR}\n{_ir()}", f"methods 3 {_OFFSET} {abi.SLOT}")
    abi.fill_context(library.address("context"))
    abi.immortal(library)
    return library


def _words(method: Any) -> Any:
    return (ctypes.c_int64 * _WORDS).from_address(id(method) + _OFFSET)


def _ir() -> str:
    """``ptr call_method(ptr method, ptr args, i64 nargsf, ptr kwnames)``, a vectorcall; ``args[0]`` is the object."""
    code = ObjectEmitter(1)

    def word(index: int, kind: str = "ptr") -> str:
        return code.field("%method", _OFFSET + 8 * index, kind)

    nargs = code.op(f"and i64 %nargsf, {(1 << 63) - 1}")
    code.require_equal("i64", nargs, word(_COUNT, "i64"))
    instance = code.argument(0)
    kind, owner = code.field(instance, abi.TYPE), word(_OWNER)
    code.branch(code.op(f"icmp eq ptr {kind}, {owner}"), "fits", "derived")
    code.label("derived")
    is_subtype = code.call("is_subtype", f"ptr {kind}, ptr {owner}", "i32")
    code.branch(code.op(f"icmp ne i32 {is_subtype}, 0"), "fits", "slow")
    code.label("fits")
    code.branch(code.op("icmp eq ptr %kwnames, null"), "lookup", "keyword")
    code.label("keyword")
    code.require_only_keyword(word(_OUT))
    code.jump("lookup")
    code.label("lookup")
    table = code.field(instance, abi.SLOT)
    code.require(code.op(f"icmp ne ptr {table}, null"))
    first = code.call("get_item", f"ptr {table}, ptr {word(_NAME)}")
    keys = word(_KEYS, "i64")
    code.branch(code.op(f"icmp ne ptr {first}, null"), "known", "clear")
    code.label("known")
    code.branch(code.op(f"icmp eq i64 {keys}, 0"), "go", "by_key")
    code.label("by_key")
    second = code.call("get_item", f"ptr {first}, ptr {code.argument(1)}")
    code.run("decrease", f"ptr {first}")
    code.branch(code.op(f"icmp ne ptr {second}, null"), "go", "clear")
    code.label("go")
    function = code.op(f"phi ptr [ {first}, %known ], [ {second}, %by_key ]")
    skip = code.op(f"add i64 {keys}, 1")
    rest, left = code.at("%args", skip, "ptr"), code.op(f"sub i64 {nargs}, {skip}")
    result = code.call("vectorcall", f"ptr {function}, ptr {rest}, i64 {left}, ptr %kwnames")
    code.run("decrease", f"ptr {function}")
    code.lines.append(f"  ret ptr {result}")
    code.label("clear")  # not compiled yet, or not a key at all: the Python method handles it
    code.run("clear_error", "")
    code.jump("slow")
    code.label("slow")
    python, vectorcall = word(_PYTHON), code.context("vectorcall")
    answer = code.op(f"musttail call ptr {vectorcall}(ptr {python}, ptr %args, i64 %nargsf, ptr %kwnames)")
    head = "define ptr @call_method(ptr %method, ptr %args, i64 %nargsf, ptr %kwnames) {"
    return "\n".join([head, *code.lines, f"  ret ptr {answer}", "}", ""])
