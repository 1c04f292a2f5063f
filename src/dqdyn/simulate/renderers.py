"""How a trajectory reaches the packages that draw it, which stand to the right of this one and register here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from dqdyn.errors import Error

_KNOWN: dict[str, Callable[..., Any]] = {}
_DRAWING = "dqdyn.view"


def register(name: str, function: Callable[..., Any]) -> None:
    """Let ``Trajectory.<name>`` call ``function(trajectory, …)``; names are "to_html" and "plot"."""
    _KNOWN[name] = function


def look(name: str) -> Callable[..., Any]:
    """The function that was registered; the drawing package is imported when it is first needed."""
    if name not in _KNOWN:
        import_module(_DRAWING)
    if name not in _KNOWN:
        raise Error(f"this build of dqdyn cannot do Trajectory.{name}: {_DRAWING} does not register it.", name=name)
    return _KNOWN[name]
