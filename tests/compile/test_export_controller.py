"""Controllers in C: the same commands as in Python, without undefined behaviour, and refusals in one sentence."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import daqp
import numpy as np
import pytest
from c_compiler import NO_SANITIZERS, finds_leaks, has_sanitizers, needs_compiler
from controller_loops import COUNTED, CountingModel, Loop, run_in_c
from daqp_source import daqp_objects, daqp_source

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.scalar import cos, sin

STEPS = 10_000
POSTURE = np.array([0.3, 0.5, -0.2, 1.4, 0.1, 0.8, 0.0])


def _target(robot: Any) -> Any:
    x, y, z = robot.pose("tool", POSTURE).translation
    return lambda t: [x + 0.1 * sin(t), y + 0.15 * cos(1.3 * t) - 0.15, z + 0.1 * sin(0.7 * t)]


def _parts(level: str, robot: Any, *more: Any, infeasible: str) -> tuple[Any, list[Any]]:
    """A task that follows a curve through a zone to keep out of, and limits.

    Where constraints relax, all of them do. With hard limits the command is in a corner that only these leave, and of
    a joint that hardly matters there Python itself knows less than ten digits: see the loop "in a corner".
    """
    x, y, z = robot.pose("tool", POSTURE).translation
    zones = [ct.KeepOut("tool", [x + 0.12, y - 0.15, z + 0.05], 0.06), ct.JointLimits(), *more]
    if infeasible == "relax":
        return ct.TranslationTask("tool", _target(robot), gain=4.0), zones
    limits = {"velocity": [ct.VelocityLimits(0.3)], "acceleration": [ct.VelocityLimits(1.0)]}
    bounds = limits.get(level, [ct.VelocityLimits(1.0), ct.TorqueLimits(60.0)])
    return ct.TranslationTask("tool", _target(robot), gain=4.0), [*zones, *bounds]


def arm(level: str, *more: Any, infeasible: str = "hold") -> Loop:
    """An arm that follows a curve through a zone that it has to keep out of, within limits."""
    robot = dq.robots.arm7()
    task, constraints = _parts(level, robot, *more, infeasible=infeasible)
    tasks = [task, ct.PostureTask(POSTURE, weight=1e-2)]
    return Loop(robot, getattr(ct, f"{level}_controller")(robot, tasks, constraints, infeasible=infeasible), POSTURE)


def unconstrained() -> Loop:
    """No bounds at all."""
    robot = dq.robots.arm7()
    tasks = [[ct.TranslationTask("tool", _target(robot), gain=4.0)], [ct.PostureTask(POSTURE, weight=1e-2)]]
    return Loop(robot, ct.acceleration_controller(robot, tasks), POSTURE)


def disturbed(level: str, infeasible: str = "hold", make: Callable[..., Loop] = arm) -> Loop:
    """What is measured jumps at the hand, and states are lost or far too fast for some steps.

    A ball that comes too fast to get away is in conflict with hard limits. Where constraints relax, a floor and a
    ceiling that close are.
    """
    ball, floor, ceiling = ct.Measured([2.0, 0.0, 0.0]), ct.Measured(-9.0), ct.Measured(-9.0)
    planes = [ct.KeepAbove("tool", dq.Plane([0, 0, 1], [0, 0, 0]), floor)]
    planes += [ct.KeepAbove("tool", dq.Plane([0, 0, -1], [0, 0, 0]), ceiling)]
    loop = make(level, ct.KeepOut("tool", ball, 0.1), *planes, infeasible=infeasible)
    # Where the ball is, and how fast: near, far, inside; too fast to get away.
    jumps = [(0.11, 0.0), (0.16, 0.0), (0.05, 0.0), (2.0, 0.0), (0.12, 5.0)]
    along = np.array([0.6, 0.0, 0.8])

    def disturb(k: int, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        at = loop.robot.pose("tool", q).translation
        away, speed = jumps[(k // 400) % len(jumps)]
        if k % 400 == 200:
            if infeasible == "relax" and away == 0.12:
                floor.update(at[2] - 0.03, 0.1)
                ceiling.update(-at[2] - 0.03, 0.1)
            else:
                ball.update(at + away * along, -speed * along if speed else [0.05, 0.0, -0.02])
        if (
            k % 400 == 220 and infeasible == "relax" and away == 0.12
        ):  # faster: but what gave way is not activated again
            floor.update(at[2] - 0.02, 0.25)
            ceiling.update(-at[2] - 0.02, 0.25)
        if k % 400 == 330 or (k % 400 == 240 and speed > 0.0):
            ball.update(at + [2.0, 0.0, 0.0])
            floor.update(-9.0)
            ceiling.update(-9.0)
        if k % 700 in (600, 601, 602):
            q = np.full_like(q, np.nan)
        if k % 700 in (602, 603):
            v = np.full_like(v, np.inf)
        if k % 700 in (650, 651) or (k == 1 and infeasible == "relax"):
            v = np.full_like(v, 200.0 if k % 700 == 651 else 4000.0)
        return q, v

    loop.disturb = disturb
    return loop


def approached() -> Loop:
    """A ball that jumps near and comes fast, so that gains rise, some to their cap, then slowly, with former ones."""
    ball = ct.Measured([2.0, 0.0, 0.0])
    robot = dq.robots.arm7()
    tasks = [ct.TranslationTask("tool", _target(robot), gain=4.0), ct.PostureTask(POSTURE, weight=1e-2)]
    loop = Loop(robot, ct.acceleration_controller(robot, tasks, [ct.KeepOut("tool", ball, 0.1)]), POSTURE)
    at, along = np.zeros(3), np.array([0.6, 0.0, 0.8])

    def disturb(k: int, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phase, near = k % 500, (0.101, 0.13, 0.11)[(k // 500) % 3]
        if phase == 200:
            at[:] = robot.pose("tool", q).translation
        if 200 <= phase < 210:
            ball.update(at + (near - 3e-4 * (phase - 200)) * along, -0.3 * along)
        if 210 <= phase < 230:
            ball.update(at + (near + 0.02) * along)
        if 230 <= phase < 450:
            ball.update(at + (near + 0.02 - 1e-4 * (phase - 230)) * along, -0.1 * along)
        if phase == 450:
            ball.update([2.0, 0.0, 0.0])
        return q, v

    loop.disturb = disturb
    return loop


def wheeled() -> Loop:
    """A base that does not slip: equalities, and a planar joint."""
    robot = dq.robots.nonholonomic_manipulator()
    q = robot.neutral() + 0.3
    x, y, z = robot.pose("tool", q).translation
    task = ct.TranslationTask("tool", lambda t: [x + 0.2 * sin(t), y + 0.1 * sin(0.6 * t), z])
    limits = [ct.VelocityLimits(np.full(robot.nv, 1.0))]
    tasks = [[task], [ct.PostureTask(q, weight=0.1)]]
    return Loop(robot, ct.velocity_controller(robot, tasks, limits, infeasible="hold"), q)


def strict(level: str, *more: Any, infeasible: str = "relax", damping: Any = 1e-2) -> Loop:
    """Three levels: where the hand is, which way it points, and a posture."""
    robot = dq.robots.arm7()
    first, constraints = _parts(level, robot, *more, infeasible=infeasible)
    turn = ct.RotationTask("tool", robot.pose("tool", POSTURE).rotation)
    tasks = [[first], [turn], [ct.PostureTask(POSTURE + 0.1)]]
    make = getattr(ct, f"{level}_controller")
    return Loop(robot, make(robot, tasks, constraints, infeasible=infeasible, damping=damping), POSTURE)


def per_level(level: str, *more: Any, infeasible: str = "relax") -> Loop:
    """Each level with a damping of its own."""
    return strict(level, *more, infeasible=infeasible, damping=[3e-2, 1e-2, 0.1])


def blocked() -> Loop:
    """A target behind a zone: the bounds that stop the joints close in on what can be done."""
    robot = dq.robots.arm7()
    x, y, z = robot.pose("tool", POSTURE).translation
    wall = ct.KeepOut("tool", [x, y - 0.3, z], 0.25)
    tasks = [[ct.TranslationTask("tool", [x, y - 0.3, z], gain=4.0)], [ct.PostureTask(POSTURE, weight=1e-2)]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.ControlWarning)  # the target is in the zone
        controller = ct.acceleration_controller(
            robot, tasks, [wall, ct.StoppingBounds(4.0), ct.JointLimits()], damping=0.1
        )
    return Loop(robot, controller, POSTURE)


ALL = ("velocity", "acceleration", "torque")
LOOPS: dict[str, Callable[[], Loop]] = {
    **{f"{level}, disturbed": lambda level=level: disturbed(level) for level in ALL},
    "rests, disturbed": lambda: disturbed("torque", "rest"),
    "velocity, relaxed, disturbed": lambda: disturbed("velocity", "relax"),
    "torque, relaxed, disturbed": lambda: disturbed("torque", "relax"),
    "velocity, strict, disturbed": lambda: disturbed("velocity", "hold", per_level),
    "acceleration, strict, relaxed, disturbed": lambda: disturbed("acceleration", "relax", per_level),
    "torque, strict, relaxed, disturbed": lambda: disturbed("torque", "relax", strict),
    "approached": approached,
    "no bounds": unconstrained,
    "equalities": wheeled,
    "stopping": blocked,
}


@pytest.fixture(scope="module")
def linked(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> tuple[list[str], dict[str, str]]:
    """What a controller in C is linked with, and the settings of its run."""
    source = daqp_source(Path(request.config.cache.mkdir("daqp")))
    folder = tmp_path_factory.mktemp("daqp")
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if has_sanitizers(folder) else []
    leaks = int(bool(flags) and finds_leaks(folder))
    return [*flags, *daqp_objects(source, folder, *flags, *COUNTED)], {"ASAN_OPTIONS": f"detect_leaks={leaks}"}


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize("name", LOOPS)
def test_commands_are_those_of_python(
    name: str, linked: tuple[list[str], dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags, settings = linked
    if not any("sanitize" in flag for flag in flags):
        warnings.warn(NO_SANITIZERS, stacklevel=1)
    monkeypatch.setattr(daqp, "Model", CountingModel)
    loop = LOOPS[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.ControlWarning)
        given, expected = loop.run(STEPS)
    found = run_in_c(loop, given, tmp_path, flags, settings)
    assert found.statuses == expected.statuses
    assert (np.abs(found.commands - expected.commands) / np.maximum(np.abs(expected.commands), 1.0)).max() < 1e-10
    assert np.abs(found.violations - expected.violations).max(initial=0.0) < 1e-10
    if loop.controller.composition.size.sides:  # the same active bounds are tried: warm starts are as good
        solved = np.array(expected.statuses) == "solved"
        assert abs(found.iterations[solved].sum() / expected.iterations[solved].sum() - 1.0) < 0.02
    counts = Counter(expected.statuses)
    assert counts["solved"] > (100 if "rests" in name else STEPS // 2)
    assert (counts["held"] > 0) == ("disturbed" in name)
    assert (counts["relaxed"] > 0) == ("relaxed" in name)


def in_a_corner() -> Loop:
    """A ball too fast to get away from, and hard limits that push the command into one corner of theirs."""
    ball = ct.Measured([2.0, 0.0, 0.0])
    loop = arm("velocity", ct.KeepOut("tool", ball, 0.1), ct.VelocityLimits(0.3), infeasible="relax")

    def disturb(k: int, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if k % 400 == 200:
            ball.update(loop.robot.pose("tool", q).translation + [0.072, 0.0, 0.096], [-3.0, 0.0, -4.0])
        if k % 400 == 240:
            ball.update([2.0, 0.0, 0.0])
        return q, v

    loop.disturb = disturb
    return loop


@needs_compiler
@pytest.mark.long
def test_statuses_and_violations_in_a_corner(
    linked: tuple[list[str], dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Velocities of joints that hardly move the hand are known there to 1e-8 only, in Python as in C."""
    monkeypatch.setattr(daqp, "Model", CountingModel)
    loop = in_a_corner()
    given, expected = loop.run(2000)
    found = run_in_c(loop, given, tmp_path, *linked)
    assert found.statuses == expected.statuses
    assert Counter(expected.statuses)["relaxed"] > 100
    assert np.abs(found.violations - expected.violations).max() < 1e-10
    assert np.abs(found.commands - expected.commands).max() < 1e-7


