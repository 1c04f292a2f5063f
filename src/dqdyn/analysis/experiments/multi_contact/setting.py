"""The setting: a humanoid, a surface for its left hand, a ball for its right one; and what is measured of a run.

The paper prints no positions. Ours are such that the limit on the center of mass decides, and not the length of the
arms: what fails with it succeeds without it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dqdyn import scenes
from dqdyn.analysis.experiments.figures import norm
from dqdyn.analysis.standing.setting import Standing, balanced, multi_contact_humanoid
from dqdyn.arrays import Array
from dqdyn.contacts.support_polygon import SupportPolygon, convex_hull
from dqdyn.geometry.primitives import Plane
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory

HAND, OTHER_HAND = "left_hand", "right_hand"
"""The hand that leans on the surface, and the one that reaches for the ball."""
REACH = 0.04  # m from the middle of the palm to that of the ball
BALL = 0.04  # m, its radius
MARGIN = 0.04  # m from the center of mass to the planes around it
TORSO = 0.15  # m from the line of the torso to the forearms
BODY = {"pelvis": 0.12, "left_shank": 0.09, "right_shank": 0.09}
"""Points of the robot, the middle of the pelvis and the knees, and how far in m they stay away from the furniture."""
START = {
    "hip_pitch": -0.4,
    "knee": 0.8,
    "ankle_pitch": -0.4,
    "shoulder_pitch": -0.5,
    "shoulder_roll": -0.15,
    "elbow": -1.5,
}
"""rad, of both sides: knees bent, forearms forwards."""
INWARDS = 0.1  # rad that the left upper arm is turned inwards by


def humanoid() -> Standing:
    """The robot at its start, its center of mass over the middle of its soles."""
    sides = ("left", "right")
    angles = {f"{side}_{joint}": angle for side in sides for joint, angle in START.items()}
    pitches = [(f"{side}_ankle_pitch", f"{side}_hip_pitch") for side in sides]
    return balanced(multi_contact_humanoid(), angles | {"left_upper_arm_yaw": INWARDS}, pitches)


@dataclass(frozen=True, eq=False)
class Setting:
    """``surface`` and ``region``, four planes that look inwards, for the middle of the left palm; ``ball`` (3) in m.

    ``furniture``: the vertical plane that the table or the wall begins at, its normal towards the robot.
    """

    standing: Standing
    surface: Plane
    region: tuple[Plane, ...]
    ball: Array
    furniture: Plane
    scene: scenes.Scene

    @property
    def robot(self) -> Robot:
        return self.standing.robot

    @property
    def q0(self) -> Array:
        return self.standing.q0

    @cached_property
    def soles(self) -> Array:
        """Corners (8, 2) of both soles on the ground in m."""
        corners = [c for sole in self.standing.soles for c in sole.corner_positions(self.robot.model, list(self.q0))]
        return np.array([corner.vector[:2] for corner in corners], dtype=float)

    def polygon(self, hand: Array | None = None) -> SupportPolygon:
        """What the soles span, and with a position of the hand (2,) or (3,) what they span together.

        Of the palm its middle counts, as in the paper's approximation: no farther out than its corners.
        """
        return SupportPolygon(convex_hull(self.soles if hand is None else np.vstack([self.soles, hand[:2]])))

    # --- what is measured, without the controllers' own functions

    def hand(self, run: Trajectory) -> Array:
        """Positions (n, 3) of the left palm in m."""
        return np.asarray(self.robot.pose(HAND, run.q).translation)

    def polygons(self, run: Trajectory, is_touching: Array) -> list[SupportPolygon]:
        """The support polygon at each sample; ``is_touching`` (n,): whether the hand is in contact."""
        feet = self.polygon()
        return [self.polygon(p) if on else feet for p, on in zip(self.hand(run), is_touching, strict=True)]

    def to_ball(self, run: Trajectory, ball: Array | None = None) -> Array:
        """Distance (n,) in m of the right palm from the middle of the ball."""
        at = self.ball if ball is None else ball
        return norm(np.asarray(self.robot.pose(OTHER_HAND, run.q).translation) - at)

    def to_surface(self, run: Trajectory) -> Array:
        """d_π̃ (n,): ‖n − n_d‖, how far the palm's normal is from the surface's, and |d − d_d|, of the planes in m."""
        palm = self.robot.pose(HAND, run.q)
        normal, wanted = palm.rotation_matrix[:, :, 2], np.asarray(self.surface.normal)
        distance = np.sum(normal * palm.translation, axis=1)
        return np.asarray(norm(normal - wanted) + np.abs(distance - float(self.surface.distance)))

    def to_planes(self, run: Trajectory, polygons: list[SupportPolygon]) -> Array:
        """Distance (n,) in m of the center of mass from the nearest edge of its polygon, negative outside."""
        centers = np.array([self.robot.center_of_mass(q)[:2] for q in run.q])
        return np.array([polygon.distance(c) for polygon, c in zip(polygons, centers, strict=True)])

    def to_torso(self, run: Trajectory) -> Array:
        """Distance (n,) in m of the nearer forearm from the line of the torso: both seen along the line."""
        trunk, sides = self.robot.pose("chest", run.q), []
        along = trunk.rotation_matrix[:, :, 2]
        for side in ("left", "right"):
            frames = (f"{side}_forearm", f"{side}_hand")
            ends = [self.robot.pose(frame, run.q).translation - trunk.translation for frame in frames]
            a, b = (end - np.sum(end * along, axis=1, keepdims=True) * along for end in ends)
            way = b - a
            part = np.clip(-np.sum(a * way, axis=1) / np.maximum(np.sum(way * way, axis=1), 1e-12), 0.0, 1.0)
            sides.append(norm(a + part[:, None] * way))
        return np.asarray(np.minimum(*sides))


def rectangle(axes: tuple[int, int], sides: tuple[tuple[float, float], tuple[float, float]]) -> tuple[Plane, ...]:
    """Four planes, normals inwards, between which two coordinates, 0 for x to 2 for z, lie within ``sides`` in m."""
    pairs = (
        (axis, sign, end) for axis, (low, high) in zip(axes, sides, strict=True) for sign, end in ((1, low), (-1, high))
    )
    return tuple(Plane(sign * np.eye(3)[axis], distance=sign * end) for axis, sign, end in pairs)
