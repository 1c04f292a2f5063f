"""Base parameters of trees of every joint kind: rules and rank agree, and torques depend on nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from robot_data import urdf_file
from trees import MOVING, ONE_AXIS, TREES, random_q, random_robot, tree

import dqdyn as dq
from dqdyn.identify import TERMS, base_parameters, parameters_of, pseudo_inertia
from dqdyn.identify.grouping import grouped, handed_on

HANDED_ON = {
    "revolute": 3,
    "prismatic": 6,
    "helical": 1,
    "cylindrical": 1,
    "universal": 1,
    "spherical": 1,
    "planar": 1,
    "free": 0,
}


def _robot(name: str) -> Any:
    if name in TREES:
        return tree(name)
    seed = int(name)
    base = ("fixed", "free", "planar")[seed % 3]
    return random_robot(seed, 3, ONE_AXIS if seed % 2 else MOVING, mimics=seed % 2, base=base)


@pytest.mark.parametrize("name", ["one joint", "30", "31", "32", "33", "one axis", "moving subspaces"])
def test_rules_and_rank_span_the_same(name: str) -> None:
    robot, rng = dq.Robot(_robot(name).model, native=False), np.random.default_rng(1)
    terms = TERMS if len(robot.joints) < 6 else ()
    by_rule = base_parameters(robot, terms)
    by_rank = base_parameters(robot, terms, method="numerical", seed=5)
    assert len(by_rule) == len(by_rank)
    first, second = (np.linalg.qr(b.matrix.T)[0] for b in (by_rule, by_rank))
    assert np.abs(first @ first.T - second @ second.T).max(initial=0.0) < 1e-9
    q, (v, a) = random_q(robot, rng, (4,)), rng.normal(size=(2, 4, robot.nv))
    whole = by_rule.columns.regressor(q, v, a) @ by_rule.columns.values()
    for b in (by_rule, by_rank):
        assert np.allclose(b.regressor(q, v, a) @ b.values(), whole, atol=1e-9)
    if terms:
        assert np.allclose(whole, robot.inverse_dynamics(q, v, a), atol=1e-10)


@pytest.mark.parametrize("seed", [3, 4])
def test_rules_are_complete_where_the_base_is_free(seed: int) -> None:
    """A free base shows everything that joints do not hand on: nothing is left for the rank to drop."""
    robot = random_robot(seed, 3, base="free")
    base = base_parameters(robot, ())
    assert (
        len(base)
        == len(grouped(base.columns)[1])
        == 10 * len(robot.bodies) - sum(HANDED_ON[j.kind] for j in robot.joints)
    )


@pytest.mark.parametrize("kind", MOVING)
def test_what_a_joint_hands_on(kind: str) -> None:
    inertias, measured = handed_on(random_robot(1, 1, (kind,)).joints[0])
    if kind in HANDED_ON:
        assert inertias.shape == (10, HANDED_ON[kind])
    assert np.allclose(inertias[measured], np.eye(len(measured)))


def test_panda_has_the_parameters_of_the_literature() -> None:
    robot = dq.load(urdf_file("panda"))
    arm = robot.lock(dict.fromkeys([j.name for j in robot.joints if "finger" in j.name], 0.0))
    base = base_parameters(arm, ())
    assert len(base) == 43
    assert "Izz1 + Iyy2" in base.labels
    assert {"m1", "mcz1", "Ixy1"} <= set(base.hidden)
    assert "m4" in base.merged
    assert "43 of 70" in repr(base)


def test_pseudo_inertias_go_both_ways() -> None:
    given = random_robot(2, 3).inertial_parameters().reshape(-1, 10)
    matrices = pseudo_inertia(given)
    assert np.allclose(parameters_of(matrices), given)
    assert (np.linalg.eigvalsh(matrices) > 0.0).all()


def test_bad_questions() -> None:
    with pytest.raises(dq.Error, match="no term of identification named 'viscous'"):
        base_parameters(dq.robots.two_link(), ["viscous"])
    with pytest.raises(dq.Error, match="'four_bar' has constraints, whose forces its torques contain"):
        base_parameters(dq.robots.four_bar())
    with pytest.raises(dq.Error, match="'grouping' or 'numerical'"):
        base_parameters(dq.robots.two_link(), method="svd")  # type: ignore[arg-type]
