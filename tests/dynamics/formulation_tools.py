"""States, wrenches and derivatives for tests that hold one formulation of dynamics to another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pinocchio
from pinocchio_tools import comparable, pinocchio_model
from trees import ONE_AXIS, TREES, assert_close, random_description, random_state, tree

from dqdyn import robots
from dqdyn.algebra.counter import Tally, counters
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.quaternion import pure
from dqdyn.algebra.scalar import stack, unstack
from dqdyn.dynamics.fast import composite
from dqdyn.dynamics.formulations import newton_euler
from dqdyn.kinematics import configuration
from dqdyn.kinematics.mass import center_of_mass
from dqdyn.model.layouts import Layout
from dqdyn.model.model import Model
from dqdyn.robot import Robot

BUILT_IN = ("two_link", "arm7", "holonomic_manipulator", "humanoid")
ROBOTS = (*TREES, *BUILT_IN)
"""Names for :func:`robot`."""
SMOOTH_KINDS = (*ONE_AXIS, "cylindrical", "universal", "planar")
"""Kinds with v = q̇."""


@cache
def robot(name: str) -> Robot:
    """A random tree or a built-in robot."""
    if name in TREES:
        return tree(name)
    built: Robot = getattr(robots, name)()
    return built.with_base("free") if name == "humanoid" else built


def model_state(name: str, seed: int = 1, batch: tuple[int, ...] = ()) -> tuple[Model, list[Any], list[Any], list[Any]]:
    """The model of a robot and q, v, a as lists of scalars."""
    one = robot(name)
    return one.model, *state(one, seed, batch)


def state(one: Robot, seed: int, batch: tuple[int, ...] = ()) -> tuple[list[Any], list[Any], list[Any]]:
    """q, v, a as lists of floats or arrays."""
    q, v, a = random_state(one, np.random.default_rng(seed), batch)
    return unstack(q, one.nq), unstack(v, one.nv), unstack(a, one.nv)


def random_wrenches(model: Model, seed: int, batch: tuple[int, ...] = ()) -> dict[int, DQ]:
    """External wrenches on every second body."""
    rng = np.random.default_rng(seed)
    parts = lambda: unstack(rng.normal(size=(*batch, 3)), 3)
    return {i: DQ.of(pure(*parts()), pure(*parts())) for i in range(0, len(model.bodies), 2)}


def configuration_rate(model: Model, q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
    """q̇ for the velocity v."""
    rates: list[Any] = configuration.configuration_rate(model, q, v)
    return rates


def rate_along(model: Model, function: Callable[[Any], Sequence[Any]], q: Sequence[Any], v: Sequence[Any]) -> list[Any]:
    """d/dt function(q) along v, by jets."""
    return derivative(function, q, configuration_rate(model, q, v))


def tangent_gradient(model: Model, function: Callable[[Any], Any], q: Sequence[Any]) -> list[Any]:
    """∂f/∂q in the tangent space: one derivative per velocity."""
    units = np.eye(model.nv).tolist()
    return [rate_along(model, lambda x: [function(x)], q, e)[0] for e in units]


def mass_matrix_rate(model: Model, q: Sequence[Any], v: Sequence[Any]) -> np.ndarray:
    """Ṁ along v, of the composite-body form."""
    flat = rate_along(model, lambda x: [e for row in composite.mass_matrix(model, x) for e in row], q, v)
    return np.array(flat, dtype=float).reshape(model.nv, model.nv)


def height_energy(model: Model, q: Sequence[Any]) -> Any:
    """−m⟨g, c⟩ of the whole robot, from the kinematics of its center of mass."""
    c = center_of_mass(model, q).vector
    return sum(ck * (-model.mass * gk) for ck, gk in zip(c, model.gravity, strict=True))


def bias(model: Model, q: Sequence[Any], v: Sequence[Any]) -> np.ndarray:
    """C v + g by Newton-Euler."""
    return np.array(newton_euler.inverse_dynamics(model, q, v, [0.0] * model.nv))


def array(rows: Any) -> np.ndarray:
    """A list, or a list of rows, as an array of floats."""
    return np.array(rows, dtype=float)


# --- what every formulation must do -----------------------------------------------------------------------------------


def check_inverse_dynamics(formulation: Any, name: str, tolerance: float = 1e-11) -> None:
    """Equal to Newton-Euler, with and without external wrenches, at two states."""
    for seed in (1, 2):
        model, q, v, a = model_state(name, seed)
        for wrenches in (None, random_wrenches(model, seed)):
            expected = newton_euler.inverse_dynamics(model, q, v, a, wrenches)
            assert_close(formulation.inverse_dynamics(model, q, v, a, wrenches), expected, tolerance)


def check_batch(formulation: Any) -> None:
    """A batch of shape (3, 2), also of wrenches, gives what its states give one by one."""
    model, q, v, a = model_state("every kind, mimic", 3, (3, 2))
    wrenches = random_wrenches(model, 4, (3, 2))
    found = stack(formulation.inverse_dynamics(model, q, v, a, wrenches), batch=(3, 2))
    assert found.shape == (3, 2, model.nv)
    for at in np.ndindex(3, 2):
        pick = lambda x, at=at: [float(e[at]) for e in x]
        one = {i: DQ.of(pure(*pick(w.primary.vector)), pure(*pick(w.dual.vector))) for i, w in wrenches.items()}
        assert_close(found[at], formulation.inverse_dynamics(model, pick(q), pick(v), pick(a), one), 1e-12)


def check_no_moving_joint(formulation: Any) -> None:
    """A robot of one fixed link has no forces."""
    model = Robot.from_description(random_description(1, 0), strict=True).model
    assert model.nv == 0
    assert formulation.inverse_dynamics(model, [], [], []) == []


def count(formulation: Any, model: Model) -> Tally:
    """Operations of inverse dynamics as written, nothing simplified."""
    tally = Tally()
    q, v, a = (counters(n, tally) for n in (model.nq, model.nv, model.nv))
    formulation.inverse_dynamics(model, q, v, a)
    return tally


# --- Pinocchio --------------------------------------------------------------------------------------------------------


@cache
def pinocchio_pair(kinds: tuple[str, ...], seed: int, base: str) -> tuple[Robot, pinocchio.Model, Layout]:
    """A random tree here and in Pinocchio, with the converter between them."""
    ours = Robot.from_description(comparable(random_description(seed, 8, kinds, base=base)), strict=True)
    theirs = pinocchio_model(ours)
    return ours, theirs, ours.to_pinocchio(theirs)


PINOCCHIO_CASES = [
    ((*ONE_AXIS, "universal", "spherical", "planar", "free"), 1, "fixed"),
    ((*ONE_AXIS, "spherical"), 2, "free"),
]


def check_mass_matrix(formulation: Any, kinds: tuple[str, ...], seed: int, base: str) -> None:
    """M is Pinocchio's."""
    ours, theirs, layout = pinocchio_pair(kinds, seed, base)
    q, _, _ = state(ours, seed)
    data = theirs.createData()
    upper = np.triu(pinocchio.crba(theirs, data, layout.q(q)))
    expected = layout.mass_matrix_from(q, upper + np.triu(upper, 1).T)
    found = array(formulation.mass_matrix(ours.model, q))
    assert_close(found, expected, 1e-11)
    assert (found == found.T).all()


def check_coriolis_matrix(formulation: Any, name: str) -> None:
    """Ṁ − 2C is skew-symmetric and C v + g is the bias."""
    model, q, v, _ = model_state(name, 5)
    c = array(formulation.coriolis_matrix(model, q, v))
    skew = mass_matrix_rate(model, q, v) - 2.0 * c
    scale = float(np.abs(c).max())
    assert scale > 1e-3 or name == "one joint"
    assert_close(skew + skew.T, np.zeros_like(c), 1e-12, max(scale, 1.0))
    assert_close(c @ array(v) + bias(model, q, [0.0] * model.nv), bias(model, q, v), 1e-11)
