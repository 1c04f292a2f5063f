"""Cooperative dual task space on a torso and on a base that does not slip sideways."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from control_tools import accelerate

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.robot import Robot

HANDS = ("left_hand", "right_hand")


@cache
def upper_body() -> Robot:
    return dq.robots.bimanual()


@cache
def mobile() -> Robot:
    return dq.robots.bimanual().with_base("differential")


def start(robot: Robot) -> np.ndarray:
    """Both elbows bent, hands in front of the body."""
    bend = {"shoulder_pitch": -0.6, "shoulder_roll": -0.2, "elbow": -1.3, "wrist_pitch": 0.3}
    q = robot.neutral()
    for joint in robot.joints:
        q[joint.q] = next((angle for part, angle in bend.items() if joint.name.endswith(part)), q[joint.q])
    return q


def carried(robot: Robot, q: np.ndarray, step: tuple[float, float, float], turn: float) -> dq.Pose:
    """The absolute pose, moved and turned about z."""
    x = robot.absolute_pose(*HANDS, q)
    moved = dq.Pose(translation=x.translation + step)
    return moved * dq.Pose(rotation=[np.cos(turn / 2), 0, 0, np.sin(turn / 2)]) * dq.Pose(rotation=x.rotation)


@pytest.mark.parametrize("base", ["torso", "wheels"])
@pytest.mark.parametrize("level", ["velocity", "acceleration"])
def test_object_between_the_hands(base: str, level: str) -> None:
    """The relative pose stays to 1e-6, as an equality with feedback; the absolute pose reaches its target."""
    robot = upper_body() if base == "torso" else mobile()
    q = start(robot)
    grip = robot.relative_pose(*HANDS, q)
    goal = carried(robot, q, (0.1, 0.05, 0.05) if base == "torso" else (0.6, 0.3, 0.0), 0.2)
    tasks = [[ct.AbsolutePoseTask(*HANDS, goal, gain=1.5)], [ct.RestTask(gain=2.0)]]
    bounds = [ct.RelativePoseTask(*HANDS, grip, gain=8.0), ct.VelocityLimits(3.0)]
    off, slip = [0.0], [0.0]

    def watch(q: np.ndarray, v: np.ndarray) -> None:
        x = robot.relative_pose(*HANDS, q)
        off.append(np.abs(x.vec8() - grip.vec8() * np.sign(x.vec8() @ grip.vec8())).max())
        if base == "wheels":
            slip.append(abs(-np.sin(q[2]) * v[0] + np.cos(q[2]) * v[1]))

    if level == "velocity":
        c, dt = ct.velocity_controller(robot, tasks, bounds), 2e-3
        for k in range(2500):
            v = c(k * dt, q)
            watch_slip = abs(-np.sin(q[2]) * v[0] + np.cos(q[2]) * v[1]) if base == "wheels" else 0.0
            slip.append(watch_slip)
            q = robot.integrate(q, v, dt)
            x = robot.relative_pose(*HANDS, q)
            off.append(np.abs(x.vec8() - grip.vec8() * np.sign(x.vec8() @ grip.vec8())).max())
        assert max(slip) < 1e-9
        assert max(off) < 2e-5  # one step of the integrator off, and led back
    else:
        c = ct.acceleration_controller(robot, tasks, bounds)
        q, v = accelerate(robot, c, q, np.zeros(robot.nv), 5.0, 2e-3, lambda t, q, v: watch(q, v))
        assert max(off) < 2e-6
    assert c.report.status == "solved"
    assert np.abs(c.errors[tasks[0][0].name]).max() < 0.02


def test_relative_error_shrinks_with_the_step() -> None:
    """The relative pose is off by the discretisation alone: half the step, half the error, 1e-6 in the end."""
    robot, q0 = upper_body(), start(upper_body())
    grip = robot.relative_pose(*HANDS, q0)
    goal = carried(robot, q0, (0.1, 0.05, 0.05), 0.2)
    hold = ct.RelativePoseTask(*HANDS, grip, gain=8.0)
    c = ct.velocity_controller(robot, [ct.AbsolutePoseTask(*HANDS, goal, gain=1.5)], [hold])
    worst = []
    for dt in (4e-3, 2e-3):
        q, off = q0, 0.0
        for k in range(round(2.0 / dt)):
            q = robot.integrate(q, c(k * dt, q), dt)
            off = max(off, np.abs(c.errors[hold.name]).max())
        worst.append(off)
    assert worst[0] / worst[1] == pytest.approx(2.0, rel=0.3)


def test_no_slip_is_an_equality_of_every_controller() -> None:
    """A v = 0 to 1e-9 for velocities, A v̇ + Ȧ v = 0 for accelerations, also where a task would like to slip."""
    robot = dq.robots.nonholonomic_manipulator()
    q = robot.random_configuration(3)
    p = robot.pose("tool", q).translation
    sideways = ct.TranslationTask("tool", p + 2.0 * np.array([-np.sin(q[2]), np.cos(q[2]), 0.0]))
    v = ct.velocity_controller(robot, [sideways])(0.0, q)
    assert np.abs(v).max() > 0.1
    assert abs(-np.sin(q[2]) * v[0] + np.cos(q[2]) * v[1]) < 1e-9
    a = ct.acceleration_controller(robot, [sideways])(0.0, q, v)
    matrix, right = robot.constraint_matrix(q, v), robot.constraint_bias(q, v)
    np.testing.assert_allclose(matrix @ a, right, atol=1e-9)
    free = robot.without_constraints()
    u = ct.velocity_controller(free, [sideways])(0.0, q)
    assert abs(-np.sin(q[2]) * u[0] + np.cos(q[2]) * u[1]) > 0.1
