"""Figures of experiments carry a paper's number only where that figure shows the same quantity."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pytest

import dqdyn as dq
from dqdyn.analysis.experiments import (
    bimanual_cup,
    cup_on_table,
    mobile_bimanual,
    moving_obstacle,
    single_arm_cup,
)
from dqdyn.analysis.experiments.cup_setting import START, Setting, nine_joints
from dqdyn.analysis.experiments.figure_kinds import AnyFigure
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory

NUMBER = re.compile(r" \((fig\. [^)]*)\)$")
REAL_ROBOT = {"norm of the joint velocities", "task error", "tilt of the cup", "joints"}

# What the captions say that each figure shows, by the titles here; a colon ends what is compared.
CAPTIONS = {
    "fig. 4.2": {"distance of hand and obstacle"},
    "fig. 6.2": {"hand to the four planes by velocity", "forearm to torso by velocity"},
    "fig. 6.3": {
        "norm of the torques by torque",
        "norm of the joint accelerations by torque",
        "norm of the joint velocities by torque",
        "task error by torque",
        "tilt of the cup by torque",
        "joints by torque",
    },
    "fig. 6.4": {"hand to the four planes by torque", "forearm to torso by torque"},
    "fig. 6.5": REAL_ROBOT,
    "fig. 6.6": {"cups at the end, from above"},
    "fig. 6.10": REAL_ROBOT,
    "fig. 6.12": {"norm of the velocities", "distance from the zone", "joints"},
}


def numbered(figures: Iterable[AnyFigure]) -> dict[str, set[str]]:
    """Titles without run and number, by number."""
    found: dict[str, set[str]] = {}
    for figure in figures:
        if number := NUMBER.search(figure.title):
            found.setdefault(number[1], set()).add(figure.title[: number.start()].partition(":")[0])
    return found


def at_rest(robot: Robot, q0: np.ndarray) -> Trajectory:
    hold = robot.gravity_forces(q0)
    return dq.simulate(robot, lambda t, q, v: hold, 0.02, 0.01, q0=q0)


def expected(*numbers: str) -> dict[str, set[str]]:
    return {number: CAPTIONS[number] for number in numbers}


@pytest.mark.equation("Quiroz", "fig. 4.2")
@pytest.mark.equation("Quiroz", "fig. 4.3")
def test_moving_obstacle() -> None:
    found = moving_obstacle.experiment(duration=0.04, dt=0.02)
    assert numbered(found.figures) == expected("fig. 4.2")
    gap = found.figures[0].curves["case I"][0]
    np.testing.assert_allclose(gap, np.linalg.norm(np.subtract(moving_obstacle.obstacle(0.0), moving_obstacle.START)))
    assert {drawing.arguments["name"] for drawing in found.cases[0].drawings} >= {"obstacle", "safe zone", "goal"}


@pytest.mark.equation("Quiroz", "fig. 6.1")
@pytest.mark.equation("Quiroz", "fig. 6.2")
@pytest.mark.equation("Quiroz", "fig. 6.3")
@pytest.mark.equation("Quiroz", "fig. 6.4")
def test_cup_on_table() -> None:
    setting = Setting.above_the_table(nine_joints(), START)
    run = at_rest(setting.robot, START)
    runs = dict.fromkeys((*cup_on_table.VELOCITY, *cup_on_table.TORQUE), run)
    assert numbered(cup_on_table.figures(setting, runs)) == expected("fig. 6.2", "fig. 6.3", "fig. 6.4")
    names = {drawing.arguments["name"] for drawing in setting.drawings(run)}
    assert names >= {"table", "cone", "axis of the cup", "plane 4", "line of the torso", "forearm"}


@pytest.mark.equation("Quiroz", "fig. 6.5")
@pytest.mark.equation("Quiroz", "fig. 6.6")
@pytest.mark.equation("Quiroz", "fig. 6.7")
def test_single_arm_cup() -> None:
    setting = Setting.above_the_table(nine_joints(), START)
    run = at_rest(setting.robot, START)
    found = list(single_arm_cup.figures(setting, {"QP": run, "CQP": run}))
    assert numbered(found) == expected("fig. 6.5", "fig. 6.6")
    sides = [d.arguments for d in single_arm_cup.drawings(setting, run) if d.arguments["name"] == "target region"]
    corners, hand = np.array([side["start"] for side in sides]), setting.hand(run)[0]
    np.testing.assert_allclose(np.abs(corners - hand)[:, :2], 0.03)  # a square around the hand, on the table
    np.testing.assert_allclose(corners[:, 2], float(setting.table.distance), atol=2e-3)
    np.testing.assert_array_equal([side["end"] for side in sides], np.roll(corners, -1, axis=0))
    above = found[-1]
    np.testing.assert_allclose(above.limits["target region"][:4], corners[:, :2])
    np.testing.assert_allclose(above.paths["QP, from foot to rim"], np.tile(hand[:2], (2, 1)), atol=1e-3)  # upright


@pytest.mark.equation("Quiroz", "fig. 6.8")
@pytest.mark.equation("Quiroz", "fig. 6.9")
@pytest.mark.equation("Quiroz", "fig. 6.10")
def test_bimanual_cup() -> None:
    setting = bimanual_cup.setting_of_both_hands()
    run = at_rest(setting.robot, bimanual_cup.START)
    assert numbered(bimanual_cup.figures(setting, {"QP": run})) == expected("fig. 6.10")
    names = {drawing.arguments["name"] for drawing in bimanual_cup.drawings(setting, run)}
    assert names >= {"table", "absolute frame", "grip"}


@pytest.mark.long
@pytest.mark.equation("Quiroz", "fig. 6.11")
@pytest.mark.equation("Quiroz", "fig. 6.12")
def test_mobile_bimanual() -> None:
    found = mobile_bimanual.experiment(duration=0.04, dt=0.02)
    assert numbered(found.figures) == expected("fig. 6.12")
    assert {drawing.arguments["name"] for drawing in found.cases[0].drawings} >= {"ball", "zone"}


# --- the table in the picture -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["one hand", "two hands"])
def test_drawn_table_stands_in_front_of_the_body(which: str) -> None:
    """Nothing of the trunk is where the table is drawn, but the region is."""
    if which == "one hand":
        setting, q0 = Setting.above_the_table(nine_joints(), START), START
    else:
        setting, q0 = bimanual_cup.setting_of_both_hands(), bimanual_cup.START
    top = setting.table_top().arguments
    assert top["plane"] is setting.table
    low, high = (np.array(top["center"])[:2] + sign * 0.5 * top["side"] for sign in (-1.0, 1.0))
    region = [float(plane.distance) * np.asarray(plane.normal)[:2] for plane in setting.planes]
    assert all((low[k // 2] < corner[k // 2] < high[k // 2]) for k, corner in enumerate(region))
    for link in setting.robot.description.links:
        if link.name in ("stand", "hips", "waist", "belly"):
            for shape in link.visuals:
                at = setting.robot.pose(link.name, q0) * dq.Pose(shape.origin.vec8())
                x, _, z = at.translation
                radius = (0.5 if shape.kind == "box" else 1.0) * np.linalg.norm(shape.size)  # of a ball around it
                below, behind = z + radius < float(setting.table.distance), x + shape.size[0] < low[0]
                assert below or behind, link.name
