"""Robots with free or spherical joints and constraints of every kind, for tests of coordinates."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from coordinate_cases import Sample, plain
from trees import random_robot

from dqdyn import StateError
from dqdyn import constraints as kinds
from dqdyn.algebra.scalar import cos, sin
from dqdyn.constraints import Place
from dqdyn.constraints.constraint import Constraint
from dqdyn.robot import Robot
from dqdyn.robot.coordinates import RobotInCoordinates

KINDS = ("spherical", "revolute", "prismatic", "universal")


def moving_row(at: Place) -> Any:
    """One row that mixes all velocities, with a right-hand side that the time moves."""
    angle = at.joint(next(joint.name for joint in at.model.joints if joint.kind == "revolute"))[0]
    return [[0.3 + 0.1 * k + 0.2 * sin(angle) for k in range(at.model.nv)]], [0.5 * cos(2.0 * at.t)]


CONSTRAINTS: dict[str, Callable[[Robot], tuple[Constraint, ...]]] = {
    "point contact": lambda robot: (kinds.PointContact("tool"),),
    "face contact and knife edge": lambda robot: (kinds.FaceContact("tool"), kinds.KnifeEdge("camera")),
    "point loop": lambda robot: (kinds.PointClosure("tool", "world"),),
    "pose loop": lambda robot: (kinds.PoseClosure("world", "tool"),),
    "rod": lambda robot: (kinds.DistanceClosure("tool", "world", 0.8),),
    "twice the same": lambda robot: (kinds.PointContact("tool"), kinds.PointContact("tool", name="again")),
    "moving": lambda robot: (kinds.Pfaffian(moving_row, 1, timed=True),),
}


@cache
def constrained(name: str, seed: int = 41, joints: int = 5) -> Robot:
    """A random tree under the constraints of that name."""
    robot = random_robot(seed, joints, KINDS, base="free")
    return robot.with_constraints(*CONSTRAINTS[name](robot), check=False)


@cache
def wheeled() -> Robot:
    """A base that does not slip, with a spherical joint above."""
    return random_robot(43, 3, ("spherical", "revolute"), base="differential")


def robot_of(name: str, seed: int = 41) -> Robot:
    return wheeled() if name == "rolling" else constrained(name, seed)


NAMES = (*CONSTRAINTS, "rolling")


@cache
def own_state(own: Robot, seed: int, t: float) -> tuple[np.ndarray, np.ndarray]:
    """q and v on the constraints, found without compiling: for so few states that is quicker."""
    rng, interpreted = np.random.default_rng(seed), Robot(own.model, native=False)
    while True:
        try:
            return interpreted.project(own.random_configuration(rng), rng.normal(size=own.nv), t)
        except StateError:
            continue


def lawful(robot: RobotInCoordinates, seed: int, t: float = 0.0, outside: float = 0.0) -> Sample:
    """A state on the constraints; ``outside`` as in :func:`coordinate_cases.sample`."""
    rng = np.random.default_rng(seed)
    own_q, v = own_state(robot.robot, seed, t)
    own_tau = 5.0 * rng.normal(size=robot.nv)
    q = plain(robot, "from_minimal", own_q)
    qd = plain(robot, "rate", q, v)
    tau = plain(robot, "forces", q, own_tau) + outside * rng.normal(size=robot.nq)
    return Sample(own_q, v, own_tau, q, qd, tau)
