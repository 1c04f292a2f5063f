"""The tasks of balance and contact forces in whole-body controllers, as costs, levels and equalities."""

from __future__ import annotations

import numpy as np
import pytest
from standing import FEET, external_wrench, humanoid, pole, stand, table
from trees import assert_close

from dqdyn import control as ct
from dqdyn.contacts import support_polygon
from dqdyn.errors import Error

STANDING = {"pole": pole, "table": table}


def forces_of(controller: ct.Controller) -> np.ndarray:
    """Normal forces in N, in the order of the contacts."""
    return np.array([w[2] for w in controller.contact_wrenches.values()])  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", STANDING)
def test_momentum_changes_by_contact_forces_and_weight(name: str) -> None:
    """A a + Ȧ v of the momentum is the wrench that the controller reports, at any velocity that contacts allow."""
    robot, q, contacts = STANDING[name]()
    task = ct.MomentumTask([1.0, -2.0, 3.0, 0.5, -0.4, 0.3])
    controller = ct.whole_body_controller(robot, [task, ct.RestTask(weight=0.01)], contacts=contacts)
    rows = ct.linearise(robot, ct.MomentumTask())
    v = np.zeros(robot.nv)
    for _ in range(2):
        controller(0.0, q, v)
        assert controller.report.status == "solved"
        at, a = rows(0.0, q, v), controller.accelerations
        wrench = external_wrench(robot, q, contacts, controller.contact_wrenches)
        assert_close(at.jacobian @ a + at.drift, np.concatenate(wrench), 1e-9, 100.0)
        q, v = stand(robot, controller, q, v, 0.1)
        assert np.abs(v).max() > 1e-3


def test_divergent_component_decays_over_one_foot() -> None:
    """e^{−kt} by the ankle alone, and the center of pressure never leaves the sole."""
    robot, q, contacts = pole()
    start, k, duration = robot.center_of_mass(q), 4.0, 0.5
    target = start[:2] + [0.02, -0.01]
    task = ct.DivergentComponentTask(target, height=start[2], gain=k)
    length = ct.FunctionTask(lambda c: c[-3] - 0.0, [ct.Configuration()], name="leg")
    controller = ct.whole_body_controller(robot, [[task], [length]], contacts=contacts, damping=1e-6)
    q, v = stand(robot, controller, q, np.zeros(robot.nv), duration, 1e-3)
    controller(duration, q, v)
    np.testing.assert_allclose(controller.errors[task.name], (start[:2] - target) * np.exp(-k * duration), atol=2e-5)
    (wrench,) = controller.contact_wrenches.values()
    assert np.abs(contacts[0].center_of_pressure(wrench) / [0.12, 0.06]).max() < 1.0


def test_support_keeps_the_zero_moment_point_that_is_asked_for() -> None:
    """A target beyond the sole, with the support of the contacts."""
    robot, q, contacts = pole()
    center = robot.center_of_mass(q)
    support = support_polygon(robot, q, contacts)
    task = ct.DivergentComponentTask(center[:2] + [0.5, 0.0], height=center[2], support=support)
    z = task.zero_moment_point(robot, 0.0, q, np.zeros(robot.nv))
    assert support.distance(z) == pytest.approx(0.0, abs=1e-12)
    free = ct.DivergentComponentTask(center[:2] + [0.5, 0.0], height=center[2])
    assert support.distance(free.zero_moment_point(robot, 0.0, q, np.zeros(robot.nv))) < -0.1


def test_center_of_pressure_as_an_equality() -> None:
    robot, q, contacts = pole()
    press = ct.CenterOfPressureTask("foot", [0.03, -0.02])
    controller = ct.whole_body_controller(robot, [ct.RestTask()], [press], contacts=contacts)
    controller(0.0, q, np.zeros(robot.nv))
    np.testing.assert_allclose(
        contacts[0].center_of_pressure(controller.contact_wrenches["foot"]), [0.03, -0.02], atol=1e-9
    )
    np.testing.assert_allclose(controller.errors[press.name], 0.0, atol=1e-8)


