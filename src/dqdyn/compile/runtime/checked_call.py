"""Built-in functions for inputs that are checked: again only where they changed, or in machine code."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class CheckedCall:
    """Calls ``built_in`` where the ``arguments`` are arrays with the bytes that passed the check last, else ``slow``.

    Comparing them takes a fraction of a microsecond, checking them, in Python, many. ``slow`` checks and computes.
    """

    def __init__(self, slow: Any, built_in: Callable[..., Any], arguments: Sequence[int]) -> None:
        self.__self__, self._built_in, self._arguments = slow, built_in, tuple(arguments)
        self.__name__, self.__doc__ = slow.__name__, slow.__doc__
        self.__signature__ = slow.__signature__
        self._passed: list[bytes] | None = None

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        content = []
        for argument in self._arguments:
            given = inputs[argument] if len(inputs) > argument else None
            if type(given) is not np.ndarray or given.ndim != 1 or given.dtype != np.float64:
                return self.__self__(*inputs, **options)
            content.append(given.tobytes())
        if content == self._passed:
            return self._built_in(*inputs, **options)
        result = self.__self__(*inputs, **options)
        if options.get("check", True):
            self._passed = content
        return result

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__self__, name)

    def __repr__(self) -> str:
        return repr(self.__self__)


class QuicklyCheckedCall:
    """Calls ``built_in`` where ``quick`` says that the inputs pass the check, else ``slow``, which tells why not."""

    def __init__(self, slow: Any, built_in: Callable[..., Any], quick: Callable[..., bool]) -> None:
        self.__self__, self._built_in, self._quick = slow, built_in, quick
        self.__name__, self.__doc__ = slow.__name__, slow.__doc__
        self.__signature__ = slow.__signature__

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        passes = options.get("check", True) is False or (inputs and self._quick(*inputs))
        return (self._built_in if passes else self.__self__)(*inputs, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__self__, name)

    def __repr__(self) -> str:
        return repr(self.__self__)
