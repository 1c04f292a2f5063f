"""Silva's Newton-Euler, step by step: twists, rates, wrenches and forces against Pinocchio and kinematics."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from robot_data import urdf_file
from trees import random_description

import dqdyn as dq
from dqdyn.dynamics.formulations.newton_euler import body_wrench, inverse_dynamics, joint_wrenches
from dqdyn.model.model import Frame


def state(robot: dq.Robot, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


@pytest.fixture(scope="module")
def solo() -> tuple[dq.Robot, pinocchio.Model]:
    path = urdf_file("solo/solo12")
    robot = dq.load(path, base="free").without_friction()
    return robot, pinocchio.buildModelFromUrdf(str(path), pinocchio.JointModelFreeFlyer())


@pytest.mark.equation("Silva", "15")
@pytest.mark.equation("Silva", "24")
@pytest.mark.equation("Silva", "30")
def test_forces_equal_pinocchio(solo: tuple[dq.Robot, pinocchio.Model]) -> None:
    robot, model = solo
    q, v, a = state(robot, 1)
    layout = robot.to_pinocchio(model)
    theirs = pinocchio.rnea(model, model.createData(), layout.q(q), layout.v(q, v), layout.a(q, v, a))
    ours = inverse_dynamics(robot.model, q.tolist(), v.tolist(), a.tolist())
    expected = layout.tau_from(q, theirs)
    np.testing.assert_allclose(ours, expected, atol=1e-11 * np.abs(expected).max())


@pytest.mark.equation("Silva", "28")
@pytest.mark.equation("Silva", "29")
def test_wrenches_at_the_joints_equal_pinocchio(solo: tuple[dq.Robot, pinocchio.Model]) -> None:
    robot, model = solo
    q, v, a = state(robot, 2)
    layout, data = robot.to_pinocchio(model), model.createData()
    pinocchio.rnea(model, data, layout.q(q), layout.v(q, v), layout.a(q, v, a))
    wrenches, _ = joint_wrenches(robot.model, q.tolist(), v.tolist(), a.tolist())
    for joint, wrench in zip(robot.joints, wrenches, strict=True):
        theirs = data.f[model.getJointId(joint.name)]
        np.testing.assert_allclose(wrench.vec6(), np.concatenate([theirs.linear, theirs.angular]), atol=1e-9)


@pytest.mark.equation("Silva", "19")
@pytest.mark.equation("Silva", "20")
@pytest.mark.equation("Silva", "21")
@pytest.mark.parametrize("seed", range(4))
def test_inertia_free_of_gravity_sees_the_twists_of_kinematics(seed: int) -> None:
    """The wrench on the last body depends on its twist and rate alone, which kinematics computes by other means."""
    robot = dq.Robot.from_description(random_description(seed, 6)).with_gravity([0.0, 0.0, 0.0])
    q, v, a = state(robot, seed)
    leaves = set(range(len(robot.joints))) - {joint.parent for joint in robot.joints}
    wrenches, _ = joint_wrenches(robot.model, q.tolist(), v.tolist(), a.tolist())
    for i in leaves:
        frame = Frame("body", i, dq.DQ([1.0]))
        twist, rate = robot.twist(frame, q, v), robot.twist_rate(frame, q, v, a)
        expected = body_wrench(robot.bodies[i].inertia, twist.dq, rate.dq).vec6()
        np.testing.assert_allclose(wrenches[i].vec6(), expected, atol=1e-10 * (1.0 + np.abs(expected).max()))


@pytest.mark.equation("Silva", "23")
@pytest.mark.equation("Silva", "25")
@pytest.mark.equation("Silva", "26")
@pytest.mark.equation("Silva", "27")
def test_wrench_of_one_body_equals_the_spatial_inertia_of_pinocchio() -> None:
    rng = np.random.default_rng(3)
    for _ in range(10):
        m, com = rng.uniform(0.5, 2.0), rng.normal(size=3)
        square = rng.normal(size=(3, 3))
        tensor = square @ square.T
        twist, rate = dq.Twist(rng.normal(size=6)), dq.Twist(rng.normal(size=6))
        ours = body_wrench(dq.Inertia(m, tuple(com), tensor), twist.dq, rate.dq).vec6()
        inertia = pinocchio.Inertia(m, com, tensor)
        motion = pinocchio.Motion(twist.linear, twist.angular)
        theirs = inertia * pinocchio.Motion(rate.linear, rate.angular) + motion.cross(inertia * motion)
        np.testing.assert_allclose(ours, np.concatenate([theirs.linear, theirs.angular]), atol=1e-11)


@pytest.mark.equation("Silva", "section 3")
def test_external_wrench_is_carried_to_the_root() -> None:
    robot = dq.robots.arm7()
    q, v, a = state(robot, 4)
    wrench = np.array([1.0, -2.0, 3.0, 0.4, 0.5, -0.6])
    force, torque = wrench[:3], wrench[3:]
    free = robot.inverse_dynamics(q, v, a, method="newton-euler")
    loaded = robot.inverse_dynamics(q, v, a, {"tool": wrench}, method="newton-euler")
    jacobian = robot.twist_jacobian("tool", q)
    np.testing.assert_allclose(free - loaded, jacobian.T @ np.concatenate([torque, force]), atol=1e-11)
