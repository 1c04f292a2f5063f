"""Tasks on contact forces at random states and contacts: G φ + r against what the forces do, on plain numbers."""

from __future__ import annotations

import numpy as np
import pytest
from trees import assert_close, random_state, tree

from dqdyn import contacts as touch
from dqdyn import control as ct
from dqdyn.algebra.poses import position, rotation_matrix
from dqdyn.algebra.scalar import sin
from dqdyn.control.tasks.forces import COMPONENTS
from dqdyn.control.whole_body.context import Contacts, WholeBodyContext
from dqdyn.control.whole_body.controller import anchor_of
from dqdyn.control.whole_body.force_task import ForceTask
from dqdyn.errors import Error, UnknownNameError
from dqdyn.robot import Robot

CORNERS = [[0.1, 0.0, 0.0], [0.0, 0.2, 0.0], [-0.1, -0.1, 0.0]]
SETS = {
    "faces": [touch.face("tool", half_length=0.1, half_width=0.05), touch.face("camera", CORNERS, cone="corners")],
    "points": [
        touch.point("tool", (0.1, 0.2, 0.0)),
        touch.point("camera", torsional_friction=0.02, normal=(0.0, 0.6, 0.8)),
        touch.point("link_1", cone="corners", edges=5),
    ],
    "edge and face": [
        touch.edge("tool", [[0.0, 0.0, 0.1], [0.1, 0.1, 0.0]]),
        touch.face("camera", half_length=0.2, half_width=0.1, normal=(0.0, -0.6, 0.8)),
    ],
    "sliding": [
        touch.point("tool", mode="sliding", directions=[(1.0, 0.0, 0.0)]),
        touch.face("camera", half_length=0.2, half_width=0.1),
    ],
}


class Forces:
    """Contacts of a robot at a random state, with random forces φ."""

    def __init__(self, given: list[touch.Contact], seed: int = 0, robot: Robot | None = None) -> None:
        self.robot = robot = tree("free base") if robot is None else robot
        rng = np.random.default_rng(seed)
        q, v, _ = random_state(robot, rng)
        self.contacts = Contacts(robot.model, (False,) * 6 + (True,) * (robot.nv - 6), tuple(given), 10.0)
        anchors = np.concatenate([anchor_of(robot.model, contact, q) for contact in given]).tolist()
        self.context = WholeBodyContext(
            robot.model, "acceleration", q.tolist(), v.tolist(), lambda signal: signal.at(0.7), [],
            contacts=self.contacts, anchors=anchors,
        )  # fmt: skip
        self.phi = rng.normal(size=self.contacts.forces)
        self.wrenches = {c.name: c.wrench(self.phi[part]) for c, part in zip(given, self.contacts.parts, strict=True)}
        self.poses = {c.name: c.pose(robot.model, q.tolist()) for c in given}

    def residual(self, task: ForceTask) -> np.ndarray:
        rows, right = task.bound_to(self.robot.model).force_rows(self.context)
        return np.array(rows, dtype=float) @ self.phi + np.array(right, dtype=float)


@pytest.mark.parametrize("name", SETS)
def test_wrench_minus_target(name: str) -> None:
    forces = Forces(SETS[name])
    for contact in forces.contacts.contacts:
        able = [k for k in range(6) if contact.wrench_basis[k].any()]
        target = np.linspace(1.0, 2.0, len(able))
        task = ct.ContactWrenchTask(contact, target, components=[COMPONENTS[k] for k in able])
        assert_close(forces.residual(task), forces.wrenches[contact.name][able] - target, 1e-12)
        normal = ct.ContactWrenchTask(contact.name, 3.0, components="f_n")
        assert_close(forces.residual(normal), [forces.wrenches[contact.name][2] - 3.0], 1e-12)


@pytest.mark.parametrize("name", ["faces", "edge and face"])
def test_center_of_pressure_is_off_the_target_by_the_moment(name: str) -> None:
    forces = Forces(SETS[name])
    for contact in forces.contacts.contacts:
        w = forces.wrenches[contact.name]
        place = np.array([-w[4], w[3]]) / w[2]
        task = ct.CenterOfPressureTask(contact.name, [0.03, -0.02])
        assert_close(forces.residual(task), w[2] * (place - [0.03, -0.02]), 1e-12)
        np.testing.assert_allclose(forces.residual(ct.CenterOfPressureTask(contact, place)), 0.0, atol=1e-12)
        if w[2] > 0.0:
            np.testing.assert_allclose(contact.center_of_pressure(w), place)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", SETS)
