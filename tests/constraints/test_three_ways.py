"""Udwadia-Kalaba, multipliers and Kane's reduced equations are one; copies change nothing; a singular M is solved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from constraint_robots import ROBOTS, TIMED, RandomPfaffian, robot_of, state, states, written
from trees import assert_close

import dqdyn as dq
from dqdyn import constraints as kinds
from dqdyn.constraints.methods import reduced, square_roots, udwadia_kalaba
from dqdyn.dynamics.formulations.kane import inverse_dynamics as kane
from dqdyn.model.description import Description, Joint, Link, placement
from dqdyn.model.inertia import box
from dqdyn.robot import Robot

METHODS = ("kkt", "udwadia-kalaba", "kane")


@pytest.mark.equation("Silva", "59")
@pytest.mark.equation("Quiroz", "5.44")
@pytest.mark.equation("Parsa", "39")
@pytest.mark.equation("Parsa", "46")
@pytest.mark.parametrize("name", [*ROBOTS, *TIMED])
def test_three_ways_agree(name: str) -> None:
    robot = robot_of(name)
    t = 0.4
    for seed in range(3):
        q, v, tau = state(robot, seed, t)
        expected = robot.forward_dynamics(q, v, tau, t=t)
        for method in METHODS:
            assert_close(robot.forward_dynamics(q, v, tau, method=method, t=t), expected, 1e-8)
        b = robot.constraint_bias(q, v, t)
        assert_close(robot.constraint_matrix(q, v, t) @ expected, b, 1e-8, scale=max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("name", ["stewart platform", "hinge", "pfaffian"])
@pytest.mark.long
def test_batches_agree(name: str) -> None:
    robot = robot_of(name)
    q, v, tau = states(robot, 4)
    expected = robot.forward_dynamics(q, v, tau)
    for method in METHODS:
        assert_close(robot.forward_dynamics(q, v, tau, method=method), expected, 1e-8)
        out = np.empty_like(expected)
        assert robot.forward_dynamics(q, v, tau, method=method, out=out) is out
        assert_close(out, expected, 1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_random_pfaffian_constraints(seed: int) -> None:
    """Rows that nobody chose, with the time in half of the cases."""
    timed = seed % 2 == 1
    tree = dq.robots.arm7() if seed < 3 else dq.robots.holonomic_manipulator()
    rows = 1 + seed % 4
    function = RandomPfaffian(100 + seed, rows, tree.nv, timed)
    robot = tree.with_constraints(kinds.Pfaffian(function, rows, timed))
    q, v, tau = state(robot, seed, 1.3)
    expected = robot.forward_dynamics(q, v, tau, t=1.3)
    for method in METHODS:
        assert_close(robot.forward_dynamics(q, v, tau, method=method, t=1.3), expected, 1e-8)


@pytest.mark.parametrize("name", ["four-bar", "stewart platform", "weld", "contacts", "nonholonomic manipulator"])
def test_copies_change_nothing(name: str) -> None:
    """A second copy of every constraint, under another name: the same acceleration and forces, and it is reported."""
    from dataclasses import replace

    robot = robot_of(name)
    copies = [replace(c, name=f"copy of {c.name}") for c in robot.constraints]  # type: ignore[type-var]
    twice = robot.with_constraints(*copies, check=False)
    for seed in range(3):
        q, v, tau = state(robot, seed)
        expected = robot.forward_dynamics(q, v, tau)
        for method in METHODS:
            assert_close(written(twice, method, q, v, tau), expected, 1e-8)
        assert_close(twice.forward_dynamics(q, v, tau), expected, 1e-8)
        assert_close(twice.constraint_forces(q, v, tau), robot.constraint_forces(q, v, tau), 1e-7)
        plain, doubled = robot.constraint_report(q, v), twice.constraint_report(q, v)
        assert doubled.rank == plain.rank
        assert len(doubled.dependences) == len(plain.dependences) + len(plain.names)
        assert not doubled.contradictions
        copy = next(d for d in doubled.dependences if d.name.startswith("copy of") and d.on)
        assert copy.name.removeprefix("copy of ") in copy.on


def test_dependent_rows_of_another_kind() -> None:
    """A face held by its frame and again by points and poses on the same body: only the first six rows count."""
    tree = dq.robots.humanoid()
    corners = [(0.1, 0.05, 0.0), (0.1, -0.05, 0.0), (-0.1, 0.05, 0.0), (-0.1, -0.05, 0.01)]
    for i, corner in enumerate(corners):
        tree = tree.add_frame(f"corner_{i}", "left_foot", dq.Pose(translation=corner))
    face = tree.with_constraints(kinds.FaceContact("left_foot"))
    points = tree.with_constraints(*(kinds.PointContact(f"corner_{i}") for i in range(4)))
    both = face.with_constraints(*points.constraints)
    for seed in range(3):
        q, v, tau = state(face, seed)
        expected = face.forward_dynamics(q, v, tau)
        for robot in (points, both):
            for method in METHODS:
                assert_close(written(robot, method, q, v, tau), expected, 1e-8)
            assert robot.constraint_report(q, v).rank == 6
            assert not robot.constraint_report(q, v).contradictions


def massless_elbow() -> Robot:
    """Two hinges on one axis with a link without inertia between them: M is singular."""
    links = (Link("base"), Link("nothing"), Link("arm", box(2.0, (0.4, 0.1, 0.1), (0.2, 0.0, 0.0))))
    joints = (
        Joint("first", "revolute", "base", "nothing"),
        Joint("second", "revolute", "nothing", "arm"),
    )
    return Robot.from_description(Description("redundant", links, joints), strict=False)


@pytest.mark.filterwarnings("ignore::dqdyn.ModelWarning")
def test_singular_mass_matrix() -> None:
    """Redundant coordinates: KKT and Kane find the acceleration of the arm; the square root does not exist."""
    tree = massless_elbow()
    with pytest.raises(dq.ModelError, match="moves no inertia"):
        tree.forward_dynamics([0.1, 0.2], [0.3, 0.4], [1.0, 1.0])
    robot = tree.with_constraints(kinds.JointCoupling(("first", "second"), (1.0, -2.0), 0.1))
    q, v = robot.project([0.3, 0.2], [0.5, 0.1])
    tau = np.array([0.7, -0.2])
    assert np.linalg.matrix_rank(robot.mass_matrix(q)) == 1
    found = robot.forward_dynamics(q, v, tau)
    assert_close(robot.forward_dynamics(q, v, tau, method="kane"), found, 1e-10)
    with pytest.raises(dq.ModelError, match="inverse square root of the mass matrix, which is singular"):
        robot.forward_dynamics(q, v, tau, method="udwadia-kalaba")
    # One angle s = first + second turns the arm, first = 2 second: power of tau on it over the inertia of the arm.
    inertia = box(2.0, (0.4, 0.1, 0.1), (0.2, 0.0, 0.0))
    moment = inertia.tensor[2][2] + inertia.mass * 0.2**2
    assert_close(found.sum(), (tau @ [2.0 / 3.0, 1.0 / 3.0]) / moment, 1e-10)
    assert_close(found[0], 2.0 * found[1], 1e-10)
    assert_close(robot.constraint_forces(q, v, tau), robot.inverse_dynamics(q, v, found) - tau, 1e-10)


@pytest.mark.filterwarnings("ignore::dqdyn.ModelWarning")
def test_what_stays_free_without_inertia_is_named() -> None:
    links = (*massless_elbow().description.links, Link("tip"))
    joints = (
        *massless_elbow().description.joints,
        Joint("third", "revolute", "arm", "tip", placement((0.4, 0.0, 0.0))),
    )
    tree = Robot.from_description(Description("redundant", links, joints))
    robot = tree.with_constraints(kinds.JointCoupling(("first", "second"), (1.0, -2.0)), check=False)
    with pytest.raises(dq.ModelError, match="free to move without inertia") as caught:
        robot.forward_dynamics(np.zeros(3), np.zeros(3), np.zeros(3))
    assert caught.value.joint == "third"


# --- the equations of the papers --------------------------------------------------------------------------------------


@pytest.mark.equation("Silva", "59")
@pytest.mark.equation("Silva", "60")
@pytest.mark.equation("Quiroz", "5.45")
@pytest.mark.equation("Quiroz", "5.46")
@pytest.mark.equation("Quiroz", "5.47")
@pytest.mark.parametrize("name", ["nonholonomic manipulator", "weld", "stewart platform"])
def test_equation_of_the_constrained_robot(name: str) -> None:
    """M a + Ω C v − M^(1/2) D⁺ b = Ω τ̄, gravity in τ̄; Ω is a projector that leaves no constraint force."""
    robot = robot_of(name)
    q, v, tau = state(robot, 5)
    mass, a_matrix, b = robot.mass_matrix(q), robot.constraint_matrix(q), robot.constraint_bias(q, v)
    omega = robot.constraint_projector(q)
    a = robot.forward_dynamics(q, v, tau)
    root, inverse_root = square_roots.roots(mass)
    assert_close(root @ root, mass, 1e-10)
    assert_close(root @ inverse_root, np.eye(robot.nv), 1e-9)
    pushed = root @ np.linalg.pinv(a_matrix @ inverse_root) @ b
    coriolis = robot.coriolis_matrix(q, v) @ v
    active = tau - robot.gravity_forces(q)
    assert_close(mass @ a + omega @ coriolis - pushed, omega @ active, 1e-8, scale=np.abs(active).max())
    assert_close(omega @ omega, omega, 1e-8)
    assert_close(omega @ a_matrix.T, np.zeros_like(a_matrix.T), 1e-7)
    force = square_roots.constraint_force(mass, active - coriolis, a_matrix, b)
    assert_close(mass @ a, active - coriolis + force, 1e-8)
    assert_close(robot.constraint_forces(q, v, tau), force, 1e-8)


@pytest.mark.equation("Quiroz", "5.39")
@pytest.mark.equation("Quiroz", "5.40")
@pytest.mark.equation("Quiroz", "5.41")
@pytest.mark.equation("Quiroz", "5.42")
@pytest.mark.equation("Quiroz", "5.43")
def test_least_constraint() -> None:
    """Among the accelerations with A a = b it is nearest to the free one, in the metric of M."""
    robot = robot_of("hinge")
    q, v, tau = state(robot, 2)
    mass = robot.mass_matrix(q)
    free = robot.without_constraints().forward_dynamics(q, v, tau)
    forces = tau - robot.gravity_forces(q) - robot.coriolis_matrix(q, v) @ v  # Q
    assert_close(np.linalg.solve(mass, forces), free, 1e-9)
    a = robot.forward_dynamics(q, v, tau)
    cost = lambda x: (x - free) @ mass @ (x - free)
    basis, _ = reduced.null_space(robot.constraint_matrix(q))
    rng = np.random.default_rng(0)
    for _ in range(20):
        other = a + basis @ rng.normal(size=basis.shape[1])
        assert cost(other) > cost(a)
    system = mass, forces, robot.constraint_matrix(q), robot.constraint_bias(q, v)
    assert_close(udwadia_kalaba.acceleration(*(part.tolist() for part in system)), a, 1e-8)


@pytest.mark.equation("Silva", "61")
@pytest.mark.equation("Quiroz", "5.48")
@pytest.mark.equation("Parsa", "8")
@pytest.mark.equation("Parsa", "9")
@pytest.mark.equation("Parsa", "42")
def test_differential_drive_in_two_speeds() -> None:
    """With u = (forward speed, turning rate, joint rates) Kane's own equations give the same motion, no A in sight."""
    robot = robot_of("nonholonomic manipulator")
    q, v, tau = state(robot, 1)
    x, y, phi = v[:3]
    heading = q[2]
    assert_close(robot.constraint_matrix(q)[0, :3], [-np.sin(heading), np.cos(heading), 0.0], 1e-15)
    assert_close(robot.constraint_bias(q, v), [phi * (np.cos(heading) * x + np.sin(heading) * y)], 1e-12)

    def speeds(at: object) -> list[list[object]]:
        from dqdyn.algebra.scalar import cos, sin

        c, s = cos(at[2]), sin(at[2])  # type: ignore[index]
        top = [[c, 0.0], [s, 0.0], [0.0, 1.0]]
        return [row + [0.0] * 6 for row in top] + [[0.0] * 2 + [float(i == k) for i in range(6)] for k in range(6)]

    basis = np.array(speeds(list(q)), dtype=float)
    assert_close(robot.constraint_matrix(q) @ basis, np.zeros((1, 8)), 1e-14)
    u = np.linalg.lstsq(basis, v, rcond=None)[0]
    assert_close(basis @ u, v, 1e-12)
    model = robot.model
    columns = []
    rest = np.array(kane(model, list(q), list(u), [0.0] * 8, speeds=speeds))
    for k in range(8):
        columns.append(np.array(kane(model, list(q), list(u), [float(i == k) for i in range(8)], speeds=speeds)) - rest)
    u_rate = np.linalg.solve(np.array(columns).T, basis.T @ tau - rest)
    turned = np.zeros((9, 8))
    turned[0, 0], turned[1, 0] = -np.sin(heading) * phi, np.cos(heading) * phi
    assert_close(basis @ u_rate + turned @ u, robot.forward_dynamics(q, v, tau), 1e-8)


