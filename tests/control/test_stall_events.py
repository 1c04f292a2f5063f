"""The log of a machine says what holds a stalled task back, at every level of control, and so does its picture."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import numpy as np
import pytest
from standing import resting_table

import dqdyn as dq
from dqdyn import control as ct

pytestmark = pytest.mark.filterwarnings("ignore:The target of 'ball' lies in the zone")
g = ct.guards
ARM = dq.robots.two_link()
Q0 = np.array([2.0, -2.4])
ENDS = [ct.State("done", ends="done"), ct.State("failed", ends="failed")]


def ways(task: str, tolerance: float = 1e-3) -> list[ct.Transition]:
    return [ct.Transition("done", g.reached(task, tolerance)), ct.Transition("failed", g.stalled(task))]


def reaching(level: str, wall: float = 0.7, **state: Any) -> ct.StateMachine:
    """The tool is to touch a ball at 1.2 m."""
    touch = ct.TranslationTask("tool", [1.2, 0.0, 0.4], gain=4.0, name="ball")
    stop = ct.KeepAbove("tool", dq.Plane([-1.0, 0.0, 0.0], distance=-wall), gain=8.0, name="wall")
    given = {"transitions": ways("ball", 0.01), "time_limit": 20.0, **state}
    return ct.StateMachine(ARM, [ct.State("try", touch, stop, **given), *ENDS], start="try", level=level, damping=0.02)


def pictured(machine: ct.StateMachine) -> str:
    """All text of the picture of what happened."""
    found = re.findall(r"<text[^>]*>([^<]*)</text>", str(machine.history().svg))
    return " ".join(unescape(line) for line in found)


def assert_quoted(machine: ct.StateMachine, task: str, constraint: str) -> None:
    event = machine.log[-1]
    assert event.stall.startswith(f"{task!r} misses ")
    assert f"held back by {constraint!r} (" in event.stall
    assert event.stall in str(event)
    assert event.stall in pictured(machine)


@pytest.mark.parametrize("level", ["velocity", "acceleration", "torque"])
def test_a_stall_quotes_what_blocks_the_task(level: str) -> None:
    machine = reaching(level)
    dq.simulate(ARM, machine, 12.0, 0.01, q0=Q0)
    assert [event.guard for event in machine.log] == ["", "'ball' has stalled"]
    assert_quoted(machine, "ball", "wall")
    assert "'wall' (100 %)" in machine.log[-1].stall


@pytest.mark.parametrize("level", ["velocity", "torque"])
def test_a_task_that_is_met_has_nothing_to_quote(level: str) -> None:
    machine = reaching(level, wall=1.5)
    dq.simulate(ARM, machine, 12.0, 0.01, q0=Q0)
    assert [event.stall for event in machine.log] == ["", ""]
    assert machine.ended == "done"


def test_time_limits_quote_it_too() -> None:
    machine = reaching("velocity", time_limit=6.0, transitions=ways("ball")[:1])
    dq.simulate(ARM, machine, 8.0, 0.01, q0=Q0)
    assert machine.log[-1].kind == "time limit"
    assert_quoted(machine, "ball", "wall")


def test_a_stall_that_counts_as_success_is_explained() -> None:
    done = ct.Transition("done", g.stalled("ball"), kind="success")
    machine = reaching("velocity", transitions=done)
    dq.simulate(ARM, machine, 12.0, 0.01, q0=Q0)
    assert machine.log[-1].kind == "success"
    assert machine.log[-1].at_bounds == ()
    assert_quoted(machine, "ball", "wall")


@pytest.mark.long
def test_whole_body_control_quotes_what_blocks_the_task() -> None:
    """A table is to go down by 0.3 m, and a floor under its slab keeps it up."""
    table, q0, feet = resting_table()
    center, slab = table.center_of_mass(q0), table.pose("slab", q0).translation
    tasks = [
        ct.PostureTask(q0, gain=5.0, weight=0.01, name="posture"),
        ct.CenterOfMassTask(center - [0.0, 0.0, 0.3], weight=10.0, gain=4.0, name="center"),
    ]
    floor = ct.KeepAbove("slab", dq.Plane([0.0, 0.0, 1.0], distance=slab[2] - 0.03), gain=8.0, name="floor")
    states = [ct.State("lower", tasks, floor, feet, ways("center"), 6.0), *ENDS]
    machine = ct.StateMachine(table, states, start="lower", level="whole-body")
    dq.simulate(table, machine, 6.0, 5e-3, q0=q0, contacts=feet, ground=0.0, limits=False, efforts="ignore")
    assert machine.log[-1].guard == "'center' has stalled"
    assert_quoted(machine, "center", "floor")
    assert "'floor' (100 %)" in machine.log[-1].stall
    assert machine.log[-1].at_bounds == ("floor",)
