"""``robot.in_coordinates``: compiled functions, single and in batches, and everything that is refused at the door."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
from coordinate_cases import (
    FEW,
    ModifiedRodrigues,
    TwoColumns,
    chosen,
    fixed_with_balls,
    plain,
    sample,
    small_with_ball,
    tree_with_balls,
)
from trees import assert_close

import dqdyn as dq
from dqdyn.coordinates.names import NAMES
from dqdyn.errors import Error, StateError, UnknownNameError
from dqdyn.robot.coordinates import RobotInCoordinates

INPUTS = {
    "minimal": "q",
    "velocity": "q qd",
    "mass_matrix": "q",
    "coriolis_matrix": "q qd",
    "bias_forces": "q qd",
    "gravity_forces": "q",
    "inverse_dynamics": "q qd qdd",
    "forward_dynamics": "q qd tau",
    "forward_dynamics kkt": "q qd tau",
    "constraint_matrix": "q",
    "rate_matrix": "q",
}


def states(robot: RobotInCoordinates, rows: int) -> dict[str, np.ndarray]:
    found = [sample(robot, seed, outside=1.0) for seed in range(rows)]
    inputs = {name: np.array([getattr(s, name) for s in found]) for name in ("q", "qd", "tau")}
    return {**inputs, "qdd": np.random.default_rng(1).normal(size=(rows, robot.nq))}


@pytest.mark.parametrize("choice", ["euler-zyx", "rotation-matrix", "dual-quaternion", TwoColumns()], ids=str)
def test_compiled_functions_equal_the_algorithm(choice: Any) -> None:
    robot = chosen(small_with_ball(), choice)
    given = states(robot, 11)
    for name, inputs in INPUTS.items():
        if choice != "dual-quaternion" and "dynamics" not in name:
            continue  # they take the same way, and compiling takes time
        arrays = [given[i] for i in inputs.split()]
        name, _, method = name.partition(" ")
        options = {"method": method} if method else {}
        expected = plain(robot, name, *arrays, **options)
        function = robot.function(name, **options)
        assert_close(function(*arrays), expected, 1e-9)
        assert_close(function(*(a[3] for a in arrays)), expected[3], 1e-9)


@pytest.mark.parametrize("choice", FEW, ids=str)
def test_methods(choice: Any) -> None:
    robot = chosen(small_with_ball(), choice)
    own = robot.robot
    s, a = sample(robot, 3), np.random.default_rng(4).normal(size=robot.nv)
    q, qd, qdd = robot.from_minimal(s.own_q, s.v, a)
    assert_close(robot.from_minimal(s.own_q), q, 1e-14)
    back_q, back_v, back_a = robot.to_minimal(q, qd, qdd)
    assert_close(own.difference(s.own_q, back_q), np.zeros(robot.nv), 1e-12)
    assert_close(np.r_[back_v, back_a], np.r_[s.v, a], 1e-11)
    assert_close(robot.forces(q, s.own_tau), s.tau, 1e-12)
    assert_close(robot.minimal_forces(q, s.tau), s.own_tau, 1e-11)
    E, B = robot.velocity_matrix(q), robot.rate_matrix(q)
    assert_close(E @ B, np.eye(robot.nv), 1e-12)
    assert_close(robot.mass_matrix(q), E.T @ own.mass_matrix(s.own_q) @ E, 1e-11)
    tau = robot.inverse_dynamics(q, qd, qdd)
    assert_close(robot.minimal_forces(q, tau), own.inverse_dynamics(s.own_q, s.v, a), 1e-10)
    assert_close(tau, robot.mass_matrix(q) @ qdd + robot.bias_forces(q, qd), 1e-10)
    assert_close(robot.minimal_forces(q, robot.gravity_forces(q)), own.gravity_forces(s.own_q), 1e-10)
    for method in ("auto", "minimal", "kkt"):
        found, multiplier = robot.forward_dynamics(q, qd, tau, method=method)
        assert_close(found, qdd, 1e-8)
        assert multiplier.shape == (robot.nc,)
    assert_close(robot.constraint_matrix(q) @ qdd, robot.constraint_bias(q, qd), 1e-11)
    assert robot.constraint_residual(q).shape == (robot.nc,)


@pytest.mark.long
@pytest.mark.parametrize("choice", ["euler-xyz", "dual-quaternion"])
def test_contacts(choice: str) -> None:
    robot = dq.robots.humanoid().in_coordinates(choice)
    s, point, f, g = sample(robot, 5), (0.1, 0.02, -0.01), np.array([5.0, -3.0, 300.0]), np.array([1.0, 2.0, 3.0])
    contacts = {("left_foot", point): f, "right_hand": g}
    turned = robot.robot.pose("left_foot", s.own_q).rotation_matrix @ point
    wrenches = {"left_foot": np.r_[f, np.cross(turned, f)], "right_hand": np.r_[g, 0.0, 0.0, 0.0]}
    a = robot.robot.forward_dynamics(s.own_q, s.v, s.own_tau, wrenches, expressed="aligned")
    for method in ("minimal", "kkt"):
        qdd, _ = robot.forward_dynamics(s.q, s.qd, s.tau, contacts, method)
        assert_close(robot.to_minimal(s.q, s.qd, qdd)[2], a, 1e-9)
    assert_close(robot.inverse_dynamics(s.q, s.qd, qdd, contacts), s.tau, 1e-9)
    J = robot.point_jacobian("left_foot", s.q, point)
    without = robot.inverse_dynamics(s.q, s.qd, qdd)
    hand = robot.point_jacobian("right_hand", s.q)
    assert_close(without - s.tau, J.T @ f + hand.T @ g, 1e-9)
    batch = {("left_foot", point): np.array([f, 2.0 * f]), "right_hand": g}
    rows, _ = robot.forward_dynamics(s.q, s.qd, s.tau, batch)
    assert_close(rows[0], qdd, 1e-9)


def test_robot_that_falls_keeps_its_energy() -> None:
    """q̈ integrated as plain numbers, with nothing but the equation of motion to hold the dual quaternion's norm."""
    robot = dq.robots.humanoid().in_coordinates("dual-quaternion")
    s = sample(robot, 6)
    f, zero, h = robot.function("forward_dynamics"), np.zeros(robot.nq), 2e-4
    y = np.r_[s.q, s.qd]
    slope = lambda y: np.r_[y[robot.nq :], f(y[: robot.nq], y[robot.nq :], zero)[: robot.nq]]
    energy = lambda y: float(robot.robot.energy(*robot.to_minimal(y[: robot.nq], y[robot.nq :])))
    start = energy(y)
    for _ in range(250):
        k1 = slope(y)
        k2 = slope(y + 0.5 * h * k1)
        k3 = slope(y + 0.5 * h * k2)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + slope(y + h * k3))
    assert np.abs(robot.constraint_residual(y[: robot.nq])).max() < 1e-8
    assert abs(energy(y) - start) < 1e-6 * abs(start)
    assert np.abs(y - np.r_[s.q, s.qd]).max() > 1e-2


