"""Masks and weights per component of a task's error, and damping per level."""

from __future__ import annotations

import numpy as np
import pytest
from control_tools import arm

import dqdyn as dq
from dqdyn import control as ct

Q = np.array([0.3, -0.5, 0.8, 0.4, 0.9, -0.2])
V = np.linspace(-0.3, 0.4, 6)
OFF = dq.Pose(rotation=[np.cos(0.1), np.sin(0.1) * 0.6, 0.0, np.sin(0.1) * 0.8], translation=[0.03, -0.04, 0.05])
MAKERS = [ct.velocity_controller, ct.acceleration_controller, ct.torque_controller]


def task(**options: object) -> ct.Task:
    return ct.PoseTask("tool", arm().pose("tool", Q) * OFF, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("make", MAKERS)
def test_a_mask_leaves_rows_out(make: type) -> None:
    """The command is that of the normal equations of the rows that are left."""
    mask, eta, weight = np.array([1, 0, 0, 1, 0, 1]), np.linspace(1.0, 2.0, 6), np.linspace(0.5, 3.0, 6)
    controller = make(arm(), [task(mask=mask, gain=eta, weight=weight)])
    command = controller(0.0, Q, V)
    rows, kept = ct.linearise(arm(), task())(0.0, Q, V), mask == 1
    J, w = rows.jacobian[kept], np.diag(weight[kept])
    right = eta * rows.value
    if make is not ct.velocity_controller:
        right = rows.drift + 3.0 * eta * (rows.jacobian @ V) + 2.0 * eta**2 * rows.value
    u = -np.linalg.solve(J.T @ w @ J + 1e-6 * np.eye(6), J.T @ w @ right[kept])
    expected = arm().inverse_dynamics(Q, V, u) if make is ct.torque_controller else u
    np.testing.assert_allclose(command, expected, rtol=1e-7, atol=1e-8)
    assert controller.errors[controller.composition.design.tasks[0][0].name].shape == (3,)


def test_a_lower_level_has_what_the_mask_leaves_free() -> None:
    """The position is free to serve a translation on the second level, exactly."""
    robot, away = arm(), arm().pose("tool", Q).translation + [0.02, 0.0, -0.01]
    lower = ct.TranslationTask("tool", away)
    controller = ct.velocity_controller(robot, [[task(mask=[1, 1, 1, 0, 0, 0])], [lower]], damping=1e-9)
    v = controller(0.0, Q)
    rows = ct.linearise(robot, lower)(0.0, Q)
    np.testing.assert_allclose(rows.jacobian @ v, -rows.value, atol=1e-6)


def test_a_masked_equality_holds_the_rows_that_are_left() -> None:
    robot, held = arm(), task(mask=[0, 0, 1, 0, 1, 0])
    v = ct.velocity_controller(robot, [ct.RestTask()], [held])(0.0, Q)
    rows, kept = ct.linearise(robot, task())(0.0, Q), [2, 4]
    np.testing.assert_allclose(rows.jacobian[kept] @ v, -rows.value[kept], atol=1e-7)


def test_a_masked_target_is_not_said_to_lie_in_a_zone(recwarn: pytest.WarningsRecorder) -> None:
    wall = dq.Plane([0.0, 0.0, 1.0], distance=5.0)
    ct.velocity_controller(arm(), [task(mask=[1, 1, 1, 0, 0, 0])], [ct.KeepAbove("tool", wall)])
    assert not [w for w in recwarn if "lies in the zone" in str(w.message)]


WRONG = {
    "mask size": ({"mask": [1, 0, 1]}, "mask of pose of tool has one per component of the error, 6; found 3"),
    "mask zeros": ({"mask": [0] * 6}, "1 or 0 per component of the error, and not all 0"),
    "mask halves": ({"mask": [0.5] * 6}, "1 or 0 per component"),
    "mask nan": ({"mask": [float("nan")] * 6}, "1 or 0 per component"),
    "mask words": ({"mask": ["x"] * 6}, "mask of pose of tool must be real numbers"),
    "mask number": ({"mask": 1.0}, "1 or 0 per component"),
    "weight size": (
        {"weight": [1.0, 2.0]},
        "one number, or one per component of the error, 6; found 2",
    ),
    "weight zero": ({"weight": [1.0, 0.0, 1.0, 1.0, 1.0, 1.0]}, "above 0; use mask= to leave components alone"),
    "weight nan": ({"weight": [float("nan")] * 6}, "weight of pose of tool must be a number above 0; found nan"),
    "weight none": ({"weight": None}, "weight of pose of tool must be a number above 0; found None"),
    "weight empty": ({"weight": []}, "one number, or one per component"),
    "both sizes": ({"mask": [1] * 6, "weight": [1.0] * 3}, "weight of pose of tool has .* 6; found 3"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_masks_and_weights(case: str) -> None:
    options, text = WRONG[case]
    with pytest.raises(dq.Error, match=text):
        ct.velocity_controller(arm(), [task(**options)])


@pytest.mark.parametrize("make", [ct.velocity_controller, ct.acceleration_controller])
def test_damping_of_the_first_level_does_not_slow_the_second(make: type) -> None:
    """With λ = 0.5 on the first level, what the second asks for in the null space is done to λ² = 1e-6."""
    robot, first = arm(), task(mask=[0, 0, 0, 1, 1, 1])
    lower = ct.PostureTask(Q + 0.2, name="posture")
    Z = np.linalg.svd(ct.linearise(robot, first)(0.0, Q).jacobian)[2][3:].T

    def missed(damping: object) -> float:
        controller = make(robot, [[first], [lower]], damping=damping)
        u = controller(0.0, Q, V)
        rows = ct.linearise(robot, lower)(0.0, Q, V)
        wanted = rows.value if make is ct.velocity_controller else rows.drift + 3.0 * V + 2.0 * rows.value
        return float(np.linalg.norm(Z.T @ (u + wanted)) / np.linalg.norm(Z.T @ wanted))

    assert missed(0.5) < 3e-6
    assert missed([0.5, 0.5]) == pytest.approx(0.25 / 1.25, rel=1e-6)  # λ² / (1 + λ²)
    assert missed([1e-3, 0.1]) == pytest.approx(0.01 / 1.01, rel=1e-5)


@pytest.mark.parametrize(
    ("damping", "text"),
    [
        ([1.0], "damping is one number, or one per level of the tasks, 2"),
        ([1.0, None], "damping must be a number from 0; found None"),
        ([1.0, float("nan")], "damping must be a number from 0; found nan"),
        ("much", "damping must be a number from 0; found 'much'"),
        (np.eye(2), "one per level of the tasks, 2"),
        (-1.0, "damping must be a number from 0"),
    ],
)
def test_wrong_damping(damping: object, text: str) -> None:
    with pytest.raises(dq.Error, match=text):
        ct.velocity_controller(arm(), [[task()], [ct.RestTask()]], damping=damping)  # type: ignore[arg-type]
