"""Laws of forces: all formulations are one, M and C are what they are defined to be, energy and momentum balance."""

from __future__ import annotations

import numpy as np

from dqdyn.dynamics.joint_forces import velocity_forces
from dqdyn.dynamics.methods import CORIOLIS, INVERSE, MASS_MATRIX

from .case import Case
from .numbers import along, bound, directions, evaluate, on_arrays


def joints(case: Case) -> None:
    """Damping, friction and armature of each joint; of one that follows another, as its master moves it."""
    size = (case.robot.nv,)
    viscous, dry, rotor = np.zeros(size), np.zeros(size), np.zeros(size)
    for joint in case.robot.joints:
        ratio = abs(joint.master.ratio) if joint.master else 1.0
        viscous[joint.v] += ratio**2 * np.array(joint.damping)
        dry[joint.v] += ratio * np.array(joint.friction)
        rotor[joint.v] += ratio**2 * np.array(joint.armature)
    v = case.world.v
    case.check(
        "joints, resistance", case.resisting, viscous * v + dry * np.sign(v), case.eps * (viscous * abs(v) + dry)
    )
    case.check("joints, armature", case.armature, rotor, case.eps * rotor)


def formulations(case: Case) -> None:
    """Every formulation of inverse dynamics gives the same forces, in the given frames and in those for speed."""
    allowed = case.eps * case.force_size
    for method in INVERSE:
        case.check(f"inverse dynamics, {method}", case.inverse(*case.state, method=method), case.tau, allowed)
    found = on_arrays(bound(INVERSE["recursive"], case.reduced, (case.robot.nv,)), *case.state)
    case.check("inverse dynamics, regrouped", found, case.plain, allowed)


def newton(case: Case) -> None:
    """τ is what Newton and Euler say of each body, by its Jacobian: written here, without a recursion."""
    if not case.uniform:
        return
    v, a = case.world.v, case.world.a
    joints = np.array(velocity_forces(case.robot.model, list(v)), dtype=float)
    tau = case.armature * a + joints
    for b in case.bodies:
        force = b.mass * (b.rate[3:] - case.robot.gravity)
        torque = b.tensor @ b.rate[:3] + np.cross(b.twist[:3], b.tensor @ b.twist[:3])
        tau = tau + b.jacobian.T @ np.concatenate([torque, force])
    for frame, wrench in zip(case.world.frames, case.world.wrenches.reshape(-1, 6), strict=True):
        J = evaluate(case.robot, "twist_jacobian", case.world.q, frame=frame, expressed=case.world.expressed)
        tau = tau - J.T @ np.concatenate([wrench[3:], wrench[:3]])
    case.check("Newton and Euler", case.tau, tau, case.eps * case.force_size)


def mass_matrix(case: Case) -> None:
    """M by every method is Σ JᵀIJ, symmetric, and the derivative of τ with respect to a."""
    expected = np.diag(case.armature) + sum(
        (
            b.jacobian[3:].T @ b.jacobian[3:] * b.mass + b.jacobian[:3].T @ b.tensor @ b.jacobian[:3]
            for b in case.bodies
        ),
        np.zeros((case.robot.nv, case.robot.nv)),
    )
    allowed = case.eps * case.mass_size
    for method in ("auto", *MASS_MATRIX):
        found = evaluate(case.robot, "mass_matrix", case.world.q, method=method)
        case.check(f"mass matrix, {method}", found, expected, allowed)
        case.check("mass matrix, symmetric", found, found.T, allowed)
    for method in ("composite-body", "composite-body-root"):
        found = on_arrays(bound(MASS_MATRIX[method], case.reduced, expected.shape), case.world.q)
        case.check("mass matrix, regrouped", found, expected, allowed)
    if case.robot.nv:
        least = float(np.linalg.eigvalsh(case.mass).min())
        case.require("mass matrix, positive", least > -float(allowed.max()), f"the eigenvalue {least:.3g}")
        zero = np.zeros(case.robot.nv)
        rows = evaluate(case.robot, "inverse_dynamics", case.world.q, zero, np.eye(case.robot.nv))
        still = evaluate(case.robot, "gravity_forces", case.world.q)
        weight = case.eps * (case.levers[0].T @ np.array([b.mass for b in case.bodies])) * case.acceleration
        case.check("∂τ/∂a", (rows - still).T, expected, allowed + weight[:, None])


def coriolis(case: Case) -> None:
    """τ at a = 0 is C v, gravity and the joints' own forces; Ṁ − 2C is skew."""
    q, v, _ = case.state
    zero = np.zeros(case.robot.nv)
    bias = evaluate(case.robot, "inverse_dynamics", q, v, zero)
    gravity = evaluate(case.robot, "gravity_forces", q)
    rate = evaluate(case.robot, "configuration_rate", q, v)
    mass_rate = along(lambda x: evaluate(case.robot, "mass_matrix", x), q, rate[None])[0]
    for method in CORIOLIS:
        matrix = evaluate(case.robot, "coriolis_matrix", q, v, method=method)
        allowed = case.eps * case.coriolis_size
        found = matrix @ v + gravity + case.resisting
        case.check(f"C v, {method}", found, bias, case.eps * case.force_size + allowed @ np.abs(v))
        skew = mass_rate - 2.0 * matrix
        case.check(f"Ṁ − 2C, {method}", skew + skew.T, 0 * skew, 4.0 * (allowed + allowed.T))
    case.check("bias forces", evaluate(case.robot, "bias_forces", q, v), bias, case.eps * case.force_size)


