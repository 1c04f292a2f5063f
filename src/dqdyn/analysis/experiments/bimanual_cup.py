"""Two hands put a cup on a table: Quiroz, section 6.1.3, in the cooperative dual task space.

The tilt is that of the absolute frame, half-way between the hands; their relative pose is an equality with feedback.
The run without the constraint on the tilt keeps the grip and the constraints against collisions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np

from dqdyn import control as ct
from dqdyn import robots
from dqdyn.analysis.experiments import cup_setting as cup
from dqdyn.analysis.experiments import dropped_tilt as dropped
from dqdyn.analysis.experiments.experiment import Case, Claim, Drawing, Result
from dqdyn.analysis.experiments.figure_kinds import AnyFigure
from dqdyn.analysis.experiments.figures import draw, figure
from dqdyn.analysis.experiments.running import engine_steps, follow, of_steps
from dqdyn.simulate import Trajectory

NAME, TITLE = "bimanual-cup", "Two hands put a cup on a table"
TILT, HEIGHT = 0.3, 0.1  # rad, m
GRIP = 50.0  # 1/s, η of ẋ_rel = −η x̃_rel
START = np.array([0.1, 0.1, 0.2, 0.33, 0.1, *(2 * (-0.45, -0.05, 0.41, -1.2))])  # rad: torso, left arm, right arm


def setting_of_both_hands() -> cup.Setting:
    """The cup half-way between the hands, above the table."""
    return cup.Setting.above_the_table(robots.small_bimanual(), START, cup.BETWEEN, HEIGHT, TILT, sides=(0, 1))


def controller(setting: cup.Setting, kinds: Collection[str]) -> ct.Controller:
    """(3.1) on the height of the absolute frame above the table, with the grip and constraints of the given kinds."""
    grip = ct.RelativePoseTask(*cup.HANDS, setting.robot.relative_pose(*cup.HANDS, START), gain=GRIP)
    constraints = [grip, *setting.constraints("auto", kinds)]
    return ct.velocity_controller(setting.robot, [setting.task(None)], constraints, damping=cup.DAMPING)


def experiment(plant: str | None = None, duration: float = 12.0, dt: float = 5e-3) -> Result:
    """All runs for ``duration`` s, a velocity commanded each ``dt`` s; on the engine five times as often."""
    setting = setting_of_both_hands()
    dt = dt if plant is None else 0.2 * dt
    laws, every = {name: controller(setting, kinds) for name, kinds in dropped.KEPT.items()}, max(1, round(5e-3 / dt))
    by_step = {
        steps: {
            name: follow(setting.robot, law, duration, dt, START, plant, every=every, substeps=steps)
            for name, law in laws.items()
        }
        for steps in engine_steps(plant)
    }
    runs = by_step[1]
    return Result(
        NAME,
        TITLE,
        "Quiroz, section 6.1.3, figs. 6.8 to 6.10",
        (
            "A torso of five joints and two arms of four carry a cup between the hands down to a table. The cup is the "
            "absolute frame, half-way between the hands; the relative pose of the hands is held by ẋ_r = −η x̃_r.",
            dropped.TEXT,
            "The paper ran this on a real robot with Python and ROS; here the robot follows the velocities exactly, on "
            "the engine by a servo with a lag of 20 ms. The animations show what fig. 6.9 is a snapshot of.",
        ),
        (*grips(by_step), *dropped.claims(setting, by_step)),
        tuple(Case(name, run, drawings(setting, run)) for name, run in runs.items()),
        tuple(figures(setting, runs)),
        (dropped.by_engine_steps(setting, by_step),) if plant is not None else (),
    )


def grips(by_step: dropped.ByStep) -> Iterator[Claim]:
    """The relative pose of the hands stays, in every run; less exactly where a torque is held while the arms move."""
    for steps, runs in by_step.items():
        allowed = 1e-6 if steps == 1 else 1e-5
        for name, run in runs.items():
            most = float(cup.relative_error(run.robot, run.q).max())
            text = f"{name}: the relative pose of the hands stays to {allowed:g}{of_steps(steps, by_step)}"
            yield Claim(text, f"‖vec8(x_r − x_r(0))‖ ≤ {most:.1e}", most < allowed)


def figures(setting: cup.Setting, runs: dropped.Runs) -> Iterator[AnyFigure]:
    """The graphs of [Quiroz, fig. 6.10], and the relative pose of the hands."""
    yield from dropped.figures(setting, runs, "fig. 6.10")
    off = {name: (run, 1e9 * cup.relative_error(run.robot, run.q)) for name, run in runs.items()}
    yield figure("relative pose, ‖vec8(x_r − x_r(0))‖", "10⁻⁹", off)


def drawings(setting: cup.Setting, run: Trajectory) -> tuple[Drawing, ...]:
    """The frame between the hands and the grip as in [Quiroz, fig. 6.8], and what is around them [Quiroz, fig. 6.9]."""
    hands = [run.robot.pose(hand, run.q).translation for hand in cup.HANDS]
    return (
        *setting.cup_and_table(run),
        draw("frame", pose=setting.pose(run), size=0.08, name="absolute frame"),
        draw("segment", start=hands[0], end=hands[1], name="grip", radius=0.005, color=(0.35, 0.38, 0.42, 1.0)),
    )
