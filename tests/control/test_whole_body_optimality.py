"""Commands of whole-body controllers are the optimum of the problem in accelerations and contact forces."""

from __future__ import annotations

import numpy as np
import pytest
from seeds import generator
from trees import random_robot
from whole_body_cases import CASES
from whole_body_problem import NOTHING, center_of_mass_cost, draw, held_velocity, posture_cost

import dqdyn as dq
from dqdyn import contacts
from dqdyn import control as ct

SMALL = ["arm at a wall", "tree of all kinds, a face and a point", "four-bar", "five-bar", "nonholonomic manipulator"]
LARGE = [
    "humanoid, two feet",
    "Talos, two feet",
    "tree of all kinds, two points",
    "tree with mimic joints, a face and a point",
    "tree on a planar base, a point",
    "Stewart platform",
]


def _prove(case: str, states: int) -> None:
    robot, touching = CASES[case]()
    worst, solved = NOTHING, 0
    for status, found in draw(robot, touching, generator(case), states):
        if status == "solved":
            worst, solved = worst.worst(found), solved + 1
        else:  # contacts and motors of a random robot may not carry it
            assert status == "held"
    assert solved > states // 2
    assert worst.motion < 1e-9
    assert worst.contacts < 1e-8  # J̇ v by central differences
    assert worst.bounds < 1e-8
    assert worst.stationarity < 1e-8


@pytest.mark.equation("Bouyarmane", "36")
@pytest.mark.parametrize("case", SMALL)
def test_command_is_the_optimum(case: str) -> None:
    _prove(case, 10)


@pytest.mark.long
@pytest.mark.equation("Bouyarmane", "36")
@pytest.mark.parametrize("case", LARGE)
def test_command_of_large_robots_is_the_optimum(case: str) -> None:
    _prove(case, 5)


@pytest.mark.long
def test_lower_levels_leave_higher_ones_alone() -> None:
    """To 1e-8: with a level below, and with two, and with another solver."""
    robot, rng = dq.robots.arm7(base="free"), generator("levels")
    stand = [contacts.face("base", half_length=0.3, half_width=0.2)]
    target, q0 = np.array([0.3, 0.1, 0.5]), robot.random_configuration(rng)
    levels = [[ct.TranslationTask("tool", target)], [ct.CenterOfMassTask([0.0, 0.0, 0.3])], [ct.PostureTask(q0)]]
    make = lambda count: ct.whole_body_controller(robot, levels[:count], contacts=stand, contact_rate=0.0)
    controllers = [make(count) for count in (1, 2, 3)]
    for _ in range(5):
        q = robot.integrate(q0, np.r_[np.zeros(6), rng.uniform(-0.5, 0.5, 7)], 1.0)
        v = held_velocity(robot, stand, q, 0.2 * rng.standard_normal(robot.nv))
        for controller in controllers:
            controller(0.0, q, v)
            assert controller.report.status == "solved"
        tool = robot.twist_jacobian("tool", q, expressed="aligned")[3:]
        center = robot.center_of_mass_jacobian(q)
        first, second, third = (controller.accelerations for controller in controllers)
        scale = 1.0 + np.abs(first).max()
        assert np.abs(tool @ (second - first)).max() < 1e-8 * scale
        assert np.abs(tool @ (third - first)).max() < 1e-8 * scale
        assert np.abs(center @ (third - second)).max() < 1e-8 * scale
        # the second level is used: without it the center of mass does something else
        _, _, wanted = center_of_mass_cost(robot, 1.0, 1.0, np.array([0.0, 0.0, 0.3]), q, v)
        assert np.linalg.norm(center @ second + wanted) < np.linalg.norm(center @ first + wanted)


def test_both_solvers_find_the_optimum() -> None:
    robot, touching = CASES["arm at a wall"]()
    results = []
    for solver in ("daqp", "piqp"):
        rng = generator("solvers")
        results.append([found for status, found in draw(robot, touching, rng, 5, solver=solver) if status == "solved"])
    assert len(results[0]) == len(results[1]) == 5
    assert max(found.stationarity for found in results[0]) < 1e-8
    assert max(found.stationarity for found in results[1]) < 1e-5  # of an interior-point method


def test_posture_cost_is_that_of_the_task() -> None:
    """The hand-made cost of the proof: without contacts and limits a fixed arm does what its only task asks."""
    robot, rng = dq.robots.arm7().with_motors({f"joint{i}": float("inf") for i in range(1, 8)}), generator("cost")
    q, v = robot.random_configuration(rng), rng.standard_normal(7)
    controller = ct.whole_body_controller(robot, ct.PostureTask(q, gain=2.0), damping=0.0)
    controller(0.0, q, v)
    _, _, wanted = posture_cost(robot, 1.0, 2.0, q, v)
    np.testing.assert_allclose(controller.accelerations, -wanted, atol=1e-9)


def test_coulomb_friction_is_compensated_only_if_asked() -> None:
    """By exactly friction · sign(v) per joint; damping is always."""
    robot = random_robot(4, 3, ("revolute", "prismatic")).with_motors({})
    q, v = robot.neutral(), np.array([0.5, -0.2, 0.0])
    torques = [
        ct.whole_body_controller(robot, ct.RestTask(), coulomb_friction=asked)(0.0, q, v) for asked in (False, True)
    ]
    friction = np.array([joint.friction[0] for joint in robot.joints])
    np.testing.assert_allclose(torques[1] - torques[0], friction * np.sign(v), atol=1e-12)
    with pytest.raises(dq.Error, match="coulomb_friction is True or False"):
        ct.whole_body_controller(robot, ct.RestTask(), coulomb_friction="yes")  # type: ignore[arg-type]
