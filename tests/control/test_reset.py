"""A controller that was reset gives the same commands again, to the last bit, whatever it solved before."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct

GOAL, FAR = (0.5, 0.2, 0.6), (3.0, 1.0, 0.1)  # the second one is out of reach: limits are active


def tasks(target: ct.Measured) -> list[list[ct.Task]]:
    return [[ct.TranslationTask("tool", target, gain=4.0)], [ct.PostureTask(np.full(6, 0.3), gain=2.0)]]


def by_velocity(target: ct.Measured, **options: str) -> ct.Controller:
    limits = [ct.VelocityLimits(), ct.JointLimits()]
    return ct.velocity_controller(dq.robots.arm6(), tasks(target)[0], limits, damping=0.01, **options)


def by_torque(target: ct.Measured, **options: str) -> ct.Controller:
    limits = [ct.JointLimits(), ct.TorqueLimits()]
    return ct.torque_controller(dq.robots.arm6(), tasks(target), limits, damping=0.01, **options)


@pytest.mark.parametrize("make", [by_velocity, by_torque])
@pytest.mark.parametrize("solver", ["daqp", "piqp"])
def test_commands_after_a_reset(make: Callable[..., ct.Controller], solver: str) -> None:
    target = ct.Measured(FAR)
    controller = make(target, solver=solver)
    rng = np.random.default_rng(1)
    states = [(0.5 * rng.standard_normal(6), 0.5 * rng.standard_normal(6)) for _ in range(20)]

    def commands() -> np.ndarray:
        controller.reset()
        return np.array([controller(0.1 * k, *state) for k, state in enumerate(states)])

    first = commands()
    target.update(GOAL)
    other = commands()  # other problems, with other bounds active at the end
    target.update(FAR)
    assert not np.array_equal(other, first)
    assert np.array_equal(commands(), first)
