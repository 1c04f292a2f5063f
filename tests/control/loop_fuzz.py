"""Running control loops under attack: measurements that jump, fail or are no numbers, weights of twenty orders.

``run_case(seed)`` runs one loop of some twenty steps and raises AssertionError where it breaks a law:

1. no command is NaN or infinite, or beyond the limits of what is commanded;
2. "solved" is said only of a command that obeys every row in its own unit, to ``HOLDS`` and rounding;
3. without a solution the robot brakes: a velocity shrinks, within the limits of acceleration, an acceleration is
   directed against the velocity and within its limits, and the report says so;
4. nothing leaves a trace: once the measurements are good again, a loop finds what a solver that knows no past finds.

As a program, ``python tests/control/loop_fuzz.py FIRST LAST`` runs many seeds and counts what happened.
"""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.core.optimum import Optimum, StrictLevels
from dqdyn.robot import Robot

HOLDS, ROUNDING = 1e-6, 1e-11  # as documented: in the unit of the row, and of the terms that it adds
DT, STEPS = 0.005, 20
BALL = [0.4, 0.1, 0.5]


@dataclass
class Loop:
    """A controller, its limits, and what it measures."""

    robot: Robot
    controller: ct.Controller
    measured: list[ct.Measured]
    limit: float
    slow: float = math.inf  # rad/s by which a command by velocity changes in a step, or rad/s² of one by acceleration
    conditioned: bool = True  # whether the objective tells one solution from another to 1e-5
    start: Callable[[np.random.Generator], np.ndarray] = field(default=lambda rng: rng.uniform(-1.0, 1.0, 7))


def _zones(measured: ct.Measured, floor: float, frame: str) -> list[Any]:
    table = dq.Plane([0.0, 0.0, 1.0], distance=floor)
    return [ct.KeepAbove(frame, table, gain=5.0, name="table"), ct.KeepOut(frame, measured, 0.1, gain=3.0, name="ball")]


def _by_velocity(robot: Robot, frame: str, weight: float = 1.0, **options: Any) -> Loop:
    ball, other = ct.Measured(BALL), ct.Measured([0.5, -0.3, 0.4])
    tasks: list[Any] = [ct.DistanceTask(frame, ball, 0.0, weight=weight)]
    if options.pop("levels", False):
        tasks = [tasks, [ct.RestTask()]]
    constraints = [*_zones(other, 0.1, frame), ct.JointLimits(), ct.VelocityLimits(1.5)]
    slow = options.pop("slow", None)
    if slow is not None:
        constraints.append(ct.AccelerationLimits(slow, dt=DT))
    c = ct.velocity_controller(robot, tasks, constraints, **options)
    return Loop(robot, c, [ball, other], 1.5, math.inf if slow is None else slow * DT, weight == 1.0, _start(robot))


def _by_acceleration(
    robot: Robot, frame: str, weight: float = 1.0, torque: float | None = None, **options: Any
) -> Loop:
    ball, other = ct.Measured(BALL), ct.Measured([0.5, -0.3, 0.4])
    tasks: list[Any] = [ct.TranslationTask(frame, ball, weight=weight), ct.RestTask(weight=0.01 * weight)]
    constraints = [*_zones(other, 0.1, frame), ct.JointLimits(), ct.VelocityLimits(2.0), ct.AccelerationLimits(20.0)]
    if torque is None:
        c = ct.acceleration_controller(robot, tasks, constraints, **options)
    else:
        c = ct.torque_controller(robot, tasks, [*constraints, ct.TorqueLimits(torque)], **options)
    return Loop(robot, c, [ball, other], 20.0 if torque is None else torque, 20.0, weight == 1.0, _start(robot))


def _start(robot: Robot) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: robot.integrate(robot.neutral(), rng.uniform(-0.8, 0.8, robot.nv), 1.0)


def _loop_of_bars(**options: Any) -> Loop:
    """A loop that has one freedom; a state in which it is open is as good as any to its accelerations."""
    robot = dq.robots.four_bar()
    ball = ct.Measured(np.full(robot.nq, 0.3))
    constraints = [ct.AccelerationLimits(1e3)]
    c = ct.acceleration_controller(robot, [ct.PostureTask(ball)], constraints, **options)
    return Loop(robot, c, [ball], 1e3, 1e3, True, _start(robot))


