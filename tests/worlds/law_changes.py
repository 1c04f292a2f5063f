"""Laws of changed robots: a payload adds what its inertia takes, a locked joint stands still."""

from __future__ import annotations

import numpy as np

from .case import Case
from .numbers import evaluate


def payload(case: Case) -> None:
    """The load's own law of motion, at its frame, by hand."""
    load, world = case.world.payload, case.world
    if load is None or not world.tree.nv:
        return
    tree = world.tree
    loaded = tree.with_payload("tool", load.mass, load.com, load.moments)
    rng = np.random.default_rng(world.seed)
    q, v, a = tree.random_configuration(rng), rng.normal(size=tree.nv), rng.normal(size=tree.nv)
    twist = evaluate(tree, "twist", q, v, frame="tool", expressed="body")
    rate = evaluate(tree, "twist_rate", q, v, a, frame="tool", expressed="body")
    J = evaluate(tree, "twist_jacobian", q, frame="tool", expressed="body")
    x = evaluate(tree, "pose", q, frame="tool")
    g = _turned_back(x[:4], tree.gravity)
    omega, alpha = twist[:3], rate[:3]
    at_origin = rate[3:] + np.cross(omega, twist[3:]) - g  # of the point, not of the twist's component
    force = load.mass * (at_origin + np.cross(alpha, load.com) + np.cross(omega, np.cross(omega, load.com)))
    torque = load.moments * alpha + np.cross(omega, load.moments * omega) + np.cross(load.com, force)
    more = evaluate(loaded, "inverse_dynamics", q, v, a) - evaluate(tree, "inverse_dynamics", q, v, a)
    size = np.abs(evaluate(loaded, "inverse_dynamics", q, v, a)).max() + np.abs(J).sum() * (
        np.abs([force, torque]).max()
    )
    weight = loaded.mass * 10.0 * max(1.0, np.abs(x).max()) ** 2 * max(1.0, np.abs(J).max())
    case.check("payload", more, J.T @ np.concatenate([torque, force]), 10.0 * case.eps * (size + weight))


def locked(case: Case) -> None:
    """M and τ of the robot with locked joints are those of the other joints, the locked ones at rest.

    A field pulls bodies at their centers of mass, and locking makes one body of two: there only M is compared.
    """
    world, robot = case.world, case.robot
    if not world.locked:
        return
    load = world.payload
    whole = world.tree.with_payload("tool", load.mass, load.com, load.moments) if load else world.tree
    whole = whole.with_gravity(robot.gravity)
    q, v, a = whole.neutral(), np.zeros(whole.nv), np.zeros(whole.nv)
    rows: list[int] = []
    for joint in whole.joints:
        if joint.name in world.locked:
            q[joint.q] = world.locked[joint.name]
    for joint in robot.joints:
        if joint.is_mimic:
            continue
        there = whole.model.joint(joint.name)
        q[there.q], v[there.v], a[there.v] = world.q[joint.q], world.v[joint.v], world.a[joint.v]
        rows += range(there.v.start, there.v.stop)
    M = evaluate(whole, "mass_matrix", q)[np.ix_(rows, rows)]
    case.check("locked, mass matrix", evaluate(robot, "mass_matrix", world.q), M, case.eps * case.mass_size)
    if not case.uniform:
        return
    tau = evaluate(whole, "inverse_dynamics", q, v, a)[rows]
    case.check("locked, forces", case.plain, tau, 2.0 * case.eps * case.force_size)


def _turned_back(r: np.ndarray, x: np.ndarray) -> np.ndarray:
    """A vector of the world in axes turned by the unit quaternion r."""
    w, u = r[0], -r[1:]
    return np.asarray(x + 2.0 * w * np.cross(u, x) + 2.0 * np.cross(u, np.cross(u, x)))


LAWS = (payload, locked)
