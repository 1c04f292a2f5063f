"""Swing paths: at rest at both ends, smooth, over what is between, and aimed anew in the air."""

from __future__ import annotations

import numpy as np
import pytest
from seeds import generator

import dqdyn as dq
from dqdyn import footsteps as fs
from dqdyn import scenes
from dqdyn.footsteps.swing import highest_between


def random_pose(draw: np.random.Generator) -> dq.Pose:
    turn = draw.normal(size=4)
    return dq.Pose(rotation=turn / np.linalg.norm(turn), translation=draw.normal(size=3))


def random_path(draw: np.random.Generator) -> fs.SwingPath:
    top = None if draw.random() < 0.5 else float(draw.normal())
    start, duration = draw.normal(), draw.uniform(0.3, 1.0)
    return fs.SwingPath(random_pose(draw), random_pose(draw), duration, draw.uniform(0.0, 0.2), top, start=start)


def check_rates(path: fs.SwingPath, t: float) -> None:
    step = 1e-5
    before, now, after = (path.at(t + d) for d in (-step, 0.0, step))
    for value, rate in (("position", "velocity"), ("velocity", "acceleration"), ("rotation", "rotation_rate")):
        change = (getattr(after, value) - getattr(before, value)) / (2.0 * step)
        np.testing.assert_allclose(getattr(now, rate), change, atol=2e-5)
    change = (after.rotation_rate - before.rotation_rate) / (2.0 * step)
    np.testing.assert_allclose(now.rotation_acceleration, change, atol=2e-5)
    assert np.linalg.norm(now.rotation) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("case", range(20))
def test_it_rests_at_both_ends_and_moves_as_its_rates_say(case: int) -> None:
    draw = generator(f"test_it_rests_at_both_ends_and_moves_as_its_rates_say {case}")
    path = random_path(draw)
    for t, pose in ((path.start, path.begin), (path.finish, path.end)):
        motion = path.at(t)
        np.testing.assert_allclose(motion.position, pose.translation, atol=1e-12)
        assert abs(abs(float(motion.rotation @ pose.rotation)) - 1.0) < 1e-12
        for rest in (motion.velocity, motion.acceleration, motion.rotation_rate, motion.rotation_acceleration):
            np.testing.assert_allclose(rest, np.zeros_like(rest), atol=1e-9)
    for part in draw.uniform(0.02, 0.98, 5):
        check_rates(path, path.start + float(part) * path.duration)
    heights = [path.at(t).position[2] for t in np.linspace(path.start, path.finish, 200)]
    assert max(heights) <= path.highest + 1e-12
    assert max(heights) == pytest.approx(path.highest, abs=2e-3)


