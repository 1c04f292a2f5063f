"""Visualisation of robots and their motion: pages in the browser, self-contained animations, and plots.

>>> from dqdyn.view import Scene, figure_of, serve, write_html
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dqdyn.simulate.trajectory import register
from dqdyn.view.html import write_html
from dqdyn.view.plots import figure_of, save_figure
from dqdyn.view.scene import Scene
from dqdyn.view.server import Viewer, serve

__all__ = ["Scene", "Viewer", "figure_of", "save_figure", "serve", "write_html"]


def _plot(trajectory: Any, *what: str, path: str | Path | None = None) -> Any:
    """``Trajectory.plot``: a figure of all quantities or of those named, written where there is a path."""
    if path is not None:
        save_figure(trajectory, path, what or None)
    return figure_of(trajectory, what or None)


register("to_html", write_html)
register("plot", _plot)
