"""Paths as targets of tasks and of computed torque: followed without error, and decaying as the gains say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm
from trees import random_robot, random_state

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import references as ref
from dqdyn.algebra.scalar import cos, sin
from dqdyn.control.features.signals import as_signal

ARM = dq.robots.arm7()
Q0 = np.array([0.1, 0.4, -0.2, -0.9, 0.3, 0.5, -0.1])
KINDS = ("spherical", "revolute", "prismatic", "planar", "universal")


def driven(robot: dq.Robot) -> dq.Robot:
    """With motors everywhere."""
    return robot.with_motors({joint.name: dq.Motor() for joint in robot.joints if not joint.motion.actuated})


def path_of_poses() -> ref.TimedPath:
    return ref.quintic("pose", [ARM.pose("tool", Q0 + x) for x in (0.0, 0.1, 0.2)], [0.0, 0.7, 1.5])


TASKS: dict[str, Any] = {
    "pose": lambda: ct.PoseTask("tool", path_of_poses(), gain=8.0),
    "translation": lambda: ct.TranslationTask(
        "tool", ref.between("point", ARM.pose("tool", Q0), ARM.pose("tool", Q0 + 0.2), 1.5), gain=8.0
    ),
    "posture": lambda: ct.PostureTask(ref.between(ARM, Q0, Q0 + 0.5, 1.5), gain=8.0),
    "rotation": lambda: ct.RotationTask(
        "tool", ref.between("rotation", ARM.pose("tool", Q0), ARM.pose("tool", Q0 + 0.3), 1.5), gain=8.0
    ),
}


@pytest.mark.parametrize("name", TASKS)
def test_tasks_follow_paths(name: str) -> None:
    """From a start on the path the error stays where integration leaves it, since rates are fed forward."""
    controller = ct.acceleration_controller(ARM, [TASKS[name]()])
    q, v, dt = Q0.copy(), np.zeros(7), 5e-3
    for k in range(300):
        a = controller(k * dt, q, v)
        q, v = q + dt * v + 0.5 * dt * dt * a, v + dt * a
    rows = ct.linearise(ARM, TASKS[name]())(1.5, q)
    assert np.abs(rows.value).max() < 2e-3
    assert np.abs(q - Q0).max() > 0.05


@pytest.mark.long
def test_a_path_and_the_function_of_time_give_one_command() -> None:
    path = path_of_poses()
    sampled, traced = (ct.PoseTask("tool", target) for target in (path, lambda t: path(t)[0]))
    v = np.random.default_rng(0).normal(size=7)
    commands = [ct.acceleration_controller(ARM, [task])(0.9, Q0, v) for task in (sampled, traced)]
    np.testing.assert_allclose(*commands, atol=1e-9)


@pytest.mark.parametrize("kind", ["point", "rotation", "vector", "pose"])
def test_a_path_of_another_kind_is_refused(kind: str) -> None:
    wrong = ref.between("number", 0.0, 1.0, 1.0) if kind != "vector" else path_of_poses()
    with pytest.raises(dq.Error, match=r"The target of a test is a .* components.*a path of a (number|pose) with"):
        as_signal(kind, wrong, "the target of a test", None if kind != "vector" else 7)


def gain_cases(nv: int) -> dict[str, tuple[Any, Any]]:
    rng = np.random.default_rng(1)
    root = 0.3 * rng.normal(size=(nv, nv))
    coupled = 9.0 * np.eye(nv) + root @ root.T
    return {
        "numbers": (7.0, 10.0),
        "critical": (6.0, 9.0),
        "per joint": (rng.uniform(5.0, 9.0, nv), rng.uniform(4.0, 12.0, nv)),
        "matrices": (6.0 * np.eye(nv) + 0.5 * (root + root.T), coupled),
    }


@pytest.mark.equation("Farias", "77")
@pytest.mark.equation("Farias", "78")
@pytest.mark.parametrize("case", ["numbers", "critical", "per joint", "matrices"])
@pytest.mark.parametrize("kinds", [("revolute", "prismatic"), KINDS, ("free", "revolute")])
def test_the_error_decays_as_the_gains_say(case: str, kinds: tuple[str, ...]) -> None:
    """ë + K_D ė + K_P e = 0 exactly, for a moving target and joints with quaternions too."""
    robot = driven(random_robot(5, 4, kinds))
    rng = np.random.default_rng(2)
    start, v, _ = random_state(robot, rng)
    end = robot.integrate(start, 0.4 * rng.normal(size=robot.nv))
    path = ref.between(robot, start, end, 2.0, velocity=np.inf, reach=False)
    kd, kp = gain_cases(robot.nv)[case]
    follow = ct.computed_torque(robot, path, gains=(kd, kp))
    q, v, dt = robot.integrate(start, 0.3 * rng.normal(size=robot.nv)), 0.3 * v, 1e-6
    a = robot.forward_dynamics(q, v, follow(0.6, q, v))
    # the error along that motion, a moment earlier and later
    errors = []
    for s in (-1.0, 0.0, 1.0):
        h = 1e3 * dt * s
        moved = robot.integrate(q, h * v + 0.5 * h * h * a)
        errors.append(robot.difference(moved, path(0.6 + h)[0]))
    h = 1e3 * dt
    rate, second = (errors[2] - errors[0]) / (2 * h), (errors[2] - 2 * errors[1] + errors[0]) / h**2
    matrices = [np.diag(np.broadcast_to(k, (robot.nv,))) if np.ndim(k) < 2 else k for k in (kd, kp)]
    np.testing.assert_allclose(second + matrices[0] @ rate + matrices[1] @ errors[1], 0.0, atol=2e-3)
    np.testing.assert_allclose(follow.record()["error"], errors[1], atol=1e-12)


def test_matrices_couple_joints_as_the_exponential_says() -> None:
    robot = dq.robots.two_link()
    kd, kp = np.array([[8.0, 1.0], [1.0, 6.0]]), np.array([[20.0, -4.0], [-4.0, 12.0]])
    path = ref.between(robot, [0.0, 0.0], [1.2, -0.9], 2.0)
    follow = ct.computed_torque(robot, path, gains=(kd, kp))
    run = dq.simulate(robot, follow.law(), 1.0, 1e-3, q0=[0.3, -0.2])
    system = np.block([[np.zeros((2, 2)), np.eye(2)], [-kp, -kd]])
    expected = (expm(system) @ [-0.3, 0.2, 0.0, 0.0])[:2]
    np.testing.assert_allclose(path(1.0)[0] - run.q[-1], expected, atol=1e-9)


@pytest.mark.parametrize("kinds", [("revolute", "prismatic"), ("spherical", "revolute"), ("free", "revolute")])
def test_the_compiled_law_is_the_controller(kinds: tuple[str, ...]) -> None:
    robot = driven(random_robot(6, 3, kinds))
    rng = np.random.default_rng(3)
    start, v, _ = random_state(robot, rng)
    end = robot.integrate(start, 0.4 * rng.normal(size=robot.nv))
    path = ref.cubic(robot, [start, end, start], [0.0, 1.0, 2.0], velocity=np.inf, reach=False)
    follow = ct.computed_torque(robot, path, gains=(6.0, 9.0 * np.eye(robot.nv) + 0.1))
    q = robot.integrate(start, 0.2 * rng.normal(size=robot.nv))
    law = follow.law()
    np.testing.assert_allclose(law(1.3, q.tolist(), v.tolist()), follow(1.3, q, v), rtol=1e-9, atol=1e-9)
    run = dq.simulate(robot, law, 0.02, 1e-2, q0=q, v0=v)  # traced
    np.testing.assert_allclose(run.tau[0], follow(0.0, q, v), rtol=1e-9, atol=1e-9)


def test_every_form_of_target() -> None:
    """A constant, a function of q, one of (q, v, a), Moving and Measured; all where they agree give one torque."""
    robot, t = dq.robots.two_link(), 0.4
    q, v = np.array([0.2, -0.4]), np.array([0.3, 0.1])
    place = lambda t: [0.5 * sin(2.0 * t), 0.4 * cos(3.0 * t)]
    speed = lambda t: [1.0 * cos(2.0 * t), -1.2 * sin(3.0 * t)]
    change = lambda t: [-2.0 * sin(2.0 * t), -3.6 * cos(3.0 * t)]
    measured = ct.Measured(place(t), speed(t), change(t))
    targets = [place, lambda t: (place(t), speed(t), change(t)), ct.Moving(place, speed, change), measured]
    torques = [ct.computed_torque(robot, target, gains=(6.0, 9.0))(t, q, v) for target in targets]
    for tau in torques[1:]:
        np.testing.assert_allclose(tau, torques[0], atol=1e-11)
    still = ct.computed_torque(robot, place(t), gains=(6.0, 9.0))
    expected = robot.inverse_dynamics(q, v, 9.0 * (np.array(place(t)) - q) - 6.0 * v)
    np.testing.assert_allclose(still(t, q, v), expected, atol=1e-11)
    with pytest.raises(dq.Error, match="is no function of the algebra"):
        dq.simulate(robot, ct.computed_torque(robot, measured).law(), 0.01)


def test_former_computed_torque_warns_and_works() -> None:
    from dqdyn.simulate import computed_torque as former

    robot = dq.robots.two_link()
    reference = ref.between(robot, [0.0, 0.0], [1.0, 1.0], 1.0)
    with pytest.warns(DeprecationWarning, match=r"is now dqdyn.control.computed_torque\(robot, target, gains="):
        make = former.computed_torque
    q, v = np.array([0.2, -0.4]), np.array([0.3, 0.1])
    tau = make(robot, reference, 100.0, 20.0)(0.3, q, v)
    np.testing.assert_allclose(tau, ct.computed_torque(robot, reference, gains=(20.0, 100.0))(0.3, q, v))
    with pytest.warns(DeprecationWarning, match=r"is now dqdyn.references.waves"):
        assert __import__("dqdyn.simulate.reference", fromlist=["waves"]).waves is ref.waves


@pytest.mark.parametrize("kp", [0.3, 2.0, 7.0, 1e6])
def test_tasks_may_be_critically_damped(kp: float) -> None:
    """k_d = 2 √k_p, whatever its rounding; the error is then e₀ (1 + ρt) e^{−ρt}."""
    kd = 2.0 * np.sqrt(kp)
    task = ct.PostureTask(Q0, gains=(kd, kp))
    controller = ct.acceleration_controller(ARM, [task], damping=0.0)
    q, v = Q0 + 0.1, np.full(7, -0.2)
    np.testing.assert_allclose(controller(0.0, q, v), -kd * v - kp * (q - Q0), rtol=1e-6)
    with pytest.raises(dq.Error, match=r"oscillate: k_d² = .* must be at least 4 k_p"):
        ct.PostureTask(Q0, gains=(0.999 * kd, kp))
    with pytest.raises(dq.Error, match=r"oscillate: k_d² = .* must exceed 4 k_p"):
        ct.KeepAbove("tool", dq.Plane([0.0, 0.0, 1.0], distance=0.0), gains=(2.0, 1.0))


@pytest.mark.long
def test_postures_with_quaternions_follow_paths() -> None:
    """The rows of a posture along a path are those of the same path traced into the program, and of the motion."""
    robot = dq.robots.humanoid()
    rng = np.random.default_rng(8)
    points = [robot.neutral()]
    for _ in range(2):
        points.append(robot.integrate(points[-1], 0.3 * rng.normal(size=robot.nv)))
    path = ref.cubic(robot, points, [0.0, 1.0, 2.0], velocity=np.inf, reach=False)
    rows = [ct.linearise(robot, ct.PostureTask(given))(1.3, *path(1.3)[:2]) for given in (path, lambda t: path(t)[0])]
    for name in ("value", "jacobian", "residual", "drift"):
        np.testing.assert_allclose(getattr(rows[0], name), getattr(rows[1], name), atol=1e-9)
    np.testing.assert_allclose(rows[0].value, 0.0, atol=1e-12)
    controller = ct.acceleration_controller(robot, [ct.PostureTask(path)], damping=0.0)
    np.testing.assert_allclose(controller(1.3, *path(1.3)[:2]), path(1.3)[2], atol=1e-6)
