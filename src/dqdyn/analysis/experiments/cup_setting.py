"""The setting of the experiments with a cup: what holds it, the table, the region above it, and the limits.

Numbers are those of Quiroz, section 6.1: tilt at most 0.1 rad, planes and torso kept 0.01 m and 0.07 m away. The robot
and where it starts are ours, because the paper does not give them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from dqdyn import control as ct
from dqdyn import robots
from dqdyn.algebra.values import Pose
from dqdyn.analysis.experiments.experiment import Claim, Drawing
from dqdyn.analysis.experiments.figures import draw, norm
from dqdyn.arrays import Array
from dqdyn.control.core.inequality import ZoneOptions
from dqdyn.control.core.settings import GainPair, Gains
from dqdyn.control.core.term import ControlPart
from dqdyn.control.features.on_robot import FrameLike
from dqdyn.geometry.primitives import Line, Plane
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory

TILT, PLANE, TORSO = 0.1, 0.01, 0.07  # rad, m, m
KINDS = ("tilt", "planes", "joints", "torso")  # of constraints, and of what is measured
RATE = 0.36  # 1/s, η of task and inequalities by velocity
GAINS = (1.5, 0.3)  # 1/s, 1/s²: (k_d, k_p) and (η_1, η_2) by acceleration
DAMPING = 0.01  # λ
HANDS, ELBOWS, TRUNK = ("left_hand", "right_hand"), ("left_forearm", "right_forearm"), "hips"
HAND, ELBOW = HANDS[0], ELBOWS[0]
BETWEEN = ct.absolute_frame(*HANDS)
UP = (0.0, 0.0, 1.0)
START = np.array([-0.36, 0.23, -0.09, 0.33, -0.11, -0.1, 0.11, 0.44, -1.34])  # rad: torso of five, arm of four
SEEN = 1e-3  # of a limit: what is beyond by more is drawn in red
HEIGHT, REGION = 0.15, 0.03  # m: of the hand above the table, and to each of the four planes, at the start
TABLE_SIDE, OVERHANG = 0.3, 0.015  # m: of the table as it is drawn, and of its edge beyond the region


def nine_joints() -> Robot:
    """The torso of five joints and the left arm of four; the right arm hangs."""
    right = {"shoulder_pitch": 0.2, "shoulder_roll": -0.1, "arm_yaw": 0.0, "elbow": -0.3}
    return robots.small_bimanual().lock({f"right_{name}": angle for name, angle in right.items()})


@dataclass(frozen=True, eq=False)
class Setting:
    """``axis`` (3): the cup's, in the frame that holds it, upright at the start; ``planes`` look inwards.

    ``most_tilt`` in rad; ``sides`` are the arms that stay away from the torso, 0 the left one and 1 the right one.
    """

    robot: Robot
    axis: Array
    table: Plane
    planes: tuple[Plane, ...]
    holder: FrameLike = HAND
    most_tilt: float = TILT
    sides: tuple[int, ...] = (0,)

    @classmethod
    def above_the_table(
        cls,
        robot: Robot,
        q0: Array,
        holder: FrameLike = HAND,
        height: float = HEIGHT,
        most_tilt: float = TILT,
        sides: tuple[int, ...] = (0,),
    ) -> Setting:
        """The cup upright, the table ``height`` m below it and a region around it."""
        x = pose_of(robot, holder, q0)
        axis, p = x.rotation_matrix.T @ UP, x.translation
        axis, table = axis / np.linalg.norm(axis), Plane(UP, distance=p[2] - height)
        return cls(robot, axis, table, walls(p), holder, most_tilt, sides)

    def task(self, gains: GainPair | None = GAINS) -> ct.Task:
        """The distance of the cup and the table, to zero."""
        return ct.DistanceTask(self.holder, self.table, gain=RATE, gains=gains, name="height above the table")

    def constraints(self, gains: Gains = GAINS, kinds: Collection[str] = KINDS) -> list[ControlPart]:
        """The fifteen of the paper: the cone, four planes, nine joint limits by cones, torso and arm.

        The planes have the Jacobian [Quiroz, eq. (6.1)] and the distances [Quiroz, eq. (6.3)], the joint limits the
        Jacobian [Quiroz, eq. (6.2)] and the values [Quiroz, eq. (6.4)]. ``kinds``: which of them, by the names of
        ``KINDS``.
        """
        cup = ct.line(self.holder, self.axis)
        parts: dict[str, list[ControlPart]] = {
            "tilt": [ct.Cone(cup, UP, self.most_tilt, name="tilt", gain=RATE, gains=gains)],
            "planes": [ct.Region(self.holder, self.planes, PLANE, name="region", gain=RATE, gains=gains)],
            "joints": [ct.ConeJointLimits(gain=RATE, gains=gains)],
            "torso": [torso_and_arm(side, gain=RATE, gains=gains) for side in self.sides],
        }
        return [part for kind in KINDS if kind in kinds for part in parts[kind]]

    # --- what is measured, without the controllers' own functions

    def pose(self, run: Trajectory) -> Pose:
        """Of what holds the cup."""
        return pose_of(self.robot, self.holder, run.q)

    def up(self, run: Trajectory) -> Array:
        """The cup's axis (n, 3) in the world."""
        return np.asarray(self.pose(run).rotation_matrix @ self.axis)

    def tilt(self, run: Trajectory) -> Array:
        """Angle (n,) of the cup's axis to the vertical in rad."""
        return np.asarray(np.arccos(np.clip(self.up(run)[:, 2], -1.0, 1.0)))

    def hand(self, run: Trajectory) -> Array:
        """Positions (n, 3) of the cup in m."""
        return np.asarray(self.pose(run).translation)

    def height(self, run: Trajectory) -> Array:
        """Of the cup above the table (n,) in m: the error of the task."""
        return self.hand(run)[:, 2] - float(self.table.distance)

    def to_torso(self, run: Trajectory) -> Array:
        """Distance (n,) in m of the nearest forearm from the line of the torso."""
        return np.asarray(np.min([self._from_torso(run, side) for side in self.sides], axis=0))

    def _from_torso(self, run: Trajectory, side: int) -> Array:
        """Of one forearm; it and the line are seen along the line."""
        trunk = self.robot.pose(TRUNK, run.q)
        along = trunk.rotation_matrix[:, :, 2]
        ends = [self.robot.pose(frame, run.q).translation - trunk.translation for frame in (ELBOWS[side], HANDS[side])]
        a, b = (end - np.sum(end * along, axis=1, keepdims=True) * along for end in ends)
        way = b - a
        part = np.clip(-np.sum(a * way, axis=1) / np.maximum(np.sum(way * way, axis=1), 1e-12), 0.0, 1.0)
        return norm(a + part[:, None] * way)

    def violations(self, run: Trajectory) -> dict[str, float]:
        """By how much each kind of limit was violated at worst, as a part of the limit; negative is room."""
        return {
            "tilt": float(self.tilt(run).max()) / self.most_tilt - 1.0,
            "planes": 1.0 - float(to_planes(self.planes, self.hand(run)).min()) / PLANE,
            "joints": beyond_limits(self.robot, run.q),
            "torso": 1.0 - float(self.to_torso(run).min()) / TORSO,
        }

    def cup_and_table(self, run: Trajectory) -> list[Drawing]:
        """The table and the planes above it; the cup, its axis, and the cone that the axis must not leave."""
        at, up, tilt = self.hand(run), self.up(run), self.most_tilt
        size, gray, white, blue = 0.16, (0.35, 0.38, 0.42, 0.9), (0.92, 0.92, 0.9, 0.9), (0.18, 0.42, 0.86, 1.0)
        low = np.array([*at[0, :2], float(self.table.distance)])
        turns = np.linspace(0.0, 2.0 * np.pi, 10, endpoint=False)
        rays = np.stack([np.sin(tilt) * np.cos(turns), np.sin(tilt) * np.sin(turns), np.full(10, np.cos(tilt))], axis=1)
        teal, gaps = (0.05, 0.6, 0.62, 0.18), to_planes(self.planes, at)
        tilted = self.tilt(run) > (1.0 + SEEN) * tilt
        return [
            self.table_top(),
            *(
                draw(
                    "plane",
                    plane=p,
                    side=0.16,
                    center=low + [0.0, 0.0, 0.08],
                    name=f"plane {i + 1}",
                    color=teal,
                    violated=gaps[:, i] < (1.0 - SEEN) * PLANE,
                )
                for i, p in enumerate(self.planes)
            ),
            *(
                draw("segment", start=at, end=at + size * r, radius=0.0015, color=gray, name="cone", violated=tilted)
                for r in rays
            ),
            draw("segment", start=at, end=at + 0.07 * up, radius=0.022, color=white, name="cup"),
            draw("arrow", start=at, vector=1.15 * size * up, name="axis of the cup", radius=0.004, color=blue),
        ]

    def table_top(self) -> Drawing:
        """The drawn part of the table: it begins shortly before the region's rear plane, in front of the body."""
        behind, _, right, left = self.planes
        edge, across = float(behind.distance) - OVERHANG, 0.5 * (float(right.distance) - float(left.distance))
        center, brown = (edge + 0.5 * TABLE_SIDE, across, float(self.table.distance)), (0.6, 0.4, 0.2, 0.7)
        return draw("plane", plane=self.table, side=TABLE_SIDE, center=center, name="table", color=brown)

    def drawings(self, run: Trajectory) -> tuple[Drawing, ...]:
        """The table, its region, the cup and its cone, the zone around the torso, the forearm [Quiroz, fig. 6.1]."""
        hand, elbow, trunk = self.hand(run), self.robot.pose(ELBOW, run.q).translation, self.robot.pose(TRUNK, run.q)
        close = self.to_torso(run) < (1.0 - SEEN) * TORSO
        top = trunk.translation + 0.3 * trunk.rotation_matrix[:, :, 2]
        return (
            *self.cup_and_table(run),
            draw("line", line=Line(UP, (0.0, 0.0, 0.0)), on=TRUNK, length=1.0, name="line of the torso"),
            draw(
                "capsule",
                start=trunk.translation,
                end=top,
                radius=TORSO,
                name="zone around the torso",
                color=(0.18, 0.42, 0.86, 0.2),
                violated=close,
            ),
            draw("segment", start=elbow, end=hand, name="forearm", radius=0.006, violated=close),
        )


