"""A hand puts a cup on a table by joint velocities each 20 ms: Quiroz, section 6.1.3, the run on the real robot.

The setting is that of section 6.1.1; the run without the constraint on the tilt keeps those against collisions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from time import perf_counter_ns

import numpy as np

from dqdyn import control as ct
from dqdyn.analysis.experiments import cup_setting as cup
from dqdyn.analysis.experiments import dropped_tilt as dropped
from dqdyn.analysis.experiments.cup_setting import START, Setting
from dqdyn.analysis.experiments.experiment import Case, Drawing, Result, Table
from dqdyn.analysis.experiments.figure_kinds import AnyFigure, PlaneFigure
from dqdyn.analysis.experiments.figures import draw
from dqdyn.analysis.experiments.running import engine_steps, follow
from dqdyn.simulate import Trajectory

NAME, TITLE = "single-arm-cup", "One hand puts a cup on a table, with and without the limit on its tilt"
CUP = 0.07  # m, its height
SERVOS = 10  # steps of the servo on the engine per commanded velocity


def controller(setting: Setting, kinds: Collection[str]) -> ct.Controller:
    """(3.1) on the height above the table, with the constraints of the given kinds."""
    return ct.velocity_controller(
        setting.robot, [setting.task()], setting.constraints(kinds=kinds), damping=cup.DAMPING
    )


def experiment(plant: str | None = None, duration: float = 18.0, dt: float = 0.02) -> Result:
    """All runs for ``duration`` s, a velocity commanded each ``dt`` s."""
    setting = Setting.above_the_table(cup.nine_joints(), START)
    laws = {name: controller(setting, kinds) for name, kinds in dropped.KEPT.items()}

    def run(name: str, steps: int) -> Trajectory:
        if plant is None:
            return follow(setting.robot, laws[name], duration, dt, START)
        servo = {"every": SERVOS, "hold": SERVOS, "substeps": steps}
        return follow(setting.robot, laws[name], duration, dt / SERVOS, START, plant, **servo)

    by_step = {steps: {name: run(name, steps) for name in laws} for steps in engine_steps(plant)}
    runs = by_step[1]
    return Result(
        NAME,
        TITLE,
        "Quiroz, section 6.1.3, figs. 6.5 to 6.7",
        (
            "A torso of five joints and an arm of four lower a cup to a table, as in section 6.1.1, by velocities "
            "each 20 ms, the rate of the paper's real robot. Here the robot follows the velocities exactly; on the "
            "engine it follows them by a servo with a lag of 20 ms.",
            dropped.TEXT,
            "The animations show what figs. 6.6 and 6.7 are snapshots of; the red square is the target region.",
        ),
        tuple(dropped.claims(setting, by_step)),
        tuple(Case(name, r, drawings(setting, r)) for name, r in runs.items()),
        tuple(figures(setting, runs)),
        (
            *([dropped.by_engine_steps(setting, by_step)] if plant is not None else []),
            step_times(laws[dropped.CQP], runs[dropped.CQP]),
        ),
    )


def figures(setting: Setting, runs: dropped.Runs) -> Iterator[AnyFigure]:
    """The graphs of [Quiroz, fig. 6.5], the distances that it does not show, and the cup from above."""
    yield from dropped.figures(setting, runs, "fig. 6.5")
    yield seen_from_above(setting, runs)


def seen_from_above(setting: Setting, runs: dropped.Runs) -> PlaneFigure:
    """The target region and the cups at the end, from foot to rim [Quiroz, fig. 6.6]; upright ones are a point."""
    square = np.array([side.arguments["start"][:2] for side in target_square(setting)])
    feet = {name: setting.hand(run)[-1, :2] for name, run in runs.items()}
    cups = {
        f"{name}, from foot to rim": np.array([p, p + CUP * setting.up(runs[name])[-1, :2]]) for name, p in feet.items()
    }
    limits = {"target region": np.vstack([square, square[:1]])}
    return PlaneFigure(
        "cups at the end, from above (fig. 6.6)", paths=cups, points={"feet": np.array([*feet.values()])}, limits=limits
    )


def step_times(law: ct.Controller, run: Trajectory) -> Table:
    """Mean and deviation of a control step over the states of a run, beside what the paper's took."""
    law.reset()
    times = []
    for t, q in zip(run.time, run.q, strict=True):
        begin = perf_counter_ns()
        law(float(t), q)
        times.append(1e-3 * (perf_counter_ns() - begin))
    ours = f"{np.mean(times):.3g} ± {np.std(times):.2g} µs, median {np.median(times):.3g} µs"
    columns = ("control step with fifteen constraints", "here", "in print")
    return Table("Time of a control step", columns, (("all of it", ours, "5200 ± 1000 µs and, to solve, 191 ± 47 µs"),))


def drawings(setting: Setting, run: Trajectory) -> tuple[Drawing, ...]:
    """What is around the robot in [Quiroz, fig. 6.7]: the target region is a red square."""
    return (*setting.drawings(run), *target_square(setting))


def target_square(setting: Setting) -> tuple[Drawing, ...]:
    """The sides of the target region on the table: the four planes meet it there."""
    behind, front, right, left = (float(plane.distance) for plane in setting.planes)
    height = float(setting.table.distance) + 1e-3
    corners = np.array(
        [[x, y, height] for x, y in ((behind, right), (-front, right), (-front, -left), (behind, -left))]
    )
    red = (0.87, 0.23, 0.2, 1.0)
    return tuple(
        draw("segment", start=a, end=b, radius=0.002, color=red, name="target region")
        for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True)
    )
