"""Two hands put a cup on a table: Quiroz, section 6.1.3, in the cooperative dual task space.

The tilt is that of the absolute frame, half-way between the hands; their relative pose is an equality with feedback. QP
knows the grip alone, CQP also tilt, planes, joint limits, and torso against both arms.
"""

from __future__ import annotations

import numpy as np

from dqdyn import control as ct
from dqdyn import robots
from dqdyn.analysis.experiments import cup_setting as cup
from dqdyn.analysis.experiments.experiment import Case, Claim, Drawing, Result
from dqdyn.analysis.experiments.figures import curves, draw, figure, joint_figures, norm
from dqdyn.analysis.experiments.running import follow
from dqdyn.simulate import Trajectory

NAME, TITLE = "bimanual-cup", "Two hands put a cup on a table"
TILT, HEIGHT, REGION = 0.3, 0.1, 0.08  # rad, m, m
GRIP = 50.0  # 1/s, η of ẋ_rel = −η x̃_rel
START = np.array([0.1, 0.1, 0.2, 0.33, 0.1, *(2 * (-0.45, -0.05, 0.41, -1.2))])  # rad: torso, left arm, right arm


def controller(setting: cup.Setting, constrained: bool) -> ct.Controller:
    """(3.1) on the height of the absolute frame above the table."""
    grip = ct.RelativePoseTask(*cup.HANDS, setting.robot.relative_pose(*cup.HANDS, START), gain=GRIP)
    limits = setting.constraints(TILT, "auto", sides=(0, 1)) if constrained else []
    return ct.velocity_controller(setting.robot, [setting.task(None)], [grip, *limits], damping=cup.DAMPING)


def experiment(plant: str | None = None, duration: float = 12.0, dt: float = 5e-3) -> Result:
    """Both controllers for ``duration`` s."""
    robot = robots.small_bimanual()
    setting = cup.Setting.above_the_table(robot, START, cup.BETWEEN, HEIGHT, REGION)
    dt = dt if plant is None else 0.2 * dt
    laws, every = {name: controller(setting, name == "CQP") for name in ("QP", "CQP")}, max(1, round(5e-3 / dt))
    runs = {name: follow(robot, law, duration, dt, START, plant, every=every) for name, law in laws.items()}
    heights = {name: setting.height(run) for name, run in runs.items()}
    grips = {name: cup.relative_error(robot, run.q) for name, run in runs.items()}
    most = {name: float(setting.tilt(run).max()) for name, run in runs.items()}
    joints = {name: cup.beyond_limits(robot, run.q) for name, run in runs.items()}
    falls = {name: np.exp(-cup.RATE * run.time) for name, run in runs.items()}
    wall = float(cup.to_planes(setting.planes, setting.hand(runs["CQP"])).min())
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
            cup.decays(f"{name}: the cup reaches the table as e^(−{cup.RATE} t)", h, falls[name], "height off")
            for name, h in heights.items()
        ),
        Claim(
            f"QP violates the tilt of {TILT} rad and joint limits",
            f"{most['QP']:.3f} rad, joints {100 * joints['QP']:.3g} % beyond",
            most["QP"] > TILT and joints["QP"] > 0.0,
        ),
        Claim(
            "CQP respects tilt, joint limits and planes",
            f"{most['CQP']:.4f} rad, joints {-100 * joints['CQP']:.2g} % inside, planes {wall:.4f} m for {cup.PLANE}",
            most["CQP"] <= TILT and joints["CQP"] <= 0.0 and wall >= cup.PLANE,
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
        tuple(Case(name, run, _drawings(setting, run)) for name, run in runs.items()),
        (
            figure("norm of the joint velocities (fig. 6.10)", "rad/s", curves(runs, lambda r: norm(r.v))),
            figure("task error (fig. 6.10)", "m", curves(runs, setting.height)),
            figure("tilt of the absolute frame (fig. 6.10)", "rad", curves(runs, setting.tilt), {"limit": TILT}),
            figure("relative pose, ‖vec8(x_r − x_r(0))‖", "10⁻⁹", {n: (runs[n], 1e9 * g) for n, g in grips.items()}),
            *joint_figures("joints (fig. 6.10)", runs, names[:9]),
        ),
    )


def _drawings(setting: cup.Setting, run: Trajectory) -> tuple[Drawing, ...]:
    hands = [run.robot.pose(hand, run.q).translation for hand in cup.HANDS]
    return (
        *setting.cup_and_table(run, TILT),
        draw("frame", pose=setting.pose(run), size=0.08, name="absolute frame"),
        draw("segment", start=hands[0], end=hands[1], name="grip", radius=0.005, color=(0.35, 0.38, 0.42, 1.0)),
    )