# --- refusals ---------------------------------------------------------------------------------------------------------


def _refused(make: Callable[[], Any], *words: str) -> str:
    with pytest.raises(dq.Error) as caught:
        make().c_library("arm")
    assert all(word in str(caught.value) for word in words), str(caught.value)
    return str(caught.value)


def test_controllers_that_do_more_are_refused() -> None:
    robot = dq.robots.two_link()
    rest, posture = ct.RestTask(), ct.PostureTask([0.1, 0.2])
    hold = {"infeasible": "hold"}
    _refused(lambda: ct.velocity_controller(robot, [rest], infeasible="raise"), "infeasible='raise'", "'relax', 'hold'")
    limits = [ct.VelocityLimits(1.0)]
    _refused(lambda: ct.velocity_controller(robot, [rest], limits, solver="piqp", **hold), "solver='daqp'")
    _refused(lambda: ct.velocity_controller(robot, [rest], damping=0.0, **hold), "damping above 0")
    strict_tasks, dampings = [[rest], [posture]], [1e-3, 0.0]
    _refused(lambda: ct.velocity_controller(robot, strict_tasks, damping=dampings, **hold), "above 0 at every level")
    piqp = {"solver": "piqp"}
    _refused(lambda: ct.velocity_controller(robot, strict_tasks, limits, **piqp, **hold), "solver='daqp'")
    of_whole_body = ct.whole_body_controller(robot, [rest])
    _refused(lambda: of_whole_body, "Only controllers by velocity", "found WholeBodyController")


@pytest.mark.parametrize("name", ["", "a b", "2nd", 3, "double", "a__b"])
def test_bad_names_of_libraries_are_refused(name: Any) -> None:
    robot = dq.robots.two_link()
    controller = ct.velocity_controller(robot, [ct.RestTask()], infeasible="hold")
    with pytest.raises(dq.Error, match="cannot name a C library"):
        controller.c_library(name)
    with pytest.raises(dq.Error, match="cannot name a C library"):
        robot.c_library(["pose"], name)


def test_header_says_what_a_step_takes() -> None:
    robot = dq.robots.two_link()
    ball = ct.Measured([1.0, 0.0, 3.0])
    zone = ct.KeepOut("tool", ball, 0.1)
    controller = ct.velocity_controller(robot, [ct.TranslationTask("tool", [1.0, 0.0, 1.0])], [zone], infeasible="hold")
    header = controller.c_library("arm").header
    assert (
        "int arm_step(arm_controller *controller, double t, const double *q, const double *v, double *command);"
        in header
    )
    assert "at rest" in header
    assert "moves: write it at every step" in header
    assert "@" not in header
    assert "@" not in controller.c_library("arm").source
