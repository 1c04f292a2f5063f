"""What a whole-body controller says about itself: multipliers, margins, what blocks a task, falls, rest, bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from seeds import generator
from standing import pole, resting_table, stand

import dqdyn as dq
from dqdyn import contacts as touch
from dqdyn import control as ct
from dqdyn.control.core.answers import OTHERS
from dqdyn.control.core.braking import RATE
from dqdyn.control.qp.solver import INFINITE
from dqdyn.control.qp.with_piqp import PiqpSolver
from dqdyn.control.whole_body.composition import WholeBodyComposition
from dqdyn.control.whole_body.controller import anchor_of
from dqdyn.control.whole_body.falling import FallWatch

TABLE, Q_TABLE, LEGS = resting_table()
POLE, Q_POLE, SOLE = pole()
EFFORT = {"leg": 400.0, "roll": 10.0, "pitch": 400.0}
FAR = np.array([0.5, 0.3, 0.3])
CENTER = POLE.center_of_mass(Q_POLE)


@pytest.fixture(scope="module")
def hasty() -> ct.WholeBodyController:
    """A pole with weak motors that is to move half a meter aside and up at once."""
    robot = POLE.with_motors(EFFORT)
    tasks = [ct.PostureTask(Q_POLE, gain=5.0, weight=0.01), ct.CenterOfMassTask(CENTER + FAR, weight=10.0, gain=4.0)]
    return ct.whole_body_controller(robot, tasks, contacts=SOLE)


@pytest.fixture(scope="module")
def made() -> Callable[..., ct.WholeBodyController]:
    """Controllers of the pole by policy and further options; each is compiled once."""
    tasks = [ct.PostureTask(Q_POLE, gain=4.0), ct.CenterOfMassTask(CENTER, gain=4.0, weight=10.0)]
    known: dict[str, ct.WholeBodyController] = {}

    def make(infeasible: str = "relax", **options: Any) -> ct.WholeBodyController:
        key = repr((infeasible, options))
        if key not in known:
            known[key] = ct.whole_body_controller(POLE, tasks, contacts=SOLE, infeasible=infeasible, **options)
        known[key].reset()
        return known[key]

    return make


# --- active bounds and margins --------------------------------------------------------------------------------------


def test_multipliers_are_slopes_of_the_cost(hasty: ct.WholeBodyController) -> None:
    """By another solver, on problems whose bounds are shifted a little."""
    hasty.reset()
    hasty(0.0, Q_POLE, np.zeros(POLE.nv))
    found = {each.name: each for each in hasty.active}
    assert "motor: roll" in found
    assert any(name.startswith("foot: ") for name in found)
    composition = hasty.composition
    views, rows, size = composition.views, composition.rows(), composition.size

    def cost(upper: np.ndarray, lower: np.ndarray) -> float:
        u = PiqpSolver(size).solve(views["H0"], views["f0"], views["A"], upper, lower)
        assert u is not None
        return float(0.5 * u @ views["H0"] @ u + views["f0"] @ u)

    for name, each in found.items():
        assert each.unit == ("N" if "friction" in name or name == "motor: leg" else "N m")
        i = next(k for k, other in enumerate(rows.names) if other == name and _is_used_up(hasty, k))
        slope, step = 0.0, 1e-3
        for sign in (1.0, -1.0):
            upper, lower = views["upper"].copy(), views["lower"].copy()
            if rows.is_upper[i]:
                upper[rows.index[i]] += sign * step
            else:
                lower[rows.index[i]] -= sign * step
            slope -= sign * cost(upper, lower) / (2.0 * step)
        assert each.multiplier == pytest.approx(slope, rel=1e-3, abs=1e-3)
        assert str(each) == f"{name}: {each.multiplier:.4g} per {each.unit}"


def _is_used_up(controller: ct.WholeBodyController, k: int) -> bool:
    rows = controller.composition.rows()
    return abs(rows.a[k] @ controller.unknowns - rows.b[k]) < 1e-6


def test_margins_are_those_of_cones_and_motors(hasty: ct.WholeBodyController) -> None:
    hasty.reset()
    torque = hasty(0.0, Q_POLE, np.zeros(POLE.nv))
    margins = hasty.margins
    f1, f2, fn = hasty.contact_wrenches["foot"][:3]
    assert margins["foot: pressing"].value == pytest.approx(fn)
    inner = SOLE[0].friction * math.cos(math.pi / 4.0) * fn
    for name, pull in (("+x", f1), ("−x", -f1), ("+y", f2), ("−y", -f2)):
        assert margins[f"foot: friction {name}"].value == pytest.approx(inner - pull, abs=1e-9)
    for k, (name, effort) in enumerate(EFFORT.items(), 6):
        assert margins[f"motor: {name}"].value == pytest.approx(effort - abs(torque[k]), abs=1e-9)
        assert margins[f"motor: {name}"].unit == ("N" if name == "leg" else "N m")
    assert min(margin.value for margin in margins.values()) > -1e-6
    for each in hasty.active:
        assert margins[each.name].value == pytest.approx(0.0, abs=1e-6)


def test_a_sole_has_the_margin_of_its_center_of_pressure(made: Callable[..., ct.WholeBodyController]) -> None:
    controller = made()
    controller(0.0, Q_POLE, np.zeros(POLE.nv))
    wrench = controller.contact_wrenches["foot"]
    x, y = SOLE[0].center_of_pressure(wrench)
    margin = controller.margins["foot: center of pressure to the border"]
    assert margin.value == pytest.approx(min(0.12 - abs(x), 0.06 - abs(y)))
    assert margin.unit == "m"


# --- what blocks a task ---------------------------------------------------------------------------------------------


def test_what_holds_a_task_back(hasty: ct.WholeBodyController) -> None:
    hasty.reset()
    hasty(0.0, Q_POLE, np.zeros(POLE.nv))
    center = next(each for each in hasty.blocked if each.task == "center of mass")
    wanted = 2.0 * 4.0**2 * FAR  # the poles are −4 and −8 1/s
    missing = POLE.center_of_mass_jacobian(Q_POLE) @ hasty.accelerations - wanted
    assert center.wanted == pytest.approx(np.linalg.norm(wanted))
    assert center.missing == pytest.approx(np.linalg.norm(missing), rel=1e-9)
    assert sum(center.shares.values()) == pytest.approx(1.0)
    first = next(iter(center.shares))
    assert first in {each.name for each in hasty.active}
    assert f"'center of mass' misses {center.missing:.3g} of {center.wanted:.3g}, held back by {first!r}" in hasty.stall


def test_an_impossible_task_names_what_blocks_it() -> None:
    """As a constraint it is in conflict with cones; as a task that asks a fixed foot to move nothing can help."""
    jump = ct.CenterOfMassTask(CENTER + np.array([3.0, 0.0, 0.0]), gain=4.0, name="jump")
    hard = ct.whole_body_controller(POLE, [ct.PostureTask(Q_POLE)], [jump], contacts=SOLE, infeasible="raise")
    with pytest.raises(ct.InfeasibleError, match="no command satisfies 'jump' and 'foot: ") as told:
        hard(0.0, Q_POLE, np.zeros(POLE.nv))
    assert any(name.startswith("foot: ") for name in told.value.conflict)


@pytest.mark.long
def test_a_task_on_a_fixed_foot_is_held_by_the_contact() -> None:
    lift = ct.TranslationTask("foot", POLE.pose("foot", Q_POLE).translation + np.array([0.0, 0.0, 0.1]), name="lift")
    controller = ct.whole_body_controller(POLE, [lift, ct.PostureTask(Q_POLE)], contacts=SOLE)
    controller(0.0, Q_POLE, np.zeros(POLE.nv))
    assert {each.task: each.shares for each in controller.blocked} == {"lift": {WholeBodyComposition.no_way: 1.0}}


def test_nothing_blocks_where_all_is_met(made: Callable[..., ct.WholeBodyController]) -> None:
    controller = made()
    assert controller.stall == ""
    controller(0.0, Q_POLE, np.zeros(POLE.nv))
    assert controller.stall == ""
    assert controller.blocked == controller.active == ()


def test_tasks_that_contradict_each_other_hold_each_other_back() -> None:
    arm = dq.robots.two_link()
    posture = [ct.PostureTask(arm.neutral() + d, name=n) for d, n in ((0.1, "left"), (-0.1, "right"))]
    controller = ct.whole_body_controller(arm, posture)
    controller(0.0, arm.neutral(), np.zeros(2))
    assert [each.shares for each in controller.blocked] == [{OTHERS: 1.0}] * 2


@pytest.mark.long
@pytest.mark.parametrize("solver", ["daqp", "piqp"])
def test_levels_and_other_solvers_have_multipliers(hasty: ct.WholeBodyController, solver: str) -> None:
    tasks = [[ct.CenterOfMassTask(CENTER + FAR, weight=10.0, gain=4.0)], [ct.PostureTask(Q_POLE, gain=5.0)]]
    controller = ct.whole_body_controller(POLE.with_motors(EFFORT), tasks, contacts=SOLE, solver=solver)
    for each in (controller, hasty):
        each.reset()
        each(0.0, Q_POLE, np.zeros(POLE.nv))
    pulling = {each.name for each in controller.active if each.level == 1 and each.multiplier > 1e-2}
    assert pulling == {each.name for each in hasty.active if each.multiplier > 1e-2}


# --- singular states ------------------------------------------------------------------------------------------------


def test_a_singular_state_is_told() -> None:
    """A stretched arm cannot move its tool along itself: that row of a contact there has nothing of its own."""
    arm = dq.robots.two_link()
    controller = ct.whole_body_controller(arm, [ct.PostureTask(arm.neutral())], contacts=[touch.point("tool")])
    controller(0.0, np.array([0.3, 0.8]), np.zeros(2))
    assert controller.report.reason == ""
    controller.reset()
    controller(0.0, np.array([0.3, 0.0]), np.zeros(2))
    assert controller.report.reason.startswith("the state is singular: 'tool' ")


# --- falls and rest -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("direction", range(4))
def test_a_fall_is_the_capture_point_outside(made: Callable[..., ct.WholeBodyController], direction: int) -> None:
    """c + ċ √(h/g), farther outside of the sole than the margin of 0.1 m."""
    push = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])[direction]
    sole = POLE.pose("foot", Q_POLE).translation
    omega = math.sqrt(9.81 / (CENTER[2] - sole[2]))
    border = 0.12 if direction < 2 else 0.06
    speed = omega * (border + 0.1 - push @ (CENTER - sole)[:2])
    controller = made()
    v = np.zeros(POLE.nv)
    v[3:5] = push * speed * 0.999  # nothing turns, so that all of it moves at this speed
    controller(0.0, Q_POLE, v)
    assert controller.report.status == "solved"
    controller.reset()
    v *= 1.002
    controller(0.0, Q_POLE, v)
    assert controller.report.status == "held"
    assert controller.report.reason == "the robot falls: its capture point is 0.1 m outside of the support polygon"
    controller(0.1, Q_POLE, np.zeros(POLE.nv))  # for good
    assert controller.report.status == "held"
    assert controller.report.motion == "still"
    controller.reset()
    controller(0.0, Q_POLE, np.zeros(POLE.nv))
    assert controller.report.status == "solved"


@pytest.mark.long
def test_a_fall_is_raised_or_ignored_where_asked(made: Callable[..., ct.WholeBodyController]) -> None:
    v = np.zeros(POLE.nv)
    v[3] = 3.0
    with pytest.raises(ct.ControlError, match="At t = 0 s the robot falls: its capture point is "):
        made("raise")(0.0, Q_POLE, v)
    blind = made(fall_margin=None)
    blind(0.0, Q_POLE, v)
    assert "falls" not in blind.report.reason


def test_a_watch_says_nothing_of_uneven_ground_and_of_lying_robots() -> None:
    watch = FallWatch(TABLE.model, 0.1)
    far = np.array([5.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    assert watch.problem(0.0, far) == ""  # stands on nothing
    watch.stand_on(LEGS, np.array([anchor_of(TABLE.model, leg, Q_TABLE) for leg in LEGS]))
    assert watch.problem(0.0, far) == "the robot falls: its capture point is 4.5 m outside of the support polygon"
    assert watch.problem(0.005, far) == ""  # checked every 0.01 s
    assert "falls" in watch.problem(0.01, far)
    assert "fell: its center of mass is 0.04 m above" in watch.problem(1.0, np.array([0.0, 0.0, 0.04, 0.0, 0.0, 0.0]))
    uneven = Q_TABLE.copy()
    uneven[7] += 0.1
    watch.stand_on(LEGS, np.array([anchor_of(TABLE.model, leg, uneven) for leg in LEGS]))
    assert watch.problem(2.0, far) == ""


@pytest.mark.long
def test_rest_is_for_good_and_within_cones(made: Callable[..., ct.WholeBodyController]) -> None:
    controller = made("rest")
    v = np.zeros(POLE.nv)
    v[6] = 0.1
    v[5] = -0.1  # the leg gets shorter under a sole that stays
    controller(0.0, Q_POLE, v)
    assert controller.report.status == "solved"
    controller(0.001, Q_POLE * np.nan, v)
    assert controller.report.reason.startswith("q of the robot is not finite")
    controller(0.002, Q_POLE, v)
    assert controller.report.status == "held"
    np.testing.assert_allclose(controller.accelerations, -RATE * v, atol=1e-3)
    assert SOLE[0].holds(controller.contact_wrenches["foot"], 1e-6)
    q, after = stand(POLE, controller, Q_POLE, v, 1.0)
    half = 0.5 * RATE  # both poles: v₀ (1 − k t/2) exp(−k t/2)
    assert after[6] == pytest.approx(0.1 * (1.0 - half) * math.exp(-half), rel=0.05)
    stand(POLE, controller, q, after, 1.0)
    assert controller.report.motion == "still"


def test_rest_is_for_controllers_of_every_level() -> None:
    arm = dq.robots.two_link()
    task = ct.PostureTask(np.array([1.0, 0.5]))
    for make in (ct.velocity_controller, ct.acceleration_controller, ct.torque_controller):
        controller = make(arm, [task], infeasible="rest")
        assert np.abs(controller(0.0, np.zeros(2), np.zeros(2))).max() > 0.1
        controller(0.1, np.zeros(2) * np.nan, np.zeros(2))
        controller(0.2, np.zeros(2), np.zeros(2))
        assert controller.report.status == "held"
        assert controller.report.t == 0.2
        assert controller.report.reason.startswith("q of the robot is not finite")
        controller.reset()
        controller(0.3, np.zeros(2), np.zeros(2))
        assert controller.report.status == "solved"


@pytest.mark.parametrize("policy", ["relax", "hold"])
def test_measurements_that_fail_leave_the_loop_to_its_policy(policy: str) -> None:
    """NaN of a sensor, and a target that is not seen."""
    target = ct.Measured(CENTER)
    tasks = [ct.CenterOfMassTask(target, gain=4.0), ct.PostureTask(Q_POLE)]
    controller = ct.whole_body_controller(POLE, tasks, contacts=SOLE, infeasible=policy)
    rest = np.zeros(POLE.nv)
    standing = controller(0.0, Q_POLE, rest)
    target.update(None)
    held = controller(0.001, Q_POLE, rest)
    assert controller.report.status == "held"
    assert "center of mass" in controller.report.reason
    np.testing.assert_allclose(held, standing, atol=1e-3 * np.abs(standing).max())
    target.update(CENTER)
    controller(0.002, Q_POLE, rest)
    assert controller.report.status == "solved"
    np.testing.assert_array_equal(controller(0.003, Q_POLE, rest * np.nan), controller.last_torques)
    assert controller.report.reason.startswith("v of the robot is not finite")


# --- bad input ------------------------------------------------------------------------------------------------------


def test_slides_that_others_hold_are_refused() -> None:
    toe = touch.point("foot", (0.1, 0.0, 0.0), mode="sliding", directions=[(1.0, 0.0, 0.0)], name="toe")
    with pytest.raises(
        ct.ControlError, match=r"'toe' slides in a direction in which other contacts .* hold it"
    ) as told:
        ct.whole_body_controller(POLE, [ct.PostureTask(Q_POLE)], contacts=[*SOLE, toe])
    assert told.value.contact == "toe"


def test_other_bad_input_is_refused_by_one_sentence() -> None:
    tasks = [ct.PostureTask(Q_POLE)]
    with pytest.raises(ct.ControlError, match="'pole' has no motors to control"):
        ct.whole_body_controller(POLE.with_motors([]), tasks, contacts=SOLE)
    with pytest.raises(dq.Error, match="fall_margin in m must be a number"):
        ct.whole_body_controller(POLE, tasks, contacts=SOLE, fall_margin=-0.1)
    with pytest.raises(dq.Error, match="ground is a height z in m, a Plane or a Scene"):
        ct.whole_body_controller(POLE, tasks, contacts=SOLE, ground="floor")
    with pytest.raises(dq.Error, match="form='minimal' does not bound torque rates"):
        ct.whole_body_controller(POLE, tasks, contacts=SOLE, torque_rate=1.0, form="minimal")
    with pytest.raises(dq.Error, match="policy"):
        ct.whole_body_controller(POLE, tasks, contacts=SOLE, infeasible="sleep")


@pytest.mark.long
def test_cones_whose_sides_all_touch_are_solved() -> None:
    """Random states of an arm on two faces, one of which slides: the feasible ones have a solution, none fails."""
    arm, rng = dq.robots.arm7(base="free"), generator("touching sides")
    slide = touch.face("base", half_length=0.3, half_width=0.2, mode="sliding", directions=[(1.0, 0.0, 0.0)])
    faces = [slide, touch.face("tool", half_length=0.05, half_width=0.05)]
    tasks = [ct.CenterOfMassTask([0.0, 0.0, 1.0], weight=10.0), ct.PostureTask(arm.neutral())]
    controller = ct.whole_body_controller(arm, tasks, contacts=faces, fall_margin=None)
    statuses = []
    for _ in range(500):
        controller.reset()
        controller(0.0, arm.random_configuration(rng), 0.3 * rng.standard_normal(arm.nv))
        statuses.append(controller.report.status)
    assert set(statuses) == {"held", "solved"}
    assert (controller.composition.pressing == INFINITE).all()
