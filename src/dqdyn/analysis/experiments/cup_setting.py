"""The setting of the experiments with a cup: what holds it, the table, the region above it, and the limits.

Numbers are those of Quiroz, section 6.1: tilt at most 0.1 rad, planes and torso kept 0.01 m and 0.07 m away. The robot
and where it starts are ours, because the paper does not give them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn import control as ct
from dqdyn import robots
from dqdyn.analysis.experiments.experiment import Drawing, draw, norm
from dqdyn.geometry.primitives import Line, Plane
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory

TILT, PLANE, TORSO = 0.1, 0.01, 0.07  # rad, m, m
RATE = 0.36  # 1/s, η of task and inequalities by velocity
GAINS = (1.5, 0.3)  # 1/s, 1/s²: (k_d, k_p) and (η_1, η_2) by acceleration
DAMPING = 0.01  # λ
HAND, ELBOW, TRUNK = "left_hand", "left_forearm", "hips"
UP = (0.0, 0.0, 1.0)
START = np.array([-0.36, 0.23, -0.09, 0.33, -0.11, -0.1, 0.11, 0.44, -1.34])  # rad: torso of five, arm of four
HEIGHT, REGION = 0.15, 0.03  # m: of the hand above the table, and to each of the four planes, at the start


def nine_joints() -> Robot:
    """The torso of five joints and the left arm of four; the right arm hangs."""
    right = {"shoulder_pitch": 0.2, "shoulder_roll": -0.1, "arm_yaw": 0.0, "elbow": -0.3}
    return robots.small_bimanual().lock({f"right_{name}": angle for name, angle in right.items()})


@dataclass(frozen=True, eq=False)
class Setting:
    """``axis`` (3): the cup's, in the hand's frame, upright at the start; ``planes`` look inwards."""

    robot: Robot
    axis: np.ndarray
    table: Plane
    planes: tuple[Plane, ...]

    @classmethod
    def above_the_table(cls, robot: Robot, q0: np.ndarray) -> Setting:
        """The cup upright, the table below it and a region around it."""
        x = robot.pose(HAND, q0)
        axis, p = x.rotation_matrix.T @ UP, x.translation
        table = Plane(UP, distance=p[2] - HEIGHT)
        return cls(robot, axis / np.linalg.norm(axis), table, walls(p))

    def task(self) -> ct.Task:
        """The distance of hand and table, to zero."""
        return ct.DistanceTask(HAND, self.table, gain=RATE, gains=GAINS, name="height above the table")

    def constraints(self) -> list[Any]:
        """The fifteen of the paper: the cone, four planes, nine joint limits by cones, torso and arm.

        The planes have the Jacobian [Quiroz, eq. (6.1)] and the distances [Quiroz, eq. (6.3)], the joint limits the
        Jacobian [Quiroz, eq. (6.2)] and the values [Quiroz, eq. (6.4)].
        """
        both: Any = {"gain": RATE, "gains": GAINS}
        return [
            ct.Cone(ct.line(HAND, self.axis), UP, TILT, name="tilt", **both),
            ct.Region(HAND, self.planes, PLANE, **both),
            ct.ConeJointLimits(**both),
            ct.TorsoArm(ct.line(TRUNK), ELBOW, HAND, TORSO, **both),
        ]

    # --- what is measured, without the controllers' own functions

    def tilt(self, run: Trajectory) -> np.ndarray:
        """Angle (n,) of the cup's axis to the vertical in rad."""
        up = (self.robot.pose(HAND, run.q).rotation_matrix @ self.axis)[:, 2]
        return np.asarray(np.arccos(np.clip(up, -1.0, 1.0)))

    def hand(self, run: Trajectory) -> np.ndarray:
        """Positions (n, 3) in m."""
        return np.asarray(self.robot.pose(HAND, run.q).translation)

    def height(self, run: Trajectory) -> np.ndarray:
        """Of the hand above the table (n,) in m: the error of the task."""
        return self.hand(run)[:, 2] - float(self.table.distance)

    def to_torso(self, run: Trajectory) -> np.ndarray:
        """Distance (n,) in m of the forearm from the line of the torso: both seen along the line."""
        trunk = self.robot.pose(TRUNK, run.q)
        along = trunk.rotation_matrix[:, :, 2]
        ends = [self.robot.pose(frame, run.q).translation - trunk.translation for frame in (ELBOW, HAND)]
        a, b = (end - np.sum(end * along, axis=1, keepdims=True) * along for end in ends)
        way = b - a
        part = np.clip(-np.sum(a * way, axis=1) / np.maximum(np.sum(way * way, axis=1), 1e-12), 0.0, 1.0)
        return norm(a + part[:, None] * way)

    def violations(self, run: Trajectory) -> dict[str, float]:
        """By how much each kind of limit was violated at worst, as a part of the limit; negative is room."""
        return {
            "tilt": float(self.tilt(run).max()) / TILT - 1.0,
            "planes": 1.0 - float(to_planes(self.planes, self.hand(run)).min()) / PLANE,
            "joints": beyond_limits(self.robot, run.q),
            "torso": 1.0 - float(self.to_torso(run).min()) / TORSO,
        }

    def drawings(self, run: Trajectory) -> tuple[Drawing, ...]:
        """The table and its region, the cup and its cone, the torso's line and the forearm."""
        hand, up = self.hand(run), self.robot.pose(HAND, run.q).rotation_matrix @ self.axis
        elbow = self.robot.pose(ELBOW, run.q).translation
        return (
            *table_and_walls(self.table, self.planes, hand[0]),
            *cup_and_cone(hand, up, TILT),
            draw("line", line=Line(UP, (0.0, 0.0, 0.0)), on=TRUNK, length=1.0, name="line of the torso"),
            draw("segment", start=elbow, end=hand, name="forearm", radius=0.006),
        )


