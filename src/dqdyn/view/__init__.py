"""Visualisation of robots and their motion: pages in the browser, self-contained animations, and plots.

>>> from dqdyn.view import Markers, figure_of, serve, write_html
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from dqdyn.simulate.trajectory import register
from dqdyn.view.html import write_html
from dqdyn.view.markers import Markers
from dqdyn.view.plots import figure_of, save_figure
from dqdyn.view.server import Viewer, serve

__all__ = ["Markers", "Viewer", "figure_of", "save_figure", "serve", "write_html"]


def _plot(trajectory: Any, *what: str, path: str | Path | None = None) -> Any:
    """``Trajectory.plot``: a figure of all quantities or of those named, written where there is a path."""
    if path is not None:
        save_figure(trajectory, path, what or None)
    return figure_of(trajectory, what or None)


def __getattr__(name: str) -> Any:
    """Former names, for one release."""
    if name == "Scene":
        text = "dqdyn.view.Scene is now called Markers; dq.Scene is what a robot can touch."
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return Markers
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


register("to_html", write_html)
register("plot", _plot)
