"""Pose and Jacobian of a frame of the robot at the current configuration."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import pure, rotate
from dqdyn.algebra.scalar import Scalars
from dqdyn.arrays import Array
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.kinematics.frames import pose, twist_jacobian
from dqdyn.model.model import Frame, Model
from dqdyn.robot import Robot

_AXES = (pure(1.0, 0.0, 0.0), pure(0.0, 1.0, 0.0), pure(0.0, 0.0, 1.0))


class FrameMotion:
    """``position`` (3,), ``rotation`` (3, 3), and the Jacobians ``linear`` and ``angular`` (3, nv), in world axes."""

    def __init__(self, robot: Robot, name: str) -> None:
        model, frame = robot.model, robot.model.frame(name)
        self.name, self.nv = name, model.nv
        size = (12 + 6 * self.nv,)
        program = trace(f"motion of {name}", [("q", model.nq)], lambda q: (_motion(model, frame, q), size))
        self._motion = Function(program).fast
        self.move(robot.neutral())

    def move(self, q: Array) -> None:
        """Go to the configuration q."""
        motion = self._motion(q)
        self.rotation, self.position = motion[:9].reshape(3, 3).T, motion[9:12]
        jacobian = motion[12:].reshape(6, self.nv)
        self.angular, self.linear = jacobian[:3], jacobian[3:]

    def jacobians(self, arms: Array) -> Array:
        """(k, 3, nv) of points at ``arms`` (k, 3) from the frame's origin, in world axes: v + ω × r."""
        return np.asarray(self.linear - crossed(arms) @ self.angular)


def _motion(model: Model, frame: Frame, q: Scalars) -> list[Any]:
    """The frame's axes one after the other, its position, and its twist Jacobian, row by row."""
    x = pose(model, frame, q)
    axes = [c for axis in _AXES for c in rotate(x.primary, axis).vector]
    return [*axes, *position(x).vector, *(c for row in twist_jacobian(model, frame, q, "aligned") for c in row)]


def crossed(vectors: Array) -> Array:
    """(k, 3, 3) with [r]× x = r × x."""
    result = np.zeros((len(vectors), 3, 3))
    x, y, z = vectors.T
    result[:, 0, 1], result[:, 0, 2] = -z, y
    result[:, 1, 0], result[:, 1, 2] = z, -x
    result[:, 2, 0], result[:, 2, 1] = -y, x
    return result