LOOPS: dict[str, Callable[[], Loop]] = {
    "velocity": lambda: _by_velocity(dq.robots.arm7(), "tool"),
    "velocity, hold": lambda: _by_velocity(dq.robots.arm6(), "tool", infeasible="hold", slow=8.0),
    "velocity, raise": lambda: _by_velocity(dq.robots.arm6(), "tool", infeasible="raise"),
    "velocity, heavy": lambda: _by_velocity(dq.robots.arm7(), "tool", 1e14),
    "velocity, light": lambda: _by_velocity(dq.robots.arm6(), "tool", 1e-6, slow=8.0),
    "velocity, levels": lambda: _by_velocity(dq.robots.arm7(), "tool", 1e6, levels=True),
    "velocity, piqp": lambda: _by_velocity(dq.robots.arm6(), "tool", solver="piqp"),
    "wheels": lambda: _by_velocity(dq.robots.nonholonomic_manipulator(), "tool"),
    "wheels, heavy": lambda: _by_velocity(dq.robots.nonholonomic_manipulator(), "tool", 1e10, slow=8.0),
    "acceleration": lambda: _by_acceleration(dq.robots.arm6(), "tool"),
    "acceleration, heavy": lambda: _by_acceleration(dq.robots.arm6(), "tool", 1e12, infeasible="hold"),
    "torque": lambda: _by_acceleration(dq.robots.arm6(), "tool", torque=40.0, infeasible="hold"),
    "torque, weak": lambda: _by_acceleration(dq.robots.arm6(), "tool", torque=5.0),
    "bars": lambda: _loop_of_bars(),
}


@cache
def loop(name: str) -> Loop:
    """A loop, compiled once."""
    return LOOPS[name]()


def run_case(seed: int) -> str:
    """One loop; what happened in a few words: "solved", "relaxed: …", "held: …", "failed: …", "refused: …"."""
    rng = np.random.default_rng(seed)
    name = list(LOOPS)[int(rng.integers(len(LOOPS)))]
    found = loop(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.ControlWarning)
        warnings.simplefilter("error", RuntimeWarning)
        try:
            return _run(rng, found)
        except RuntimeWarning as told:
            raise AssertionError(f"seed {seed}, loop {name!r}: NumPy warned: {told}") from told
        except AssertionError as broken:
            raise AssertionError(f"seed {seed}, loop {name!r}: {broken}") from broken


def _run(rng: np.random.Generator, loop: Loop) -> str:
    c, robot = loop.controller, loop.robot
    good = [m.position for m in loop.measured]
    q, v, t = loop.start(rng), np.zeros(robot.nv), 0.0
    c.reset()
    before: np.ndarray | None = None
    label = "solved"
    quiet_from = int(rng.integers(5, STEPS - 2))
    try:
        for k in range(STEPS):
            if rng.uniform() < 0.02:
                c.reset()
                before = None
            state = _attack(rng, loop, t, q, v) if 1 <= k < quiet_from else (t, q, v)
            try:
                command = c(*state)
            except ct.ControlError:
                assert c.policy.__name__ == "give_up", "an error of a policy that does not raise"
                label = "refused: the policy is to raise"
                command = np.zeros(robot.nv)
            else:
                _judge(loop, state, command, before)
                before = command if loop.controller.level == "velocity" else None
                if c.report.status != "solved":
                    label = f"{c.report.status}: {_kind(c.report.reason)}"
            for m, position in zip(loop.measured, good, strict=True):
                m.update(position)
            q, v, t = _move(loop, q, v, command), _speed(loop, q, v, command), t + DT
    finally:
        for m, position in zip(loop.measured, good, strict=True):
            m.update(position)
    return label


# --- attacks --------------------------------------------------------------------------------------------------------


