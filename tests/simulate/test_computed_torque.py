"""Computed torque of Farias, and the two-link arm of section 7: all formulations give one torque curve."""

from __future__ import annotations

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.algebra.scalar import cos, sin
from dqdyn.references import ComputedTorque, between, waves

KP, KD = np.array([30.0, 50.0]), np.array([8.0, 12.0])


def circle(t: object) -> tuple[list[object], list[object], list[object]]:
    """A reference over any scalar."""
    return (
        [0.5 * sin(2.0 * t), 0.4 * cos(3.0 * t)],
        [1.0 * cos(2.0 * t), -1.2 * sin(3.0 * t)],
        [-2.0 * sin(2.0 * t), -3.6 * cos(3.0 * t)],
    )


@pytest.fixture
def controller() -> ComputedTorque:
    return ComputedTorque(dq.robots.two_link(), circle, KP, KD)


def state() -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(2).normal(size=(2, 2))


@pytest.mark.equation("Farias", "73")
def test_torque_is_the_model_at_the_commanded_acceleration(controller: ComputedTorque) -> None:
    robot, (q, v) = controller.robot, state()
    a = controller.acceleration(0.7, q, v)
    parts = robot.mass_matrix(q) @ a + robot.coriolis_matrix(q, v) @ v + robot.gravity_forces(q)
    np.testing.assert_allclose(controller(0.7, q, v), parts, rtol=1e-12)
    force = np.array([1.0, -2.0, 0.5, 0.1, 0.3, -0.2])
    held = ComputedTorque(robot, circle, KP, KD, {"tool": force})(0.7, q, v)
    jacobian = robot.twist_jacobian("tool", q)
    np.testing.assert_allclose(held, parts - jacobian.T @ np.r_[force[3:], force[:3]], rtol=1e-12)


@pytest.mark.equation("Farias", "74")
def test_the_robot_obeys_the_command(controller: ComputedTorque) -> None:
    robot, (q, v) = controller.robot, state()
    a = robot.forward_dynamics(q, v, controller(0.7, q, v))
    np.testing.assert_allclose(a, controller.acceleration(0.7, q, v), rtol=1e-11)


@pytest.mark.equation("Farias", "75")
@pytest.mark.equation("Farias", "76")
def test_feedforward_and_feedback_are_the_error_form(controller: ComputedTorque) -> None:
    q, v = state()
    q_d, v_d, a_d = (np.array(x) for x in circle(0.7))
    np.testing.assert_allclose(controller.input(0.7), a_d + KP * q_d + KD * v_d, rtol=1e-14)
    np.testing.assert_allclose(-KP * q - KD * v + controller.input(0.7), controller.acceleration(0.7, q, v), rtol=1e-12)


@pytest.mark.equation("Farias", "77")
@pytest.mark.equation("Farias", "78")
def test_command_from_errors(controller: ComputedTorque) -> None:
    q, v = state()
    q_d, v_d, a_d = (np.array(x) for x in circle(0.7))
    error, rate = q_d - q, v_d - v
    np.testing.assert_allclose(controller.acceleration(0.7, q, v), KP * error + KD * rate + a_d, rtol=1e-13)
    np.testing.assert_allclose(controller.record()["error"], error, rtol=1e-14)


def test_errors_decay_as_the_double_integrator_says() -> None:
    """Critically damped with kp = 100: e(t) = e₀ (1 + 10 t) exp(−10 t) in every joint."""
    robot = dq.robots.arm6()
    follow = ComputedTorque(robot, waves(robot, np.zeros(6)), kp=100.0, kd=20.0)
    q0 = np.array([0.2, -0.1, 0.15, 0.3, -0.2, 0.1])
    run = dq.simulate(robot, follow.law(), 1.0, 1e-3, q0=q0, every=10)
    reference = np.array([[float(x) for x in follow.reference(t)[0]] for t in run.time])
    decay = (1.0 + 10.0 * run.time) * np.exp(-10.0 * run.time)
    np.testing.assert_allclose(reference - run.q, -q0 * decay[:, None], atol=1e-7)
    sampled = dq.simulate(robot, follow, 1.0, 1e-3, q0=q0, every=10)
    assert np.abs(sampled.extra["error"][-1]).max() < 2e-3
    assert np.abs(sampled.extra["error"][0]).max() == pytest.approx(0.3)


def test_a_quaternion_is_followed_too() -> None:
    from simulated import rigid_body

    robot = rigid_body().with_motors({"root_joint": dq.Motor()})  # thrusters
    goal = robot.integrate(robot.neutral(), [0.5, -0.3, 0.8, 0.2, 0.1, -0.3], 1.0)
    zero = np.zeros(6)
    follow = ComputedTorque(robot, lambda t: (goal, zero, zero))
    run = dq.simulate(robot, follow, 3.0, 1e-3, every=100)
    assert np.abs(robot.difference(run.q[-1], goal)).max() < 1e-6


