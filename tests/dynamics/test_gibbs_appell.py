"""Gibbs-Appell equations: the energy of acceleration and its gradient."""

from __future__ import annotations

import numpy as np
import pytest
from formulation_tools import (
    ROBOTS,
    array,
    bias,
    check_batch,
    check_inverse_dynamics,
    check_no_moving_joint,
    model_state,
)
from trees import TREES, assert_close

from dqdyn.algebra.jet import derivative, gradient
from dqdyn.algebra.parts import vec6
from dqdyn.dynamics.fast import composite
from dqdyn.dynamics.formulations import gauss, gibbs_appell
from dqdyn.dynamics.formulations.mass_centers import centers


@pytest.mark.equation("Silva", "section 4.4")
@pytest.mark.equation("Silva", "50")
@pytest.mark.equation("Quiroz", "5.22")
@pytest.mark.parametrize("name", ROBOTS)
def test_inverse_dynamics(name: str) -> None:
    check_inverse_dynamics(gibbs_appell, name)


@pytest.mark.equation("Silva", "51")
@pytest.mark.equation("Quiroz", "5.24")
@pytest.mark.parametrize("name", TREES)
def test_function_is_the_energy_of_acceleration_of_a_cloud_of_masses(name: str) -> None:
    """½ Σ m |p̈|² over points that make up each body; a term without a drops out of differences."""
    model, q, v, a = model_state(name)
    other = np.random.default_rng(1).normal(size=model.nv).tolist()
    expected = 0.0
    for center in centers(model, q, v):
        tensor = np.array(center.inertia.tensor)
        values, axes = np.linalg.eigh(0.5 * np.trace(tensor) * np.eye(3) - tensor)
        # Six points with the mass, center and second moments of the body.
        arms = [
            s * np.sqrt(3.0 * w / center.inertia.mass) * axes[:, i] for i, w in enumerate(values) for s in (-1.0, 1.0)
        ]
        omega, velocity = np.split(vec6(center.twist), 2)
        for arm in arms:
            squares = []
            for acceleration in (a, other):
                alpha, rate = np.split(vec6(center.rate(v, acceleration)), 2)
                point = rate + np.cross(omega, velocity) + np.cross(alpha, arm) + np.cross(omega, np.cross(omega, arm))
                squares.append(point @ point)
            expected += 0.5 * center.inertia.mass / 6.0 * (squares[0] - squares[1])
    s = lambda x: gibbs_appell.gibbs_appell_function(model, q, v, x)
    assert_close(s(a) - s(other), expected, 1e-11, abs(s(a)))


@pytest.mark.equation("Silva", "52")
@pytest.mark.equation("Quiroz", "5.26")
@pytest.mark.parametrize("name", TREES)
def test_gradient_is_m_a_plus_c_v(name: str) -> None:
    model, q, v, a = model_state(name)
    found = gradient(lambda x: gibbs_appell.gibbs_appell_function(model, q, v, x), a)
    rest = bias(model, q, v) - bias(model, q, [0.0] * model.nv)
    assert_close(found, array(composite.mass_matrix(model, q)) @ np.array(a) + rest, 1e-11)


@pytest.mark.equation("Silva", "53")
@pytest.mark.equation("Quiroz", "5.27")
def test_partial_derivatives_of_twists_are_jacobians() -> None:
    model, q, v, _ = model_state("every kind, mimic")
    found = centers(model, q, v)
    twists = lambda u: [x for c in centers(model, q, u) for x in c.twist.primary.vector + c.twist.dual.vector]
    for k, unit in enumerate(np.eye(model.nv).tolist()):
        expected = [vec6(c.columns[k]) if k in c.columns else np.zeros(6) for c in found]
        assert_close(derivative(twists, v, unit), np.concatenate(expected), 1e-12)


@pytest.mark.equation("Silva", "58")
@pytest.mark.equation("Quiroz", "5.38")
@pytest.mark.parametrize("name", TREES)
def test_gradients_of_gauss_and_of_gibbs_and_appell(name: str) -> None:
    """They differ by the active forces: ∂G/∂a = ∂S/∂a − τ − τ_g."""
    model, q, v, a = model_state(name)
    tau = np.random.default_rng(2).normal(size=model.nv)
    s = array(gradient(lambda x: gibbs_appell.gibbs_appell_function(model, q, v, x), a))
    g = gradient(lambda x: gauss.gauss_function(model, q, v, x, tau.tolist()), a)
    assert_close(g, s - tau + bias(model, q, [0.0] * model.nv), 1e-11)


def test_batch() -> None:
    check_batch(gibbs_appell)


def test_no_moving_joint() -> None:
    check_no_moving_joint(gibbs_appell)
