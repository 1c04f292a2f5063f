"""Orders of the integrators on SE(3), measured; exactness of what each promises to keep."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from simulated import distance, floating_chain, momentum, orders, rigid_body, space_chain, start_of
from trees import TREES, tree

import dqdyn as dq
from dqdyn.model.joints.free import Free
from dqdyn.robot import Robot
from dqdyn.simulate import SimulationWarning
from dqdyn.simulate.integrators import INTEGRATORS
from dqdyn.simulate.integrators.dormand_prince import DENSE, ERROR, NODES, SLOPES, DormandPrince
from dqdyn.simulate.system import System

WRENCH = {"body": [0.3, -0.8, 0.5, 0.02, 0.05, -0.04]}


def run(robot: Robot, integrator: str, steps: int, duration: float, wrenches: dict[str, list[float]]) -> np.ndarray:
    q0, v0 = start_of(robot, speed=2.0)
    options = {"q0": q0, "v0": v0, "wrenches": wrenches, "every": steps}
    return dq.simulate(robot, None, duration, duration / steps, integrator=integrator, **options).q[-1]


@pytest.mark.parametrize("name", INTEGRATORS)
def test_order_on_a_body_that_turns_and_moves(name: str) -> None:
    robot, order = rigid_body(), INTEGRATORS[name].order
    exact = run(robot, "rkmk4", 8000, 1.0, WRENCH)
    steps = {1: (400, 800, 1600), 2: (100, 200, 400), 4: (25, 50, 100)}[order]
    errors = [distance(robot, run(robot, name, n, 1.0, WRENCH), exact) for n in steps]
    assert np.abs(orders(errors) - order).max() < 0.2


@pytest.mark.parametrize("name", INTEGRATORS)
def test_order_on_a_floating_chain(name: str) -> None:
    robot, order = floating_chain(), INTEGRATORS[name].order
    exact = run(robot, "rkmk4", 4000, 0.5, {})
    steps = {1: (400, 800, 1600), 2: (100, 200, 400), 4: (25, 50, 100)}[order]
    errors = [distance(robot, run(robot, name, n, 0.5, {}), exact) for n in steps]
    assert np.abs(orders(errors) - order).max() < 0.2


def test_order_of_the_adaptive_method_and_of_its_dense_output() -> None:
    robot = rigid_body()
    system = System(robot, ("body",))
    method, u = DormandPrince(system), np.concatenate([np.zeros(6), WRENCH["body"]])
    exact_end, exact_middle = (run(robot, "rkmk4", n, t, WRENCH) for n, t in ((8000, 1.0), (7600, 0.95)))
    at_end, at_middle = [], []
    for n in (10, 20, 40):
        q, v = start_of(robot, speed=2.0)
        h, slope = 1.0 / n, method.first_slope(0.0, q, v, u)
        middle = None
        for k in range(n):
            span = method.span(k * h, h, q, v, u, slope)
            if (k + 1) * h > 0.95 and middle is None:
                middle = span.at(np.array([0.95]))[0][0]
            q, v, slope = method.end(span)
        at_end.append(distance(robot, q, exact_end))
        assert middle is not None
        at_middle.append(distance(robot, middle, exact_middle))
    assert np.abs(orders(at_end) - 5.0).max() < 0.2
    assert orders(at_middle).min() > 3.8


def test_tableau_is_that_of_dormand_and_prince() -> None:
    weights = np.append(SLOPES[6], 0.0)
    full = np.hstack([SLOPES, np.zeros((7, 1))])
    np.testing.assert_allclose(full.sum(axis=1), NODES, atol=1e-14)
    for power in range(1, 6):  # quadrature of order 5
        assert weights @ NODES ** (power - 1) == pytest.approx(1.0 / power, abs=1e-14)
    assert weights @ full @ NODES == pytest.approx(1 / 6, abs=1e-14)
    assert weights @ full @ full @ NODES == pytest.approx(1 / 24, abs=1e-14)
    assert weights @ full @ full @ full @ NODES == pytest.approx(1 / 120, abs=1e-14)
    assert abs(ERROR.sum()) < 1e-15
    np.testing.assert_allclose(DENSE.sum(axis=1), weights, atol=1e-13)  # the interpolant meets the end of the step


def test_inverse_differential_of_the_exponential() -> None:
    robot = rigid_body()
    q, _ = start_of(robot)
    rng = np.random.default_rng(3)
    w, v = 0.3 * rng.normal(size=(2, 6))
    h = 1e-5

    def error(order: int) -> float:
        """How far the motion of exp(w + t ẇ) is from the velocity v."""
        rate = np.array(Free().exponential_rate(list(w), list(v), order))
        moved = [robot.integrate(q, w + s * h * rate, 1.0) for s in (-1.0, 1.0)]
        return float(np.abs(robot.difference(*moved) / (2 * h) - v).max())

    found = [error(order) for order in (7, 5, 4, 2, 1)]
    assert found[0] < 1e-6
    assert all(5.0 * a < b for a, b in pairwise(found)), found


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", [t for t in TREES if t != "one joint"])
def test_every_joint_kind_moves_as_the_adaptive_method_says(name: str, integrator: str) -> None:
    robot = tree(name).without_friction()
    q0, v0 = start_of(robot, speed=0.3)
    order, steps = INTEGRATORS[integrator].order, 64
    exact = dq.simulate(robot, None, 0.05, 0.05, q0=q0, v0=v0, integrator="adaptive", rtol=1e-11, atol=1e-12).q[-1]
    errors = []
    for n in (steps, 2 * steps):
        found = dq.simulate(robot, None, 0.05, 0.05 / n, q0=q0, v0=v0, integrator=integrator, every=n).q[-1]
        errors.append(distance(robot, found, exact))
    assert errors[1] < 1e-9 or orders(errors)[0] > order - 0.2


@pytest.mark.parametrize("integrator", ["variational", "rkmk4"])
def test_momentum_is_kept(integrator: str) -> None:
    robot = space_chain(3)
    q0, v0 = start_of(robot)
    trajectory = dq.simulate(robot, None, 2.0, 1e-3, q0=q0, v0=v0, integrator=integrator, every=100)
    found = momentum(robot, trajectory.q, trajectory.v)
    assert np.abs(found[0]).min() > 1e-3
    assert np.abs(found - found[0]).max() < 2e-10
    velocity = np.diff(robot.center_of_mass(trajectory.q), axis=0) / 0.1
    assert np.abs(velocity - found[0, :3] / robot.model.mass).max() < 1e-10


def test_semi_implicit_euler_does_not_keep_momentum() -> None:
    """So the test above can fail."""
    robot = space_chain(3)
    q0, v0 = start_of(robot)
    trajectory = dq.simulate(robot, None, 2.0, 1e-3, q0=q0, v0=v0, integrator="semi-implicit-euler", every=100)
    assert np.abs(np.diff(momentum(robot, trajectory.q, trajectory.v), axis=0)).max() > 1e-6


def test_too_few_iterations_are_told() -> None:
    from dqdyn.simulate.integrators import Variational

    with pytest.warns(SimulationWarning, match="Newton's method still moved by .* after 1 iterations"):
        result = dq.simulate(dq.robots.two_link(), None, 1.0, 0.01, q0=[0.3, 0.2], integrator=Variational(1))
    assert result.status.startswith("doubtful")
    with pytest.raises(dq.Error, match="whole number"):
        Variational(0)
