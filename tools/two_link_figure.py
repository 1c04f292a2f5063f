"""Draws docs/figures/two_link_torques.svg: the arm of Farias, section 7, by every formulation and by its controller.

Needs matplotlib, and the Robotics Toolbox for Python for its curve; run ``python tools/two_link_figure.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import dqdyn as dq
from dqdyn.analysis.experiments import two_link
from dqdyn.references import ComputedTorque, between

TARGET = Path(__file__).parent.parent / "docs" / "figures" / "two_link_torques.svg"
MARKS = {"matrix form": "-", "recursive algorithm": "o", "closed equation": "s", "Robotics Toolbox, rne": "x"}
MARKED = 24  # samples from one marker to the next
COLORS = ("#1f5fa8", "#c25a12")


def main() -> int:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "dqdyn", "font.size": 9, "axes.spines.top": False})
    matplotlib.rcParams.update({"axes.spines.right": False, "svg.fonttype": "path"})
    import matplotlib.pyplot as plt

    time = two_link.motion()[0]
    figure, (torques, errors) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
    found, missing = two_link.torques_along_motion()
    curves = {name: (found[name], mark) for name, mark in MARKS.items() if name in found}
    if "roboticstoolbox-python" in missing:
        print("the Robotics Toolbox is not installed: its curve is left out.", file=sys.stderr)
    for n, (name, (tau, mark)) in enumerate(curves.items()):
        style: dict[str, Any] = {"linestyle": "-", "linewidth": 1.2}
        if mark != "-":  # markers side by side, since the curves lie on each other
            style = {"linestyle": "", "marker": mark, "markevery": (8 * n - 8, MARKED), "fillstyle": "none"}
        for joint in range(2):
            torques.plot(time, tau[:, joint], color=COLORS[joint], **style)
        torques.plot([], [], color="black", label=name, **{k: x for k, x in style.items() if k != "markevery"})
    for joint, place in ((0, (1.1, 16.5)), (1, (1.1, 5.4))):
        torques.text(*place, f"joint {joint + 1}", color=COLORS[joint])
    torques.set(xlabel="time in s", ylabel="torque in N m", title="Torques along a swing", ylim=(0.0, 26.0))
    torques.legend(fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(0.0, 0.52))
    reference = between(dq.robots.two_link(), two_link.HOME, two_link.END, two_link.DURATION)
    follow = ComputedTorque(dq.robots.two_link(), reference, kp=two_link.KP, kd=two_link.KD)
    run = dq.simulate(follow.robot, follow, 2.0 * two_link.DURATION, 1e-3, q0=two_link.OFF)
    for joint in range(2):
        size = np.abs(two_link.errors(run)[:, joint])
        errors.semilogy(run.time, size, color=COLORS[joint], label=f"joint {joint + 1}")
    errors.set(xlabel="time in s", ylabel="|error| in rad", title="Computed torque", ylim=(1e-8, 1.0))
    errors.legend(frameon=False)
    TARGET.parent.mkdir(exist_ok=True)
    figure.savefig(TARGET, metadata={"Date": None})
    largest = max(float(np.abs(tau - curves["matrix form"][0]).max()) for tau, _ in curves.values())
    print(f"{TARGET.name}: {len(curves)} curves per joint, at most {largest:.1e} N m apart")
    return 0


if __name__ == "__main__":
    sys.exit(main())
