"""All methods of constrained forward dynamics as programs: bound, in batches, where rows depend or contradict."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from constraint_robots import robot_of, state, states
from trees import assert_close

import dqdyn as dq
from dqdyn import constraints as kinds
from dqdyn.algebra.scalar import cos, sin
from dqdyn.constraints.constraint import Place
from dqdyn.constraints.methods import square_roots, udwadia_kalaba
from dqdyn.model.description import Description, Joint, Link, placement
from dqdyn.model.inertia import box
from dqdyn.robot import Robot

METHODS = ("kkt", "udwadia-kalaba", "kane")
WRENCH = np.array([5.0, -3.0, 2.0, 0.1, 0.2, 0.3])


# --- programs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "nonholonomic manipulator", "wheels", "weld", "pfaffian"])
@pytest.mark.parametrize("method", METHODS)
def test_bound_plain_single_batch_and_uncompiled_are_one(name: str, method: str) -> None:
    robot = robot_of(name)
    q, v, tau = states(robot, 5)
    bound = robot.function("forward_dynamics", method=method)
    many = bound(q, v, tau)
    assert_close(many, robot.forward_dynamics(q, v, tau), 1e-8)
    for i in range(5):
        one = bound(q[i], v[i], tau[i])
        assert_close(one, many[i], 1e-13)
        assert np.array_equal(robot.forward_dynamics(q[i], v[i], tau[i], method=method), one)
    interpreted = robot.program("forward_dynamics", method=method)
    assert interpreted.counts.total == robot.count("forward_dynamics", method=method).total
    assert robot.count("forward_dynamics", method=method, simplify=False).total > interpreted.counts.total


def test_programs_differ() -> None:
    """Each method is a program of its own; "auto" is "kkt". Rows are normalised by square roots, M too."""
    robot = robot_of("weld")
    programs = {method: robot.program("forward_dynamics", method=method) for method in ("auto", *METHODS)}
    assert programs["auto"] is programs["kkt"]
    assert len({program.digest for program in programs.values()}) == 3
    assert programs["kkt"].counts.sqrt == 0
    assert programs["kane"].counts.sqrt == 6
    assert programs["udwadia-kalaba"].counts.sqrt > 6  # some pivots of M are constants


@pytest.mark.parametrize("method", METHODS)
def test_time_and_wrenches(method: str) -> None:
    """All four functions, with the time where a constraint needs it, and wrenches in both axes."""
    clock, arm = robot_of("clock"), robot_of("weld")
    t = 0.3
    q, v, tau = state(clock, 0, t)
    free = clock.forward_dynamics(q, v, tau, t=t)
    at = clock.function("forward_dynamics", method=method, time=True)
    assert_close(at(q, v, tau, t), free, 1e-9)
    assert np.abs(at(q, v, tau, 0.8) - free).max() > 1e-2
    times = np.array([t, 0.8])
    assert_close(at(q, v, tau, times)[1], at(q, v, tau, 0.8), 1e-13)
    for expressed in ("body", "aligned"):
        options: dict[str, Any] = {"method": method, "wrench_frames": ("tool",), "wrench_expressed": expressed}
        pushed = clock.forward_dynamics(q, v, tau, {"tool": WRENCH}, expressed=expressed, t=t)
        under = clock.function("forward_dynamics", **options, time=True)
        assert_close(under(q, v, tau, WRENCH, t), pushed, 1e-9)
        assert np.abs(pushed - free).max() > 1e-2
        plain = clock.forward_dynamics(q, v, tau, {"tool": WRENCH}, method, expressed=expressed, t=t)
        assert_close(plain, pushed, 1e-9)
    q, v, tau = state(arm)
    options = {"method": method, "wrench_frames": ("tool",)}
    under = arm.function("forward_dynamics", **options)
    link = arm.joints[2].name
    assert_close(under(q, v, tau, WRENCH), arm.forward_dynamics(q, v, tau), 1e-8)  # the weld holds the tool
    pushed = arm.forward_dynamics(q, v, tau, {link: WRENCH})
    assert_close(arm.forward_dynamics(q, v, tau, {link: WRENCH}, method), pushed, 1e-8)
    assert arm.count("forward_dynamics", **options, simplify=False).total > 0


@pytest.mark.parametrize("method", ["udwadia-kalaba", "kane"])
def test_other_languages(method: str) -> None:
    pytest.importorskip("casadi")
    robot = robot_of("four-bar")
    q, v, tau = state(robot, 3)
    exported = robot.export("casadi", "forward_dynamics", method=method)
    assert_close(np.array(exported(q, v, tau)).ravel(), robot.forward_dynamics(q, v, tau), 1e-9)
    source = robot.export("c", "forward_dynamics", method=method)
    assert "sqrt(" in source
    assert method.partition("-")[0] in source


# --- the root of M ----------------------------------------------------------------------------------------------------


@pytest.mark.equation("Quiroz", "5.40")
@pytest.mark.equation("Quiroz", "5.44")
@pytest.mark.equation("Quiroz", "5.45")
@pytest.mark.parametrize("name", ["weld", "nonholonomic manipulator", "hinge"])
def test_any_root_of_the_mass_matrix_does(name: str) -> None:
    """The triangular root gives what the papers' symmetric one gives, for b that the rows contradict as well."""
    robot = robot_of(name)
    rng = np.random.default_rng(0)
    q, v, tau = state(robot, 2)
    mass, a = robot.mass_matrix(q), robot.constraint_matrix(q)
    a = np.vstack([a, rng.normal(size=(3, len(a))) @ a])  # three more rows that depend on them
    force = tau - robot.bias_forces(q, v)
    _, inverse_root = square_roots.roots(mass)
    free = np.linalg.solve(mass, force)
    for b in (a @ rng.normal(size=robot.nv), rng.normal(size=len(a))):
        expected = free + inverse_root @ np.linalg.pinv(a @ inverse_root, rcond=1e-9) @ (b - a @ free)
        found = udwadia_kalaba.acceleration(mass.tolist(), force.tolist(), a.tolist(), b.tolist())
        assert_close(found, expected, 1e-8)
        pushed = square_roots.constraint_force(mass, force, a, b)
        assert_close(mass @ found, force + pushed, 1e-8)


