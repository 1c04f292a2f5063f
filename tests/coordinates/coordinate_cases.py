"""Robots and coordinates for tests of coordinates, and their functions without a compiler."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from trees import random_robot

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.quaternion import Quaternion, cross3, pure, rotation_columns
from dqdyn.algebra.scalar import Scalar, divide, stack, total, unstack
from dqdyn.coordinates.names import NAMES, ROTATIONS
from dqdyn.coordinates.parameterisation import Parameterisation
from dqdyn.robot import Robot
from dqdyn.robot.coordinates import RobotInCoordinates


@dataclass(frozen=True)
class ModifiedRodrigues(Parameterisation):
    """A user's own: σ = tan(φ/4) n, three parameters without an angle function."""

    name = "modified-rodrigues"
    labels = ("s1", "s2", "s3")

    def rotation(self, theta: Sequence[Scalar]) -> Columns:
        square = total(c * c for c in theta)
        scale = divide(1.0, 1.0 + square)
        return rotation_columns(Quaternion((1.0 - square) * scale, *(2.0 * c * scale for c in theta)))

    def parameters(self, r: Quaternion) -> list[Scalar]:
        return [divide(c, 1.0 + r.w) for c in r.vector]


@dataclass(frozen=True)
class TwoColumns(Parameterisation):
    """A user's own with conditions: the first two columns of R; the third is their cross product."""

    name = "two-columns"
    labels = ("ax", "ay", "az", "bx", "by", "bz")

    def rotation(self, theta: Sequence[Scalar]) -> Columns:
        a, b = pure(*theta[:3]), pure(*theta[3:])
        return a, b, cross3(a, b)

    def parameters(self, r: Quaternion) -> list[Scalar]:
        a, b, _ = rotation_columns(r)
        return [*a.vector, *b.vector]

    def constraint(self, theta: Sequence[Scalar]) -> list[Scalar]:
        dot = lambda x, y: total(p * q for p, q in zip(x, y, strict=True))
        a, b = theta[:3], theta[3:]
        return [dot(a, a) - 1.0, dot(b, b) - 1.0, dot(a, b)]


OWN = (ModifiedRodrigues(), TwoColumns())
PARAMETERISATIONS = (*ROTATIONS.values(), *OWN)
CHOICES: tuple[Any, ...] = (*NAMES, *OWN)
FEW: tuple[Any, ...] = ("euler-zyx", "euler-zxz", "quaternion", "rotation-matrix", "dual-quaternion", *OWN)
"""One of each construction."""


@cache
def tree_with_balls() -> Robot:
    """A free base, spherical joints inside the tree, a universal and a planar joint; armature, damping, friction."""
    kinds = ("spherical", "revolute", "universal", "spherical", "prismatic", "planar")
    return random_robot(31, 7, kinds, base="free")


@cache
def small_with_ball() -> Robot:
    """A free base and a spherical joint, quick to compile."""
    return random_robot(33, 2, ("spherical", "revolute"), base="free")


@cache
def fixed_with_balls() -> Robot:
    """Spherical joints on a fixed base."""
    return random_robot(32, 5, ("spherical", "revolute"))


@cache
def chosen(robot: Robot, choice: Any) -> RobotInCoordinates:
    return robot.in_coordinates(choice)


def plain(robot: RobotInCoordinates, name: str, *inputs: Any, **options: Any) -> np.ndarray:
    """A function on plain numbers: no compiler, no checks."""
    function, chosen = robot._functions.named(name, options)
    form, on = function.algorithms(robot._tree, chosen)[0]
    arrays = [np.asarray(x, dtype=float) for x in inputs]
    entries, shape = function.evaluate(form, on, chosen, *(unstack(x, x.shape[-1]) for x in arrays))
    return stack(entries, shape, np.broadcast_shapes(*(x.shape[:-1] for x in arrays)))


@dataclass(frozen=True)
class Sample:
    """A state in minimal coordinates and in the chosen ones."""

    own_q: np.ndarray
    v: np.ndarray
    own_tau: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    tau: np.ndarray


def sample(robot: RobotInCoordinates, seed: int, outside: float = 0.0) -> Sample:
    """A random state; ``outside`` is the size of a force that acts in the coordinates, beside those of the joints."""
    rng = np.random.default_rng(seed)
    own_q, v = robot.robot.random_configuration(rng), rng.normal(size=robot.nv)
    own_tau = rng.normal(size=robot.nv) * 5.0
    q = plain(robot, "from_minimal", own_q)
    qd = plain(robot, "rate", q, v)
    tau = plain(robot, "forces", q, own_tau) + outside * rng.normal(size=robot.nq)
    return Sample(own_q, v, own_tau, q, qd, tau)