def walls(p: np.ndarray, away: float = REGION) -> tuple[Plane, ...]:
    """Four vertical planes ``away`` m from a point, whose normals point to it."""
    sides = ((0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0))
    return tuple(Plane(sign * np.eye(3)[axis], distance=sign * p[axis] - away) for axis, sign in sides)


def to_planes(planes: tuple[Plane, ...], p: np.ndarray) -> np.ndarray:
    """Signed distances (n, 4) in m of points (n, 3)."""
    return np.stack([p @ np.asarray(plane.normal) - float(plane.distance) for plane in planes], axis=1)


def beyond_limits(robot: Robot, q: np.ndarray) -> float:
    """How far joints are beyond their limits at worst in q (n, nq), as a part of the limit; of those at 0, of 1 rad."""
    limits, worst = robot.limits, -np.inf
    for limit, sign in ((limits.upper, 1.0), (limits.lower, -1.0)):
        bounded = np.isfinite(limit)
        sizes = np.where(limit == 0.0, 1.0, np.abs(limit))[bounded]
        worst = max(worst, float((sign * (q - limit)[:, bounded] / sizes).max()))
    return worst


def table_and_walls(table: Plane, planes: tuple[Plane, ...], center: np.ndarray) -> list[Drawing]:
    """Sheets."""
    low = [*center[:2], float(table.distance)]
    sheets = [draw("plane", plane=table, side=0.3, center=low, name="table", color=(0.6, 0.4, 0.2, 0.7))]
    middle = [*center[:2], float(table.distance) + 0.08]
    return sheets + [
        draw("plane", plane=p, side=0.16, center=middle, name=f"plane {i + 1}", color=(0.05, 0.6, 0.62, 0.18))
        for i, p in enumerate(planes)
    ]


def cup_and_cone(at: np.ndarray, up: np.ndarray, tilt: float) -> list[Drawing]:
    """The axis of the cup in blue, the cone that it must not leave in red; points and directions (n, 3)."""
    size, red = 0.16, (0.87, 0.23, 0.2, 0.9)
    rays = [
        [np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.cos(tilt)]
        for turn in np.linspace(0.0, 2.0 * np.pi, 10, endpoint=False)
    ]
    cone = [
        draw("segment", start=at, end=at + size * np.array(ray), radius=0.0015, color=red, name="cone") for ray in rays
    ]
    cup = draw("segment", start=at, end=at + 0.07 * up, radius=0.022, color=(0.92, 0.92, 0.9, 0.9), name="cup")
    return [
        *cone,
        cup,
        draw(
            "arrow",
            start=at,
            vector=1.15 * size * up,
            name="axis of the cup",
            radius=0.004,
            color=(0.18, 0.42, 0.86, 1.0),
        ),
    ]
