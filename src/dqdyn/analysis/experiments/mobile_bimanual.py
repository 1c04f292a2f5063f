"""Two hands on a differential drive carry a ball to a zone and release it there: Quiroz, section 6.1.3, fig. 6.11.

The frame half-way between the hands goes to the zone while the relative pose holds the ball; then the robot stops,
forgets all constraints but its wheels, and opens its hands.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from dqdyn import control as ct
from dqdyn import robots
from dqdyn.algebra.values import Pose
from dqdyn.analysis.experiments.cup_setting import BETWEEN, DAMPING, HANDS, beyond_limits, relative_error, torso_and_arm
from dqdyn.analysis.experiments.experiment import Case, Claim, Drawing, Result
from dqdyn.analysis.experiments.figures import curves, draw, figure, joint_figures, norm
from dqdyn.analysis.experiments.machine_figures import events_of, history_of, spans_of
from dqdyn.analysis.experiments.running import follow
from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory

NAME, TITLE = "mobile-bimanual", "Two hands on wheels carry a ball to a zone"
ZONE, NEAR = np.array([1.0, 0.4, 0.25]), 0.01  # m: the zone's center, and when it counts as reached
RATE, GRIP, OPEN = 0.5, 50.0, 1.5  # 1/s of the task, of the grip; the hands open to so many times their distance
OPENED, LONGEST = 1e-3, 20.0  # error of the relative pose at which the hands are open; s of a state at most
CARRY = "carry"
ARM = (-0.45, -0.05, 0.41, -1.2)
START = np.array([0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.3, 0.0, *ARM, *ARM])  # platform (m, m, rad), torso, arms (rad)


def carry_and_release(robot: Robot, constrained: bool) -> ct.StateMachine:
    """Carries until the zone is reached, then opens the hands, with the wheels as the only constraint, and stops."""
    grip = robot.relative_pose(*HANDS, START)
    apart = Pose(rotation=grip.rotation, translation=OPEN * grip.translation)
    hold = ct.RelativePoseTask(*HANDS, grip, gain=GRIP, name="grip")
    limits = [ct.ConeJointLimits(), *(torso_and_arm(side) for side in (0, 1))]
    way = ct.TranslationTask(BETWEEN, ZONE, gain=RATE, name="way to the zone")
    states = [
        ct.State(
            CARRY,
            way,
            [hold, *(limits if constrained else [])],
            transitions=[
                ct.Transition("release", ct.guards.reached("way to the zone", NEAR)),
                ct.Transition("failed", ct.guards.stalled("way to the zone")),
            ],
            time_limit=LONGEST,
        ),
        ct.State(
            "release",
            ct.RelativePoseTask(*HANDS, apart, name="opening"),
            transitions=ct.Transition("done", ct.guards.reached("opening", OPENED)),
            time_limit=LONGEST,
        ),
        ct.State("done", ends="done"),
        ct.State("failed", ends="failed"),
    ]
    return ct.StateMachine(robot, states, start=CARRY, damping=DAMPING)


def experiment(plant: str | None = None, duration: float = 14.0, dt: float = 5e-3) -> Result:
    """Both controllers for ``duration`` s: the curves of [Quiroz, fig. 6.12]."""
    if plant is not None:
        raise Error(f"{NAME} runs on our own dynamics alone: {plant} has no wheels that roll without slipping.")
    robot = robots.mobile_bimanual()
    machines = {name: carry_and_release(robot, name == "CQP") for name in ("QP", "CQP")}
    runs = {name: follow(robot, machine, duration, dt, START) for name, machine in machines.items()}
    places = {name: robot.absolute_pose(*HANDS, r.q).translation for name, r in runs.items()}
    away = {name: norm(p - ZONE) for name, p in places.items()}
    held = {name: r.extra["state"] == list(machines[name].states).index(CARRY) for name, r in runs.items()}
    gaps = {name: norm(robot.relative_pose(*HANDS, r.q).translation) for name, r in runs.items()}
    claims = [claim for name, r in runs.items() for claim in _claims(name, r, away[name], held[name], gaps[name])]
    joints = {name: beyond_limits(robot, r.q[held[name]]) for name, r in runs.items()}
    claims += [
        Claim("QP violates joint limits while it carries", f"{100 * joints['QP']:.3g} % beyond", joints["QP"] > 0.0),
        Claim(
            "CQP respects all joint limits while it carries", f"{-100 * joints['CQP']:.2g} % inside", joints["CQP"] <= 0
        ),
    ]
    names = [joint.name for joint in robot.joints if joint.kind == "revolute"]
    return Result(
        NAME,
        TITLE,
        "Quiroz, section 6.1.3, figs. 6.11 and 6.12",
        (
            "A body with a torso of five joints and two arms of four, on a platform with two driven wheels, holds a "
            "ball between its hands, drives it to a zone and opens its hands there. That the platform cannot slip "
            "sideways is an equality of the controller.",
            "The paper ran this on a real robot; here the robot follows the velocities exactly.",
        ),
        tuple(claims),
        tuple(
            Case(
                name,
                r,
                _drawings(r, places[name], held[name]),
                spans=spans_of(machines[name]),
                events=events_of(machines[name]),
            )
            for name, r in runs.items()
        ),
        (
            figure("norm of the velocities (fig. 6.12)", "rad/s, m/s", curves(runs, lambda r: norm(r.v))),
            figure("distance from the zone (fig. 6.12)", "m", curves(runs, away)),
            figure("distance of the hands", "m", curves(runs, gaps)),
            figure("sideways slip", "10⁻¹⁵ m/s", curves(runs, lambda r: 1e15 * slip(r))),
            *joint_figures("joints", runs, names[:9], "fig. 6.12"),
            *(history_of(machine, f"{name}: states and errors") for name, machine in machines.items()),
        ),
    )


def slip(run: Trajectory) -> Array:
    """Velocity (n,) of the platform across its heading in m/s, from q and v alone."""
    heading = run.q[:, 2]
    return np.asarray(np.cos(heading) * run.v[:, 1] - np.sin(heading) * run.v[:, 0])


def _claims(name: str, run: Trajectory, away: Array, held: npt.NDArray[np.bool_], gap: Array) -> list[Claim]:
    last = int(held.sum()) - 1
    sideways, grip = float(np.abs(slip(run)).max()), float(relative_error(run.robot, run.q[held]).max())
    driven = float(np.hypot(*run.q[-1, :2]))
    return [
        Claim(
            f"{name} carries the ball to the zone",
            f"{1e3 * away[last]:.2g} mm from its center after {run.time[last]:.3g} s, {driven:.2g} m driven",
            bool(away[last] < 1.5 * NEAR),
        ),
        Claim(f"{name}: the relative pose stays while the ball is held", f"{grip:.1e}", grip < 1e-6),
        Claim(
            f"{name} opens its hands there",
            f"{gap[0]:.3f} m, then {gap[-1]:.3f} m",
            bool(last < len(held) - 1 and gap[-1] > 0.5 * (1.0 + OPEN) * gap[0]),
        ),
        Claim(f"{name}: the platform does not slip sideways", f"{sideways:.1e} m/s at most", sideways < 1e-9),
    ]


def _drawings(run: Trajectory, place: Array, held: npt.NDArray[np.bool_]) -> tuple[Drawing, ...]:
    """The ball rests where it was released [Quiroz, fig. 6.11]."""
    last = max(int(held.sum()) - 1, 0)
    ball = np.where(held[:, None], place, place[last])
    gap = float(norm(run.robot.relative_pose(*HANDS, run.q[0]).translation))
    wheels = np.column_stack([run.q[:, :2], np.full(len(run), 0.004)])
    return (
        draw("sphere", center=ball, radius=max(0.4 * gap, 0.02), name="ball", color=(0.96, 0.55, 0.1, 1.0)),
        draw("sphere", center=ZONE, radius=0.1, name="zone", color=(0.2, 0.65, 0.3, 0.25)),
        draw("path", points=wheels, name="way of the platform"),
        draw("path", points=place[: last + 1], name="way of the ball", color=(0.05, 0.6, 0.62, 1.0)),
    )
