"""The papers' steps as printed, run for every tree and joint kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import BuiltinFunctionType
from typing import Any, ClassVar

import numpy as np
import pinocchio
import pytest
from formulation_tools import (
    PINOCCHIO_CASES,
    ROBOTS,
    array,
    check_batch,
    check_coriolis_matrix,
    check_inverse_dynamics,
    check_no_moving_joint,
    model_state,
    pinocchio_pair,
    state,
)
from trees import JOINT_KINDS, MOVING, assert_close, random_robot, random_state

from dqdyn.algebra.adjoint import Ad
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import ZERO, I, J, K, pure, rotate
from dqdyn.dynamics.formulations import gauss, newton_euler
from dqdyn.dynamics.formulations.literal import farias, products, quiroz, silva
from dqdyn.model.description import Joint
from dqdyn.model.joints import KINDS, joint_kind
from dqdyn.model.joints.joint_kind import Coordinates
from dqdyn.model.joints.planar import Planar

LITERAL = {"newton-euler-literal": silva, "screw-literal": farias, "gauss-literal": quiroz}
FORMULATIONS = pytest.mark.parametrize("formulation", LITERAL.values(), ids=LITERAL)


@pytest.mark.equation("Silva", "section 3")
@pytest.mark.equation("Silva", "15")
@pytest.mark.equation("Silva", "table 1")
@pytest.mark.equation("Silva", "19")
@pytest.mark.equation("Silva", "20")
@pytest.mark.equation("Silva", "21")
@pytest.mark.equation("Silva", "24")
@pytest.mark.equation("Silva", "25")
@pytest.mark.equation("Silva", "26")
@pytest.mark.equation("Silva", "29")
@pytest.mark.equation("Silva", "48")
@pytest.mark.equation("Farias", "algorithm 1")
@pytest.mark.equation("Farias", "38")
@pytest.mark.equation("Farias", "40")
@pytest.mark.equation("Farias", "44")
@pytest.mark.equation("Farias", "45")
@pytest.mark.equation("Farias", "46")
@pytest.mark.equation("Farias", "48")
@pytest.mark.equation("Quiroz", "section 5.5.1")
@pytest.mark.equation("Quiroz", "5.13")
@pytest.mark.equation("Quiroz", "5.60")
@pytest.mark.equation("Quiroz", "5.61")
@pytest.mark.equation("Quiroz", "5.62")
@pytest.mark.equation("Quiroz", "5.65")
@pytest.mark.equation("Quiroz", "5.66")
@pytest.mark.equation("Quiroz", "5.67")
@pytest.mark.equation("Quiroz", "5.68")
@pytest.mark.equation("Quiroz", "5.70")
@pytest.mark.equation("Quiroz", "5.71")
@pytest.mark.equation("Quiroz", "5.20")
@FORMULATIONS
@pytest.mark.parametrize("name", ROBOTS)
def test_every_joint_kind_with_and_without_wrenches(formulation: Any, name: str) -> None:
    check_inverse_dynamics(formulation, name)


@FORMULATIONS
@pytest.mark.parametrize("kind", sorted(MOVING))
def test_a_chain_of_one_kind(formulation: Any, kind: str) -> None:
    """One after another and without branches, so that every kind carries and is carried."""
    robot = random_robot(11, 3, (kind,))
    q, v, a = state(robot, 3)
    assert_close(
        formulation.inverse_dynamics(robot.model, q, v, a), newton_euler.inverse_dynamics(robot.model, q, v, a), 1e-11
    )


@FORMULATIONS
def test_batches_and_robots_that_do_not_move(formulation: Any) -> None:
    check_batch(formulation)
    check_no_moving_joint(formulation)


@FORMULATIONS
@pytest.mark.parametrize(("kinds", "seed", "base"), PINOCCHIO_CASES)
def test_forces_of_pinocchio(formulation: Any, kinds: tuple[str, ...], seed: int, base: str) -> None:
    ours, theirs, layout = pinocchio_pair(kinds, seed, base)
    q, v, a = random_state(ours, np.random.default_rng(seed))
    tau = pinocchio.rnea(theirs, theirs.createData(), layout.q(q), layout.v(q, v), layout.a(q, v, a))
    found = formulation.inverse_dynamics(ours.model, q.tolist(), v.tolist(), a.tolist())
    assert_close(found, layout.tau_from(q, tau), 1e-10)


@pytest.mark.equation("Silva", "43")
@pytest.mark.equation("Quiroz", "5.15")
@pytest.mark.parametrize("name", ROBOTS)
def test_mass_matrix(name: str) -> None:
    model, q, _, _ = model_state(name)
    assert_close(array(quiroz.mass_matrix(model, q)), array(gauss.mass_matrix(model, q)), 1e-12)


@pytest.mark.equation("Silva", "44")
@pytest.mark.equation("Quiroz", "5.16")
@pytest.mark.parametrize("name", ROBOTS)
def test_coriolis_matrix(name: str) -> None:
    """That of Gauss's principle entry by entry, not only on v."""
    check_coriolis_matrix(quiroz, name)
    model, q, v, _ = model_state(name, 5)
    assert_close(array(quiroz.coriolis_matrix(model, q, v)), array(gauss.coriolis_matrix(model, q, v)), 1e-11)


