"""Functions that are imported when they are first called: loading a robot stays quick."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def deferred(module: str, function: str) -> Callable[..., Any]:
    """``dqdyn.<module>.<function>``."""

    def call(*arguments: Any) -> Any:
        return getattr(import_module(f"dqdyn.{module}"), function)(*arguments)

    call.__name__ = function
    return call