@pytest.mark.equation("Parsa", "8")
@pytest.mark.equation("Parsa", "9")
@pytest.mark.equation("Parsa", "43")
@pytest.mark.equation("Parsa", "44")
@pytest.mark.equation("Parsa", "45")
@pytest.mark.parametrize("name", ["four-bar", "nonholonomic manipulator", "hinge", "stewart platform"])
def test_reduced_mass_and_coriolis_matrix(name: str) -> None:
    """The reduced equations reproduce the motion, and the rate of the reduced M minus 2C is skew-symmetric."""
    robot = robot_of(name)
    q, v, tau = state(robot, 4)
    small = robot.reduced_dynamics(q, v)
    u = small.speeds(v)
    assert_close(small.basis @ u, v, 1e-9)
    a = robot.forward_dynamics(q, v, tau)
    u_rate = np.linalg.solve(small.mass, small.basis.T @ tau - small.coriolis @ u - small.rest)
    a_matrix, rate = robot.constraint_matrix(q), robot.constraint_matrix_rate(q, v)
    basis_rate = -np.linalg.pinv(a_matrix, rcond=1e-9) @ rate @ small.basis
    assert_close(small.basis @ u_rate + basis_rate @ u, a, 1e-8)
    assert small.freedom == robot.constraint_report(q).freedom
    # The basis carried along the motion without turning in itself: B + h Ḃ.
    h = 1e-6
    ahead, behind = (robot.mass_matrix(robot.integrate(q, v, s)) for s in (h, -h))
    mass_rate = (ahead - behind) / (2 * h)
    b = small.basis
    reduced_rate = (
        basis_rate.T @ robot.mass_matrix(q) @ b + b.T @ mass_rate @ b + b.T @ robot.mass_matrix(q) @ basis_rate
    )
    skew = reduced_rate - 2.0 * small.coriolis
    assert_close(skew + skew.T, np.zeros_like(skew), 1e-6, scale=np.abs(small.coriolis).max())