@dataclass(frozen=True)
class Contradiction:
    """Three rows for one combination of velocities, each with a speed of its own, and one more row."""

    speeds: tuple[float, float, float]

    def __call__(self, at: Place) -> Any:
        row = [1.0, -0.5 * cos(at.q[3]), 0.0, 2.0, 0.0, 0.0]
        rows = [row, [2.0 * c for c in row], [0.0, 1.0, 0.0, 0.0, sin(at.q[0]), 1.0], [-c for c in row]]
        b = [c * sin(at.q[1]) for c in self.speeds]
        return rows, [b[0], b[1], at.q[2], b[2]]


def test_rows_that_contradict() -> None:
    """Udwadia's and Kalaba's generalized inverse has the least |A a − b|; elsewhere the earlier row wins."""
    tree = dq.robots.arm6()
    robot = tree.with_constraints(kinds.Pfaffian(Contradiction((1.0, 3.0, 0.5)), 4), check=False)
    rng = np.random.default_rng(1)
    q, v, tau = rng.normal(size=(3, 4, 6))
    found = {method: robot.forward_dynamics(q, v, tau, method=method) for method in METHODS}
    a, b = robot.constraint_matrix(q), robot.constraint_bias(q, v)
    for i in range(4):
        least = np.linalg.lstsq(a[i], b[i], rcond=1e-9)[0]
        assert np.abs(a[i] @ least - b[i]).max() > 1e-2
        assert_close(a[i] @ found["udwadia-kalaba"][i], a[i] @ least, 1e-9)
        for method in ("kkt", "kane"):
            assert_close(a[i][[0, 2]] @ found[method][i], b[i][[0, 2]], 1e-9)
    assert_close(found["kane"], found["kkt"], 1e-9)


