"""Robots whose own constraints bear forces: torque control refuses them, whole-body control holds them."""

from __future__ import annotations

import numpy as np
import pytest
from biped import biped
from trees import assert_close

import dqdyn as dq
from dqdyn import contacts
from dqdyn import control as ct
from dqdyn.constraints import FaceContact


def test_torque_control_refuses_a_humanoid_on_its_feet() -> None:
    """By constraints that hold its feet; with the documented limits of 0 on the base as without."""
    robot = dq.robots.humanoid()
    robot = robot.with_constraints(FaceContact("left_foot"), FaceContact("right_foot"))
    limits = ct.TorqueLimits(np.r_[np.zeros(6), np.full(robot.nv - 6, 200.0)])
    for constraints in ([], [limits]):
        with pytest.raises(ct.ControlError, match=r"\('contact left_foot', .*\) would be left out: use whole_b"):
            ct.torque_controller(robot, [ct.RestTask()], constraints)


@pytest.mark.long
def test_a_face_that_is_a_constraint_has_no_edge_to_tip_over() -> None:
    """It pulls too, and rests on one foot beside the center of mass; a contact of that foot cannot."""
    robot = biped().with_constraints(FaceContact("left_sole"))
    q, v = robot.neutral(), np.zeros(robot.nv)
    controller = ct.whole_body_controller(robot, [ct.RestTask()])
    tau = controller(0.0, q, v)
    assert controller.report.status == "solved"
    assert not tau[:6].any()
    np.testing.assert_allclose(controller.accelerations, 0.0, atol=1e-6)
    foot = contacts.face("left_sole", half_length=0.1, half_width=0.05)
    tipping = ct.whole_body_controller(biped(), [ct.RestTask()], contacts=foot)
    tipping(0.0, q, v)
    assert np.abs(tipping.accelerations).max() > 0.1
    v = robot.project(q, 0.3 * np.random.default_rng(0).standard_normal(robot.nv))[1]
    tau = controller(0.0, q, v)
    assert_close(controller.accelerations, robot.forward_dynamics(q, v, tau), 1e-7)


@pytest.mark.long
def test_faces_that_say_more_than_the_legs_can_break() -> None:
    """Twelve rows on ten velocities, of which nine are independent here and ten elsewhere: all of them hold."""
    robot = biped().with_constraints(FaceContact("left_sole"), FaceContact("right_sole"))
    q, v = robot.neutral(), np.zeros(robot.nv)
    leap = ct.CenterOfMassTask(robot.center_of_mass(q) - [0.0, 0.0, 10.0], gain=3.0)
    controller = ct.whole_body_controller(robot, [leap, ct.RestTask(weight=0.1)])
    tau = controller(0.0, q, v)
    assert controller.report.status == "solved"
    a = controller.accelerations
    assert np.abs(a).max() > 0.5
    np.testing.assert_allclose(robot.constraint_matrix(q) @ a, robot.constraint_bias(q, v), atol=1e-9)
    assert_close(a, robot.forward_dynamics(q, v, tau), 1e-7)


def test_a_four_bar_with_a_motor_on_the_crank_alone() -> None:
    """The torque is the one that inverse dynamics with this motor finds."""
    robot = dq.robots.four_bar().with_motors(["crank_joint"])
    np.testing.assert_array_equal(np.flatnonzero(robot.actuated), [0])
    rng = np.random.default_rng(0)
    controller = ct.whole_body_controller(robot, [ct.RestTask(gain=2.0)])
    for _ in range(5):
        q, v = robot.project(robot.random_configuration(rng), rng.standard_normal(robot.nv))
        tau = controller(0.0, q, v)
        assert controller.report.status == "solved"
        a = controller.accelerations
        assert np.abs(a).max() > 0.1
        assert_close(tau, robot.inverse_dynamics(q, v, a, actuated="motors"), 1e-8)
        assert not tau[1:].any()
        assert_close(a, robot.forward_dynamics(q, v, tau), 1e-8)


def test_what_a_constraint_holds_takes_no_contact() -> None:
    """How a contact and a constraint at one place share the force is open: refused; elsewhere they go together."""
    robot = dq.robots.arm7(base="free").with_constraints(FaceContact("base", name="bolted"))
    for contact in (contacts.face("base", half_length=0.2, half_width=0.2), contacts.point("base", (0.1, 0.0, 0.0))):
        with pytest.raises(ct.ControlError, match="'bolted' holds already"):
            ct.whole_body_controller(robot, ct.RestTask(), contacts=contact)
    assert ct.whole_body_controller(robot, ct.RestTask(), contacts=contacts.point("tool")).composition.unknowns > 0
