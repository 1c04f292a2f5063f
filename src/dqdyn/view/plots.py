"""matplotlib figures without pyplot, so no window and no global state; that of a trajectory with units and names."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import FormatError, missing_extra, one_line, unknown_name
from dqdyn.formats.whole_file import write_whole
from dqdyn.view.motion import checked
from dqdyn.view.series import Panel, panels_of

MOST_NAMED = 16
"""Curves of one panel beyond which its legend is in small print."""


def new_figure(width: float, height: float, purpose: str = "drawing figures") -> Any:
    """A ``matplotlib.figure.Figure`` of this size in inches; an error where matplotlib is not installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise missing_extra("matplotlib", "plot", purpose) from None
    return Figure(figsize=(width, height), layout="constrained")


def require_drawing(folder: Path) -> None:
    """An error before the work rather than after it: no matplotlib, or no such folder."""
    new_figure(1.0, 1.0)
    if not folder.is_dir():
        raise FormatError(f"the folder {str(folder)!r} does not exist: make it first.", path=str(folder))


def shared_legend(figure: Any, title: str) -> None:
    """A title above all panels, and below them one legend, that of the first."""
    lines, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=len(names))
    figure.suptitle(title)


def write_figure(figure: Any, path: Path, dpi: int = 120) -> Path:
    """Write the format of the ending; an existing file is replaced whole."""
    content = io.BytesIO()
    figure.savefig(content, dpi=dpi, format=path.suffix.lower().removeprefix("."))
    return write_whole(path, content.getvalue())


def figure_of(trajectory: Any, quantities: Sequence[str] | None = None, new: Callable[[], Any] | None = None) -> Any:
    """A ``matplotlib.figure.Figure`` with one panel per quantity and unit over time in s.

    ``quantities`` chooses panels by title, e.g. ``["positions", "energy"]``; default: all. ``new`` makes an empty
    figure to draw on; default: one that pyplot does not know.
    """
    panels = chosen(panels_of(checked(trajectory)), quantities)
    columns = 1 if len(panels) == 1 else 2
    rows = max(1, -(-len(panels) // columns))
    width, height = 7.0 * columns, 3.0 * rows
    if new is None:
        figure = new_figure(width, height, "plotting a trajectory")
    else:
        figure = new()
        figure.set_size_inches(width, height)
    for i, panel in enumerate(panels):
        _draw(figure.add_subplot(rows, columns, i + 1), panel, np.asarray(trajectory.time, dtype=float))
    figure.suptitle(without_math(trajectory.robot.name))
    return figure


def save_figure(trajectory: Any, path: str | Path, quantities: Sequence[str] | None = None) -> Path:
    """Write the figure as .png, .svg or .pdf, by the ending; an existing file is replaced whole."""
    target = Path(path)
    kinds = ("png", "svg", "pdf")
    ending = target.suffix.lower().removeprefix(".")
    if ending not in kinds:
        raise unknown_name("format of figures", ending, kinds)
    return write_figure(figure_of(trajectory, quantities), target, dpi=130)


def chosen(panels: list[Panel], quantities: Sequence[str] | None) -> list[Panel]:
    """The panels of these titles."""
    if quantities is None:
        return panels
    titles = [panel.title for panel in panels]
    for quantity in quantities:
        if quantity not in titles:
            raise unknown_name("quantity to plot", quantity, dict.fromkeys(titles))
    return [panel for panel in panels if panel.title in quantities]


def without_math(text: str) -> str:
    """As text of matplotlib, to which a dollar sign means mathematics."""
    return one_line(text).replace("$", r"\$")


def _draw(axis: Any, panel: Panel, time: Array) -> None:
    styles = ("-", "--", ":", "-.")
    for i, (name, values) in enumerate(panel.curves.items()):
        # A dollar sign or a leading underscore in a joint's name means something to matplotlib.
        label = without_math(name).removeprefix("_")
        axis.plot(time, values, linewidth=1.2, linestyle=styles[(i // 10) % 4], color=f"C{i % 10}", label=label)
    axis.set_xlabel("time (s)")
    axis.set_ylabel(without_math(panel.label))
    axis.grid(alpha=0.3)
    axis.margins(x=0.0)
    size = "xx-small" if len(panel.curves) > MOST_NAMED else "x-small"
    # Beside the curves, where it hides none of them.
    columns = 1 + (len(panel.curves) - 1) // 18
    axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=size, ncols=columns)
