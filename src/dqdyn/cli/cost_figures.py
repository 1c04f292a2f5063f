"""Figures 4 and 5 of Farias: costs over the number of joints, with matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dqdyn.analysis.costs.farias import Cost
from dqdyn.analysis.costs.homogeneous_reference import forward_kinematics_costs, newton_euler_costs
from dqdyn.view.plots import new_figure, require_drawing, shared_legend, write_figure

JOINTS = range(1, 43)
PANELS = (("storage", "storage (floats)"), ("mul", "multiplications"), ("add", "additions"))
STYLES = {
    "matrices, D-H": ("tab:blue", ":"),
    "matrices, screws": ("tab:blue", "-"),
    "dual quaternions, D-H": ("tab:red", ":"),
    "dual quaternions, screws": ("tab:red", "-"),
    "matrices": ("tab:blue", "-"),
    "dual quaternions, printed": ("tab:red", ":"),
    "dual quaternions": ("tab:red", "-"),
}


def draw_figures(folder: Path) -> list[Path]:
    """The two files that were written; existing ones are replaced."""
    require_drawing(folder)
    return [
        _draw(folder / "farias_fig_4.png", "Forward kinematics: products of poses", forward_kinematics_costs),
        _draw(folder / "farias_fig_5.png", "Inverse dynamics by Newton-Euler recursion", newton_euler_costs),
    ]


def curves(costs: Callable[[int], dict[str, Cost]]) -> dict[str, list[Cost]]:
    """The costs by name, one for each number of joints."""
    by_size = [costs(n) for n in JOINTS]
    return {name: [at[name] for at in by_size] for name in by_size[0]}


def _draw(path: Path, title: str, costs: Callable[[int], dict[str, Cost]]) -> Path:
    figure = new_figure(11, 4)
    for axis, (kind, label) in zip(figure.subplots(1, 3), PANELS, strict=True):
        for name, values in curves(costs).items():
            color, line = STYLES[name]
            axis.plot(JOINTS, [getattr(cost, kind) for cost in values], color=color, linestyle=line, label=name)
        axis.set_xlabel("number of joints n")
        axis.set_ylabel(label)
        axis.set_xlim(1, JOINTS[-1])
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    shared_legend(figure, title)
    return write_figure(figure, path)
