"""Draws docs/figures/front/: the pictures of the front page, all by the library itself.

Needs matplotlib, MuJoCo and the solvers of ``dqdyn.control``; run ``python tools/front_page_figures.py``, or with the
names of some pictures. No browser takes part. The walk takes a minute, the others some seconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import references as ref
from dqdyn.algebra.scalar import cos, sin
from dqdyn.cli.demo_motion import drive, markers_of
from dqdyn.view import Markers, write_robot_png
from dqdyn.view.markers import BLUE

FIGURES = Path(__file__).parent.parent / "docs" / "figures" / "front"
SIZE = 360, 270
"""Pixels of a picture: the page shows them side by side, three in a row."""
RATE = 10.0
"""Pictures per second of an animation."""
COLORS = ("#1f5fa8", "#c25a12")


def walk() -> None:
    """A humanoid walks three steps in MuJoCo, by whole-body control."""
    from dqdyn.analysis.standing.setting import humanoid
    from dqdyn.analysis.walking.walked import straight_plan, walk, walker_of

    standing = humanoid()
    walked = walk(walker_of(standing, straight_plan(standing, count=3, length=0.25)))
    look = {"size": SIZE, "rate": RATE, "speed": 1.4, "azimuth": 0.7, "elevation": 0.2, "zoom": 1.05}
    walked.trajectory.to_video(FIGURES / "walk.gif", scene=standing.scene, **look)


def above_the_table() -> None:
    """The hand of an arm follows a circle that dips below a table, and stays above it."""
    robot = dq.robots.arm7()
    down = dq.Pose.from_rpy([0.0, np.pi, 0.0], [0.5, 0.0, 0.65])
    q0 = robot.inverse_kinematics("tool", down, np.array([0.0, 0.4, 0.0, 1.6, 0.0, 1.2, 0.0])).q
    x, y, z = down.translation
    circle = lambda t: [x, y + 0.25 * sin(t), z - 0.2 * (1.0 - cos(t))]
    table = dq.Plane([0.0, 0.0, 1.0], distance=z - 0.2)
    goal = ct.TranslationTask("tool", circle, gain=8.0)
    upright = ct.RotationTask("tool", down.rotation, gain=4.0)
    zone = ct.KeepAbove("tool", table, distance=0.01, gain=20.0)
    controller = ct.velocity_controller(robot, [[goal], [upright], [ct.RestTask()]], [zone])
    run = dq.simulate(robot, controller, 2.0 * np.pi, 5e-3, q0=q0, every=4)
    wanted = np.array([circle(float(t)) for t in run.time])
    markers = Markers().plane(table, side=0.7, center=[x + 0.05, y, z], name="table").path(wanted, name="wanted")
    markers.path(robot.pose("tool", run.q).translation, name="way of the hand", radius=0.008, color=BLUE)
    look = {"size": SIZE, "rate": RATE, "speed": 1.6, "azimuth": -0.3, "elevation": 0.35, "zoom": 1.1}
    run.to_video(FIGURES / "above_the_table.gif", markers=markers, **look)


def mobile_manipulator() -> None:
    """A mobile manipulator after its figure eight by computed torque, as ``dqdyn demo`` drives it."""
    robot = dq.robots.nonholonomic_manipulator()
    run = drive(robot)
    run.to_png(FIGURES / "mobile_manipulator.png", at=0.45 * float(run.time[-1]), markers=markers_of(run), size=SIZE)


def two_hands() -> None:
    """Two arms before the body, with the frames of both hands and the absolute one between them."""
    robot = dq.robots.bimanual().lock({"torso_yaw": 0.0, "torso_pitch": 0.0})
    hands = "left_hand", "right_hand"
    q = robot.neutral()
    for side, hand in zip((1.0, -1.0), hands, strict=True):
        wanted = dq.Pose(translation=[0.38, 0.2 * side, 1.0])
        q = robot.inverse_kinematics(hand, wanted, q, position_only=True, posture=q).q
    poses = [*(robot.pose(hand, q) for hand in hands), robot.absolute_pose(*hands, q)]
    markers = Markers()
    for pose in poses:
        markers.frame(pose, size=0.14)
    look = {"size": SIZE, "azimuth": 0.6, "elevation": 0.3, "zoom": 1.25}
    write_robot_png(robot, FIGURES / "two_hands.png", q, markers=markers, **look)


def references() -> None:
    """Velocities of an arm that passes way points as fast as its limits allow, as ``run.plot`` draws them."""
    robot = dq.robots.arm6()
    reach = np.array([0.6, -0.5, 0.9, 0.3, 0.5, -0.4])
    limits = {"velocity": 1.5, "acceleration": 6.0, "jerk": 60.0}
    path = ref.time_optimal(robot, [robot.neutral(), reach, 0.3 * reach[::-1], robot.neutral()], **limits)
    run = dq.simulate(robot, ct.computed_torque(robot, path, gains=(20.0, 100.0)), path.duration, 1e-3)
    figure = run.plot("velocities")
    figure.set_size_inches(4.0, 3.0)
    figure.savefig(FIGURES / "references.png", dpi=100)


def operations() -> None:
    """Multiplications and additions of inverse dynamics: the print, and what is compiled for two robots."""
    import matplotlib.pyplot as plt

    arm = dq.robots.arm7()
    names = {"as printed": "newton-euler-literal", "regrouped": "newton-euler", "rearranged": "recursive"}
    counts = {name: arm.count("inverse_dynamics", simplify=False, method=m) for name, m in names.items()}
    counts["compiled"] = arm.count("inverse_dynamics")
    figure, axes = plt.subplots(figsize=(4.0, 3.0), dpi=100, layout="constrained")
    rows = range(len(counts))
    axes.barh(rows, [c.mul for c in counts.values()], color=COLORS[0], label="multiplications")
    axes.barh(
        rows,
        [c.add for c in counts.values()],
        left=[c.mul for c in counts.values()],
        color=COLORS[1],
        label="additions",
    )
    for row, c in zip(rows, counts.values(), strict=True):
        axes.annotate(f" {c.mul + c.add}", (c.mul + c.add, row), va="center")
    axes.set_yticks(rows, list(counts))
    axes.invert_yaxis()
    axes.set(xlim=(0, 14000), xticks=range(0, 14000, 4000), title="Inverse dynamics of a 7-joint arm")
    axes.legend(frameon=False, loc="lower right")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(FIGURES / "operations.png")


PICTURES = {
    draw.__name__: draw for draw in (walk, above_the_table, mobile_manipulator, two_hands, references, operations)
}


def main() -> None:
    """The pictures that are named, or all."""
    FIGURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        PICTURES[name]()


if __name__ == "__main__":
    main()
