"""Whole-body control of a hand that holds an object: two trees in one model, and contacts between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from contact_dynamics import constraint_dynamics
from grasp import (
    BOX_CENTER,
    BOX_INERTIA,
    BOX_MASS,
    LEFT,
    RIGHT,
    RIGHT_FACE,
    STAND,
    TABLE,
    box_part,
    hand_and_box,
)
from seeds import generator
from trees import assert_close
from whole_body_problem import contact_jacobian, held_velocity

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.arrays import Array
from dqdyn.contacts import Contact
from dqdyn.control.whole_body.controller import WholeBodyController

GAIN = 2.0
GRASPS = {"a face and a point": [LEFT, RIGHT], "two faces": [LEFT, RIGHT_FACE], "point first": [RIGHT, LEFT]}


def touching(base: str, grasp: Sequence[Contact]) -> list[Contact]:
    return [STAND, *grasp] if base == "free" else list(grasp)


def lifting(robot: dq.Robot, q: Array, target: Array, given: Sequence[Contact]) -> WholeBodyController:
    levels = [[ct.TranslationTask("box", target, gain=GAIN)], [ct.PostureTask(q)]]
    return ct.whole_body_controller(robot, levels, contacts=given, contact_rate=0.0)


def moved(robot: dq.Robot, q0: Array, given: Sequence[Contact], rng: np.random.Generator) -> tuple[Array, Array]:
    """The hand and the box in it elsewhere, at a velocity at which the grasp holds."""
    q, shift = q0.copy(), rng.uniform(-0.1, 0.1, 3)
    for joint in robot.joints:
        if joint.name in ("x", "y", "z"):
            q[joint.q] = shift["xyz".index(joint.name)]
    part = box_part(robot)[0]
    q[part.start + 4 : part.stop] += shift
    return q, held_velocity(robot, given, q, 0.1 * rng.standard_normal(robot.nv))


def forces_on_box(robot: dq.Robot, controller: WholeBodyController, given: Sequence[Contact], q: Array) -> Array:
    """[f, τ] (6,) about the center of mass of the box, in the world, of all contacts and of the weight."""
    x = robot.pose("box", q)
    center = x.translation + x.rotation_matrix @ BOX_CENTER
    force, moment = np.array([0.0, 0.0, -9.81 * BOX_MASS]), np.zeros(3)
    for contact in given:
        sign = -1.0 if contact.partner == "box" else float(contact.frame == "bottom")
        at = dq.Pose(contact.pose(robot, q))
        w = controller.contact_wrenches[contact.name]
        f = sign * at.rotation_matrix @ w[:3]
        force += f
        moment += np.cross(at.translation - center, f) + sign * at.rotation_matrix @ w[3:]
    return np.concatenate([force, moment])


def momentum_rate_of_box(robot: dq.Robot, q: Array, v: Array, a: Array) -> Array:
    """[m a, I ω̇ + ω × I ω] (6,) of the box, in the world."""
    part = box_part(robot)[1]
    turn = robot.pose("box", q).rotation_matrix
    omega, speed, rate, change = v[part][:3], v[part][3:], a[part][:3], a[part][3:]
    linear = change + np.cross(omega, speed) + np.cross(rate, BOX_CENTER)
    linear += np.cross(omega, np.cross(omega, BOX_CENTER))
    angular = BOX_INERTIA @ rate + np.cross(omega, BOX_INERTIA @ omega)
    return np.concatenate([BOX_MASS * turn @ linear, turn @ angular])


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("grasp", GRASPS)
def test_an_object_is_moved_as_its_task_asks(grasp: str, base: str) -> None:
    """Newton and Euler for the box alone, the equation of motion for all, cones, and Pinocchio's answer."""
    robot, q0 = hand_and_box(base)
    given, rng = touching(base, GRASPS[grasp]), generator(f"{grasp}, {base}")
    target = q0[box_part(robot)[0]][4:] + [0.03, -0.02, 0.1]
    controller = lifting(robot, q0, target, given)
    for _ in range(5):
        q, v = moved(robot, q0, given, rng)
        controller.reset()
        tau = controller(0.0, q, v)
        assert controller.report.status == "solved"
        a = controller.accelerations
        assert not tau[~robot.actuated].any()
        for contact in given:
            assert contact.holds(controller.contact_wrenches[contact.name], tolerance=1e-7)
        assert_close(momentum_rate_of_box(robot, q, v, a), forces_on_box(robot, controller, given, q), 1e-9)
        pushed = [contact_jacobian(robot, c, q).T @ np.roll(controller.contact_wrenches[c.name], 3) for c in given]
        assert_close(robot.mass_matrix(q) @ a + robot.bias_forces(q, v), tau + sum(pushed), 1e-9)
        jacobian = robot.twist_jacobian("box", q, expressed="aligned")[3:]
        part, x = box_part(robot)[1], robot.pose("box", q)
        wanted = -3.0 * GAIN * (jacobian @ v) - 2.0 * GAIN**2 * (x.translation - target)
        own = a[part][3:] + np.cross(v[part][:3], v[part][3:])
        assert_close(x.rotation_matrix @ own, wanted, 1e-5)  # but for the damping
        assert_close(a, constraint_dynamics(robot, given, (q, v), tau).accelerations, 1e-7)


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 2, 0), (2, 0, 1)], ids=str)
def test_an_object_stays_on_the_table_that_holds_it(order: tuple[int, ...]) -> None:
    """Whatever is named first; the hand squeezes, and carries what the table shall not."""
    robot, q = hand_and_box()
    given = [[LEFT, RIGHT, TABLE][i] for i in order]
    light = ct.ContactWrenchTask("bottom", 1.0, components="f_n")
    far = ct.TranslationTask("box", q[box_part(robot)[0]][4:] + [0.1, 0.0, 0.1], weight=1e-3)
    controller = ct.whole_body_controller(robot, [[light], [far], [ct.PostureTask(q)]], contacts=given)
    v = np.zeros(robot.nv)
    controller(0.0, q, v)
    assert controller.report.status == "solved"
    np.testing.assert_allclose(controller.accelerations[box_part(robot)[1]], 0.0, atol=1e-9)
    np.testing.assert_allclose(forces_on_box(robot, controller, given, q), 0.0, atol=1e-9)
    assert controller.contact_wrenches["bottom"][2] == pytest.approx(1.0, abs=1e-5)
    for contact in given:
        assert contact.holds(controller.contact_wrenches[contact.name], tolerance=1e-7)


