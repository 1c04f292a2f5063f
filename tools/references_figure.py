"""Draws docs/figures/references.svg: a cubic spline and time-optimal S-curves through the same way points.

Needs matplotlib; run ``python tools/references_figure.py``.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import dqdyn as dq
from dqdyn import references as ref

TARGET = Path(__file__).parent.parent / "docs" / "figures" / "references.svg"
POINTS = np.array(
    [np.zeros(6), [0.6, -0.5, 0.9, 0.3, 0.5, -0.4], [0.2, 0.4, 0.3, -0.5, 0.1, 0.2], np.zeros(6)]
)  # rad, those of docs/references.md
LIMITS = {"velocity": 1.5, "acceleration": 4.0, "jerk": 30.0}
COLORS = ("#1f5fa8", "#c25a12", "#3a7d44")


def main() -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "dqdyn", "font.size": 9, "axes.spines.top": False})
    matplotlib.rcParams.update({"axes.spines.right": False, "svg.fonttype": "path"})
    import matplotlib.pyplot as plt

    robot = dq.robots.arm6()
    paths = {
        "cubic, as fast as allowed": ref.cubic(robot, POINTS, **LIMITS),
        "time_optimal": ref.time_optimal(robot, POINTS, **LIMITS),
    }
    figure, rows = plt.subplots(3, 2, figsize=(8.4, 5.4), sharex=True, sharey="row", layout="constrained")
    for column, (name, path) in enumerate(paths.items()):
        time = np.linspace(0.0, path.end, 1001)
        motion = path.sample(time)
        axes = rows[:, column]
        axes[0].set_title(f"{name}: {path.duration:.2f} s", fontsize=9)
        for values, ax in zip((motion.components, motion.velocity, motion.acceleration), axes, strict=True):
            for k, color in enumerate(COLORS):
                ax.plot(time, values[:, k], color=color, linewidth=1.2, label=f"joint{k + 1}")
        for point in POINTS:
            axes[0].axhline(point[2], color=COLORS[2], linewidth=0.6, linestyle="--")
        for ax, limit in zip(axes[1:], ("velocity", "acceleration"), strict=True):
            for sign in (-1.0, 1.0):
                ax.axhline(sign * LIMITS[limit], color="#555555", linewidth=0.8, linestyle=":")
        axes[2].set_xlabel("time t (s)")
    for ax, label in zip(rows[:, 0], ("q (rad)", "v (rad/s)", "v̇ (rad/s²)"), strict=True):
        ax.set_ylabel(label)
    rows[0, 1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    figure.savefig(TARGET, metadata={"Date": None})


if __name__ == "__main__":
    main()
