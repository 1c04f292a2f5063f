"""What code is running: the sources of a package, and whether somebody has changed them or replaced parts at run time.

A program on disk may stand for a trace only where the same code would be traced. Sources are compared by content. What
was loaded from them may have been patched since, by a test or a notebook: every module is described by where its
functions come from and by its constants, and a module with code from elsewhere is not described at all.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

_PACKAGE = Path(__file__).parents[2]
_ROOT = str(_PACKAGE) + os.sep
_STARTED = time.time()
_OURS = _PACKAGE.name
_FAMILIAR = {_OURS, "numpy", *sys.stdlib_module_names}  # whose classes our modules import
_LIBRARIES = (os.path.dirname(os.__file__) + os.sep, os.path.dirname(np.__file__) + os.sep)
_INSTALLED = tuple(os.path.join(os.path.dirname(os.__file__), name) for name in ("site-packages", "dist-packages"))
_OF_PYTHON = ("__dict__", "__weakref__", "__doc__", "__slotnames__")  # the last one comes with pickling
_DEPTH = 5  # of tables in tables


class ForeignCodeError(Exception):
    """A module has code that does not come from its source."""


@lru_cache(maxsize=8)
def sources(packages: tuple[str, ...]) -> str | None:
    """A hash of the sources of some packages; None where there are none to read, or newer ones than those loaded."""
    h = hashlib.sha256()
    try:
        files = sorted(file for package in packages for file in _files(os.path.join(_PACKAGE, package)))
        for file in files:
            with open(file, "rb", buffering=0) as source:
                content = source.read()
                if os.fstat(source.fileno()).st_mtime > _STARTED:
                    return None
            h.update(f"{file.removeprefix(str(_PACKAGE))} {len(content)}\n".encode() + content)
    except OSError:
        return None
    return h.hexdigest() if files else None


def _files(path: str) -> Iterator[str]:
    if not os.path.isdir(path):
        yield f"{path}.py"
        return
    for folder, _, names in os.walk(path):
        yield from (os.path.join(folder, name) for name in names if name.endswith(".py"))


def loaded_modules(packages: tuple[str, ...]) -> dict[str, str]:
    """Modules of some packages that are loaded, each with a hash of what it contains."""
    starts = tuple(f"{_OURS}.{package.replace('/', '.')}" for package in packages)
    result = {}
    _described_tables.clear()
    for name, module in list(sys.modules.items()):
        if name.startswith(starts) and isinstance(module, ModuleType):
            objects, (known, described) = _held(module), _seen.get(name, ((), ""))
            if len(objects) != len(known) or not all(map(operator.is_, objects, known)):
                described = _described(module)
                _seen[name] = objects, described
            result[name] = described
    return result


_described_tables: dict[tuple[int, int], str] = {}  # by identity, for one pass over the modules
_seen: dict[str, tuple[Sequence[Any], str]] = {}  # what modules held when they were described, kept alive


def _held(module: ModuleType) -> list[Any]:
    """All objects by which one can tell, in a millisecond for all modules, that nothing has changed."""
    held: list[Any] = []
    for name, value in list(vars(module).items()):
        held.append(value)
        if type(value) is FunctionType:
            held.append(value.__code__)
        elif isinstance(value, type):
            if value.__module__ == module.__name__:
                held.extend(vars(value).values())
        elif name.strip("_").isupper():
            _hold(value, held, 3)
    return held


def _hold(value: Any, held: list[Any], depth: int) -> None:
    """Append what a table contains, down to some depth."""
    kind = type(value)
    if kind is dict:
        parts = list(value.values())
    elif kind is tuple or kind is list:
        parts = list(value)
    elif hasattr(kind, "__dataclass_fields__") and hasattr(value, "__dict__"):
        parts = [value.__dict__[name] for name in kind.__dataclass_fields__ if name in value.__dict__]
    else:
        return
    held.extend(parts)
    if depth:
        for part in parts:
            if type(part) not in _LEAVES:
                _hold(part, held, depth - 1)


_LEAVES = {bool, int, float, str, type(None), FunctionType}


def _described(module: ModuleType) -> str:
    words: list[str] = []
    for name, value in sorted(vars(module).items()):
        is_own_module = isinstance(value, ModuleType) and value.__name__ == f"{module.__name__}.{name}"
        if not name.startswith("__") and not is_own_module:  # a package knows its modules once they are loaded
            words.append(name)
            _describe(value, words, module.__name__, 0, not name.strip("_").isupper())
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def _describe(value: Any, words: list[str], module: str, depth: int, may_change: bool = False) -> None:
    """Append where a function comes from, what a class contains, what a constant is.

    Of objects that ``may_change`` as the program runs, such as caches, only the type counts.
    """
    kind = type(value)
    if kind is FunctionType:
        words.append(_place(value))
        for cell in value.__closure__ or ():
            if depth < _DEPTH and cell.cell_contents is not value:
                _describe(cell.cell_contents, words, module, depth + 1)
    elif kind in _PLAIN:
        words.append(repr(value))
    elif kind is BuiltinFunctionType:
        words.append(value.__qualname__)
    elif kind is ModuleType:
        words.append(value.__name__)
    elif isinstance(value, type):
        words.append(f"{value.__module__}.{value.__qualname__}")
        if value.__module__.partition(".")[0] not in _FAMILIAR:
            raise ForeignCodeError(words[-1])
        if value.__module__ == module and depth == 0:
            for name, member in list(vars(value).items()):
                if name not in _OF_PYTHON and not name.startswith("_abc_"):
                    words.append(name)
                    _describe(member, words, module, 1, True)
    elif kind in _TABLES and may_change:
        words.append(kind.__name__)
    elif kind not in _TABLES and (inner := _wrapped(value)) is not None:
        for part in inner:
            _describe(part, words, module, depth + 1, may_change)
    else:
        words.append(f"{kind.__module__}.{kind.__qualname__}")
        if callable(value) and kind.__module__.partition(".")[0] not in _FAMILIAR:
            raise ForeignCodeError(words[-1])
        if not may_change and depth < _DEPTH:
            key = id(value), depth
            if key not in _described_tables:  # many modules import the same table
                inner_words: list[str] = []
                for part in _parts(value):
                    _describe(part, inner_words, module, depth + 1)
                _described_tables[key] = hashlib.sha256("\0".join(inner_words).encode()).hexdigest()
            words.append(_described_tables[key])


_TABLES = {dict, list, set, tuple}
_PLAIN = (bool, int, float, str, bytes, type(None))


def _place(function: FunctionType) -> str:
    code = function.__code__
    if not code.co_filename.startswith(_ROOT) and not _is_generated(function):
        raise ForeignCodeError(f"{function.__module__}.{function.__qualname__}")
    return f"{code.co_filename.removeprefix(_ROOT)}:{code.co_firstlineno} {function.__qualname__}"


def _is_generated(function: FunctionType) -> bool:
    """A function of the standard library or NumPy, or a method that ``dataclass`` or ``namedtuple`` wrote."""
    file = function.__code__.co_filename
    if file.startswith("<frozen "):
        return True
    if file.startswith("<"):
        return function.__name__.startswith("__") and (function.__module__ or "").startswith((_OURS, "namedtuple_"))
    return file.startswith(_LIBRARIES) and not file.startswith(_INSTALLED)


def _wrapped(value: Any) -> list[Any] | None:
    """The functions inside a property, a partial, a cache or a method; None for anything else."""
    if isinstance(value, property):
        return [value.fget, value.fset]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__func__]
    for name in ("__wrapped__", "__func__", "function", "_compute", "func"):
        inner = getattr(value, name, None) if not is_dataclass(value) else None
        if isinstance(inner, (FunctionType, MethodType)):
            return [inner]
    return None


def _parts(value: Any) -> Iterator[Any]:
    """What a table contains."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield item
    elif isinstance(value, (tuple, list)):
        yield from value
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield field.name
            yield getattr(value, field.name)