def test_no_horizontal_moment_about_the_zero_moment_point(name: str, seed: int) -> None:
    """With the point where the residual vanishes, by Σ (p − z) × f + τ in the world, at any height of the plane."""
    forces = Forces(SETS[name], seed)
    for height in (0.0, 0.4):
        found = [forces.residual(ct.ZeroMomentPointTask(at, height=height)) for at in ([0.0, 0.0], [1.0, 0.0])]
        vertical = found[0][0] - found[1][0]  # F_z
        z = np.array([*(found[0] / vertical), height])
        force, moment = np.zeros(3), np.zeros(3)
        for contact, w in forces.wrenches.items():
            pose = forces.poses[contact]
            axes, p = np.array(rotation_matrix(pose)), np.array(position(pose).vector)
            force += axes @ w[:3]
            moment += np.cross(p - z, axes @ w[:3]) + axes @ w[3:]
        assert vertical == pytest.approx(force[2], rel=1e-9)
        np.testing.assert_allclose(moment[:2], 0.0, atol=1e-9 * max(1.0, np.abs(z).max()))


def test_one_foot_has_its_center_of_pressure_as_zero_moment_point() -> None:
    """In the plane of the sole, for a sole that is level."""
    robot = tree("free base")
    forces = Forces([touch.point("tool", torsional_friction=0.1)], 4, robot)
    p = np.array(position(forces.poses["tool"]).vector)
    np.testing.assert_allclose(forces.residual(ct.ZeroMomentPointTask(p[:2], height=p[2])), 0.0, atol=1e-12)


@pytest.mark.parametrize("name", SETS)
def test_shares_of_the_load(name: str) -> None:
    forces = Forces(SETS[name])
    loads = np.array([w[2] for w in forces.wrenches.values()])
    assert_close(forces.residual(ct.LoadSharingTask()), loads - loads.mean(), 1e-12)
    shares = np.full(len(loads), 0.2 / (len(loads) - 1))
    shares[0] = 0.8
    task = ct.LoadSharingTask(list(forces.wrenches), shares)
    assert_close(forces.residual(task), loads - shares * loads.sum(), 1e-12)
    moving = ct.LoadSharingTask(list(forces.wrenches)[:2], lambda t: [0.5 + 0.3 * sin(t), 0.5 - 0.3 * sin(t)])
    share = np.array([0.5, 0.5]) + 0.3 * np.sin(0.7) * np.array([1.0, -1.0])
    assert_close(forces.residual(moving), loads[:2] - share * loads[:2].sum(), 1e-12)


@pytest.mark.parametrize("name", SETS)
def test_regularisation_is_all_that_the_contacts_can_have(name: str) -> None:
    forces = Forces(SETS[name])
    basis = {c.name: c.wrench_basis for c in forces.contacts.contacts}
    expected = [c for key, w in forces.wrenches.items() for c, row in zip(w, basis[key], strict=True) if row.any()]
    assert_close(forces.residual(ct.ForceRegularisation()), expected, 1e-12)
    first = next(iter(forces.wrenches))
    normal = forces.residual(ct.ForceRegularisation([first], components="f_n"))
    assert_close(normal, forces.wrenches[first][2:3], 1e-12)


def test_targets_may_be_any_function_of_time() -> None:
    """Values count alone: no derivatives are asked, of plain functions neither."""
    forces = Forces(SETS["faces"])
    given = [lambda t: [float(np.sin(t)), 0.1], ct.Moving(lambda t: [sin(t), 0.1]), ct.Measured([np.sin(0.7), 0.1])]
    found = [forces.residual(ct.CenterOfPressureTask("tool", target)) for target in given]
    for other in found[1:]:
        assert_close(other, found[0], 1e-12)


def test_forces_inside_the_robot_do_not_count_for_the_ground() -> None:
    inside = touch.point("camera", partner="tool", name="grip")
    forces = Forces([touch.face("tool", half_length=0.1, half_width=0.1), inside])
    alone = Forces([touch.face("tool", half_length=0.1, half_width=0.1)])
    alone.phi = forces.phi[:6]
    task = ct.ZeroMomentPointTask([0.1, 0.2])
    assert_close(forces.residual(task), alone.residual(task), 1e-12)
    with pytest.raises(Error, match="'grip' is inside the robot"):
        forces.residual(ct.ZeroMomentPointTask([0.0, 0.0], contacts=["grip"]))
    np.testing.assert_allclose(forces.residual(ct.LoadSharingTask()), [0.0], atol=1e-14)  # the ground has one contact


