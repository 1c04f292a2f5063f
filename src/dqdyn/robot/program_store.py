"""Which program on disk stands for a function of a robot: never one that a trace would not give.

The key has all that a trace depends on: the numbers of the model, the function and its options, the sources of dqdyn,
and the versions. What has no name that other processes could compare, such as a function that the user wrote, a joint,
a constraint or a gravity field of the user's own class, has no key, and is traced. So is a robot while code of dqdyn
is replaced at run time (:mod:`dqdyn.compile.runtime.live_code`).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.compile.runtime import cache
from dqdyn.compile.runtime.live_code import ForeignCodeError, loaded_modules, sources
from dqdyn.compile.runtime.stored_program import StoredProgram, header_of, packed
from dqdyn.compile.trace.program import Program
from dqdyn.model.model import Model
from dqdyn.robot.options import Options

_TRACED = (
    *("algebra", "compile/trace", "constraints", "dynamics", "geometry", "kinematics", "model", "robot/functions"),
    *("robot/catalog", "robot/compiled_functions", "robot/options", "robot/robot_function", "robot/variables"),
    *("robot/program_store", "arrays", "caching", "errors"),
)
"""Packages and modules whose code a trace runs."""
_WITHOUT_EFFECT = ("description", "warnings")


class _UnnamedError(Exception):
    """A value that has no name on disk."""


def stored(model: Model, function: str, options: Options, trace: Callable[[], Program]) -> tuple[Program, bool]:
    """The program of a function, and whether it comes from the cache; if not, it is traced and stored."""
    if cache.folder() is None:
        return trace(), False
    try:
        key, modules = _key(model, function, options), loaded_modules(_TRACED)
    except (_UnnamedError, ForeignCodeError):
        return trace(), False
    found = _read(key, modules, trace)
    if found is not None:
        return found, True
    program = trace()
    with suppress(ForeignCodeError):  # replaced meanwhile
        cache.write(key, packed(program, modules=loaded_modules(_TRACED)))
    return program, False


def _key(model: Model, function: str, options: Options) -> str:
    digest = sources(_TRACED)
    if digest is None:
        raise _UnnamedError("the sources")
    own: str | None = model.__dict__.get("_digest")
    if own is None:
        own = model.__dict__["_digest"] = digest_of(model)
    return cache.digest("program", digest, own, function, digest_of(options), np.__version__)


def _read(key: str, modules: Mapping[str, str], trace: Callable[[], Program]) -> Program | None:
    entry = cache.read(key)
    if entry is None:
        return None
    try:
        header, body = header_of(entry)
        # A module that is loaded later comes from the sources, which the key has.
        if any(modules.get(name, content) != content for name, content in header["modules"].items()):
            return None
        return StoredProgram(header, body, trace)
    except (ValueError, KeyError, TypeError, AttributeError, struct.error):
        return None


def digest_of(value: Any) -> str:
    """A name for a value of dqdyn, equal in all processes, different for any other bit; an error where it has none."""
    words: list[str] = []
    _spell(value, words)
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def _spell(value: Any, words: list[str]) -> None:
    kind = type(value)
    if kind is float:
        words.append(value.hex())
    elif kind in (int, bool, type(None)):
        words.append(repr(value))
    elif kind is str:
        words += ["text", repr(value)]
    elif isinstance(value, (tuple, list)) and (kind in (tuple, list) or _is_ours(kind)):
        words.append(f"{kind.__name__} {len(value)}")
        for item in value:
            _spell(item, words)
    elif isinstance(value, Mapping) and not _is_ours(kind):
        words.append(f"mapping {len(value)}")
        for key, item in value.items():
            _spell(key, words)
            _spell(item, words)
    elif kind is slice:
        _spell((value.start, value.stop, value.step), words)
    elif kind in (Quaternion, DQ):
        words.append(kind.__name__)
        for c in value.components:
            _spell(c, words)
    elif kind is np.ndarray and value.dtype == np.float64:
        words.append(f"array {value.shape}")
        words.append(value.tobytes().hex())
    elif isinstance(value, np.float64):
        words.append(float(value).hex())
    elif is_dataclass(value) and _is_ours(kind):
        words.append(f"{kind.__module__}.{kind.__qualname__}")
        for field in fields(value):
            if not (kind is Model and field.name in _WITHOUT_EFFECT):
                words.append(field.name)
                _spell(getattr(value, field.name), words)
    else:
        raise _UnnamedError(f"{kind.__module__}.{kind.__qualname__}")


def _is_ours(kind: type) -> bool:
    return kind.__module__.partition(".")[0] == "dqdyn"
