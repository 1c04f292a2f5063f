"""Controllers: optimality of their commands, rates of decay, torque through every formulation, computed torque."""

from __future__ import annotations

import numpy as np
import pytest
from control_tools import MOVING, accelerate, arm, follow
from trees import random_robot, random_state

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.dynamics.methods import INVERSE
from dqdyn.errors import Error

Q0 = np.array([0.1, 0.4, 0.2, -1.2, 0.3, 0.8, 0.1])
ARM = dq.robots.arm7()


def target(step: float = 0.3) -> dq.Pose:
    return ARM.pose("tool", Q0 + step)


@pytest.mark.equation("Quiroz", "3.1")
def test_velocity_minimises_the_objective() -> None:
    """Without constraints v = −(JᵀJ + λ²)⁻¹ Jᵀ (η e + ζ); with them no feasible velocity is better."""
    task = ct.PoseTask("tool", MOVING["pose"], gain=1.7)
    free = ct.velocity_controller(ARM, [task], damping=0.05)
    rows = ct.linearise(ARM, task)(0.4, Q0)
    J, r = rows.jacobian, 1.7 * rows.value + rows.residual
    expected = -np.linalg.solve(J.T @ J + 0.05**2 * np.eye(7), J.T @ r)
    np.testing.assert_allclose(free(0.4, Q0), expected, atol=1e-9)
    table = dq.Plane([0.0, 0.0, 1.0], distance=0.2)
    limited = ct.velocity_controller(ARM, [task], [ct.VelocityLimits(0.3), ct.KeepAbove("tool", table)], damping=0.05)
    v = limited(0.4, Q0)
    assert np.abs(v).max() <= 0.3 + 1e-9
    cost = lambda u: np.sum((J @ u + r) ** 2) + 0.05**2 * u @ u
    normal = ct.linearise(ARM, ct.KeepAbove("tool", table))(0.4, Q0)
    rng = np.random.default_rng(0)
    for _ in range(300):
        u = np.clip(v + rng.normal(size=7) * 10.0 ** rng.uniform(-3, 0), -0.3, 0.3)
        if normal.jacobian[0] @ u >= -normal.value[0]:
            assert cost(u) >= cost(v) - 1e-9


@pytest.mark.parametrize("gain", [0.5, 2.0])
def test_error_decays_at_the_set_rate(gain: float) -> None:
    """By velocity e^{−ηt}; by acceleration with the poles −η and −2η the same in the end."""
    c = ct.velocity_controller(ARM, [ct.PoseTask("tool", target(), gain=gain)], damping=1e-5)
    q, dt = Q0, 1e-3
    sizes = []
    for k in range(1000):
        q = ARM.integrate(q, c(k * dt, q), dt)
        sizes.append(np.linalg.norm(c.errors["pose of tool"]))
    assert np.log(sizes[0] / sizes[-1]) / (999 * dt) == pytest.approx(gain, rel=2e-3)
    c = ct.acceleration_controller(ARM, [ct.PoseTask("tool", target(), gain=gain)], damping=1e-5)
    late = []
    accelerate(
        ARM, c, Q0, np.zeros(7), 6.0 / gain, 2e-3, lambda *_: late.append(np.linalg.norm(c.errors["pose of tool"]))
    )
    half = len(late) // 2
    assert np.log(late[half] / late[-1]) / ((len(late) - half) * 2e-3) == pytest.approx(gain, rel=0.05)


def test_moving_target_is_followed() -> None:
    """With the residual of the target the error decays to the discretisation error, of first order in the step."""
    errors = []
    for dt in (4e-3, 2e-3):
        c = ct.velocity_controller(ARM, [ct.TranslationTask("tool", MOVING["point"], gain=10.0)], damping=1e-6)
        follow(ARM, c, Q0, 2.0, dt)
        errors.append(np.linalg.norm(c.errors["translation of tool"]))
    assert errors[0] < 2e-3
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.4)


