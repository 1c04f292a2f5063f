"""The regressor: linear in the inertial parameters, and equal to Pinocchio's."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
from robot_data import urdf_file
from trees import random_description

import dqdyn as dq
from dqdyn.dynamics.joint_forces import armature


@pytest.mark.parametrize("seed", range(4))
def test_torques_are_linear_in_the_parameters(seed: int) -> None:
    robot = dq.Robot.from_description(random_description(seed, 5)).without_friction()
    rng = np.random.default_rng(seed)
    q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    torque = robot.inverse_dynamics(q, v, a) - np.array(armature(robot.model)) * a
    regressor = robot.torque_regressor(q, v, a)
    np.testing.assert_allclose(regressor @ robot.inertial_parameters(), torque, atol=1e-10 * np.abs(torque).max())


def test_equal_to_pinocchio() -> None:
    path = urdf_file("panda/panda")
    robot, model = dq.load(path, mimic=False).without_friction(), pinocchio.buildModelFromUrdf(str(path))
    rng = np.random.default_rng(0)
    q, v, a = robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    layout = robot.to_pinocchio(model)
    state = layout.q(q), layout.v(q, v), layout.a(q, v, a)
    theirs = pinocchio.computeJointTorqueRegressor(model, model.createData(), *state)
    names = list(model.names)[1:]
    order = [10 * names.index(joint.name) + k for joint in robot.joints for k in range(10)]
    np.testing.assert_allclose(robot.torque_regressor(q, v, a), layout.transform(q).T @ theirs[:, order], atol=1e-10)
