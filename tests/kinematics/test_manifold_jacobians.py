"""Jacobians of integrate and difference: against power series, finite differences, jets and Pinocchio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio
import pytest
from pinocchio_tools import comparable, pinocchio_model
from trees import ONE_AXIS, TREES, assert_close, random_description, random_q, random_v, rate, run, tree

from dqdyn.algebra.scalar import atan2, cos, sin
from dqdyn.model.joints.free import Free
from dqdyn.model.joints.joint_kind import KINDS, JointKind
from dqdyn.model.joints.revolute import Revolute
from dqdyn.model.joints.spherical import Spherical
from dqdyn.robot import Robot

ANGLES = (0.0, 1e-160, 1e-9, 1e-3, 0.5, 1.0, 2.4, 2.5, 3.0, np.pi - 1e-7, 5.0)
LENGTHS = (0.0, 1e-9, 1.0, 1e3)


def skew(w: np.ndarray) -> np.ndarray:
    return np.cross(np.eye(3), w)


def bracket(xi: np.ndarray) -> np.ndarray:
    """ad of a twist [ω, v], or of ω."""
    if len(xi) == 3:
        return skew(xi)
    return np.block([[skew(xi[:3]), np.zeros((3, 3))], [skew(xi[3:]), skew(xi[:3])]])


def series(xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """exp(−ad) and Σ (−ad)ᵏ/(k + 1)!, in extended precision."""
    ad = -bracket(xi.astype(np.longdouble))
    power = np.eye(len(xi), dtype=np.longdouble)
    exponential, jacobian = power.copy(), power.copy()
    for k in range(1, 60):
        power = power @ ad / k
        exponential, jacobian = exponential + power, jacobian + power / (k + 1)
    return exponential.astype(float), jacobian.astype(float)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("angle", ANGLES)
def test_groups_against_power_series(angle: float, length: float) -> None:
    """Rotation and translation small and large independently of each other."""
    rng = np.random.default_rng(1)
    axis, along = (v / np.linalg.norm(v) for v in rng.normal(size=(2, 3)))
    xi, dt = np.concatenate([angle * axis, length * along]), 0.5
    for kind, v in ((Free(), xi), (Spherical(), xi[:3])):
        q = kind.random(rng, (), ())
        by_q, by_v = (np.array(m, dtype=float) for m in kind.integrate_jacobians(q, list(v / dt), dt))
        exponential, jacobian = series(v)
        assert_close(by_q, exponential, 1e-13)
        assert_close(by_v, jacobian * dt, 1e-13)
        if angle <= np.pi:
            end = kind.integrate(q, list(v), 1.0)
            by_q0, by_q1 = (np.array(m, dtype=float) for m in kind.difference_jacobians(q, end))
            assert_close(by_q1 @ jacobian, np.eye(len(v)), 1e-12, scale=max(1.0, length**2))
            assert_close(by_q0 @ np.linalg.inv(exponential), -by_q1, 1e-12, scale=max(1.0, length**2))


@pytest.mark.parametrize("name", TREES)
def test_trees_against_differences(name: str) -> None:
    robot, rng = tree(name), np.random.default_rng(3)
    q, v, dt = random_q(robot, rng), random_v(robot, rng), 0.4
    end = run(robot, "integrate", q, v, dt)
    by_q, by_v = run(robot, "integrate_jacobians", q, v, dt)
    by_q0, by_q1 = run(robot, "difference_jacobians", q, end)
    moved = lambda x, w, t: run(robot, "integrate", x, w, t)
    seen = lambda x: run(robot, "difference", end, x)
    for w in rng.normal(size=(2, robot.nv)) * 0.3:
        assert_close(by_q @ w, rate(lambda t, w=w: seen(moved(moved(q, w, t), v, dt))), 1e-9)
        assert_close(by_v @ w, rate(lambda t, w=w: seen(moved(q, v + t * w, dt))), 1e-9)
        assert_close(by_q0 @ w, rate(lambda t, w=w: run(robot, "difference", moved(q, w, t), end)), 1e-9)
        assert_close(by_q1 @ w, rate(lambda t, w=w: run(robot, "difference", q, moved(end, w, t))), 1e-9)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_trees_against_pinocchio(base: str) -> None:
    """Its tangent vectors are ours but for their order, in joints whose v is a body twist or a rate."""
    kinds = (*ONE_AXIS, "spherical", "free")
    ours = Robot.from_description(comparable(random_description(8, 7, kinds, base=base)))
    theirs = pinocchio_model(ours)
    layout, rng = ours.to_pinocchio(theirs), np.random.default_rng(5)
    q, v = random_q(ours, rng), random_v(ours, rng)
    end = run(ours, "integrate", q, v, 1.0)
    t, pq, pv, pend = layout.transform(q), layout.q(q), layout.v(q, v), layout.q(end)
    found = run(ours, "integrate_jacobians", q, v, 1.0)
    for argument, jacobian in zip((pinocchio.ARG0, pinocchio.ARG1), found, strict=True):
        assert_close(t @ jacobian @ t.T, pinocchio.dIntegrate(theirs, pq, pv, argument))
    found = run(ours, "difference_jacobians", q, end)
    for argument, jacobian in zip((pinocchio.ARG0, pinocchio.ARG1), found, strict=True):
        assert_close(t @ jacobian @ t.T, pinocchio.dDifference(theirs, pq, pend, argument))


def test_methods_give_pairs() -> None:
    robot, rng = tree("free base"), np.random.default_rng(6)
    q, v = random_q(robot, rng, (3,)), random_v(robot, rng, (3,))
    by_q, by_v = robot.integrate_jacobians(q, v, 0.1)
    assert by_q.shape == by_v.shape == (3, robot.nv, robot.nv)
    assert_close(np.stack([by_q, by_v], axis=-3), run(robot, "integrate_jacobians", q, v, 0.1), 1e-12)
    assert_close(robot.integrate_jacobians(q[0], v[0])[1], run(robot, "integrate_jacobians", q[0], v[0], 1.0)[1], 1e-12)
    one, other = robot.difference_jacobians(q[0], q[1])
    assert_close(np.stack([one, other]), run(robot, "difference_jacobians", q[0], q[1]), 1e-12)


@pytest.mark.parametrize("kind", [Free(), Spherical()])
def test_closed_forms_are_those_of_jets(kind: JointKind) -> None:
    """Kinds outside the package have theirs from jets of integrate and difference."""
    rng = np.random.default_rng(7)
    q, v = kind.random(rng, (), ()), rng.normal(size=kind.nv).tolist()
    end = kind.integrate(q, v, 0.3)
    pairs = zip(kind.integrate_jacobians(q, v, 0.3), JointKind.integrate_jacobians(kind, q, v, 0.3), strict=True)
    for found, expected in [
        *pairs,
        *zip(kind.difference_jacobians(q, end), JointKind.difference_jacobians(kind, q, end), strict=True),
    ]:
        assert_close(found, expected, 1e-12)


def test_kinds_outside_the_package() -> None:
    """A circle by cosine and sine: two coordinates, one velocity."""

    @dataclass(frozen=True)
    class Circle(JointKind):
        name, nq, nv = "circle by cosine and sine", 2, 1
        angular = (True,)
        pose = lambda self, q: Revolute().pose([np.arctan2(q[1], q[0])])
        subspace = lambda self, q: Revolute().subspace(q)
        rate = lambda self, q, v: [-q[1] * v[0], q[0] * v[0]]
        neutral = lambda self: [1.0, 0.0]

        def integrate(self, q, v, dt):  # type: ignore[no-untyped-def]
            c, s = cos(v[0] * dt), sin(v[0] * dt)
            return [q[0] * c - q[1] * s, q[1] * c + q[0] * s]

        def difference(self, q0, q1):  # type: ignore[no-untyped-def]
            return [atan2(q0[0] * q1[1] - q0[1] * q1[0], q0[0] * q1[0] + q0[1] * q1[1])]

    try:
        kind, q = Circle(), [np.cos(0.4), np.sin(0.4)]
        assert_close(kind.integrate_jacobians(q, [1.5], 0.2), [[[1.0]], [[0.2]]], 1e-12)
        assert_close(kind.difference_jacobians(q, [np.cos(1.0), np.sin(1.0)]), [[[-1.0]], [[1.0]]], 1e-12)
    finally:
        KINDS.pop(Circle.name)