def _attack(
    rng: np.random.Generator, loop: Loop, t: float, q: np.ndarray, v: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """The state as it is measured, once in two steps with something wrong."""
    kind = int(rng.integers(16))
    size = 10.0 ** rng.uniform(-3.0, 3.0) if rng.uniform() < 0.4 else 10.0 ** rng.uniform(0.0, 308.0)
    sign = rng.choice([-1.0, 1.0])
    bad = rng.choice([math.nan, math.inf, -math.inf])
    q, v = q.copy(), v.copy()
    target = loop.measured[int(rng.integers(len(loop.measured)))]
    if kind == 0:  # an outlier of what is measured
        value = np.array(target.position, dtype=float)
        value[int(rng.integers(len(value)))] = sign * size
        target.update(value)
    elif kind == 1:
        target.update(np.asarray(target.position, dtype=float) * bad)
    elif kind == 2:
        target.update(None if rng.uniform() < 0.5 else "lost")
    elif kind == 3:
        q[int(rng.integers(len(q)))] = sign * size
    elif kind == 4:
        q[int(rng.integers(len(q)))] = bad
    elif kind == 5:
        v[int(rng.integers(len(v)))] = sign * size
    elif kind == 6:
        v[int(rng.integers(len(v)))] = bad
    elif kind == 7:
        t = float(rng.choice([bad, sign * size, t - 1.0, t + 10.0]))
    elif kind == 8:
        position = np.asarray(target.position, dtype=float)
        with np.errstate(over="ignore"):  # infinite rates are part of the attack
            velocity, acceleration = (s * rng.normal(size=len(position)) for s in (sign * size, size))
        target.update(position, velocity, acceleration)
    return t, q, v


def _move(loop: Loop, q: np.ndarray, v: np.ndarray, command: np.ndarray) -> np.ndarray:
    return loop.robot.integrate(q, command if loop.controller.level == "velocity" else v, DT)


def _speed(loop: Loop, q: np.ndarray, v: np.ndarray, command: np.ndarray) -> np.ndarray:
    if loop.controller.level == "velocity":
        return command
    if loop.controller.level == "acceleration":
        return v + DT * command
    return v + DT * np.clip(loop.robot.forward_dynamics(q, v, command), -100.0, 100.0)


# --- laws -----------------------------------------------------------------------------------------------------------


def _judge(loop: Loop, state: tuple[Any, ...], command: np.ndarray, before: np.ndarray | None) -> None:
    c = loop.controller
    report = c.report
    assert np.isfinite(command).all(), f"{report.status!r} with the command {command}"
    assert np.abs(command).max() <= loop.limit, f"{report.status!r} with {np.abs(command).max():.9g} > {loop.limit}"
    if report.status in ("solved", "relaxed"):
        assert report.motion == ""
        if report.status == "solved":
            _rows_hold(c)
            _knows_no_past(loop)
        return
    assert report.status in ("held", "failed"), report.status
    assert report.reason, f"{report.status!r} without a reason"
    assert report.motion in ("braking", "still"), report.motion
    _brakes(loop, state, command, before)


def _rows_hold(c: ct.Controller) -> None:
    views, u = c.composition.views, c._last
    first = len(u) if c.composition.size.bounds else 0
    rows = np.vstack([np.eye(len(u))[:first], views["A"]])
    length = np.linalg.norm(rows, axis=1)
    allowed = HOLDS * np.where(length < 1e-12, 1.0, np.minimum(length, 1.0)) + ROUNDING * (np.abs(rows) @ np.abs(u))
    value = rows @ u
    over = np.maximum(value - views["upper"], views["lower"] - value) - allowed
    worst = int(np.argmax(over))
    assert over[worst] <= 0.0, f"'solved' with row {worst} missed by {over[worst]:.3g} beyond its tolerance"


def _knows_no_past(loop: Loop) -> None:
    """Solvers without a past find the same; an objective out of scale does not tell solutions apart, but has one."""
    composition, optimum = loop.controller.composition, loop.controller.optimum
    fresh: StrictLevels | Optimum
    if isinstance(optimum, StrictLevels):
        fresh = StrictLevels(composition.size, optimum.name, optimum.levels)
    else:
        fresh = Optimum(composition.size, optimum.solver.name)  # type: ignore[attr-defined]
    anew = fresh(composition.views)
    if anew is None:  # controllers, too, ask the other solver then
        anew = fresh.second_opinion(composition.views)
    u, size = loop.controller._last, np.abs(composition.views["H0"]).max()
    asked = np.abs(composition.views["f0"]).max() / size
    assert anew is not None or asked > 1e9, "a solver without a past finds no solution"
    if anew is not None and loop.conditioned and size < 1e4 and asked < 1e4:
        cost = lambda x: 0.5 * x @ composition.views["H0"] @ x + composition.views["f0"] @ x
        assert cost(u) - cost(anew) < 1e-6 * (1.0 + abs(cost(anew))), f"{u} after its past, {anew} without"
        if optimum.solver.name == "daqp":  # type: ignore[attr-defined]
            assert np.abs(anew - u).max() < 1e-4 * (1.0 + np.abs(u).max()), f"{u} after its past, {anew} without"


def _brakes(loop: Loop, state: tuple[Any, ...], command: np.ndarray, before: np.ndarray | None) -> None:
    level = loop.controller.level
    if level == "velocity" and before is not None:
        assert (np.abs(command) <= np.abs(before)).all(), f"{command} held after {before}"
        assert np.abs(command - before).max() <= loop.slow * (1.0 + 1e-9), "braking beyond the limits of acceleration"
    if level == "acceleration" and np.isfinite(state[2]).all():
        assert (np.sign(command) * np.sign(state[2]) <= 0.0).all(), f"held with {command} at the velocities {state[2]}"


def _kind(reason: str) -> str:
    """A reason without its numbers and names."""
    return re.sub(r"'[^']*'|\[.*|[-+0-9.e]*\d.*", "…", reason).split(":")[0][:60].strip()


if __name__ == "__main__":
    seen: Counter[str] = Counter()
    broken = 0
    for number in range(int(sys.argv[1]), int(sys.argv[2])):
        try:
            seen[run_case(number)] += 1
        except AssertionError as problem:
            broken += 1
            if broken <= 20:
                print(problem)
    print(*(f"{count:7d} {kind}" for kind, count in seen.most_common()), f"{broken:7d} broken", sep="\n")
