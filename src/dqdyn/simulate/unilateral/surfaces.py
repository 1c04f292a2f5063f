"""What the contacts of a robot may meet: bodies of a scene, a level ground, and planes on bodies of the robot."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.scenes.body import SceneBody
from dqdyn.simulate.unilateral.distance import DISTANCES
from dqdyn.simulate.unilateral.frame_motion import FrameMotion


class TouchedSurface(ABC):
    """A surface: how far points are from it, and how it moves.

    ``friction`` μ and ``torsional_friction`` in m are those between it and a contact; None: those of the contact. A
    surface ``of_robot`` has the name of the frame it is fixed to.
    """

    name: str
    of_robot: bool = False
    friction: float | None = None
    torsional_friction: float | None = None

    @abstractmethod
    def gaps(self, points: Array) -> tuple[Array, Array]:
        """Distances (k,) in m of points (k, 3) in the world, negative inside, and normals (k, 3) towards the points."""

    @abstractmethod
    def move(self, q: Array, t: float, h: float) -> None:
        """Go to the time t in s and the configuration q; the next step takes h."""

    def speeds(self, points: Array) -> Array:
        """Velocities (k, 3) in m/s, of its own, of the points of the surface."""
        return np.zeros_like(points)

    def carried(self, points: Array) -> Array | None:
        """Jacobians (k, 3, nv) of the points if the surface is part of the robot."""
        return None

    def spin(self) -> Array | None:
        """Jacobian (3, nv) of the angular velocity if the surface is part of the robot."""
        return None

    def own_spin(self) -> Array:
        """Angular velocity (3,) of its own, in world axes."""
        return np.zeros(3)


class Ground(TouchedSurface):
    """The plane z = height."""

    def __init__(self, height: float) -> None:
        self.name, self.height = "ground", height

    def gaps(self, points: Array) -> tuple[Array, Array]:
        return points[:, 2] - self.height, np.broadcast_to([0.0, 0.0, 1.0], points.shape)

    def move(self, q: Array, t: float, h: float) -> None:
        """It stands still."""


class SceneSurface(TouchedSurface):
    """A body of a scene that stands or follows a function of time."""

    def __init__(self, body: SceneBody) -> None:
        self.name, self.body = body.name, body
        self.friction, self.torsional_friction = body.friction, body.torsional_friction
        self.distance = DISTANCES[body.shape]
        self.driven = body.motion == "driven"
        self.h = 1.0
        self.rotation, self.position = _parts(body.at(0.0))
        self.next_rotation, self.next_position = self.rotation, self.position

    def move(self, q: Array, t: float, h: float) -> None:
        if self.driven:
            self.h = h
            self.rotation, self.position = _parts(self.body.at(t))
            self.next_rotation, self.next_position = _parts(self.body.at(t + h))

    def gaps(self, points: Array) -> tuple[Array, Array]:
        gaps, normals = self.distance(self.body.size, (points - self.position) @ self.rotation)
        return gaps, normals @ self.rotation.T

    def speeds(self, points: Array) -> Array:
        """Those that bring the points to where they are after the step."""
        if not self.driven:
            return np.zeros_like(points)
        local = (points - self.position) @ self.rotation
        return np.asarray((local @ self.next_rotation.T + self.next_position - points) / self.h)

    def own_spin(self) -> Array:
        turn = (self.next_rotation @ self.rotation.T - np.eye(3)) / self.h
        return 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])


class PartnerPlane(TouchedSurface):
    """A plane on a body of the robot: through a ``point``, with a ``normal``, both in the axes of its frame."""

    of_robot = True

    def __init__(self, frame: FrameMotion, point: Array, normal: Array) -> None:
        self.name, self.frame, self.point, self.normal = frame.name, frame, point, normal

    def move(self, q: Array, t: float, h: float) -> None:
        self.frame.move(q)

    def gaps(self, points: Array) -> tuple[Array, Array]:
        normal = self.frame.rotation @ self.normal
        gaps = (points - self.frame.position - self.frame.rotation @ self.point) @ normal
        return gaps, np.broadcast_to(normal, points.shape)

    def carried(self, points: Array) -> Array:
        return self.frame.jacobians(points - self.frame.position)

    def spin(self) -> Array:
        return self.frame.angular


def _parts(pose: Pose) -> tuple[Array, Array]:
    return np.asarray(pose.rotation_matrix), np.asarray(pose.translation)
