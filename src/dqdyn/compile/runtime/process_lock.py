"""The lock under which functions are traced, compiled and loaded: one for the whole process, and safe to fork."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")

LOCK = threading.RLock()
"""Held by whoever makes something that is made once. LLVM's global context and the tracer admit one thread at a time
anyway, and a single lock cannot be taken in the wrong order."""

# A child of fork has only the thread that forked. Whatever another thread was making would stay half-made there, under
# a lock that nobody opens; so a fork waits until nothing is being made.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


class SharedProperty(Generic[T]):
    """A property that is made once for each object, whichever thread asks first; all threads get the same one."""

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make, self.__doc__ = make, make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> T:
        if self._name not in instance.__dict__:
            with LOCK:
                if self._name not in instance.__dict__:
                    instance.__dict__[self._name] = self._make(instance)
        made: T = instance.__dict__[self._name]  # from now on Python finds it there without asking here
        return made