def test_sizes_of_the_humanoid() -> None:
    humanoid = dq.robots.humanoid()
    sizes = {c: (r.nq, r.nv, r.nc) for c in NAMES for r in [humanoid.in_coordinates(c)]}
    assert sizes.pop("dual-quaternion") == (27 + 8, 33, 2)
    assert sizes.pop("rotation-matrix") == (27 + 12, 33, 6)
    assert sizes.pop("quaternion") == (27 + 7, 33, 1)
    assert set(sizes.values()) == {(33, 33, 0)}


def test_joints_of_one_robot_in_different_coordinates() -> None:
    robot = tree_with_balls()
    balls = [j.name for j in robot.joints if j.kind == "spherical"]
    assert len(balls) >= 2
    one = robot.in_coordinates("euler-xyz", joint=balls[0])
    assert {n: by.name for n, by in one.coordinates.items()} == {
        "root_joint": "quaternion",
        balls[0]: "euler-xyz",
        **dict.fromkeys(balls[1:], "quaternion"),
    }
    choices = {"root_joint": "dual-quaternion", balls[0]: ModifiedRodrigues(), balls[1]: "rotation-matrix"}
    mixed = robot.in_coordinates(choices)
    s = sample(mixed, 7)
    qdd, _ = mixed.forward_dynamics(s.q, s.qd, s.tau)
    assert_close(mixed.to_minimal(s.q, s.qd, qdd)[2], robot.forward_dynamics(s.own_q, s.v, s.own_tau), 1e-9)
    both = robot.in_coordinates("rotation-matrix", joint=balls)
    assert both.nq == robot.nq + 5 * len(balls)


