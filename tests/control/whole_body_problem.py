"""The problem of a whole-body controller in (a, φ), written down by other means, and how well an answer solves it.

Dynamics and Jacobians come from the robot's methods, wrenches from the contacts' constants, costs by hand. As a command
it draws states, contacts and tasks: ``PYTHONPATH=tests python tests/control/whole_body_problem.py --states 1000``.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.arrays import Array
from dqdyn.contacts import Contact
from dqdyn.control.whole_body.controller import WholeBodyController

ACTIVE = 1e-6  # of a bound, relative to the terms of its row


@dataclass(frozen=True)
class Residuals:
    """Relative to the largest term: equation of motion, contacts and loops, bounds, stationarity."""

    motion: float
    contacts: float
    bounds: float
    stationarity: float

    def worst(self, other: Residuals) -> Residuals:
        pairs = zip(self.values, other.values, strict=True)
        return Residuals(*(max(a, b) for a, b in pairs))

    @property
    def values(self) -> tuple[float, ...]:
        return self.motion, self.contacts, self.bounds, self.stationarity


NOTHING = Residuals(0.0, 0.0, 0.0, 0.0)


def contact_jacobian(robot: dq.Robot, contact: Contact, q: Array, axes_at: Array | None = None) -> Array:
    """From v to [ω, v] (6, nv) of the body against the partner, at the contact's origin, in the contact frame.

    ``axes_at``: the configuration whose contact frame gives the axes, unless it is q.
    """
    x = dq.Pose(contact.pose(robot, q))
    turn = (x if axes_at is None else dq.Pose(contact.pose(robot, axes_at))).rotation_matrix.T

    def of(frame: str) -> Array:
        if frame == "world":
            return np.zeros((6, robot.nv))
        j = robot.twist_jacobian(frame, q, expressed="aligned")
        arm = x.translation - robot.pose(frame, q).translation
        return np.vstack([turn @ j[:3], turn @ (j[3:] + np.cross(j[:3].T, arm).T)])

    return of(contact.frame) - of(contact.partner)


def held_velocity(robot: dq.Robot, touching: Sequence[Contact], q: Array, v: Array) -> Array:
    """The velocity next to v at which contacts and loops hold."""
    rows = [c.motion_rows @ contact_jacobian(robot, c, q) for c in touching]
    rows = [*rows, robot.constraint_matrix(q)] if robot.constraints else rows
    if not rows:
        return v
    A = np.vstack(rows)
    return v - np.linalg.pinv(A, rcond=1e-9) @ (A @ v)


def drift(robot: dq.Robot, contact: Contact, q: Array, v: Array, h: float = 1e-5) -> Array:
    """T J̇ v by central differences along the motion, in the axes of the contact at q."""

    def rows(s: float) -> Array:
        return contact.motion_rows @ contact_jacobian(robot, contact, robot.integrate(q, v, s), q)

    return (rows(h) - rows(-h)) @ v / (2.0 * h)


def residuals(
    robot: dq.Robot,
    controller: WholeBodyController,
    touching: Sequence[Contact],
    state: tuple[Array, Array],
    cost: list[tuple[float, Array, Array]],
    *,
    tau: Array,
) -> Residuals:
    """How well an answer solves the problem; ``cost``: (weight, J, r) of ‖J a + r‖² per task."""
    q, v = state
    nv, a = robot.nv, controller.accelerations
    phi = np.concatenate([np.zeros(0), *(controller.contact_forces[c.name] for c in touching)])
    M, n = robot.mass_matrix(q), robot.bias_forces(q, v)
    force = [contact_jacobian(robot, c, q).T @ np.roll(c.wrench_basis, 3, axis=0) for c in touching]
    B = np.hstack([np.zeros((nv, 0)), *force])
    A = robot.constraint_matrix(q) if robot.constraints else np.zeros((0, nv))
    need = M @ a + n - B @ phi - tau
    lam = np.linalg.lstsq(A.T, need, rcond=None)[0] if len(A) else np.zeros(0)
    scale = max(np.abs(M * a).max(), np.abs(n).max(), np.abs(B * phi).max(initial=0.0), 1.0)
    motion = np.abs(need - A.T @ lam).max() / scale
    motion = max(motion, float((tau[~robot.actuated] != 0.0).any()))
    rows, rights = [A], [robot.constraint_bias(q, v) if len(A) else np.zeros(0)]
    for c in touching:
        rows.append(c.motion_rows @ contact_jacobian(robot, c, q))
        rights.append(-drift(robot, c, q, v))
    E, e = np.vstack(rows), np.concatenate(rights)
    held = np.abs(E @ a - e).max(initial=0.0) / max(np.abs(E * a).max(initial=0.0), np.abs(e).max(initial=0.0), 1.0)
    # bounds G [a, φ, λ] ≤ g: cones, then torques of motors
    k, m = len(phi), len(A)
    cones = [np.pad(_placed(c, touching, k), ((0, 0), (nv, m))) for c in touching]
    motors = [i for i, motor in enumerate(robot.motors) if motor is not None and motor.effort < 1e20]
    torque = np.hstack([M, -B, -A.T])[motors]
    limit = np.array([robot.motors[i].effort for i in motors])
    G = np.vstack([np.zeros((0, nv + k + m)), *cones, torque, -torque])
    g = np.concatenate([*(c.cone_rows.right for c in touching), limit - n[motors], limit + n[motors]])
    x = np.concatenate([a, phi, lam])
    terms = np.maximum(np.abs(G * x).max(axis=1, initial=0.0), 1.0)
    over = (G @ x - g) / np.maximum(terms, np.where(np.abs(g) < 1e20, np.abs(g), 0.0))
    # stationarity: ∇ + Eᵀν + Gᵀμ = 0 with μ ≥ 0 on active bounds; the unmotored equations are equalities too
    size, d, df = nv + k + m, controller.composition.design.damping, controller.composition.force_damping
    gradient = np.zeros(size)
    gradient[:nv] = d * d * a + sum((w * (J.T @ (J @ a + r)) for w, J, r in cost), np.zeros(nv))
    gradient[nv : nv + k] = df * df * phi
    passive = np.hstack([M, -B, -A.T])[~robot.actuated]
    equal = np.vstack([np.hstack([E, np.zeros((len(E), k + m))]), passive])
    active = over > -ACTIVE
    # forces in kg m/s² per kg, so that columns are of one size
    unit = np.concatenate([np.ones(nv), np.full(k + m, robot.model.mass)])
    columns = np.hstack([equal.T, G[active].T]) * unit[:, None]
    lengths = np.maximum(np.linalg.norm(columns, axis=0), 1e-12)
    lower = np.concatenate([np.full(len(equal), -np.inf), np.zeros(int(active.sum()))])
    target = gradient * unit
    found = lsq_linear(columns / lengths, -target, (lower, np.inf), method="bvls", tol=1e-15, max_iter=500)
    largest = max(np.abs(columns / lengths * found.x).max(initial=0.0), np.abs(target).max(), 1e-12)
    left = np.abs(columns / lengths @ found.x + target).max() / largest
    return Residuals(float(motion), float(held), float(over.max(initial=0.0)), float(left))


def _placed(contact: Contact, touching: Sequence[Contact], k: int) -> Array:
    rows, start = np.zeros((len(contact.cone_rows.right), k)), 0
    for other in touching:
        if other is contact:
            rows[:, start : start + contact.size] = contact.cone_rows.matrix
        start += other.size
    return rows


def posture_cost(robot: dq.Robot, weight: float, gain: float, q: Array, v: Array) -> tuple[float, Array, Array]:
    """That of PostureTask at its target: v̇ = −3η v."""
    return weight, np.eye(robot.nv), 3.0 * gain * v


def center_of_mass_cost(
    robot: dq.Robot, weight: float, gain: float, target: Array, q: Array, v: Array, h: float = 1e-5
) -> tuple[float, Array, Array]:
    """That of CenterOfMassTask: c̈ = −3η ċ − 2η² (c − c_d), with J̇ v by central differences."""
    J = robot.center_of_mass_jacobian(q)
    ahead, behind = (robot.center_of_mass_jacobian(robot.integrate(q, v, s)) for s in (h, -h))
    error = robot.center_of_mass(q) - target
    return weight, J, (ahead - behind) @ v / (2.0 * h) + 3.0 * gain * (J @ v) + 2.0 * gain**2 * error


def draw(
    robot: dq.Robot,
    touching: Sequence[Contact],
    rng: np.random.Generator,
    states: int,
    speed: float = 0.3,
    **options: object,
) -> Iterator[tuple[str, Residuals]]:
    """Statuses and residuals of one controller over random states and targets."""
    target, about = ct.Measured(np.zeros(3)), ct.Measured(robot.neutral())
    tasks = [ct.CenterOfMassTask(target, gain=2.0, weight=10.0), ct.PostureTask(about, gain=1.0, weight=0.3)]
    options = {"contact_rate": 0.0, "coulomb_friction": True} | options
    controller = ct.whole_body_controller(robot, tasks, contacts=touching, **options)
    touching = [c for c in touching if c.mode != "off"]
    for _ in range(states):
        q = robot.random_configuration(rng)
        if robot.constraints:
            q = robot.project(q)[0]
        v = held_velocity(robot, touching, q, speed * rng.standard_normal(robot.nv))
        wanted = robot.center_of_mass(q) + 0.1 * rng.standard_normal(3)
        target.update(wanted)
        about.update(q)
        controller.reset()
        tau = controller(0.0, q, v)
        cost = [center_of_mass_cost(robot, 10.0, 2.0, wanted, q, v), posture_cost(robot, 0.3, 1.0, q, v)]
        yield controller.report.status, residuals(robot, controller, touching, (q, v), cost, tau=tau)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--states", type=int, default=1000, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    from whole_body_cases import CASES

    rng = np.random.default_rng(options.seed)
    each = -(-options.states // len(CASES))
    print(f"{'robot and contacts':48} {'states':>6} {'solved':>6}  motion   contacts bounds   stationarity")
    for name, make in CASES.items():
        robot, touching = make()
        worst, statuses = NOTHING, []
        for status, found in draw(robot, touching, rng, each):
            statuses.append(status)
            if status == "solved":
                worst = worst.worst(found)
        figures = "  ".join(f"{x:7.1e}" for x in worst.values)
        print(f"{name:48} {each:6} {statuses.count('solved'):6}  {figures}", flush=True)


if __name__ == "__main__":
    main()
