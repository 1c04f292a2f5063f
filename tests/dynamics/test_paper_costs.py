"""The cost tables of Quiroz and Silva, and the matrix recursion that Farias compares with: counted and run."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from trees import assert_close, random_robot, random_state

import dqdyn as dq
from dqdyn.algebra.adjoint import Ad
from dqdyn.algebra.counter import Tally, counters
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.poses import pose, translator
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.analysis.costs import homogeneous_reference as homogeneous
from dqdyn.analysis.costs.farias import Cost, farias_total
from dqdyn.analysis.costs.formula import Formula, Operations, fitted, polynomial
from dqdyn.analysis.costs.quiroz import (
    quiroz_table_5_1,
    quiroz_table_5_2,
    quiroz_table_5_3,
    quiroz_table_5_4,
    silva_table_3,
)
from dqdyn.dynamics.formulations import gauss, newton_euler
from dqdyn.dynamics.formulations.literal import matrices, silva
from dqdyn.dynamics.formulations.literal import quiroz as steps
from dqdyn.dynamics.formulations.literal import quiroz_jacobians as jacobians
from dqdyn.errors import Error
from dqdyn.kinematics.tree import poses
from dqdyn.model.model import WORLD_BODY
from dqdyn.robot import Robot

TABLES = {
    "5.1": quiroz_table_5_1,
    "5.2": quiroz_table_5_2,
    "5.3": quiroz_table_5_3,
    "5.4": quiroz_table_5_4,
    "3": silva_table_3,
}
CLASSIC = ("classic Euler-Lagrange (Hollerbach)", "classic Newton-Euler (Balafoutis)")
DIFFERENT = {
    "C(J̇_x) of body i": ("128i + 48", "108i + 32"),
    "dual-quaternion Newton-Euler": ("871n − 48", "704n − 40"),
}
"""Lines whose count is not the printed one; those of other authors have none."""
AT_SEVEN = {
    "Gauss's principle": (23093, 19922),
    "classic Euler-Lagrange (Hollerbach)": (2607, 2039),
    "dual-quaternion Newton-Euler": (6126, 5028),
    "classic Newton-Euler (Balafoutis)": (1002, 869),
}
"""Printed formulas at n = 7, by hand."""


# --- tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.equation("Quiroz", "table 5.1")
@pytest.mark.equation("Quiroz", "table 5.2")
@pytest.mark.equation("Quiroz", "table 5.3")
@pytest.mark.equation("Quiroz", "table 5.4")
@pytest.mark.equation("Silva", "table 3")
@pytest.mark.equation("Quiroz", "section 5.5")
@pytest.mark.equation("Quiroz", "section 5.5.1")
@pytest.mark.equation("Silva", "section 5.3")
@pytest.mark.parametrize("name", TABLES)
def test_printed_numbers_are_counted_or_explained(name: str) -> None:
    for line in TABLES[name]():
        if line.printed is None:
            assert line.reason
        elif line.name in CLASSIC:
            assert line.counted is None
            assert "another author" in line.reason
        elif line.name in DIFFERENT:
            assert line.counted == Operations.parse(*DIFFERENT[line.name])
            assert not line.equal
            assert "given" in line.reason or "without steps" in line.reason
        else:
            assert line.equal, line.name


@pytest.mark.equation("Quiroz", "5.60")
@pytest.mark.equation("Quiroz", "5.62")
@pytest.mark.equation("Quiroz", "table 5.4")
@pytest.mark.equation("Silva", "table 3")
@pytest.mark.parametrize("name", ["5.4", "3"])
def test_printed_formulas_at_seven_joints(name: str) -> None:
    printed = {line.name: line.printed for line in TABLES[name]() if line.printed is not None}
    assert {key: (found.mul(n=7), found.add(n=7)) for key, found in printed.items()} == AT_SEVEN


@pytest.mark.equation("Quiroz", "5.63")
@pytest.mark.equation("Quiroz", "5.64")
@pytest.mark.equation("Quiroz", "5.69")
@pytest.mark.parametrize(
    ("table", "of_body", "of_all", "sums"),
    [
        ("5.2", "C(J_ξ) of body i", "C(J_ξ) of all bodies", None),
        ("5.2", "C(J̇_ξ) of body i", "C(J̇_ξ) of all bodies", None),
        ("5.3", "C(M_i)", "C(M_GP)", 2),
        ("5.3", "C(C_i)", "C(C_GP)", 2),
        ("5.3", "C(g_i)", "C(g_GP)", 1),
    ],
)
@pytest.mark.parametrize("n", [1, 2, 5, 9])
def test_all_bodies_cost_the_sum_of_the_bodies(table: str, of_body: str, of_all: str, sums: int | None, n: int) -> None:
    lines = {line.name: line.counted for line in TABLES[table]()}
    body, whole = lines[of_body], lines[of_all]
    assert body is not None
    assert whole is not None
    added = 0 if sums is None else (n - 1) * n**sums
    assert whole.mul(n=n) == sum(body.mul(i=i) for i in range(1, n + 1))
    assert whole.add(n=n) == sum(body.add(i=i) for i in range(1, n + 1)) + added


@pytest.mark.equation("Silva", "section 3")
@pytest.mark.equation("Silva", "table 3")
def test_printed_newton_euler_is_an_upper_bound_of_its_steps() -> None:
    line = {line.name: line for line in silva_table_3()}["dual-quaternion Newton-Euler"]
    assert line.printed is not None
    assert line.counted is not None
    for n in (1, 2, 50):
        assert line.counted.mul(n=n) < line.printed.mul(n=n)
        assert line.counted.add(n=n) < line.printed.add(n=n)


# --- what is counted moves a robot --------------------------------------------------------------------------------


def dh_arm() -> tuple[Robot, np.ndarray, list[tuple[float, list[list[float]]]]]:
    """An arm by standard parameters, these, and masses and tensors about the origins of its frames."""
    rng = np.random.default_rng(3)
    table = rng.uniform(-1.0, 1.0, size=(3, 4))
    inertias = []
    for _ in table:
        a = rng.normal(size=(3, 3))
        inertias.append((1.0 + rng.random(), (np.eye(3) * 2.0 + 0.1 * (a + a.T)).tolist()))
    robot = dq.from_dh(table, inertias=[(mass, (0.0, 0.0, 0.0), tensor) for mass, tensor in inertias])
    return robot, table, inertias


def dh_joints(table: np.ndarray, q: np.ndarray) -> list[jacobians.DHJoint]:
    rows = zip(q.tolist(), table.tolist(), strict=True)
    return [
        jacobians.DHJoint(k, (own + theta) / 2, d / 2, a / 2, alpha / 2)
        for k, (own, (theta, d, a, alpha)) in enumerate(rows)
    ]


def test_counted_jacobian_is_that_of_the_pose() -> None:
    robot, table, _ = dh_arm()
    q = np.array([0.3, -0.7, 1.1])
    poses, axes, columns = jacobians.pose_jacobian(dh_joints(table, q), IDENTITY)
    x, end = robot.pose("tool", q).vec8(), poses[-1]
    sign = np.sign(x @ end.vec8())
    assert_close(end.vec8() * sign, x, 1e-14)
    assert_close(np.array(jacobians.by_columns(columns)) * sign, robot.pose_jacobian("tool", q), 1e-14)
    v = np.array([0.5, -0.2, 0.4])
    end_rate, rates = jacobians.pose_jacobian_rate(end, axes, v.tolist())
    expected = robot.pose_jacobian_derivative("tool", q, v)
    assert_close(np.array(jacobians.by_columns(rates)) * sign, expected, 1e-13)
    assert_close(end_rate.vec8() * sign, robot.pose_jacobian("tool", q) @ v, 1e-14)


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
def test_counted_steps_of_gauss_principle_move_an_arm() -> None:
    """The joints by Denavit-Hartenberg parameters that the tables count, instead of those of the tree."""
    robot, table, inertias = dh_arm()
    rng = np.random.default_rng(4)
    q, v, a = rng.normal(size=(3, 3))
    joints = dh_joints(table, q)
    masses, coriolis, gravity = [], [], []
    for i in range(1, 4):
        weighs, tensor = inertias[i - 1]
        psi, at = matrices.block_diagonal(tensor, (np.eye(3) * weighs).tolist()), range(i)
        poses, axes, columns = jacobians.pose_jacobian(joints[:i], IDENTITY)
        end_rate, rates = jacobians.pose_jacobian_rate(poses[-1], axes, v[:i].tolist())
        along, changing = jacobians.by_columns(columns), jacobians.by_columns(rates)
        rows = jacobians.twist_rows(poses[-1])
        jacobian = matrices.product(rows, along)
        rate = jacobians.twist_jacobian_rate(jacobians.twist_rows(end_rate), along, rows, changing)
        s = steps.gyroscopic((np.array(jacobian) @ v[:i])[:3].tolist(), tensor, weighs)
        masses.append((at, at, steps.mass_part(jacobian, psi)))
        coriolis.append((at, at, steps.coriolis_part(jacobian, rate, psi, s)))
        weight = pure(*(g * weighs for g in robot.model.gravity))
        gravity.append((at, [0], steps.gravity_part(jacobian, poses[-1].primary.conj(), weight)))
    mass, matrix = steps.padded_sum(masses, 3, 3, 0.0), steps.padded_sum(coriolis, 3, 3, 0.0)
    held = steps.padded_sum(gravity, 3, 1, 0.0)
    assert_close(mass, robot.mass_matrix(q), 1e-12)
    assert_close(matrix, gauss.coriolis_matrix(robot.model, q.tolist(), v.tolist()), 1e-12)
    assert_close(np.ravel(held), robot.gravity_forces(q), 1e-12)
    tau = steps.forces(mass, matrix, held, v.tolist(), a.tolist())
    assert_close(tau, robot.inverse_dynamics(q, v, a), 1e-11)


def serial(robot: Robot, q: list[float]) -> tuple[dict[int, DQ], dict[int, DQ], dict[int, DQ]]:
    """Poses of the bodies at rest and at q, and of the centers of mass in their bodies, with −1 for the world."""
    home, now = poses(robot.model, [0.0] * robot.nq), poses(robot.model, q)
    center = {i: translator(body.inertia.center) for i, body in enumerate(robot.bodies)}
    return {**home, -1: IDENTITY}, {**now, -1: IDENTITY}, {**center, -1: IDENTITY}


def tally(run: object, *sizes: int) -> np.ndarray:
    """Multiplications and additions of a function of lists of scalars."""
    counted = Tally()
    run(*(counters(n, counted) for n in sizes))  # type: ignore[operator]
    return np.array([counted.mul, counted.add])


@pytest.mark.equation("Silva", "table 3")
@pytest.mark.parametrize("n", [1, 3, 7])
def test_a_robot_runs_the_newton_euler_steps_of_the_table(n: int) -> None:
    """Beside them it prepares poses and twists of the joints; it has no load, and conjugates of constants are free."""
    model = random_robot(2, n, ("revolute",)).model if n < 7 else dq.robots.arm7().model
    line = {line.name: line for line in silva_table_3()}["dual-quaternion Newton-Euler"]
    assert line.counted is not None
    table = np.array([line.counted.mul(n=n), line.counted.add(n=n)], dtype=int)
    roots = sum(joint.parent == WORLD_BODY for joint in model.joints)
    prepared = tally(lambda *x: [silva._link(model, joint, *x) for joint in model.joints], n, n, n)
    load, on_world = np.array([102, 88]), np.array([48 + 102, 40 + 88]) * (roots - 1)
    expected = table + prepared - load - on_world - np.array([6 * (n - roots), 0])
    assert (tally(lambda *x: silva.inverse_dynamics(model, *x), n, n, n) == expected).all()


# --- homogeneous matrices -----------------------------------------------------------------------------------------


def swapped(x: DQ) -> list[float]:
    """A wrench in the order [τ, f] of the book."""
    return [*x.dual.vector, *x.primary.vector]


def test_matrix_recursion_moves_an_arm() -> None:
    robot = dq.robots.arm7()
    rng = np.random.default_rng(6)
    q, v, a = (x.tolist() for x in random_state(robot, rng))
    home, _, center = serial(robot, q)
    at = {i: home[i] * center[i] for i in home}
    links = []
    for i, joint in enumerate(robot.joints):
        inertia = robot.bodies[i].inertia
        axis = Ad(center[i].conj(), joint.motion.subspace([0.0])[0])
        matrix = matrices.block_diagonal([list(r) for r in inertia.tensor], (np.eye(3) * inertia.mass).tolist())
        before = dq.Pose(at[i].conj() * at[i - 1]).matrix.tolist()
        links.append(homogeneous.HomogeneousLink(before, axis.vec6().tolist(), matrix))
    tool, load = pose(Quaternion(0.6, 0.0, 0.8, 0.0), pure(0.1, 0.2, 0.3)), DQ(rng.normal(size=6))
    start = ([0.0] * 6, [0.0, 0.0, 0.0, *(-g for g in robot.model.gravity)])
    end = (dq.Pose(tool.conj()).matrix.tolist(), swapped(load))
    found = homogeneous.inverse_dynamics(links, [q, v, a], start, end)
    on_last = -Ad(center[6] * tool, load)
    assert_close(found, newton_euler.inverse_dynamics(robot.model, q, v, a, {6: on_last}), 1e-11)


def test_screw_motion_is_that_of_a_dual_quaternion() -> None:
    axis = DQ.of(pure(0.6, 0.0, 0.8), pure(0.2, -0.3, 0.5))
    expected = dq.Pose(dq.screw_exp(axis * 0.35)).matrix
    line = axis.vec6().tolist()
    line[3:] = np.cross([0.1, 0.2, 0.3], line[:3])  # a moment, so that the screw is a pure rotation
    turned = DQ(line)
    assert_close(homogeneous.screw_motion(line, 0.7), dq.Pose(dq.screw_exp(turned * 0.35)).matrix, 1e-14)
    assert_close(homogeneous.screw_motion(axis.vec6().tolist(), 0.7), expected, 1e-14)


@pytest.mark.equation("Farias", "table 4")
@pytest.mark.equation("Farias", "fig. 4")
@pytest.mark.parametrize("n", [1, 42])
def test_curves_of_forward_kinematics(n: int) -> None:
    assert homogeneous.forward_kinematics_costs(n) == {
        "matrices, D-H": Cost(48, 192, 144).times(n),
        "matrices, screws": Cost(16, 64, 48).times(n),
        "dual quaternions, D-H": Cost(24, 144, 120).times(n),
        "dual quaternions, screws": Cost(8, 48, 40).times(n),
    }


@pytest.mark.equation("Farias", "table 4")
@pytest.mark.equation("Farias", "fig. 5")
@pytest.mark.parametrize("n", [1, 7, 42])
def test_dual_quaternions_cost_less_than_matrices(n: int) -> None:
    costs = homogeneous.newton_euler_costs(n)
    dual = farias_total(n)
    assert (costs["dual quaternions, printed"], costs["dual quaternions"]) == (dual.printed, dual.counted)
    for name in ("dual quaternions, printed", "dual quaternions"):
        for kind in ("storage", "mul", "add"):
            assert getattr(costs[name], kind) < getattr(costs["matrices"], kind)


@pytest.mark.equation("Farias", "fig. 5")
def test_matrix_recursion_costs_the_same_for_every_joint() -> None:
    costs = [homogeneous.matrix_cost(n) for n in (1, 2, 3, 9)]
    step = (costs[1].mul - costs[0].mul, costs[1].add - costs[0].add)
    # By hand: seven 6×6 matrices on vectors, a product of 4×4 ones, [p]R, three scaled axes, sums of vectors, and τ.
    exponential = (24 + 4 * 9 + 9, 18 + 2 * 9 + 2 * 3 + 6 + 2)  # [ω][ω] without zero by zero, scaled and added, on v
    assert step[0] == 7 * 36 + 64 + 27 + 3 * 6 + 6 + exponential[0]
    assert step[1] == 7 * 30 + 48 + 18 + 5 * 6 + 5 + exponential[1]
    assert (costs[2].mul, costs[2].add) == (costs[1].mul + step[0], costs[1].add + step[1])
    assert (costs[3].mul, costs[3].add) == (costs[0].mul + 8 * step[0], costs[0].add + 8 * step[1])
    # The adjoint of the end effector is there once.
    assert costs[0].mul - step[0] == 27
    assert costs[0].add - step[1] == 18


@pytest.mark.parametrize("make", [homogeneous.matrix_cost, homogeneous.forward_kinematics_costs])
def test_an_arm_has_joints(make: object) -> None:
    with pytest.raises(Error, match="at least one joint"):
        make(0)  # type: ignore[operator]


# --- formulas ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("16/3 n³ + 326n² + 908/3 n", {"n": 3}, Fraction(144 + 2934 + 908)),
        ("118.5n² + 78.5n", {"n": 2}, Fraction(631)),
        ("mpr − mr", {"m": 2, "p": 3, "r": 5}, Fraction(20)),
        ("−4", {}, Fraction(-4)),
        ("0", {}, Fraction(0)),
    ],
)
def test_formulas_are_read_evaluated_and_printed(text: str, values: dict[str, int], expected: Fraction) -> None:
    formula = Formula.parse(text)
    assert formula(**values) == expected
    assert Formula.parse(str(formula)) == formula


def test_formula_prints_as_people_write() -> None:
    assert str(Formula.parse("401n + 4n³ − 386n²")) == "4n³ − 386n² + 401n"
    assert str(Formula.parse("16/3 n³ − n")) == "16/3 n³ − n"
    assert str(Formula.parse("n − n")) == "0"


@pytest.mark.parametrize("text", ["3n^2", "n +", "(n)"])
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(Error, match="not a sum of terms"):
        Formula.parse(text)


def test_counts_that_no_formula_gives_are_refused() -> None:
    assert polynomial(lambda n: Tally(mul=n * n, add=3), "n", 2) == Operations.parse("n²", "3")
    with pytest.raises(Error, match="No formula"):
        polynomial(lambda n: Tally(mul=2**n), "n", 2)
    with pytest.raises(Error, match="No formula"):
        fitted(lambda m, p: Tally(mul=m * p), ["m", "p"], [{"m": m, "p": p} for m in (1, 2) for p in (1, 3)])