def test_equality_pickles_and_text() -> None:
    robot = dq.robots.humanoid().in_coordinates("dual-quaternion")
    again = pickle.loads(pickle.dumps(robot))
    assert again == robot
    assert hash(again) == hash(robot)
    assert robot != dq.robots.humanoid().in_coordinates("quaternion")
    assert "nq=35, nv=33, nc=2, root_joint: dual-quaternion" in repr(robot)
    assert robot.labels[7:9] == ("root_joint.dual_z", robot.robot.joints[1].name)


# --- the door -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sequence", ["zyx", "xyz", "zxz", "yxy"])
def test_gimbal_lock_is_named(sequence: str) -> None:
    robot = dq.robots.humanoid().in_coordinates(f"euler-{sequence}")
    q, zero = np.zeros(robot.nq), np.zeros(robot.nq)
    lock = 0.0 if sequence[0] == sequence[2] else math.pi / 2
    q[:3] = 0.3, lock, -0.2
    message = f"Euler angles '{sequence}' are in gimbal lock: the second angle is .* rad .*take 'quaternion'"
    for call in (
        lambda: robot.forward_dynamics(q, zero, zero),
        lambda: robot.forward_dynamics(q, zero, zero, method="kkt"),
        lambda: robot.rate_matrix(q),
        lambda: robot.minimal_forces(q, zero),
        lambda: robot.from_minimal(robot.to_minimal(q), np.zeros(robot.nv)),
    ):
        with pytest.raises(StateError, match=message) as caught:
            call()
        assert caught.value.joint == "root_joint"
        assert caught.value.coordinates == f"euler-{sequence}"
        assert abs(caught.value.angles[1] - lock) < 1e-6
        assert caught.value.determinant < 1e-6
    assert np.isfinite(robot.mass_matrix(q)).all()  # forces on the angles are defined there
    assert np.linalg.matrix_rank(robot.mass_matrix(q)) == robot.nv - 1
    near = q.copy()
    near[1] += 1e-3
    robot.forward_dynamics(near, zero, zero)
    batch = np.array([near, near, q])
    with pytest.raises(StateError, match="row 2"):
        robot.forward_dynamics(batch, zero, zero)
    assert not np.isfinite(robot.forward_dynamics(q, zero, zero, check=False)[0]).all() or lock  # values propagate


@pytest.mark.parametrize("choice", ["euler-zyx", "euler-zxz"])
def test_kkt_is_refused_where_it_is_inaccurate(choice: str) -> None:
    """Whatever is answered near gimbal lock is right to 1e-6; what is refused says how wrong it would have been."""
    robot = small_with_ball().in_coordinates(choice)
    rng, lock = np.random.default_rng(3), 0.0 if choice == "euler-zxz" else math.pi / 2
    refused = []
    for away in 10.0 ** np.arange(-1.0, -5.9, -0.5):
        s = sample(robot, 3)
        s.q[robot.slices[robot.robot.joints[0].name]][1] = lock - away
        qd, tau = rng.normal(size=robot.nq), rng.normal(size=robot.nq)
        right, _ = robot.forward_dynamics(s.q, qd, tau)
        found, _ = robot.forward_dynamics(s.q, qd, tau, method="kkt", check=False)
        error = np.abs(found - right).max() / np.abs(right).max()
        if error <= 1e-6:
            assert_close(robot.forward_dynamics(s.q, qd, tau, method="kkt")[0], right, 1e-6)
            continue
        refused.append(away)
        with pytest.raises(StateError, match="use method='minimal'") as caught:
            robot.forward_dynamics(s.q, qd, tau, method="kkt")
        assert caught.value.error == pytest.approx(error, rel=1e-6)
        with pytest.raises(StateError, match="row 1"):
            robot.forward_dynamics(np.array([sample(robot, 3).q, s.q]), qd, tau, method="kkt")
    assert refused
    assert max(refused) < 0.02


