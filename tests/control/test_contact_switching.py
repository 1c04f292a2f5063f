"""Contacts of a whole-body controller that change while a loop runs: without compilation, jumps or lost state.

A table on four legs that get longer stands on them, lets one go, and puts it down again; its contacts hold by what the
controller computes, whose accelerations the loop follows.
"""

from __future__ import annotations

import tracemalloc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from seeds import generator
from standing import resting_table

import dqdyn as dq
from dqdyn import contacts as touch
from dqdyn import control as ct
from dqdyn import scenes
from dqdyn.compile.runtime import native
from dqdyn.control.qp.solver import INFINITE
from dqdyn.control.whole_body.contact_sets import kept_anchor
from dqdyn.control.whole_body.controller import anchor_of
from dqdyn.simulate.observation import LinkContact, Observation

ROBOT, Q0, FEET = resting_table()
WEIGHT = 9.81 * ROBOT.model.mass
DT, RATE = 2e-3, 400.0
REST = np.zeros(ROBOT.nv)
STEP = scenes.Scene([scenes.box((20.0, 20.0, 0.1), (0.0, 0.0, 0.05))])


def tasks(shift: float = 0.05) -> list[ct.Task]:
    center = ROBOT.center_of_mass(Q0) - np.array([shift, shift, 0.0])
    return [ct.PostureTask(Q0, gain=5.0), ct.CenterOfMassTask(center, weight=10.0, gain=4.0)]


@pytest.fixture(scope="module")
def made() -> ct.WholeBodyController:
    """On four legs, prepared for three, with a greatest rate of torques."""
    guard = ct.KeepAbove("slab", dq.Plane([0.0, 0.0, 1.0], distance=0.2), name="floor")
    c = ct.whole_body_controller(ROBOT, tasks(), [guard], contacts=FEET, torque_rate=RATE)
    assert c.prepare({"three": FEET[1:]}) == ("three",)
    return c


@pytest.fixture
def controller(made: ct.WholeBodyController) -> ct.WholeBodyController:
    made.reset()
    return made


@dataclass
class Loop:
    """Follows the accelerations of a controller, and keeps what it says at every step."""

    controller: ct.WholeBodyController
    q: np.ndarray
    v: np.ndarray
    t: float = 0.0

    def __post_init__(self) -> None:
        self.torques: list[np.ndarray] = []
        self.forces: list[dict[str, float]] = []
        self.statuses: list[str] = []

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.torques.append(self.controller(self.t, self.q, self.v))
            self.forces.append({name: w[2] for name, w in self.controller.contact_wrenches.items()})
            self.statuses.append(self.controller.report.status)
            for contact in self.controller.composition.contacts.contacts:
                assert contact.holds(self.controller.contact_wrenches[contact.name], 1e-6)
            a = self.controller.accelerations
            self.q = ROBOT.integrate(self.q, self.v + 0.5 * DT * a, DT)
            self.v = self.v + DT * a
            self.t += DT

    def until_switched(self, name: str) -> None:
        for _ in range(1000):
            if self.controller.contact_set == name and not self.controller.switching:
                return
            self.run(1)
        raise AssertionError(self.controller.switching)

    @property
    def rates(self) -> np.ndarray:
        return np.abs(np.diff(self.torques, axis=0)) / DT