@pytest.mark.long
def test_forces_do_no_work_at_rest_constraints() -> None:
    """Power of constraint forces on admissible velocities vanishes where constraints do not move."""
    for name in ROBOTS:
        robot = robot_of(name)
        if name == "pfaffian":
            continue  # its b is not zero
        q, v, tau = state(robot, 7)
        force = robot.constraint_forces(q, v, tau)
        assert abs(force @ v) <= 1e-8 * max(1.0, np.abs(force).max() * np.abs(v).max())
        lam = robot.constraint_multipliers(q, v, tau)
        assert_close(robot.constraint_matrix(q).T @ lam, force, 1e-9)


def test_wrenches_act_under_constraints() -> None:
    robot = robot_of("weld")
    q, v, tau = state(robot)
    wrench = {"joint_3" if "joint_3" in robot.frames else robot.joints[2].name: [5.0, -3.0, 2.0, 0.1, 0.2, 0.3]}
    expected = robot.forward_dynamics(q, v, tau, wrench)
    for method in METHODS:
        assert_close(robot.forward_dynamics(q, v, tau, wrench, method), expected, 1e-8)
    assert np.abs(expected - robot.forward_dynamics(q, v, tau)).max() > 1e-3
    clock = robot_of("clock")
    q, v, tau = state(clock, 0, 0.3)
    wrench = {"tool": [5.0, -3.0, 2.0, 0.1, 0.2, 0.3]}
    kane_way = clock.forward_dynamics(q, v, tau, wrench, "kane", t=0.3)
    assert_close(clock.forward_dynamics(q, v, tau, wrench, t=0.3), kane_way, 1e-8)


