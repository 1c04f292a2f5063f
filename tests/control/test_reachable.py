"""Postures that meet several tasks and inequalities at once, and what is out of reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from seeds import generator

import dqdyn as dq
from dqdyn import control as ct

g = ct.guards
ARM = dq.robots.arm6()
TWO = dq.robots.two_link()


def box_around(center: Any, half: float) -> list[dq.Plane]:
    """Six planes whose normals point inwards."""
    planes = []
    for axis in np.eye(3):
        for sign in (1.0, -1.0):
            planes.append(dq.Plane(sign * axis, distance=float(sign * axis @ np.asarray(center) - half)))
    return planes


@pytest.mark.parametrize("case", range(4))
def test_what_a_posture_has_is_found(case: int) -> None:
    """A region around where the tool is at a random posture, and its orientation there."""
    draw = generator(f"reachable {case}")
    pose = ARM.pose("tool", ARM.random_configuration(draw))
    found = ct.reachable(
        ARM,
        [ct.Region("tool", box_around(pose.translation, 0.02)), ct.RotationTask("tool", pose.rotation, name="turn")],
    )
    assert found, found.reason
    at = ARM.pose("tool", found.q)
    assert (np.abs(at.translation - pose.translation) <= 0.02 + 1e-6).all()
    assert abs(at.rotation @ pose.rotation) == pytest.approx(1.0, abs=1e-9)  # a quaternion and its negative are one
    assert (found.q >= ARM.limits.lower).all()
    assert (found.q <= ARM.limits.upper).all()
    assert all(size <= 1e-6 for size in found.missed.values())
    again = ct.reachable(ARM, ct.Region("tool", box_around(pose.translation, 0.02)), q0=found.q)
    assert again.starts == 1


def test_the_distance_to_what_is_out_of_reach_is_right() -> None:
    """Two links of 1 m reach 2 m: a box that begins at 2.5 m on the x axis is missed by 0.5 m."""
    found = ct.reachable(TWO, ct.Region("tool", box_around([3.0, 0.0, 0.0], 0.5), name="box"), starts=5)
    assert not found
    assert found.starts == 5
    assert max(found.missed.values()) == pytest.approx(0.5, abs=1e-3)
    assert "none in 5 starts; the best misses 'box: plane 1' by 0.5" in found.reason
    np.testing.assert_allclose(TWO.pose("tool", found.q).translation, [2.0, 0.0, 0.0], atol=0.05)


def test_parts_in_conflict_are_told() -> None:
    here = ct.TranslationTask("tool", [1.0, 0.0, 0.5], name="here")
    there = ct.TranslationTask("tool", [1.0, 0.0, 0.7], name="there")
    found = ct.reachable(TWO, [here, there], starts=3)
    assert not found
    assert found.missed["here"] + found.missed["there"] == pytest.approx(0.2, abs=1e-6)


def test_a_hand_reaches_only_as_far_as_the_feet_allow() -> None:
    """On a free base a hand gets anywhere, but not with a foot that stays."""
    robot = dq.robots.humanoid()
    foot, hand = "left_foot", "left_hand"
    q = robot.neutral()
    far = robot.pose(hand, q).translation + np.array([3.0, 0.0, 0.0])
    region = ct.Region(hand, box_around(far, 0.05))
    assert ct.reachable(robot, region, starts=10)
    stays = ct.PoseTask(foot, robot.pose(foot, q), name="foot")
    assert not ct.reachable(robot, [region, stays], starts=3)


@pytest.mark.parametrize("reach", [0.8, 3.0])
def test_a_machine_warns_of_regions_out_of_reach(reach: float) -> None:
    states = [
        ct.State(
            "touch",
            ct.TranslationTask("tool", [0.8, 0.0, 0.0], name="ball"),
            transitions=ct.Transition("done", g.reached("ball", 0.1)),
            time_limit=2.0,
            reaches=ct.Region("tool", box_around([reach, 0.0, 0.0], 0.2)),
        ),
        ct.State("done", ends="done"),
        ct.State("failed", ends="failed"),
    ]
    if reach < 2.0:
        ct.StateMachine(TWO, states, start="touch")
        return
    words = r"no posture of 'two_link' was found for what the state 'touch' reaches: none in 50 starts; the best misses"
    with pytest.warns(ct.ControlWarning, match=words):
        ct.StateMachine(TWO, states, start="touch")


@pytest.mark.parametrize(
    ("parts", "options", "words"),
    [
        ([], {}, "has to meet something"),
        (3, {}, "parts are tasks and inequalities; found 3"),
        ([ct.JointLimits()], {}, "meets tasks and inequalities"),
        (ct.TranslationTask("toll", [1.0, 0.0, 0.0]), {}, "'toll'"),
        (ct.RestTask(), {"starts": 0}, "starts is a whole number"),
        (ct.RestTask(), {"starts": 2.5}, "starts is a whole number"),
        (ct.RestTask(), {"seed": -1}, "seed is a whole number"),
        (ct.RestTask(), {"tolerance": 0.0}, "tolerance"),
        (ct.RestTask(), {"q0": [0.0]}, "q"),
    ],
)
def test_bad_searches_are_refused(parts: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(dq.Error, match=words):
        ct.reachable(TWO, parts, **options)
