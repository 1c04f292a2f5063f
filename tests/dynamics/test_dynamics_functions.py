"""Gauss's and Gibbs's functions and gravity fields through a robot: laws, batches, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from trees import assert_close, random_robot, random_state, run

from dqdyn.dynamics.formulations import lagrange
from dqdyn.dynamics.gravity import fields as gravity
from dqdyn.dynamics.methods import INVERSE
from dqdyn.errors import Error, StateError

ROBOT = random_robot(43, 4, ("revolute", "spherical", "prismatic"), base="free")
"""Joints with damping, friction and armature."""
Q, V, A = random_state(ROBOT, np.random.default_rng(1), (3,))
TAU = np.random.default_rng(2).normal(size=(3, ROBOT.nv))
FIELD = gravity.Central(40.0, np.array([0.5, -3.0, 4.0]))


def slope(function: Any, a: np.ndarray) -> np.ndarray:
    """The gradient (..., nv) of a quadratic function, for which central differences are exact."""
    steps = np.eye(ROBOT.nv)
    return np.stack([(function(a + e) - function(a - e)) / 2.0 for e in steps], axis=-1)


def test_gauss_function_is_least_for_the_motion() -> None:
    found = slope(lambda a: ROBOT.gauss_function(Q, V, a, TAU), A)
    assert_close(found, ROBOT.inverse_dynamics(Q, V, A) - TAU, 1e-10)
    motion = ROBOT.forward_dynamics(Q, V, TAU)
    least = ROBOT.gauss_function(Q, V, motion, TAU)
    step = 0.1 * A
    grown = 0.5 * np.einsum("bi,bij,bj->b", step, ROBOT.mass_matrix(Q), step)
    assert_close(ROBOT.gauss_function(Q, V, motion + step, TAU) - least, grown, 1e-9, float(np.abs(least).max()))


def test_gradient_of_the_energy_of_acceleration() -> None:
    found = slope(lambda a: ROBOT.gibbs_appell_function(Q, V, a), A)
    expected = ROBOT.mass_matrix(Q) @ A[..., None] + ROBOT.coriolis_matrix(Q, V) @ V[..., None]
    assert_close(found, expected[..., 0], 1e-10)


@pytest.mark.parametrize(("name", "given"), [("gauss_function", (Q, V, A, TAU)), ("gibbs_appell_function", (Q, V, A))])
def test_compiled_and_in_batches(name: str, given: tuple[np.ndarray, ...]) -> None:
    method = getattr(ROBOT, name)
    expected = run(ROBOT, name, *given)[..., 0]
    assert_close(method(*given), expected, 1e-11)
    one = method(*(x[1] for x in given))
    assert np.ndim(one) == 0
    assert_close(one, expected[1], 1e-11)
    with pytest.raises(StateError, match="has 14 components"):
        method(Q[..., :-1], *given[1:])
    with pytest.raises(StateError, match="finite"):
        method(Q, V * np.nan, *given[2:])


# --- gravity fields ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", INVERSE)
def test_every_method_in_a_field(method: str) -> None:
    weightless = ROBOT.with_gravity([0, 0, 0])
    pulled = weightless.inverse_dynamics(Q, V, A, ROBOT.gravity_wrenches(FIELD, Q), method)
    held = [lagrange.gravity_forces(ROBOT.model, q.tolist(), FIELD) for q in Q]
    assert_close(pulled, weightless.inverse_dynamics(Q, V, A) + np.array(held), 1e-10)


def test_the_uniform_field_is_the_robots_own_gravity() -> None:
    weightless = ROBOT.with_gravity([0, 0, 0])
    wrenches = ROBOT.gravity_wrenches(gravity.Uniform(ROBOT.gravity), Q)
    assert {w.shape for w in wrenches.values()} == {(3, 6)}
    assert_close(weightless.inverse_dynamics(Q, V, A, wrenches), ROBOT.inverse_dynamics(Q, V, A), 1e-10)
    assert_close(weightless.forward_dynamics(Q, V, TAU, wrenches), ROBOT.forward_dynamics(Q, V, TAU), 1e-9)
    one = ROBOT.gravity_wrenches(FIELD, Q[1])
    for name, wrench in ROBOT.gravity_wrenches(FIELD, Q).items():
        assert_close(one[name], wrench[1], 1e-13)


@pytest.mark.parametrize(
    ("attempt", "text"),
    [
        (lambda: gravity.Central("x"), "positive μ in m³/s²; found 'x'"),
        (lambda: gravity.Central(1.0, (0.0, 0.0)), r"center of a central field is three finite numbers in m.*\(0.0, 0"),
        (lambda: gravity.Central(1.0, (0.0, np.nan, 0.0)), "center of a central field is three finite"),
        (lambda: gravity.Central(1.0, "abc"), "center of a central field is three finite numbers.*'abc'"),
        (lambda: gravity.Uniform(9.81), "acceleration of a uniform field is three finite numbers in m/s²"),
        (lambda: gravity.Potential(3.0), r"a function φ\(\[x, y, z\]\) in m²/s²; found 3.0"),
        (lambda: ROBOT.gravity_wrenches([0, 0, -9.81], Q), "a gravity field has the methods energy and wrench"),
        (lambda: ROBOT.gravity_wrenches(gravity.Central, Q), "a gravity field has the methods energy and wrench"),
        (lambda: ROBOT.gravity_wrenches(FIELD, Q[..., :-1]), "has 14 components"),
    ],
)
def test_bad_fields(attempt: Any, text: str) -> None:
    with pytest.raises(Error, match=text):
        attempt()