@pytest.mark.long
def test_zero_moment_point_as_an_equality() -> None:
    """No horizontal moment about it, and the slab starts to fall away from it."""
    robot, q, contacts = table()
    center, target = robot.center_of_mass(q), np.array([0.1, 0.05])
    controller = ct.whole_body_controller(robot, [ct.RestTask()], [ct.ZeroMomentPointTask(target)], contacts=contacts)
    controller(0.0, q, np.zeros(robot.nv))
    force, moment = external_wrench(robot, q, contacts, controller.contact_wrenches)
    arm = np.array([*target, 0.0]) - center
    about = moment - np.cross(arm, force + [0.0, 0.0, 9.81 * robot.model.mass])
    np.testing.assert_allclose(about[:2], 0.0, atol=1e-8)
    assert controller.report.status == "solved"


SHARES = {"equal": None, "diagonal": [0.4, 0.1, 0.4, 0.1], "moving": lambda t: [0.3 - t, 0.2 + t, 0.3 - t, 0.2 + t]}


@pytest.mark.long
@pytest.mark.parametrize("name", SHARES)
def test_load_is_shared_as_asked(name: str) -> None:
    """Four legs, of which statics leaves one free."""
    robot, q, contacts = table()
    shares = SHARES[name]
    task = ct.LoadSharingTask(FEET, shares, weight=1e-2)
    controller = ct.whole_body_controller(robot, [[ct.RestTask()], [task]], contacts=contacts)
    expected = {"equal": [0.25] * 4, "diagonal": [0.4, 0.1, 0.4, 0.1], "moving": [0.25] * 4}[name]
    controller(0.05, q, np.zeros(robot.nv))
    loads = forces_of(controller)
    assert loads.sum() == pytest.approx(9.81 * robot.model.mass, rel=1e-6)
    np.testing.assert_allclose(loads / loads.sum(), expected, atol=1e-4)
    np.testing.assert_allclose(controller.errors[task.name], 0.0, atol=1e-2)


@pytest.mark.long
def test_wrench_of_a_contact_as_cost_and_as_equality() -> None:
    """A leg that pushes sideways by 4 N, against the others."""
    robot, q, contacts = table()
    push = ct.ContactWrenchTask("leg_1", [4.0, 1.0], components=("f_t1", "f_t2"), weight=1.0)
    for tasks, constraints, tolerance in (([[ct.RestTask()], [push]], [], 1e-6), ([ct.RestTask()], [push], 1e-9)):
        controller = ct.whole_body_controller(robot, tasks, constraints, contacts=contacts)
        controller(0.0, q, np.zeros(robot.nv))
        np.testing.assert_allclose(controller.contact_wrenches["leg_1"][:2], [4.0, 1.0], atol=tolerance)
        force, moment = external_wrench(robot, q, contacts, controller.contact_wrenches)
        np.testing.assert_allclose([*force, *moment], 0.0, atol=1e-3)


@pytest.mark.long
def test_equality_that_the_cone_forbids_is_told() -> None:
    """More friction than μ f_n: relaxed is what may be, and the names of both are in the report."""
    robot, q, contacts = table()
    push = ct.ContactWrenchTask("leg_1", [500.0, 1.0], components=("f_t1", "f_n"))
    controller = ct.whole_body_controller(robot, [ct.RestTask()], [push], contacts=contacts, infeasible="hold")
    controller(0.0, q, np.zeros(robot.nv))
    assert controller.report.status == "held"
    assert "wrench of leg_1" in controller.report.conflict


