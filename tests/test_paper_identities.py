"""Identities that the papers number and that no other test states: each holds for the functions that cite it."""

from __future__ import annotations

import numpy as np
import pytest
from trees import TREES, assert_close, moving_state, random_state, rate, tree

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.matrix import DQMatrix
from dqdyn.algebra.rates import pose_rate
from dqdyn.analysis.experiments import cup_on_table
from dqdyn.analysis.experiments.cup_setting import PLANE, RATE, START, Setting, nine_joints
from dqdyn.constraints.methods import kkt, udwadia_kalaba
from dqdyn.coordinates.euler import Euler
from dqdyn.coordinates.parameterisation import Parameterisation
from dqdyn.coordinates.rotation_matrix import RotationMatrix
from dqdyn.coordinates.unit_quaternion import UnitQuaternion
from dqdyn.dynamics.fast import recursive
from dqdyn.dynamics.formulations import gauss, gibbs_appell, kane, newton_euler
from dqdyn.dynamics.formulations.mass_centers import centers, weights
from dqdyn.geometry.distances import line_to_line_angle_function
from dqdyn.kinematics.center_matrices import CenterMatrices

RNG = np.random.default_rng(7)


# --- algebra ----------------------------------------------------------------------------------------------------------


@pytest.mark.equation("Quiroz", "A.15")
def test_dual_unit_is_nilpotent() -> None:
    assert_close((dq.E_ * dq.E_).vec8(), np.zeros(8), 0.0)
    assert np.any(dq.E_.vec8() != 0.0)


@pytest.mark.equation("Quiroz", "eq. A.13")
def test_rate_of_a_rotation() -> None:
    rotation = lambda t: dq.normalize(dq.DQ([1.0 + t, 0.3 - t, np.sin(t), t * t]))
    r, r_rate = rotation(0.0), rate(lambda t: rotation(t).vec4())
    omega = 2.0 * dq.DQ(r_rate) * dq.conj(r)  # in the reference frame
    assert abs(omega.vec4()[0]) < 1e-10
    assert_close(pose_rate(omega, r).vec4(), r_rate)
    assert_close(pose_rate(dq.Ad(dq.conj(r), omega), r, "body").vec4(), r_rate)


@pytest.mark.equation("Bouyarmane", "4")
def test_matrix_of_the_cross_product() -> None:
    a, b = RNG.normal(size=3), RNG.normal(size=3)
    S = dq.crossmatrix4(dq.DQ(a))[1:, 1:]
    assert_close(S, [[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]], 0.0)
    assert_close(S @ b, np.cross(a, b))


@pytest.mark.equation("Quiroz", "lemma 4.2")
def test_angle_function_is_a_bijection() -> None:
    """f takes [0, π] to [0, 4]: it increases from end to end, and its inverse is arccos((2 − f)/2)."""
    angles = np.linspace(0.0, np.pi, 101)
    z = dq.Line([0.0, 0.0, 1.0], [0.0, 0.0, 0.0])
    tilted = (dq.Line([np.sin(phi), 0.0, np.cos(phi)], [0.0, 0.0, 0.0]) for phi in angles)
    f = np.array([float(line_to_line_angle_function(line, z)) for line in tilted])
    assert (f[0], f[-1]) == (0.0, pytest.approx(4.0))
    assert np.all(np.diff(f) > 0.0)
    np.testing.assert_allclose(np.arccos((2.0 - f) / 2.0), angles, atol=1e-7)


@pytest.mark.equation("Bouyarmane", "5")
@pytest.mark.parametrize("by", [Euler("zyx"), UnitQuaternion(), RotationMatrix()], ids=str)
def test_turned_vector_by_the_jacobian_of_the_angular_velocity(by: Parameterisation) -> None:
    """d(R u) = −[(R u)×] J_ω dθ for a dθ that leaves R a rotation."""
    theta = by.parameters(dq.normalize(dq.DQ([0.8, 0.2, -0.4, 0.3])).primary)
    step = by.rate(theta, dq.DQ(RNG.normal(size=3)).primary)
    u = RNG.normal(size=3)
    turned = lambda t: sum(np.array(c.vector) * x for c, x in zip(by.rotation(along(theta, step, t)), u, strict=True))
    omega = np.array(by.global_jacobian(theta), dtype=float) @ np.array(step, dtype=float)
    assert_close(rate(turned), -np.cross(turned(0.0), omega), 1e-8)


def along(theta: list[float], step: list[float], t: float) -> list[float]:
    return [a + t * b for a, b in zip(theta, step, strict=True)]


# --- kinematics and dynamics ------------------------------------------------------------------------------------------


