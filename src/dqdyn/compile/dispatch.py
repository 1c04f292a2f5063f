"""Methods as fast as bound functions: a built-in with an inline cache in front of a Python method.

``robot.twist_jacobian(frame, q)`` must find the function of that frame. A dispatcher remembers the last frame object
and its compiled function; the same frame again jumps straight to machine code. Anything else (another frame, options,
odd arguments) calls the Python method, which may then update the memory.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from dqdyn.compile.call import (
    CONTEXT,
    DATA,
    TUPLE_ITEM,
    TUPLE_SIZE,
    fill_context,
    layout_is_known,
    method_address,
    python_function,
)

_KEY, _TARGET, _OWNER, _SLOW, _COUNT = range(5)


def _ir(keys: int) -> str:
    """``dispatchN``: N leading keys are compared with the memory and dropped, the rest goes to the target."""
    compare = [
        "  %known = load ptr, ptr %state",
        "  %first = load ptr, ptr %args" if keys else "  %first = inttoptr i64 1 to ptr",
        "  %same = icmp eq ptr %first, %known",
        "  br i1 %same, label %words, label %slow",
    ]
    out = CONTEXT.index("out")
    vectorcall = CONTEXT.index("vectorcall")
    return "\n".join(
        [
            f"define ptr @dispatch{keys}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{",
            "entry:",
            f"  %at = getelementptr i8, ptr %self, i64 {DATA}",
            "  %state = load ptr, ptr %at",
            f"  %expected_at = getelementptr i64, ptr %state, i64 {_COUNT}",
            "  %expected = load i64, ptr %expected_at",
            "  %enough = icmp eq i64 %nargs, %expected",
            "  br i1 %enough, label %compare, label %slow",
            "compare:",
            *compare,
            "words:",
            "  %plain = icmp eq ptr %kwnames, null",
            "  br i1 %plain, label %go, label %keyword",
            "keyword:",
            f"  %size_at = getelementptr i8, ptr %kwnames, i64 {TUPLE_SIZE}",
            "  %size = load i64, ptr %size_at",
            f"  %name_at = getelementptr i8, ptr %kwnames, i64 {TUPLE_ITEM}",
            "  %name = load ptr, ptr %name_at",
            f"  %out_at = getelementptr [{len(CONTEXT)} x ptr], ptr @context, i64 0, i64 {out}",
            "  %out = load ptr, ptr %out_at",
            "  %one = icmp eq i64 %size, 1",
            "  %is_out = icmp eq ptr %name, %out",
            "  %fine = and i1 %one, %is_out",
            "  br i1 %fine, label %go, label %slow",
            "go:",
            f"  %target_at = getelementptr ptr, ptr %state, i64 {_TARGET}",
            "  %target = load ptr, ptr %target_at",
            f"  %owner_at = getelementptr ptr, ptr %state, i64 {_OWNER}",
            "  %owner = load ptr, ptr %owner_at",
            f"  %rest = getelementptr ptr, ptr %args, i64 {keys}",
            f"  %count = sub i64 %nargs, {keys}",
            "  %result = musttail call ptr %target(ptr %owner, ptr %rest, i64 %count, ptr %kwnames)",
            "  ret ptr %result",
            "slow:",
            f"  %slow_at = getelementptr ptr, ptr %state, i64 {_SLOW}",
            "  %slow_object = load ptr, ptr %slow_at",
            f"  %call_at = getelementptr [{len(CONTEXT)} x ptr], ptr @context, i64 0, i64 {vectorcall}",
            "  %call = load ptr, ptr %call_at",
            "  %answer = musttail call ptr %call(ptr %slow_object, ptr %args, i64 %nargs, ptr %kwnames)",
            "  ret ptr %answer",
            "}",
            "",
        ]
    )


_library_lock = threading.Lock()


def _library() -> Any:
    """The code of all dispatchers. Made once: of two made at a time, one would be freed under those who use it."""
    with _library_lock:
        return _made_library()


@lru_cache(maxsize=1)
def _made_library() -> Any:
    from dqdyn.compile.native import Library

    text = f"@context = dso_local global [{len(CONTEXT)} x ptr] zeroinitializer\n" + _ir(0) + _ir(1)
    library = Library(text, "dispatch 4")
    fill_context(library.address("context"))
    return library


class Dispatcher:
    """The memory of one method; ``fast`` is the built-in to hand out, or None where that cannot be had."""

    def __init__(self, slow: Callable[..., Any], keys: int, inputs: int, name: str, doc: str) -> None:
        self.slow = slow
        self._state = np.zeros(5, dtype=np.uint64)
        self._state[_SLOW], self._state[_COUNT] = id(slow), keys + inputs
        self._kept: tuple[Any, Any] = (None, None)
        self._lock = threading.Lock()
        self.fast: Any = None
        if layout_is_known():
            address = _library().address(f"dispatch{keys}")
            # The built-in holds this object as its module, and so all that the machine code points to.
            self.fast, self._definition = python_function(address, self._state, name, doc, module=self)

    def remember(self, key: Any, function: Any) -> None:
        """Jump to a compiled function from now on when the leading argument is this very object (or there is none)."""
        address = method_address(function)
        if address is None:
            return
        with self._lock:
            state = self._state
            state[_KEY] = 0  # no other thread may see the old key with the new target
            self._kept = (key, function)
            state[_TARGET], state[_OWNER] = address, id(function.__self__)
            state[_KEY] = id(key) if key is not None else 1


def available() -> bool:
    """Whether dispatchers work here."""
    return layout_is_known() and sys.implementation.name == "cpython"