def energy(case: Case) -> None:
    """½ vᵀMv; gravity's forces as the gradient of the potential energy; power as the rate of energy."""
    q, v, a = case.state
    robot, work = case.robot, case.eps * case.force_size
    kinetic = evaluate(robot, "kinetic_energy", q, v)
    size = np.abs(v) @ case.mass_size @ np.abs(v)
    case.check("kinetic energy", kinetic, [0.5 * v @ case.mass @ v], case.eps * size)
    if robot.nv:
        slope = along(lambda x: evaluate(robot, "potential_energy", x), q, directions(robot, q))[:, 0]
        case.check("gravity is a gradient", evaluate(robot, "gravity_forces", q), slope, 2.0 * work)
    state, rates = np.concatenate([q, v]), np.concatenate([evaluate(robot, "configuration_rate", q, v), a])

    def whole(x: np.ndarray) -> np.ndarray:
        return evaluate(robot, "kinetic_energy", x[..., : robot.nq], x[..., robot.nq :]) + evaluate(
            robot, "potential_energy", x[..., : robot.nq]
        )

    power = v @ case.plain - v @ case.resisting
    case.check("power", along(whole, state, rates[None])[0], [power], 4.0 * work @ np.abs(v))


def momentum(case: Case) -> None:
    """Centroidal momentum is that of the bodies, and changes by the wrenches of gravity and of what holds the roots."""
    q, v, a = case.state
    robot = case.robot
    h, A = evaluate(robot, "centroidal_momentum", q, v), evaluate(robot, "centroidal_momentum_matrix", q)
    mass = sum(b.mass for b in case.bodies)
    if not mass:
        return
    center = sum((b.mass * b.place for b in case.bodies), np.zeros(3)) / mass
    linear = sum((b.mass * b.twist[3:] for b in case.bodies), np.zeros(3))
    angular = sum(
        (b.tensor @ b.twist[:3] + b.mass * np.cross(b.place - center, b.twist[3:]) for b in case.bodies), np.zeros(3)
    )
    most = case.eps * np.repeat([1.0, case.reach], 3) * sum(b.mass + np.abs(b.tensor).max() for b in case.bodies)
    size = most * (case.speed + case.turning)
    expected = np.concatenate([linear, angular])
    case.check("momentum", h, expected, size)
    columns = np.max(case.levers[0] + case.levers[1], axis=0)
    case.check("momentum matrix", A @ v, expected, size + most * (columns @ np.abs(v)))
    case.check("center of mass", evaluate(robot, "center_of_mass", q), center, case.eps * case.reach)
    velocity = evaluate(robot, "center_of_mass_jacobian", q) @ v
    case.check("center of mass, velocity", velocity, linear / mass, case.eps * (case.speed + columns @ np.abs(v)))
    if not case.uniform or not robot.nv:
        return
    state, rates = np.concatenate([q, v]), np.concatenate([evaluate(robot, "configuration_rate", q, v), a])
    rate = along(
        lambda x: evaluate(robot, "centroidal_momentum", x[..., : robot.nq], x[..., robot.nq :]), state, rates[None]
    )
    forces = sum((b.mass * b.rate[3:] for b in case.bodies), np.zeros(3))
    turns = sum(
        (
            b.tensor @ b.rate[:3]
            + np.cross(b.twist[:3], b.tensor @ b.twist[:3])
            + b.mass * np.cross(b.place - center, b.rate[3:])
            for b in case.bodies
        ),
        np.zeros(3),
    )
    moving = case.eps * np.repeat([0.0, mass], 3) * case.speed**2  # of (v − v_center) × m v, which cancel in the sum
    allowed = 4.0 * (most * (case.acceleration + case.spin) + moving)
    case.check("rate of momentum", rate[0], np.concatenate([forces, turns]), allowed)


def functions(case: Case) -> None:
    """Gauss's and Gibbs-Appell's functions have the forces as gradients; τ is linear in the inertial parameters."""
    q, v, a = case.state
    robot = case.robot
    if not robot.nv:
        return
    case_size = case.eps * (case.force_size + case.mass_size @ np.abs(a))
    tau = case.plain
    gradient = along(lambda x: evaluate(robot, "gauss_function", q, v, x, 0 * a), a, np.eye(robot.nv))[:, 0]
    case.check("Gauss's function", gradient, tau, 4.0 * case_size)
    gradient = along(lambda x: evaluate(robot, "gibbs_appell_function", q, v, x), a, np.eye(robot.nv))[:, 0]
    held = evaluate(robot, "gravity_forces", q) + case.resisting
    case.check("Gibbs-Appell function", gradient, tau - held, 4.0 * case_size)
    if case.uniform:
        parameters = robot.inertial_parameters()
        regressor = evaluate(robot, "torque_regressor", q, v, a)
        own = np.array(velocity_forces(robot.model, list(v)), dtype=float) + case.armature * a
        found = regressor @ parameters + own
        case.check("regressor", found, tau, case_size + case.eps * np.abs(regressor) @ np.abs(parameters))


LAWS = (joints, formulations, newton, mass_matrix, coriolis, energy, momentum, functions)