@pytest.mark.long
def test_small_tangential_forces() -> None:
    """Regularised, the legs push as little sideways as the task on forces above lets them."""
    robot, q, contacts = table()
    push = ct.ContactWrenchTask("leg_1", 4.0, components="f_t1")
    small = ct.ForceRegularisation(components=("f_t1", "f_t2"), weight=1.0)
    controller = ct.whole_body_controller(robot, [[ct.RestTask()], [push], [small]], contacts=contacts)
    controller(0.0, q, np.zeros(robot.nv))
    sideways = np.array([w[:2] for w in controller.contact_wrenches.values()])
    np.testing.assert_allclose(sideways[0, 0], 4.0, atol=1e-5)
    # The least squares of three forces that hold 4 N along x at (0.5, 0.3), without moment about z.
    legs = np.array([[0.5, 0.3], [-0.5, 0.3], [-0.5, -0.3], [0.5, -0.3]])
    rows = np.zeros((4, 8))
    rows[0, 0::2], rows[1, 1::2] = 1.0, 1.0
    rows[2, 0::2], rows[2, 1::2] = -legs[:, 1], legs[:, 0]
    rows[3, 0] = 1.0
    expected = np.linalg.pinv(rows) @ [0.0, 0.0, 0.0, 4.0]
    np.testing.assert_allclose(sideways.ravel(), expected, atol=1e-4)


def test_unknown_contacts_are_told_when_the_controller_is_built() -> None:
    robot, _, contacts = table()
    with pytest.raises(Error, match="no contact named 'leg_5': did you mean 'leg_"):
        ct.whole_body_controller(robot, [ct.RestTask(), ct.ContactWrenchTask("leg_5", np.zeros(6))], contacts=contacts)


@pytest.mark.long
def test_all_tasks_at_once_on_the_humanoid() -> None:
    """Balance, posture, a compliant hand and shares of the load in one controller; what each asks is what it gets."""
    robot, q, contacts = humanoid()
    center = robot.center_of_mass(q)
    hand = robot.pose("right_hand", q)
    pushed = ct.Measured([3.0, 0.0, -2.0])
    hold = {"stiffness": 200.0, "inertia": 2.0, "force": pushed}
    tasks = {
        "divergent component": ct.DivergentComponentTask(center[:2] + [0.02, 0.01], height=center[2], weight=10.0),
        "angular momentum": ct.MomentumTask(part="angular", weight=1.0),
        "impedance": ct.ImpedanceTask(ct.point("right_hand"), hand.translation, weight=10.0, **hold),  # type: ignore[arg-type]
    }
    least = [
        ct.PostureTask(q, gain=3.0, weight=0.1),
        ct.LoadSharingTask(["left_foot", "right_foot"], [0.55, 0.45], weight=1e-5),
        ct.CenterOfPressureTask("left_foot", weight=1e-5),
        ct.ZeroMomentPointTask(center[:2], weight=1e-6),
        ct.ForceRegularisation(weight=1e-7),
    ]
    controller = ct.whole_body_controller(robot, [list(tasks.values()), least], contacts=contacts)
    v = np.zeros(robot.nv)
    controller(0.0, q, v)
    assert controller.report.status == "solved"
    a = controller.accelerations
    jacobian = robot.translation_jacobian("right_hand", q)
    np.testing.assert_allclose(2.0 * (jacobian @ a), [3.0, 0.0, -2.0], atol=1e-3)  # M ë = F at e = 0, ė = 0
    wrench = external_wrench(robot, q, contacts, controller.contact_wrenches)
    at = ct.linearise(robot, ct.MomentumTask())(0.0, q, v)
    assert_close(at.jacobian @ a + at.drift, np.concatenate(wrench), 1e-9, 100.0)
    np.testing.assert_allclose(at.jacobian[3:] @ a, 0.0, atol=1e-2)
    q, v = stand(robot, controller, q, v, 1.5, 4e-3)
    controller(1.5, q, v)
    assert controller.report.status == "solved"
    np.testing.assert_allclose(controller.errors["divergent component"], 0.0, atol=2e-3)
    name = tasks["impedance"].name
    np.testing.assert_allclose(controller.errors[name], np.array([3.0, 0.0, -2.0]) / 200.0, atol=1e-3)
    for contact in contacts:
        assert contact.holds(controller.contact_wrenches[contact.name], 1e-6)
