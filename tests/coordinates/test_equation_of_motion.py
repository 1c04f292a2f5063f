"""The equations of the papers in every choice of coordinates, on trees with a free base and spherical joints."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from coordinate_cases import FEW, Sample, chosen, fixed_with_balls, plain, sample, tree_with_balls
from trees import assert_close, rate, run

import dqdyn as dq
from dqdyn.algebra.hamilton import C8, haminus8, hamiplus8
from dqdyn.algebra.jet import gradient
from dqdyn.algebra.quaternion import cross3, pure
from dqdyn.coordinates.equation_of_motion import EquationOfMotion
from dqdyn.dynamics.joint_forces import resisting_forces
from dqdyn.robot import Robot
from dqdyn.robot.coordinates import RobotInCoordinates

few = pytest.mark.parametrize("choice", FEW, ids=str)
PAIRS = [(choice, make) for make in (tree_with_balls, fixed_with_balls) for choice in FEW]
PAIRS = [(choice, make) for choice, make in PAIRS if choice != "dual-quaternion" or make is tree_with_balls]
on_trees = pytest.mark.parametrize(("choice", "make"), PAIRS, ids=lambda x: getattr(x, "__name__", str(x)))


def equation(robot: RobotInCoordinates, s: Sample) -> EquationOfMotion:
    return EquationOfMotion(robot._tree, list(map(float, s.q)), list(map(float, s.qd)))


def array(columns: list[Any]) -> np.ndarray:
    return np.array([c.vector for c in columns], dtype=float).T


def moved(robot: RobotInCoordinates, s: Sample, t: float) -> np.ndarray:
    """q after following v for the time t."""
    return plain(robot, "from_minimal", run(robot.robot, "integrate", s.own_q, s.v, t))


def friction(robot: RobotInCoordinates, s: Sample) -> np.ndarray:
    """Forces on q̇ of damping and friction, which the papers do not have."""
    return plain(robot, "forces", s.q, [float(f) for f in resisting_forces(robot.robot.model, list(s.v))])


# --- coordinates and states --------------------------------------------------------------------------------------


@on_trees
def test_states_map_there_and_back(choice: Any, make: Any) -> None:
    robot = chosen(make(), choice)
    s, a = sample(robot, 1), np.random.default_rng(2).normal(size=robot.nv)
    back = plain(robot, "minimal", s.q)
    assert_close(robot.robot.difference(s.own_q, back), np.zeros(robot.nv), 1e-12)
    assert_close(plain(robot, "velocity", s.q, s.qd), s.v, 1e-12)
    qdd = plain(robot, "second_rate", s.q, s.qd, s.v, a)
    assert_close(plain(robot, "acceleration", s.q, s.qd, qdd), a, 1e-11)
    E, B = plain(robot, "velocity_matrix", s.q), plain(robot, "rate_matrix", s.q)
    assert_close(E @ B, np.eye(robot.nv), 1e-12)
    assert_close(B @ s.v, s.qd, 1e-12)
    assert_close(plain(robot, "minimal_forces", s.q, s.tau), B.T @ s.tau, 1e-12)
    assert_close(s.tau, E.T @ s.own_tau, 1e-12)


@pytest.mark.equation("Bouyarmane", "13")
@few
def test_rates_are_derivatives(choice: Any) -> None:
    robot = chosen(tree_with_balls(), choice)
    s = sample(robot, 3)
    assert_close(rate(lambda t: moved(robot, s, t)), s.qd, 1e-8)


@pytest.mark.equation("Bouyarmane", "1")
def test_order_of_the_coordinates() -> None:
    robot = chosen(tree_with_balls(), "quaternion")
    s = sample(robot, 4)
    assert robot.labels[:7] == tuple(f"root_joint.{c}" for c in ("w", "x", "y", "z", "px", "py", "pz"))
    assert_close(s.q, s.own_q, 1e-15)  # the same as the robot's own


@few
@pytest.mark.equation("Bouyarmane", "27")
@pytest.mark.equation("Bouyarmane", "29")
@pytest.mark.equation("Bouyarmane", "30")
def test_conditions_on_positions_rates_and_accelerations(choice: Any) -> None:
    robot = chosen(tree_with_balls(), choice)
    s, a = sample(robot, 5), np.random.default_rng(6).normal(size=robot.nv)
    A, b = plain(robot, "constraint_matrix", s.q), plain(robot, "constraint_bias", s.q, s.qd)
    assert robot.nq - robot.nc == robot.nv
    assert np.abs(plain(robot, "constraint_residual", s.q)).max(initial=0.0) < 1e-14
    assert np.abs(A @ s.qd).max(initial=0.0) < 1e-13
    assert_close(A @ plain(robot, "second_rate", s.q, s.qd, s.v, a), b, 1e-12)
    assert np.linalg.matrix_rank(A) == robot.nc if robot.nc else A.shape == (0, robot.nq)
    if choice == "quaternion":
        S = np.zeros((4, robot.nq))
        S[:, robot.slices["root_joint"]][:, :4] = np.eye(4)
        assert_close(A[0], s.q @ S.T @ S, 1e-15)
        assert_close(b[0], -s.qd @ S.T @ S @ s.qd, 1e-13)


# --- Jacobians ---------------------------------------------------------------------------------------------------


@few
@pytest.mark.equation("Bouyarmane", "section 2")
@pytest.mark.equation("Bouyarmane", "16")
@pytest.mark.equation("Bouyarmane", "17")
def test_jacobians_of_all_bodies(choice: Any) -> None:
    """J_t q̇ is the velocity of the point, J_r q̇ the angular velocity, and rates are derivatives; q̇ is admissible."""
    robot = chosen(tree_with_balls(), choice)
    s = sample(robot, 7)
    found = equation(robot, s).bodies
    at = cache(lambda t: EquationOfMotion(robot._tree, list(moved(robot, s, t)), list(s.qd)).bodies)
    for i, k in enumerate(found):
        where = lambda t, i=i: np.array(at(t)[i].seen.p.vector, dtype=float)
        assert_close(array(k.t) @ s.qd, rate(where), 1e-8)
        assert_close(array(k.r) @ s.qd, k.center.twist.primary.vector, 1e-12)
        assert_close(array(k.global_rotation), np.array([k.seen.rotate(c).vector for c in k.r]).T, 1e-13)
    last = len(found) - 1
    for name in ("t", "r"):
        expected = rate(lambda t, name=name: array(getattr(at(t)[last], name)))
        assert_close(array(getattr(found[last], name + "_rate")), expected, 1e-7)


@pytest.mark.parametrize("choice", ["euler-zyx", "quaternion", "rotation-matrix"])
@pytest.mark.equation("Bouyarmane", "14")
@pytest.mark.equation("Bouyarmane", "15")
@pytest.mark.equation("Bouyarmane", "18")
@pytest.mark.equation("Bouyarmane", "19")
def test_blocks_of_the_jacobians_with_a_free_base(choice: str) -> None:
    robot = chosen(tree_with_balls(), choice)
    s, p = sample(robot, 8), pure(0.3, -0.2, 0.5)
    bodies = equation(robot, s).bodies
    by = robot.coordinates["root_joint"].by  # type: ignore[attr-defined]
    theta, x0 = list(s.q[: by.d]), s.q[by.d : by.d + 3]
    R0 = np.array([c.vector for c in by.rotation(theta)]).T
    rotation, position = slice(0, by.d), slice(by.d, by.d + 3)
    J_global = np.array(by.global_jacobian(theta))
    for k in bodies:
        point = np.array((k.seen.p + k.seen.rotate(p - k.center.inertia.center)).vector)
        J_t, J_r = array(k.translation(p)), array(k.global_rotation)
        lever = np.array([cross3(pure(*(point - x0)), pure(*column)).vector for column in J_global.T]).T
        assert_close(J_t[:, position], np.eye(3), 1e-12)
        assert_close(J_t[:, rotation], -lever, 1e-12)
        assert_close(J_r[:, rotation], J_global, 1e-12)
        assert_close(J_r[:, position], np.zeros((3, 3)), 1e-12)
        p0 = R0.T @ (point - x0)  # does not depend on θ
        units = np.eye(by.d)
        along = [np.array([c.vector for c in by.rotation_rate(theta, list(unit))]).T @ p0 for unit in units]
        admissible = plain(robot, "rate_matrix", s.q)[rotation, :3]
        assert_close(np.array(along).T @ admissible, J_t[:, rotation] @ admissible, 1e-11)
        # The rest is the motion against the base: added to that of the base, in world axes.
        omega = J_r @ s.qd
        assert_close(omega - J_global @ s.qd[rotation], J_r[:, by.d + 3 :] @ s.qd[by.d + 3 :], 1e-12)
        b = pure(-0.1, 0.4, 0.2)
        step = np.array([k.seen.rotate(cross3(p - b, r)).vector for r in k.r]).T
        assert_close(J_t, array(k.translation(b)) - step, 1e-12)


@pytest.mark.equation("Bouyarmane", "21")
def test_inertia_about_the_center() -> None:
    body = tree_with_balls().bodies[2].inertia
    c = np.array(body.com)
    at_center = np.array(body.tensor)
    at_origin = at_center + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    second = np.array(body.second_moments, dtype=float)
    assert_close(np.trace(second) * np.eye(3) - second, at_origin, 1e-13)


# --- M, N, forces ------------------------------------------------------------------------------------------------


@pytest.mark.equation("Bouyarmane", "21")
@few
@pytest.mark.equation("Bouyarmane", "25")
@pytest.mark.equation("Bouyarmane", "26")
def test_mass_and_coriolis_matrix(choice: Any) -> None:
    robot = chosen(tree_with_balls(), choice)
    s = sample(robot, 9)
    e = equation(robot, s)
    M, N = np.array(e.mass_matrix(), dtype=float), np.array(e.coriolis_matrix(), dtype=float)
    # The compiled forms are these.
    assert_close(plain(robot, "mass_matrix", s.q), M, 1e-12)
    assert_close(plain(robot, "coriolis_matrix", s.q, s.qd), N, 1e-12)
    # M has the rank of the degrees of freedom, and the energy is the robot's.
    values = np.linalg.eigvalsh(M)
    assert np.sum(values > 1e-9 * values[-1]) == robot.nv
    assert_close(0.5 * s.qd @ M @ s.qd, 0.5 * s.v @ run(robot.robot, "mass_matrix", s.own_q) @ s.v, 1e-12)
    # Ṁ − 2N is skew.
    M_rate = rate(lambda t: plain(robot, "mass_matrix", moved(robot, s, t)))
    skew = M_rate - 2.0 * N
    assert_close(skew + skew.T, np.zeros_like(skew), 1e-7, scale=np.abs(N).max())


@few
@pytest.mark.equation("Bouyarmane", "24")
def test_weight_and_contacts(choice: Any) -> None:
    robot = chosen(tree_with_balls(), choice)
    s, point, f = sample(robot, 10), (0.1, -0.3, 0.2), np.array([1.0, -20.0, 7.0])
    e = equation(robot, s)
    weight = np.array(e.weight(), dtype=float)
    assert_close(-weight, plain(robot, "gravity_forces", s.q), 1e-12)
    if choice != "dual-quaternion":
        base = robot.slices["root_joint"]
        g = np.zeros(robot.nq)
        g[base.stop - 3 : base.stop] = robot.robot.gravity
        assert_close(np.array(e.mass_matrix(), dtype=float) @ g, weight, 1e-11)
    found = np.array(e.contact_forces([("tool", point)], list(f)), dtype=float)
    J = plain(robot, "point_jacobian", s.q, frame="tool", point=point)
    assert_close(found, J.T @ f, 1e-12)
    place = lambda t: robot.robot.pose("tool", run(robot.robot, "integrate", s.own_q, s.v, t)).matrix @ [*point, 1.0]
    assert_close(J @ s.qd, rate(place)[:3], 1e-8)
    zero = np.zeros(robot.nq)
    without = plain(robot, "inverse_dynamics", s.q, s.qd, zero)
    with_contact = at_rest_with_contact(robot, s, point, f)
    assert_close(without - with_contact, found, 1e-11)


def at_rest_with_contact(
    robot: RobotInCoordinates, s: Sample, point: tuple[float, float, float], f: np.ndarray
) -> np.ndarray:
    """Inverse dynamics at q̈ = 0 with a contact at the tool."""
    return plain(robot, "inverse_dynamics", s.q, s.qd, np.zeros(robot.nq), f, contacts=(("tool", point),))


# --- the equation of motion --------------------------------------------------------------------------------------


@pytest.mark.equation("Bouyarmane", "30")
@on_trees
@pytest.mark.parametrize("outside", [0.0, 3.0])
@pytest.mark.equation("Bouyarmane", "section 3")
@pytest.mark.equation("Quiroz", "section 5.4")
@pytest.mark.equation("Bouyarmane", "31")
@pytest.mark.equation("Bouyarmane", "32")
@pytest.mark.equation("Bouyarmane", "33")
@pytest.mark.equation("Bouyarmane", "35")
def test_forward_dynamics_three_ways(choice: Any, make: Any, outside: float) -> None:
    """The paper's sums with KKT, the same on the fast forms, and through minimal coordinates; and the robot's own."""
    robot = chosen(make(), choice)
    s = sample(robot, 11, outside)
    e = equation(robot, s)
    net = list(s.tau - friction(robot, s))
    second, multiplier = (np.array(x, dtype=float) for x in e.forward(net))
    for method in ("minimal", "kkt"):
        both = plain(robot, "forward_dynamics", s.q, s.qd, s.tau, method=method)
        assert_close(both[: robot.nq], second, 1e-9)
        assert_close(both[robot.nq :], multiplier, 1e-8)
    own = plain(robot, "minimal_forces", s.q, s.tau)
    a = run(robot.robot, "forward_dynamics", s.own_q, s.v, own)
    assert_close(plain(robot, "acceleration", s.q, s.qd, second), a, 1e-9)
    assert_close(np.array(e.multiplier(list(second), net), dtype=float), multiplier, 1e-8)
    scale = float(np.abs(s.tau).max())
    assert_close(np.array(e.projected_imbalance(list(second), net), dtype=float), np.zeros(robot.nq), 1e-9, scale)
    held = np.array(e.imbalance(list(second), net), dtype=float)
    A = plain(robot, "constraint_matrix", s.q)
    assert_close(A.T @ multiplier, held, 1e-8, scale)
    if not outside:  # forces of the joints have no part against the conditions
        assert np.abs(multiplier).max(initial=0.0) < 1e-9


@pytest.mark.equation("Bouyarmane", "34")
def test_projector_is_the_one_printed_for_a_quaternion() -> None:
    robot = dq.robots.humanoid().in_coordinates("quaternion")
    s = sample(robot, 12, outside=3.0)
    e = equation(robot, s)
    S = np.zeros((4, robot.nq))
    S[:, :4] = np.eye(4)
    printed = np.eye(robot.nq) - S.T @ S @ np.outer(s.q, s.q)
    second = plain(robot, "forward_dynamics", s.q, s.qd, s.tau)[: robot.nq]
    imbalance = np.array(e.imbalance(list(second), list(s.tau)), dtype=float)
    assert np.abs(imbalance).max() > 1e-2  # there is something to drop
    assert_close(printed @ imbalance, np.zeros(robot.nq), 1e-9, scale=float(np.abs(imbalance).max()))
    found = np.array(e.projector(), dtype=float)
    # The print also takes up rows of the other coordinates, in which nothing is left over.
    assert_close(found[:, :4], printed[:, :4], 1e-12)
    assert_close(found[:, 4:], np.eye(robot.nq)[:, 4:], 1e-12)
    assert_close(found @ found, found, 1e-12)
    assert_close(e.multiplier(list(second), list(s.tau)), [s.q[:4] @ imbalance[:4]], 1e-10)


@few
@pytest.mark.equation("Bouyarmane", "22")
@pytest.mark.equation("Bouyarmane", "23")
def test_gauss_deviation_is_least_for_the_true_motion(choice: Any) -> None:
    """Bodies alone fall and spin; on admissible q̈ the gradient of D vanishes where no force acts at the joints."""
    bare = without_rotors(tree_with_balls())
    robot = chosen(bare, choice)
    s = sample(robot, 13)
    e = equation(robot, s)
    g, free = pure(*bare.gravity), []
    for k in e.bodies:
        omega = np.array(k.center.twist.primary.vector, dtype=float)
        inertia = np.array(k.center.inertia.tensor)
        free.append((g, pure(*np.linalg.solve(inertia, -np.cross(omega, inertia @ omega)))))
    second = plain(robot, "forward_dynamics", s.q, s.qd, np.zeros(robot.nq))[: robot.nq]
    slope = np.array(gradient(lambda x: e.deviation(x, free), list(second)), dtype=float)
    along = plain(robot, "rate_matrix", s.q)
    assert_close(along.T @ slope, np.zeros(robot.nv), 1e-8, scale=float(np.abs(slope).max()) + 1.0)
    for step in along.T:
        assert e.deviation(list(second + 0.1 * step), free) > e.deviation(list(second), free)


def without_rotors(robot: Robot) -> Robot:
    """No armature, damping or friction."""
    from dataclasses import replace

    joints = tuple(replace(j, armature=0.0) for j in robot.description.joints)
    description = robot.description.with_changes(joints=joints)
    return Robot.from_description(description, base="free").without_friction()


# --- dual quaternions --------------------------------------------------------------------------------------------


@pytest.mark.equation("Quiroz", "5.49")
@pytest.mark.equation("Quiroz", "5.52")
@pytest.mark.equation("Quiroz", "5.53")
@pytest.mark.equation("Quiroz", "5.54")
def test_twist_jacobians_of_a_dual_quaternion_base() -> None:
    """vec6 ξ = [J, Ξ] q̄̇ with Ξ = 2 Ī H⁺(x₀c*) H⁻(x_pc), against the robot's own twist Jacobians."""
    robot = dq.robots.humanoid().in_coordinates("dual-quaternion")
    s = sample(robot, 14)
    select6 = np.eye(8)[[1, 2, 3, 5, 6, 7]]
    x0p = dq.DQ(s.q[:8])
    for name in ("left_foot", "head"):
        x0c = robot.robot.pose(name, s.own_q).dq
        xi = 2.0 * select6 @ hamiplus8(x0c.conj()) @ haminus8(x0p.conj() * x0c)
        J = robot.robot.twist_jacobian(name, s.own_q)
        assert_close(np.hstack([xi, J[:, 6:]]) @ s.qd, J @ s.v, 1e-12)
        admissible = plain(robot, "rate_matrix", s.q)[:8, :6]
        assert_close(xi @ admissible, J[:, :6], 1e-12)
    for k in equation(robot, s).bodies:
        twist = k.center.twist
        assert_close(array(k.r) @ s.qd, twist.primary.vector, 1e-12)
        assert_close(array(k.t) @ s.qd, k.seen.rotate(twist.dual).vector, 1e-12)


