"""Accelerations of the engine and of the model in time, with matplotlib [Silva, fig. 3]."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.analysis.validation.comparison import Validation
from dqdyn.errors import FormatError, missing_extra
from dqdyn.formats.whole_file import write_whole

METHOD = "dqGP"


def require_drawing(folder: Path) -> None:
    """An error before the work rather than after it: no matplotlib, or no such folder."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise missing_extra("matplotlib", "plot", "drawing figures") from None
    if not folder.is_dir():
        raise FormatError(f"the folder {str(folder)!r} does not exist: make it first.", path=str(folder))


def shown_coordinates(cmc: np.ndarray) -> list[tuple[str, int]]:
    """The coordinates that the paper shows: with the smallest, the largest and the middle CMC."""
    order = np.argsort(cmc)
    return [("smallest", int(order[0])), ("largest", int(order[-1])), ("middle", int(order[len(order) // 2]))]


def draw_figure(validation: Validation, folder: Path) -> Path:
    """The file that was written, silva_fig_3.png; an existing one is replaced."""
    from matplotlib.figure import Figure  # without pyplot: no window, no global state

    model = validation.models[METHOD]
    figure = Figure(figsize=(8, 7), layout="constrained")
    axes: Any = figure.subplots(3, 1, sharex=True)
    for axis, (which, k) in zip(axes, shown_coordinates(model.cmc), strict=True):
        name, unit = validation.names[k]
        axis.plot(validation.time, validation.measured[:, k], color="tab:blue", linewidth=2.5, label="MuJoCo")
        axis.plot(
            validation.time, model.accelerations[:, k], color="tab:orange", linestyle="-.", label=f"model ({METHOD})"
        )
        axis.set_ylabel(f"{name} in {unit}")
        axis.set_title(f"{which} CMC: {model.cmc[k]:.6f}", fontsize="medium")
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("time in s")
    axes[-1].set_xlim(validation.time[0], validation.time[-1])
    lines, names = axes[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside lower center", ncols=2)
    figure.suptitle(f"Accelerations of the {validation.title}")
    content = io.BytesIO()
    figure.savefig(content, dpi=120, format="png")
    return write_whole(folder / "silva_fig_3.png", content.getvalue())
