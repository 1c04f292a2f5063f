"""Draws docs/figures/standing.svg and standing.png: a humanoid that sways, lifts a foot and is pushed in MuJoCo.

Needs matplotlib and MuJoCo, and for the second Playwright with Chromium; run ``python tools/standing_figure.py``, which
takes a minute or two.
"""

from __future__ import annotations

import io
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path[:0] = [
    str(ROOT),
    str(ROOT / "tests"),
]  # the experiments of the benchmarks, and how to start a browser

from benchmarks.standing import foot_lift, sway  # noqa: E402

from dqdyn import Trajectory  # noqa: E402
from dqdyn.analysis.standing import balance, pushes, setting  # noqa: E402

FIGURES = ROOT / "docs" / "figures"
COLORS = ("#1f5fa8", "#c25a12", "#4a8a3a")
DIRECTION, RATIO = np.pi / 4.0, 0.8
"""Of the push: rad from x to y, and the part of what the linear pendulum survives."""
STILLS = 1.5, 7.0, 0.62
"""s at which the three runs are shown: swayed to the right, the foot held up, bent by the push."""
SIZE = 400, 430
"""Pixels of a still: without the buttons of the page."""


def swaying(axes: Any, standing: setting.Standing) -> Trajectory:
    """The center of mass sideways, and its target."""
    done = sway.sway(standing, 8.0).run
    time = done.trajectory.time
    target = [100.0 * float(sway.sideways(standing, float(t))) for t in time]
    axes.plot(time, 100.0 * done.centers[:, 1], color=COLORS[0], label="center of mass")
    axes.plot(time, target, color="black", linewidth=0.8, linestyle="--", label="target")
    axes.set(xlabel="time in s", ylabel="y in cm", title="Sways", ylim=(-4.0, 5.5))
    axes.legend(frameon=False, loc="upper left", ncols=2, fontsize=8)
    return done.trajectory


def lifting(axes: Any, standing: setting.Standing) -> Trajectory:
    """The height of the left sole, and what share of the weight the left foot bears."""
    run = foot_lift.foot_lift(standing).run.trajectory
    sole = standing.robot.pose(standing.feet[0], run.q).translation[:, 2]
    share = run.extra[f"normal_force/{standing.links[0]}"] / (setting.G * standing.robot.mass)
    axes.plot(run.time, 100.0 * sole, color=COLORS[0])
    axes.set(xlabel="time in s", title="Lifts a foot", ylim=(-0.5, 12.0))
    axes.set_ylabel("height of the left sole in cm", color=COLORS[0])
    load = axes.twinx()
    load.plot(run.time, 100.0 * share, color=COLORS[1], linewidth=1.0)
    load.set_ylabel("load of the left foot in %", color=COLORS[1])
    load.set_ylim(-5.0, 120.0)
    load.spines["right"].set_visible(True)
    return run


def pushed(axes: Any, standing: setting.Standing) -> Trajectory:
    """Seen from above: the soles, the center of mass, its capture point, and the center of pressure."""
    one = pushes.push(standing, balance.balance(standing), DIRECTION, RATIO, after=3.0, every=2)
    run, robot = one.run.trajectory, standing.robot
    velocity = np.array([robot.center_of_mass_velocity(q, v) for q, v in zip(run.q, run.v, strict=True)])
    center, capture = one.run.centers, one.run.centers + velocity / standing.omega
    forces = np.array([run.extra[f"normal_force/{link}"] for link in standing.links])
    places = np.array([np.nan_to_num(run.extra[f"contact_center/{link}"]) for link in standing.links])
    pressure = (forces[..., None] * places).sum(axis=0) / np.maximum(forces.sum(axis=0), 1.0)[:, None]
    during = run.time >= pushes.BEFORE - 0.01
    for sole in standing.soles:
        corners = [[float(c.x), float(c.y)] for c in sole.corner_positions(robot.model, standing.q0.tolist())]
        x, y = 100.0 * np.array(corners).T
        axes.fill(y, x, facecolor="#eeeeee", edgecolor="#888888", linewidth=0.8)
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
    print(f"push of {one.impulse:.1f} N s, {RATIO:g} of the pendulum's: survived {one.survived} {one.why}")
    return run


def stills(runs: list[Trajectory], standing: setting.Standing) -> None:
    """The three runs side by side, as the pages of their animations show them."""
    from browser import FLAGS, executable
    from matplotlib.image import imread, imsave
    from playwright.sync_api import sync_playwright

    pictures = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as running:
        browser = running.chromium.launch(executable_path=executable(), args=FLAGS)
        page = browser.new_page(viewport={"width": 900, "height": 900})
        for k, (run, at) in enumerate(zip(runs, STILLS, strict=True)):
            path = run.to_html(Path(folder) / f"{k}.html", scene=standing.scene)
            page.goto(path.as_uri())
            page.wait_for_function("() => window.dqdyn !== undefined")
            page.evaluate(
                "at => { const d = window.dqdyn; d.pause(); d.camera.azimuth = 0.75; d.camera.elevation = 0.22;"
                " d.camera.distance = 3.6; d.camera.target = [0, 0, 0.75]; d.seek(at); }",
                at,
            )
            button = page.get_by_role("button", name="contact forces")
            if button.get_attribute("aria-pressed") == "false":
                button.click()
            page.wait_for_timeout(1500.0)
            data = page.screenshot(clip=page.locator("canvas").first.bounding_box())
            picture = imread(io.BytesIO(data), format="png")[..., :3]
            top, side = ((have - want) // 2 for have, want in zip(picture.shape, SIZE[::-1], strict=False))
            pictures.append(picture[max(top, 0) : max(top, 0) + SIZE[1], max(side, 0) : max(side, 0) + SIZE[0]])
        browser.close()
    least = min(picture.shape[0] for picture in pictures)
    imsave(FIGURES / "standing.png", np.hstack([picture[:least] for picture in pictures]))


def main() -> int:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams.update({"svg.hashsalt": "dqdyn", "font.size": 9, "axes.spines.top": False})
    matplotlib.rcParams.update({"axes.spines.right": False, "svg.fonttype": "path"})
    import matplotlib.pyplot as plt

    standing = setting.humanoid()
    figure, axes = plt.subplots(1, 3, figsize=(10.8, 3.4), layout="constrained")
    runs = [draw(one, standing) for draw, one in zip((swaying, lifting, pushed), axes, strict=True)]
    figure.savefig(FIGURES / "standing.svg", metadata={"Date": None})
    stills(runs, standing)
    return 0


if __name__ == "__main__":
    sys.exit(main())
