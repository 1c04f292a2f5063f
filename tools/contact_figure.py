"""Draws docs/figures/contact_dynamics.svg, a rocking block and a sliding tripod: ``python tools/contact_figure.py``.

Needs matplotlib, and MuJoCo for its curve.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import dqdyn as dq
from dqdyn import contacts, scenes

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "figures" / "contact_dynamics.svg"
sys.path.insert(0, str(ROOT / "tests" / "simulate"))  # the bodies and the reference of the tests
COLORS = ("#1f5fa8", "#c25a12")
STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4)


def rocking(axes: Any) -> None:
    """Energy of a rocking block, and Housner's ratio from impact to impact."""
    from touching_bodies import block

    width, height, tilt = 0.1, 0.4, 0.12
    robot = block((width, 0.3, height), 3.0)
    edges = [
        contacts.edge("block", [[x, -0.15, -height / 2], [x, 0.15, -height / 2]], friction=2.0, name=name)
        for x, name in ((-width / 2, "left"), (width / 2, "right"))
    ]
    q0 = robot.neutral()
    q0[0], q0[2] = np.cos(tilt / 2), -np.sin(tilt / 2)
    q0[4:] = -robot.pose("block", q0).rotation_matrix @ [-width / 2, 0.0, -height / 2]
    run = dq.simulate(robot, None, 2.5, 2.5e-4, q0=q0, contacts=edges, ground=0.0)
    energy = run.energy - 3.0 * 9.81 * height / 2
    ratio = (1.0 - 1.5 * np.sin(np.arctan2(width, height)) ** 2) ** 2
    axes.plot(run.time, 1e3 * energy, color=COLORS[0], label="time stepping, h = 0.25 ms")
    for n in range(8):
        axes.axhline(
            1e3 * energy[0] * ratio**n, color="black", linewidth=0.6, linestyle="--", label="" if n else "Housner"
        )
    axes.set(xlabel="time in s", ylabel="energy above rest in mJ", ylim=(0.0, None))
    axes.legend(frameon=False)


def sliding(axes: Any) -> None:
    """Errors of a tripod that slides and spins."""
    from test_unilateral_motion import reference_slide
    from touching_bodies import feet, raised, tripod

    robot, scene, v0 = tripod(), dq.Scene([scenes.ground(friction=0.3)]), [0.0, 0.0, 4.0, 1.5, 0.0, 0.0]
    x, y, angle = reference_slide(0.4, 0.3, np.array([1.5, 0.0, 4.0]), 4000)[:3]
    engine = {"plant": "mujoco", "solref": (0.008, 1.0)}
    for label, mark, color, options in (
        ("time stepping", "o", COLORS[0], {"contacts": feet()}),
        ("MuJoCo, solref (0.008, 1)", "s", COLORS[1], engine),
    ):
        errors = []
        for h in STEPS:
            run = dq.simulate(robot, None, 0.4, h, q0=raised(robot, 0.07), v0=v0, scene=scene, every=10**6, **options)
            q = run.q[-1]
            errors.append([np.hypot(q[4] - x, q[5] - y), abs(2.0 * np.arctan2(q[3], q[0]) - angle)])
        place, turn = np.array(errors).T
        axes.loglog(STEPS, place, color=color, marker=mark, label=f"{label}: place in m")
        axes.loglog(STEPS, turn, color=color, marker=mark, fillstyle="none", linestyle=":", label="angle in rad")
    axes.set(
        xlabel="step h in ms", ylabel="error after 0.4 s", xticks=STEPS, xticklabels=[f"{1e3 * h:g}" for h in STEPS]
    )
    axes.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
    axes.legend(frameon=False, fontsize=7)


def main() -> int:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "dqdyn", "font.size": 9, "axes.spines.top": False})
    matplotlib.rcParams.update({"axes.spines.right": False, "svg.fonttype": "path"})
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 3.2), layout="constrained")
    rocking(left)
    sliding(right)
    figure.savefig(TARGET, metadata={"Date": None})
    return 0


if __name__ == "__main__":
    sys.exit(main())
