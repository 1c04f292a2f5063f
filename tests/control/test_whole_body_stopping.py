"""StoppingBounds of whole-body control: joints come to rest where a task is blocked, and start where it is not."""

from __future__ import annotations

import numpy as np
import pytest
from standing import humanoid, resting_table, stand

import dqdyn as dq
from dqdyn import control as ct

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore:The target of")]
HAND, TRUNK = "right_palm", "pelvis"


def lowered(depth: float, k: float) -> tuple[np.ndarray, np.ndarray, ct.Controller, np.ndarray]:
    """(q, v) of a table after 8 s whose slab is to go down by 0.2 m and may by so much, and where it was."""
    table, q0, feet = resting_table()
    center, slab = table.center_of_mass(q0), table.pose("slab", q0).translation
    floor = ct.KeepAbove("slab", dq.Plane([0.0, 0.0, 1.0], distance=slab[2] - depth), gain=5.0, name="floor")
    task = ct.CenterOfMassTask(center - [0.0, 0.0, 0.2], gain=3.0, name="center")
    controller = ct.whole_body_controller(table, [task], [floor, ct.StoppingBounds(k)], contacts=feet)
    q, v = stand(table, controller, q0, np.zeros(table.nv), 8.0, 5e-3)
    return q, v, controller, slab - table.pose("slab", q).translation


@pytest.mark.parametrize("k", [4.0, 1.0])
def test_a_table_rests_on_what_stops_it(k: float) -> None:
    _, v, controller, went = lowered(0.05, k)
    assert np.abs(v).max() < 1e-4
    assert went[2] == pytest.approx(0.05, abs=1e-3)
    # bounds with a small k brake more slowly than the floor asks for, and give way
    assert controller.report.status == ("solved" if k > 3.0 else "relaxed")
    assert max(controller.report.violation.values(), default=0.0) < 1e-4
    assert "'center' misses" in controller.stall
    assert "'floor' (100 %)" in controller.stall


def test_a_table_that_nothing_stops_arrives() -> None:
    _, v, controller, _ = lowered(0.3, 4.0)
    assert np.abs(v).max() < 1e-4
    assert np.abs(controller.errors["center"]).max() < 1e-3
    assert controller.stall == ""


def test_a_humanoid_whose_hand_is_blocked_comes_to_rest() -> None:
    """Bounds that count the whole error of the hand, 0.3 m, let joints turn at 0.26 rad/s for ever.

    Slowly, since center, trunk and hand pull at each other and the cost still falls a little.
    """
    robot, q0, feet = humanoid()
    hand = np.asarray(robot.pose(HAND, q0).translation)
    tasks = [
        ct.TranslationTask(HAND, hand + [0.1, 0.0, -0.4], gain=2.0, name="hand"),
        ct.CenterOfMassTask(robot.center_of_mass(q0), gain=4.0, name="center"),
        ct.PoseTask(TRUNK, robot.pose(TRUNK, q0), gain=4.0, name="trunk"),
    ]
    table = ct.KeepAbove(HAND, dq.Plane([0.0, 0.0, 1.0], distance=hand[2] - 0.1), gain=3.0, name="table")
    controller = ct.whole_body_controller(robot, tasks, [table, ct.StoppingBounds(4.0)], contacts=feet)
    q, v = stand(robot, controller, q0, np.zeros(robot.nv), 10.0, 5e-3)
    soon = np.abs(v).max()
    assert soon < 0.03
    q, v = stand(robot, controller, q, v, 20.0, 5e-3, start=10.0)
    assert np.abs(v).max() < 0.6 * soon
    assert np.linalg.norm(controller.errors["hand"]) == pytest.approx(0.3, abs=5e-3)
    assert controller.stall.startswith("'hand' misses ")
    assert "held back by 'table' (" in controller.stall
