"""A million steps: energy stays bounded, quaternions stay unit, momenta stay."""

from __future__ import annotations

import numpy as np
import pytest
from simulated import momentum, space_chain, start_of

import dqdyn as dq
from dqdyn.simulate.integrators import Variational

STEPS = 1_000_000


def spread(energy: np.ndarray) -> tuple[float, float, float]:
    """Range of the energy over all samples, over the first tenth and over the last."""
    tenth = len(energy) // 10
    return float(np.ptp(energy)), float(np.ptp(energy[:tenth])), float(np.ptp(energy[-tenth:]))


def test_double_pendulum() -> None:
    run = dq.simulate(dq.robots.two_link(), None, STEPS * 1e-3, 1e-3, q0=[0.3, 0.2], integrator="variational", every=50)
    assert run.status == "finished"
    assert len(run) == STEPS // 50 + 1
    motion = np.ptp(run.kinetic)
    total, first, last = spread(run.energy)
    assert motion > 10.0
    assert total < 1e-3 * motion
    assert last < 2.0 * first


@pytest.mark.parametrize("links", [2])
def test_floating_chain(links: int) -> None:
    robot = space_chain(links)
    q0, v0 = start_of(robot)
    run = dq.simulate(robot, None, STEPS * 1e-3, 1e-3, q0=q0, v0=v0, integrator="variational", every=500)
    assert run.status == "finished"
    total, first, last = spread(run.energy)
    assert np.ptp(run.v[:, 6:]) > 0.1  # the joints do move
    assert total < 1e-4 * run.energy[0]
    assert last < 2.0 * first
    assert np.abs(np.linalg.norm(run.q[:, :4], axis=-1) - 1.0).max() < 1e-12
    found = momentum(robot, run.q, run.v)
    assert np.abs(found - found[0]).max() < 1e-10 * run.duration
    assert np.abs(found[10] - found[0]).max() < 1e-10 * (run.time[10] - run.time[0])


def test_runge_kutta_gains_or_loses_where_the_variational_method_does_not() -> None:
    """With a coarse step, so that few steps show it."""
    robot, options = dq.robots.two_link(), {"q0": [0.3, 0.2], "every": 20}
    drift = {}
    for integrator in ("rkmk4", Variational(12)):
        energy = dq.simulate(robot, None, 800.0, 1e-2, integrator=integrator, **options).energy
        means = [energy[: len(energy) // 10].mean(), energy[-len(energy) // 10 :].mean()]
        drift["rkmk4" if integrator == "rkmk4" else "variational"] = abs(means[1] - means[0])
    assert drift["variational"] < 0.2 * drift["rkmk4"]


@pytest.mark.parametrize("integrator", ["rkmk4", "semi-implicit-euler"])
def test_unit_quaternions(integrator: str) -> None:
    """Only the exponential keeps them so: nothing is normalised."""
    robot = space_chain(2)
    q0, v0 = start_of(robot, speed=0.3)
    run = dq.simulate(robot, None, STEPS // 2 * 1e-3, 1e-3, q0=q0, v0=v0, integrator=integrator, every=10_000)
    assert np.abs(np.linalg.norm(run.q[:, :4], axis=-1) - 1.0).max() < 1e-12
