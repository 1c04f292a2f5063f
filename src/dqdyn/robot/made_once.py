"""Things that are made at first use, each of them once, whoever asks first."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from dqdyn.compile.runtime.process_lock import LOCK

T = TypeVar("T")


class MadeOnce(Generic[T]):
    """What has been made so far, by key."""

    def __init__(self) -> None:
        self._made: dict[Hashable, T] = {}

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """What belongs to the key; threads that race for its first use wait for the one that makes it."""
        made = self._made.get(key)
        if made is None:
            with LOCK:
                made = self._made.get(key)
                if made is None:
                    made = self._made[key] = make()
        return made
