"""The lock under which functions are traced, compiled and loaded: one for the whole process, and safe to fork."""

from __future__ import annotations

import concurrent.futures.thread
import logging
import os
import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")

LOCK = threading.RLock()
"""Held while shared code is traced, compiled or loaded. LLVM's global context and the tracer admit one thread at a time
anyway, and a single lock cannot be taken in the wrong order."""

# A forked child has only the thread that forked. Work of another thread would stay unfinished there, under a lock that
# is never released; so a fork waits until the lock is free. What is registered last runs first: executors and loggers,
# whose locks a thread that compiles may need, must have registered theirs before.
_BEFORE_US = concurrent.futures.thread, logging
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=LOCK.acquire, after_in_parent=LOCK.release, after_in_child=LOCK.release)


class SharedProperty(Generic[T]):
    """A property computed once for each object, under :data:`LOCK`, so that all threads get the same value."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self.__doc__ = compute, compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> T:
        if self._name not in instance.__dict__:
            with LOCK:
                if self._name not in instance.__dict__:
                    instance.__dict__[self._name] = self._compute(instance)
        value: T = instance.__dict__[self._name]  # found there by Python from now on, without a call of this method
        return value
