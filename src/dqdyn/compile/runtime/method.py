"""Methods as fast as bound functions: they look up the compiled function of their object without running Python code.

``robot.twist_jacobian(frame, q)`` is always a method of the class: it pickles, copies, shows its signature and can be
patched like any other. Where its arguments are the plain ones and the object has a compiled function for them, emitted
code calls that function; all other calls go to the Python method. The compiled functions are in a dictionary in the
first slot of the object, by name, then by frames, then by the one option that the method may have:
``{"gravity_forces": f, "pose_jacobian": {"tool": g}, "twist_jacobian": {"tool": {"body": h}}}``.
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
_VECTORCALL, _OWNER, _NAME, _PYTHON = range(4)
_FRAMES, _INPUTS, _REQUIRED, _MOST = range(4, 8)  # numbers: of frames, inputs, inputs without default; of all arguments
_OUT, _OPTION, _LAST = range(8, 11)  # keywords that are understood: out, the option, the last input
_USUAL, _DEFAULT_INPUT, _WORDS = range(11, 14)  # defaults of the option and of the last input
_MOST_INPUTS = 8


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
        assert inputs <= _MOST_INPUTS, method
        compiled = _kind()(method)
        words = _words(compiled)
        words[_NAME], words[_PYTHON] = abi.immortal(method.__name__.lstrip("_")), abi.immortal(method)
        words[_FRAMES], words[_INPUTS], words[_REQUIRED] = frames, inputs, inputs - optional
        words[_MOST] = 1 + frames + inputs + (option is not None and after == option)
        words[_OUT] = _keyword("out", names)
        if optional:
            words[_LAST], words[_DEFAULT_INPUT] = _keyword(last.name, names), abi.immortal(given)
        if option is not None:
            words[_OPTION], words[_USUAL] = _keyword(option, names), abi.immortal(parameters[option].default)
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

    library = Library(f"{abi.CONTEXT_IR}\n{_ir()}", f"methods 5 {_OFFSET} {abi.SLOT}")
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
    frames, inputs = word(_FRAMES, "i64"), word(_INPUTS, "i64")
    before = code.op(f"add i64 {frames}, 1")
    least = code.op(f"add i64 {before}, {word(_REQUIRED, 'i64')}")
    enough = code.op(f"icmp uge i64 {nargs}, {least}")
    few = code.op(f"icmp ule i64 {nargs}, {word(_MOST, 'i64')}")
    code.require(code.op(f"and i1 {enough}, {few}"))
    instance = code.argument(0)
    kind, owner = code.field(instance, abi.TYPE), word(_OWNER)
    code.branch(code.op(f"icmp eq ptr {kind}, {owner}"), "fits", "derived")
    code.label("derived")
    is_subtype = code.call("is_subtype", f"ptr {kind}, ptr {owner}", "i32")
    code.branch(code.op(f"icmp ne i32 {is_subtype}, 0"), "fits", "slow")
    code.label("fits")
    usual = word(_USUAL)
    code.store("null", "%out", "ptr")
    code.store(usual, "%option", "ptr")
    plain = code.op(f"icmp eq i64 {nargs}, {code.op(f'add i64 {before}, {inputs}')}")
    without = code.op("icmp eq ptr %kwnames, null")
    code.store(code.at("%args", before, "ptr"), "%given", "ptr")
    code.branch(code.op(f"and i1 {plain}, {without}"), "look_up", "sort")
    code.label("sort")
    _sort_arguments(code, word, nargs, before, inputs)
    code.jump("look_up")
    code.label("look_up")
    table = code.field(instance, abi.SLOT)
    code.require(code.op(f"icmp ne ptr {table}, null"))
    first = code.call("get_item", f"ptr {table}, ptr {word(_NAME)}")
    has_option = code.op(f"zext i1 {code.op(f'icmp ne ptr {usual}, null')} to i64")
    function = _look_up(code, first, frames, code.op(f"add i64 {frames}, {has_option}"))
    without = code.op(f"icmp eq ptr {code.load('%out', 'ptr')}, null")
    keywords = code.op(f"select i1 {without}, ptr null, ptr {code.context('out_alone')}")
    given = code.load("%given", "ptr")
    result = code.call("vectorcall", f"ptr {function}, ptr {given}, i64 {inputs}, ptr {keywords}")
    code.run("decrease", f"ptr {function}")
    code.lines.append(f"  ret ptr {result}")
    code.label("clear")  # not compiled yet, or not a key at all: the Python method handles it
    code.run("clear_error", "")
    code.jump("slow")
    code.label("slow")
    python, vectorcall = word(_PYTHON), code.context("vectorcall")
    answer = code.op(f"musttail call ptr {vectorcall}(ptr {python}, ptr %args, i64 %nargsf, ptr %kwnames)")
    head = "define ptr @call_method(ptr %method, ptr %args, i64 %nargsf, ptr %kwnames) {"
    memory = {"inputs": _MOST_INPUTS + 1, "given": 1, "out": 1, "option": 1, "last": 1}
    memory |= {f"{loop}_number": 1 for loop in ("keyword", "input", "level")}
    places = ["entry:", *(f"  %{name} = alloca [{size} x i64]" for name, size in memory.items())]
    return "\n".join([head, *places, *code.lines, f"  ret ptr {answer}", "}", ""])


def _sort_arguments(code: ObjectEmitter, word: Callable[..., str], nargs: str, before: str, inputs: str) -> None:
    """Put inputs and ``%out``, if there is one, into ``%inputs``, to which ``%given`` points; and set ``%option``."""
    known = {"%out": word(_OUT), "%option": word(_OPTION), "%last": word(_LAST)}
    for place in known:
        code.store("null", place, "ptr")
    code.branch(code.op("icmp eq ptr %kwnames, null"), "sorted", "keywords")
    code.label("keywords")
    count = code.call("tuple_size", "ptr %kwnames", "i64")
    code.require(code.op(f"icmp ule i64 {count}, {len(known)}"))
    with code.loop("keyword", count) as k:
        name = code.call("tuple_item", f"ptr %kwnames, i64 {k}")
        value, good = code.argument(code.op(f"add i64 {nargs}, {k}")), "false"
        for place, keyword in known.items():
            same = code.op(f"icmp eq ptr {name}, {keyword}")
            code.store(code.op(f"select i1 {same}, ptr {value}, ptr {code.load(place, 'ptr')}"), place, "ptr")
            good = code.op(f"or i1 {good}, {same}")
        code.require(good)
    code.jump("sorted")
    code.label("sorted")
    positional = code.op(f"sub i64 {nargs}, {before}")
    taken = code.op(f"call i64 @llvm.umin.i64(i64 {positional}, i64 {inputs})")
    with code.loop("input", taken) as k:
        code.store(code.argument(code.op(f"add i64 {before}, {k}")), code.at("%inputs", k, "ptr"), "ptr")
    last, all_given = code.load("%last", "ptr"), code.op(f"icmp eq i64 {taken}, {inputs}")
    named = code.op(f"icmp ne ptr {last}, null")
    code.require_equal("i1", code.op(f"and i1 {all_given}, {named}"), "false")  # given twice
    end = code.at("%inputs", code.op(f"sub i64 {inputs}, 1"), "ptr")
    chosen = code.op(f"select i1 {named}, ptr {last}, ptr {word(_DEFAULT_INPUT)}")
    code.store(code.op(f"select i1 {all_given}, ptr {code.load(end, 'ptr')}, ptr {chosen}"), end, "ptr")
    code.store(code.load("%out", "ptr"), code.at("%inputs", inputs, "ptr"), "ptr")
    code.store("%inputs", "%given", "ptr")
    option, by_place = code.load("%option", "ptr"), code.op(f"icmp ugt i64 {positional}, {inputs}")
    named = code.op(f"icmp ne ptr {option}, null")
    code.require_equal("i1", code.op(f"and i1 {by_place}, {named}"), "false")
    chosen = code.op(f"select i1 {named}, ptr {option}, ptr {word(_USUAL)}")
    behind = code.argument(code.op(f"sub i64 {nargs}, 1"))
    code.store(code.op(f"select i1 {by_place}, ptr {behind}, ptr {chosen}"), "%option", "ptr")


def _look_up(code: ObjectEmitter, first: str, frames: str, levels: str) -> str:
    """A new reference to what stands in nested dictionaries under the frames and ``%option``.

    Where it is absent, go to ``clear``.
    """
    code.require(code.op(f"icmp ne ptr {first}, null"), otherwise="clear")
    code.store(first, "%last", "ptr")
    with code.loop("level", levels) as k:
        here = code.load("%last", "ptr")
        frame = code.at("%args", code.op(f"add i64 {k}, 1"), "ptr")
        key = code.op(f"select i1 {code.op(f'icmp ult i64 {k}, {frames}')}, ptr {frame}, ptr %option")
        there = code.call("get_item", f"ptr {here}, ptr {code.load(key, 'ptr')}")
        code.run("decrease", f"ptr {here}")
        code.require(code.op(f"icmp ne ptr {there}, null"), otherwise="clear")
        code.store(there, "%last", "ptr")
    return code.load("%last", "ptr")
