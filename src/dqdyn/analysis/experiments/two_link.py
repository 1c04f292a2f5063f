"""The arm with two links of Farias, section 7: its torques by every formulation, and computed torque.

Links of 1 m and 1 kg with their centers of mass in the middle are the paper's. Its tensors, its motion and its gains
are not printed, and the caption of its fig. 3 is not in our text of it; ours are given below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from dqdyn import robots
from dqdyn.analysis.costs.homogeneous_reference import HomogeneousLink
from dqdyn.analysis.costs.homogeneous_reference import inverse_dynamics as by_matrices
from dqdyn.analysis.experiments.experiment import Case, Claim, Drawing, Result
from dqdyn.analysis.experiments.figure_kinds import AnyFigure, Figure
from dqdyn.analysis.experiments.figures import draw, figure
from dqdyn.analysis.experiments.running import engine_steps, of_steps
from dqdyn.analysis.peers import SerialArm, installed_peers
from dqdyn.arrays import Array
from dqdyn.references import ComputedTorque, between
from dqdyn.robot import Robot
from dqdyn.robot.options import InverseMethod
from dqdyn.simulate import Trajectory, simulate

NAME, TITLE = "two-link", "An arm with two links: its torques by every formulation, and computed torque"
HOME, END, DURATION = (0.0, 0.0), (1.2, -0.9), 2.0  # rad, rad, s: the reference, from rest to rest
OFF = (0.3, -0.2)  # rad, where the controlled arm starts instead
KP, KD, RATE = 100.0, 20.0, 10.0  # 1/s², 1/s, 1/s: critically damped, both poles at −10
SAME = 1e-10  # N m, where torques count as equal
NEAR = 1e-4  # rad, where the goal counts as reached
VERSIONS: dict[str, InverseMethod] = {
    "matrix form": "matrix",
    "closed equation": "closed-form",
    "recursive algorithm": "screw",
}
"""Those of the paper, by our methods."""

MATRICES = "recursion with homogeneous matrices"
TENSOR = np.diag([2e-4, 1.0 / 12.0, 1.0 / 12.0])  # kg m², of a rod along x


def motion(samples: int = 201) -> tuple[Array, Array, Array, Array]:
    """Time (n,), and q, v and a (n, 2) of the reference."""
    time, reference = np.linspace(0.0, DURATION, samples), between(robots.two_link(), HOME, END, DURATION)
    rows = [reference(float(t)) for t in time]
    return (time, *(np.array([[float(x) for x in row[k]] for row in rows]) for k in range(3)))  # type: ignore[return-value]


def torques_along_motion() -> tuple[dict[str, Array], list[str]]:
    """τ (n, 2) in N m along the motion, by name; and the packages that are not installed."""
    robot, (_, q, v, a) = robots.two_link(), motion()
    found = {name: robot.inverse_dynamics(q, v, a, method=method) for name, method in VERSIONS.items()}
    found[MATRICES] = homogeneous(q, v, a)
    peers, missing = installed_peers(dh_arm())
    return found | {f"{peer.name}, {peer.function}": peer.torques(q, v, a) for peer in peers}, missing


def dh_arm() -> SerialArm:
    """The arm for other libraries, in the plane x–y, so that gravity is along −y."""
    table = np.array([[0.0, 0.0, 1.0, 0.0], [0.0, 0.0, 1.0, 0.0]])
    return SerialArm(table, [(1.0, (-0.5, 0.0, 0.0), TENSOR)] * 2, np.array([0.0, -9.81, 0.0]))


def homogeneous(q: Array, v: Array, a: Array) -> Array:
    """τ (n, 2) by the recursion with 4×4 matrices, in frames at the centers of mass and in the plane x–y."""
    inertia, axis = np.diag([*np.diag(TENSOR), 1.0, 1.0, 1.0]).tolist(), [0.0, 0.0, 1.0, 0.0, 0.5, 0.0]

    def back(distance: float) -> Any:
        pose = np.eye(4)
        pose[0, 3] = -distance
        return pose.tolist()

    links = [HomogeneousLink(back(0.5), axis, inertia), HomogeneousLink(back(1.0), axis, inertia)]
    start, end = ([0.0] * 6, [0.0, 0.0, 0.0, 0.0, 9.81, 0.0]), (back(0.5), [0.0] * 6)
    rows = zip(q.tolist(), v.tolist(), a.tolist(), strict=True)
    return np.array([by_matrices(links, list(row), start, end) for row in rows])


def experiment(plant: str | None = None, duration: float = 4.0, dt: float = 1e-3) -> Result:
    """Torques along the motion, and the arm under computed torque for ``duration`` s."""
    torques, missing = torques_along_motion()
    runs = {steps: controlled(plant, duration, dt, steps) for steps in engine_steps(plant)}
    absent = "" if not missing else f" Not installed, and so not compared: {', '.join(missing)}."
    return Result(
        NAME,
        TITLE,
        "Farias, section 7, figs. 1 to 3",
        (
            "Two equal links of 1 m and 1 kg with their centers of mass in the middle, as in the paper; here they are "
            f"slender rods that move in a vertical plane. The motion goes from {list(HOME)} to {list(END)} rad in "
            f"{DURATION:g} s, from rest to rest.",
            "The paper compares three versions of its algorithm with the Robotics Toolbox, which recurs over "
            f"homogeneous matrices. Here such a recursion is also written out.{absent}",
            "Figs. 2 and 3 are results of computed torque. The animation shows the arm of fig. 2 where it begins and "
            "where it ends. What fig. 3 shows is not in our text of the paper; the errors below have no number.",
        ),
        (*torque_claims(torques), *control_claims(runs)),
        tuple(Case(f"computed torque{of_steps(steps, runs)}", run, drawings(run)) for steps, run in runs.items()),
        (*torque_figures(torques), *control_figures(runs)),
    )


def controlled(plant: str | None, duration: float, dt: float, steps: int) -> Trajectory:
    """The arm under computed torque, from a start off the reference; on MuJoCo with ``steps`` per torque."""
    robot = robots.two_link()
    law = ComputedTorque(robot, between(robot, HOME, END, DURATION), kp=KP, kd=KD)
    every = max(1, round(5e-3 / dt))
    if plant is None:
        return simulate(robot, law.law(), duration, dt, q0=OFF, every=every)
    options: dict[str, Any] = {"plant": plant, "method": "implicitfast", "substeps": steps}
    return simulate(robot, law, duration, dt, q0=OFF, every=every, **options)


def errors(run: Trajectory) -> Array:
    """Wanted minus found position (n, 2) in rad, from the run alone [Farias, fig. 3]."""
    reference = between(robots.two_link(), HOME, END, DURATION)
    return np.array([[float(x) for x in reference(float(t))[0]] for t in run.time]) - run.q


# --- claims -----------------------------------------------------------------------------------------------------------


def torque_claims(torques: Mapping[str, Array]) -> Iterator[Claim]:
    """Every curve is that of the recursion with homogeneous matrices."""
    for name, tau in torques.items():
        if name != MATRICES:
            off = float(np.abs(tau - torques[MATRICES]).max())
            size = f"of up to {np.abs(tau).max():.3g} N m"
            text = f"{name} gives the torques of the {MATRICES}"
            yield Claim(text, f"at most {off:.1e} N m apart, {size}", off < SAME)


def control_claims(runs: Mapping[int, Trajectory]) -> Iterator[Claim]:
    """Errors obey ë + K_D ė + K_P e = 0, and the arm comes to rest at its goal."""
    for steps, run in runs.items():
        words = of_steps(steps, runs)
        error, t = errors(run), run.time
        # at rest at the start: e(0) of the closed loop's critically damped equation, ė(0) = 0
        wanted = error[0] * ((1.0 + RATE * t) * np.exp(-RATE * t))[:, None]
        off = float(np.abs(error - wanted).max() / np.abs(error[0]).max())
        yield Claim(
            f"both errors decay as e(0)(1 + {RATE:g} t) e^(−{RATE:g} t){words}",
            f"{100 * off:.2g} % of the first error off at most",
            off < 0.03,
        )
        left, speed = float(np.abs(run.q[-1] - END).max()), float(np.abs(run.v[-1]).max())
        yield Claim(
            f"the arm comes to rest at its goal{words}",
            f"{left:.1e} rad and {speed:.1e} rad/s left after {t[-1]:.3g} s",
            left < NEAR and speed < NEAR,
        )


# --- figures ----------------------------------------------------------------------------------------------------------


def torque_figures(torques: Mapping[str, Array]) -> Iterator[Figure]:
    """A figure per joint with the curves of all versions [Farias, fig. 1]; then what they differ by."""
    time = motion()[0]
    for joint in range(2):
        curves = {name: tau[:, joint] for name, tau in torques.items()}
        yield Figure(f"torque of joint {joint + 1} (fig. 1)", "N m", time, curves)
    away = {
        name: 1e15 * np.abs(tau - torques[MATRICES]).max(axis=1) for name, tau in torques.items() if name != MATRICES
    }
    yield Figure(f"torques apart from the {MATRICES}", "10⁻¹⁵ N m", time, away)


def control_figures(runs: Mapping[int, Trajectory]) -> Iterator[AnyFigure]:
    """Errors and positions under computed torque."""
    tools: dict[str, Callable[[Trajectory], Array]] = {
        "errors under computed torque": errors,
        "positions under computed torque": lambda run: run.q,
    }
    for title, values in tools.items():
        curves = {
            f"joint {joint + 1}{of_steps(steps, runs)}": (
                run,
                values(run)[:, joint],
            )
            for steps, run in runs.items()
            for joint in range(2)
        }
        yield figure(title, "rad", curves)


def drawings(run: Trajectory) -> tuple[Drawing, ...]:
    """The arm where it begins and where it ends, merged into one picture [Farias, fig. 2]; the way of its tip."""
    return (
        *outline(run.robot, run.q[0], "arm at the start", (0.45, 0.48, 0.52, 0.5)),
        *outline(run.robot, np.array(END), "arm at its goal", (0.2, 0.65, 0.3, 0.5)),
        draw("path", points=run.robot.pose("tool", run.q).translation, name="way of the tip"),
    )


def outline(robot: Robot, q: Array, name: str, color: tuple[float, float, float, float]) -> tuple[Drawing, ...]:
    """Both links as sticks."""
    at = [robot.pose(frame, q).translation for frame in ("link1", "link2", "tool")]
    return tuple(draw("segment", start=a, end=b, radius=0.03, color=color, name=name) for a, b in pairwise(at))