@pytest.mark.parametrize("name", ["four-bar", "nonholonomic manipulator", "sphere"])
def test_derivatives_under_constraints(name: str) -> None:
    robot = robot_of(name)
    q, v, tau = state(robot)
    d_dq, d_dv, d_dtau = robot.forward_dynamics_derivatives(q, v, tau)
    h = 1e-6

    def slope(function: Callable[[float], np.ndarray]) -> np.ndarray:
        return (function(h) - function(-h)) / (2 * h)

    for k, e in enumerate(np.eye(robot.nv)):
        along_q = slope(lambda s, e=e: robot.forward_dynamics(robot.integrate(q, e, s), v, tau))  # type: ignore[misc]
        along_v = slope(lambda s, e=e: robot.forward_dynamics(q, v + s * e, tau))  # type: ignore[misc]
        along_tau = slope(lambda s, e=e: robot.forward_dynamics(q, v, tau + s * e))  # type: ignore[misc]
        for found, expected in ((d_dq, along_q), (d_dv, along_v), (d_dtau, along_tau)):
            assert_close(found[:, k], expected, 1e-5, scale=max(1.0, np.abs(found).max()))


def test_derivatives_of_large_constrained_robots_are_refused() -> None:
    platform = robot_of("stewart platform")
    q, v, tau = state(platform)
    with pytest.raises(dq.Error, match="up to nv"):
        platform.forward_dynamics_derivatives(q, v, tau)