@pytest.mark.equation("Quiroz", "3.2")
@pytest.mark.equation("Quiroz", "3.3")
def test_acceleration_minimises_the_objective() -> None:
    rng = np.random.default_rng(1)
    v = rng.normal(size=7) * 0.3
    task = ct.PoseTask("tool", MOVING["pose"], gains=(1.5, 0.3))
    c = ct.acceleration_controller(ARM, [task], damping=0.02)
    rows = ct.linearise(ARM, task)(0.4, Q0, v)
    J, rate = rows.jacobian, rows.jacobian @ v + rows.residual
    beta = rows.jacobian_derivative @ v + rows.residual_derivative + 0.3 * rows.value + 1.5 * rate
    expected = -np.linalg.solve(J.T @ J + 0.02**2 * np.eye(7), J.T @ beta)
    np.testing.assert_allclose(c(0.4, Q0, v), expected, atol=1e-9)


@pytest.mark.equation("Quiroz", "3.4")
def test_stopping_bounds() -> None:
    """γ_l ≤ v̇ ≤ γ_u at every step; the joints stop with the task, which they do not without the bounds."""
    task = ct.DistanceTask("tool", dq.Plane([0.0, 0.0, 1.0], distance=0.6), gains=(3.0, 2.0))
    v0 = np.array([0.1, -0.02, 0.1, 0.01, -0.1, 0.02, 0.1])
    speeds = {}
    for bounds in ([], [ct.StoppingBounds(1.5)]):
        c = ct.acceleration_controller(ARM, [task], bounds)
        _, v = accelerate(ARM, c, Q0, v0, 15.0, 0.01)
        speeds[len(bounds)] = np.linalg.norm(v)
        assert abs(c.errors[task.name][0]) < 0.02
    assert speeds[1] < 1e-3
    assert speeds[0] > 0.05
    c = ct.acceleration_controller(ARM, [task], [ct.StoppingBounds(1.5)])
    a = c(0.0, Q0, v0)
    g = np.linalg.norm(ct.linearise(ARM, task)(0.0, Q0).jacobian @ v0)
    g = g + abs(c.errors[task.name][0])
    assert (a <= 1.5 * (g - v0) + 1e-9).all()
    assert (a >= 1.5 * (-g - v0) - 1e-9).all()
    printed = ct.acceleration_controller(ARM, [task], [ct.StoppingBounds(1.5, reach=0.0)])
    np.testing.assert_allclose(printed(0.0, Q0, np.zeros(7)), 0.0, atol=1e-9)  # never leaves rest


@pytest.mark.equation("Quiroz", "3.7")
@pytest.mark.parametrize("method", ["auto", *INVERSE])
def test_torque_through_every_formulation(method: str) -> None:
    """τ = n + M a: forward dynamics gives back the accelerations."""
    v = np.random.default_rng(2).normal(size=7) * 0.3
    tasks = [ct.PoseTask("tool", target())]
    a = ct.acceleration_controller(ARM, tasks)(0.0, Q0, v)
    tau = ct.torque_controller(ARM, tasks, method=method)(0.0, Q0, v)
    np.testing.assert_allclose(ARM.mass_matrix(Q0) @ a + ARM.bias_forces(Q0, v), tau, atol=1e-8)
    np.testing.assert_allclose(ARM.forward_dynamics(Q0, v, tau), a, atol=1e-8)


def test_torque_limits() -> None:
    tasks = [ct.PoseTask("tool", target(), gain=8.0)]
    v = np.zeros(7)
    free = ct.torque_controller(ARM, tasks)(0.0, Q0, v)
    bias = ARM.bias_forces(Q0, v)
    limit = np.maximum(0.5 * np.abs(free), 1.1 * np.abs(bias)) + 0.1
    assert (np.abs(free) > limit).any()
    c = ct.torque_controller(ARM, tasks, [ct.TorqueLimits(limit)])
    tau = c(0.0, Q0, v)
    assert c.report.status == "solved"
    assert (np.abs(tau) <= limit + 1e-7).all()


