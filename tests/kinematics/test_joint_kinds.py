"""Every joint kind answers its questions consistently: pose, twist, subspace, rates, integration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from joint_samples import ANGLES, JOINTS, MOVING, L, components, coordinates
from trees import JOINT_KINDS, assert_close, rate

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import screw_exp
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.quaternion import ZERO, I, J, K, pure, rotate
from dqdyn.model.joints.consistency import contradiction

STATES = [(joint, angle) for joint in MOVING for angle in ANGLES]


def state(joint: str, angle: str, seed: int = 0) -> tuple[list[float], list[float], list[float]]:
    rng = np.random.default_rng(seed)
    kind = JOINTS[joint]
    q = coordinates(kind, ANGLES[angle], rng)
    return q, rng.normal(size=kind.nv).tolist(), rng.normal(size=kind.nv).tolist()


@pytest.mark.equation("Silva", "table 1")
@pytest.mark.parametrize(("name", "angle"), STATES)
def test_rate_of_the_pose_is_half_pose_times_twist(name: str, angle: str) -> None:
    joint = JOINTS[name]
    q, v, _ = state(name, angle)
    found = derivative(lambda c: joint.pose(c).components, q, joint.rate(q, v))
    assert_close(found, (joint.pose(q) * joint.twist(q, v) * 0.5).vec8(), 1e-14)


@pytest.mark.parametrize(("name", "angle"), STATES)
def test_pose_follows_the_twist_by_finite_differences(name: str, angle: str) -> None:
    """The same identity without jets and without ``rate``."""
    joint = JOINTS[name]
    q, v, _ = state(name, angle)
    found = rate(lambda t: joint.pose(joint.integrate(q, v, t)).vec8())
    assert_close(found, (joint.pose(q) * joint.twist(q, v) * 0.5).vec8(), 1e-11)


@pytest.mark.equation("Silva", "16")
@pytest.mark.equation("Silva", "table 1")
def test_twists_of_the_table() -> None:
    w, d, h = 0.7, -1.3, -0.37
    l = pure(*L)
    q, phi = [0.4, -0.2, 1.1], 1.1
    assert_close(JOINTS["revolute"].twist([1.1], [w]).vec8(), DQ.of(l * w).vec8(), 0)
    assert_close(JOINTS["prismatic"].twist([1.1], [d]).vec8(), DQ.of(ZERO, l * d).vec8(), 0)
    assert_close(JOINTS["helical"].twist([1.1], [w]).vec8(), DQ.of(l * w, l * (h * w)).vec8(), 1e-16)
    assert_close(JOINTS["cylindrical"].twist([1.1, 2.0], [w, d]).vec8(), DQ.of(l * w, l * d).vec8(), 0)
    six = [0.1, -0.2, 0.3, 1.0, 2.0, -3.0]
    assert_close(JOINTS["spherical"].twist([1.0, 0, 0, 0], six[:3]).vec8(), DQ.of(pure(*six[:3])).vec8(), 0)
    assert_close(JOINTS["free"].twist([1.0, *[0.0] * 6], six).vec8(), DQ(six).vec8(), 0)
    # The table's v_x, v_y of the planar joint are in the moving frame; ours are rates of coordinates.
    x_rate, y_rate = 0.9, -0.6
    vx, vy = math.cos(phi) * x_rate + math.sin(phi) * y_rate, -math.sin(phi) * x_rate + math.cos(phi) * y_rate
    found = JOINTS["planar in xy"].twist(q, [x_rate, y_rate, w])
    assert_close(found.vec8(), DQ.of(K * w, I * vx + J * vy).vec8(), 1e-15)


@pytest.mark.parametrize(("name", "angle"), STATES)
def test_twist_is_the_subspace_times_velocity(name: str, angle: str) -> None:
    joint = JOINTS[name]
    q, v, _ = state(name, angle)
    subspace = joint.subspace(q)
    assert len(subspace) == joint.nv
    assert all(s.primary.w == 0.0 and s.dual.w == 0.0 for s in subspace)
    assert_close(np.array([s.vec6() for s in subspace]).T @ v, joint.twist(q, v).vec6(), 1e-15)
    assert np.linalg.matrix_rank(np.array([s.vec6() for s in subspace])) == joint.nv


@pytest.mark.parametrize(("name", "angle"), STATES)
def test_subspace_rate_and_twist_rate_by_jets(name: str, angle: str) -> None:
    joint = JOINTS[name]
    q, v, a = state(name, angle)
    moving = derivative(lambda c: components(joint.subspace(c)), q, joint.rate(q, v))
    assert_close(components(joint.subspace_rate(q, v)), moving, 1e-14)
    n = joint.nq
    both = derivative(lambda c: joint.twist(c[:n], c[n:]).components, [*q, *v], [*joint.rate(q, v), *a])
    assert_close(joint.twist_rate(q, v, a).vec8(), both, 1e-14)


@pytest.mark.parametrize("name", MOVING)
def test_constant_subspace_is_said_truly(name: str) -> None:
    joint = JOINTS[name]
    first, second = (components(joint.subspace(state(name, angle)[0])) for angle in ("generic", "negative"))
    assert (first == second) == joint.constant_subspace


@pytest.mark.parametrize("name", MOVING)
def test_integration_follows_the_differential_equation(name: str) -> None:
    """q̇ = rate(q, v) with constant v, by the classical Runge-Kutta method."""
    joint = JOINTS[name]
    q0, v, _ = state(name, "generic")
    steps, t = 400, 1.7
    q, dt = np.array(q0), t / steps
    f = lambda x: np.array(joint.rate(x.tolist(), v))
    for _ in range(steps):
        k1 = f(q)
        k2 = f(q + dt / 2 * k1)
        k3 = f(q + dt / 2 * k2)
        q = q + dt / 6 * (k1 + 2 * k2 + 2 * k3 + f(q + dt * k3))
    assert_close(joint.integrate(q0, v, t), q, 1e-9)


@pytest.mark.parametrize(("name", "angle"), STATES)
def test_difference_undoes_integration(name: str, angle: str) -> None:
    joint = JOINTS[name]
    q, v, _ = state(name, angle)
    if joint.quaternion is not None:  # the shorter way round is the way that was gone
        v[:3] = (np.array(v[:3]) / np.linalg.norm(v[:3]) * 3.0).tolist()
    assert_close(joint.difference(q, joint.integrate(q, v, 1.0)), v, 1e-12, max(map(abs, q)))
    assert_close(joint.difference(joint.integrate(q, v, 1.0), q), [-c for c in v], 1e-12, max(map(abs, q)))


@pytest.mark.parametrize(("name", "angle"), STATES)
def test_integration_undoes_difference(name: str, angle: str) -> None:
    """Between q and another configuration; the rotation between them visits all strata."""
    joint = JOINTS[name]
    q1 = coordinates(joint, ANGLES[angle], np.random.default_rng(3))
    for q0 in (joint.neutral(), coordinates(joint, 0.8, np.random.default_rng(4))):
        found = joint.pose(joint.integrate(q0, joint.difference(q0, q1), 1.0)).vec8()
        expected = joint.pose(q1).vec8()
        sign = np.sign(found @ expected) if joint.quaternion is not None else 1.0
        assert_close(sign * found, expected, 1e-12)


@pytest.mark.parametrize("name", ["spherical", "free"])
def test_difference_takes_the_shorter_way_and_ignores_the_sign(name: str) -> None:
    joint = JOINTS[name]
    for angle in (0.0, 1e-8, 1.0, 3.0, 4.0, 6.0):
        q = coordinates(joint, angle, np.random.default_rng(2))
        other = [-c for c in q[:4]] + q[4:]
        v = joint.difference(joint.neutral(), q)
        assert np.linalg.norm(v[:3]) == pytest.approx(min(angle, 2 * math.pi - angle), abs=1e-12)
        assert_close(joint.difference(joint.neutral(), other), v, 1e-12)


@pytest.mark.parametrize("name", ["spherical", "free"])
@pytest.mark.parametrize("angle", ["zero", "1e-12", "1e-8", "1e-4", "generic", "near pi"])
def test_tiny_rotations_keep_their_digits(name: str, angle: str) -> None:
    """The velocity that leads to a rotation has its angle to full relative precision, however small."""
    joint, size = JOINTS[name], ANGLES[angle]
    q = coordinates(joint, size, np.random.default_rng(2))
    v = np.array(joint.difference(joint.neutral(), q)[:3])
    assert np.linalg.norm(v) == pytest.approx(size, rel=1e-9, abs=0.0)


@pytest.mark.parametrize("name", JOINTS)
def test_at_neutral_both_sides_coincide(name: str) -> None:
    joint = JOINTS[name]
    assert joint.pose(joint.neutral()).vec8().tolist() == [1, 0, 0, 0, 0, 0, 0, 0]
    assert len(joint.neutral()) == joint.nq


def test_fixed_joint_has_no_motion() -> None:
    joint = JOINTS["fixed"]
    assert joint.twist([], []).vec8().tolist() == [0.0] * 8
    assert joint.twist_rate([], [], []).vec8().tolist() == [0.0] * 8
    assert joint.subspace([]) == joint.subspace_rate([], []) == ()
    assert joint.integrate([], [], 1.0) == joint.difference([], []) == joint.rate([], []) == []


def test_planar_directions_are_the_images_of_x_and_y() -> None:
    for name in ("planar", "planar in xy", "planar upside down"):
        joint = JOINTS[name]
        e1, e2 = (np.array(e.vector) for e in joint.in_plane())  # type: ignore[attr-defined]
        l = np.array(joint.axis)  # type: ignore[attr-defined]
        assert_close(np.array([e1, e2, l]) @ np.array([e1, e2, l]).T, np.eye(3), 1e-15)
        assert_close(np.cross(e1, e2), l, 1e-15)
        # The shortest rotation leaves the line of intersection of both planes alone.
        fixed = np.cross([0.0, 0.0, 1.0], l)
        assert_close(fixed[0] * e1 + fixed[1] * e2, fixed, 1e-15)


def test_helical_joint_is_a_screw() -> None:
    joint = JOINTS["helical"]
    for angle in ANGLES.values():
        twist = joint.twist([0.0], [1.0])
        assert_close(joint.pose([angle]).vec8(), screw_exp(twist * (angle / 2)).vec8(), 1e-14)


@pytest.mark.parametrize("name", [name for name in MOVING if JOINTS[name].constant_subspace])
def test_a_constant_velocity_follows_a_screw(name: str) -> None:
    """Where S is constant the relative motion is the screw exponential of the twist."""
    joint = JOINTS[name]
    q, v, _ = state(name, "generic")
    moved = joint.pose(joint.integrate(q, v, 0.9))
    assert_close(moved.vec8(), (joint.pose(q) * screw_exp(joint.twist(q, v) * 0.45)).vec8(), 1e-14)


def test_random_coordinates_are_within_limits_and_reach_them() -> None:
    rng = np.random.default_rng(0)
    for joint in JOINTS.values():
        if joint.quaternion is not None or joint.nq == 0:
            continue
        low, high = [-0.3] * joint.nq, [0.1] * joint.nq
        drawn = np.array([joint.random(rng, low, high) for _ in range(200)])
        assert drawn.min() >= -0.3
        assert drawn.max() <= 0.1
        assert drawn.min() < -0.28
        assert drawn.max() > 0.08
        inf = [math.inf] * joint.nq
        drawn = np.array([joint.random(rng, [-math.inf] * joint.nq, inf) for _ in range(200)])
        reach = np.where(joint.angular, math.pi, 1.0)
        assert (np.abs(drawn) <= reach).all()
        assert (np.abs(drawn).max(0) > 0.9 * reach).all()
        assert np.array([joint.random(rng, [5.0] * joint.nq, inf) for _ in range(50)]).min() >= 5.0
        assert np.array([joint.random(rng, [-math.inf] * joint.nq, [-5.0] * joint.nq) for _ in range(50)]).max() <= -5.0


@pytest.mark.parametrize("name", ["spherical", "free"])
def test_random_rotations_are_uniform_units(name: str) -> None:
    rng, joint = np.random.default_rng(0), JOINTS[name]
    limits = [math.inf] * joint.nq
    drawn = np.array([joint.random(rng, limits, limits)[:4] for _ in range(4000)])
    assert_close(np.linalg.norm(drawn, axis=1), np.ones(4000), 1e-15)
    # Second moments of a uniform direction in four dimensions are 1/4.
    assert_close(drawn.T @ drawn / 4000, np.eye(4) / 4, 0.02)


def test_every_kind_is_listed_with_consistent_sizes() -> None:
    assert {joint.name for joint in JOINTS.values()} == set(JOINT_KINDS)
    for joint in JOINTS.values():
        assert len(joint.neutral()) == joint.nq
        assert joint.quaternion is not None or len(joint.angular) == joint.nq


@pytest.mark.parametrize("name", JOINTS)
def test_no_kind_contradicts_itself(name: str) -> None:
    """With parameters away from their defaults, so that a wrong coupling is seen."""
    assert contradiction(JOINTS[name]) is None


def test_universal_turns_first_about_the_axis_of_the_parent() -> None:
    joint = JOINTS["universal z x"]
    r = joint.pose([0.3, 0.5]).primary
    assert_close(rotate(r, I).vector, [math.cos(0.3), math.sin(0.3), 0.0], 1e-15)