# --- ranks that change ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_flat_parallelogram(method: str) -> None:
    """Where all bars lie in one line the two rows are one: one freedom more, and the same answer as from arrays.

    Beside it the rows differ by little and the acceleration is that of the linkage as it folds.
    """
    robot = dq.robots.four_bar(crank=0.2, coupler=0.4, rocker=0.2, ground=0.4)
    tau = np.array([0.3, -0.2, 0.5])
    speed = np.array([1.5, -1.5, 1.5])
    angles = np.pi / 2 - np.array([0.5, 0.1, 1e-2, 1e-3, 1e-5, 0.0, -1e-5, -1e-3])
    q = angles[:, None] * np.array([1.0, -1.0, 1.0])
    assert_close(robot.constraint_residual(q), np.zeros((8, 3)), 1e-15)
    a, b, mass = robot.constraint_matrix(q), robot.constraint_bias(q, speed), robot.mass_matrix(q)
    many = robot.forward_dynamics(q, speed, tau, method=method)
    force = tau - robot.bias_forces(q, speed)
    for i, angle in enumerate(angles):
        assert robot.constraint_report(q[i], speed).freedom == (2 if angle == np.pi / 2 else 1)
        expected = np.linalg.solve(mass[i], force[i] + square_roots.constraint_force(mass[i], force[i], a[i], b[i]))
        assert_close(many[i], expected, 1e-8)
        assert_close(robot.forward_dynamics(q[i], speed, tau, method=method), expected, 1e-8)
    moved = many[:, [0, 0, 0]] * np.array([1.0, -1.0, 1.0])
    assert_close(np.delete(many, 5, axis=0), np.delete(moved, 5, axis=0), 1e-8)
    assert np.abs(many[5] - moved[5]).max() > 1.0


def tilted_four_bar() -> Robot:
    """A planar linkage in a plane along no axis, closed in axes of which one is its normal but for rounding."""
    turn = dq.Pose(rotation=np.array([0.5, -0.1, 0.7, 0.5]) / np.linalg.norm([0.5, -0.1, 0.7, 0.5]))
    across = turn.rotation_matrix
    along = lambda x: tuple(float(c) for c in across @ [x, 0.0, 0.0])
    axis = tuple(float(c) for c in across @ [0.0, 0.0, 1.0])
    links = (
        Link("ground"),
        *(Link(name, box(1.0, (0.1, 0.1, 0.1), along(x))) for name, x in (("a", 0.1), ("b", 0.4), ("c", 0.2))),
    )
    joints = (
        Joint("first", "revolute", "ground", "a", axis=axis),
        Joint("second", "revolute", "a", "b", placement(along(0.3)), axis=axis),
        Joint("third", "revolute", "ground", "c", placement(along(0.6)), axis=axis),
    )
    tree = Robot.from_description(Description("tilted", links, joints))
    tree = tree.add_frame("b_end", "b", dq.Pose(rotation=turn.rotation, translation=along(0.7)))
    tree = tree.add_frame("c_end", "c", dq.Pose(translation=along(0.5)))
    return tree.with_constraints(kinds.PointClosure("b_end", "c_end"), check=False)


def test_a_row_of_rounding_asks_for_nothing() -> None:
    """The row across the plane is 1e-17 and so is its b: divided by each other they would be anything."""
    robot = tilted_four_bar()
    rng = np.random.default_rng(0)
    for start in (1.0, 1.3, 1.9):
        q, v = robot.project([start, -0.2, 1.5], rng.normal(size=3))
        tau = rng.normal(size=3)
        sizes = np.linalg.norm(robot.constraint_matrix(q), axis=1)
        assert 0.0 < sizes.min() < 1e-15
        assert_close(robot.constraint_residual(q), np.zeros(3), 1e-11)
        expected = robot.forward_dynamics(q, v, tau)
        mass, force = robot.mass_matrix(q), tau - robot.bias_forces(q, v)
        pushed = square_roots.constraint_force(mass, force, robot.constraint_matrix(q), robot.constraint_bias(q, v))
        assert_close(expected, np.linalg.solve(mass, force + pushed), 1e-8)
        for method in METHODS:
            assert_close(robot.forward_dynamics(q, v, tau, method=method), expected, 1e-9)
        assert np.abs(robot.constraint_multipliers(q, v, tau)).max() < 1e3


# --- a singular M -----------------------------------------------------------------------------------------------------


