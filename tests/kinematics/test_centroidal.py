"""Centroidal momentum from composite bodies, as it is compiled: on regrouped inertias, whatever ends in the world."""

from __future__ import annotations

import numpy as np
import pytest
from trees import ONE_AXIS, TREES, assert_close, moving_state, random_q, random_robot, random_state, rate, run, tree

import dqdyn as dq
from dqdyn.dynamics.fast.centroidal import Whole, candidates, centroidal_momentum_matrix
from dqdyn.errors import ModelError
from dqdyn.model.description import Description, Joint, Link, placement
from dqdyn.model.inertia import Inertia
from dqdyn.robot import Robot
from dqdyn.robot.catalog import CATALOG
from dqdyn.robot.options import DEFAULTS

FUNCTIONS = {
    "centroidal_momentum": "q v",
    "centroidal_momentum_matrix": "q",
    "centroidal_momentum_matrix_derivative": "q v",
}
CASES = [*TREES, "revolute roots", "prismatic root"]


def robot_named(name: str) -> Robot:
    if name == "revolute roots":  # several joints on the world
        return random_robot(41, 6, ("revolute", "prismatic"), mimics=1)
    return random_robot(45, 4, ("prismatic", "revolute")) if name == "prismatic root" else tree(name)


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", CASES)
def test_every_model_that_may_be_compiled(name: str, function: str) -> None:
    robot = robot_named(name)
    q, v, _ = random_state(robot, np.random.default_rng(2))
    inputs = [list(q), list(v)][: len(FUNCTIONS[function].split())]
    entry, expected = CATALOG[function], run(robot, function, *inputs)
    models = entry.algorithms(robot.model, DEFAULTS)
    assert len(models) == 2
    for form, model in models:
        entries, shape = entry.evaluate(form, model, DEFAULTS, *inputs)
        assert_close(np.array(entries, dtype=float).reshape(shape), expected, 1e-12)


@pytest.mark.parametrize("name", CASES)
def test_laws(name: str) -> None:
    """p = m ċ; the momentum about the center of mass is that of all bodies; Ȧ is the rate of A."""
    robot = robot_named(name)
    q, v, a = random_state(robot, np.random.default_rng(3))
    matrix = run(robot, "centroidal_momentum_matrix", q)
    assert_close(matrix[:3], robot.mass * run(robot, "center_of_mass_jacobian", q), 1e-12)
    assert_close(matrix @ v, run(robot, "centroidal_momentum", q, v), 1e-12)
    state = moving_state(robot, q, v, 0.0 * a)
    rates = rate(lambda t: run(robot, "centroidal_momentum_matrix", state(t)[0]))
    assert_close(run(robot, "centroidal_momentum_matrix_derivative", q, v), rates, 1e-9)


def test_moving_a_free_base_without_turning_it_has_no_angular_momentum() -> None:
    robot = random_robot(44, 5, ONE_AXIS, base="free")
    q, v, _ = random_state(robot, np.random.default_rng(4))
    assert np.array_equal(robot.centroidal_momentum_matrix(q)[3:, 3:6], np.zeros((3, 3)))
    assert np.array_equal(robot.centroidal_momentum_matrix_derivative(q, v)[3:, 3:6], np.zeros((3, 3)))


def test_the_center_of_mass_keeps_what_is_handed_to_the_world() -> None:
    """The first link of an arm turns about a fixed axis: its mass is at rest on that axis, but not without weight."""
    robot = dq.robots.arm7()
    (_, light), _ = candidates(centroidal_momentum_matrix, robot.model)
    whole = candidates(centroidal_momentum_matrix, robot.model)[0][0].keywords["whole"]  # type: ignore[union-attr]
    assert whole.mass == pytest.approx(robot.mass)
    assert whole.mass_at_rest == pytest.approx(robot.mass)  # every joint is revolute: no mass is left to a body
    assert sum(body.inertia.mass for body in light.bodies) == pytest.approx(0.0, abs=1e-12)
    assert not whole.is_carried_by(light, 0)


def test_robots_without_mass() -> None:
    joint = Joint("turn", "revolute", "base", "arm", placement((0.0, 0.0, 0.5)))
    links = (Link("base"), Link("arm", Inertia(0.0, (0.0, 0.0, 0.0), np.eye(3).tolist())))
    nothing = Robot.from_description(Description("nothing", links, (joint,)))
    with pytest.raises(ModelError, match="'nothing' has no mass, so no center of mass: give its links inertias"):
        nothing.centroidal_momentum_matrix([0.0])
    rotor = Robot.from_description(
        Description("rotor", (Link("base", Inertia(2.0, (0.1, 0.0, 0.0), np.eye(3).tolist())), links[1]), (joint,))
    )
    assert_close(rotor.centroidal_momentum_matrix([0.3])[:, 0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 1e-15)
    assert_close(rotor.centroidal_momentum([0.3], [2.0]), [0.0, 0.0, 0.0, 0.0, 0.0, 2.0], 1e-15)
    assert Whole.of(rotor.model).mass == 2.0


@pytest.mark.parametrize("name", TREES)
def test_poses_of_all_frames_are_those_of_each(name: str) -> None:
    robot = tree(name)
    q = random_q(robot, np.random.default_rng(5))
    rows = run(robot, "poses", q)
    for row, frame in zip(rows, robot.frames, strict=True):
        assert_close(row, run(robot, "pose", q, frame=frame), 1e-14)