def test_singularity_of_a_parameterisation_of_your_own_is_named() -> None:
    robot = dq.robots.humanoid().in_coordinates(ModifiedRodrigues())
    own_q = robot.robot.neutral()
    own_q[0] = -1.0  # a full turn, where these parameters are infinite
    with pytest.raises(StateError, match="modified-rodrigues coordinates are singular: take others there"):
        robot.from_minimal(own_q, np.zeros(robot.nv))


def test_symbols_pass() -> None:
    casadi = pytest.importorskip("casadi")
    robot = chosen(small_with_ball(), "rotation-matrix")
    s = sample(robot, 15)
    q, qd = casadi.SX.sym("q", robot.nq), casadi.SX.sym("qd", robot.nq)
    forces = casadi.vertcat(*robot.bias_forces(q, qd))
    found = casadi.Function("bias", [q, qd], [forces])(s.q, s.qd)
    assert_close(np.array(found).ravel(), robot.bias_forces(s.q, s.qd), 1e-10)


@pytest.mark.parametrize(
    ("choice", "change", "message", "off"),
    [
        ("quaternion", lambda q: q[:4] * 1.02, "the quaternion misses norm 1 by 0.02: divide", 0.02),
        ("dual-quaternion", lambda q: q[:4] * 0.97, "the dual quaternion is not of unit norm, .* by 0.03", 0.03),
        ("dual-quaternion", lambda q: np.r_[q[:4], q[4:8] + 0.1 * q[:4]], "not of unit norm, .* by 0.1", 0.1),
        ("rotation-matrix", lambda q: q[:9] * 1.1, "the matrix is not orthogonal, RᵀR misses 1 by 0.21", 0.21),
        ("rotation-matrix", lambda q: -q[:9], "the matrix is a reflection", 2.0),
    ],
)
def test_coordinates_off_their_conditions_are_refused(choice: str, change: Any, message: str, off: float) -> None:
    robot = dq.robots.humanoid().in_coordinates(choice)
    s = sample(robot, 8)
    bad = s.q.copy()
    part = change(bad)
    bad[: len(part)] = part
    for call in (
        lambda q: robot.mass_matrix(q),
        lambda q: robot.forward_dynamics(q, s.qd, s.tau),
        lambda q: robot.to_minimal(q),
    ):
        with pytest.raises(StateError, match=message) as caught:
            call(bad)
        assert caught.value.joint == "root_joint"
        assert caught.value.off == pytest.approx(off)
        with pytest.raises(StateError, match="row 1"):
            call(np.array([s.q, bad]))
    tiny = s.q.copy()
    tiny[:4] *= 1.0 + 1e-8
    robot.mass_matrix(tiny)  # used as it is
    robot.mass_matrix(bad, check=False)


def test_rates_that_leave_the_conditions_are_refused() -> None:
    robot = dq.robots.humanoid().in_coordinates("dual-quaternion")
    s = sample(robot, 9)
    bad = s.qd.copy()
    bad[:4] += 0.5 * s.q[:4]
    with pytest.raises(
        StateError, match=r"rates of joint 'root_joint'.* by 0\.5: take them from from_minimal"
    ) as caught:
        robot.forward_dynamics(s.q, bad, s.tau)
    assert caught.value.off == pytest.approx(0.5)
    q, qd = robot.project(s.q, bad)
    assert_close(q, s.q, 1e-14)
    assert np.abs(robot.constraint_matrix(q) @ qd).max() < 1e-12
    robot.forward_dynamics(q, qd, s.tau)