def massless_wrist() -> Robot:
    """An arm that ends in two joints without inertia, held at a point; and a gear for the last joint."""
    links = (
        Link("base"),
        Link("upper", box(2.0, (0.4, 0.1, 0.1), (0.2, 0.0, 0.0))),
        Link("lower", box(1.0, (0.3, 0.1, 0.1), (0.15, 0.0, 0.0))),
        Link("wrist"),
        Link("hand"),
    )
    joints = (
        Joint("shoulder", "revolute", "base", "upper", axis=(0.0, 1.0, 0.0)),
        Joint("elbow", "revolute", "upper", "lower", placement((0.4, 0.0, 0.0)), axis=(0.0, 0.6, 0.8)),
        Joint("flexion", "revolute", "lower", "wrist", placement((0.3, 0.0, 0.0)), axis=(0.0, 0.0, 1.0)),
        Joint("turn", "revolute", "wrist", "hand", placement((0.1, 0.0, 0.0)), axis=(0.0, 1.0, 0.0)),
    )
    tree = Robot.from_description(Description("massless wrist", links, joints), strict=False)
    return tree.with_constraints(
        kinds.JointCoupling(("elbow", "flexion"), (1.0, -0.7)), kinds.JointCoupling(("turn", "shoulder"), (1.0, 0.5))
    )


@pytest.mark.filterwarnings("ignore::dqdyn.ModelWarning")
def test_singular_mass_matrix_in_programs() -> None:
    """Kane's equations and multipliers agree with independent coordinates; the root of M is refused when built."""
    robot = massless_wrist()
    q, v, tau = states(robot, 4)
    assert np.linalg.matrix_rank(robot.mass_matrix(q[0])) == 2
    basis = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0 / 0.7], [-0.5, 0.0]])
    for method in ("kkt", "kane"):
        found = robot.function("forward_dynamics", method=method)(q, v, tau)
        for i in range(4):
            reduced = basis.T @ robot.mass_matrix(q[i]) @ basis
            expected = basis @ np.linalg.solve(reduced, basis.T @ (tau[i] - robot.bias_forces(q[i], v[i])))
            assert_close(found[i], expected, 1e-9)
            assert_close(robot.forward_dynamics(q[i], v[i], tau[i], method=method), expected, 1e-9)
    refused = "inverse square root of the mass matrix, which is singular for 'massless wrist': use method='kkt'"
    for build in (robot.function, robot.program, robot.count):
        with pytest.raises(dq.ModelError, match=refused):
            build("forward_dynamics", method="udwadia-kalaba")  # type: ignore[operator]
    with pytest.raises(dq.ModelError, match=refused):
        robot.forward_dynamics(q, v, tau, method="udwadia-kalaba")


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_bad_input(method: str) -> None:
    robot = robot_of("five-bar")
    q, v, tau = state(robot)
    bound = robot.function("forward_dynamics", method=method)
    for call in (bound, lambda *state: robot.forward_dynamics(*state, method=method)):
        with pytest.raises(dq.StateError, match=r"components|shape"):
            call(q[:2], v, tau)
        with pytest.raises(dq.StateError, match="finite"):
            call(q, v, tau * np.nan)
        with pytest.raises(dq.StateError, match="finite"):
            call(np.stack([q, q * np.inf]), v, tau)
    assert np.isnan(bound(q * np.nan, v, tau, check=False)).all()
    assert np.isnan(bound(q, v, tau * np.nan, check=False)).any()


def test_methods_have_names() -> None:
    robot, tree = robot_of("five-bar"), dq.robots.arm6()
    q, v, tau = state(robot)
    with pytest.raises(dq.UnknownNameError, match="'kanes'"):
        robot.function("forward_dynamics", method="kanes")
    for call in (
        lambda: robot.forward_dynamics(q, v, tau, method=["kane"]),  # type: ignore[arg-type]
        lambda: robot.function("forward_dynamics", method=["kane"]),
    ):
        with pytest.raises(dq.Error, match="is a name, such as 'kkt'; found"):
            call()
    for method in ("kane", "udwadia-kalaba", "kkt"):  # methods of constraints
        with pytest.raises(dq.UnknownNameError, match="method of forward_dynamics"):
            tree.function("forward_dynamics", method=method)
