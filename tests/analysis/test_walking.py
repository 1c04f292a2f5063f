"""Walking: the gait leads a pendulum over footsteps and catches pushes; a humanoid walks and falls in MuJoCo."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dqdyn as dq
from dqdyn import control as ct
from dqdyn import footsteps as fs
from dqdyn.algebra.values import Pose
from dqdyn.analysis.experiments.walk import flat
from dqdyn.analysis.standing.setting import humanoid
from dqdyn.analysis.walking.gait import Gait, Style, Timing
from dqdyn.analysis.walking.states import Walk
from dqdyn.analysis.walking.walked import Push, Walked, Walker, random_pushes, straight_plan, walk, walker_of
from dqdyn.arrays import Array

DT, OMEGA = 5e-3, 3.5
HEIGHT = 9.81 / OMEGA**2
ROOM = np.array([0.10, 0.045])


# --- the gait, on a pendulum ------------------------------------------------------------------------------------------


@dataclass
class Pose3:
    """The state of a pendulum with feet."""

    center: Array
    feet: dict[str, Pose]


class Pendulum:
    """A robot of which only the center of mass and the feet count."""

    def pose(self, frame: str, q: Pose3) -> Pose:
        return q.feet.get(frame, Pose())

    def center_of_mass(self, q: Pose3) -> Array:
        return q.center

    def center_of_mass_velocity(self, q: Pose3, v: Array) -> Array:
        return v


def standing_pendulum(start: fs.Start) -> Any:
    middle = 0.5 * (start[0].position + start[1].position)
    center = middle + [0.0, 0.0, HEIGHT]
    q0 = Pose3(center, {step.foot: step.pose for step in start})
    feet = tuple(step.foot for step in start)
    return SimpleNamespace(
        robot=Pendulum(), q0=q0, center=center, omega=OMEGA, feet=feet, pelvis="pelvis", chest="chest"
    )


@dataclass
class Followed:
    """What came of a pendulum that follows a gait: its divergent component at the end, and what was seen."""

    gait: Gait
    xi: Array
    jumps: list[float]
    zmp: list[Array]
    heights: list[float]
    fell: bool


def follow(plan: fs.FootstepPlan, push: tuple[float, Array] | None = None, **style: Any) -> Followed:
    """Feedback on ξ moves the zero-moment point within the sole, or between both; feet are where they are to be."""
    standing = standing_pendulum(plan.start)
    gait = Gait(standing, plan, style=Style(**style))
    q, v, t = Pose3(standing.center.copy(), dict(standing.q0.feet)), np.zeros(3), 0.0
    gait.begin(t, q, v)  # type: ignore[arg-type]
    seen = Followed(gait, np.zeros(3), [], [], [], False)
    for k in range(round((3.0 + 0.9 * len(plan)) / DT)):
        t = k * DT
        if push is not None and abs(t - push[0]) < 0.5 * DT:
            v = v + [*push[1], 0.0]
        if gait.path is not None:
            foot = gait.path.at(t)
            q.feet[gait.swinging] = Pose(rotation=foot.rotation, translation=foot.position)
        before = gait.reference.at(t).component if gait.reference else None
        if gait.path is None and not gait.done and t >= gait.double_ends - 1e-9:
            gait.lift(t, q, v)  # type: ignore[arg-type]
            seen.jumps.append(float(np.abs(gait.reference.at(t).component - before).max()))  # type: ignore[union-attr]
        elif gait.path is not None and t >= gait.path.finish - 1e-9:
            gait.land(t, q, v)  # type: ignore[arg-type]
            seen.jumps.append(float(np.abs(gait.reference.at(t).component - before).max()))  # type: ignore[union-attr]
        gait.move(t, q, v)  # type: ignore[arg-type]
        xi = q.center + v / OMEGA
        goal, rate = np.asarray(gait.targets.goal.position), np.asarray(gait.targets.goal.velocity)
        wanted = xi[:2] - (rate - 5.0 * (xi[:2] - goal)) / OMEGA
        z = nearest(gait, wanted)
        seen.zmp.append(z)
        seen.heights.append(float(gait.targets.height.position))  # type: ignore[arg-type]
        acceleration = np.array([*(OMEGA**2 * (q.center[:2] - z)), 0.0])
        grown, rest = math.cosh(OMEGA * DT), np.array([*z, q.center[2]])
        q.center = rest + (q.center - rest) * grown + v * math.sinh(OMEGA * DT) / OMEGA
        q.center[2], v = standing.center[2], v * grown + acceleration * math.sinh(OMEGA * DT) / OMEGA
        v[2] = 0.0
        if np.abs(xi[:2] - goal).max() > 0.6:
            seen.fell = True
            break
    seen.xi = q.center + v / OMEGA
    return seen


def nearest(gait: Gait, wanted: Array) -> Array:
    """The zero-moment point next to a wanted one, in the sole that stands, or in the rectangle around both."""
    if gait.path is not None:
        stands = gait.standing_at[gait.supporting]
        seen = stands.axes[:2, :2].T @ (wanted - stands.position[:2])
        return np.asarray(stands.position[:2] + stands.axes[:2, :2] @ np.clip(seen, -ROOM, ROOM))
    places = np.array([step.position[:2] for step in gait.standing_at.values()])
    return np.clip(wanted, places.min(axis=0) - ROOM, places.max(axis=0) + ROOM)


def test_a_pendulum_walks_to_the_end_and_rests() -> None:
    plan = fs.straight(fs.stance(0.2), 6, 0.2)
    seen = follow(plan)
    assert not seen.fell
    assert seen.gait.done
    assert max(seen.jumps) < 1e-9  # what is computed anew at each event is what was meant before
    for made, meant in zip(seen.gait.landed, plan.steps, strict=True):
        np.testing.assert_allclose(made.pose.matrix, meant.pose.matrix, atol=1e-6)
    np.testing.assert_allclose(seen.xi, [1.0, 0.0, HEIGHT], atol=2e-3)
    np.testing.assert_allclose(seen.heights, HEIGHT, atol=1e-12)


@pytest.mark.parametrize("angle", np.radians([0.0, 60.0, 90.0, 180.0, 270.0]))
def test_pushes_are_caught_by_the_next_footstep(angle: float) -> None:
    """0.25 m/s are 7 cm of ξ, late in a step of the right foot."""
    plan = fs.straight(fs.stance(0.2), 8, 0.15)
    push = 2.35, 0.25 * np.array([math.cos(angle), math.sin(angle)])
    seen = follow(plan, push)
    assert not seen.fell
    assert len(seen.gait.landed) == 8
    for before, step in zip([plan.start[1], *seen.gait.landed], seen.gait.landed, strict=False):
        low, high = plan.limits(before)
        relative = before.axes.T @ (step.position - before.position)
        assert (relative[:2] >= low - 2e-3).all()
        assert (relative[:2] <= high + 2e-3).all()


def test_without_displaced_footsteps_the_push_is_too_much() -> None:
    plan = fs.straight(fs.stance(0.2), 8, 0.15)
    push = 1.2, np.array([0.0, 0.3])  # to the left, when the left foot swings
    assert follow(plan, push, adjustment=None).fell
    caught = follow(plan, push)
    assert not caught.fell
    ways = [float((a.position - b.position)[1]) for a, b in zip(caught.gait.landed, plan.steps, strict=True)]
    assert ways[0] > 0.03
    assert abs(ways[-1]) < 0.3 * ways[0]  # the plan is met again by and by


def test_the_trunk_turns_with_the_feet() -> None:
    plan = fs.turning(fs.stance(0.2), 7, 0.05, 0.2)
    seen = follow(plan)
    w, _, _, z = seen.gait.targets.heading.pelvis.position  # type: ignore[misc]
    assert 2.0 * math.atan2(z, w) == pytest.approx(6 * 0.2, abs=1e-6)


def test_the_center_of_mass_rises_with_the_footsteps() -> None:
    middles = [dq.Pose(translation=[0.25 * (k + 1), 0.0, 0.1 * (k + 1)]) for k in range(3)]
    seen = follow(fs.along(fs.stance(0.2), [*middles, middles[-1]]))
    heights = np.array(seen.heights)
    assert heights[0] == pytest.approx(HEIGHT)
    assert heights[-1] == pytest.approx(0.3 + HEIGHT, abs=5e-3)
    assert np.abs(np.diff(heights)).max() < 0.4 * DT  # m per step: no jump


def test_a_foot_that_is_late_goes_on_down() -> None:
    plan = fs.straight(fs.stance(0.2), 2, 0.1)
    standing = standing_pendulum(plan.start)
    gait = Gait(standing, plan)
    gait.begin(0.0, standing.q0, np.zeros(3))
    gait.lift(1.0, standing.q0, np.zeros(3))
    gait.move(1.7, standing.q0, np.zeros(3))
    target = gait.targets.feet[gait.swinging].position
    assert target.position[2] == pytest.approx(-0.1 * gait.style.search)  # type: ignore[index]
    assert target.velocity[2] == -gait.style.search  # type: ignore[index]


def test_an_early_landing_makes_the_double_support_longer() -> None:
    plan = fs.straight(fs.stance(0.2), 3, 0.1)
    standing = standing_pendulum(plan.start)
    gait = Gait(standing, plan, timing=Timing(single=0.6, double=0.2))
    gait.begin(0.0, standing.q0, np.zeros(3))
    gait.lift(1.0, standing.q0, np.zeros(3))
    gait.land(1.5, standing.q0, np.zeros(3))
    assert gait.double_ends == pytest.approx(1.8)
    assert gait.k == 1
    assert gait.supporting == "left_foot"


def test_states_lead_from_foot_to_foot() -> None:
    standing = humanoid()
    states = {s.name: s for s in Walk(Gait(standing, straight_plan(standing, 3, 0.2))).states()}
    assert list(states) == ["begin", "both feet", "on left_foot", "on right_foot", "stand", "fell"]
    leads = {name: {t.to for t in state.transitions} for name, state in states.items()}  # type: ignore[union-attr]
    assert leads["begin"] == {"fell", "on left_foot", "on right_foot"}
    assert leads["both feet"] == {"fell", "on left_foot", "on right_foot", "stand"}
    assert leads["on left_foot"] == leads["on right_foot"] == {"fell", "both feet"}
    assert (states["stand"].ends, states["fell"].ends) == ("done", "failed")
    assert [c.frame for c in states["on left_foot"].contacts] == ["left_foot"]  # type: ignore[union-attr]


def test_pushes_are_drawn_again_from_their_seed() -> None:
    first, again = (random_pushes(5, 0.3, 1.0, 9.0, seed=3) for _ in range(2))
    assert first == again
    assert first != random_pushes(5, 0.3, 1.0, 9.0, seed=4)
    assert all(1.0 <= push.start <= 9.0 and push.ratio == 0.3 for push in first)
    forces = first[0].wrenches(humanoid(), 12000)
    begin = round(first[0].start / 1e-3)
    assert np.flatnonzero(forces.any(axis=1)).tolist() == list(range(begin, begin + 100))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Timing(single=0.0), "single of the timing"),
        (lambda: Timing(end=None), "end of the timing"),  # type: ignore[arg-type]
        (lambda: Style(clearance=-0.1), "clearance"),
        (lambda: Style(inward=math.nan), "inward"),
        (lambda: Style(adjustment=0.5), "adjustment"),  # type: ignore[arg-type]
        (lambda: Gait(humanoid(), None), "FootstepPlan"),  # type: ignore[arg-type]
        (lambda: Gait(humanoid(), fs.straight(fs.stance(feet=("l", "r")), 2, 0.1)), "no foot of the robot named 'l'"),
        (lambda: Push(-1.0, 0.0, 0.3), "time of a push"),
        (lambda: Push(1.0, math.inf, 0.3), "direction"),
        (lambda: Push(1.0, 0.0, None), "ratio"),  # type: ignore[arg-type]
        (lambda: random_pushes(2.5, 0.3, 1.0, 2.0), "number of pushes"),  # type: ignore[arg-type]
        (lambda: random_pushes(2, 0.3, 2.0, 1.0), "last time"),
    ],
)
def test_bad_input_is_named(make: Any, says: str) -> None:
    with pytest.raises(dq.Error, match=says):
        make()


def test_a_second_plan_goes_on_at_the_height_that_was_reached() -> None:
    plan = fs.along(fs.stance(0.2), [dq.Pose(translation=[0.2, 0.0, 0.1])] * 2)
    gait = follow(plan).gait
    reached = float(gait.targets.height.position)  # type: ignore[arg-type]
    feet = tuple(gait.standing_at[foot] for foot in ("left_foot", "right_foot"))
    gait.take(fs.straight(feet, 2, 0.2))  # type: ignore[arg-type]
    q = Pose3(np.array([0.2, 0.0, reached - 0.05]), {step.foot: step.pose for step in feet})  # the target does not jump
    gait.begin(9.0, q, np.zeros(3))  # type: ignore[arg-type]
    gait.move(9.0, q, np.zeros(3))  # type: ignore[arg-type]
    assert gait.targets.height.position == pytest.approx(reached, abs=1e-6)


# --- a humanoid in MuJoCo ---------------------------------------------------------------------------------------------


@cache
def walker() -> Walker:
    pytest.importorskip("mujoco")
    standing = humanoid()
    return walker_of(standing, straight_plan(standing, 2, 0.2))


@cache
def two_steps() -> Walked:
    return walk(walker())


@pytest.mark.long
def test_a_humanoid_makes_two_steps() -> None:
    found = two_steps()
    assert found.why == ""
    assert found.ended == "done"
    assert [step.foot for step in found.footprints] == ["left_foot", "right_foot"]
    assert found.deviation < 2e-3
    assert found.slip < 1e-3
    assert found.unsolved == 0
    names = [event.to for event in found.events]
    assert names == ["begin", "on right_foot", "both feet", "on left_foot", "both feet", "stand"]
    # the forces below the feet carry the robot, and the zero-moment point is below them
    weight = 9.81 * found.standing.robot.mass
    assert found.forces("left_foot")[-1] + found.forces("right_foot")[-1] == pytest.approx(weight, rel=0.02)
    assert np.isfinite(found.zero_moment_points).all()


@pytest.mark.long
def test_falls_and_feet_that_do_not_land_end_the_walk() -> None:
    hit = walk(walker(), push=Push(1.3, 0.5 * math.pi, 4.0), duration=3.0)
    assert hit.ended == "failed"
    assert hit.events[-1].to == "fell"
    assert hit.why.startswith("fell at")
    assert any(part in name for name in hit.others for part in ("chest", "shoulder", "arm", "palm"))  # it lies
    gait = Gait(walker().gait.standing, walker().gait.plan, timing=Timing(slowest=0.6))
    never = Walk(gait, constraints=[ct.JointLimits(gain=20.0)], touches=1e6)  # the same programs, taken from the cache
    late = walk(Walker(never.machine(progress=False), gait), duration=2.0)
    assert late.ended == "failed"
    assert late.events[-1].kind == "time limit"
    assert "left_foot has landed" in late.events[-1].pending


@pytest.mark.long
def test_claims_fail_for_runs_that_do_otherwise() -> None:
    found, push = two_steps(), Push(1.0, 0.0, 0.3)
    pushed = {1: [replace(found, push=push)]}

    def holds(plain: Walked, runs: dict[int, list[Walked]], steps: int = 2) -> list[bool]:
        return [claim.holds for claim in flat._claims({1: plain}, runs, {0.3: runs[1]}, steps, 0.3)]

    assert all(holds(found, pushed))
    assert holds(found, pushed, steps=3)[0] is False
    moved = tuple(step.moved([0.01, 0.0, 0.0]) for step in found.planned)
    assert holds(replace(found, planned=moved), pushed)[1] is False
    fallen = replace(found, trajectory=replace(found.trajectory, status="diverged"), push=push)
    assert holds(found, {1: [fallen]})[4:] == [False, True, False]
