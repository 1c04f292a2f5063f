"""Visualisation of robots and their motion: pages in the browser, animations in one file, pictures, videos, plots.

>>> from dqdyn.view import Markers, figure_of, serve, write_html
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from dqdyn.simulate.trajectory import register
from dqdyn.view.film import write_png, write_robot_png, write_video
from dqdyn.view.html import write_html
from dqdyn.view.markers import Markers
from dqdyn.view.notebook import trajectory_html
from dqdyn.view.plots import figure_of, save_figure
from dqdyn.view.server import Viewer, serve
from dqdyn.view.shown_figure import open_window, shown_figure

__all__ = [
    "Markers",
    "Viewer",
    "figure_of",
    "save_figure",
    "serve",
    "write_html",
    "write_png",
    "write_robot_png",
    "write_video",
]


def _plot(trajectory: Any, *what: str, path: str | Path | None = None) -> Any:
    """``Trajectory.plot``: a figure of all quantities or of those named, written where there is a path."""
    if path is not None:
        save_figure(trajectory, path, what or None)
    figure = figure_of(trajectory, what or None, shown_figure)
    open_window(figure)
    return figure


def __getattr__(name: str) -> Any:
    """Former names, for one release."""
    if name == "Scene":
        text = "dqdyn.view.Scene is now called Markers; dq.Scene is what a robot can touch."
        warnings.warn(text, DeprecationWarning, stacklevel=2)
        return Markers
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


register("to_html", write_html)
register("plot", _plot)
register("to_png", write_png)
register("to_video", write_video)
register("_repr_html_", trajectory_html)
