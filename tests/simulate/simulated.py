"""Robots and measures that the tests of simulation share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

import dqdyn as dq
from dqdyn.robot import Robot


@cache
def floating_chain(links: int = 3) -> Robot:
    """A chain in free fall with links that no symmetry helps."""
    return Robot.from_description(dq.robots.chain(links, seed=2).description, base="free")


@cache
def space_chain(links: int = 2) -> Robot:
    """The same without gravity."""
    return floating_chain(links).with_gravity([0.0, 0.0, 0.0])


@cache
def rigid_body() -> Robot:
    """One body that moves in SE(3), with its center of mass off its origin."""
    body = dq.Inertia(1.3, (0.05, -0.1, 0.08), ((0.02, 0.003, 0.0), (0.003, 0.05, -0.004), (0.0, -0.004, 0.06)))
    description = dq.Description("body", (dq.Link("body", body),), (), (), "free")
    return Robot.from_description(description)


def start_of(robot: Robot, seed: int = 1, speed: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """A random state."""
    rng = np.random.default_rng(seed)
    return robot.random_configuration(rng), speed * rng.normal(size=robot.nv)


def distance(robot: Robot, q: np.ndarray, q1: np.ndarray) -> float:
    """The largest component of the way from q to q1, in rad or m."""
    return float(np.abs(robot.difference(q, q1)).max())


def orders(errors: Sequence[float]) -> np.ndarray:
    """Orders of convergence from errors at steps that halve."""
    return np.log2(np.array(errors[:-1]) / np.array(errors[1:]))


def momentum(robot: Robot, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Linear and angular momentum of all bodies about the world's origin, (..., 6), from first principles."""
    result = np.zeros((*np.shape(q)[:-1], 6))
    for joint, body in zip(robot.model.joints, robot.model.bodies, strict=True):
        pose, twist = robot.pose(joint.name, q), robot.twist(joint.name, q, v, expressed="body").vec6()
        rotation, p = np.asarray(pose.rotation_matrix), np.asarray(pose.translation)
        omega, speed = twist[..., :3], twist[..., 3:]
        com, tensor = np.array(body.inertia.com), np.array(body.inertia.tensor)
        linear = np.einsum("...ij,...j->...i", rotation, body.inertia.mass * (speed + np.cross(omega, com)))
        spin = np.einsum("...ij,...j->...i", rotation, omega @ tensor.T)
        center = p + rotation @ com
        result[..., :3] += linear
        result[..., 3:] += spin + np.cross(center, linear)
    return result
