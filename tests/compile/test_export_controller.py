"""Controllers in C: the same commands as in Python, without undefined behaviour, and refusals in one sentence."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compiler import NO_SANITIZERS, STRICT, compiled, has_sanitizers, needs_compiler
from daqp_source import daqp_objects, daqp_source

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.scalar import cos, sin

STEPS, DT = 10_000, 1e-3
POSTURE = np.array([0.3, 0.5, -0.2, 1.4, 0.1, 0.8, 0.0])

_MAIN = """
#include <stdio.h>
#include "arm.h"
#define P arm_signals
int main(void)
{
    arm_controller *c = arm_new();
    if (c == NULL) {
        return 2;
    }
    double in[1 + arm_nq + arm_nv + 3 * P], out[1 + arm_nv];
    while (fread(in, sizeof in, 1, stdin) == 1) {
        const double *signals = in + 1 + arm_nq + arm_nv;
        for (int i = 0; i < P; i++) {
            arm_values(c)[i] = signals[i];
            arm_rates(c)[i] = signals[P + i];
            arm_accelerations(c)[i] = signals[2 * P + i];
        }
        out[0] = arm_step(c, in[0], in + 1, in + 1 + arm_nq, out + 1);
        if (fwrite(out, sizeof out, 1, stdout) != 1) {
            return 3;
        }
    }
    arm_free(c);
    return 0;
}
"""


@dataclass
class Loop:
    """A controller, where its robot starts, and what happens before a step k: times, states and signals change."""

    robot: Any
    controller: Any
    q: np.ndarray
    disturb: Callable[[int, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]] = lambda k, q, v: (q, v)
    statuses: dict[str, int] = field(default_factory=dict)

    def run(self, steps: int) -> tuple[np.ndarray, np.ndarray]:
        """What a step gets (steps, …) and the commands of Python (steps, 1 + nv), the first number 0 where solved."""
        robot, controller = self.robot, self.controller
        q, v = self.q, np.zeros(robot.nv)
        buffer = controller.composition.buffer
        given, commands = [], []
        for k in range(steps):
            t = k * DT
            seen = self.disturb(k, q, v)
            command = controller(t, *seen)
            status = controller.report.status
            self.statuses[status] = self.statuses.get(status, 0) + 1
            given.append([t, *seen[0], *seen[1], *buffer.value, *buffer.rate, *buffer.acceleration])
            commands.append([status != "solved", *command])
            if controller.level == "velocity":
                v = command
            else:
                a = command if controller.level == "acceleration" else robot.forward_dynamics(q, v, command)
                v = v + DT * a
            q = robot.integrate(q, v, DT)
        return np.array(given), np.array(commands)


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
            away = {0: 0.11, 1: 0.16, 2: 0.05, 3: 2.0}[(k // 400) % 4]
            ball.update(at + away * np.array([0.6, 0.0, 0.8]), [0.05, 0.0, -0.02])
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


LOOPS: dict[str, Callable[[], Loop]] = {
    **{level: lambda level=level: arm(level) for level in ("velocity", "acceleration", "torque")},
    **{f"{level}, disturbed": lambda level=level: disturbed(level) for level in ("velocity", "acceleration", "torque")},
    "rests": lambda: disturbed("torque", "rest"),
    "no bounds": lambda: unconstrained("velocity"),
    "equalities": wheeled,
}


@pytest.fixture(scope="module")
def daqp(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[list[str]]:
    source = daqp_source(Path(request.config.cache.mkdir("daqp")))
    folder = tmp_path_factory.mktemp("daqp")
    flags = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"] if has_sanitizers(folder) else []
    return [*flags, *daqp_objects(source, folder, *flags)]


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize("name", LOOPS)
def test_commands_are_those_of_python(name: str, daqp: list[str], tmp_path: Path) -> None:
    if not any("sanitize" in flag for flag in daqp):
        warnings.warn(NO_SANITIZERS, stacklevel=1)
    loop = LOOPS[name]()
    folder = loop.controller.c_library("arm").write(tmp_path / "arm")
    (folder / "main.c").write_text(_MAIN, encoding="utf-8")
    program = tmp_path / "run"
    compiled(*STRICT, "-O1", "-g0", folder / "arm.c", folder / "main.c", f"-I{folder}", *daqp, "-lm", "-o", program)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.ControlWarning)
        given, expected = loop.run(STEPS)
    settings = {"ASAN_OPTIONS": "detect_leaks=0"}
    done = subprocess.run([program], input=given.tobytes(), capture_output=True, env=settings, timeout=300, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    found = np.frombuffer(done.stdout).reshape(expected.shape)
    assert np.array_equal(found[:, 0] != 0.0, expected[:, 0] != 0.0)
    assert np.abs(found[:, 1:] - expected[:, 1:]).max() < 1e-10
    assert loop.statuses.get("solved", 0) > (100 if name == "rests" else STEPS // 2)
    assert ("held" in loop.statuses) == ("disturbed" in name or name == "rests")


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


def test_bounds_that_follow_the_progress_of_tasks_are_refused() -> None:
    """σ is found by a second problem in each step, without which the commands would be others."""
    task = ct.TranslationTask("tool", [0.3, 0.2, 0.5])
    for reach in (1.0, 0.0):
        stop = ct.StoppingBounds(2.0, reach=reach)
        controller = ct.acceleration_controller(dq.robots.arm7(), [task], [stop], infeasible="hold", solver="daqp")
        if reach:
            with pytest.raises(ct.ControlError, match="'stopping bounds' asks at each step how much of the tasks"):
                controller.c_library()
        else:
            assert controller.c_library().files
