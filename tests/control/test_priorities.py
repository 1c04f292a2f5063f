"""Strict priorities: lower levels leave the residuals of higher ones alone, to 1e-8; weights do not."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from control_tools import MOVING, accelerate

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.core.optimum import null_space

ROBOT = dq.robots.bimanual()
HANDS = [name for name in ROBOT.frames if "hand" in name][:2]


def levels() -> list[list[ct.Task]]:
    """Four levels of tasks that cannot all be met; the first two have dependent rows."""
    left, right = HANDS
    return [
        [ct.PoseTask(left, MOVING["pose"], error="difference", gain=2.0)],
        [ct.LineTask(right, dq.Line([0.0, 0.0, 1.0], [0.5, 0.0, 0.0])), ct.TranslationTask(left, [0.3, 0.3, 1.0])],
        [ct.CenterOfMassTask([0.0, 0.1, 0.9])],
        [ct.PostureTask(ROBOT.neutral())],
    ]


TASKS = levels()


@cache
def linearised(task: ct.Task) -> Callable[..., ct.Linear]:
    return ct.linearise(ROBOT, task)


def residuals(u: np.ndarray, level: str, q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
    """J u + r of every level."""
    found = []
    for group in TASKS:
        parts = []
        for task in group:
            rows = linearised(task)(0.3, q, v)
            if level == "velocity":
                parts.append(rows.jacobian @ u + rows.residual + task.gain * rows.value)
            else:
                rate = rows.jacobian @ v + rows.residual
                parts.append(rows.jacobian @ u + rows.drift + task.gains[0] * rate + task.gains[1] * rows.value)
        found.append(np.concatenate(parts))
    return found


@cache
def controllers(level: str) -> list[ct.Controller]:
    """With one, two, … levels, and with all tasks weighted."""
    make = ct.velocity_controller if level == "velocity" else ct.acceleration_controller
    bounds = [ct.VelocityLimits(3.0)] if level == "velocity" else [ct.AccelerationLimits(8.0)]
    weighted = [task for group in TASKS for task in group]
    designs = [*(TASKS[: k + 1] for k in range(len(TASKS))), weighted]
    return [make(ROBOT, tasks, bounds, damping=1e-2) for tasks in designs]


@pytest.mark.equation("Quiroz", "3.5")
@pytest.mark.equation("Quiroz", "3.6")
@pytest.mark.parametrize("level", ["velocity", "acceleration"])
@pytest.mark.long
def test_lower_levels_leave_the_higher_ones_alone(level: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        q, v = ROBOT.random_configuration(seed), 0.2 * rng.normal(size=ROBOT.nv)
        *commands, weighted = (c(0.3, q, v) for c in controllers(level))
        for k in range(1, len(TASKS)):
            before, after = (residuals(u, level, q, v) for u in commands[k - 1 : k + 1])
            for higher in range(k):
                assert np.abs(after[higher] - before[higher]).max() < 1e-8
            assert np.linalg.norm(after[k]) <= np.linalg.norm(before[k]) + 1e-9  # and the new level profits
        # weights instead: the highest residual changes
        alone = residuals(commands[0], level, q, v)[0]
        assert np.abs(residuals(weighted, level, q, v)[0] - alone).max() > 1e-3


def test_bounds_hold_at_every_level() -> None:
    c = ct.velocity_controller(ROBOT, TASKS, [ct.VelocityLimits(0.5)])
    for seed in range(5):
        assert np.abs(c(0.3, ROBOT.random_configuration(seed))).max() <= 0.5 + 1e-8


def test_paper_has_rest_at_the_lower_level() -> None:
    """(3.6): of all accelerations with the same J v̇ the one nearest to −α v."""
    robot = dq.robots.arm7()
    q, v = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1]), np.linspace(-0.3, 0.4, 7)
    task = ct.TranslationTask("tool", [0.4, 0.2, 0.5])
    u1 = ct.acceleration_controller(robot, [task], damping=1e-3)(0.0, q, v)
    u = ct.acceleration_controller(robot, [[task], [ct.RestTask(gain=2.0)]], damping=1e-3)(0.0, q, v)
    J = ct.linearise(robot, task)(0.0, q).jacobian
    np.testing.assert_allclose(J @ u, J @ u1, atol=1e-10)
    kkt = np.block([[np.eye(7) * (1 + 1e-6), J.T], [J, np.zeros((3, 3))]])
    expected = np.linalg.solve(kkt, np.concatenate([-2.0 * v, J @ u1]))[:7]
    np.testing.assert_allclose(u, expected, atol=1e-8)


def test_joints_stop_only_with_the_lower_level() -> None:
    robot = dq.robots.arm7()
    q, v = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1]), np.full(7, 0.15)
    task = ct.TranslationTask("tool", robot.pose("tool", q).translation, gain=2.0)
    slow = ct.acceleration_controller(robot, [[task], [ct.RestTask(gain=2.0)]])
    assert np.linalg.norm(accelerate(robot, slow, q, v, 4.0, 5e-3)[1]) < 1e-3
    assert np.linalg.norm(accelerate(robot, ct.acceleration_controller(robot, [task]), q, v, 4.0, 5e-3)[1]) > 0.1


def test_null_space() -> None:
    rng = np.random.default_rng(0)
    full = rng.normal(size=(3, 7))
    for matrix, size in ((full, 4), (np.vstack([full, full]), 4), (np.zeros((2, 7)), 7), (np.zeros((0, 7)), 7)):
        z = null_space(matrix)
        assert z.shape == (7, size)
        np.testing.assert_allclose(matrix @ z, 0.0, atol=1e-12)
        np.testing.assert_allclose(z.T @ z, np.eye(size), atol=1e-12)
