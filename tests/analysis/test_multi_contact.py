"""The experiments with a hand on a table or a wall: their parts by themselves, and their claims."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.analysis.experiments import Result, experiment
from dqdyn.analysis.experiments.multi_contact import report, table, wall
from dqdyn.analysis.experiments.multi_contact import strategy as s
from dqdyn.analysis.experiments.multi_contact.runs import Attempt, attempt, maps
from dqdyn.analysis.experiments.multi_contact.setting import MARGIN, REACH, Setting, rectangle
from dqdyn.analysis.experiments.multi_contact.sliding_support import SlidingSupport
from dqdyn.analysis.experiments.multi_contact.strategy import Strategy
from dqdyn.contacts.support_polygon import convex_hull

SQUARE = np.array([[-0.2, -0.2], [0.2, -0.2], [0.2, 0.2], [-0.2, 0.2]])
SETTINGS = {"table": table.setting, "wall": wall.setting}


@cache
def setting(name: str) -> Setting:
    return SETTINGS[name]()


# --- the polygon that moves with the hand -----------------------------------------------------------------------------


def test_support_that_slides_is_the_hull_of_points_and_hand() -> None:
    arm, rng = dq.robots.arm7(), np.random.default_rng(3)
    support = SlidingSupport(SQUARE, "tool", np.ones(3), 0.01)
    rows = ct.linearise(arm, support)
    for q in rng.uniform(-1.5, 1.5, (40, 7)):
        hand, center = arm.pose("tool", q).translation, arm.center_of_mass(q)
        support.update(hand)
        corners = convex_hull(np.vstack([SQUARE, hand[:2]]))
        along, away = np.roll(corners, -1, axis=0) - corners, center[:2] - corners
        distances = (along[:, 0] * away[:, 1] - along[:, 1] * away[:, 0]) / np.linalg.norm(along, axis=1)
        found = rows(0.0, q)
        np.testing.assert_allclose(found.value[: len(corners)], distances - 0.01, atol=1e-12)
        assert (found.value[len(corners) :] > 100.0).all()
        h = 1e-6
        sides = [[rows(0.0, q + sign * h * e).value for sign in (1.0, -1.0)] for e in np.eye(7)]
        differences = np.stack([(ahead - behind) / (2.0 * h) for ahead, behind in sides], axis=1)
        np.testing.assert_allclose(found.jacobian, differences, atol=1e-6)


# --- settings ---------------------------------------------------------------------------------------------------------


def test_rectangle_looks_inwards() -> None:
    planes = rectangle((1, 2), ((0.1, 0.3), (0.8, 1.0)))
    inside, outside = np.array([9.0, 0.2, 0.9]), np.array([9.0, 0.4, 0.9])

    def distances(p: np.ndarray) -> list[float]:
        return [float(np.dot(plane.normal, p) - plane.distance) for plane in planes]

    np.testing.assert_allclose(distances(inside), 0.1)
    assert sorted(distances(outside))[0] == pytest.approx(-0.1)


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_start_at_rest_inside_of_their_planes(name: str) -> None:
    world = setting(name)
    center = world.robot.center_of_mass(world.q0)[:2]
    feet = world.polygon()
    assert feet.distance(center) > MARGIN
    assert feet.area == pytest.approx(0.22 * 0.31)
    hand = np.array([0.6, 0.3, 0.9])
    assert world.polygon(hand).area > feet.area
    palm = world.robot.pose("left_hand", world.q0).translation
    assert np.dot(world.surface.normal, palm) - world.surface.distance > 0.05


def test_start_is_free_of_the_furniture() -> None:
    for name in SETTINGS:
        world = setting(name)
        for point in ("pelvis", "left_shank", "right_shank"):
            at = world.robot.pose(point, world.q0).translation
            assert np.dot(world.furniture.normal, at) - world.furniture.distance > 0.1


# --- claims fail for other runs ---------------------------------------------------------------------------------------


def tried(reached: bool, **more: Any) -> Any:
    return SimpleNamespace(reached=reached, words="…", **more)


def test_claims_need_the_right_ends() -> None:
    ends = list(report.ends({"with contact": tried(True)}, {"with contact": False}))
    assert [claim.holds for claim in ends] == [False]
    assert not report.decides({"a": tried(True)}, {"a": tried(True)}).holds
    assert not report.decides({"a": tried(False)}, {"a": tried(False)}).holds
    assert report.decides({"a": tried(False)}, {"a": tried(True)}).holds
    inside, outside = np.array([0.05, MARGIN]), np.array([0.05, MARGIN - 0.01])
    assert report.balanced({"a": tried(True, to_planes=inside)}).holds
    assert not report.balanced({"a": tried(True, to_planes=inside), "b": tried(True, to_planes=outside)}).holds


def test_map_names_the_attempts_that_succeed() -> None:
    found = np.zeros((2, 3, 4), dtype=bool)
    found[0, 0] = True, True, True, True
    found[1, 2] = False, False, True, False
    which, first = maps(setting("table"), np.arange(3.0), np.arange(2.0), found)
    assert which.categories[int(which.values[1, 2])] == "maximised"
    assert which.categories[int(which.values[0, 1])] == "none"
    assert first.categories[int(first.values[0, 0])] == "without contact"
    assert first.categories[int(first.values[1, 2])] == "maximised"
    assert first.categories[int(first.values[1, 0])] == "none"


@pytest.mark.parametrize("points", [-1, 2.5, float("nan"), None, "7"])
def test_points_of_a_map_are_counted(points: Any) -> None:
    with pytest.raises(dq.Error, match="points is how many balls the map has in a row"):
        experiment("multi-contact-table", points=points)


# --- the machine ------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.equation("Quiroz", "table 6.2")
@pytest.mark.equation("Quiroz", "table 6.3")
@pytest.mark.equation("Quiroz", "fig. 4.13")
@pytest.mark.equation("Quiroz", "fig. 6.19")
def test_strategy_has_the_states_and_rates_of_the_paper() -> None:
    machine = Strategy(setting("table")).machine()
    states: dict[str, Any] = {**machine.states}
    arrows = {name: [t.to for t in state.transitions] for name, state in states.items()}
    assert arrows[s.TRY_ON_FEET] == [s.DONE, s.STAND_UP]
    assert arrows[s.CONTACT] == [s.TRY_FIXED, s.FAILED]
    assert arrows[s.TRY_FIXED] == [s.DONE, s.MAXIMISE]
    assert arrows[s.MAXIMISE] == [s.TRY_MAXIMISED]
    assert arrows[s.TRY_MAXIMISED] == [s.DONE, s.SLIDE]
    assert arrows[s.SLIDE] == [s.DONE, s.FAILED]
    rates = {name: (state.tasks[0].gain, state.options["damping"]) for name, state in states.items() if state.tasks}
    assert rates[s.CONTACT] == (2.0, 0.05)
    assert rates[s.MAXIMISE] == (-0.5, 0.1)
    assert {rates[name] for name in (s.TRY_ON_FEET, s.TRY_FIXED, s.TRY_MAXIMISED, s.SLIDE)} == {(1.0, 0.08)}


@pytest.mark.long
@pytest.mark.equation("Quiroz", "fig. 4.17")
def test_ball_that_is_out_of_reach_fails_in_the_last_state() -> None:
    world = replace(setting("table"), ball=np.array([3.0, 0.0, 1.0]))
    tried = attempt(world, Strategy(world).machine(), 0.05)
    assert tried.path[-2:] == (s.SLIDE, s.FAILED)
    assert not tried.reached
    assert isinstance(tried, Attempt)
    assert tried.to_planes.min() > MARGIN - 1e-3


@cache
def result(name: str) -> Result:
    return experiment(f"multi-contact-{name}", dt=0.03, points=0)


@pytest.mark.long
@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.equation("Quiroz", "fig. 6.13")
@pytest.mark.equation("Quiroz", "fig. 6.14")
@pytest.mark.equation("Quiroz", "fig. 6.15")
@pytest.mark.equation("Quiroz", "fig. 6.16")
@pytest.mark.equation("Quiroz", "fig. 6.17")
@pytest.mark.equation("Quiroz", "fig. 6.18")
def test_claims_hold(name: str) -> None:
    found = result(name)
    assert [f"{claim.text}: {claim.measured}" for claim in found.claims if not claim.holds] == []
    assert len(found.claims) >= 8
    assert found.as_data()["holds"]
    assert REACH == 0.04


@pytest.mark.long
def test_palm_is_led_to_the_table_on_the_engine() -> None:
    pytest.importorskip("mujoco")
    from dqdyn.analysis.experiments.multi_contact import following

    world = setting("table")
    law = attempt(world, Strategy(world).machine((s.CONTACT,)), 0.05)
    done, follower = following.follow(law, 2)
    assert follower.fell is None
    assert set(done.run.about["touched"]) == {"left_foot_link", "right_foot_link", "left_palm"}
    assert np.abs(world.hand(done.run)[-1] - world.hand(law.run)[-1]).max() < 5e-3
    assert done.setting.standing.feet_moved(done.run.q) < 5e-3
