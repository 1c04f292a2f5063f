"""The divergent component over footsteps: what the pendulum does, continuous, and with the rates that it says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from seeds import generator

import dqdyn as dq
from dqdyn import footsteps as fs
from dqdyn.arrays import Array

UP = np.array([0.0, 0.0, 1.0])


def random_reference(draw: np.random.Generator, start: float = 0.0) -> fs.DivergentReference:
    """Phases at rest and on the move, points at any height, z continuous or not."""
    phases = []
    for _ in range(int(draw.integers(1, 8))):
        first = draw.normal(size=3)
        last = first if draw.random() < 0.5 else draw.normal(size=3)
        phases.append(fs.Phase(float(draw.uniform(0.05, 1.0)), first, last))
    return fs.DivergentReference(phases, float(draw.uniform(2.0, 5.0)), start=start)


def zero_moment_point(reference: fs.DivergentReference, i: int, t: float) -> Array:
    phase = reference.phases[i]
    share = (t - reference.times[i]) / phase.duration
    return (1.0 - share) * phase.first + share * phase.last


@pytest.mark.parametrize("case", range(20))
def test_it_is_what_the_pendulum_does(case: int) -> None:
    """c̈ = ω² (c − z) − g with the zero-moment point of the phases gives ξ = c + ċ/ω, at any height."""
    draw = generator(f"test_it_is_what_the_pendulum_does {case}")
    reference = random_reference(draw, start=float(draw.normal()))
    omega, c = reference.omega, draw.normal(size=3)
    first = c.copy()
    for i, phase in enumerate(reference.phases):
        begin, end = reference.times[i], reference.times[i + 1]
        assert end - begin == pytest.approx(phase.duration, abs=1e-12)
        xi = reference.ends[i]  # each phase anew: forward in time an error grows as e^{ωt}

        def rate(t: float, x: Array, i: int = i) -> Array:
            force = omega**2 * (x[:3] - zero_moment_point(reference, i, t)) - 9.81 * UP
            return np.concatenate([x[3:], force])

        run = solve_ivp(rate, (begin, end), [*c, *(omega * (xi - c))], method="DOP853", rtol=1e-13, atol=1e-13)
        c, velocity = run.y[:3, -1], run.y[3:, -1]
        np.testing.assert_allclose(c + velocity / omega, reference.ends[i + 1], atol=1e-9 * max(1.0, abs(c).max()))
        found, speed = reference.center(end, first)
        np.testing.assert_allclose(found, c, atol=1e-9)
        if i + 1 < len(reference.phases):
            np.testing.assert_allclose(speed, omega * (reference.ends[i + 1] - c), atol=1e-8)


@pytest.mark.parametrize("case", range(20))
def test_it_is_continuous_and_its_rate_is_its_derivative(case: int) -> None:
    draw = generator(f"test_it_is_continuous_and_its_rate_is_its_derivative {case}")
    reference, step = random_reference(draw), 1e-5
    for i, phase in enumerate(reference.phases):
        begin, end = reference.times[i], reference.times[i + 1]
        np.testing.assert_allclose(reference.at(end).component, reference.ends[i + 1], atol=1e-12)
        np.testing.assert_allclose(reference.at(begin + 1e-13).component, reference.ends[i], atol=1e-10)
        t = float(draw.uniform(begin + 2.0 * step, end - 2.0 * step))
        now = reference.at(t)
        change = (reference.at(t + step).component - reference.at(t - step).component) / (2.0 * step)
        np.testing.assert_allclose(now.rate, change, atol=1e-8)
        z = zero_moment_point(reference, i, t)
        np.testing.assert_allclose(now.zero_moment_point, z, atol=1e-12)
        np.testing.assert_allclose(now.rate, reference.omega * (now.component - z - reference.height * UP), atol=1e-10)
        assert phase.duration > 0.0


def test_a_constant_point_gives_the_known_formula() -> None:
    omega, T, p = 3.4, 0.7, np.array([0.1, -0.2, 0.3])
    end = p + [0.05, 0.02, 0.9]
    reference = fs.DivergentReference([fs.Phase(T, p, p)], omega, end=end)
    up = 9.81 / omega**2 * UP
    for t in (0.0, 0.3, 0.7):
        np.testing.assert_allclose(
            reference.at(t).component, p + up + np.exp(omega * (t - T)) * (end - p - up), atol=1e-13
        )


def test_it_rests_before_and_after() -> None:
    phases = [fs.Phase(0.5, [0.0, 0.0, 0.0], [0.0, 0.1, 0.0]), fs.Phase(0.5, [0.0, 0.1, 0.0], [0.2, 0.0, 0.1])]
    reference = fs.DivergentReference(phases, 3.0, start=2.0)
    assert reference.duration == pytest.approx(1.0)
    before, after = reference.at(1.0), reference.at(9.0)
    np.testing.assert_array_equal(before.component, reference.ends[0])
    np.testing.assert_allclose(after.component, [0.2, 0.0, 0.1 + 9.81 / 9.0], atol=1e-14)
    for motion in (before, after):
        np.testing.assert_array_equal(motion.rate, np.zeros(3))


@pytest.mark.parametrize("case", range(10))
def test_the_first_phase_begins_where_the_robot_is(case: int) -> None:
    draw = generator(f"test_the_first_phase_begins_where_the_robot_is {case}")
    rest, xi = random_reference(draw), draw.normal(size=3)
    T = float(draw.uniform(0.3, 2.0))
    first = fs.first_phase(xi, rest.phases[0].first, rest.ends[0], T, rest.omega)
    whole = fs.DivergentReference([first, *rest.phases], rest.omega)
    np.testing.assert_allclose(whole.at(0.0).component, xi, atol=1e-10)
    np.testing.assert_allclose(whole.ends[1], rest.ends[0], atol=1e-12)
    np.testing.assert_array_equal(first.last, rest.phases[0].first)


def test_heights_follow_the_footsteps() -> None:
    """Two stairs up, slowly: the center of mass ends as high over the last foot as it began over the first."""
    points = [np.array([0.3 * k, 0.0, 0.1 * k]) for k in range(3)]
    phases = []
    for a, b in pairwise(points):
        phases += [fs.Phase(1.5, a, a), fs.Phase(1.0, a, b)]
    phases.append(fs.Phase(3.0, points[-1], points[-1]))
    reference = fs.DivergentReference(phases, 3.5)
    first = reference.ends[0]
    c, velocity = reference.center(reference.duration, first)
    assert c[2] == pytest.approx(0.2 + reference.height, abs=1e-4)
    np.testing.assert_allclose(velocity, np.zeros(3), atol=1e-3)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: fs.Phase(0.0, [0, 0, 0], [0, 0, 0]), "above 0"),
        (lambda: fs.Phase(None, [0, 0, 0], [0, 0, 0]), "number"),
        (lambda: fs.Phase(1.0, [0, 0], [0, 0, 0]), "(3,)"),
        (lambda: fs.Phase(1.0, [0, 0, 0], [0, np.nan, 0]), "finite"),
        (lambda: fs.Phase(1.0, "here", [0, 0, 0]), "real numbers"),
        (lambda: fs.DivergentReference([], 3.0), "at least one"),
        (lambda: fs.DivergentReference(None, 3.0), "at least one"),
        (lambda: fs.DivergentReference([1.0], 3.0), "Phase"),
        (lambda: fs.DivergentReference([fs.Phase(1.0, [0, 0, 0], [0, 0, 0])], 0.0), "omega"),
        (lambda: fs.DivergentReference([fs.Phase(1.0, [0, 0, 0], [0, 0, 0])], 3.0, end=[1.0]), "(3,)"),
        (lambda: fs.DivergentReference([fs.Phase(1.0, [0, 0, 0], [0, 0, 0])], 3.0, gravity=-1.0), "gravity"),
        (lambda: fs.first_phase([0, 0, 0], [0, 0, 0], [0, 0, 0], -1.0, 3.0), "duration"),
    ],
)
def test_bad_input_is_named(make: object, says: str) -> None:
    with pytest.raises(dq.Error, match=says.replace("(", r"\(").replace(")", r"\)")):
        make()  # type: ignore[operator]