@pytest.mark.parametrize("choice", ["quaternion", "dual-quaternion", "rotation-matrix"])
def test_project(choice: str) -> None:
    robot = dq.robots.humanoid().in_coordinates(choice)
    s = sample(robot, 10)
    size = robot.slices["root_joint"].stop - (0 if choice == "dual-quaternion" else 3)
    off = s.q.copy()
    off[:size] += 0.05 * np.random.default_rng(11).normal(size=size)
    q = robot.project(np.array([off, s.q]))
    assert np.abs(robot.constraint_residual(q)).max() < 1e-14
    assert_close(q[1], s.q, 1e-14)
    assert np.abs(q[0] - off).max() < 0.3
    assert_close(q[0][size:], off[size:], 1e-15)
    if choice == "rotation-matrix":  # the nearest rotation is that of the singular value decomposition
        U, _, V = np.linalg.svd(off[:9].reshape(3, 3))
        assert np.abs(q[0][:9].reshape(3, 3) - U @ V).max() < 2e-2
    if choice == "quaternion":
        assert_close(q[0][:4], off[:4] / np.linalg.norm(off[:4]), 1e-12)
    with pytest.raises(Error, match="too far from their conditions"):
        robot.project(np.zeros(robot.nq))


def test_wrong_sizes_and_numbers() -> None:
    robot = dq.robots.humanoid().in_coordinates("dual-quaternion")
    s = sample(robot, 12)
    with pytest.raises(StateError, match="coordinates of 'humanoid' has 35 components"):
        robot.mass_matrix(s.own_q)
    with pytest.raises(StateError, match="rates of 'humanoid' has 35 components"):
        robot.bias_forces(s.q, s.v)
    with pytest.raises(StateError, match="forces of 'humanoid' has 35 components"):
        robot.forward_dynamics(s.q, s.qd, s.own_tau)
    bad = s.q.copy()
    bad[20] = math.nan
    with pytest.raises(StateError, match=r"coordinates\[20\] of 'humanoid' is nan"):
        robot.mass_matrix(bad)
    with pytest.raises(StateError, match="quaternion of joint 'root_joint'"):
        robot.from_minimal(s.own_q * 1.1)


@pytest.mark.parametrize(
    ("contacts", "message"),
    [
        ({"no_foot": [0, 0, 1]}, "no frame of 'humanoid' named 'no_foot'"),
        ({"left_foot": [0, 0]}, "has three components"),
        ({("left_foot", (0, 0)): [0, 0, 1]}, "the point of the contact at frame 'left_foot' has three components"),
        ({"left_foot": "up"}, "the force of the contact at frame 'left_foot' must be real numbers"),
        ({"left_foot": [0, 0, math.inf]}, "not finite"),
        ([1, 2, 3], "contacts maps a frame"),
        ({"left_foot": np.zeros((2, 3)), "right_foot": np.zeros((3, 3))}, "do not fit together"),
    ],
)
def test_wrong_contacts(contacts: Any, message: str) -> None:
    robot = dq.robots.humanoid().in_coordinates("quaternion")
    s = sample(robot, 13)
    with pytest.raises(Error, match=message):
        robot.forward_dynamics(s.q, s.qd, s.tau, contacts)


def test_wrong_choices() -> None:
    humanoid, balls, arm = dq.robots.humanoid(), fixed_with_balls(), dq.robots.arm7()
    ball = next(j.name for j in balls.joints if j.kind == "spherical")
    with pytest.raises(UnknownNameError, match="did you mean 'quaternion'"):
        humanoid.in_coordinates("quaternions")
    with pytest.raises(Error, match="neither a free nor a spherical joint"):
        arm.in_coordinates("quaternion")
    with pytest.raises(Error, match="has no free joint, and a dual quaternion is a pose"):
        balls.in_coordinates("dual-quaternion")
    with pytest.raises(Error, match="is spherical, and a dual quaternion is a pose"):
        balls.in_coordinates("dual-quaternion", joint=ball)
    with pytest.raises(Error, match="is revolute, whose velocity is q̇ already"):
        humanoid.in_coordinates("quaternion", joint=humanoid.joints[3].name)
    with pytest.raises(UnknownNameError):
        humanoid.in_coordinates("quaternion", joint="hip")
    with pytest.raises(Error, match="a name such as 'quaternion' or a Parameterisation; found int"):
        humanoid.in_coordinates(3)
    with pytest.raises(Error, match="not both"):
        humanoid.in_coordinates({"root_joint": "quaternion"}, joint="root_joint")
    quaternion = humanoid.in_coordinates()
    s = sample(quaternion, 14)
    with pytest.raises(Error, match="no method of forward_dynamics named 'newton': known: auto, minimal, kkt"):
        quaternion.forward_dynamics(s.q, s.qd, s.tau, method="newton")
