"""The Christoffel matrix by one recursion: against the mean of Silva's and Parsa's, and the laws of its map B."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from formulation_tools import mass_matrix_rate
from trees import MOVING, TREES, assert_close, random_robot, random_state, run, tree

from dqdyn import robots
from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.parts import vec6
from dqdyn.algebra.poses import pose
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.dynamics.fast.composite import Composite
from dqdyn.dynamics.fast.coriolis import coriolis_matrix
from dqdyn.dynamics.fast.regroup import regrouped
from dqdyn.dynamics.fast.velocity_map import VelocityMap
from dqdyn.dynamics.joint_forces import turning_coriolis
from dqdyn.dynamics.methods import depths, from_root_pays
from dqdyn.dynamics.wrenches import power
from dqdyn.model.canonical import canonical
from dqdyn.model.inertia import Inertia, as_tensor
from dqdyn.robot import Robot

FORMS: dict[str, Any] = {"as it is": lambda model: model, "canonical": canonical, "regrouped": regrouped}


def mean_of_two(ours: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """What the papers give, of the bodies alone."""
    c = 0.5 * (
        run(ours, "coriolis_matrix", q, v, method="gauss") + run(ours, "coriolis_matrix", q, v, method="lagrange")
    )
    for i, j, entry in turning_coriolis(ours.model, v):
        c[i, j] -= entry
    return c


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("from_root", [False, True])
def test_mean_of_two_formulations(name: str, form: str, from_root: bool) -> None:
    ours = tree(name)
    q, v, _ = random_state(ours, np.random.default_rng(3))
    found = np.array(coriolis_matrix(FORMS[form](ours.model), list(q), list(v), from_root), dtype=float)
    assert_close(found, mean_of_two(ours, q, v), 1e-11)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("from_root", [False, True])
def test_rate_of_the_mass_matrix(seed: int, from_root: bool) -> None:
    """Ṁ = C + Cᵀ on trees of all kinds, some with several roots, mimic joints and a free base."""
    ours = random_robot(40 + seed, 9, MOVING, mimics=seed % 3, base="free" if seed % 2 else "fixed")
    q, v, _ = random_state(ours, np.random.default_rng(seed))
    c = np.array(coriolis_matrix(regrouped(ours.model), list(q), list(v), from_root), dtype=float)
    assert_close(c + c.T, mass_matrix_rate(ours.model, list(q), list(v)), 1e-10)


def random_twists(rng: np.random.Generator, count: int) -> list[DQ]:
    return [DQ.of(pure(*rng.normal(size=3)), pure(*rng.normal(size=3))) for _ in range(count)]


def body(rng: np.random.Generator) -> Composite:
    square = rng.normal(size=(3, 3))
    return Composite.of(Inertia(1.7, (0.3, -0.2, 0.5), as_tensor(square @ square.T + np.eye(3))))


def test_map_of_a_body() -> None:
    """B x = ½ (ξ × I x + x × I ξ − I (ξ × x)), so that B ξ is the force of a body with constant twist."""
    rng = np.random.default_rng(1)
    inertia = body(rng)
    xi, x = random_twists(rng, 2)
    found = VelocityMap.of(inertia, xi)
    whole = cross(xi, inertia.momentum(x)) + cross(x, inertia.momentum(xi)) - inertia.momentum(cross(xi, x))
    assert_close(np.array(vec6(found(x))), 0.5 * np.array(vec6(whole)), 1e-13)
    assert_close(np.array(vec6(found(xi))), np.array(vec6(cross(xi, inertia.momentum(xi)))), 1e-13)


def test_map_in_another_frame_and_from_the_left() -> None:
    rng = np.random.default_rng(2)
    inertia = body(rng)
    xi, x, s = random_twists(rng, 3)
    w, i, j, k = rng.normal(size=4)
    there = Adjoint(pose(Quaternion(w, i, j, k) * (1.0 / np.sqrt(w * w + i * i + j * j + k * k)), pure(0.3, -0.7, 0.2)))
    here = VelocityMap.of(inertia, xi)
    moved = here.seen_through(there)
    again = VelocityMap.of(inertia.seen_through(there), there(xi))
    assert_close(np.array(vec6(moved(there(x)))), np.array(vec6(there(here(x)))), 1e-12)
    assert_close(np.array(vec6(again(x))), np.array(vec6(moved(x))), 1e-12)
    both = here + again
    assert_close(np.array(vec6(both(x))), np.array(vec6(here(x) + again(x))), 1e-13)
    left = here.transposed(s)
    assert sum(a * b for a, b in zip(left.vector, x.primary.vector, strict=True)) == pytest.approx(power(s, here(x)))


def test_frames_that_are_chosen() -> None:
    """The root's for long chains, and for shorter ones whose axes are oblique."""
    assert not from_root_pays(regrouped(robots.arm7().model))
    assert from_root_pays(regrouped(robots.chain(10, seed=1).model))
    assert not from_root_pays(regrouped(robots.chain(5, seed=1).model))
    straight = random_robot(5, 30, ("prismatic",))
    assert from_root_pays(regrouped(straight.model))


def test_depths_count_the_axes_that_move_a_body() -> None:
    assert depths(robots.chain(4, seed=1).model) == [1, 2, 3, 4]
    model = robots.humanoid().with_base("free").model
    for joint in model.joints:
        moving = sum(model.joints[i].motion.nv for i in model.path(joint.index))
        assert depths(model)[joint.v][-1] == moving
    assert [len(depths(tree(name).model)) for name in TREES] == [tree(name).nv for name in TREES]


@pytest.mark.long
def test_compiled_on_a_long_chain() -> None:
    ours = robots.chain(12, seed=3)
    q, v, _ = random_state(ours, np.random.default_rng(2))
    assert_close(ours.coriolis_matrix(q, v), run(ours, "coriolis_matrix", q, v, method="christoffel-root"), 1e-11)
    assert_close(ours.coriolis_matrix(q, v), mean_of_two(ours, q, v), 1e-11)
