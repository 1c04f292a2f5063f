"""What the plant measured in a run, as claims and tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from dqdyn.analysis.experiments.experiment import Claim, Table
from dqdyn.analysis.experiments.feet_and_hands.running import DT, EVERY, Run
from dqdyn.analysis.experiments.feet_and_hands.setting import FEET, FRICTION, HANDS, LIMBS, LINKS
from dqdyn.analysis.experiments.feet_and_hands.states import STAGES, Stage
from dqdyn.analysis.experiments.figures import room_to_limits
from dqdyn.arrays import Array

PRESSED = 5.0
"""N above which a limb carries something."""
LOADED = 50.0
"""N above which the direction of its force is looked at."""
STEP = 0.15e-3
"""s that a control step may take in the median."""
SLIPPED = 5e-3
"""m that a limb may move while it carries."""
Flags = npt.NDArray[np.bool_]


def longest(when: Flags) -> float:
    """s of the longest time without a break in which a condition holds at all samples."""
    best = now = 0
    for holds in when.tolist():
        now = now + 1 if holds else 0
        best = max(best, now)
    return max(0, best - 1) * EVERY * DT


def free(run: Run, *limbs: str) -> Flags:
    """Whether nothing presses these limbs, (n,)."""
    return np.asarray(np.all([run.normal_forces(limb) == 0.0 for limb in limbs], axis=0))


def pressed(run: Run, *limbs: str) -> Flags:
    """Whether all of these limbs are pressed, (n,)."""
    return np.asarray(np.all([run.normal_forces(limb) > PRESSED for limb in limbs], axis=0))


def upside_down(run: Run) -> Array:
    """Cosine (n,) of the angle between the pelvis's axis and straight down."""
    x, y = run.trajectory.q[:, 1], run.trajectory.q[:, 2]
    return 2.0 * (x * x + y * y) - 1.0


def friction_used(run: Run) -> float:
    """The largest ratio of tangential to normal force of a limb that carries."""
    most = 0.0
    for limb in LIMBS:
        force = run.forces(limb)
        on = run.normal_forces(limb) > LOADED
        if on.any():
            most = max(most, float((np.hypot(force[on, 0], force[on, 1]) / force[on, 2]).max()))
    return most


def slipped(run: Run) -> float:
    """m that a limb moved at most from where it was first loaded until it was let go."""
    most = 0.0
    for limb in LIMBS:
        place = run.trajectory.robot.pose(limb, run.trajectory.q).translation[:, :2]
        start: Array | None = None
        for at, on in zip(place, run.normal_forces(limb) > LOADED, strict=True):
            start = None if not on else at if start is None else start
            most = max(most, 0.0 if start is None else float(np.linalg.norm(at - start)))
    return most


def claims(run: Run, stages: Sequence[Stage] = STAGES) -> Iterator[Claim]:
    """About one run through some stages, from what its plant measured."""
    yield _went_through(run, len(stages))
    yield Claim(f"{run.name}: the simulation is sound", run.trajectory.status, run.trajectory.finished)
    stances = {stage.on for stage in stages}
    if ("right_foot",) in stances:
        yield _on_one_foot(run)
    if (*FEET, *HANDS) in stances:
        seconds = longest(pressed(run, *LIMBS))
        yield Claim(
            f"{run.name}: it is on two feet and two hands", f"all four carry for {seconds:.2f} s", seconds >= 1.0
        )
    if HANDS in stances:
        yield _on_hands(run)
    if ("right_hand",) in stances:
        yield _on_one_hand(run)
    yield from _within_limits(run)


def _went_through(run: Run, stages: int) -> Claim:
    limits = [event for event in run.log if event.kind == "time limit"]
    count = len(run.log) - 1
    return Claim(
        f"{run.name}: the machine goes through all {stages} states to its end",
        f"{count} transitions, {len(limits)} by time limits, {run.ended or 'not ended'} at {run.log[-1].t:.1f} s",
        run.ended == "done" and count == stages and not limits,
    )


def _on_one_foot(run: Run) -> Claim:
    seconds = longest(free(run, "left_foot", *HANDS) & pressed(run, "right_foot"))
    heights = run.trajectory.robot.pose("left_foot", run.trajectory.q).translation[:, 2]
    height = float(heights[free(run, *HANDS)].max(initial=0.0))
    return Claim(
        f"{run.name}: it stands on one foot",
        f"the right foot alone carries for {seconds:.2f} s, the left one is up to {height:.2f} m high",
        seconds >= 1.0 and height > 0.1,
    )


