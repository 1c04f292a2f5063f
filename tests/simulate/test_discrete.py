"""Discrete momenta are the derivatives of the discrete Lagrangian, and symmetric joints keep them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from trees import TREES, random_description, tree

import dqdyn as dq
from dqdyn.model.canonical import canonical
from dqdyn.robot import Robot
from dqdyn.simulate.discrete import arriving, leaving


def lagrangian(robot: Robot, q: np.ndarray, q1: np.ndarray, dt: float) -> float:
    """dt times the kinetic energy of the mean motion of every body: written with matrices, from its definition."""
    total = 0.0
    befores, afters = robot.poses(q), robot.poses(q1)
    for joint, body in zip(robot.model.joints, robot.model.bodies, strict=True):
        before, after = befores[joint.name], afters[joint.name]
        r0, r1 = before.rotation_matrix, after.rotation_matrix
        com = np.array(body.inertia.com)
        moved = (after.translation + r1 @ com) - (before.translation + r0 @ com)
        zeta = cayley(r0.T @ r1)
        total += 0.5 * body.inertia.mass * moved @ moved / dt + 0.5 * zeta @ np.array(body.inertia.tensor) @ zeta / dt
    for joint in robot.joints:
        if joint.kind in ("spherical", "free"):  # their armature moves as they do; that of other joints is r w
            r0, r1 = (dq.Pose(rotation=at[joint.q][:4]).rotation_matrix for at in (q, q1))
            moved = r0.T @ (q1[joint.q][4:] - q[joint.q][4:]) if joint.kind == "free" else np.zeros(0)
            mean = np.concatenate([cayley(r0.T @ r1), moved])
            total += 0.5 * np.array(joint.armature) @ mean**2 / dt
    return total


def cayley(turned: np.ndarray) -> np.ndarray:
    skew = 2.0 * (turned - np.eye(3)) @ np.linalg.inv(turned + np.eye(3))
    return np.array([skew[2, 1], skew[0, 2], skew[1, 0]])


def uneven_armature() -> Robot:
    """A free and a spherical joint with another armature about every axis."""
    description = random_description(8, 4, ("free", "spherical", "revolute"))
    uneven = {"free": (0.3, 0.5, 0.4, 0.9, 0.2, 0.6), "spherical": (0.2, 0.05, 0.1)}
    joints = (replace(joint, armature=uneven.get(joint.kind, 0.1)) for joint in description.joints)
    return Robot.from_description(description.with_changes(joints=tuple(joints)), strict=True)


@pytest.mark.parametrize("name", [*(t for t in TREES if t != "one joint"), "uneven armature"])
def test_momenta_are_derivatives_of_the_action(name: str) -> None:
    robot = (uneven_armature() if name == "uneven armature" else tree(name)).without_friction()
    rotors = np.zeros(robot.nv)
    for joint in robot.joints:
        if joint.kind not in ("spherical", "free"):
            rotors[joint.v] += np.array(joint.armature) * (joint.master.ratio**2 if joint.master else 1.0)
    rng = np.random.default_rng(1)
    q, w, dt, h = robot.random_configuration(rng), rng.normal(size=robot.nv), 0.1, 1e-6
    q1 = robot.integrate(q, w, dt)
    start, end = np.zeros(robot.nv), np.zeros(robot.nv)
    for k, e in enumerate(np.eye(robot.nv)):
        ahead, behind = robot.integrate(q, e, h), robot.integrate(q, e, -h)
        start[k] = -(lagrangian(robot, ahead, q1, dt) - lagrangian(robot, behind, q1, dt)) / (2 * h)
        ahead, behind = robot.integrate(q1, e, h), robot.integrate(q1, e, -h)
        end[k] = (lagrangian(robot, q, ahead, dt) - lagrangian(robot, q, behind, dt)) / (2 * h)
    for model in (robot.model, canonical(robot.model)):
        found = [f(model, list(q), list(q1), list(w), dt) for f in (leaving, arriving)]
        np.testing.assert_allclose(np.array(found[0]) - rotors * w, start, rtol=2e-7, atol=2e-7)
        np.testing.assert_allclose(np.array(found[1]) - rotors * w, end, rtol=2e-7, atol=2e-7)


@pytest.mark.parametrize("name", ["every kind", "free base"])
def test_short_steps_have_the_momentum_of_the_motion(name: str) -> None:
    robot = tree(name).without_friction()
    rng = np.random.default_rng(2)
    q, w = robot.random_configuration(rng), rng.normal(size=robot.nv)
    expected = robot.mass_matrix(q) @ w
    errors = []
    for dt in (1e-3, 1e-4):
        q1 = robot.integrate(q, w, dt)
        errors.append(np.abs(np.array(leaving(robot.model, list(q), list(q1), list(w), dt)) - expected).max())
    assert errors[1] < 0.11 * errors[0] < 0.02