@pytest.mark.equation("Silva", "5")
@pytest.mark.equation("Silva", "22")
@pytest.mark.equation("Quiroz", "A.25")
@pytest.mark.equation("Quiroz", "A.27")
@pytest.mark.parametrize("name", TREES)
def test_rate_of_a_twist_in_both_frames(name: str) -> None:
    robot = tree(name)
    q, v, a = random_state(robot, np.random.default_rng(3))
    moving = moving_state(robot, q, v, a)
    x = robot.pose("tool", q)
    body = robot.twist_rate("tool", q, v, a, expressed="body").dq
    world = robot.twist_rate("tool", q, v, a, expressed="world").dq
    assert_close(body.vec6(), dq.Ad(dq.conj(x.dq), world).vec6(), 1e-9)
    omega, velocity = np.split(robot.twist("tool", q, v, expressed="aligned").dq.vec6(), 2)
    moment = velocity + np.cross(x.translation, omega)
    assert_close(robot.twist("tool", q, v, expressed="world").dq.vec6(), np.concatenate([omega, moment]), 1e-9)
    R = x.rotation_matrix
    acceleration = rate(lambda t: robot.twist("tool", *moving(t), expressed="aligned").dq.vec6())  # [ω̇, p̈]
    dual = acceleration[3:] + np.cross(velocity, omega)
    assert_close(body.vec6(), np.concatenate([R.T @ acceleration[:3], R.T @ dual]), 1e-7)


@pytest.mark.equation("Silva", "11")
@pytest.mark.equation("Farias", "32")
def test_inertia_applied_to_twists() -> None:
    model = dq.robots.arm7().model
    m = CenterMatrices(model, [0.1] * 7)
    twists = [dq.DQ(RNG.normal(size=6)) for _ in model.bodies]
    vector = np.empty((len(twists), 1), dtype=object)
    vector[:, 0] = twists
    for body, twist, momentum in zip(model.bodies, twists, m.G(DQMatrix(vector))[:, 0], strict=True):
        omega, velocity = np.split(twist.vec6(), 2)
        tensor = np.array(body.inertia.tensor)
        assert_close([row.vector for row in body.inertia.rows], tensor, 0.0)
        assert_close(momentum.vec6(), np.concatenate([body.inertia.mass * velocity, tensor @ omega]))


@pytest.mark.equation("Silva", "23")
@pytest.mark.equation("Silva", "37")
@pytest.mark.equation("Quiroz", "5.9")
@pytest.mark.equation("Silva", "52")
@pytest.mark.equation("Silva", "53")
@pytest.mark.equation("Silva", "58")
@pytest.mark.equation("Silva", "section 3")
@pytest.mark.equation("Quiroz", "5.25")
@pytest.mark.equation("Quiroz", "5.26")
@pytest.mark.equation("Quiroz", "5.27")
@pytest.mark.equation("Quiroz", "5.29")
@pytest.mark.equation("Quiroz", "5.31")
@pytest.mark.equation("Quiroz", "5.32")
@pytest.mark.equation("Quiroz", "5.36")
@pytest.mark.equation("Quiroz", "5.38")
@pytest.mark.parametrize("name", TREES)
def test_equations_of_motion_written_out(name: str) -> None:
    """Σ JᵀΨJ a + JᵀΨJ̇ v + Φ with the inertia, velocity and weight of every body, by plain matrices."""
    model = tree(name).model
    q, v, a = (x.tolist() for x in random_state(tree(name), np.random.default_rng(4)))
    total = np.zeros(model.nv)
    bodies = centers(model, q, v)
    for body, weight in zip(bodies, weights(model, bodies), strict=True):
        J, J_rate = (
            np.array([columns[k].vec6() if k in columns else np.zeros(6) for k in range(model.nv)]).T
            for columns in (body.columns, body.rates)
        )
        inertia, mass = np.array(body.inertia.tensor), body.inertia.mass
        psi = np.block([[inertia, np.zeros((3, 3))], [np.zeros((3, 3)), mass * np.eye(3)]])
        omega, velocity = np.split(body.twist.vec6(), 2)
        force, torque = np.split(weight.vec6(), 2)
        impressed = np.concatenate(
            [torque - np.cross(omega, inertia @ omega), force + mass * np.cross(velocity, omega)]
        )
        total += J.T @ (psi @ J @ np.array(a) + psi @ J_rate @ np.array(v) - impressed)
        law = kane.law_of_motion(body, body.rate(v, a)).vec6()  # f, τ: Newton's and Euler's laws
        rate_of_twist = J @ np.array(a) + J_rate @ np.array(v)
        newton = mass * (rate_of_twist[3:] + np.cross(omega, velocity))
        euler = inertia @ rate_of_twist[:3] + np.cross(omega, inertia @ omega)
        assert_close(law, np.concatenate([newton, euler]))
    for formulation in (gauss, gibbs_appell, kane, newton_euler, recursive):
        assert_close(formulation.inverse_dynamics(model, q, v, a), total, 1e-9)


