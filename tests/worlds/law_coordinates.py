"""Laws of other coordinates and quasi-velocities: the same motion and the same power, in other numbers."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import sin
from dqdyn.errors import StateError
from dqdyn.quasi_velocities.equations import QuasiVelocities
from dqdyn.robot.coordinate_checks import check_regular
from dqdyn.robot.coordinates import RobotInCoordinates
from dqdyn.robot.functions.coordinates import COORDINATES
from dqdyn.robot.functions.quasi_velocities import QUASI_VELOCITIES
from dqdyn.robot.options import DEFAULTS, Options
from dqdyn.robot.robot_function import RobotFunction

from .case import Case
from .numbers import evaluate, on_arrays
from .parts import pick

CHOICES = ("quaternion", "rotation-matrix", "dual-quaternion", "euler-zyx", "euler-xyz", "euler-zxz")


def coordinates(case: Case) -> None:
    """Matrices and forces by E of v = E q̇; both ways of forward dynamics give the same q̈."""
    robot = case.world.free
    if not any(joint.motion.group is not None for joint in robot.joints):
        return
    rng = np.random.default_rng(case.world.seed)
    choice = pick(rng, CHOICES, (1, 1, 1, 1, 1, 1))
    if choice == "dual-quaternion" and not any(joint.kind == "free" for joint in robot.joints):
        choice = "quaternion"
    other = robot.in_coordinates(choice)
    run = lambda name, *inputs: on_arrays(_first(COORDINATES[name], other._tree), *inputs)
    own_q, v, a = case.state
    q = run("from_minimal", own_q)
    case.check(
        f"{choice}, there and back", evaluate(robot, "difference", own_q, run("minimal", q)), 0 * v, 100.0 * case.eps
    )
    try:
        check_regular(other._tree, q)
    except StateError as problem:
        case.refuse("coordinates", problem)
        return
    loss = 1.0 / _least_regularity(other, q)
    eps = 10.0 * case.eps * loss
    qd = run("rate", q, v)
    qdd = run("second_rate", q, qd, v, a)
    E, B = run("velocity_matrix", q), run("rate_matrix", q)
    case.check(f"{choice}, E B = 1", E @ B, np.eye(robot.nv), eps)
    fast = 1.0 + np.abs(v).max(initial=0.0)
    case.check(f"{choice}, v̇", run("acceleration", q, qd, qdd), a, eps * (np.abs(a) + fast**2 * loss))
    M = run("mass_matrix", q)
    case.check(f"{choice}, mass matrix", M, E.T @ case.mass @ E, eps * (np.abs(E).T @ case.mass_size @ np.abs(E)))
    tau = run("inverse_dynamics", q, qd, qdd)
    more = case.force_size + case.mass_size @ (np.abs(a) + fast**2 * loss)
    case.check(f"{choice}, forces", tau, E.T @ case.plain, np.abs(E).T @ (eps * more + case.sticking))
    if case.solvable and not case.sticking.any():
        known = case.acceleration_error + case.eps * np.abs(np.linalg.inv(case.mass)) @ (
            case.mass_size @ (np.abs(a) + fast**2 * loss)
        )
        allowed = 10.0 * loss * (np.abs(B) @ known) + eps * (np.abs(qdd) + np.abs(qd).max() ** 2)
        found = run("forward_dynamics", q, qd, tau)[: other.nq]
        case.check(f"{choice}, forward dynamics", found, qdd, allowed)
        by_kkt = on_arrays(
            _first(COORDINATES["forward_dynamics"], other._tree, DEFAULTS._replace(method="kkt")), q, qd, tau
        )[: other.nq]
        case.check(f"{choice}, forward dynamics, kkt", by_kkt, qdd, allowed * loss * case.condition)


def _least_regularity(other: RobotInCoordinates, q: np.ndarray) -> float:
    """The smallest |det J_ω| of its joints, by which rates are divided."""
    parts = [part for part in other._tree.parts if part.by is not None]
    found = [abs(float(part.by.regularity(q[part.q]))) ** 0.5 for part in parts if part.by is not None]
    return min([1.0, *found])


def speeds(case: Case) -> None:
    """Kane's equations in u, v = B(q) u, are Bᵀ times those in v; in every third world, up to 20 velocities."""
    robot = case.world.free
    if case.world.seed % 3 or not 0 < robot.nv <= 20:
        return
    b, size = _mixing(robot.nv, robot.nq, case.world.seed)
    by = QuasiVelocities(robot.model, b, size)
    run = lambda name, *inputs: on_arrays(_first(QUASI_VELOCITIES[name], by), *inputs)
    q, v, _ = case.state
    rng = np.random.default_rng(case.world.seed)
    B = run("matrix", q)
    u, u_rate = np.linalg.lstsq(B, v, rcond=None)[0], rng.normal(size=size)
    v, a = run("velocity", q, u), run("acceleration", q, u, u_rate)
    case.check("speeds, velocity", v, B @ u, case.eps * np.abs(B) @ np.abs(u))
    case.check(
        "speeds, mass matrix",
        run("mass_matrix", q),
        B.T @ case.mass @ B,
        case.eps * np.abs(B).T @ case.mass_size @ np.abs(B),
    )
    tau = evaluate(robot, "inverse_dynamics", q, v, a)
    forces = 10.0 * (case.force_size + case.mass_size @ (np.abs(a) + np.abs(v).max() ** 2) + np.abs(tau))
    found = run("inverse_dynamics", q, u, u_rate)
    case.check("speeds, forces", found, B.T @ tau, np.abs(B).T @ (case.eps * forces + case.sticking))
    if case.solvable and not case.sticking.any():
        inverse = np.abs(np.linalg.inv(B.T @ case.mass @ B))
        allowed = 10.0 * case.eps * (inverse @ (np.abs(B).T @ forces) + np.abs(u_rate))
        case.check("speeds, forward dynamics", run("forward_dynamics", q, u, found), u_rate, allowed)


def _first(function: RobotFunction, subject: Any, options: Options = DEFAULTS) -> Any:
    """The first of the algorithms that the compiler compares, as a function of the inputs."""
    form, on = function.algorithms(subject, options)[0]
    return partial(function.evaluate, form, on, options)


def _mixing(nv: int, nq: int, seed: int) -> tuple[Any, int]:
    """A matrix that mixes the velocities of all joints and depends on q; now and then it leaves one motion out."""
    rng = np.random.default_rng(seed)
    size = nv - 1 if nv > 1 and seed % 2 else nv
    order, weights = rng.permutation(nv), rng.uniform(-0.1, 0.1, size=(nv, nv))
    entry = lambda q, r, c: sin(q[(r + c) % nq]) * float(weights[r, c]) + float(c == order[r])
    return lambda q: [[entry(q, r, c) for c in range(size)] for r in range(nv)], size


LAWS = (coordinates, speeds)
