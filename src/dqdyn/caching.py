"""``cached_property`` without a lock.

In Python 3.11 it holds one lock for all objects of a class while it computes: a child process forked meanwhile would
wait forever, and two locks taken in different orders would deadlock. Later versions have no lock.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:
        """A property that is computed at first use and stored in the object's ``__dict__``."""

        def __init__(self, function: Any) -> None:
            self.function, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner: Any, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            if instance is None:
                return self
            value = instance.__dict__[self.name] = self.function(instance)
            return value


__all__ = ["cached_property"]
