"""One gain per component of a task's error: each decays at its own rate, at both levels."""

from __future__ import annotations

import numpy as np
import pytest
from control_tools import accelerate, arm, follow

import dqdyn as dq
from dqdyn import control as ct

Q = np.array([0.3, -0.5, 0.8, 0.4, 0.9, -0.2])
ETA = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
OFF = dq.Pose(rotation=[np.cos(0.1), np.sin(0.1) * 0.6, 0.0, np.sin(0.1) * 0.8], translation=[0.03, -0.04, 0.05])


def task_and_start() -> tuple[ct.Task, np.ndarray]:
    task = ct.PoseTask("tool", arm().pose("tool", Q) * OFF, gain=ETA)
    return task, ct.linearise(arm(), task)(0.0, Q).value


@pytest.mark.long
def test_velocities_decay_at_their_own_rates() -> None:
    """e^{−ηt} per component."""
    robot, (task, start) = arm(), task_and_start()
    controller = ct.velocity_controller(robot, [task], damping=1e-8)
    controller(0.5, follow(robot, controller, Q, 0.5, 1e-3))
    np.testing.assert_allclose(controller.errors[task.name], start * np.exp(-0.5 * ETA), atol=2e-4)


@pytest.mark.long
def test_accelerations_have_the_poles_of_each_gain() -> None:
    """−η and −2η: 2 e^{−ηt} − e^{−2ηt} from rest."""
    robot, (task, start) = arm(), task_and_start()
    controller = ct.acceleration_controller(robot, [task], damping=1e-8)
    controller(0.5, *accelerate(robot, controller, Q, np.zeros(6), 0.5, 1e-3))
    expected = start * (2.0 * np.exp(-0.5 * ETA) - np.exp(-ETA))
    np.testing.assert_allclose(controller.errors[task.name], expected, atol=2e-4)


@pytest.mark.parametrize("make", [ct.velocity_controller, ct.acceleration_controller])
@pytest.mark.parametrize("task", ["rest", "posture"])
def test_equal_gains_are_one_gain(make: type, task: str) -> None:
    robot, v = arm(), np.linspace(-0.3, 0.4, 6)
    build = {
        "rest": lambda gain: ct.RestTask(gain=gain),
        "posture": lambda gain: ct.PostureTask(np.zeros(6), gain=gain),
    }
    one, six = (make(robot, [build[task](gain)])(0.0, Q, v) for gain in (2.5, [2.5] * 6))
    np.testing.assert_allclose(six, one, rtol=1e-12, atol=1e-14)


WRONG = {
    "size": ([1.0, 2.0], "one per component of the error, 3; found 2"),
    "zero": ([1.0, 0.0, 1.0], "gain of translation of tool must be a number above 0; found 0.0"),
    "nan": ([1.0, float("nan"), 1.0], "must be a number above 0; found nan"),
    "matrix": (np.eye(3), "has one number, or one per component"),
    "words": (["a", "b", "c"], "gain of translation of tool must be real numbers"),
    "ragged": ([1.0, [2.0]], "gain of translation of tool"),
    "none": (None, "must be a number above 0; found None"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_gains(case: str) -> None:
    gain, text = WRONG[case]
    with pytest.raises(dq.Error, match=text):
        ct.velocity_controller(arm(), [ct.TranslationTask("tool", [0.0, 0.0, 0.0], gain=gain)])  # type: ignore[arg-type]


def test_gains_of_both_kinds_are_refused() -> None:
    with pytest.raises(dq.Error, match="not both"):
        ct.TranslationTask("tool", [0.0, 0.0, 0.0], gain=[1.0, 2.0, 3.0], gains=(5.0, 1.0))
