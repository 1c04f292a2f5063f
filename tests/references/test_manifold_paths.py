"""Paths on the manifold: all joint kinds, against finite differences, SciPy's splines and screw interpolation."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation, RotationSpline
from trees import TREES, random_robot, tree

import dqdyn as dq
from dqdyn import references as ref
from dqdyn.algebra.jet import derivative
from dqdyn.references import TimedPath
from dqdyn.robot import Robot

FREE: dict[str, Any] = {"velocity": np.inf, "reach": False}
LIMITS: dict[str, Any] = {"velocity": 2.0, "acceleration": 3.0, "reach": False}
MAKERS: dict[str, Callable[[Robot, list[np.ndarray]], TimedPath]] = {
    "between": lambda robot, q: ref.between(robot, q[0], q[1], 1.7, **FREE),
    "cubic": lambda robot, q: ref.cubic(robot, q, [0.0, 0.8, 2.0, 2.9], **FREE),
    "quintic": lambda robot, q: ref.quintic(robot, q, [0.0, 0.8, 2.0, 2.9], **FREE),
    "trapezoids": lambda robot, q: ref.trapezoids(robot, q, **LIMITS),
    "time optimal": lambda robot, q: ref.time_optimal(robot, q, jerk=20.0, **LIMITS),
    "straight": lambda robot, q: ref.time_optimal(robot, q, jerk=20.0, straight=True, **LIMITS),
}


def way_points(robot: Robot, seed: int = 1, count: int = 4, size: float = 0.7) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    points = [robot.random_configuration(rng)]
    for _ in range(count - 1):
        points.append(robot.integrate(points[-1], size * rng.normal(size=robot.nv)))
    return points


def finite_differences(robot: Robot, path: TimedPath, t: float, dt: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
    q, after, before = (path(s)[0] for s in (t, t + dt, t - dt))
    ahead, back = robot.difference(q, after), robot.difference(q, before)
    return (ahead - back) / (2.0 * dt), (ahead + back) / dt**2


@pytest.mark.parametrize("name", [*TREES, "humanoid"])
@pytest.mark.parametrize("maker", MAKERS)
def test_velocities_and_accelerations_are_those_of_the_motion(maker: str, name: str) -> None:
    robot = dq.robots.humanoid() if name == "humanoid" else tree(name)
    points = way_points(robot)
    path = MAKERS[maker](robot, points)
    breaks = path.pieces.times
    for t in np.random.default_rng(2).uniform(path.begin, path.end, 6):
        if np.abs(breaks - t).min() < 2e-4:
            continue
        q, v, a = path(float(t))
        robot.pose(list(robot.frames)[-1], q)  # refuses quaternions that are not of unit length
        v_fd, a_fd = finite_differences(robot, path, float(t))
        np.testing.assert_allclose(v, v_fd, atol=1e-5)
        np.testing.assert_allclose(a, a_fd, atol=1e-4)
    last = points[1] if maker == "between" else points[-1]
    np.testing.assert_allclose(robot.difference(path(path.begin)[0], points[0]), 0.0, atol=1e-12)
    np.testing.assert_allclose(robot.difference(path(path.end)[0], last), 0.0, atol=1e-11)
    assert not np.any(path(path.begin - 1.0)[1:])
    np.testing.assert_allclose(path(path.end + 1.0)[0], path(path.end)[0], atol=1e-14)


@pytest.mark.parametrize("name", ["every kind", "free base", "planar base"])
@pytest.mark.parametrize("maker", ["cubic", "quintic"])
def test_splines_pass_way_points_smoothly(maker: str, name: str) -> None:
    robot = tree(name)
    points = way_points(robot)
    path = MAKERS[maker](robot, points)
    for t, point in zip(path.pieces.times, points, strict=True):
        np.testing.assert_allclose(robot.difference(path(t)[0], point), 0.0, atol=1e-11)
    for t in path.pieces.times[1:-1]:
        for before, after in zip(path(t - 1e-9)[1:], path(t + 1e-9)[1:], strict=True):
            np.testing.assert_allclose(before, after, atol=1e-6)
    if maker == "quintic":
        np.testing.assert_allclose(path(0.0)[1:], 0.0, atol=1e-11)
        np.testing.assert_allclose(path(path.end)[1:], 0.0, atol=1e-9)


@pytest.mark.parametrize("name", ["every kind", "humanoid"])
def test_samples_rates_and_any_scalar_agree(name: str) -> None:
    robot = dq.robots.humanoid() if name == "humanoid" else tree(name)
    path = ref.cubic(robot, way_points(robot), [0.0, 0.8, 2.0, 2.9], **FREE)
    times = np.array([-0.5, 0.3, 0.8, 1.4, 2.5, 2.9, 4.0])
    samples = path.sample(times)
    for k, t in enumerate(times):
        one = path.motion(float(t))
        for a, b in zip(one, samples, strict=True):
            np.testing.assert_allclose(a, b[k], atol=1e-12)
    level = derivative(lambda c: path(c[0])[0], [1.4], [1.0])  # all intervals, on jets
    np.testing.assert_allclose(level, path.motion(1.4).rate, atol=1e-12)
    second = derivative(lambda c: derivative(lambda d: path(d[0])[0], c, [1.0]), [1.4], [1.0])
    np.testing.assert_allclose(second, path.motion(1.4).second, atol=1e-11)


def test_flat_cubic_is_that_of_scipy() -> None:
    robot = tree("one axis")
    rng = np.random.default_rng(0)
    times = np.cumsum(rng.uniform(0.1, 1.0, 9))
    points, (v0, v1) = rng.normal(size=(9, robot.nq)), rng.normal(size=(2, robot.nv))
    path = ref.cubic(robot, points, times, ends=(v0, v1), **FREE)
    peer = CubicSpline(times, points, bc_type=((1, v0), (1, v1)))
    t = np.linspace(times[0], times[-1], 300)
    for order, found in enumerate(path.sample(t)[:3]):
        np.testing.assert_allclose(found, peer(t, order), atol=1e-8)


@pytest.mark.parametrize("seed", range(8))
def test_cubic_of_rotations_is_that_of_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.5, 1.5, 6))
    turns = Rotation.from_rotvec(np.cumsum(0.5 * rng.normal(size=(6, 3)), axis=0))
    # SciPy's rates at both ends are those of a constant turn along the first and the last interval.
    steps = (turns[:-1].inv() * turns[1:]).as_rotvec() / np.diff(times)[:, None]
    peer = RotationSpline(times, turns)
    path = ref.cubic("rotation", turns.as_quat(scalar_first=True), times, ends=(steps[0], steps[-1]))
    t = np.linspace(times[0], times[-1], 40)[1:-1]
    found = path.sample(t)
    expected = peer(t).as_quat(scalar_first=True)
    expected *= np.sign((expected * found.components).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found.components, expected, atol=1e-7)
    np.testing.assert_allclose(found.velocity, peer(t, 1), atol=1e-7)
    np.testing.assert_allclose(found.acceleration, peer(t, 2), atol=1e-6)


def test_a_pose_moves_along_its_screw() -> None:
    rng = np.random.default_rng(4)
    robot = random_robot(3, 1, ("free",))
    x, y = (dq.Pose(rotation=q[:4], translation=q[4:]) for q in (robot.random_configuration(rng) for _ in range(2)))
    path = ref.between("pose", x, y, 3.0)
    for t in (0.0, 0.4, 1.5, 2.2, 3.0):
        s = (t / 3.0) ** 3 * (10.0 - 15.0 * t / 3.0 + 6.0 * (t / 3.0) ** 2)
        expected = dq.sclerp(x.dq, y.dq, s).vec8()
        np.testing.assert_allclose(path(t)[0], expected, atol=1e-12)
        np.testing.assert_allclose(path.pose(t).vec8(), expected, atol=1e-12)
    x_t, rate = path(1.1)[0], path.motion(1.1).rate
    twist = dq.twist_of_rate(dq.DQ(x_t.tolist()), dq.DQ(rate.tolist()), "body").vec6()
    np.testing.assert_allclose(twist, path(1.1)[1], atol=1e-12)


def test_a_humanoid_keeps_its_quaternion() -> None:
    robot = dq.robots.humanoid()
    q0 = robot.neutral()
    q1 = robot.integrate(q0, np.r_[0.0, 0.0, 2.0, 0.5, 0.2, 0.0, np.zeros(robot.nv - 6)])
    path = ref.between(robot, q0, q1, 2.0)
    norms = np.linalg.norm(path.sample(np.linspace(0.0, 2.0, 50)).components[:, :4], axis=1)
    np.testing.assert_allclose(norms, 1.0, atol=1e-14)
    with pytest.warns(DeprecationWarning, match=r"use dqdyn.references.between\(robot, start, end, duration\)"):
        former = __import__("dqdyn.simulate.reference", fromlist=["between"]).between(q0, q1, 2.0)
    assert np.linalg.norm(former(1.0)[0][:4]) < 0.9  # which is why


@pytest.mark.parametrize(("wrap", "last"), [(False, -3.0), (True, 2.0 * np.pi - 3.0)])
def test_the_shorter_way_round(wrap: bool, last: float) -> None:
    """Continuous joints and headings turn the shorter way only where asked; helical joints never."""
    robot = dq.robots.holonomic_manipulator()
    q0, q1 = robot.neutral(), robot.neutral()
    q0[2], q1[2] = 3.0, -3.0
    path = ref.between(robot, q0, q1, 2.0, wrap=wrap, velocity=np.inf)
    assert path(2.0)[0][2] == pytest.approx(last)
    helical = random_robot(2, 3, ("helical",))
    points = [np.full(3, 3.0), np.full(3, -3.0)]
    np.testing.assert_allclose(ref.between(helical, *points, 1.0, wrap=True, **FREE)(1.0)[0], points[1], atol=1e-12)


def test_a_path_is_a_value() -> None:
    """It pickles, starts later, and goes slower."""
    robot = dq.robots.humanoid()
    points = way_points(robot, count=3)
    path = ref.cubic(robot, points, [0.0, 1.0, 2.0], **FREE)
    again = pickle.loads(pickle.dumps(path))
    for a, b in zip(again(0.7), path(0.7), strict=True):
        np.testing.assert_array_equal(a, b)
    later = path.starting_at(5.0)
    assert (later.begin, later.end, later.duration) == (5.0, 7.0, 2.0)
    for a, b in zip(later(5.7), path(0.7), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    slow, fast = path.stretched(2.0).motion(1.4), path.motion(0.7)
    np.testing.assert_allclose(slow.components, fast.components, atol=1e-12)
    np.testing.assert_allclose(4.0 * slow.acceleration, fast.acceleration, atol=1e-11)
    assert repr(path) == "TimedPath(robot 'humanoid', 0 s to 2 s, 2 intervals)"


@pytest.mark.long
def test_obstacles_and_targets_may_be_paths() -> None:
    """A zone around a point that moves along a path knows how fast it comes."""
    from dqdyn import control as ct

    arm, path = dq.robots.arm7(), ref.between("point", [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], 2.0)
    zones = (ct.KeepOut("tool", given, 0.1) for given in (path, lambda t: path(t)[0]))
    q, v = np.full(7, 0.3), np.full(7, 0.1)
    rows = [ct.linearise(arm, zone)(0.8, q, v) for zone in zones]
    for name in ("value", "jacobian", "drift"):
        np.testing.assert_allclose(getattr(rows[0], name), getattr(rows[1], name), atol=1e-11)
