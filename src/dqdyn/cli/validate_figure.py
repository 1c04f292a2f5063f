"""Accelerations of the engine and of the model in time, with matplotlib [Silva, fig. 3]."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dqdyn.analysis.validation.comparison import Validation
from dqdyn.arrays import Array
from dqdyn.view.plots import new_figure, shared_legend, write_figure

METHOD = "dqGP"


def shown_coordinates(cmc: Array) -> list[tuple[str, int]]:
    """The coordinates that the paper shows: with the smallest, the largest and the middle CMC."""
    order = np.argsort(cmc)
    return [("smallest", int(order[0])), ("largest", int(order[-1])), ("middle", int(order[len(order) // 2]))]


def draw_figure(validation: Validation, folder: Path) -> Path:
    """The file that was written, silva_fig_3.png; an existing one is replaced."""
    model = validation.models[METHOD]
    figure = new_figure(8, 7)
    axes = figure.subplots(3, 1, sharex=True)
    for axis, (which, k) in zip(axes, shown_coordinates(model.cmc), strict=True):
        name, unit = validation.names[k]
        measured, modelled = validation.measured[:, k], model.accelerations[:, k]
        axis.plot(validation.time, measured, color="tab:blue", linewidth=2.5, label="MuJoCo")
        axis.plot(validation.time, modelled, color="tab:orange", linestyle="-.", label=f"model ({METHOD})")
        axis.set_ylabel(f"{name} in {unit}")
        axis.set_title(f"{which} CMC: {model.cmc[k]:.6f}", fontsize="medium")
        axis.grid(alpha=0.3)
    axes[-1].set_xlabel("time in s")
    axes[-1].set_xlim(validation.time[0], validation.time[-1])
    shared_legend(figure, f"Accelerations of the {validation.title}")
    return write_figure(figure, folder / "silva_fig_3.png")