def _on_hands(run: Run) -> Claim:
    trajectory, robot = run.trajectory, run.trajectory.robot
    inverted = free(run, *FEET) & (upside_down(run) > 0.99)
    seconds = longest(inverted)
    on_hands = sum((run.normal_forces(limb) for limb in HANDS), np.zeros(len(trajectory)))
    share = float(np.mean(on_hands[inverted])) / (9.81 * robot.mass) if inverted.any() else 0.0
    height = float(run.centers[inverted, 2].max(initial=0.0))
    feet = float(robot.pose("left_foot", trajectory.q).translation[:, 2].max())
    return Claim(
        f"{run.name}: it stands on its hands",
        f"for {seconds:.2f} s upside down with feet that touch nothing, the hands carry {share:.3f} of the weight; "
        f"center of mass {height:.2f} m high, feet {feet:.2f} m",
        seconds >= 2.0 and abs(share - 1.0) < 0.02,
    )


def _on_one_hand(run: Run) -> Claim:
    alone = free(run, *FEET, "left_hand") & pressed(run, "right_hand")
    seconds = longest(alone & (upside_down(run) > 0.9))
    height = float(run.trajectory.robot.pose("left_hand", run.trajectory.q).translation[alone, 2].max(initial=0.0))
    return Claim(
        f"{run.name}: it stands on one hand",
        f"the right hand alone carries for {seconds:.2f} s, the left one is up to {1e3 * height:.0f} mm high",
        seconds >= 1.0 and height > 0.03,
    )


def _within_limits(run: Run) -> Iterator[Claim]:
    robot, trajectory = run.trajectory.robot, run.trajectory
    room = float(room_to_limits(trajectory).min())
    yield Claim(f"{run.name}: joints stay within their limits", f"{room:.2g} rad away at least", room >= 0.0)
    used = np.abs(trajectory.tau[:, 6:]) / robot.limits.effort[6:]
    worst = int(used.max(axis=0).argmax())
    yield Claim(
        f"{run.name}: motors stay within their efforts, and the base gets no force",
        f"{100.0 * float(used.max()):.0f} % used at most, by {robot.joints[1 + worst].name}",
        bool(used.max() <= 1.0 and not trajectory.tau[:, :6].any()),
    )
    ratio, moved = friction_used(run), slipped(run)
    yield Claim(
        f"{run.name}: soles and palms stay inside their friction cones",
        f"|f_t|/f_n = {ratio:.2f} at most (μ = {FRICTION}); {1e3 * moved:.2g} mm moved while they carry",
        ratio <= FRICTION and moved < SLIPPED,
    )
    touched = trajectory.about.get("touched")
    if touched is not None:
        others = sorted(link for link, met in touched.items() if link not in LINKS.values() or set(met) != {"ground"})
        yield Claim(
            f"{run.name}: nothing but soles and palms touches anything, itself included",
            ", ".join(others) or "nothing else",
            not others,
        )
    count = len(run.states)
    yield Claim(
        f"{run.name}: every command obeys all constraints", f"{count - run.unsolved} of {count}", not run.unsolved
    )


def duration_of_steps(runs: Sequence[Run], alone: Array) -> Claim:
    """How long control steps took, with guards, targets and the quadratic program: s (n,) of them ``alone``."""
    own, clock = 1e3 * alone, 1e3 * np.concatenate([run.seconds for run in runs])
    least, median, most = float(own.min()), float(np.median(own)), float(np.percentile(own, 99.0))
    return Claim(
        "A control step by torque takes at most 0.15 ms in the median (the paper: 7 ms on a Pentium IV)",
        f"{least:.3f} ms at least, median {median:.3f} ms, 99 % {most:.3f} ms of {len(own)} steps one after the other; "
        f"by the clock in the loop, plant and other processes between, median {float(np.median(clock)):.3f} ms",
        median <= 1e3 * STEP,
    )


def loads(run: Run, stages: Sequence[Stage] = STAGES) -> Table:
    """What carried the robot at the end of each state."""
    rows = []
    for stage in stages:
        samples = [i for i, state in enumerate(run.states_of_samples) if state == stage.name]
        if not samples:
            continue
        i = samples[-1]
        each = tuple(f"{run.normal_forces(limb)[i]:.0f}" for limb in LIMBS)
        rows.append((stage.name, stage.posture, f"{run.trajectory.time[i]:.2f}", *each, f"{run.centers[i, 2]:.3f}"))
    columns = ("state", "posture", "until (s)", *(f"{limb.replace('_', ' ')} (N)" for limb in LIMBS), "height (m)")
    return Table(
        f"{run.name}: normal forces and height of the center of mass at the end of each state", columns, tuple(rows)
    )
