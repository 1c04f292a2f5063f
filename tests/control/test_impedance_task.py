"""Impedance: static deflection F/K, decay of mass, spring and damper, energy and power, natural inertia."""

from __future__ import annotations

import numpy as np
import pytest
from control_tools import MOVING, accelerate, arm, check_derivatives, rows_of
from trees import TREES, assert_close, random_state, run, tree

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.control.core.kinematics import State

POINT = ct.point("tool", (0.1, 0.2, 0.0))
Q = np.array([0.3, -0.5, 0.8, 0.4, 0.9, -0.2])


def spd(rng: np.random.Generator, size: int, scale: float = 1.0) -> np.ndarray:
    root = rng.normal(size=(size, size))
    return scale * (root @ root.T / size + 0.5 * np.eye(size))


def decay_of(robot: dq.Robot, task: ct.Task, t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, ...]:
    """J and r of J a + r as a controller traces them, e and ė; on plain numbers."""
    bound, state = task.bound_to(robot.model), State(robot.model, q.tolist(), v.tolist())
    rows = bound.rows(state, [signal.at(t) for signal in bound.signals])
    right = [rows.decay(i, bound.gains) for i in range(len(rows.value))]
    return np.array(rows.jacobian), np.array(right), np.array(rows.value), np.array(rows.rate)


@pytest.mark.parametrize("name", TREES)
def test_law_of_frames_and_points(name: str) -> None:
    """M (J a + J̇ v + …) + D ė + K e = F at the a that solves the rows, with matrices that couple all components."""
    robot, rng, t = tree(name), np.random.default_rng(4), 0.3
    q, v, _ = random_state(robot, rng)
    for frame, target, plain, size in (
        ("tool", MOVING["pose"], ct.PoseTask("tool", MOVING["pose"]), 6),
        (POINT, MOVING["point"], ct.TranslationTask(POINT, MOVING["point"]), 3),
    ):
        M, D, K = spd(rng, size), spd(rng, size, 5.0), spd(rng, size, 20.0)
        rows = rows_of(robot, plain, t, q, v)
        task = ct.ImpedanceTask(frame, target, stiffness=K, damping=D, inertia=M)
        J, right, e, e_rate = decay_of(robot, task, t, q, v)
        assert_close(J, rows["jacobian"])
        assert_close(e, rows["value"])
        assert_close(e_rate, rows["rate"])
        acceleration = rows["drift"] - right  # ë where J a + r = 0
        assert_close(M @ acceleration + D @ e_rate + K @ e, np.zeros(size), 1e-9, 20.0)


@pytest.mark.long
def test_derivatives() -> None:
    robot = tree("every kind, mimic")
    q, v, _ = random_state(robot, np.random.default_rng(1))
    check_derivatives(robot, ct.ImpedanceTask("tool", MOVING["pose"], stiffness=10.0), q, 0.3 * v)


@pytest.mark.parametrize("name", TREES)
def test_force_enters_by_its_power(name: str) -> None:
    """F · ė = f · ṗ + τ · ω at any angle: the energy of spring and mass knows all that the force does."""
    robot, rng = tree(name), np.random.default_rng(6)
    target, wrench = robot.pose("tool", robot.random_configuration(8)), rng.normal(size=6)
    M = spd(rng, 6)
    options = {"stiffness": 3.0, "damping": 1.0, "inertia": M}
    with_force = ct.ImpedanceTask("tool", target, force=wrench, **options)  # type: ignore[arg-type]
    without = ct.ImpedanceTask("tool", target, **options)  # type: ignore[arg-type]
    for _ in range(3):
        q, v, _ = random_state(robot, rng)
        _, right, _, e_rate = decay_of(robot, with_force, 0.0, q, v)
        force = M @ (decay_of(robot, without, 0.0, q, v)[1] - right)
        twist = run(robot, "twist", q, v, frame=robot.model.frame("tool"), expressed="aligned")
        power = wrench[:3] @ twist[3:] + wrench[3:] @ twist[:3]
        assert force @ e_rate == pytest.approx(power, rel=1e-9, abs=1e-9)


def test_static_deflection_under_a_measured_force() -> None:
    """K e = F at rest, for a point and, about the axis of the torque, for a frame."""
    robot = arm()
    x = robot.pose("tool", Q)
    f, torque = np.array([4.0, -2.0, 3.0]), np.array([0.3, 0.2, -0.4])
    K = np.array([100.0, 150.0, 200.0])
    point = ct.ImpedanceTask(ct.point("tool"), x.translation, stiffness=K, inertia=2.0, force=f)
    frame = ct.ImpedanceTask(
        "tool", x, stiffness=[4.0] * 3 + [120.0] * 3, inertia=[0.1] * 3 + [1.0] * 3, force=[*f, *torque]
    )
    turned = x.rotation_matrix.T
    for task, expected in ((point, f / K), (frame, [*(turned @ torque / 4.0), *(turned @ f / 120.0)])):
        controller = ct.acceleration_controller(robot, [task, ct.RestTask(gain=5.0, weight=1e-4)], damping=1e-6)
        accelerate(robot, controller, Q, np.zeros(6), 3.0, 2e-3)
        np.testing.assert_allclose(controller.errors[task.name], expected, atol=2e-4)


