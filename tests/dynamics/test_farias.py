"""Farias's three forms of inverse dynamics: against each other's foundations, Newton-Euler and Pinocchio."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pinocchio
import pytest
from pinocchio_tools import SHARED_KINDS, comparable, pin_inertia, pinocchio_model
from robot_data import urdf_file
from trees import TREES, assert_close, moving_state, random_description, random_state, rate, run, tree

import dqdyn as dq
from dqdyn.algebra.adjoint import Ad
from dqdyn.algebra.dual import DQ
from dqdyn.dynamics.formulations import closed_form, matrix_form, newton_euler, screw
from dqdyn.kinematics.center_frames import CenterFrames, from_center, to_center
from dqdyn.kinematics.tree import WorldMotion
from dqdyn.model.layouts import Layout
from dqdyn.robot import Robot

METHODS: dict[str, Callable[..., list[Any]]] = {
    "screw": screw.inverse_dynamics,
    "matrix": matrix_form.inverse_dynamics,
    "closed-form": closed_form.inverse_dynamics,
}
PINOCCHIO = ("panda/panda", "solo/solo12", "a tree")


def loads(robot: Robot, rng: np.random.Generator) -> dict[int, DQ]:
    """Wrenches on every second body."""
    return {i: DQ(rng.normal(size=6)) for i in range(0, len(robot.bodies), 2)}


def state_of(robot: Robot, seed: int = 0) -> tuple[list[float], list[float], list[float], dict[int, DQ]]:
    rng = np.random.default_rng(seed)
    q, v, a = random_state(robot, rng)
    return q.tolist(), v.tolist(), a.tolist(), loads(robot, rng)


def components(elements: Any) -> np.ndarray:
    return np.array([element.vec8() for element in elements])


# --- against Newton-Euler -----------------------------------------------------------------------------------------


@pytest.mark.equation("Farias", "section 5")
@pytest.mark.equation("Farias", "section 5.3")
@pytest.mark.equation("Farias", "algorithm 1")
@pytest.mark.equation("Farias", "table 1")
@pytest.mark.equation("Farias", "63")
@pytest.mark.equation("Farias", "68")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", TREES)
def test_every_joint_kind(name: str, method: str) -> None:
    robot = tree(name)
    for seed, loaded in ((1, True), (2, False)):
        q, v, a, wrenches = state_of(robot, seed)
        given = (wrenches,) if loaded else ()
        expected = newton_euler.inverse_dynamics(robot.model, q, v, a, *given)
        assert_close(METHODS[method](robot.model, q, v, a, *given), expected, 1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", dq.robots.names())
def test_built_in_robots(name: str, method: str) -> None:
    robot = built_in(name)
    q, v, a, wrenches = state_of(robot)
    expected = newton_euler.inverse_dynamics(robot.model, q, v, a, wrenches)
    assert_close(METHODS[method](robot.model, q, v, a, wrenches), expected, 1e-9)


@cache
def built_in(name: str) -> Robot:
    return getattr(dq.robots, name)(*([9] if name == "chain" else []))


@pytest.mark.parametrize("method", METHODS)
def test_a_robot_without_moving_joints(method: str) -> None:
    robot = tree("one axis").lock({joint.name: 0.0 for joint in tree("one axis").joints if not joint.is_mimic})
    assert robot.nv == 0
    assert METHODS[method](robot.model, [], [], []) == []


# --- against Pinocchio --------------------------------------------------------------------------------------------


@cache
def pair(name: str) -> tuple[Robot, pinocchio.Model, Layout]:
    if name == "a tree":
        robot = Robot.from_description(comparable(random_description(8, 8, SHARED_KINDS)), strict=True)
        model = pinocchio_model(robot)
    else:
        base = "free" if name == "solo/solo12" else "fixed"
        robot = dq.load(urdf_file(name), base=base)
        root = (pinocchio.JointModelFreeFlyer(),) if base == "free" else ()
        model = pinocchio.buildModelFromUrdf(str(urdf_file(name)), *root)
    return robot, model, robot.to_pinocchio(model)


def rnea(name: str, q: Any, v: Any, a: Any, wrenches: dict[int, DQ]) -> tuple[np.ndarray, pinocchio.Data]:
    """Pinocchio's forces in our order, and its data."""
    robot, model, layout = pair(name)
    forces = pinocchio.StdVec_Force()
    for _ in range(model.njoints):
        forces.append(pinocchio.Force.Zero())
    for i, wrench in wrenches.items():
        forces[model.getJointId(robot.joints[i].name)] = pinocchio.Force(wrench.vec6()[:3], wrench.vec6()[3:])
    data = model.createData()
    tau = pinocchio.rnea(model, data, layout.q(q), layout.v(q, v), layout.a(q, v, a), forces)
    return layout.tau_from(q, np.array(tau)), data