@pytest.mark.equation("Quiroz", "5.55")
@pytest.mark.equation("Quiroz", "5.57")
@pytest.mark.equation("Quiroz", "5.58")
@pytest.mark.equation("Quiroz", "5.59")
def test_unit_norm_conditions_of_a_dual_quaternion() -> None:
    robot = dq.robots.humanoid().in_coordinates("dual-quaternion")
    s, a = sample(robot, 15), np.random.default_rng(16).normal(size=robot.nv)
    second = plain(robot, "second_rate", s.q, s.qd, s.v, a)
    P = lambda x: haminus8(dq.DQ(x)) @ C8() + hamiplus8(dq.DQ(x).conj())
    full = P(s.q[:8])
    assert_close(full @ s.qd[:8], np.zeros(8), 1e-13)
    assert_close(full @ second[:8], -P(s.qd[:8]) @ s.qd[:8], 1e-12)
    # Of the eight rows two are not zero; ours are half of them.
    A, b = plain(robot, "constraint_matrix", s.q), plain(robot, "constraint_bias", s.q, s.qd)
    assert np.linalg.matrix_rank(full) == 2
    assert_close(full[[0, 4]], 2.0 * A[:, :8], 1e-14)
    assert_close(full[[1, 2, 3, 5, 6, 7]], np.zeros((6, 8)), 1e-15)
    assert_close((-P(s.qd[:8]) @ s.qd[:8])[[0, 4]], 2.0 * b, 1e-13)
    x = dq.DQ(s.q[:8])
    residual = (x.conj() * x).vec8() - [1, 0, 0, 0, 0, 0, 0, 0]
    assert_close(residual[[0, 4]], plain(robot, "constraint_residual", s.q), 1e-14)
    off = dq.DQ(s.q[:8] * 1.1)
    moved_away = (off.conj() * off).vec8() - [1, 0, 0, 0, 0, 0, 0, 0]
    assert_close(moved_away[[0, 4]], plain(robot, "constraint_residual", np.r_[s.q[:8] * 1.1, s.q[8:]]), 1e-14)
