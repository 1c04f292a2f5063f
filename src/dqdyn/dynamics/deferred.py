"""Functions that are imported at their first call: loading a robot stays quick."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Deferred:
    """``dqdyn.<module>.<function>``."""

    module: str
    function: str

    @property
    def loaded(self) -> Callable[..., Any]:
        """The function itself."""
        function: Callable[..., Any] = getattr(import_module(f"dqdyn.{self.module}"), self.function)
        return function

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.loaded(*arguments, **options)
