"""Cups carried with and without the constraint on the tilt: claims fail for runs that do otherwise."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.analysis.experiments import cup_setting as cup
from dqdyn.analysis.experiments import dropped_tilt as dropped
from dqdyn.analysis.experiments import single_arm_cup
from dqdyn.analysis.experiments.dropped_tilt import CQP, FREE, QP
from dqdyn.analysis.experiments.running import SERVO, Servo, follow
from dqdyn.simulate import Trajectory


@cache
def setting() -> cup.Setting:
    return cup.Setting.above_the_table(cup.nine_joints(), cup.START)


@cache
def runs() -> dict[str, Trajectory]:
    laws = {name: single_arm_cup.controller(setting(), kinds) for name, kinds in dropped.KEPT.items()}
    return {name: follow(setting().robot, law, 8.0, 0.02, cup.START) for name, law in laws.items()}


def test_runs_know_what_they_keep() -> None:
    """The names of the constraints that a controller gets."""
    names = lambda kinds: [part.name for part in setting().constraints(kinds=kinds)]
    everything = names(cup.KINDS)
    assert names(dropped.KEPT[CQP]) == everything
    assert set(everything) - set(names(dropped.KEPT[QP])) == {"tilt"}
    assert len(names(dropped.KEPT[FREE])) == 2


def test_claims_hold_and_fail_for_the_other_run() -> None:
    found = list(dropped.claims(setting(), {1: runs()}))
    assert [claim.text for claim in found if not claim.holds] == []
    beyond = {name: setting().violations(run) for name, run in runs().items()}
    assert not dropped.kept(CQP, beyond[QP], dropped.KEPT[CQP]).holds
    assert not dropped.kept(QP, beyond[FREE], dropped.KEPT[QP]).holds
    assert not dropped.violated(setting(), QP, beyond[CQP], ("tilt",)).holds
    assert not dropped.violated(setting(), FREE, beyond[QP], ("tilt", "joints")).holds


def test_cup_elsewhere_has_not_reached_the_region() -> None:
    run = runs()[CQP]
    assert dropped.reached(setting(), {CQP: run}).holds
    still = follow(setting().robot, single_arm_cup.controller(setting(), cup.KINDS), 0.2, 0.02, cup.START)
    assert not dropped.reached(setting(), {CQP: still}).holds


def test_both_arms_stay_away_from_the_torso() -> None:
    """The distance is that of the nearer arm, by the closest of many points of the forearm."""
    from dqdyn.analysis.experiments import bimanual_cup

    both = bimanual_cup.setting_of_both_hands()
    q0 = np.array(bimanual_cup.START)
    q0[9:] = [0.4, -0.1, 0.2, -0.5]  # the right arm alone
    run = dq.simulate(both.robot, lambda t, q, v: both.robot.gravity_forces(q0), 0.02, 0.01, q0=q0)
    trunk = both.robot.pose(cup.TRUNK, q0)
    least = np.inf
    for elbow, hand in zip(cup.ELBOWS, cup.HANDS, strict=True):
        a, b = (both.robot.pose(frame, q0).translation - trunk.translation for frame in (elbow, hand))
        points = a + np.linspace(0.0, 1.0, 2001)[:, None] * (b - a)
        least = min(least, np.linalg.norm(np.cross(points, trunk.rotation_matrix[:, 2]), axis=1).min())
    assert both.to_torso(run)[0] == pytest.approx(least, abs=1e-6)


def test_servo_holds_a_command() -> None:
    robot, asked = dq.robots.two_link(), []

    def command(t: float, q: np.ndarray) -> np.ndarray:
        asked.append(t)
        return np.array([t, -t])

    servo, q, v = Servo(robot, command, hold=3), np.array([0.1, 0.2]), np.array([0.3, 0.4])  # type: ignore[arg-type]
    found = [servo.step(0.1 * k, q, v) for k in range(7)]
    np.testing.assert_allclose(asked, [0.0, 0.3, 0.6])
    wanted = [
        robot.inverse_dynamics(q, v, SERVO * (np.array([t, -t]) - v)) for t in (0.0, 0.0, 0.0, 0.3, 0.3, 0.3, 0.6)
    ]
    np.testing.assert_allclose(found, wanted)
    servo.reset()
    servo.step(1.0, q, v)
    assert asked[-1] == 1.0


def test_time_of_a_step_is_told_beside_the_printed_one() -> None:
    table = single_arm_cup.step_times(single_arm_cup.controller(setting(), cup.KINDS), runs()[CQP])
    ((_, here, printed),) = table.rows
    found = re.fullmatch(r"(\S+) ± (\S+) µs, median (\S+) µs", here)
    assert found is not None
    mean, deviation, median = map(float, found.groups())
    assert min(mean, median) > 0.0
    assert deviation >= 0.0
    assert printed == "5200 ± 1000 µs and, to solve, 191 ± 47 µs"
