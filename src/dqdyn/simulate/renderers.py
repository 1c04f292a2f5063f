"""Functions that draw trajectories: packages above this one register them here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from dqdyn.errors import Error

_RENDERERS: dict[str, Callable[..., Any]] = {}
_DRAWING = "dqdyn.view"


def register(name: str, function: Callable[..., Any]) -> None:
    """Let ``Trajectory.<name>`` call ``function(trajectory, …)``; names are "to_html" and "plot"."""
    _RENDERERS[name] = function


def renderer(name: str) -> Callable[..., Any]:
    """The function that was registered; the drawing package is imported when it is first needed."""
    if name not in _RENDERERS:
        import_module(_DRAWING)
    if name not in _RENDERERS:
        raise Error(f"this build of dqdyn cannot do Trajectory.{name}: {_DRAWING} does not register it.", name=name)
    return _RENDERERS[name]
