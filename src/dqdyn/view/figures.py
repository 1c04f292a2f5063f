"""matplotlib figures written to files, without pyplot: no window, no global state."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from dqdyn.errors import FormatError, missing_extra
from dqdyn.formats.whole_file import write_whole


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