@pytest.mark.equation("Farias", "algorithm 1")
@pytest.mark.equation("Farias", "table 1")
@pytest.mark.equation("Farias", "48")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", PINOCCHIO)
def test_forces_of_pinocchio(name: str, method: str) -> None:
    robot = pair(name)[0]
    q, v, a, wrenches = state_of(robot)
    expected, _ = rnea(name, q, v, a, wrenches)
    assert_close(METHODS[method](robot.model, q, v, a, wrenches), expected, 1e-9)


@pytest.mark.equation("Farias", "46")
@pytest.mark.equation("Farias", "47")
@pytest.mark.equation("Farias", "52")
@pytest.mark.parametrize("name", PINOCCHIO)
def test_transmitted_wrenches_of_pinocchio(name: str) -> None:
    robot, model, _ = pair(name)
    q, v, a, wrenches = state_of(robot)
    _, data = rnea(name, q, v, a, wrenches)
    found = matrix_form.vectors(robot.model, q, v, a, wrenches).F
    at = CenterFrames(robot.model, q)
    twist = screw.twists(at, v)
    moved = screw.twist_rates(at, v, a, twist)
    own = []
    for i, body in enumerate(robot.bodies):
        wrench = screw.body_wrench(body.inertia, twist[i], moved[i])
        own.append(wrench - to_center(body.inertia, wrenches[i]) if i in wrenches else wrench)
    for i, recursive in enumerate(screw.joint_wrenches(at, own)):
        force = data.f[model.getJointId(robot.joints[i].name)]
        expected = np.concatenate([force.linear, force.angular])
        inertia = robot.bodies[i].inertia
        assert_close(from_center(inertia, found[i]).vec6(), expected, 1e-9)
        assert_close(from_center(inertia, recursive).vec6(), expected, 1e-9)


@pytest.mark.equation("Farias", "64")
@pytest.mark.equation("Farias", "65")
@pytest.mark.equation("Farias", "66")
@pytest.mark.equation("Farias", "67")
@pytest.mark.equation("Farias", "69")
@pytest.mark.equation("Farias", "70")
@pytest.mark.equation("Farias", "71")
@pytest.mark.equation("Farias", "72")
@pytest.mark.parametrize("name", PINOCCHIO)
def test_terms_of_pinocchio(name: str) -> None:
    robot, model, layout = pair(name)
    q, v, a, wrenches = state_of(robot)
    zero = [0.0] * robot.nv
    M: np.ndarray = np.array(closed_form.mass_matrix(robot.model, q))
    c, g = closed_form.coriolis_forces(robot.model, q, v), closed_form.gravity_forces(robot.model, q)
    data = model.createData()
    upper = np.triu(pinocchio.crba(model, data, layout.q(q)))
    assert_close(M, layout.mass_matrix_from(q, upper + np.triu(upper, 1).T), 1e-9)
    gravity = np.array(pinocchio.computeGeneralizedGravity(model, data, layout.q(q)))
    assert_close(g, layout.tau_from(q, gravity), 1e-9)
    bias, _ = rnea(name, q, v, zero, {})
    assert_close(np.add(c, g), bias, 1e-9)
    loaded, _ = rnea(name, q, v, a, wrenches)
    free, _ = rnea(name, q, v, a, {})
    assert_close(closed_form.wrench_forces(robot.model, q, wrenches), free - loaded, 1e-9)
    for i, joint in enumerate(robot.joints):
        jacobian = pinocchio.computeJointJacobian(model, data, layout.q(q), model.getJointId(joint.name))
        expected = layout.jacobian_from(q, np.array(jacobian))[[3, 4, 5, 0, 1, 2]].T  # columns for [f, τ]
        found: np.ndarray = np.array(closed_form.jacobian_transpose(robot.model, q, i))
        assert_close(found, expected, 1e-9)
        given = DQ(np.random.default_rng(i).normal(size=6))
        assert_close(closed_form.wrench_forces(robot.model, q, {i: given}), found @ given.vec6(), 1e-9)


