"""Adaptive steps: tolerance, dense output, events."""

from __future__ import annotations

import math

import numpy as np
import pytest
from simulated import distance, floating_chain, rigid_body, start_of

import dqdyn as dq
from dqdyn.simulate import SimulationError, SimulationWarning


def test_tolerance_is_kept() -> None:
    robot = floating_chain()
    q0, v0 = start_of(robot)
    exact = dq.simulate(robot, None, 1.0, 5e-5, q0=q0, v0=v0, every=20_000).q[-1]
    errors, steps = [], []
    for rtol in (1e-4, 1e-7, 1e-10):
        run = dq.simulate(robot, None, 1.0, 0.1, q0=q0, v0=v0, integrator="adaptive", rtol=rtol, atol=rtol / 100)
        errors.append(distance(robot, run.q[-1], exact))
        steps.append(run.about["steps"])
    assert steps[0] < steps[1] < steps[2] < 2000
    assert errors[2] < 1e-8
    assert errors[1] < 1e-5
    assert errors[0] > errors[1] > errors[2]


def test_samples_between_steps() -> None:
    robot = rigid_body()
    q0, v0 = start_of(robot)
    coarse = dq.simulate(robot, None, 1.0, 0.5, q0=q0, v0=v0, integrator="adaptive")
    fine = dq.simulate(robot, None, 1.0, 0.001, q0=q0, v0=v0, integrator="adaptive")
    exact = dq.simulate(robot, None, 1.0, 0.001, q0=q0, v0=v0)
    assert coarse.about["steps"] == fine.about["steps"] < 500
    assert np.abs(robot.difference(fine.q, exact.q)).max() < 1e-6
    np.testing.assert_allclose(coarse.q[-1], fine.q[-1], rtol=1e-13)
    assert np.abs(np.linalg.norm(fine.q[:, :4], axis=1) - 1.0).max() < 1e-13


def pendulum() -> dq.Robot:
    return dq.robots.two_link().lock({"joint2": 0.0})


def test_events_of_a_pendulum() -> None:
    robot = pendulum()

    def bottom(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return q[0] + math.pi / 2

    small = 0.01
    run = dq.simulate(
        robot, None, 10.0, 0.1, q0=[-math.pi / 2 + small], integrator="adaptive", events=[bottom], rtol=1e-10
    )
    omega = math.sqrt(2.0 * 9.81 * 1.0 / (8.0 / 3.0 + 2e-16))  # two rods end to end: m g l over the inertia 8/3
    half = math.pi / omega * (1.0 + small**2 / 16.0)
    times = run.events["bottom"]
    np.testing.assert_allclose(times, half * (0.5 + np.arange(len(times))), rtol=1e-6)
    assert len(times) == int(10.0 / half + 0.5)
    assert run.status == "finished"


@pytest.mark.parametrize(("direction", "count"), [(0, 2), (1, 1), (-1, 1)])
def test_directions(direction: int, count: int) -> None:
    def event(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return q[0] + 1.0

    event.direction = direction  # type: ignore[attr-defined]
    run = dq.simulate(pendulum(), None, 2.4, 0.1, q0=[-0.5], integrator="adaptive", events=[event])
    assert len(run.events["event"]) == count
    way = np.sign(np.interp(run.events["event"], run.time, run.v[:, 0]))
    assert way.tolist() == {0: [-1.0, 1.0], 1: [1.0], -1: [-1.0]}[direction]


def test_a_terminal_event_ends_the_run_there() -> None:
    def fallen(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return q[0] + 1.2345

    fallen.terminal = True  # type: ignore[attr-defined]
    run = dq.simulate(pendulum(), None, 10.0, 0.1, q0=[-0.5], integrator="adaptive", events=[fallen])
    assert run.status.startswith("event 'fallen' at t = ")
    assert run.q[-1, 0] == pytest.approx(-1.2345, abs=1e-12)
    assert run.time[-1] == run.events["fallen"][0]
    assert len(run.time) == len(run.tau) == len(run.a)
    assert (np.diff(run.time) > 0.0).all()


def test_an_event_of_nan_stops_the_run() -> None:
    def broken(t: float, q: np.ndarray, v: np.ndarray) -> float:
        return float("nan") if t > 0.3 else 1.0

    with pytest.raises(SimulationError, match="the event 'broken' gave nan") as caught:
        dq.simulate(pendulum(), None, 1.0, 0.1, q0=[-0.5], integrator="adaptive", events=[broken])
    assert len(caught.value.trajectory) >= 3


def test_forces_without_bound_are_told() -> None:
    law = dq.simulate.ControlLaw(lambda t, q, v: [50.0 * v[0] * v[0] * v[0]])
    with pytest.warns(SimulationWarning, match="no step is small enough"):
        run = dq.simulate(pendulum(), law, 5.0, 0.01, q0=[-0.5], v0=[1.0], integrator="adaptive")
    assert run.status.startswith("diverged")
    assert np.isfinite(run.q).all()
    assert 0.0 < run.time[-1] < 0.1


def test_batches_take_no_controller_in_python() -> None:
    with pytest.raises(dq.Error, match="a batch without a controller in Python"):
        dq.simulate(pendulum(), lambda t, q, v: [0.0], q0=[[0.0], [1.0]], integrator="adaptive")