@pytest.mark.parametrize("method", LITERAL)
def test_selectable_and_compiled(method: str) -> None:
    robot = random_robot(11, 3, ("planar", "universal", "spherical"))
    q, v, a = random_state(robot, np.random.default_rng(7), (3,))
    for wrenches in (None, {"tool": np.random.default_rng(8).normal(size=(3, 6))}):
        expected = robot.inverse_dynamics(q, v, a, wrenches)
        assert_close(robot.inverse_dynamics(q, v, a, wrenches, method=method), expected, 1e-11)
    assert isinstance(robot.function("inverse_dynamics", method=method), BuiltinFunctionType)


@dataclass(frozen=True)
class Skating(Planar):
    """A planar joint whose velocities are in the child frame: constant axes, which do not commute, and v ≠ q̇."""

    name: ClassVar[str] = "skating"
    constant_subspace: ClassVar[bool] = True

    def subspace(self, q: Coordinates) -> tuple[DQ, ...]:
        return DQ.of(ZERO, I), DQ.of(ZERO, J), DQ.of(K)

    def subspace_rate(self, q: Coordinates, v: Coordinates) -> tuple[DQ, ...]:
        return (DQ.of(ZERO),) * 3

    def rate(self, q: Coordinates, v: Coordinates) -> list[Any]:
        return [*rotate(self.turn(q[2]), pure(v[0], v[1], 0.0)).vector[:2], v[2]]


del KINDS["skating"]  # no other test shall meet it


@FORMULATIONS
def test_a_joint_kind_from_elsewhere(formulation: Any) -> None:
    """Nothing is taken from the kind but what it says about itself."""
    robot = random_robot(12, 3, ("planar", "revolute"))
    joints = [replace(j, motion=Skating()) if j.kind == "planar" else j for j in robot.joints]
    assert len({j.kind for j in joints}) == 2
    model = replace(robot.model, joints=tuple(joints))
    q, v, a = state(robot, 4)
    expected = newton_euler.inverse_dynamics(model, q, v, a)
    assert np.abs(array(expected) - array(newton_euler.inverse_dynamics(robot.model, q, v, a))).max() > 1e-3
    assert_close(formulation.inverse_dynamics(model, q, v, a), expected, 1e-11)


def test_products_are_those_of_the_algebra() -> None:
    rng = np.random.default_rng(9)
    x, y = DQ(rng.normal(size=8)).normalize(), DQ(rng.normal(size=6))
    assert products.conjugate(x) == x.conj()
    assert_close(products.adjoint(x, y).vec8(), Ad(x, y).vec8(), 1e-14)
    assert_close(DQ.of(products.adjoint(x.primary, y.primary)).vec4(), Ad(x.P(), y.P()).vec4(), 1e-14)


def test_axes_that_commute_are_the_same_from_both_sides() -> None:
    rng = np.random.default_rng(10)
    for name in JOINT_KINDS:
        motion = joint_kind(Joint(name, name, "parent", "child", pitch=0.3))
        q = motion.random(rng, [-np.inf] * motion.nq, [np.inf] * motion.nq)
        axes = motion.subspace(q)
        same = all(np.allclose(Ad(motion.pose(q), s).vec8(), s.vec8(), atol=1e-12) for s in axes)
        assert silva._commute(motion) == same, name
    assert silva._commute(KINDS["cylindrical"]())
    assert not silva._commute(KINDS["spherical"]())
