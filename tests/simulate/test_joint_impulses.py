"""End stops and stiction against closed forms, laws of the impulses, time stepping and MuJoCo."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from simulated import start_of
from trees import random_robot

import dqdyn as dq
from dqdyn.robot import Robot
from dqdyn.simulate.integrators.integrator import _rollout
from dqdyn.simulate.integrators.rkmk4 import RKMK4
from dqdyn.simulate.system import System

G, MASS = 9.81, 2.0
QUIET: dict[str, Any] = {"efforts": "ignore"}


def slider(axis: tuple[float, float, float], **joint: Any) -> Robot:
    """A mass on a straight rail."""
    tensor = ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
    links = (dq.Link("world"), dq.Link("cart", dq.Inertia(MASS, (0.0, 0.0, 0.0), tensor)))
    return Robot.from_description(
        dq.Description("slider", links, (dq.Joint("rail", "prismatic", "world", "cart", axis=axis, **joint),))
    )


def with_joints(robot: Robot, **values: Any) -> Robot:
    joints = tuple(replace(j, **values) if j.kind == "revolute" else j for j in robot.description.joints)
    return Robot.from_description(robot.description.with_changes(joints=joints))


@pytest.mark.parametrize("integrator", ["rkmk4", "semi-implicit-euler", "variational", "implicit"])
def test_a_block_slides_to_a_halt_and_stays(integrator: str) -> None:
    friction, speed = 3.0, 0.9
    robot = slider((1.0, 0.0, 0.0), friction=friction)
    run = dq.simulate(robot, None, 1.0, 1e-3, v0=[speed], stiction=True, integrator=integrator)
    halt = MASS * speed / friction
    sliding = run.time < halt - 1e-3
    assert np.abs(run.v[sliding, 0] - (speed - friction / MASS * run.time[sliding])).max() < 1e-12
    assert run.q[-1, 0] == pytest.approx(0.5 * MASS * speed**2 / friction, abs=1e-3 * speed)
    assert np.abs(run.v[run.time > halt + 2e-3]).max() < 1e-15
    assert np.ptp(run.q[run.time > halt + 2e-3]) < 1e-15


@pytest.mark.parametrize(("part", "moves"), [(1.02, False), (0.98, True)])
def test_a_block_on_a_slope_sticks_where_friction_is_large_enough(part: float, moves: bool) -> None:
    slope = 0.4
    pull = MASS * G * np.sin(slope)
    robot = slider((float(np.cos(slope)), 0.0, float(-np.sin(slope))), friction=part * pull)
    run = dq.simulate(robot, None, 1.0, 1e-3, stiction=True)
    if not moves:
        assert np.abs(run.q).max() < 1e-12
        assert np.abs(run.a[1:]).max() < 1e-9
        assert np.allclose(run.extra["joint_forces"][1:], -pull)
        return
    assert run.q[-1, 0] == pytest.approx(0.5 * (1.0 - part) * pull / MASS, rel=1e-9)


def test_a_falling_block_rests_on_its_stop() -> None:
    robot = slider((0.0, 0.0, 1.0), lower=-0.5, upper=0.2)
    run = dq.simulate(robot, None, 0.6, 1e-3, limits=True)
    hit = np.sqrt(2.0 * 0.5 / G)
    assert run.status == "finished"
    assert run.q.min() == -0.5
    late = run.time > hit + 5e-3
    assert np.abs(run.v[late]).max() < 1e-12
    assert np.allclose(run.extra["joint_forces"][late], MASS * G)
    impulse = (run.extra["joint_forces"][~late].sum()) * 1e-3 - MASS * G * (run.time[~late][-1] - hit)
    assert impulse == pytest.approx(MASS * G * hit, rel=1e-2)


@pytest.mark.parametrize("seed", range(5))
def test_impulses_of_friction_obey_their_law_on_random_robots(seed: int) -> None:
    kinds = ("revolute", "prismatic", "universal", "spherical", "planar")
    robot = random_robot(30 + seed, 4, kinds, base=("fixed", "free")[seed % 2])
    joints = tuple(replace(j, friction=2.0 + 5.0 * (i % 2)) for i, j in enumerate(robot.description.joints))
    robot = Robot.from_description(robot.description.with_changes(joints=joints), base=robot.base)
    q0, v0 = start_of(robot, seed, 0.02)
    h = 2e-3
    run = dq.simulate(robot, None, 100 * h, h, q0=q0, v0=v0, stiction=True, limits=False, **QUIET)
    most = np.array([f for j in robot.joints for f in j.friction])
    force, v = run.extra["joint_forces"][1:], run.v[1:]
    assert (np.abs(force) <= most * (1.0 + 1e-9)).all()
    inside = np.abs(force) < most * (1.0 - 1e-6)
    assert inside[:, most > 0.0].any()
    assert np.abs(np.where(inside & (most > 0.0), v, 0.0)).max() < 1e-4
    assert (np.where(inside, 0.0, force * v) <= 1e-6).all()


@pytest.mark.long
def test_end_stops_agree_with_time_stepping() -> None:
    robot = dq.robots.two_link()
    robot = with_joints(robot, lower=-1.0, upper=0.6)
    errors = []
    for h in (2e-3, 1e-3, 5e-4):
        ours = dq.simulate(robot, None, 0.6, h, q0=[0.3, 0.2], limits=True)
        theirs = dq.simulate(robot, None, 0.6, h, q0=[0.3, 0.2], limits=True, integrator="time-stepping")
        errors.append(float(np.abs(ours.q[-1] - theirs.q[-1]).max()))
        assert ours.q.min() >= -1.0
        assert ours.q.max() <= 0.6
    assert errors[-1] < 0.6 * errors[0] or errors[0] < 1e-9
    assert errors[-1] < 5e-3


def test_friction_that_slides_agrees_with_mujoco() -> None:
    pytest.importorskip("mujoco")
    robot = with_joints(dq.robots.two_link(), friction=0.8)
    options: dict[str, Any] = {"q0": [-0.4, 0.3], "limits": False}
    ours = dq.simulate(robot, None, 0.4, 1e-3, stiction=True, **options)
    theirs = dq.simulate(robot, None, 0.4, 1e-4, plant="mujoco", **options)
    assert np.abs(ours.q[-1] - theirs.q[-1]).max() < 5e-3


def test_batches_are_runs_side_by_side() -> None:
    robot = with_joints(dq.robots.arm7(), friction=3.0)
    q0 = np.array([[0.3, 1.0, 0.2, -0.5, 0.1, 0.2, 0.3], np.full(7, 0.4), np.full(7, -0.3)])
    options: dict[str, Any] = {"limits": True, "stiction": True}
    many = dq.simulate(robot, None, 0.3, 1e-3, q0=q0, **options)
    for i in range(3):
        one = dq.simulate(robot, None, 0.3, 1e-3, q0=q0[i], **options)
        assert np.abs(many.q[:, i] - one.q).max() < 1e-9
        assert np.abs(many.member(i).extra["joint_forces"] - one.extra["joint_forces"]).max() < 1e-4
    assert (many.q <= robot.limits.upper).all()
    assert (many.q >= robot.limits.lower).all()


def test_a_controller_that_is_asked_has_stops_too() -> None:
    robot = dq.robots.arm7()
    run = dq.simulate(robot, lambda t, q, v: robot.gravity_forces(q) + 20.0 * (np.arange(7) == 0), 1.5, limits=True)
    assert run.q[:, 0].max() == robot.limits.upper[0]
    assert run.q[-1, 0] == robot.limits.upper[0]
    assert run.extra["joint_forces"][-1, 0] == pytest.approx(-20.0, rel=1e-2)


def test_runs_without_them_use_the_program_that_has_nothing_of_them() -> None:
    robot = dq.robots.arm7()
    before = _rollout.cache_info()
    plain = _rollout(RKMK4(), System(robot))
    dq.simulate(robot, None, 0.01, limits=False)
    dq.simulate(robot, None, 0.01)
    after = _rollout.cache_info()
    assert after.misses - before.misses <= 1
    assert _rollout(RKMK4(), System(robot)) is plain


def test_what_they_do_not_take() -> None:
    bar = dq.robots.four_bar()
    q, v = bar.project(bar.neutral())
    with pytest.raises(dq.Error, match="end stops and stiction take no constraints"):
        dq.simulate(bar, None, 0.1, q0=q, v0=v, limits=True)

    class Fast:
        level = "velocity"

        def step(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            return np.zeros(7)

    with pytest.raises(dq.Error, match="a controller at velocity level is followed exactly"):
        dq.simulate(dq.robots.arm7(), Fast(), 0.1, limits=True)
    with pytest.raises(dq.Error, match="with contacts leaves out stiction"):
        dq.simulate(dq.robots.arm7(), None, 0.1, integrator="time-stepping", limits=True, stiction=True)