@pytest.mark.equation("Farias", "73")
@pytest.mark.equation("Farias", "74")
@pytest.mark.equation("Farias", "75")
@pytest.mark.equation("Farias", "76")
@pytest.mark.equation("Farias", "77")
@pytest.mark.equation("Farias", "78")
def test_computed_torque() -> None:
    """v̇ = K_P (θ_d − θ) + K_D (θ̇_d − θ̇) + θ̈_d, for a moving target too."""
    goal = lambda t: [0.1 * k * t * t + 0.2 * t for k in range(7)]
    q_d, v_d, a_d = (np.array([0.1 * k * c + e for k in range(7)]) for c, e in ((0.25, 0.1), (1.0, 0.2), (2.0, 0.0)))
    v = np.random.default_rng(3).normal(size=7)
    c = ct.computed_torque(ARM, goal, gains=(6.0, 5.0))
    a = ARM.forward_dynamics(Q0, v, c(0.5, Q0, v))
    np.testing.assert_allclose(a, 5.0 * (q_d - Q0) + 6.0 * (v_d - v) + a_d, atol=1e-8)
    feedforward = a_d + 5.0 * q_d + 6.0 * v_d
    np.testing.assert_allclose(a, -5.0 * Q0 - 6.0 * v + feedforward, atol=1e-8)


def test_computed_torque_with_quaternions() -> None:
    """The difference of configurations decays as set, also on a robot with spherical joints."""
    robot = random_robot(3, 6, ("spherical", "revolute", "prismatic"))
    rng = np.random.default_rng(4)
    q, v, _ = random_state(robot, rng)
    goal = robot.integrate(q, 0.3 * rng.normal(size=robot.nv), 1.0)
    c = ct.computed_torque(robot, goal, gains=(6.0, 8.0))
    v, dt = 0.0 * v, 2e-3
    start = np.linalg.norm(robot.difference(q, goal))
    for k in range(2000):
        a = robot.forward_dynamics(q, v, c(k * dt, q, v))
        q = robot.integrate(q, v + 0.5 * dt * a, dt)
        v = v + dt * a
    # x = 2e^{−2t} − e^{−4t} for the poles −2 and −4 and a start at rest
    assert np.linalg.norm(robot.difference(q, goal)) / start == pytest.approx(2 * np.exp(-8.0), rel=0.05)


def test_weights_and_solvers() -> None:
    """A heavier task has the smaller residual; DAQP and PIQP agree."""
    tasks = lambda w: [ct.TranslationTask("tool", [0.5, 0.3, 0.4], weight=w), ct.PostureTask(Q0)]
    residual = []
    for w in (0.1, 10.0):
        c = ct.velocity_controller(ARM, tasks(w), [ct.VelocityLimits(0.2)])
        v = c(0.0, Q0)
        rows = ct.linearise(ARM, tasks(w)[0])(0.0, Q0)
        residual.append(np.linalg.norm(rows.jacobian @ v + rows.value))
        other = ct.velocity_controller(ARM, tasks(w), [ct.VelocityLimits(0.2)], solver="piqp")(0.0, Q0)
        np.testing.assert_allclose(v, other, atol=1e-6)
    assert residual[1] < residual[0]


def test_acceleration_limits_at_both_levels() -> None:
    tasks = [ct.PoseTask("tool", target(), gain=5.0)]
    v = np.full(7, 0.05)
    c = ct.velocity_controller(ARM, tasks, [ct.AccelerationLimits(2.0, dt=0.01)])
    assert np.abs(c(0.0, Q0, v) - v).max() == pytest.approx(0.02)
    first = c(0.01, Q0)
    assert np.abs(c(0.02, Q0) - first).max() <= 0.02 + 1e-9
    a = ct.acceleration_controller(ARM, tasks, [ct.AccelerationLimits(0.5)])(0.0, Q0, v)
    assert np.abs(a).max() == pytest.approx(0.5)


def test_velocity_limits_by_acceleration() -> None:
    c = ct.acceleration_controller(ARM, [ct.PoseTask("tool", target(0.8), gain=4.0)], [ct.VelocityLimits(0.3)])
    fastest = [0.0]
    accelerate(ARM, c, Q0, np.zeros(7), 1.0, 1e-3, lambda t, q, v: fastest.append(np.abs(v).max()))
    assert 0.299 < max(fastest) <= 0.3 + 1e-9


