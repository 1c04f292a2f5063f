"""Plans of footsteps: where they lead, what they refuse, and how a push displaces the next one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from seeds import generator

import dqdyn as dq
from dqdyn import footsteps as fs
from dqdyn import scenes
from dqdyn.footsteps.adjustment import carried
from dqdyn.footsteps.plan import overlap

LEFT, RIGHT = "left_foot", "right_foot"


def turned(angle: float, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> dq.Pose:
    return dq.Pose(rotation=[math.cos(0.5 * angle), 0.0, 0.0, math.sin(0.5 * angle)], translation=[x, y, z])


def test_a_straight_plan_alternates_and_closes() -> None:
    plan = fs.straight(fs.stance(0.2), 5, 0.15)
    assert [step.foot for step in plan.steps] == [LEFT, RIGHT, LEFT, RIGHT, LEFT]
    np.testing.assert_allclose([s.position[0] for s in plan.steps], [0.15, 0.30, 0.45, 0.60, 0.60], atol=1e-12)
    np.testing.assert_allclose([s.position[1] for s in plan.steps], [0.1, -0.1, 0.1, -0.1, 0.1], atol=1e-12)
    assert len(plan) == 5
    assert plan.standing(0).foot == RIGHT
    assert plan.standing(3) is plan.steps[2]
    assert plan.before(0).foot == LEFT
    assert plan.before(1) is plan.start[1]
    assert plan.before(2) is plan.steps[0]


def test_one_step_alone_is_a_step() -> None:
    plan = fs.straight(fs.stance(0.2), 1, 0.15, first=RIGHT)
    assert [step.foot for step in plan.steps] == [RIGHT]
    assert plan.steps[0].position[0] == pytest.approx(0.15)


@pytest.mark.parametrize("case", range(10))
def test_a_plan_goes_where_its_start_looks(case: int) -> None:
    """A start that is moved moves all of the plan."""
    draw = generator(f"test_a_plan_goes_where_its_start_looks {case}")
    there = turned(float(draw.uniform(-3.0, 3.0)), *draw.normal(size=3))
    plans = [fs.turning(fs.stance(0.2, at), 6, 0.1, 0.15) for at in (dq.Pose(), there)]
    for a, b in zip(plans[0].steps, plans[1].steps, strict=True):
        moved = there * a.pose
        np.testing.assert_allclose(moved.matrix, b.pose.matrix, atol=1e-12)


def test_a_full_turn_ends_where_it_began() -> None:
    plan = fs.turning(fs.stance(0.2), 13, 0.1, 2.0 * math.pi / 12.0)
    left = plan.steps[-1]
    np.testing.assert_allclose(left.position, [0.0, 0.1, 0.0], atol=1e-12)
    assert math.remainder(left.heading, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-12)
    radius = 0.05 / math.sin(math.pi / 12.0)  # the middles are corners of a polygon of 12 sides of 0.1 m
    middles = [s.point(0.0, -0.1 * plan.side(s.foot)) for s in plan.steps[:-1]]
    # it starts tangentially: the center is to the left of the start
    heading = 0.0
    center = np.array([-radius * math.sin(heading), radius * math.cos(heading)])
    np.testing.assert_allclose([np.linalg.norm(m[:2] - center) for m in middles], radius, atol=1e-12)


def test_points_of_a_sole() -> None:
    step = fs.Footstep(LEFT, turned(0.5 * math.pi, 1.0, 2.0, 3.0))
    np.testing.assert_allclose(step.point(0.1, 0.02), [1.0 - 0.02, 2.1, 3.0], atol=1e-12)
    assert step.heading == pytest.approx(0.5 * math.pi)
    np.testing.assert_allclose(fs.Sole(0.1, 0.05).corners(step.pose)[0], [1.0 - 0.05, 2.0 + 0.1, 3.0], atol=1e-12)


def test_steps_are_put_on_stairs() -> None:
    scene = dq.Scene([scenes.ground(), scenes.box((0.3, 1.0, 0.1), (0.4, 0.0, 0.05), name="stair")])
    middles = [dq.Pose(translation=[x, 0.0, 0.0]) for x in (0.4, 0.4)]
    plan = fs.on_surfaces(fs.along(fs.stance(0.2), middles), scene)
    np.testing.assert_allclose([s.position[2] for s in plan.steps], 0.1, atol=1e-12)
    edge = fs.along(fs.stance(0.2), [dq.Pose(translation=[0.25, 0.0, 0.0])])
    with pytest.raises(dq.Error, match="not level"):
        fs.on_surfaces(edge, scene)
    with pytest.raises(dq.Error, match="no surface"):
        fs.on_surfaces(edge, dq.Scene())
    with pytest.raises(dq.Error, match="Scene"):
        fs.on_surfaces(edge, None)  # type: ignore[arg-type]


@pytest.mark.parametrize("case", range(20))
def test_overlap_against_points_drawn_in_both(case: int) -> None:
    draw, sole = generator(f"test_overlap_against_points_drawn_in_both {case}"), fs.Sole()
    poses = [turned(float(draw.uniform(-3.0, 3.0)), *(0.15 * draw.normal(size=2))) for _ in range(2)]
    a, b = (sole.corners(pose)[:, :2] for pose in poses)
    points = draw.uniform(-1.0, 1.0, size=(20000, 2)) * [sole.half_length, sole.half_width]
    inside = poses[0].translation[:2] + points @ poses[0].rotation_matrix[:2, :2].T
    seen = (inside - poses[1].translation[:2]) @ poses[1].rotation_matrix[:2, :2]
    share = (np.abs(seen) < [sole.half_length, sole.half_width]).all(axis=1).mean()
    assert overlap(a, b) == overlap(b, a)
    if share > 0.0:
        assert overlap(a, b)
    elif overlap(a, b):  # they share less than what 20000 points find
        shrunk = [sole.corners(pose)[:, :2].mean(axis=0) for pose in poses]
        small = [m + 0.97 * (c - m) for m, c in zip(shrunk, (a, b), strict=True)]
        assert not overlap(*small)


START = fs.stance(0.2)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: fs.FootstepPlan(START, ()), "no steps"),
        (lambda: fs.FootstepPlan(START, None), "list of footsteps"),
        (lambda: fs.FootstepPlan(START, (1.0,)), "step 1"),
        (lambda: fs.FootstepPlan(None, START), "pair of footsteps"),
        (lambda: fs.FootstepPlan((START[0], START[0]), START), "both feet"),
        (lambda: fs.FootstepPlan(START, (START[0], START[0].moved([0.1, 0, 0]))), "alternate"),
        (lambda: fs.FootstepPlan(START, (fs.Footstep("hand", dq.Pose()),)), "no foot named"),
        (lambda: fs.FootstepPlan(START, (START[0].moved([0.9, 0, 0]),)), "0.9 m ahead of"),
        (lambda: fs.FootstepPlan(START, (START[0].moved([0, 0.5, 0]),)), "0.7 m apart from"),
        (lambda: fs.FootstepPlan(START, (START[0].moved([0, -0.3, 0]),)), "apart from"),
        (lambda: fs.FootstepPlan(START, (START[0].moved([0, 0, 0.3]),)), "0.3 m above"),
        (lambda: fs.FootstepPlan(START, (fs.Footstep(LEFT, turned(1.2, 0.0, 0.1)),)), "1.2 rad turned against"),
        (lambda: fs.straight(START, 3, 0.2, reach=fs.Reach(apart=(0.0, 0.4)), width=0.1), "puts 'right_foot' on"),
        (lambda: fs.straight(START, 3, 0.2, sole=0.1), "Sole"),
        (lambda: fs.straight(START, 3, 0.2, reach=0.1), "Reach"),
        (lambda: fs.straight(START, 0, 0.2), "number of steps"),
        (lambda: fs.straight(START, 2.5, 0.2), "whole number"),
        (lambda: fs.straight(START, 2, None), "length"),
        (lambda: fs.straight(START, 2, 0.2, first="hand"), "first foot"),
        (lambda: fs.turning(START, 2, 0.2, np.nan), "angle"),
        (lambda: fs.along(START, dq.Pose()), "list of poses"),
        (lambda: fs.along(START, [1.0]), "middle of step 1"),
        (lambda: fs.stance(0.0), "width"),
        (lambda: fs.stance(0.2, 3.0), "middle"),
        (lambda: fs.Footstep("", dq.Pose()), "name of a frame"),
        (lambda: fs.Footstep(LEFT, [0, 0, 0]), "dq.Pose"),
        (lambda: fs.Sole(-0.1), "half_length"),
        (lambda: fs.Reach(apart=0.2), "least, greatest"),
        (lambda: fs.Reach(apart=(0.4, 0.2)), "greatest distance"),
        (lambda: fs.Reach(turn=-1.0), "turn"),
        (lambda: fs.straight(START, 3, 0.2).side("hand"), "no foot named"),
        (lambda: fs.StepAdjustment(room=0.1), "room"),
        (lambda: fs.StepAdjustment(gain=-1.0), "gain"),
        (lambda: fs.StepAdjustment().displacement([0.1], 0.1, 3.0), "two components"),
    ],
)
def test_bad_input_is_named(make: object, says: str) -> None:
    with pytest.raises(dq.Error, match=says):
        make()  # type: ignore[operator]


def test_a_sole_on_a_wall_is_refused() -> None:
    lying = dq.Pose(rotation=[math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0], translation=[0.1, 0.1, 0.0])
    with pytest.raises(dq.Error, match="wall"):
        fs.FootstepPlan(START, (fs.Footstep(LEFT, lying),))


@pytest.mark.parametrize("case", range(10))
def test_a_displaced_step_leaves_what_the_sole_can_correct(case: int) -> None:
    """With the zero-moment point at its limit the error grows to the limit plus what the step is displaced by."""
    draw = generator(f"test_a_displaced_step_leaves_what_the_sole_can_correct {case}")
    omega, left, double = draw.uniform(2.0, 5.0), draw.uniform(0.05, 0.6), draw.uniform(0.05, 0.4)
    adjustment = fs.StepAdjustment((0.06, 0.03))
    error = draw.normal(size=2) * [0.1, 0.05]
    limits = np.clip(error, [-0.06, -0.03], [0.06, 0.03])
    run = solve_ivp(lambda t, e: omega * (e - limits), (0.0, left), error, rtol=1e-12, atol=1e-12)
    displaced = adjustment.displacement(error, left, omega, double)
    beyond = np.abs(error) > [0.06, 0.03]
    expected = np.where(beyond, run.y[:, -1] - limits, 0.0)
    np.testing.assert_allclose(displaced * carried(omega, double), expected, atol=1e-9)


@pytest.mark.parametrize("case", range(10))
def test_the_landing_is_when_the_greatest_displacement_is_needed(case: int) -> None:
    draw = generator(f"test_the_landing_is_when_the_greatest_displacement_is_needed {case}")
    omega, double, adjustment = draw.uniform(2.0, 5.0), draw.uniform(0.05, 0.4), fs.StepAdjustment((0.06, 0.03))
    z, most = draw.normal(size=(2, 2)) * 0.1
    end = z + np.sign(most) * np.abs(draw.normal(size=2)) * 0.1
    needs = end - z + carried(omega, double) * most
    xi = z + np.sign(most) * [0.06, 0.03] + needs * draw.uniform(0.1, 0.9, 2)  # it flees to the side of the step
    times = adjustment.landing(xi, z, end, most, omega, double)
    for i, left in enumerate(times):
        # the error against a reference that ends at that time needs just that displacement
        reference = z + np.exp(-omega * left) * (end - z)
        way = adjustment.displacement(xi - reference, left, omega, double)
        assert way[i] == pytest.approx(most[i], abs=1e-9)
    away = adjustment.landing(z - np.sign(most), z, end, most, omega, double)
    assert np.isnan(away).all()


def test_a_displaced_foot_moves_the_component_by_the_part_that_is_said() -> None:
    omega, double = 3.4, 0.25
    z, foot, way = np.zeros(3), np.array([0.2, 0.1, 0.0]), np.array([0.05, -0.02, 0.0])
    begins = [
        fs.DivergentReference([fs.Phase(double, z, p), fs.Phase(0.6, p, p)], omega).at(0.0).component
        for p in (foot, foot + way)
    ]
    np.testing.assert_allclose(begins[1] - begins[0], carried(omega, double) * way, atol=1e-12)
    assert carried(omega, 0.0) == 1.0
