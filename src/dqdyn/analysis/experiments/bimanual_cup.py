"""Two hands put a cup on a table: Quiroz, section 6.1.3, in the cooperative dual task space.

The tilt is that of the absolute frame, half-way between the hands; their relative pose is an equality with feedback. QP
knows the grip alone, CQP also tilt, planes, joint limits, and torso against both arms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn import control as ct
from dqdyn import robots
from dqdyn.analysis.experiments.cup_setting import (
    DAMPING,
    PLANE,
    RATE,
    TORSO,
    TRUNK,
    UP,
    beyond_limits,
    cup_and_cone,
    table_and_walls,
    to_planes,
    walls,
)
from dqdyn.analysis.experiments.experiment import Case, Claim, Drawing, Result, draw, figure, joint_figures, norm
from dqdyn.analysis.experiments.running import run
from dqdyn.analysis.experiments.two_hands import BETWEEN, HANDS, relative_error
from dqdyn.geometry.primitives import Plane
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory

NAME, TITLE = "bimanual-cup", "Two hands put a cup on a table"
TILT, HEIGHT, REGION = 0.3, 0.1, 0.08  # rad, m, m
GRIP = 50.0  # 1/s, η of ẋ_rel = −η x̃_rel
START = np.array([0.1, 0.1, 0.2, 0.33, 0.1, *(2 * (-0.45, -0.05, 0.41, -1.2))])  # rad: torso, left arm, right arm


def controller(robot: Robot, constrained: bool) -> ct.Controller:
    """(3.1) on the height of the absolute frame above the table."""
    x = robot.absolute_pose(*HANDS, START)
    table = Plane(UP, distance=float(x.translation[2]) - HEIGHT)
    grip = ct.RelativePoseTask(*HANDS, robot.relative_pose(*HANDS, START), gain=GRIP)
    rate: Any = {"gain": RATE}
    limits = [
        ct.Cone(ct.line(BETWEEN, x.rotation_matrix.T @ UP), UP, TILT, name="tilt", **rate),
        ct.Region(BETWEEN, walls(x.translation, REGION), PLANE, name="region", **rate),
        ct.ConeJointLimits(**rate),
        *(ct.TorsoArm(ct.line(TRUNK), f"{s}_forearm", f"{s}_hand", TORSO, name=s, **rate) for s in ("left", "right")),
    ]
    task = ct.DistanceTask(BETWEEN, table, gain=RATE, name="height above the table")
    return ct.velocity_controller(robot, [task], [grip, *(limits if constrained else [])], damping=DAMPING)


def experiment(plant: str | None = None, duration: float = 12.0, dt: float = 5e-3) -> Result:
    """Both controllers for ``duration`` s."""
    robot = robots.small_bimanual()
    dt = dt if plant is None else 0.2 * dt
    runs = {
        name: run(robot, controller(robot, name == "CQP"), duration, dt, START, plant, every=max(1, round(5e-3 / dt)))
        for name in ("QP", "CQP")
    }
    first = robot.absolute_pose(*HANDS, START)
    axis, planes = first.rotation_matrix.T @ UP, walls(first.translation, REGION)
    table = Plane(UP, distance=first.translation[2] - HEIGHT)
    poses = {name: robot.absolute_pose(*HANDS, r.q) for name, r in runs.items()}
    ups = {name: x.rotation_matrix @ axis for name, x in poses.items()}
    tilts = {name: np.arccos(np.clip(up[:, 2], -1.0, 1.0)) for name, up in ups.items()}
    heights = {name: x.translation[:, 2] - float(table.distance) for name, x in poses.items()}
    grips = {name: relative_error(robot, r.q) for name, r in runs.items()}
    most = {name: float(tilt.max()) for name, tilt in tilts.items()}
    joints = {name: beyond_limits(robot, r.q) for name, r in runs.items()}
    off = {name: float(np.abs(h / h[0] - np.exp(-RATE * runs[name].time)).max()) for name, h in heights.items()}
    wall = float(to_planes(planes, poses["CQP"].translation).min())
    claims = (
        *(
            Claim(
                f"{name}: the relative pose of the hands stays",
                f"‖vec8(x_r − x_r(0))‖ ≤ {grip.max():.1e}",
                bool(grip.max() < 1e-6),
            )
            for name, grip in grips.items()
        ),
        *(
            Claim(
                f"{name}: the cup reaches the table as e^(−{RATE} t)",
                f"{100 * off[name]:.2g} % of the first height off; {1e3 * h[-1]:.2g} mm left of {1e3 * h[0]:.3g}",
                off[name] < 0.03,
            )
            for name, h in heights.items()
        ),
        Claim(
            f"QP violates the tilt of {TILT} rad and joint limits",
            f"{most['QP']:.3f} rad, joints {100 * joints['QP']:.3g} % beyond",
            most["QP"] > TILT and joints["QP"] > 0.0,
        ),
        Claim(
            "CQP respects tilt, joint limits and planes",
            f"{most['CQP']:.4f} rad, joints {-100 * joints['CQP']:.2g} % inside, planes {wall:.4f} m for {PLANE}",
            most["CQP"] <= TILT and joints["CQP"] <= 0.0 and wall >= PLANE,
        ),
    )
    names = [joint.name for joint in robot.joints]
    return Result(
        NAME,
        TITLE,
        "Quiroz, section 6.1.3, figs. 6.8 to 6.10",
        (
            "A torso of five joints and two arms of four carry a cup between the hands down to a table. The cup is the "
            "absolute frame, half-way between the hands; the relative pose of the hands is held by ẋ_r = −η x̃_r.",
            "The paper ran this on a real robot with Python and ROS; here the robot follows the velocities exactly.",
        ),
        claims,
        tuple(Case(name, r, _drawings(r, table, planes, ups[name])) for name, r in runs.items()),
        (
            figure("norm of the joint velocities (fig. 6.10)", "rad/s", {n: (r, norm(r.v)) for n, r in runs.items()}),
            figure("task error (fig. 6.10)", "m", {n: (runs[n], h) for n, h in heights.items()}),
            figure(
                "tilt of the absolute frame (fig. 6.10)",
                "rad",
                {n: (runs[n], x) for n, x in tilts.items()},
                {"limit": TILT},
            ),
            figure("relative pose, ‖vec8(x_r − x_r(0))‖", "10⁻⁹", {n: (runs[n], 1e9 * g) for n, g in grips.items()}),
            *joint_figures("joints (fig. 6.10)", runs, names[:9]),
        ),
    )


def _drawings(found: Trajectory, table: Plane, planes: tuple[Plane, ...], up: np.ndarray) -> tuple[Drawing, ...]:
    robot = found.robot
    x = robot.absolute_pose(*HANDS, found.q)
    hands = [robot.pose(hand, found.q).translation for hand in HANDS]
    return (
        *table_and_walls(table, planes, x.translation[0]),
        *cup_and_cone(x.translation, up, TILT),
        draw("frame", pose=x, size=0.08, name="absolute frame"),
        draw("segment", start=hands[0], end=hands[1], name="grip", radius=0.005, color=(0.35, 0.38, 0.42, 1.0)),
    )