@pytest.mark.equation("Quiroz", "4.35")
@pytest.mark.equation("Quiroz", "4.36")
@pytest.mark.filterwarnings("ignore:The target of .posture. lies in the zone")
def test_joint_limits_by_bounds_and_by_cones() -> None:
    """A task beyond the limits: both kinds hold at both levels; the cone is the angle of two lines ⟂ to the axis."""
    robot = arm()
    q0 = np.array([0.2, -0.9, 1.2, 0.1, 0.6, 0.3])
    beyond = ct.PostureTask(q0 + 2.0, gain=2.0)
    lower, upper = q0 - 0.7, q0 + 0.5
    for kind in (ct.JointLimits, ct.ConeJointLimits):
        limits = kind(lower, upper, gain=4.0)
        c = ct.velocity_controller(robot, [beyond], [limits])
        q = follow(robot, c, q0, 2.5, 5e-3)
        assert (q <= upper + 1e-9).all()
        assert (q > upper - 2e-2).all()
        c = ct.acceleration_controller(robot, [beyond], [limits])
        highest = []
        accelerate(robot, c, q0, np.zeros(6), 4.0, 5e-3, lambda t, q, v, h=highest: h.append((q - upper).max()))
        assert max(highest) < 1e-6
    c = ct.velocity_controller(robot, [beyond], [ct.ConeJointLimits(lower, upper)])
    c(0.0, q0)
    joint, axis = robot.joints[1], np.array(robot.joints[1].motion.axis)
    l = np.cross(axis, [0.3, 0.5, 0.7])
    l = l / np.linalg.norm(l)
    turn = lambda angle: l * np.cos(angle) + np.cross(axis, l) * np.sin(angle)
    middle = 0.5 * (lower[1] + upper[1])
    f = np.sum((turn(q0[1]) - turn(middle)) ** 2)
    safe = np.sum((turn(upper[1]) - turn(middle)) ** 2)
    assert c.distances[f"joint limits: {joint.name}"] == pytest.approx(safe - f)


def test_levels_that_do_not_fit() -> None:
    for constraint in (ct.TorqueLimits(), ct.StoppingBounds(), ct.AccelerationLimits(1.0)):
        with pytest.raises(Error, match=f"{constraint.name!r} works for controllers by .*, not by velocity"):
            ct.velocity_controller(ARM, [ct.RestTask()], [constraint])


def test_record_and_reset() -> None:
    c = ct.acceleration_controller(ARM, [ct.PoseTask("tool", target())], [ct.JointLimits()])
    first = c(0.0, Q0, np.full(7, 0.1))
    kept = c.record()
    assert kept["solved"] == 1.0
    np.testing.assert_array_equal(kept["error: pose of tool"], c.errors["pose of tool"])
    assert sum(name.startswith("h: ") for name in kept) == 14
    c(0.1, Q0 + 0.1, np.full(7, 0.2))
    c.reset()
    assert c.report.status == "not started"
    np.testing.assert_allclose(c(0.0, Q0, np.full(7, 0.1)), first, atol=1e-9)


def test_parts_of_one_name_get_numbers() -> None:
    """Errors, distances and conflicts tell them apart."""
    tasks = [ct.TranslationTask("tool", [0.4, 0.0, 0.9]), ct.TranslationTask("tool", [0.5, 0.0, 0.9])]
    zones = [ct.KeepOut("tool", dq.Point([x, 0.0, 0.0]), 0.1) for x in (1.0, 2.0, 3.0)]
    c = ct.velocity_controller(ARM, tasks, zones)
    c(0.0, Q0)
    assert list(c.errors) == ["translation of tool", "translation of tool (2)"]
    np.testing.assert_allclose(c.errors["translation of tool"] - c.errors["translation of tool (2)"], [0.1, 0, 0])
    assert len(c.distances) == 3
    assert list(c.distances)[-1].endswith("(3)")
    assert zones[1].name == zones[0].name  # what the user made is left alone


def test_numbers_of_names_are_free() -> None:
    """Names that the user gave stay; equalities and constraints are told apart too."""
    plane = dq.Plane([0.0, 0.0, 1.0], distance=-2.0)
    zones = [ct.KeepAbove("tool", plane, name=name) for name in ("z", "z", "z (2)", "a")]
    c = ct.velocity_controller(ARM, [ct.RestTask()], [ct.TranslationTask("tool", [0.4, 0.0, 0.9], name="a"), *zones])
    c(0.0, Q0)
    assert list(c.distances) == ["z", "z (3)", "z (2)", "a (2)"]
    assert list(c.errors) == ["a", "rest"]
