"""Random trees with branches, mimic joints and every kind that Pinocchio has, against Pinocchio."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio
import pytest
from pinocchio_tools import EXPRESSED, PinocchioState, comparable, homogeneous, pinocchio_model
from trees import ONE_AXIS, assert_close, random_description, random_state, run

from dqdyn.algebra.dual import DQ
from dqdyn.model.layouts import Layout
from dqdyn.robot import Robot

# Pinocchio's universal joint has wrong rates of Jacobians: its trees are compared without those.
KINDS = {"rates": (*ONE_AXIS, "spherical", "planar", "free"), "universal": (*ONE_AXIS, "universal", "spherical")}
CASES = [
    (kinds, seed, mimics, base)
    for kinds in KINDS
    for seed, mimics, base in ((1, 0, "fixed"), (2, 2, "free"), (3, 3, "planar"), (4, 0, "free"))
]


@cache
def pair(kinds: str, seed: int, mimics: int, base: str) -> tuple[Robot, pinocchio.Model, Layout]:
    description = comparable(random_description(seed, 9, KINDS[kinds], mimics=mimics, base=base))
    ours = Robot.from_description(description, strict=True)
    theirs = pinocchio_model(ours)
    return ours, theirs, ours.to_pinocchio(theirs)


@pytest.mark.equation("Silva", "18")
@pytest.mark.equation("Silva", "19")
@pytest.mark.parametrize(("kinds", "seed", "mimics", "base"), CASES)
def test_every_frame(kinds: str, seed: int, mimics: int, base: str) -> None:
    ours, theirs, layout = pair(kinds, seed, mimics, base)
    assert layout.nv == ours.nv + mimics
    q, v, a = random_state(ours, np.random.default_rng(seed))
    state = PinocchioState(layout, theirs, q, v)
    for frame in ours.frames:
        i = theirs.getFrameId(frame)
        assert_close(homogeneous(DQ(run(ours, "pose", q, frame=frame))), state.pose(i))
        for expressed in EXPRESSED:
            options = {"frame": frame, "expressed": expressed}
            assert_close(run(ours, "twist_jacobian", q, **options), state.jacobian(i, expressed))
            assert_close(run(ours, "twist", q, v, **options), state.jacobian(i, expressed) @ v)
            if kinds == "rates":
                rates = state.jacobian_derivative(i, expressed)
                assert_close(run(ours, "twist_jacobian_derivative", q, v, **options), rates)
                twist_rate = state.jacobian(i, expressed) @ a + rates @ v
                assert_close(run(ours, "twist_rate", q, v, a, **options), twist_rate)


@pytest.mark.equation("Silva", "20")
@pytest.mark.parametrize(("kinds", "seed", "mimics", "base"), CASES)
def test_accelerations(kinds: str, seed: int, mimics: int, base: str) -> None:
    """Pinocchio's forward kinematics is right for every kind, so this covers the universal joint's rates."""
    ours, theirs, layout = pair(kinds, seed, mimics, base)
    q, v, a = random_state(ours, np.random.default_rng(seed))
    data = theirs.createData()
    pinocchio.forwardKinematics(theirs, data, layout.q(q), layout.v(q, v), layout.a(q, v, a))
    pinocchio.updateFramePlacements(theirs, data)
    for frame in ours.frames:
        found = pinocchio.getFrameAcceleration(theirs, data, theirs.getFrameId(frame), pinocchio.LOCAL)
        expected = np.concatenate([found.angular, found.linear])
        assert_close(run(ours, "twist_rate", q, v, a, frame=frame), expected)


@pytest.mark.parametrize(("kinds", "seed", "mimics", "base"), CASES)
def test_mass_quantities(kinds: str, seed: int, mimics: int, base: str) -> None:
    ours, theirs, layout = pair(kinds, seed, mimics, base)
    q, v, a = random_state(ours, np.random.default_rng(seed))
    data = theirs.createData()
    pq, pv, pa, t = layout.q(q), layout.v(q, v), layout.a(q, v, a), layout.transform(q)
    assert ours.mass == pytest.approx(pinocchio.computeTotalMass(theirs), rel=1e-14)
    assert_close(run(ours, "center_of_mass", q), np.array(pinocchio.centerOfMass(theirs, data, pq, pv, pa)))
    assert_close(run(ours, "center_of_mass_velocity", q, v), np.array(data.vcom[0]))
    jacobian = np.array(pinocchio.jacobianCenterOfMass(theirs, data, pq)) @ t
    assert_close(run(ours, "center_of_mass_jacobian", q), jacobian)
    pinocchio.centerOfMass(theirs, data, pq, pv, pa)
    rates = run(ours, "center_of_mass_jacobian_derivative", q, v)
    assert_close(jacobian @ a + rates @ v, np.array(data.acom[0]))
    assert_close(
        run(ours, "centroidal_momentum_matrix", q), np.array(pinocchio.computeCentroidalMap(theirs, data, pq)) @ t
    )
    change = pinocchio.computeCentroidalMomentumTimeVariation(theirs, data, pq, pv, pa)
    rates = (
        run(ours, "centroidal_momentum_matrix", q) @ a + run(ours, "centroidal_momentum_matrix_derivative", q, v) @ v
    )
    assert_close(rates, np.concatenate([change.linear, change.angular]), 1e-11)
    momentum = pinocchio.computeCentroidalMomentum(theirs, data, pq, pv)
    assert_close(run(ours, "centroidal_momentum", q, v), np.concatenate([momentum.linear, momentum.angular]))
