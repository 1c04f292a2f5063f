"""Under the torques of a whole-body controller Pinocchio's constraint dynamics gives the accelerations it plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pinocchio as pin
import pytest
from biped import biped, contact_sets
from contact_dynamics import constraint_dynamics
from robot_data import urdf_file
from seeds import generator
from standing import table
from trees import assert_close
from whole_body_problem import contact_jacobian, held_velocity

import dqdyn as dq
from dqdyn import contacts
from dqdyn import control as ct
from dqdyn.arrays import Array
from dqdyn.contacts import Contact
from dqdyn.control.whole_body.controller import WholeBodyController

Case = tuple[dq.Robot, Array, Sequence[Contact]]
"""A robot, a configuration at which it stands, and what it stands on."""


def _biped(name: str) -> Case:
    robot = biped()
    return robot, robot.neutral(), contact_sets()[name]


def _by_corners() -> Case:
    robot, corners = biped(), contacts.face("left_sole", half_length=0.1, half_width=0.05, friction=0.8, cone="corners")
    return robot, robot.neutral(), [corners, contacts.point("right_sole", (0.05, 0.0, 0.0), friction=0.8)]


def _wall(contact: Contact) -> Case:
    robot = dq.robots.arm7()
    return robot, robot.random_configuration(generator("wall")), [contact]


def _feet() -> Case:
    robot, left = biped(), contacts.face("left_sole", half_length=1.0, half_width=1.0)
    return (
        robot,
        robot.neutral(),
        [left, contacts.point("right_sole", partner="left_sole", normal=(0.0, -1.0, 0.0), friction=5.0)],
    )


def _real(name: str, feet: Sequence[Contact], angles: dict[str, float]) -> Case:
    robot = dq.load(urdf_file(name), base="free").without_friction()  # Pinocchio leaves it out
    q = robot.neutral()
    for joint in robot.joints:
        for part, angle in angles.items():
            if part in joint.name:
                q[joint.q] = angle
    q[6] -= robot.pose(feet[0].frame, q).translation[2]
    return robot, q, feet


SOLE = {"half_length": 0.1, "half_width": 0.06}
QUICK: dict[str, Callable[[], Case]] = {
    "arm, a point at a wall": lambda: _wall(contacts.point("tool", normal=(1.0, 0.0, 0.0), friction=50.0)),
    "arm, a face at a wall": lambda: _wall(contacts.face("tool", half_length=0.3, half_width=0.2, friction=50.0)),
    "biped, a face and a point": lambda: _biped("face and point"),
    "biped, two points": lambda: _biped("two points"),
    "biped, an edge": lambda: _biped("edge"),
    "biped, a foot at the other": _feet,
    "biped, a face by its corners": _by_corners,
}
LONG: dict[str, Callable[[], Case]] = {
    "biped, two faces": lambda: _biped("two faces"),
    "table, four points": table,
    "Talos, two feet": lambda: _real(
        "talos_reduced",
        [contacts.face(f"{side}_sole_link", **SOLE) for side in ("left", "right")],
        {"leg_left_3": -0.4, "leg_right_3": -0.4, "leg_left_4": 0.8, "leg_right_4": 0.8, "_5_joint": -0.4},
    ),
    "Solo, four points": lambda: _real(
        "solo12",
        [contacts.point(f"{leg}_FOOT", friction=0.8) for leg in ("FL", "FR", "HL", "HR")],
        {"_HFE": 0.8, "_KFE": -1.6},
    ),
}
CASES = {**QUICK, **LONG}
DRIFTING = ["arm, a point at a wall", "arm, a face at a wall", "biped, a face and a point"]


def controller_of(robot: dq.Robot, q: Array, touching: Sequence[Contact], rate: float) -> WholeBodyController:
    """It moves the center of mass; limits of motors are not the matter here."""
    tasks = [ct.CenterOfMassTask(robot.center_of_mass(q) + [0.02, 0.01, -0.03], gain=2.0), ct.PostureTask(q)]
    return ct.whole_body_controller(
        robot, tasks, contacts=touching, contact_rate=rate, infeasible="hold", fall_margin=None
    )


def near(robot: dq.Robot, q0: Array, touching: Sequence[Contact], rng: np.random.Generator) -> Array:
    """A configuration next to q0; a free base is moved so that the first foot stays where it is."""
    q = robot.integrate(q0, 0.1 * rng.standard_normal(robot.nv))
    if robot.joints[0].kind == "free":
        there, here = (robot.pose(touching[0].frame, x) for x in (q0, q))
        moved = there * here.inverse() * dq.Pose(rotation=q[:4], translation=q[4:7])
        q[:4], q[4:7] = moved.rotation, moved.translation
    return q


def rank_of_contacts(robot: dq.Robot, q: Array, touching: Sequence[Contact]) -> tuple[int, int]:
    """Of the rows of all contacts, and how many there are."""
    rows = np.vstack([c.motion_rows @ contact_jacobian(robot, c, q) for c in touching])
    return int(np.linalg.matrix_rank(rows, 1e-6)), len(rows)


def _compare(case: str, states: int) -> None:
    robot, q0, touching = CASES[case]()
    rng = generator(case)
    controller = controller_of(robot, q0, touching, rate=0.0)
    path = {"Talos": "talos_reduced", "Solo,": "solo12"}.get(case[:5])
    model = pin.buildModelFromUrdf(str(urdf_file(path)), pin.JointModelFreeFlyer()) if path else None
    solved = 0
    for _ in range(states):
        q = near(robot, q0, touching, rng)
        v = held_velocity(robot, touching, q, 0.3 * rng.standard_normal(robot.nv))
        controller.reset()
        tau = controller(0.0, q, v)
        if controller.report.status != "solved":
            continue
        solved += 1
        found = constraint_dynamics(robot, touching, (q, v), tau, model=model)
        assert_close(controller.accelerations, found.accelerations, 1e-7)
        rank, rows = rank_of_contacts(robot, q, touching)
        if rank == rows:
            for name, wrench in found.wrenches.items():
                assert_close(controller.contact_wrenches[name], wrench, 1e-7, robot.model.mass)
    assert solved > states // 2, solved


@pytest.mark.parametrize("case", QUICK)
def test_accelerations_and_wrenches_are_pinocchios(case: str) -> None:
    _compare(case, 10)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*a fixed joint cannot mimic")
@pytest.mark.parametrize("case", LONG)
def test_accelerations_and_wrenches_of_large_robots_are_pinocchios(case: str) -> None:
    _compare(case, 10)


def drifted(robot: dq.Robot, contact: Contact, start: Array, q: Array, v: Array, rate: float) -> Array:
    """[ω̇, v̇] (6,) = −2ρ ė − ρ² e in the contact frame, e the rotation (sin θ n) and the displacement from the start."""
    axes = dq.Pose(contact.pose(robot, q)).rotation_matrix
    before, now = (robot.pose(contact.frame, x) for x in (start, q))
    turn = now.rotation_matrix @ before.rotation_matrix.T
    angle = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
    center = np.mean(contact.corners, axis=0)
    path = (now.rotation_matrix - before.rotation_matrix) @ center + now.translation - before.translation
    twist = contact_jacobian(robot, contact, q) @ v
    return -2.0 * rate * twist - rate**2 * np.concatenate([axes.T @ angle, axes.T @ path])


@pytest.mark.parametrize("case", DRIFTING)
def test_drift_decays_as_if_pinocchio_were_told_to(case: str) -> None:
    """The contacts have left their places and move; their accelerations are given to Pinocchio as numbers."""
    robot, q0, touching = CASES[case]()
    rng, rate, solved = generator(f"{case}, drift"), 5.0, 0
    controller = controller_of(robot, q0, touching, rate)
    for _ in range(10):
        controller.reset()
        controller(0.0, q0, np.zeros(robot.nv))
        q = robot.integrate(q0, 0.02 * rng.standard_normal(robot.nv))
        v = 0.05 * rng.standard_normal(robot.nv)
        tau = controller(0.01, q, v)
        if controller.report.status != "solved":
            continue
        solved += 1
        wanted = {c.name: drifted(robot, c, q0, q, v, rate) for c in touching}
        assert all(np.abs(a).max() > 0.1 for a in wanted.values())
        found = constraint_dynamics(robot, touching, (q, v), tau, wanted)
        assert_close(controller.accelerations, found.accelerations, 1e-7)
        for name, wrench in found.wrenches.items():
            assert_close(controller.contact_wrenches[name], wrench, 1e-7, robot.model.mass)
    assert solved > 5, solved
