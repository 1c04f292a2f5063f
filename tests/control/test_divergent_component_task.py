"""The task on the divergent component of motion: rows against differences, decay e^{−kt}, the zero-moment point."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from control_tools import accelerate, rows_of
from trees import TREES, assert_close, moving_state, random_robot, random_state, rate, run, tree

from dqdyn import control as ct
from dqdyn.algebra.scalar import cos, sin
from dqdyn.contacts.support_polygon import convex_hull
from dqdyn.geometry.polygon import nearest_in_polygon
from dqdyn.robot import Robot

SQUARE = [[-0.1, -0.1], [0.1, -0.1], [0.1, 0.1], [-0.1, 0.1]]


@cache
def floating() -> Robot:
    """A few joints on a free base, so that controllers of it compile quickly."""
    return random_robot(11, 3, ("revolute", "universal", "prismatic"), base="free")


def wandering(t: object) -> list[object]:
    return [0.3 * sin(t), 0.1 * t + 0.2 * cos(2.0 * t)]


def component(robot: Robot, q: np.ndarray, v: np.ndarray, omega: float) -> np.ndarray:
    """ξ = c + ċ/ω₀."""
    xi = run(robot, "center_of_mass", q) + run(robot, "center_of_mass_velocity", q, v) / omega
    return np.array(xi[:2])


@pytest.mark.parametrize("name", TREES)
def test_rows_against_differences(name: str) -> None:
    """ξ − ξ_d and d/dt (ξ − ξ_d) = J a + drift along a random motion with a moving target."""
    robot, omega, t = tree(name), 3.2, 0.4
    q, v, a = random_state(robot, np.random.default_rng(5))
    at = rows_of(robot, ct.DivergentComponentTask(wandering, omega=omega), t, q, v)
    target = lambda s: np.array([float(c) for c in wandering(s)])
    error = lambda s, state: component(robot, *state, omega) - target(s)
    assert_close(at["value"], error(t, (q, v)))
    motion = moving_state(robot, q, v, a)
    assert_close(at["jacobian"] @ a + at["drift"], rate(lambda s: error(t + s, motion(s)), 1e-3), 1e-9)


@pytest.mark.long
def test_compiled_rows() -> None:
    """The same as on plain numbers, with and without a support; drift = J̇ v + ζ̇ without."""
    robot = floating()
    q, v, _ = random_state(robot, np.random.default_rng(3))
    for support in (None, SQUARE):
        task = ct.DivergentComponentTask(wandering, height=0.8, support=support)
        found, expected = ct.linearise(robot, task)(0.4, q, v), rows_of(robot, task, 0.4, q, v)
        for name in ("value", "jacobian", "residual", "drift"):
            assert_close(getattr(found, name), expected[name])
        if support is None:
            assert_close(found.drift, found.jacobian_derivative @ v + found.residual_derivative)


@pytest.mark.parametrize("gain", [4.0, (2.0, 5.0)])
def test_error_decays_as_the_gain_says(gain: float | tuple[float, ...]) -> None:
    """ξ − ξ_d = e^{−kt} of its start while the target moves, and the center of mass follows ξ by ċ = ω₀ (ξ − c)."""
    robot, omega, duration = floating(), np.sqrt(9.81 / 0.8), 1.0
    task = ct.DivergentComponentTask(wandering, height=0.8, gain=gain)
    controller = ct.acceleration_controller(robot, [task], damping=1e-6)
    q, v, _ = random_state(robot, np.random.default_rng(2))
    before = component(robot, q, v, omega) - [float(c) for c in wandering(0.0)]
    assert np.abs(before).max() > 0.1
    q, v = accelerate(robot, controller, q, v, duration, 1e-3)
    after = component(robot, q, v, omega) - [float(c) for c in wandering(duration)]
    np.testing.assert_allclose(after, before * np.exp(-np.array(gain) * duration), atol=2e-3 * np.abs(before).max())


@pytest.mark.long
def test_center_of_mass_comes_to_rest_at_a_constant_target() -> None:
    robot, target = floating(), np.array([0.2, -0.1])
    controller = ct.acceleration_controller(robot, [ct.DivergentComponentTask(target, omega=4.0)], damping=1e-6)
    q, v, _ = random_state(robot, np.random.default_rng(2))
    q, v = accelerate(robot, controller, q, 0.3 * v, 4.0, 2e-3)
    np.testing.assert_allclose(robot.center_of_mass(q)[:2], target, atol=1e-4)
    np.testing.assert_allclose(robot.center_of_mass_velocity(q, v)[:2], 0.0, atol=1e-3)


@pytest.mark.parametrize("support", [None, SQUARE])
def test_zero_moment_point_is_what_the_ground_would_push_at(support: list[list[float]] | None) -> None:
    """c̈ = ω₀² (c − z) of the linear pendulum gives the commanded acceleration; with a support z stays in it."""
    robot, omega = floating(), 3.0
    task = ct.DivergentComponentTask(wandering, omega=omega, support=support)
    controller = ct.acceleration_controller(robot, [task], damping=1e-6)
    outside = 0
    for seed in range(6):
        q, v, _ = random_state(robot, np.random.default_rng(seed))
        t, v = 0.3 * seed, 0.2 * v
        z = task.zero_moment_point(robot, t, q, v)
        a = controller(t, q, v)
        jacobian, turning = robot.center_of_mass_jacobian(q), robot.center_of_mass_jacobian_derivative(q, v)
        acceleration = (jacobian @ a + turning @ v)[:2]
        assert_close(acceleration, omega**2 * (robot.center_of_mass(q)[:2] - z), 1e-7)
        if support is not None:
            assert np.abs(z).max() <= 0.1 + 1e-12
        outside += np.abs(z).max() > 0.1 - 1e-9
    assert outside  # the support cuts something off


def test_height_gives_the_frequency_of_the_pendulum() -> None:
    robot = floating()
    low = ct.DivergentComponentTask([0.0, 0.0], height=0.5)
    assert low.natural_frequency(robot.model) == pytest.approx(np.sqrt(9.81 / 0.5))
    on_moon = robot.with_gravity([0.0, 0.0, -1.62])
    assert low.natural_frequency(on_moon.model) == pytest.approx(np.sqrt(1.62 / 0.5))


def inside_by(corners: np.ndarray, p: np.ndarray) -> float:
    """The least of edge × arm over the edges: above 0 inside."""
    edges, arms = np.roll(corners, -1, axis=0) - corners, p - corners
    return float((edges[:, 0] * arms[:, 1] - edges[:, 1] * arms[:, 0]).min())


def test_limited_point_is_that_of_the_polygon_next_to_it() -> None:
    """Against a dense search over the hull of random points."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        points = rng.normal(size=(8, 2))
        corners = convex_hull(points)
        weights = rng.dirichlet(np.full(8, 0.3), size=4000)
        p = 2.0 * rng.normal(size=2)
        found = np.array(nearest_in_polygon(corners.tolist(), p.tolist()))
        assert inside_by(corners, found) > -1e-12
        best = np.linalg.norm(weights @ points - p, axis=1).min()
        assert np.linalg.norm(found - p) <= best + 1e-12
        if inside_by(corners, p) > 0.0:
            np.testing.assert_array_equal(found, p)
        for point in points:
            assert inside_by(corners, point) > -1e-12
