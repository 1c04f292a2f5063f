"""Robots with constraints of every kind, and states that obey them; shared by the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import dqdyn as dq
from dqdyn import constraints as kinds
from dqdyn.algebra.poses import position
from dqdyn.algebra.scalar import cos, sin
from dqdyn.constraints import Place
from dqdyn.constraints.forward import CONSTRAINED_FORWARD
from dqdyn.model.description import Description, Joint, Link, placement
from dqdyn.model.inertia import box, sphere
from dqdyn.robot import Robot


@dataclass(frozen=True)
class RandomPfaffian:
    """Rows with entries c₀ + c₁ sin(qₖ) + c₂ cos(t) and as many b; the same numbers for one seed."""

    seed: int
    rows: int
    nv: int
    timed: bool = False

    def __call__(self, at: Place) -> Any:
        rng = np.random.default_rng(self.seed)
        time = cos(at.t) if self.timed else 1.0

        def entry() -> Any:
            c = rng.normal(size=3)
            k = int(rng.integers(len(at.q)))
            return float(c[0]) + float(c[1]) * sin(at.q[k]) + float(c[2]) * time

        return [[entry() for _ in range(self.nv)] for _ in range(self.rows)], [entry() for _ in range(self.rows)]


def on_a_sphere(at: Place) -> list[Any]:
    """The tool keeps its distance from a point."""
    p = position(at.pose("tool"))
    x, y, z = p.x - 0.1, p.y - 0.2, p.z - 0.3
    return [x * x + y * y + z * z - 0.5]


def follows_a_clock(at: Place) -> list[Any]:
    """The first joint moves as sin 2t; the second is twice the third."""
    return [at.q[0] - 0.3 * sin(2.0 * at.t), at.q[1] - 2.0 * at.q[2]]


def wheeled() -> Robot:
    """A planar platform with two wheels as joints."""
    links = (
        Link("platform", box(20.0, (0.5, 0.4, 0.2), (0.05, 0.0, 0.1))),
        *(Link(f"{side}_wheel", sphere(1.0, 0.1)) for side in ("left", "right")),
    )
    joints = tuple(
        Joint(f"{side}_axle", "revolute", "platform", f"{side}_wheel", placement((0.0, y, 0.1)), axis=(0.0, 1.0, 0.0))
        for side, y in (("left", 0.25), ("right", -0.25))
    )
    robot = Robot.from_description(Description("wheeled", links, joints, base="planar"))
    return robot.with_constraints(kinds.RollingWheels("left_axle", "right_axle", 0.1, 0.5))


def welded() -> Robot:
    """An arm whose tool is held at a pose of the world."""
    robot = dq.robots.arm7()
    at = robot.pose("tool", robot.neutral() + 0.3)
    return robot.with_constraints(kinds.PoseClosure("world", "tool", at))


def hinged() -> Robot:
    """Two arms that hold one hinge."""
    robot = dq.robots.bimanual()
    return robot.with_constraints(kinds.AxisClosure("left_hand", "right_hand", (0.0, 0.6, 0.8), slide=False))


def standing() -> Robot:
    robot = dq.robots.humanoid()
    return robot.with_constraints(kinds.FaceContact("left_foot"), kinds.PointContact("right_foot"))


ROBOTS: dict[str, Callable[[], Robot]] = {
    "nonholonomic manipulator": dq.robots.nonholonomic_manipulator,
    "four-bar": dq.robots.four_bar,
    "five-bar": dq.robots.five_bar,
    "stewart platform": dq.robots.stewart_platform,
    "wheels": wheeled,
    "weld": welded,
    "hinge": hinged,
    "slider": lambda: dq.robots.bimanual().with_constraints(kinds.AxisClosure("left_hand", "right_hand")),
    "rod": lambda: dq.robots.bimanual().with_constraints(kinds.DistanceClosure("left_hand", "right_hand", 0.4)),
    "gears": lambda: dq.robots.arm6().with_constraints(
        kinds.JointCoupling(tuple(j.name for j in dq.robots.arm6().joints[1:4]), (1.0, -2.0, 0.5), 0.1)
    ),
    "knife edge": lambda: dq.robots.arm7(base="planar").with_constraints(kinds.KnifeEdge("tool", (0.3, 1.0, 0.2))),
    "contacts": standing,
    "sphere": lambda: dq.robots.arm7().with_constraints(kinds.Holonomic(on_a_sphere)),
    "pfaffian": lambda: dq.robots.arm6().with_constraints(kinds.Pfaffian(RandomPfaffian(3, 2, 6), 2)),
}
"""Constraints in which the time does not enter."""
TIMED: dict[str, Callable[[], Robot]] = {
    "clock": lambda: dq.robots.arm6().with_constraints(kinds.Holonomic(follows_a_clock, 2, timed=True)),
    "timed pfaffian": lambda: dq.robots.arm7().with_constraints(
        kinds.Pfaffian(RandomPfaffian(4, 3, 7, timed=True), 3, timed=True)
    ),
}


@cache
def robot_of(name: str) -> Robot:
    return (ROBOTS | TIMED)[name]()


def state(robot: Robot, seed: int = 0, t: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q and v on the constraints, and some tau."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        try:
            near = robot.integrate(robot.neutral(), 0.4 * rng.normal(size=robot.nv), 1.0)
            q, v = robot.project(near, rng.normal(size=robot.nv), t)
            return q, v, rng.normal(size=robot.nv)
        except dq.StateError:
            continue
    raise AssertionError("no state found")


def written(robot: Robot, method: str, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Constrained forward dynamics as written, on numbers: for many rows that is quicker than compiling them."""
    return np.array(CONSTRAINED_FORWARD[method](robot.model, q.tolist(), v.tolist(), tau.tolist()))


def states(robot: Robot, count: int, t: float = 0.0) -> tuple[np.ndarray, ...]:
    """The same as a batch."""
    return tuple(np.array(part) for part in zip(*(state(robot, seed, t) for seed in range(count)), strict=True))