@pytest.mark.equation("Quiroz", "B.1")
@pytest.mark.equation("Quiroz", "B.3")
@pytest.mark.equation("Quiroz", "B.9")
def test_multipliers_are_those_of_udwadia_and_kalaba() -> None:
    n, m = 6, 2
    root = RNG.normal(size=(n, n))
    M, Q, A, b = root @ root.T + np.eye(n), RNG.normal(size=n), RNG.normal(size=(m, n)), RNG.normal(size=m)
    free = np.linalg.solve(M, Q)
    expected = np.linalg.solve(A @ np.linalg.solve(M, A.T), b - A @ free)
    acceleration, multipliers = kkt.solve(M.tolist(), Q.tolist(), A.tolist(), b.tolist())
    assert_close(multipliers, expected, 1e-10)
    assert_close(M @ acceleration, Q + A.T @ multipliers, 1e-10)
    values, vectors = np.linalg.eigh(M)
    inverse_root = vectors @ np.diag(values**-0.5) @ vectors.T
    printed = free + inverse_root @ np.linalg.pinv(A @ inverse_root) @ (b - A @ free)
    for ours in (acceleration, udwadia_kalaba.acceleration(M.tolist(), Q.tolist(), A.tolist(), b.tolist())):
        assert_close(ours, printed, 1e-10)


# --- control ----------------------------------------------------------------------------------------------------------


@pytest.mark.equation("Quiroz", "table 3.1")
def test_task_of_a_squared_distance() -> None:
    robot, goal = dq.robots.arm7(), dq.Point([0.3, -0.2, 0.9])
    q = robot.random_configuration(3)
    p = robot.pose("tool", q).translation
    error = ct.linearise(robot, ct.DistanceTask("tool", goal, 0.1))(0.0, q).value
    assert_close(error, [np.sum((p - goal.position) ** 2) - 0.1**2])


@pytest.mark.equation("Silva", "20")
@pytest.mark.equation("Quiroz", "3.6")
def test_rest_as_the_lower_level_of_control_by_torque() -> None:
    """The first level gets the acceleration of its task; in its null space the joints come to rest, v̇ = −k v."""
    robot = dq.robots.arm7()
    q, v = robot.random_configuration(4), RNG.normal(size=7)
    target = robot.pose("tool", q).translation + [0.05, 0.0, 0.02]
    task = ct.TranslationTask("tool", target, gains=(3.0, 2.0))
    tau = ct.torque_controller(robot, [[task], [ct.RestTask(gain=2.0)]])(0.0, q, v)
    a = robot.forward_dynamics(q, v, tau)
    J, J_rate = robot.translation_jacobian("tool", q), robot.translation_jacobian_derivative("tool", q, v)
    wanted = -3.0 * J @ v - 2.0 * (robot.pose("tool", q).translation - target)
    assert_close(J @ a + J_rate @ v, wanted, 1e-4)  # damped by default
    null = np.eye(7) - np.linalg.pinv(J) @ J
    assert_close(null @ (a + 2.0 * v), np.zeros(7), 1e-3)


# --- the cup on the table ---------------------------------------------------------------------------------------------


@pytest.mark.equation("Quiroz", "6.1")
@pytest.mark.equation("Quiroz", "6.2")
@pytest.mark.equation("Quiroz", "6.3")
@pytest.mark.equation("Quiroz", "6.4")
def test_rows_of_the_cup_on_the_table() -> None:
    """Four planes and nine joint limits, stacked: distances and angle functions, and their Jacobians."""
    setting = Setting.above_the_table(nine_joints(), START)
    robot, (_, region, joints, _) = setting.robot, setting.constraints()
    q = START + 0.05 * RNG.normal(size=9)
    planes = ct.linearise(robot, region)(0.0, q)
    normals = np.array([plane.normal for plane in setting.planes])
    gaps = normals @ robot.pose("left_hand", q).translation - [plane.distance for plane in setting.planes]
    assert_close(planes.value, gaps - PLANE)
    assert_close(planes.jacobian, normals @ robot.translation_jacobian("left_hand", q))

    middle, reach = (robot.limits.upper + robot.limits.lower) / 2.0, (robot.limits.upper - robot.limits.lower) / 2.0
    ahead = ct.PostureTask(middle + 0.99 * reach, gain=100.0)
    controller = ct.velocity_controller(robot, [ahead], [joints])
    v = controller(0.0, middle + 0.5 * reach)
    room = 2.0 * np.cos(0.5 * reach) - 2.0 * np.cos(reach)
    assert_close(list(controller.distances.values()), room)
    assert_close(2.0 * np.sin(0.5 * reach) * v, RATE * room, 1e-6)  # ḣ = −η h, where every limit is active


@pytest.mark.equation("Quiroz", "table 6.1")
def test_table_of_efforts_shows_the_printed_numbers() -> None:
    efforts = dict.fromkeys((*cup_on_table.VELOCITY, *cup_on_table.TORQUE), 0.5)
    by_velocity, by_torque = cup_on_table.table(efforts, 18.0).rows
    assert by_velocity[2:] == ("0.5000", "0.5000", "0.1637", "0.5132")
    assert by_torque[2:] == ("0.50", "0.50", "61.508", "115.07")