@pytest.mark.long
def test_an_object_is_lifted_from_the_table() -> None:
    """In our own dynamics, where pads and table only push and slip: the table is let go, then the box goes up."""
    robot, q = hand_and_box()
    part = box_part(robot)[0]
    target = q[part][4:] + [0.03, 0.0, 0.1]
    tasks = [ct.TranslationTask("box", target, gain=5.0), ct.PostureTask(q, weight=0.01)]
    careful = [replace(contact, friction=0.5) for contact in (LEFT, RIGHT_FACE)]  # of the 0.8 that there is
    controller = ct.whole_body_controller(robot, tasks, contacts=[*careful, TABLE])
    controller.prepare({"lift": careful})
    controller.reset()

    def law(t: float, q: Array, v: Array) -> Array:
        if t == pytest.approx(0.1):
            controller.switch("lift", duration=0.1)
        return controller(t, q, v)

    given = [LEFT, RIGHT_FACE, TABLE]
    run = dq.simulate(robot, law, 1.2, 2e-3, q0=q, contacts=given, ground=0.25, every=50)
    assert controller.contact_set == "lift"
    assert controller.report.status == "solved"
    x = robot.pose("box", run.q[-1])
    np.testing.assert_allclose(x.translation, target, atol=5e-3)
    np.testing.assert_allclose(x.rotation_matrix, np.eye(3), atol=0.02)
    assert run.q[0, part][6] == pytest.approx(0.3)
