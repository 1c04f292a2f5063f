"""Equations (36), (37) and (38): the same torques as the controller that eliminates all equalities."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from biped import biped, contact_sets
from trees import assert_close

import dqdyn as dq
from dqdyn import contacts
from dqdyn import control as ct
from dqdyn.constraints import FaceContact, PointContact
from dqdyn.coordinates.equation_of_motion import EquationOfMotion
from dqdyn.errors import Error

LITERAL = [
    ("own", "minimal"),
    ("euler-zyx", "minimal"),
    ("quaternion", "projected"),
    ("quaternion", "multipliers"),
    ("rotation-matrix", "projected"),
    ("rotation-matrix", "multipliers"),
    ("dual-quaternion", "projected"),
    ("dual-quaternion", "multipliers"),
]
CASES = [("face and point", *form) for form in LITERAL] + [
    (name, *LITERAL[k]) for name, k in (("two faces", 0), ("edge", 0))
]
"""Every form with one set of contacts, and others, redundant and without a whole wrench, in one form."""


def tasks(names: list[str]) -> list[Any]:
    robot = biped()
    return [
        ct.CenterOfMassTask(robot.center_of_mass(robot.neutral()) + [0.02, 0.01, -0.03], gain=2.0),
        ct.PostureTask(robot.neutral(), weight=0.3),
        ct.ContactWrenchTask(names[0], 150.0, components="f_n", weight=1e-4),
    ]


def made(name: str, coordinates: str, form: Any, **options: Any) -> tuple[Any, Any]:
    """The robot in the coordinates and its controller, with a cost that is strictly convex."""
    robot: Any = biped() if coordinates == "own" else biped().in_coordinates(coordinates)
    given = contact_sets()[name]
    chosen = {
        "tasks": tasks([c.name for c in given]),
        "damping": 0.1,
        "force_damping": 1e-3,
        "fall_margin": None,
        **options,
    }
    limits = [ct.TorqueLimits(60.0)]
    return robot, ct.whole_body_controller(robot, chosen.pop("tasks"), limits, contacts=given, form=form, **chosen)


@cache
def reference(name: str) -> Any:
    return made(name, "own", "eliminated")[1]


def states(count: int, seed: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    """Around a stance; the base turns by less than 0.4 rad, away from gimbal lock."""
    robot, rng = biped(), np.random.default_rng(seed)
    return [
        (robot.integrate(robot.neutral(), rng.uniform(-0.2, 0.2, robot.nv)), 0.2 * rng.normal(size=robot.nv))
        for _ in range(count)
    ]


def asked(robot: Any, controller: Any, q: np.ndarray, v: np.ndarray, t: float = 0.0) -> np.ndarray:
    state = (q, v) if isinstance(robot, dq.Robot) else robot.from_minimal(q, v)
    return np.asarray(controller(t, *state))


@pytest.mark.long
@pytest.mark.equation("Bouyarmane", "36")
@pytest.mark.equation("Bouyarmane", "37")
@pytest.mark.equation("Bouyarmane", "38")
@pytest.mark.parametrize(("name", "coordinates", "form"), CASES, ids=str)
def test_torques_are_those_of_the_controller(name: str, coordinates: str, form: str) -> None:
    """Over random states, with limits and cones active at some; drift of contacts is fed back at the second step."""
    expected, (robot, controller) = reference(name), made(name, coordinates, form)
    solved, bound, worst = 0, 0, 0.0
    redundant = name == "two faces"  # 12 rows on 10 velocities: only rest obeys them
    for q, v in states(60):
        v = 0.0 * v if redundant else v
        expected.reset()
        controller.reset()
        for k in range(2):
            tau = expected(0.01 * k, q, v)
            found = asked(robot, controller, q, v, 0.01 * k)
            assert controller.report.status == expected.report.status
            if expected.report.status != "solved":
                break
            solved += 1
            bound += bool((np.abs(tau) > 60.0 - 1e-6).any())
            worst = max(worst, np.abs(found - tau).max() / max(1.0, np.abs(tau).max()))
            assert_close(controller.accelerations, expected.accelerations, 1e-7)
            for contact, wrench in expected.contact_wrenches.items():
                assert_close(controller.contact_wrenches[contact], wrench, 1e-7)
            assert not found[:6].any()
            q = biped().integrate(q, v, 0.01)
    assert worst < 1e-7
    assert solved > 20, (solved, bound)


@pytest.mark.long
@pytest.mark.equation("Bouyarmane", "37")
@pytest.mark.equation("Bouyarmane", "38")
@pytest.mark.parametrize(("coordinates", "form"), LITERAL[2:3], ids=str)
def test_solution_obeys_the_equations_of_the_paper(coordinates: str, form: str) -> None:
    """(35) summed over the bodies, J_t q̈ + J̇_t q̇ of the points, cones and torques, for forces in world axes."""
    robot, controller = made("two points", coordinates, form)
    own = robot.robot
    for q, v in states(8, 5):
        controller.reset()
        here, rate = robot.from_minimal(q, v)
        tau = controller(0.0, here, rate)
        if controller.report.status != "solved":
            continue
        second = robot._run("second_rate", (here, rate, v, controller.accelerations))
        equation = EquationOfMotion(robot._tree, here.tolist(), rate.tolist())
        given = [(c.frame, c.corners[0]) for c in controller.composition.contacts.contacts]
        forces = np.concatenate([w[:3] for w in controller.contact_wrenches.values()])  # the axes are the world's
        u = robot.forces(here, tau) + np.array(equation.contact_forces(given, forces.tolist()))
        left = np.array(equation.projected_imbalance(second.tolist(), u.tolist()))
        assert np.abs(left).max() < 1e-8 * np.abs(u).max()
        assert_close(robot.constraint_matrix(here) @ second, robot.constraint_bias(here, rate), 1e-9, 10.0)
        for frame, point in given:
            J, bias = robot.point_jacobian(frame, here, point), robot.point_bias(frame, here, rate, point)
            assert_close(J @ second + bias, -20.0 * J @ rate, 1e-8, 10.0)  # what drifts decays at 10/s
        pressing = forces.reshape(-1, 3)
        assert (np.linalg.norm(pressing[:, :2], axis=1) <= 0.8 * pressing[:, 2] + 1e-8).all()
        assert np.abs(tau).max() <= 60.0 + 1e-8
        assert_close(
            own.inverse_dynamics(q, v, controller.accelerations)[:6] - _of_contacts(own, q, given, forces)[:6],
            np.zeros(6),
            1e-8,
            100.0,
        )


def _of_contacts(own: Any, q: np.ndarray, given: Any, forces: np.ndarray) -> np.ndarray:
    return sum(own.point_jacobian(f, q, p).T @ forces[3 * i : 3 * i + 3] for i, (f, p) in enumerate(given))


@pytest.mark.long
@pytest.mark.equation("Bouyarmane", "38")
def test_program_on_all_unknowns() -> None:
    """Handed over whole, equalities and all, to a solver: no null space between the print and the answer."""
    robot, controller = made("face and point", "quaternion", "multipliers")
    for q, v in states(20, 7):
        controller.reset()
        tau = asked(robot, controller, q, v)
        if controller.report.status == "solved":
            break
    assert controller.report.status == "solved"
    views, size = controller.composition.views, controller.composition.size
    E, b = views["A"][: size.equalities], views["upper"][: size.equalities]
    rows, upper, lower = (views[n][size.equalities :] for n in ("A", "upper", "lower"))
    H, f = views["H0"] + E.T @ E, views["f0"] - E.T @ b  # the same where E x = b, and positive definite
    above, below = upper < 1e20, lower > -1e20
    x = ct.solve_quadratic_program(
        H, f, np.vstack([rows[above], -rows[below]]), np.r_[upper[above], -lower[below]], E, b
    )
    assert_close((views["torque"] @ x + views["bias"]), tau[biped().actuated], 1e-8)


@pytest.mark.long
@pytest.mark.parametrize(("coordinates", "form"), [("quaternion", "multipliers")], ids=str)
def test_strict_levels_and_policies(coordinates: str, form: str) -> None:
    """Levels, bounds that give way, and braking are those of the controller."""
    levels = [tasks(["left_sole"])[:1], tasks(["left_sole"])[1:]]
    made_by = lambda *which: made("face and point", *which, tasks=levels, fall_margin=0.1)
    _, expected = made_by("own", "eliminated")
    robot, controller = made_by(coordinates, form)
    statuses = set()
    for k, (q, v) in enumerate(states(30, 3)):
        expected.reset()
        controller.reset()
        v = v * (1.0 if k % 2 else 8.0)  # too fast for the cones
        tau, found = expected(0.0, q, v), asked(robot, controller, q, v)
        assert controller.report.status == expected.report.status
        statuses.add(expected.report.status)
        assert_close(found, tau, 1e-6, 10.0)
    assert "solved" in statuses
    assert len(statuses) > 1
    nothing = np.full(robot.nq, np.nan)
    assert np.isfinite(controller(0.1, nothing, np.full(len(nothing) - (coordinates == "own"), np.nan))).all()
    assert controller.report.status == "held"


@pytest.mark.long
def test_loop_by_multipliers() -> None:
    """A four-bar on a free base, one motor on its crank: loops have multipliers beside those of coordinates."""
    own = dq.robots.four_bar().with_base("free")
    crank = next(joint.name for joint in own.joints if joint.kind == "revolute")
    own = own.with_motors([crank])
    robot = own.in_coordinates("dual-quaternion")
    posture = [ct.PostureTask(own.neutral())]
    expected = ct.whole_body_controller(own, posture, damping=0.1)
    rng = np.random.default_rng(2)
    controller = ct.whole_body_controller(robot, posture, damping=0.1, form="multipliers")
    for _ in range(5):
        q, v = own.project(own.integrate(own.neutral(), 0.3 * rng.normal(size=own.nv)), rng.normal(size=own.nv))
        tau = expected(0.0, q, v)
        assert expected.report.status == "solved"
        assert_close(asked(robot, controller, q, v), tau, 1e-7)


@pytest.mark.long
def test_standing_in_coordinates() -> None:
    """The biped holds its stance in a simulation in coordinates, its feet held by constraints."""
    own = biped().with_constraints(FaceContact("left_sole"), PointContact("right_sole"))
    robot, q = own.in_coordinates("quaternion"), own.neutral()
    controller = ct.whole_body_controller(
        biped().in_coordinates("quaternion"),
        [ct.PostureTask(q, gain=5.0)],
        contacts=[contact_sets()["two faces"][0], contacts.point("right_sole", friction=0.8)],
        damping=0.01,
    )
    run = dq.simulate(robot, controller, 0.2, 2e-3, q0=robot.from_minimal(q))
    assert np.abs(own.difference(q, run.q[-1])).max() < 1e-3
    assert run.extra["solved"].all()


def test_door() -> None:
    own = biped()
    posture = [ct.PostureTask(own.neutral())]
    with pytest.raises(Error, match=r"give robot\.in_coordinates"):
        ct.whole_body_controller(own, posture, form="projected")
    with pytest.raises(Error, match="1 conditions bind"):
        ct.whole_body_controller(own.in_coordinates("quaternion"), posture, form="minimal")
    for bad in ("multiplier", None, 3, ["minimal"]):
        with pytest.raises(Error, match="form of whole-body control"):
            ct.whole_body_controller(own, posture, form=bad)
    with pytest.raises(Error, match="leave out torque_rate"):
        ct.whole_body_controller(own, posture, form="minimal", torque_rate=10.0)
    with pytest.raises(Error, match="made for a Robot"):
        ct.whole_body_controller("biped.urdf", posture, form="minimal")  # type: ignore[arg-type]
    with pytest.raises(Error):
        ct.whole_body_controller(own, posture, contacts=[contacts.point("left_sule")], form="minimal")