LATE = {
    "unknown contact": (
        lambda: ct.ContactWrenchTask("tol", np.zeros(6)),
        "no contact named 'tol': did you mean 'tool'",
    ),
    "moment of a point": (
        lambda: ct.ContactWrenchTask("tool", np.zeros(6)),
        "'tool' cannot have tau_t1, tau_t2, tau_n",
    ),
    "pressure of a point": (lambda: ct.CenterOfPressureTask("tool"), "'tool' cannot have tau_t1, tau_t2: choose among"),
    "regularised moments of points": (
        lambda: ct.ForceRegularisation(components=["tau_t1"]),
        "finds no contact with tau_t1",
    ),
    "unknown contact of several": (lambda: ct.ZeroMomentPointTask([0.0, 0.0], contacts=["left"]), "'left'"),
}


@pytest.mark.parametrize("case", LATE)
def test_contacts_that_do_not_fit(case: str) -> None:
    make, text = LATE[case]
    forces = Forces([touch.point("tool", (0.1, 0.2, 0.0)), touch.point("camera")])
    with pytest.raises(Error, match=text):
        forces.residual(make())


WRONG = {
    "no contact": (lambda: ct.ContactWrenchTask(None, np.zeros(6)), "A contact is given by its name"),
    "empty name": (lambda: ct.CenterOfPressureTask("", [0.0, 0.0]), "A contact is given by its name"),
    "wrench of the wrong size": (lambda: ct.ContactWrenchTask("tool", [1.0]), "target of the wrench of tool has 6"),
    "one number for six": (lambda: ct.ContactWrenchTask("tool", 1.0), "The target of the wrench of tool is a vector"),
    "wrench that is NaN": (lambda: ct.ContactWrenchTask("tool", [np.nan] * 6), "must be finite"),
    "wrench of None": (lambda: ct.ContactWrenchTask("tool", None), "The target of the wrench of tool"),
    "wrench of words": (lambda: ct.ContactWrenchTask("tool", "abcdef"), "target of the wrench of tool"),
    "no components": (lambda: ct.ContactWrenchTask("tool", [], components=()), "one or more, each named once"),
    "components twice": (lambda: ct.ContactWrenchTask("tool", [1, 1], components=["f_n", "f_n"]), "each named once"),
    "components of None": (lambda: ct.ContactWrenchTask("tool", [1.0], components=None), "components are some of f_t1"),
    "components that are numbers": (lambda: ct.ForceRegularisation(components=[2]), "component of a contact wrench"),
    "pressure with three": (lambda: ct.CenterOfPressureTask("tool", [0, 0, 0]), "has 2 components"),
    "point of the wrong size": (lambda: ct.ZeroMomentPointTask([0.0]), "the zero-moment point has 2 components"),
    "height of NaN": (lambda: ct.ZeroMomentPointTask([0, 0], height=np.nan), "height of zero-moment point must be"),
    "contacts of a number": (lambda: ct.ZeroMomentPointTask([0, 0], contacts=3), "contacts are a list of names"),
    "no contacts": (lambda: ct.LoadSharingTask([]), "contacts are one or more"),
    "contacts twice": (lambda: ct.LoadSharingTask(["tool", "tool"]), "each named once"),
    "shares without contacts": (lambda: ct.LoadSharingTask(shares=[0.5, 0.5]), "belong to contacts: name these"),
    "shares of three": (lambda: ct.LoadSharingTask(["a", "b"], [0.3, 0.3, 0.4]), "shares of the load has 2"),
    "shares beyond 1": (lambda: ct.LoadSharingTask(["a", "b"], [0.6, 0.6]), "add up to 1; found"),
    "negative share": (lambda: ct.LoadSharingTask(["a", "b"], [-0.5, 1.5]), "from 0 on"),
    "weight of zero": (lambda: ct.ForceRegularisation(weight=0.0), "weight of force regularisation must be"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input(case: str) -> None:
    make, text = WRONG[case]
    with pytest.raises(Error, match=text) as caught:
        make()
    assert str(caught.value).rstrip().endswith((".", "?"))


def test_unknown_component_is_named() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'f_n'"):
        ct.ContactWrenchTask("tool", 1.0, components="fn")


@pytest.mark.parametrize("make", [ct.velocity_controller, ct.acceleration_controller, ct.torque_controller])
def test_controllers_without_contacts_refuse(make: type) -> None:
    with pytest.raises(Error, match="'load sharing' is a task on contact forces: it is for whole_body_controller"):
        make(tree("one axis"), [ct.RestTask(), ct.LoadSharingTask()])
