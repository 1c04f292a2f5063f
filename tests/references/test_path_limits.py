"""Splines keep the limits that they are given, and touch one of them; Ruckig takes as long as our profiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from trees import tree

import dqdyn as dq
from dqdyn import references as ref
from dqdyn.references import TimedPath
from dqdyn.references.space import Space

ARM = dq.robots.arm6()


def random_limits(rng: np.random.Generator, nv: int) -> dict[str, Any]:
    """Limits of which each kind decides now and then."""
    return {
        "velocity": 10.0 ** rng.uniform(-1, 1, nv),
        "acceleration": 10.0 ** rng.uniform(-1, 1.5, nv),
        "jerk": 10.0 ** rng.uniform(0, 2.5, nv),
    }


def shares(path: TimedPath, limits: dict[str, Any], samples: int) -> list[float]:
    """The largest part of each limit that the path takes, by samples alone; jerk by differences of accelerations."""
    t = np.linspace(path.begin, path.end, samples)
    found = path.sample(t)
    jerk = np.diff(found.acceleration, axis=0) / np.diff(t)[:, None]
    values = (found.velocity, found.acceleration, jerk)
    return [float((np.abs(x) / limit).max()) for x, limit in zip(values, limits.values(), strict=False)]


def check_one(rng: np.random.Generator, space: Space) -> set[str]:
    """One random spline: limits hold at all samples, and the exact extremes touch one of them."""
    points = rng.normal(size=(int(rng.integers(2, 7)), space.nq)) * 10.0 ** rng.uniform(-1, 1)
    limits = random_limits(rng, space.nv)
    make = (ref.cubic, ref.quintic, ref.time_optimal)[int(rng.integers(3))]
    path = make(space, points, reach=False, **limits)  # type: ignore[operator]
    assert max(shares(path, limits, 200)[:2]) <= 1.0 + 1e-9
    largest = path.largest_velocity, path.largest_acceleration, path.largest_jerk
    exact = [float((found / limit).max()) for found, limit in zip(largest, limits.values(), strict=True)]
    assert max(exact) <= 1.0 + 1e-9
    assert max(exact) >= 1.0 - 1e-9
    return {name for name, share in zip(limits, exact, strict=True) if share > 1.0 - 1e-9}


def test_some_splines_meet_their_limits() -> None:
    rng = np.random.default_rng(1)
    decided = set().union(*(check_one(rng, Space.of(ARM)) for _ in range(60)))
    assert decided == {"velocity", "acceleration", "jerk"}


@pytest.mark.long
def test_ten_thousand_splines_meet_their_limits() -> None:
    rng = np.random.default_rng(2)
    for _ in range(10_000):
        check_one(rng, Space.of("point"))


@pytest.mark.parametrize("maker", [ref.cubic, ref.quintic])
def test_exact_extremes_are_those_of_dense_samples(maker: Any) -> None:
    rng = np.random.default_rng(3)
    limits = random_limits(rng, ARM.nv)
    path = maker(ARM, rng.normal(size=(5, 6)), reach=False, **limits)
    found = path.sample(np.linspace(0.0, path.end, 40_001))
    np.testing.assert_allclose(path.largest_velocity, np.abs(found.velocity).max(axis=0), rtol=1e-6)
    np.testing.assert_allclose(path.largest_acceleration, np.abs(found.acceleration).max(axis=0), rtol=1e-3)
    assert shares(path, limits, 40_001)[2] <= 1.0 + 1e-6


@pytest.mark.parametrize("name", ["every kind", "free base"])
@pytest.mark.parametrize("maker", [ref.cubic, ref.quintic])
def test_limits_hold_on_the_manifold(maker: Any, name: str) -> None:
    """Joints with quaternions: extremes come from samples that are refined; denser ones find nothing larger."""
    robot, rng = tree(name), np.random.default_rng(4)
    points = [robot.random_configuration(rng)]
    for _ in range(3):
        points.append(robot.integrate(points[-1], 0.6 * rng.normal(size=robot.nv)))
    limits = {"velocity": rng.uniform(0.5, 2.0, robot.nv), "acceleration": rng.uniform(1.0, 4.0, robot.nv)}
    path = maker(robot, points, reach=False, **limits)
    dense = shares(path, limits, 50_001)
    assert 1.0 - 1e-4 <= max(dense) <= 1.0 + 1e-7


@pytest.mark.parametrize("name", ["every kind", "free base"])
def test_time_optimal_on_the_manifold(name: str) -> None:
    """Along screws the twist keeps its direction, so that limits of jerk hold as well."""
    robot, rng = tree(name), np.random.default_rng(5)
    q0 = robot.random_configuration(rng)
    q1 = robot.integrate(q0, rng.normal(size=robot.nv))
    limits = random_limits(rng, robot.nv)
    path = ref.time_optimal(robot, [q0, q1, q0], reach=False, **limits)
    found = shares(path, limits, 50_001)
    assert max(found) <= 1.0 + 1e-6
    assert max(found) >= 1.0 - 1e-3


def ruckig_duration(way: np.ndarray, limits: dict[str, Any], ends: np.ndarray | None = None) -> float:
    import ruckig

    n = len(way)
    given, found = ruckig.InputParameter(n), ruckig.Trajectory(n)
    given.target_position = way.tolist()
    if ends is not None:
        given.current_velocity, given.target_velocity = ends.tolist()
    given.max_velocity, given.max_acceleration, given.max_jerk = (x.tolist() for x in limits.values())
    assert ruckig.Ruckig(n).calculate(given, found) == ruckig.Result.Working
    return float(found.duration)


def test_durations_are_those_of_ruckig() -> None:
    rng = np.random.default_rng(6)
    for _ in range(200):
        way, limits = rng.normal(size=6) * 10.0 ** rng.uniform(-2, 1), random_limits(rng, 6)
        path = ref.time_optimal(ARM, [np.zeros(6), way], reach=False, **limits)
        assert path.duration == pytest.approx(ruckig_duration(way, limits), rel=1e-12)
        straight = ref.time_optimal(ARM, [np.zeros(6), way], reach=False, straight=True, **limits)
        assert straight.duration >= path.duration * (1.0 - 1e-12)


def test_ends_in_motion_by_ruckig() -> None:
    """States at both ends, continuity and limits; one joint of the robot has a quaternion and stays at rest there."""
    robot, rng = tree("planar base"), np.random.default_rng(7)
    space = Space.of(robot)
    at_rest = np.concatenate([np.arange(robot.nv)[part.v] for part in space.parts])
    for _ in range(8):
        q0 = robot.random_configuration(rng)
        q1 = robot.integrate(q0, rng.normal(size=robot.nv))
        limits = random_limits(rng, robot.nv)
        ends = rng.uniform(-1.0, 1.0, (2, robot.nv)) * limits["velocity"]
        ends[:, at_rest] = 0.0
        path = ref.time_optimal(robot, [q0, q1], ends=tuple(ends), reach=False, **limits)
        assert max(shares(path, limits, 3001)[:2]) <= 1.0 + 1e-6
        for t, q, v in ((0.0, q0, ends[0]), (path.end, q1, ends[1])):
            np.testing.assert_allclose(robot.difference(path(t)[0], q), 0.0, atol=1e-8)
            np.testing.assert_allclose(path(t)[1], v, atol=1e-8)
        for t in path.pieces.times[1:-1]:
            np.testing.assert_allclose(path(t - 1e-10)[1], path(t + 1e-10)[1], atol=1e-6)


def test_trapezoids_of_one_axis_by_hand() -> None:
    """1 m at 0.5 m/s and 1 m/s²: 0.5 s up, 1.5 s at speed, 0.5 s down."""
    path = ref.trapezoids("number", [0.0, 1.0], velocity=0.5, acceleration=1.0)
    assert path.end == pytest.approx(2.5)
    np.testing.assert_allclose(path.sample([0.25, 1.0, 2.25]).velocity[:, 0], [0.25, 0.5, 0.25], atol=1e-12)
    np.testing.assert_allclose(path.sample([0.25, 1.0, 2.25]).acceleration[:, 0], [1.0, 0.0, -1.0], atol=1e-12)


def test_without_a_duration_it_is_as_fast_as_allowed() -> None:
    """The largest velocity of 10 s³ − 15 s⁴ + 6 s⁵ is 15/8 of the mean, its largest acceleration 10/√3 of way/T²."""
    assert ref.between("number", 0.0, 2.0, velocity=0.5).duration == pytest.approx(2.0 / 0.5 * 15.0 / 8.0)
    by_acceleration = ref.between("number", 0.0, 2.0, acceleration=3.0).duration
    assert by_acceleration == pytest.approx(np.sqrt(2.0 / 3.0 * 10.0 / np.sqrt(3.0)))
    assert ref.between("number", 0.0, 2.0, jerk=3.0).duration == pytest.approx(np.cbrt(60.0 * 2.0 / 3.0))
