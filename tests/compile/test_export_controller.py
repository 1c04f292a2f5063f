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
TURN = [0.0, 1.0, 0.0, 0.0]
POSTURE = np.array([0.3, 0.5, -0.2, 1.4, 0.1, 0.8, 0.0])

def _target(robot: Any) -> Any:
    x, y, z = robot.pose("tool", POSTURE).translation
    return lambda t: [x + 0.1 * sin(t), y + 0.15 * cos(1.3 * t) - 0.15, z + 0.1 * sin(0.7 * t)]


def arm(level: str, *more: Any, infeasible: str = "hold") -> Loop:
    """An arm that follows a curve through a zone that it has to keep out of, within limits."""
    robot = dq.robots.arm7()
    x, y, z = robot.pose("tool", POSTURE).translation
    zones = [ct.KeepOut("tool", [x + 0.12, y - 0.15, z + 0.05], 0.06), ct.JointLimits(), *more]
    tasks = [ct.TranslationTask("tool", _target(robot), gain=4.0), ct.PostureTask(POSTURE, weight=1e-2)]
    make = getattr(ct, f"{level}_controller")
    limits = {"velocity": [ct.VelocityLimits(0.3)], "acceleration": [ct.VelocityLimits(1.0)]}
    bounds = limits.get(level, [ct.VelocityLimits(1.0), ct.TorqueLimits(60.0)])
    return Loop(robot, make(robot, tasks, [*zones, *bounds], infeasible=infeasible), POSTURE)


def unconstrained(level: str) -> Loop:
    """No bounds at all."""
    robot = dq.robots.arm7()
    tasks = [ct.TranslationTask("tool", _target(robot), gain=4.0), ct.PostureTask(POSTURE, weight=1e-2)]
    return Loop(robot, getattr(ct, f"{level}_controller")(robot, tasks, infeasible="hold"), POSTURE)


def disturbed(level: str, infeasible: str = "hold") -> Loop:
    """A ball that is measured jumps at the hand, states are lost for some steps, and time goes back."""
    ball = ct.Measured([2.0, 0.0, 0.0])
    loop = arm(level, ct.KeepOut("tool", ball, 0.1), infeasible=infeasible)
    hand = loop.robot.pose("tool", POSTURE).translation

    def disturb(k: int, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if k % 400 == 200:
            at = loop.robot.pose("tool", q).translation
            away = (0.11, 0.16, 0.05, 2.0, 0.12)[(k // 400) % 5]
            rate = [-3.0, 0.0, -4.0] if away == 0.12 else [0.05, 0.0, -0.02]  # the last one is too fast to get away
            ball.update(at + away * np.array([0.6, 0.0, 0.8]), rate)
        if k % 400 == 330:
            ball.update(hand + [2.0, 0.0, 0.0])
        if k % 700 in (600, 601, 602):
            q = np.full_like(q, np.nan)
        if k % 700 in (602, 603):
            v = np.full_like(v, np.inf)
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
    return Loop(robot, ct.velocity_controller(robot, [task], limits, infeasible="hold"), q)


def strict(level: str, infeasible: str = "relax", damping: Any = 1e-3, *more: Any) -> Loop:
    """Three levels: where the hand is, which way it points, and a posture."""
    loop = arm(level)
    robot, constraints = loop.robot, loop.controller.composition.design.constraints
    away = ct.PostureTask(POSTURE + 0.3)
    tasks = [[ct.TranslationTask("tool", _target(robot), gain=4.0)], [ct.RotationTask("tool", TURN)], [away]]
    make = getattr(ct, f"{level}_controller")
    return Loop(robot, make(robot, tasks, [*constraints, *more], infeasible=infeasible, damping=damping), POSTURE)


LOOPS: dict[str, Callable[[], Loop]] = {
    **{level: lambda level=level: arm(level) for level in ("velocity", "acceleration", "torque")},
    **{f"{level}, disturbed": lambda level=level: disturbed(level) for level in ("velocity", "acceleration", "torque")},
    **{
        f"{level}, relaxed, disturbed": lambda level=level: disturbed(level, "relax")
        for level in ("velocity", "acceleration", "torque")
    },
    "rests, disturbed": lambda: disturbed("torque", "rest"),
    **{f"{level}, strict": lambda level=level: strict(level) for level in ("velocity", "acceleration", "torque")},
    "no bounds": lambda: unconstrained("velocity"),
    "equalities": wheeled,
}


@pytest.fixture(scope="module")
def linked(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> tuple[list[str], dict[str, str]]:
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
    counts = Counter(expected.statuses)
    print(name, counts, found.iterations.sum(), expected.iterations.sum(), np.abs(found.commands - expected.commands).max(), np.abs(found.violations - expected.violations).max(initial=0))
    assert found.statuses == expected.statuses
    assert np.abs(found.commands - expected.commands).max() < 1e-10
    assert np.abs(found.violations - expected.violations).max(initial=0.0) < 1e-10
    assert counts["solved"] > (100 if "rests" in name else STEPS // 2)
    assert (counts["held"] > 0) == ("disturbed" in name)
    assert (counts["relaxed"] > 0) == ("relaxed" in name)


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
    _refused(lambda: ct.velocity_controller(robot, [[rest], [posture]], **hold), "one level", "has 2", "weights")
    _refused(lambda: ct.velocity_controller(robot, [rest], infeasible="raise"), "infeasible='raise'", "'hold'")
    limits = [ct.VelocityLimits(1.0)]
    _refused(lambda: ct.velocity_controller(robot, [rest], limits, solver="piqp", **hold), "solver='daqp'")
    _refused(lambda: ct.velocity_controller(robot, [rest], damping=0.0, **hold), "damping above 0")


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
