"""Constraints during a run: kept by projection to rounding, by Baumgarte's method nearly, and otherwise let drift."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.robot import Robot

NAMES = ["four_bar", "five_bar", "stewart_platform", "nonholonomic_manipulator"]


def start(robot: Robot) -> dict[str, Any]:
    q, v = robot.project(robot.neutral())
    return {"q0": q, "v0": v}


@pytest.mark.parametrize("integrator", ["rkmk4", "semi-implicit-euler"])
@pytest.mark.parametrize("name", NAMES)
def test_projection_keeps_constraints(name: str, integrator: str) -> None:
    robot = getattr(dq.robots, name)().with_constraints(stabilisation="projection")
    run = dq.simulate(robot, None, 0.3, 1e-3, integrator=integrator, **start(robot))
    assert run.residual.shape[1] >= len(robot.constraint_rows)
    assert np.abs(run.residual).max() < 1e-10
    assert np.abs(run.v).max() > 0.1


@pytest.mark.parametrize("name", NAMES)
def test_without_stabilisation_the_drift_is_that_of_the_integrator(name: str) -> None:
    robot = getattr(dq.robots, name)()
    found = [dq.simulate(robot, None, 0.1, dt, **start(robot)) for dt in (2e-3, 1e-3)]
    drift = [float(np.abs(run.residual).max()) for run in found]
    assert drift[1] < 1e-5
    assert drift[1] < max(0.15 * drift[0], 1e-12)
    assert found[1].energy[-1] == pytest.approx(found[1].energy[0], rel=1e-6)


def test_baumgarte_pulls_back() -> None:
    robot = dq.robots.four_bar()
    q, v = robot.project(robot.neutral())
    off = robot.integrate(q, np.full(robot.nv, 1e-7), 1.0)
    runs = {
        name: dq.simulate(robot.with_constraints(stabilisation=name), None, 0.5, 1e-4, q0=off, v0=v, every=100)
        for name in ("baumgarte", "projection")
    }
    first = np.abs(robot.constraint_residual(off)).max()
    assert first > 1e-9
    assert np.abs(runs["projection"].residual[1:]).max() < 1e-12
    assert np.abs(runs["baumgarte"].residual[-1]).max() < 0.1 * first


def test_adaptive_steps_project_too() -> None:
    robot = dq.robots.four_bar().with_constraints(stabilisation="projection")
    run = dq.simulate(robot, None, 1.0, 0.05, integrator="adaptive", **start(robot))
    assert np.abs(run.residual).max() < 1e-6
    assert run.energy[-1] == pytest.approx(run.energy[0], rel=1e-6)


def test_a_state_off_the_constraints_is_refused() -> None:
    robot = dq.robots.four_bar()
    q = robot.project(robot.neutral())[0] + 0.1
    with pytest.raises(dq.StateError, match=r"does not obey the constraint .* robot\.project"):
        dq.simulate(robot, q0=q)


def test_the_variational_method_says_what_to_use_instead() -> None:
    robot = dq.robots.four_bar()
    with pytest.raises(dq.Error, match="takes no constraints"):
        dq.simulate(robot, integrator="variational", **start(robot))


def test_a_batch_of_constrained_robots() -> None:
    robot = dq.robots.four_bar().with_constraints(stabilisation="projection")
    q, _ = robot.project(robot.neutral())
    speeds = robot.project(np.repeat(q[None], 9, 0), np.random.default_rng(1).normal(size=(9, robot.nv)))[1]
    many = dq.simulate(robot, None, 0.1, 1e-3, q0=q, v0=speeds)
    one = dq.simulate(robot, None, 0.1, 1e-3, q0=q, v0=speeds[8])
    np.testing.assert_allclose(many.member(8).q, one.q, rtol=1e-9, atol=1e-10)
