"""Things that are made at first use, each of them once, whoever asks first."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class MadeOnce(Generic[T]):
    """What has been made so far, by key."""

    def __init__(self) -> None:
        self._made: dict[Hashable, T] = {}
        self._lock = threading.RLock()  # making one may ask for another

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What belongs to the key; threads that race for its first use wait for the one that makes it."""
        found = self._made.get(key)
        if found is None:
            with self._lock:
                found = self._made.get(key)
                if found is None:
                    found = self._made[key] = make()
        return found
