"""Controllers in simulations: accepted as they are, recorded, and as good as in plain loops."""

from __future__ import annotations

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct

ARM = dq.robots.arm7()
Q0 = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1])
P0 = ARM.pose("tool", Q0).translation


@pytest.mark.filterwarnings("ignore:The target of")
def test_torque_controller() -> None:
    """The hand is asked below the table and stays above it; the errors and distances are in the trajectory."""
    table = dq.Plane([0.0, 0.0, 1.0], distance=P0[2] - 0.1)
    tasks = [[ct.TranslationTask("tool", P0 - [0.0, 0.0, 0.3], gain=2.0)], [ct.RestTask(gain=2.0)]]
    controller = ct.torque_controller(ARM, tasks, [ct.KeepAbove("tool", table, gain=3.0, name="table")])
    found = dq.simulate(ARM, controller, duration=2.0, dt=2e-3, q0=Q0, v0=np.zeros(7))
    heights = np.array([ARM.pose("tool", q).translation[2] for q in found.q])
    assert heights.min() > P0[2] - 0.1 - 1e-5
    assert heights[-1] < P0[2] - 0.09
    np.testing.assert_allclose(found.extra["h: table"].ravel()[:-1], (heights - P0[2] + 0.1)[:-1], atol=1e-9)
    assert found.extra["error: translation of tool"].shape == (len(found.time), 3)


def test_velocity_controller() -> None:
    goal = ARM.pose("tool", Q0 + 0.2)
    controller = ct.velocity_controller(ARM, [ct.PoseTask("tool", goal, gain=3.0)], [ct.VelocityLimits()])
    found = dq.simulate(ARM, controller, duration=2.0, dt=5e-3, q0=Q0)
    assert np.abs(found.extra["error: pose of tool"][-1]).max() < 2e-3
    assert controller.report.status == "solved"


def test_computed_torque_keeps_its_rate() -> None:
    found = dq.simulate(ARM, ct.computed_torque(ARM, Q0 + 0.3, gains=(6.0, 8.0)), duration=2.0, dt=2e-3, q0=Q0)
    # poles −2 and −4, from rest: 2e^{−2t} − e^{−4t}
    expected = 0.3 * (2 * np.exp(-2 * found.time) - np.exp(-4 * found.time))
    np.testing.assert_allclose(Q0[3] + 0.3 - found.q[:, 3], expected, atol=2e-3)
