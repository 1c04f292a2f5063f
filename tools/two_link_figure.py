"""Draws docs/figures/two_link_torques.svg: the arm of Farias, section 7, by every formulation and by its controller.

Needs matplotlib, and the Robotics Toolbox for Python for its curve; run ``python tools/two_link_figure.py``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import dqdyn as dq
from dqdyn.simulate.computed_torque import computed_torque
from dqdyn.simulate.reference import between

GOAL, DURATION = [1.2, -0.9], 2.0
TARGET = Path(__file__).parent.parent / "docs" / "figures" / "two_link_torques.svg"
METHODS = (("matrix", "matrix", "-"), ("recursive", "screw", "o"), ("closed form", "closed-form", "s"))
MARKED = 24  # samples from one marker to the next
COLORS = ("#1f5fa8", "#c25a12")


def toolbox_torques(q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray | None:
    """The same arm in the Robotics Toolbox, whose plane is x-y; None where it is not installed."""
    try:
        import roboticstoolbox as toolbox
    except ImportError:
        return None
    tensor = np.diag([2e-4, 1.0 / 12.0, 1.0 / 12.0])
    links = [toolbox.RevoluteDH(a=1.0, m=1.0, r=[-0.5, 0.0, 0.0], I=tensor, Jm=0.0, G=1.0, B=0.0) for _ in range(2)]
    return np.array(toolbox.DHRobot(links).rne(q, v, a, gravity=[0.0, -9.81, 0.0]))


def main() -> int:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "dqdyn", "font.size": 9, "axes.spines.top": False})
    matplotlib.rcParams.update({"axes.spines.right": False, "svg.fonttype": "path"})
    import matplotlib.pyplot as plt

    robot = dq.robots.two_link()
    reference = between([0.0, 0.0], GOAL, DURATION)
    time = np.linspace(0.0, DURATION, 201)
    q, v, a = (np.array([[float(x) for x in reference(t)[k]] for t in time]) for k in range(3))
    figure, (torques, errors) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
    curves = {name: (robot.inverse_dynamics(q, v, a, method=method), mark) for name, method, mark in METHODS}
    if (theirs := toolbox_torques(q, v, a)) is not None:
        curves["Robotics Toolbox"] = (theirs, "x")
    else:
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
    follow = computed_torque(robot, reference, kp=100.0, kd=20.0)
    run = dq.simulate(robot, follow, 2.0 * DURATION, 1e-3, q0=[0.3, -0.2])
    for joint in range(2):
        size = np.abs(run.extra["error"][:, joint])
        errors.semilogy(run.time, size, color=COLORS[joint], label=f"joint {joint + 1}")
    errors.set(xlabel="time in s", ylabel="|error| in rad", title="Computed torque", ylim=(1e-8, 1.0))
    errors.legend(frameon=False)
    TARGET.parent.mkdir(exist_ok=True)
    figure.savefig(TARGET, metadata={"Date": None})
    largest = max(float(np.abs(tau - curves["matrix"][0]).max()) for tau, _ in curves.values())
    print(f"{TARGET.name}: {len(curves)} curves per joint, at most {largest:.1e} N m apart")
    return 0


if __name__ == "__main__":
    sys.exit(main())