def test_a_switch_compiles_nothing_and_ramps_forces(
    controller: ct.WholeBodyController, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_compiler(*_: Any, **__: Any) -> None:
        raise AssertionError("compiled in the loop")

    loop = Loop(controller, Q0, REST)
    loop.run(1)  # which compiles the integration of the loop itself
    monkeypatch.setattr(native.Library, "__init__", no_compiler)
    loop.run(299)
    before = controller.composition.anchors.copy()
    controller.switch("three")
    assert controller.switching == "unloading"
    loop.until_switched("three")
    np.testing.assert_array_equal(controller.composition.anchors, before[1:])  # those that stay hold where they did
    leg = [forces["leg_1"] for forces in loop.forces if "leg_1" in forces][299:]
    assert len(leg) > 20
    assert (np.diff(leg) < 0.0).all()
    assert leg[-1] < 1.5 * leg[0] / len(leg)  # no more than a step of the ramp is left to let go
    loop.run(200)
    controller.switch(FEET)
    here = anchor_of(ROBOT.model, FEET[0], loop.q)
    loop.run(1)
    assert controller.contact_set == "leg_1 + leg_2 + leg_3 + leg_4"
    assert controller.switching == "loading"
    assert loop.forces[-1]["leg_1"] <= 1e-3 * WEIGHT + 1e-6
    np.testing.assert_array_equal(controller.composition.anchors[0], here)
    np.testing.assert_array_equal(controller.composition.anchors[1:], before[1:])
    loop.until_switched("leg_1 + leg_2 + leg_3 + leg_4")
    loop.run(100)
    assert loop.forces[-1]["leg_1"] > 0.1 * WEIGHT
    kept = np.array([status == "solved" for status in loop.statuses[1:]])
    assert kept.mean() > 0.99
    assert loop.rates[kept].max() <= RATE * (1.0 + 1e-6)


@pytest.mark.long
def test_after_a_switch_it_is_the_controller_of_these_contacts(controller: ct.WholeBodyController) -> None:
    loop = Loop(controller, Q0, REST)
    loop.run(50)
    controller.switch(FEET[1:])
    loop.until_switched("three")
    loop.run(50)
    state = loop.t, loop.q, loop.v
    found = controller(*state)
    composition = controller.composition
    assert (composition.pressing == INFINITE).all()
    direct = ct.whole_body_controller(ROBOT, tasks(), contacts=FEET[1:])
    direct(*state)
    direct.composition.anchors[:] = composition.anchors
    np.testing.assert_allclose(direct(*state), found, atol=1e-7)


def test_what_survives_a_switch(controller: ct.WholeBodyController) -> None:
    loop = Loop(controller, Q0, REST)
    loop.run(20)
    activations, gains = controller.activations, controller.composition.gains[-2].copy()
    last, report = controller.last_torques, controller.report
    controller.switch("three", duration=0.0)
    np.testing.assert_array_equal(controller.last_torques, last)
    assert controller.report is report
    assert list(controller.contact_wrenches) == [foot.name for foot in FEET]  # of the last step, until the next
    loop.run(1)
    assert controller.contact_set == "three"
    assert controller.activations == activations
    np.testing.assert_array_equal(controller.composition.gains[-2], gains)
    controller.reset()
    assert controller.contact_set == "leg_1 + leg_2 + leg_3 + leg_4"


def test_a_switch_that_is_taken_back_goes_on_from_where_it_is(controller: ct.WholeBodyController) -> None:
    loop = Loop(controller, Q0, REST)
    loop.run(100)
    controller.switch("three")
    loop.run(20)
    before = loop.forces[-1]["leg_1"]
    controller.switch(FEET)
    loop.until_switched("leg_1 + leg_2 + leg_3 + leg_4")
    after = [forces["leg_1"] for forces in loop.forces[120:]]
    assert after[0] == pytest.approx(before, abs=0.03 * WEIGHT)
    assert loop.rates.max() <= RATE * (1.0 + 1e-6)


def test_rates_that_cannot_be_kept_give_way_before_cones(controller: ct.WholeBodyController) -> None:
    """A leg that hangs in the air and moves has to stop at once where it touches."""
    loop = Loop(controller, Q0, REST)
    loop.run(10)
    controller.switch("three", duration=0.0)
    loop.run(1)
    loop.v = loop.v + 0.0
    loop.v[6] = 0.3  # of the first leg
    controller.switch(FEET, duration=0.1)
    loop.run(1)
    report = controller.report
    assert report.status == "relaxed"
    missed = report.violation["torque rate: lift_1"]
    change = np.abs(loop.torques[-1] - loop.torques[-2])[6]
    assert change == pytest.approx(RATE * DT + missed, rel=1e-3)
    assert set(report.violation) <= {f"torque rate: lift_{k}" for k in range(1, 5)} | {"leg_1: normal force ramp"}


def test_rates_count_from_the_last_torques_also_after_braking(controller: ct.WholeBodyController) -> None:
    """A sensor that fails for half a second does not allow a jump when it is back."""
    loop = Loop(controller, Q0, REST)
    loop.run(10)
    for k in range(250):
        held = controller(loop.t + k * DT, loop.q, loop.v * np.nan)
    back = controller(loop.t + 250 * DT, loop.q, 0.5 * np.sign(Q0[: ROBOT.nv]))
    assert np.abs(back - held).max() <= RATE * DT + max(controller.report.violation.values(), default=0.0) + 1e-9
    controller.switch("three")  # in the middle of which the state is not known
    for k in range(251, 300):
        controller(loop.t + k * DT, loop.q, loop.v * (np.nan if k % 7 else 1.0))
    assert np.isfinite(controller.composition.pressing).all()


@pytest.mark.long
def test_random_switches_keep_cones_and_rates(controller: ct.WholeBodyController) -> None:
    """At any time, in the middle of others, with any ramp, and with sensors that fail now and then."""
    rng, loop = generator("random switches"), Loop(controller, Q0, REST)
    loop.run(1)
    for _ in range(1500):
        before, chance = controller.last_torques, rng.random()
        if chance < 0.02:
            names = controller.contact_sets
            controller.switch(names[rng.integers(len(names))], [None, 0.0, 0.05, 0.2][rng.integers(4)])
        if 0.02 < chance < 0.025:
            controller(loop.t, loop.q, loop.v * np.nan)
            before = controller.last_torques
            loop.t += DT
        loop.run(1)  # which checks the cones
        assert np.isfinite(loop.torques[-1]).all()
        allowed = max(controller.report.violation.values(), default=0.0)
        assert np.abs(loop.torques[-1] - before).max() <= RATE * DT + allowed + 1e-6
    assert loop.statuses.count("solved") > 1200
    assert "held" not in loop.statuses


def test_an_unprepared_set_is_refused(controller: ct.WholeBodyController) -> None:
    with pytest.raises(ct.ControlError, match=r"'two' is not prepared: call controller.prepare\(…\) with it") as told:
        controller.switch("two")
    assert told.value.prepared == controller.contact_sets
    with pytest.raises(ct.ControlError, match=r"'leg_1 \+ leg_2' is not prepared"):
        controller.switch(FEET[:2])
    for wrong in (None, 3, [3], {"three": FEET}):
        with pytest.raises(dq.Error, match="contacts are a list"):
            controller.switch(wrong)
    for wrong in (-1.0, np.nan, "fast"):
        with pytest.raises(dq.Error, match="duration of a ramp"):
            controller.switch("three", wrong)
    with pytest.raises(dq.Error, match="prepare takes sets of contacts"):
        controller.prepare(3)
    with pytest.raises(dq.Error, match="name of a set of contacts is a text"):
        controller.prepare({1: FEET})
    with pytest.raises(dq.Error, match="no set of contacts named 'thre'"):
        controller.prepare({"three": FEET[1:]}, {"thre": []})
    with pytest.raises(dq.Error, match="no frame"):
        controller.prepare({"none": [touch.point("toe")]})
    assert controller.contact_sets == ("leg_1 + leg_2 + leg_3 + leg_4", "three")


@pytest.mark.parametrize("wrong", [0.0, -1.0, np.nan, "all", [1.0, 2.0], {"lift_9": 1.0}, {"lift_1": 0.0}])
def test_rates_of_torques_that_are_none(wrong: Any) -> None:
    with pytest.raises(dq.Error):
        ct.whole_body_controller(ROBOT, tasks(), contacts=FEET, torque_rate=wrong)


def test_out_is_filled_and_no_memory_is_kept(controller: ct.WholeBodyController) -> None:
    out = np.full(ROBOT.nv, np.nan)
    assert controller(0.0, Q0, REST, out=out) is out
    np.testing.assert_array_equal(out, controller.last_torques)
    for k in range(50):
        controller(k * DT, Q0, REST, out=out)
    tracemalloc.start()
    try:
        first = tracemalloc.get_traced_memory()[0]
        for k in range(50, 550):
            controller(k * DT, Q0, REST, out=out)
        assert tracemalloc.get_traced_memory()[0] - first < 10_000
    finally:
        tracemalloc.stop()
    for wrong in (np.zeros(3), np.zeros(ROBOT.nv, dtype=np.float32), [0.0] * ROBOT.nv):
        with pytest.raises(dq.Error, match="out of a controller"):
            controller(1.2, Q0, REST, out=wrong)


@pytest.mark.long
def test_tasks_and_levels_of_a_set_are_its_own(controller: ct.WholeBodyController) -> None:
    """Strict levels on the three legs that stay."""
    levels = [[tasks()[1]], [tasks()[0]]]
    assert controller.prepare({"levels": FEET[1:]}, {"levels": levels}, progress=False) == ("levels",)
    loop = Loop(controller, Q0, REST)
    loop.run(20)
    controller.switch("levels")
    loop.until_switched("levels")
    loop.run(20)
    assert len(controller.composition.design.tasks) == 2
    assert set(loop.statuses) == {"solved"}
    controller.reset()
    del controller._sets["levels"]


def test_a_contact_holds_where_it_held_unless_it_slid() -> None:
    fixed, other = FEET[1], FEET[2]
    sliding = fixed.with_mode("sliding", [(1.0, 0.0, 0.0)])
    assert kept_anchor([other, fixed], fixed) == 1
    assert kept_anchor([other, fixed], sliding) == 1
    assert kept_anchor([other, sliding], sliding) == 1
    assert kept_anchor([other, sliding], fixed) is None
    assert kept_anchor([other], fixed) is None
    assert kept_anchor([touch.point("leg_2")], fixed) is None


# --- touch-down -----------------------------------------------------------------------------------------------------


def pressed(force: float) -> Observation:
    """What a plant measures: the normal force on the first leg."""
    up = np.array([0.0, 0.0, force])
    bodies = {name: frame.body for name, frame in ROBOT.model.frames.items()}
    return Observation(0.0, {"post_1": LinkContact(up, force, np.zeros(3), ("ground",))}, bodies=bodies)


def test_touch_down_by_force() -> None:
    landed = ct.TouchDown(ROBOT, FEET[0], force=10.0, lasting=0.01)
    for t, force, expected in ((0.0, 9.9, 0), (0.1, 10.0, 0), (0.105, 12.0, 0), (0.11, 12.0, 1), (0.12, np.nan, 0)):
        landed.observe(pressed(force))
        assert landed(t, Q0) is bool(expected)
    with pytest.raises(dq.Error, match=r"has normal_force\(frame\)"):
        landed.observe(None)
    with pytest.raises(ct.ControlError, match="knows no ground"):
        landed.gap(Q0)


@pytest.mark.parametrize("ground", [0.1, dq.Plane([0.0, 0.0, 1.0], distance=0.1), STEP])
def test_touch_down_by_height(ground: Any) -> None:
    landed = ct.TouchDown(ROBOT, FEET[0], ground=ground, height=1e-3)
    q = Q0.copy()
    for height, expected in ((0.1011, False), (0.1009, True), (0.09, True)):
        q[6] = Q0[6] + height
        assert landed.gap(q) == pytest.approx(height - 0.1, abs=1e-12)
        assert landed(0.0, q) is expected


def test_touch_down_refuses() -> None:
    with pytest.raises(ct.ControlError, match="needs a force in N or the ground"):
        ct.TouchDown(ROBOT, FEET[0])
    for wrong in (
        {"force": -1.0},
        {"force": "much"},
        {"ground": "floor"},
        {"ground": np.nan},
        {"ground": 0.0, "height": -1},
    ):
        with pytest.raises(dq.Error):
            ct.TouchDown(ROBOT, FEET[0], **wrong)
    for robot, contact in ((None, FEET[0]), (ROBOT, "leg_1"), (ROBOT, touch.point("toe"))):
        with pytest.raises(dq.Error):
            ct.TouchDown(robot, contact, force=1.0)
    q = Q0.copy()
    q[4] = 20.0
    assert ct.TouchDown(ROBOT, FEET[0], ground=STEP).gap(q) == np.inf


def test_a_switch_waits_for_contacts_in_the_air(made: ct.WholeBodyController) -> None:
    made.reset()
    made.ground = dq.Plane([0.0, 0.0, 1.0], distance=0.0)
    try:
        loop = Loop(made, Q0, REST)
        loop.run(5)
        made.switch("three", duration=0.0)
        loop.run(1)
        loop.q[7] += 0.03  # the first leg gets shorter, and hangs
        made.switch(FEET)
        loop.run(3)
        assert made.contact_set == "three"
        assert made.switching.startswith("waiting: the contact 'leg_1' is 0.029")
        assert made.switching.endswith(" m above the ground")
        loop.q[7] -= 0.03
        loop.run(1)
        assert made.switching == "loading"
        made.reset()
        above = Q0.copy()
        above[6] += 0.2
        made(0.0, above, REST)
        assert made.report.status == "held"
        assert made.report.reason == "the contact 'leg_1' is 0.2 m above the ground"
    finally:
        made.ground = None
