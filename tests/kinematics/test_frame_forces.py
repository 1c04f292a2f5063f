"""Jᵀw without J: by the Jacobian, by the power, and by the dynamics of a robot that a wrench acts on."""

from __future__ import annotations

import numpy as np
import pytest
from trees import TREES, assert_close, random_q, random_v, tree

import dqdyn as dq


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("expressed", ["body", "world", "aligned"])
def test_by_jacobian_and_by_power(name: str, expressed: str) -> None:
    robot, rng = tree(name), np.random.default_rng(1)
    frame = list(robot.frames)[-1]
    q, v, w = random_q(robot, rng), random_v(robot, rng), rng.normal(size=6)
    found = robot.frame_forces(frame, q, w, expressed)  # type: ignore[arg-type]
    J = robot.twist_jacobian(frame, q, expressed)  # type: ignore[arg-type]
    assert_close(found, J.T @ np.concatenate([w[3:], w[:3]]), 1e-12)
    twist = robot.twist(frame, q, v, expressed)  # type: ignore[arg-type]
    assert_close(found @ v, twist.angular @ w[3:] + twist.linear @ w[:3], 1e-11)


@pytest.mark.parametrize("name", TREES)
def test_by_the_dynamics_of_a_robot_that_a_wrench_acts_on(name: str) -> None:
    robot, rng = tree(name), np.random.default_rng(2)
    frame = list(robot.frames)[-1]
    q, v, a, w = random_q(robot, rng), random_v(robot, rng), random_v(robot, rng), rng.normal(size=6)
    for axes in ("body", "aligned"):
        carried = robot.inverse_dynamics(q, v, a, {frame: w}, expressed=axes)  # type: ignore[arg-type]
        wanted = robot.inverse_dynamics(q, v, a) - carried
        assert_close(robot.frame_forces(frame, q, w, axes), wanted, 1e-9)  # type: ignore[arg-type]


def test_batches_and_a_wrench_for_all() -> None:
    robot, rng = dq.robots.arm7(), np.random.default_rng(3)
    q, w = rng.normal(size=(9, 7)), rng.normal(size=6)
    found = robot.frame_forces("tool", q, w)
    for row, state in zip(found, q, strict=True):
        assert_close(row, robot.frame_forces("tool", state, w), 1e-13)


def test_packed_mass_matrix() -> None:
    robot, rng = dq.robots.chain(9, seed=1), np.random.default_rng(4)
    packed = robot.function("mass_matrix", packed=True)
    upper = np.triu_indices(robot.nv)
    for q in (random_q(robot, rng), random_q(robot, rng, (9,))):
        assert_close(packed(q), robot.mass_matrix(q)[..., upper[0], upper[1]], 1e-12)
    assert robot.count("mass_matrix", packed=True).total == robot.count("mass_matrix").total
    with pytest.raises(dq.Error, match="no option of bias_forces named 'packed'"):
        robot.function("bias_forces", packed=True)
