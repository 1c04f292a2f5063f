"""Postures on feet and hands, targets between them, what is measured of a run, and pieces of the sequence."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.analysis.experiments.feet_and_hands import experiment, measured
from dqdyn.analysis.experiments.feet_and_hands.postures import ROOM, WISHES, Posture, Wish, balanced, postures
from dqdyn.analysis.experiments.feet_and_hands.running import Run, Timed, follow, replayed
from dqdyn.analysis.experiments.feet_and_hands.setting import FEET, HANDS, LIMBS, LINKS, PLACES, SURFACES, humanoid
from dqdyn.analysis.experiments.feet_and_hands.states import STAGES, machine
from dqdyn.analysis.experiments.feet_and_hands.targets import PRESS, Targets, lowered, smooth
from dqdyn.arrays import Array
from dqdyn.contacts import support_polygon


@cache
def robot() -> dq.Robot:
    return humanoid()


@cache
def found() -> dict[str, Posture]:
    return postures(robot())


# --- postures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WISHES)
def test_postures_touch_the_ground_and_balance(name: str) -> None:
    """All corners of what is on the ground are at z = 0, and the center of mass is above the polygon they span."""
    posture, wish = found()[name], WISHES[name]
    on = [limb for limb, height in wish.heights.items() if height == 0.0]
    for limb in on:
        corners = [robot().pose(f"{limb}_corner_{k}", posture.q).translation for k in range(1, 5)]
        np.testing.assert_allclose(np.array(corners)[:, 2], 0.0, atol=1e-8)
        np.testing.assert_allclose(np.mean(corners, axis=0)[:2], PLACES[limb], atol=1e-8)
    soles = [contact for contact in SURFACES if contact.frame in on]
    assert support_polygon(robot(), posture.q, soles).distance(posture.center[:2]) > 0.03
    for limb in set(LIMBS) - set(on):
        assert min(robot().pose(f"{limb}_corner_{k}", posture.q).translation[2] for k in range(1, 5)) > 0.02
    limits = robot().limits
    assert (posture.q[7:] >= limits.lower[7:] + ROOM - 1e-9).all()
    assert (posture.q[7:] <= limits.upper[7:] - ROOM + 1e-9).all()


def test_handstand_is_upside_down_and_straight() -> None:
    posture = found()["handstand"]
    heights = [robot().pose(frame, posture.q).translation[2] for frame in ("head", "pelvis", "left_foot")]
    assert 0.3 < heights[0] < heights[1] < heights[2]
    assert heights[2] > 1.8
    assert robot().pose("pelvis", posture.q).rotation_matrix[2, 2] < -0.99


def test_a_wish_out_of_reach_is_an_error() -> None:
    high = replace(WISHES["standing"], heights={"left_foot": 0.0, "right_foot": 0.0, "left_hand": 2.5})
    with pytest.raises(dq.Error):
        balanced(robot(), high, "high")
    far = Wish(0.0, {}, {"left_foot": 0.0}, (3.0, 0.0))
    with pytest.raises(dq.Error):
        balanced(robot(), far, "far")


# --- targets ----------------------------------------------------------------------------------------------------------


def test_ways_begin_and_end_at_rest() -> None:
    assert smooth(0.0) == smooth(-1.0) == (0.0, 0.0)
    assert smooth(1.0) == smooth(2.0) == (1.0, 0.0)
    for s in (0.2, 0.5, 0.9):
        assert smooth(s)[1] == pytest.approx((smooth(s + 1e-6)[0] - smooth(s - 1e-6)[0]) / 2e-6, rel=1e-6)


def test_a_pose_is_lowered_along_z() -> None:
    draw = np.random.default_rng(3)
    rotation = draw.normal(size=4)
    pose = dq.Pose(rotation=rotation / np.linalg.norm(rotation), translation=draw.normal(size=3))
    low = dq.Pose(lowered(pose.vec8(), 0.25))
    np.testing.assert_allclose(low.translation, pose.translation - [0.0, 0.0, 0.25], atol=1e-14)
    np.testing.assert_allclose(low.rotation, pose.rotation, atol=1e-15)


def test_rates_of_targets_are_those_of_their_values() -> None:
    """Against central differences of values, on the way to a posture; then the limb is below its place."""
    targets = Targets(robot(), found()["standing"])
    targets.aim(found()["bent"], 2.0, HANDS, lands=True)
    signals = {"center": targets.center, "posture": targets.posture, "pelvis": targets.pelvis}
    signals |= {limb: targets.limbs[limb] for limb in HANDS}

    def at(t: float, part: str) -> dict[str, Array]:
        targets.move(t)
        return {name: np.array(getattr(signal, part)) for name, signal in signals.items()}

    step = 1e-6
    before, after = at(0.8 - step, "position"), at(0.8 + step, "position")
    targets.move(0.8)
    rates = at(0.8 + 1e-9, "velocity")
    for name, rate in rates.items():
        if name in HANDS:  # a difference itself, between the last two steps
            targets.move(0.8 - step)
            rate = at(0.8 + step, "velocity")[name]
        np.testing.assert_allclose(rate, (after[name] - before[name]) / (2.0 * step), atol=1e-5, err_msg=name)
    goal = found()["bent"]
    reached = at(2.0, "position")
    np.testing.assert_allclose(reached["posture"], goal.q, atol=1e-12)
    np.testing.assert_allclose(reached["center"], goal.center[:2], atol=1e-12)
    hand = dq.Pose(reached["left_hand"])
    np.testing.assert_allclose(hand.translation, goal.limbs["left_hand"].translation - [0.0, 0.0, PRESS], atol=1e-9)


# --- what is measured -------------------------------------------------------------------------------------------------


class Recorded(SimpleNamespace):
    """What is asked of a trajectory."""

    finished = True

    def __len__(self) -> int:
        return len(self.q)


def run_of(forces: dict[str, Any], samples: int = 400) -> Any:
    """A run that stays in the handstand, with normal forces (n,) by limb and tangential ones of a tenth of them."""
    extra: dict[str, Array] = {}
    for limb in LIMBS:
        force = forces.get(limb, 0.0) * np.ones(samples)
        extra[f"normal_force/{LINKS[limb]}"] = force
        extra[f"contact_force/{LINKS[limb]}"] = np.stack([0.1 * force, 0.0 * force, force], axis=1)
    q, tau = np.tile(found()["handstand"].q, (samples, 1)), np.zeros((samples, robot().nv))
    made: Any = Recorded(
        robot=robot(), time=0.01 * np.arange(samples), q=q, tau=tau, extra=extra, about={}, status="finished"
    )
    event: Any = SimpleNamespace(kind="success", t=1.0)
    picture: Any = None
    return Run("a run", made, np.ones(3), np.ones(3), ("handstand",), (event, event), "done", 0, (), picture)


def holds(run: Any, words: str) -> bool:
    return next(claim.holds for claim in measured.claims(run) if words in claim.text)


def test_a_handstand_is_one_where_hands_carry_all_and_feet_nothing() -> None:
    half = 0.5 * 9.81 * robot().mass
    assert holds(run_of({"left_hand": half, "right_hand": half}), "stands on its hands")
    assert not holds(run_of({"left_hand": half, "right_hand": half, "left_foot": 0.01}), "stands on its hands")
    assert not holds(run_of({"left_hand": half, "right_hand": 0.9 * half}), "stands on its hands")
    assert not holds(run_of({"left_hand": half, "right_hand": half}, samples=150), "stands on its hands")


def test_a_stand_on_one_hand_is_one_where_the_other_is_off_the_ground() -> None:
    weight = 9.81 * robot().mass
    flat, tilted = run_of({"right_hand": weight}), run_of({"right_hand": weight})
    assert not holds(flat, "stands on one hand")  # pressed or not, the left palm is down
    tilted.trajectory.q[:] = found()["on the right hand"].q
    assert holds(tilted, "stands on one hand")
    tilted.trajectory.extra["normal_force/left_palm"][::50] = 1.0
    assert not holds(tilted, "stands on one hand")


def test_all_four_limbs_carry_at_the_same_time() -> None:
    first, then = np.arange(400) < 200, np.arange(400) >= 200
    everywhere = dict.fromkeys(LIMBS, 100.0)
    assert holds(run_of(everywhere), "two feet and two hands")
    feet, hands = dict.fromkeys(FEET, 100.0 * first), dict.fromkeys(HANDS, 100.0 * then)
    assert not holds(run_of(feet | hands), "two feet and two hands")


def test_friction_is_the_steepest_force_of_a_limb_that_carries() -> None:
    run = run_of({"left_hand": 300.0, "right_hand": 300.0})
    assert measured.friction_used(run) == pytest.approx(0.1)
    run.trajectory.extra["contact_force/left_palm"][7] = [180.0, 240.0, 300.0]
    assert measured.friction_used(run) == pytest.approx(1.0)
    assert not holds(run, "friction cones")


def test_a_limb_that_moves_while_it_carries_has_slipped() -> None:
    run = run_of({"left_hand": 300.0, "right_hand": 300.0})
    assert measured.slipped(run) == 0.0
    run.trajectory.q[200:, 4] += 0.02
    assert measured.slipped(run) == pytest.approx(0.02)
    lifted = run_of({"left_hand": 300.0 * (np.arange(400) != 199), "right_hand": 300.0 * (np.arange(400) != 199)})
    lifted.trajectory.q[200:, 4] += 0.02  # it moved while it was up
    assert measured.slipped(lifted) == 0.0


def test_the_longest_time_has_no_break() -> None:
    when = np.array([True] * 5 + [False] + [True] * 8)
    assert measured.longest(when) == pytest.approx(0.07)
    assert measured.longest(~when) == 0.0


# --- the sequence -----------------------------------------------------------------------------------------------------


def test_states_follow_each_other() -> None:
    names = [stage.name for stage in STAGES]
    assert len(set(names)) == len(names)
    assert {stage.posture for stage in STAGES} == set(WISHES)
    for stage in STAGES:
        heights = WISHES[stage.posture].heights
        assert all(heights.get(limb) == 0.0 for limb in stage.on), stage
        assert not set(stage.on) & set(stage.moving), stage


def test_no_more_stages_than_there_are() -> None:
    for stages in (0, len(STAGES) + 1, 2.5, True, None):
        with pytest.raises(dq.Error, match=r"feet-and-hands has 24 stages: give a number"):
            experiment(stages=stages)  # type: ignore[arg-type]


@pytest.mark.long
@pytest.mark.equation("Bouyarmane", "fig. 2")
@pytest.mark.equation("Bouyarmane", "fig. 3")
@pytest.mark.equation("Bouyarmane", "fig. 4")
@pytest.mark.equation("Bouyarmane", "section VI")
def test_it_comes_up_to_a_handstand() -> None:
    """From half-way up, on our own dynamics: hands carry all, feet nothing, and the machine ends upside down."""
    handstand = next(stage for stage in STAGES if stage.name == "handstand")
    targets = Targets(robot(), found()["scissors"])
    stages = [replace(handstand, seconds=1.0, stays=0.2)]
    law = Timed(machine(robot(), found(), targets, stages, progress=False), targets)
    run = follow("a run", law, 1.3, progress=False)
    assert (run.ended, run.unsolved) == ("done", 0), run.log
    assert measured.upside_down(run)[-1] > 0.99 > measured.upside_down(run)[0]
    assert not run.normal_forces("left_foot").any()
    weight = run.normal_forces("left_hand") + run.normal_forces("right_hand")
    assert weight[-1] == pytest.approx(9.81 * robot().mass, rel=0.02)
    assert measured.slipped(run) < 1e-3
    assert replayed(law, run).shape == (len(run.trajectory),)
    assert law.machine.ended == "done"