@pytest.mark.parametrize("ratio", [0.3, None, 2.0])
def test_decay_of_mass_spring_and_damper(ratio: float | None) -> None:
    """All six components follow ë + 2ζω ė + ω² e = 0 from rest; without a damping ζ is 1."""
    robot, duration = arm(), 0.4
    mass, stiffness = np.array([0.5, 0.4, 0.6, 2.0, 3.0, 1.5]), np.array([8.0, 9.0, 10.0, 60.0, 70.0, 80.0])
    omega = np.sqrt(stiffness / mass)
    damping = None if ratio is None else 2.0 * ratio * omega * mass
    x = robot.pose("tool", Q)
    off = dq.Pose(rotation=[np.cos(0.2), np.sin(0.2) * 0.6, 0.0, np.sin(0.2) * 0.8], translation=[0.03, -0.04, 0.05])
    task = ct.ImpedanceTask("tool", x * off, stiffness=stiffness, damping=damping, inertia=mass)
    controller = ct.acceleration_controller(robot, [task], damping=1e-8)
    controller(0.0, Q, np.zeros(6))
    start = controller.errors[task.name]
    controller(duration, *accelerate(robot, controller, Q, np.zeros(6), duration, 5e-4))
    zeta = 1.0 if ratio is None else ratio
    np.testing.assert_allclose(controller.errors[task.name], start * response(zeta, omega * duration), atol=3e-4)


def response(zeta: float, angle: np.ndarray) -> np.ndarray:
    """e(t)/e(0) from rest at ωt, for damping below, at and above the critical."""
    if zeta == 1.0:
        return (1.0 + angle) * np.exp(-angle)
    root = np.sqrt(complex(zeta**2 - 1.0))
    p, m = -zeta + root, -zeta - root
    return np.real((m * np.exp(p * angle) - p * np.exp(m * angle)) / (m - p))


def test_critical_damping_of_matrices_that_couple() -> None:
    """All six poles of M s² + D s + K are real and double: s = −ω for each eigenvalue ω² of M⁻¹ K."""
    rng = np.random.default_rng(3)
    M, K = spd(rng, 6), spd(rng, 6, 30.0)
    D = ct.ImpedanceTask("tool", dq.Pose(), stiffness=K, inertia=M).damping
    for eigenvalue in np.linalg.eigvals(np.linalg.solve(M, K)).real:
        s = -np.sqrt(eigenvalue)
        assert np.linalg.svd(s**2 * M + s * D + K, compute_uv=False)[-1] < 1e-9
        assert np.linalg.svd(2.0 * s * M + D, compute_uv=False)[-1] < 1e-9


@pytest.mark.long
def test_natural_inertia_gives_way_to_forces_that_nobody_measures() -> None:
    """By torque, with a wrench on the tool that the controller knows nothing about: K e = F at rest."""
    robot = arm()
    x = robot.pose("tool", Q)
    K = np.array([20.0, 20.0, 20.0, 300.0, 400.0, 500.0])
    task = ct.ImpedanceTask("tool", x, stiffness=K, damping=[0.8] * 3 + [100.0] * 3, inertia="natural")
    controller = ct.torque_controller(robot, [task], damping=1e-8)
    f, torque = np.array([8.0, -6.0, 5.0]), np.array([0.5, -0.4, 0.6])
    q, v, dt = Q, np.zeros(6), 1e-3
    for k in range(5000):
        jacobian = robot.twist_jacobian("tool", q, expressed="aligned")
        push = jacobian[3:].T @ f + jacobian[:3].T @ torque
        a = robot.forward_dynamics(q, v, controller(k * dt, q, v) + push)
        v = v + dt * a
        q = robot.integrate(q, v, dt)
    turned = x.rotation_matrix.T
    e = controller.errors[task.name]
    np.testing.assert_allclose(e, [*(turned @ torque / 20.0), *(turned @ f / K[3:])], atol=2e-5)
    assert np.abs(v).max() < 1e-3


def test_numbers_diagonals_and_matrices_agree() -> None:
    robot, q, v = arm(), Q, np.linspace(-0.2, 0.3, 6)
    found = [
        decay_of(robot, ct.ImpedanceTask("tool", dq.Pose(), stiffness=K, damping=D, inertia=M), 0.0, q, v)[1]
        for K, D, M in (
            (5.0, 2.0, 3.0),
            ([5.0] * 6, [2.0] * 6, [3.0] * 6),
            (5 * np.eye(6), 2 * np.eye(6), 3 * np.eye(6)),
        )
    ]
    for other in found[1:]:
        assert_close(other, found[0], 1e-12)


def test_target_in_a_forbidden_zone_is_warned_of() -> None:
    table = dq.Plane([0.0, 0.0, 1.0], distance=0.0)
    task = ct.ImpedanceTask(ct.point("tool"), [0.3, 0.2, -0.1], stiffness=100.0)
    with pytest.warns(ct.ControlWarning, match="The target of 'impedance of tool' lies in the zone .* by 0.1"):
        ct.acceleration_controller(arm(), [task], [ct.KeepAbove("tool", table)])