@pytest.mark.equation("Farias", "31")
@pytest.mark.equation("Farias", "45")
@pytest.mark.equation("Farias", "51")
def test_a_rigid_body_of_pinocchio() -> None:
    robot = tree("every kind")
    q, v, a, _ = state_of(robot)
    table = matrix_form.vectors(robot.model, q, v, a)
    for i, body in enumerate(robot.bodies):
        twist, moved = (from_center(body.inertia, x[i]).vec6() for x in (table.W, table.W_rate))
        inertia = pin_inertia(body.inertia)
        expected = inertia.vxiv(pinocchio.Motion(twist[3:], twist[:3])) + inertia * pinocchio.Motion(
            moved[3:], moved[:3]
        )
        for found in (table.F_R[i], screw.body_wrench(body.inertia, table.W[i], table.W_rate[i])):
            wrench = from_center(body.inertia, found).vec6()
            assert_close(wrench, np.concatenate([expected.linear, expected.angular]), 1e-9)


# --- motion of the centers of mass --------------------------------------------------------------------------------


@pytest.mark.equation("Farias", "40")
@pytest.mark.equation("Farias", "49")
@pytest.mark.equation("Farias", "53")
@pytest.mark.equation("Farias", "54")
@pytest.mark.parametrize("name", TREES)
def test_twists_of_the_centers(name: str) -> None:
    robot = tree(name)
    q, v, a, _ = state_of(robot)
    motion = WorldMotion(robot.model, q, v)
    expected = [to_center(body.inertia, motion.adjoint[i].back(motion.twist[i])) for i, body in enumerate(robot.bodies)]
    found = screw.twists(CenterFrames(robot.model, q), v)
    assert_close(components(found[i] for i in range(len(expected))), components(expected))
    assert_close(components(matrix_form.vectors(robot.model, q, v, a).W.elements), components(expected))


@pytest.mark.equation("Farias", "41")
@pytest.mark.equation("Farias", "42")
@pytest.mark.equation("Farias", "43")
@pytest.mark.equation("Farias", "44")
@pytest.mark.equation("Farias", "55")
@pytest.mark.equation("Farias", "56")
@pytest.mark.parametrize("name", TREES)
def test_twist_rates_are_rates_of_the_twists(name: str) -> None:
    """By finite differences, for a robot without gravity; and gravity adds −g to every center of mass."""
    robot = tree(name)
    q, v, a, _ = state_of(robot)
    still = robot.with_gravity((0.0, 0.0, 0.0))
    bodies = range(len(robot.bodies))

    def twists_at(t: float) -> np.ndarray:
        q_t, v_t = (x.tolist() for x in moving_state(robot, *(np.array(x) for x in (q, v, a)))(t))
        twists = screw.twists(CenterFrames(robot.model, q_t), v_t)
        return components(twists[i] for i in bodies)

    at = CenterFrames(still.model, q)
    found = screw.twist_rates(at, v, a, screw.twists(at, v))
    expected = rate(twists_at)
    assert_close(components(found[i] for i in bodies), expected, 1e-8)
    assert_close(components(matrix_form.vectors(still.model, q, v, a).W_rate.elements), expected, 1e-8)
    heavy = matrix_form.vectors(robot.model, q, v, a).W_rate
    poses = [DQ(x) for x in (run(robot, "pose", q, frame=link_of(robot, i)) for i in bodies)]
    for i, (x, with_gravity) in enumerate(zip(poses, heavy.elements, strict=True)):
        felt = Ad(x.P(), with_gravity - found[i])
        assert_close(felt.vec6(), [0.0, 0.0, 0.0, *(-np.array(robot.model.gravity))], 1e-9)


def link_of(robot: Robot, body: int) -> str:
    """A frame on the body with the body's axes."""
    return next(f.name for f in robot.frames.values() if f.body == body and f.placement.P() == DQ([1.0]))


@pytest.mark.equation("Farias", "50")
def test_forces_are_real_numbers_by_velocity() -> None:
    robot = tree("every kind, mimic")
    q, v, a, wrenches = state_of(robot)
    tau = matrix_form.vectors(robot.model, q, v, a, wrenches).tau
    assert len(tau) == robot.nv
    power = sum(float(t) * vk for t, vk in zip(tau, v, strict=True))
    table = matrix_form.vectors(robot.model, q, v, a, wrenches)
    given = 0.0
    for i, body in enumerate(robot.bodies):  # what the joints put in goes into the bodies and their surroundings
        net = table.F_R[i] - to_center(body.inertia, wrenches[i]) if i in wrenches else table.F_R[i]
        given += float(np.dot(net.vec6(), np.roll(table.W[i].vec6(), 3)))
    assert power == pytest.approx(given, rel=1e-9)
