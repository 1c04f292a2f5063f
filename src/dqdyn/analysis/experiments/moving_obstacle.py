"""An arm keeps its hand away from an obstacle that moves: Quiroz, section 4.1.

Three cases: without the inequality, with it but taking the obstacle to be at rest at every instant, and with its motion
known. The obstacle's path and the safe distance are the paper's; the arm, its start and its goal are ours, because
the paper does not give them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from dqdyn import control as ct
from dqdyn import robots
from dqdyn.algebra.scalar import Scalar, sin
from dqdyn.algebra.values import Pose
from dqdyn.analysis.experiments.experiment import Case, Claim, Drawing, Result
from dqdyn.analysis.experiments.figures import curves, draw, figure, norm
from dqdyn.analysis.experiments.running import engine_steps, follow, of_steps
from dqdyn.arrays import Array
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory

NAME, TITLE = "moving-obstacle", "An arm evades a moving obstacle"
SAFE = 0.22  # m, between the hand and the obstacle
GAINS = (4.0, 3.0)  # of the task and of the inequality: poles −1 and −3
START, GOAL = (0.1, -0.4, 0.8), (0.1, -0.1, 0.8)  # m, of the hand
CASES = {"I": "no inequality", "II": "obstacle taken to be at rest", "III": "motion of the obstacle known"}


def obstacle(t: Scalar) -> list[Scalar]:
    """p_s(t) = p_s(0) − (b sin(wt) i + a t j) in m with p_s(0) = 0.23 i + 0.24 j + 0.8 k, a = 0.1, b = 0.2, w = 0.6."""
    return [0.23 - 0.2 * sin(0.6 * t), 0.24 - 0.1 * t, 0.8 + 0.0 * t]


def arm() -> Robot:
    """A six-axis arm that stands beside the path."""
    return robots.arm6(base="planar").lock({"root_joint": [-0.55, 0.0, 0.0]})


def controller(robot: Robot, case: str) -> ct.Controller:
    """Torques by (3.6) and (3.7): the position of the hand first, then joints at rest."""
    tasks: list[list[ct.Task]] = [[ct.TranslationTask("tool", GOAL, gains=GAINS)], [ct.RestTask(gain=2.0)]]
    seen = ct.Moving(obstacle, known=case == "III")
    zone = ct.KeepOut("tool", seen, SAFE, gains=GAINS, name="obstacle")
    return ct.torque_controller(robot, tasks, [] if case == "I" else [zone])


def experiment(plant: str | None = None, duration: float = 10.0, dt: float = 1e-3) -> Result:
    """All three cases for ``duration`` s."""
    robot = arm()
    down = Pose(rotation=[np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0], translation=START)
    q0 = robot.inverse_kinematics("tool", down, np.array([0.0, 0.2, 0.3, 0.0, 1.0, 0.0])).q
    laws = {case: controller(robot, case) for case in CASES}
    by_step = {
        steps: {case: follow(robot, law, duration, dt, q0, plant, substeps=steps) for case, law in laws.items()}
        for steps in engine_steps(plant)
    }
    runs = by_step[1]
    named = {f"case {case}": run for case, run in runs.items()}
    return Result(
        NAME,
        TITLE,
        "Quiroz, section 4.1, figs. 4.2 and 4.3",
        (
            "A six-axis arm brings its hand to a point by joint torques while an obstacle crosses the way. Control law "
            "(3.6) with one inequality of second order on the squared distance of hand and obstacle (4.20) to (4.23).",
            "The blue ball around the hand is the safe zone, red while the obstacle is inside; the orange ball is the "
            "obstacle.",
        ),
        tuple(claim for steps in by_step for claim in claims(by_step[steps], of_steps(steps, by_step))),
        tuple(Case(f"case {case}: {CASES[case]}", runs[case], drawings(runs[case])) for case in CASES),
        (
            figure("distance of hand and obstacle (fig. 4.2)", "m", curves(named, gap), {"safe distance": SAFE}),
            figure("distance from the goal", "m", curves(named, error)),
            figure("norm of the torques", "N m", curves(named, lambda run: norm(run.tau))),
        ),
    )


def claims(runs: Mapping[str, Trajectory], words: str = "") -> Iterator[Claim]:
    """Who enters the safe zone, and that all go on; ``words`` say of which runs it is."""
    for case, run in runs.items():
        least, enters = float(gap(run).min()), "never enters" if case == "III" else "enters"
        yield Claim(
            f"case {case} ({CASES[case]}) {enters} the safe zone of {SAFE} m{words}",
            f"{least:.4f} m at the nearest",
            (least >= SAFE) == (case == "III"),
        )
    errors = {case: error(run) for case, run in runs.items()}
    yield Claim(
        f"every case goes on with its task once the obstacle has passed{words}",
        ", ".join(f"{case}: {1e3 * e[-1]:.2g} mm" for case, e in errors.items()) + " from the goal at the end",
        all(e[-1] < 0.15 * e[0] for e in errors.values()),
    )


def hand(run: Trajectory) -> Array:
    """Positions of the hand (n, 3) in m."""
    return np.asarray(run.robot.pose("tool", run.q).translation)


def path(run: Trajectory) -> Array:
    """Positions of the obstacle (n, 3) in m."""
    return np.stack(np.broadcast_arrays(*obstacle(run.time)), axis=-1)


def gap(run: Trajectory) -> Array:
    """Distance (n,) of hand and obstacle in m [Quiroz, fig. 4.2]."""
    return norm(hand(run) - path(run))


def error(run: Trajectory) -> Array:
    """Distance (n,) of the hand from its goal in m."""
    return norm(hand(run) - GOAL)


def drawings(run: Trajectory) -> tuple[Drawing, ...]:
    """The obstacle and its path, the safe zone and the way of the hand, the goal [Quiroz, fig. 4.3]."""
    return (
        draw("sphere", center=path(run), radius=0.05, name="obstacle", color=(0.96, 0.55, 0.1, 1.0)),
        draw("path", points=path(run), name="path of the obstacle", color=(0.96, 0.55, 0.1, 1.0)),
        draw("sphere", center=hand(run), radius=SAFE, name="safe zone", violated=gap(run) < SAFE),
        draw("path", points=hand(run), name="way of the hand"),
        draw("target", position=GOAL, name="goal"),
    )
