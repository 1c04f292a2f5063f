"""Draws docs/figures/standing.svg: a humanoid that sways, lifts a foot and is pushed in MuJoCo.

Needs matplotlib and MuJoCo; run ``python tools/standing_figure.py``, which takes a minute or two.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # the experiments of the benchmarks

from benchmarks.standing import balance, foot_lift, pushes, setting, sway  # noqa: E402

TARGET = ROOT / "docs" / "figures" / "standing.svg"
COLORS = ("#1f5fa8", "#c25a12", "#4a8a3a")
PUSHED = np.pi / 4.0, 0.8
"""rad from x to y, and the part of what the linear pendulum survives."""


def swaying(axes: Any, standing: setting.Standing) -> None:
    """The center of mass sideways, and its target."""
    done = sway.sway(standing, 8.0).run
    time = done.trajectory.time
    target = [100.0 * float(sway.sideways(standing, float(t))) for t in time]
    axes.plot(time, 100.0 * done.centers[:, 1], color=COLORS[0], label="center of mass")
    axes.plot(time, target, color="black", linewidth=0.8, linestyle="--", label="target")
    axes.set(xlabel="time in s", ylabel="y in cm", title="Sways", ylim=(-4.0, 5.5))
    axes.legend(frameon=False, loc="upper left", ncols=2, fontsize=8)


def lifting(axes: Any, standing: setting.Standing) -> None:
    """The height of the left sole, and what share of the weight the left foot bears."""
    run = foot_lift.foot_lift(standing).run.trajectory
    sole = standing.robot.pose(standing.feet[0], run.q).translation[:, 2]
    share = run.extra[f"normal_force/{standing.links[0]}"] / (setting.G * standing.robot.mass)
    axes.plot(run.time, 100.0 * sole, color=COLORS[0])
    axes.set(xlabel="time in s", title="Lifts a foot", ylim=(-0.5, 12.0))
    axes.set_ylabel("height of the left sole in cm", color=COLORS[0])
    load = axes.twinx()
    load.plot(run.time, 100.0 * share, color=COLORS[1], linewidth=1.0)
    load.set_ylabel("load of the left foot in % of the weight", color=COLORS[1])
    load.set_ylim(-5.0, 120.0)
    load.spines["right"].set_visible(True)


def pushed(axes: Any, standing: setting.Standing) -> None:
    """Seen from above: the soles, the center of mass, its capture point, and the center of pressure."""
    angle, ratio = PUSHED
    one = pushes.push(standing, balance.balance(standing), angle, ratio, after=3.0, every=2)
    run, robot = one.run.trajectory, standing.robot
    center = one.run.centers
    capture = center + np.array([robot.center_of_mass_velocity(q, v) for q, v in zip(run.q, run.v, strict=True)]) / (
        standing.omega
    )
    forces = [run.extra[f"normal_force/{link}"] for link in standing.links]
    places = [np.nan_to_num(run.extra[f"contact_center/{link}"]) for link in standing.links]
    total = sum(forces)
    pressure = sum(f[:, None] * p for f, p in zip(forces, places, strict=True)) / np.maximum(total, 1.0)[:, None]
    during = run.time >= pushes.BEFORE - 0.01
    for sole in standing.soles:
        x, y = np.array([[float(c.x), float(c.y)] for c in sole.corner_positions(robot.model, standing.q0.tolist())]).T
        axes.fill(100.0 * y, 100.0 * x, facecolor="#eeeeee", edgecolor="#888888", linewidth=0.8)
    border = 100.0 * np.vstack([standing.polygon.corners, standing.polygon.corners[:1]])
    axes.plot(border[:, 1], border[:, 0], color="#888888", linewidth=0.8, linestyle=":")
    for path, label, color in (
        (pressure, "center of pressure", COLORS[1]),
        (capture, "capture point", COLORS[2]),
        (center, "center of mass", COLORS[0]),
    ):
        axes.plot(100.0 * path[during, 1], 100.0 * path[during, 0], color=color, linewidth=1.1, label=label)
    axes.set(xlabel="y in cm (left)", ylabel="x in cm (ahead)", title=f"Pushed by {one.force:.0f} N for 0.1 s")
    axes.set_aspect("equal")
    axes.set(xlim=(18.0, -18.0), ylim=(-13.0, 22.0))
    axes.legend(frameon=False, fontsize=8, loc="upper right")
    print(f"push of {one.impulse:.1f} N s, {ratio:g} of the pendulum's: survived {one.survived} {one.why}")


def main() -> int:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "dqdyn", "font.size": 9, "axes.spines.top": False})
    matplotlib.rcParams.update({"axes.spines.right": False, "svg.fonttype": "path"})
    import matplotlib.pyplot as plt

    standing = setting.humanoid()
    figure, axes = plt.subplots(1, 3, figsize=(10.8, 3.4), layout="constrained")
    for draw, one in zip((swaying, lifting, pushed), axes, strict=True):
        draw(one, standing)
        print(f"{draw.__name__}: done", flush=True)
    figure.savefig(TARGET, metadata={"Date": None})
    figure.savefig("/tmp/w/wd/standing.png", dpi=110)
    return 0


if __name__ == "__main__":
    sys.exit(main())