def pose_of(robot: Robot, holder: FrameLike, q: Array) -> Pose:
    """The pose of a frame, or of that between the hands."""
    return robot.pose(holder, q) if isinstance(holder, str) else robot.absolute_pose(*HANDS, q)


def torso_and_arm(side: int, **options: Unpack[ZoneOptions]) -> ct.TorsoArm:
    """A forearm, 0 for the left and 1 for the right one, away from the line of the torso."""
    options.setdefault("name", f"torso and {ELBOWS[side]}")
    return ct.TorsoArm(ct.line(TRUNK), ELBOWS[side], HANDS[side], TORSO, **options)


def decays(text: str, error: Array, wanted: Array, off_by: str) -> Claim:
    """The claim that an error falls as ``wanted``, a part (n,) of its first value; ``off_by`` for what is measured."""
    off = float(np.abs(error / error[0] - wanted).max())
    left = f"{1e3 * error[-1]:.2g} mm left of {1e3 * error[0]:.3g}"
    return Claim(text, f"{100 * off:.2g} % of the first {off_by}; {left}", off < 0.03)


def relative_error(robot: Robot, q: Array) -> Array:
    """‖vec8(x_r − x_r(0))‖ (n,) of the hands for q (n, nq); the signs of poses are continuous along a run."""
    x = robot.relative_pose(*HANDS, q).vec8()
    return np.asarray(np.linalg.norm(x - x[0], axis=1))


def walls(p: Array, away: float = REGION) -> tuple[Plane, ...]:
    """Four vertical planes ``away`` m from a point, whose normals point to it."""
    sides = ((0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0))
    return tuple(Plane(sign * np.eye(3)[axis], distance=sign * p[axis] - away) for axis, sign in sides)


def to_planes(planes: tuple[Plane, ...], p: Array) -> Array:
    """Signed distances (n, 4) in m of points (n, 3)."""
    return np.stack([p @ np.asarray(plane.normal) - float(plane.distance) for plane in planes], axis=1)


def beyond_limits(robot: Robot, q: Array) -> float:
    """How far joints are beyond their limits at worst in q (n, nq), as a part of the limit; of those at 0, of 1 rad."""
    limits, worst = robot.limits, -np.inf
    for limit, sign in ((limits.upper, 1.0), (limits.lower, -1.0)):
        bounded = np.isfinite(limit)
        sizes = np.where(limit == 0.0, 1.0, np.abs(limit))[bounded]
        worst = max(worst, float((sign * (q - limit)[:, bounded] / sizes).max()))
    return worst
