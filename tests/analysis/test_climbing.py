"""Stairs with a hand on a wall: the way of the palm, the footsteps, and a whole climb in MuJoCo."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from dqdyn.analysis.experiments.walk import stairs
from dqdyn.analysis.walking.climbing import HandOnWall, HandTarget
from dqdyn.analysis.walking.walked import Push
from dqdyn.footsteps.swing import highest_between
from dqdyn.geometry.primitives import Plane
from dqdyn.simulate import SimulationWarning

WALL = Plane((0.0, -1.0, 0.0), distance=-0.5)


def test_the_palm_goes_off_the_wall_along_it_and_onto_it() -> None:
    target = HandTarget(HandOnWall("left_hand", (0.08, 0.045), WALL), np.array([0.0, 0.3, 1.0]))
    here, goal = np.array([0.1, 0.5, 1.0]), np.array([0.4, 0.5, 1.1])
    target.go(2.0, here, goal)
    target.move(2.0)
    np.testing.assert_allclose(target.position.position, here, atol=1e-12)
    times, h = np.linspace(2.0, 5.0, 301), 1e-6
    places = []
    for t in times:
        target.move(t + h)
        later = np.array(target.position.position)
        target.move(t)
        places.append(np.array(target.position.position))
        if min(abs(t - edge) for edge in (2.0, 2.2, 2.4, 3.6)) > 0.011:  # its corners
            np.testing.assert_allclose((later - places[-1]) / h, target.position.velocity, atol=1e-4)
        assert np.isclose(target.surface.position[3], -places[-1][1])  # the palm is parallel to the wall, where it is
    off = 0.5 - np.array(places)[:, 1]
    moving = np.abs(np.gradient(np.array(places)[:, 0], times)) > 0.05
    assert off[moving].min() > 0.02  # it does not rub along the wall
    assert off[-1] < 0.0 < off[-80]  # and goes on until it is stopped there
    np.testing.assert_allclose(np.array(places)[-1, [0, 2]], goal[[0, 2]], atol=1e-12)


def test_a_palm_that_starts_far_away_comes_in_one_way() -> None:
    target = HandTarget(HandOnWall("left_hand", (0.08, 0.045), WALL), np.array([0.0, 0.2, 0.8]))
    target.go(0.0, np.array([0.0, 0.2, 0.8]), np.array([0.2, 0.5, 1.0]))
    off = []
    for t in np.linspace(0.0, 1.6, 50):
        target.move(t)
        off.append(0.5 - float(target.position.position[1]))
    assert off[0] == pytest.approx(0.3)
    assert (np.diff(off) <= 1e-12).all()


def test_footsteps_lie_on_the_stairs_and_feet_swing_over_their_edges() -> None:
    setting = stairs.stairs()
    sole = setting.stretches[0].sole
    for i, plan in enumerate(setting.stretches):
        for step in plan.steps:
            heights = [setting.scene.surface_below(corner, above=1.0).height for corner in sole.corners(step.pose)]
            np.testing.assert_allclose(heights, stairs.RISE * (i + 1), atol=1e-12)
        start = {step.foot: step for step in plan.start}
        top = highest_between(start[plan.steps[0].foot].pose, plan.steps[0].pose, setting.scene, sole)
        assert top == pytest.approx(stairs.RISE * (i + 1))
    assert (setting.places[:, 1] == stairs.WALL).all()
    assert (np.diff(setting.places[:, 0]) > 0.1).all()


@pytest.mark.long
def test_it_climbs_also_when_pushed() -> None:
    setting = stairs.stairs()
    climber = setting.climber()
    run = stairs.climb(setting, climber, Push(14.0, 4.6, 0.3), every=20)
    assert run.why == ""
    assert run.ended == "done"
    assert stairs._is_up(run)
    assert run.deviation < stairs.NEAR
    assert len(run.footprints) == 2 * stairs.COUNT
    assert run.hand_forces[run.is_stepping].min() > 0.0
    claims = list(stairs._claims({1: run}, [run], 0.3))
    assert all(claim.holds for claim in claims)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SimulationWarning)  # a robot that falls on edges may hit them hard
        fallen = stairs.climb(setting, climber, Push(6.0, 1.7, 3.0), 9.0, every=20)  # 1.6 leaves it to the last bits
    assert fallen.why != ""
    assert [claim.holds for claim in stairs._claims({1: fallen}, [fallen], 0.3)][-1] is False