@pytest.mark.parametrize("case", range(20))
def test_a_path_that_is_aimed_anew_goes_on_smoothly(case: int) -> None:
    draw = generator(f"test_a_path_that_is_aimed_anew_goes_on_smoothly {case}")
    path = random_path(draw)
    t = path.start + float(draw.uniform(0.0, 0.95)) * path.duration
    goal = dq.Pose(translation=path.end.translation + 0.1 * draw.normal(size=3))
    aimed = path.aimed(t, goal)
    for a, b in zip(path.at(t), aimed.at(t), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    end = aimed.at(aimed.finish)
    np.testing.assert_allclose(end.position, goal.translation, atol=1e-10)
    np.testing.assert_allclose(end.velocity, np.zeros(3), atol=1e-8)
    np.testing.assert_allclose(end.acceleration, np.zeros(3), atol=1e-6)
    np.testing.assert_array_equal(aimed.end.rotation, path.end.rotation)
    check_rates(aimed, 0.3 * t + 0.7 * aimed.finish)


@pytest.mark.parametrize("case", range(20))
def test_a_path_may_land_sooner_or_later(case: int) -> None:
    draw = generator(f"test_a_path_may_land_sooner_or_later {case}")
    path = random_path(draw)
    t = path.start + float(draw.uniform(0.0, 0.9)) * path.duration
    finish = t + float(draw.uniform(0.1, 2.0)) * (path.finish - t)
    goal = dq.Pose(translation=path.end.translation + 0.1 * draw.normal(size=3))
    aimed = path.aimed(t, goal, finish)
    assert aimed.finish == pytest.approx(finish, abs=1e-12)
    for a, b in zip(path.at(t), aimed.at(t), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-8 * max(1.0, np.abs(a).max()))
    end = aimed.at(aimed.finish)
    np.testing.assert_allclose(end.position, goal.translation, atol=1e-9)
    assert abs(float(end.rotation @ path.end.rotation)) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(end.velocity, np.zeros(3), atol=1e-7)
    heights = [aimed.at(float(s)).position[2] for s in np.linspace(t, finish, 100)]
    assert (
        min(heights) > min(float(path.begin.translation[2]), float(goal.translation[2])) - 0.5 * path.clearance - 0.05
    )


def test_to_the_same_end_nothing_changes_before_the_top() -> None:
    path = fs.SwingPath(dq.Pose(), dq.Pose(translation=[0.3, 0.0, 0.1]), 0.6)
    aimed = path.aimed(0.2, path.end)
    for t in (0.25, 0.4, 0.55):
        np.testing.assert_allclose(aimed.at(t).position, path.at(t).position, atol=1e-12)


def test_it_goes_over_an_edge_and_over_what_is_between() -> None:
    sole = fs.Sole()
    scene = dq.Scene([scenes.ground(), scenes.box((0.3, 1.0, 0.1), (0.45, 0.0, 0.05))])
    up = fs.SwingPath(dq.Pose(), dq.Pose(translation=[0.45, 0.0, 0.1]), 0.6, clearance=0.06)
    assert up.gap(scene, sole) > 0.0
    hurdle = dq.Scene([scenes.ground(), scenes.box((0.02, 1.0, 0.12), (0.25, 0.0, 0.06), name="hurdle")])
    ends = dq.Pose(), dq.Pose(translation=[0.5, 0.0, 0.0])
    top = highest_between(*ends, hurdle, sole)
    assert top == pytest.approx(0.12)
    assert fs.SwingPath(*ends, 0.6, clearance=0.05).gap(hurdle, sole) < 0.0
    assert fs.SwingPath(*ends, 0.6, clearance=0.05, top=top).highest == pytest.approx(0.17)
    assert fs.SwingPath(*ends, 0.6, clearance=0.05, top=top, window=(0.2, 0.8)).gap(hurdle, sole) > 0.0


def test_without_a_scene_below_the_gap_is_infinite() -> None:
    path = fs.SwingPath(dq.Pose(), dq.Pose(translation=[0.3, 0.0, 0.0]), 0.6)
    assert path.gap(dq.Scene()) == np.inf
    assert highest_between(path.begin, path.end, dq.Scene()) == 0.0


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda x: fs.SwingPath(None, x, 0.5), "begin of a swing"),
        (lambda x: fs.SwingPath(x, [1.0], 0.5), "end of a swing"),
        (lambda x: fs.SwingPath(x, x, 0.0), "duration"),
        (lambda x: fs.SwingPath(x, x, np.nan), "duration"),
        (lambda x: fs.SwingPath(x, x, 0.5, -0.1), "clearance"),
        (lambda x: fs.SwingPath(x, x, 0.5, top=np.inf), "top"),
        (lambda x: fs.SwingPath(x, x, 0.5, window=(0.9, 0.1)), "window"),
        (lambda x: fs.SwingPath(x, x, 0.5, window=0.5), "window"),
        (lambda x: fs.SwingPath(x, x, 0.5, rises=1.0), "rises"),
        (lambda x: fs.SwingPath(x, x, 0.5).aimed(0.5, x), "while it lasts"),
        (lambda x: fs.SwingPath(x, x, 0.5).aimed(0.1, None), "end of a swing"),
        (lambda x: fs.SwingPath(x, x, 0.5).aimed(0.1, x, 0.1), "lands"),
    ],
)
def test_bad_input_is_named(make: object, says: str) -> None:
    with pytest.raises(dq.Error, match=says):
        make(dq.Pose())  # type: ignore[operator]