@pytest.mark.parametrize(("name", "kind"), [("humanoid", "free"), ("holonomic_manipulator", "planar")])
def test_a_base_without_motors_is_refused(name: str, kind: str) -> None:
    """The legs' torques alone would leave out what carries the base: its reference would be followed by magic."""
    robot = getattr(dq.robots, name)().with_motors({"root_joint": None})
    state = robot.neutral(), np.zeros(robot.nv), np.zeros(robot.nv)
    with pytest.raises(dq.Error, match=f"'{name}' cannot .* its {kind} joint 'root_joint' has no motor") as caught:
        ComputedTorque(robot, lambda t: state)
    assert (caught.value.robot, caught.value.joint) == (name, "root_joint")
    driven = robot.with_motors({"root_joint": dq.Motor()})
    tau = ComputedTorque(driven, lambda t: state)(0.0, *state[:2])
    np.testing.assert_allclose(tau, robot.gravity_forces(state[0]), atol=1e-9)


def test_bad_gains() -> None:
    robot = dq.robots.two_link()
    with pytest.raises(dq.Error, match="kp is one number or 2"):
        ComputedTorque(robot, circle, kp=[1.0, 2.0, 3.0])
    with pytest.raises(dq.Error, match="kd must be finite and not negative"):
        ComputedTorque(robot, circle, kd=-1.0)
    with pytest.raises(dq.Error, match="takes no wrenches"):
        ComputedTorque(robot, circle, 1.0, 1.0, {"tool": [0.0] * 6}).law()
    with pytest.raises(dq.StateError, match="nq = nv"):
        waves(dq.robots.humanoid(), dq.robots.humanoid().neutral())


# --- section 7 --------------------------------------------------------------------------------------------------------


def two_link_motion() -> tuple[np.ndarray, ...]:
    """The motion of the arm in the figure: a rest-to-rest swing of both joints."""
    time = np.linspace(0.0, 2.0, 201)
    samples = [between(dq.robots.two_link(), [0.0, 0.0], [1.2, -0.9], 2.0)(t) for t in time]
    return (time, *(np.array([[float(x) for x in s[k]] for s in samples]) for k in range(3)))


@pytest.mark.parametrize("method", ["newton-euler", "screw", "matrix", "closed-form", "recursive"])
def test_all_formulations_give_one_torque_curve(method: str) -> None:
    robot = dq.robots.two_link()
    _, q, v, a = two_link_motion()
    torque = robot.inverse_dynamics(q, v, a, method=method)
    c2, s2 = np.cos(q[:, 1]), np.sin(q[:, 1])  # the textbook's closed form for two equal rods
    c1, c12 = np.cos(q[:, 0]), np.cos(q[:, 0] + q[:, 1])
    coupling = 1.0 / 3.0 + c2 / 2.0
    first = (5.0 / 3.0 + c2) * a[:, 0] + coupling * a[:, 1] - s2 * (v[:, 0] * v[:, 1] + 0.5 * v[:, 1] ** 2)
    second = coupling * a[:, 0] + a[:, 1] / 3.0 + 0.5 * s2 * v[:, 0] ** 2
    weight = np.stack([9.81 * (1.5 * c1 + 0.5 * c12), 9.81 * 0.5 * c12], axis=1)
    np.testing.assert_allclose(torque, np.stack([first, second], axis=1) + weight, atol=1e-12)


def test_robotics_toolbox_gives_the_same_curve() -> None:
    toolbox = pytest.importorskip("roboticstoolbox", reason="the Robotics Toolbox for Python is not installed")
    _, q, v, a = two_link_motion()
    tensor = np.diag([2e-4, 1.0 / 12.0, 1.0 / 12.0])
    links = [toolbox.RevoluteDH(a=1.0, m=1.0, r=[-0.5, 0.0, 0.0], I=tensor, Jm=0.0, G=1.0, B=0.0) for _ in range(2)]
    arm = toolbox.DHRobot(links, name="two_link")
    # Its plane is x-y, so gravity points along −y there; the toolbox takes the acceleration of the base.
    expected = np.array(arm.rne(q, v, a, gravity=[0.0, -9.81, 0.0]))
    found = dq.robots.two_link().inverse_dynamics(q, v, a)
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_computed_torque_converges_on_the_arm() -> None:
    robot, goal = dq.robots.two_link(), [1.2, -0.9]
    follow = ComputedTorque(robot, between(robot, [0.0, 0.0], goal, 2.0), kp=100.0, kd=20.0)
    run = dq.simulate(robot, follow, 4.0, 1e-3, q0=[0.3, -0.2])
    assert np.abs(run.extra["error"][0]).max() == pytest.approx(0.3)
    assert np.abs(run.q[-1] - goal).max() < 1e-6
    assert np.abs(run.extra["error"][1500:]).max() < 1e-3
    np.testing.assert_allclose(run.tau[-1], robot.gravity_forces(goal), atol=1e-4)
