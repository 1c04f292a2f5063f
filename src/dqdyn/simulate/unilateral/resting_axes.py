"""Free joints in a step of first order: their linear velocity is taken in axes that rest while the body turns.

The velocity of a free joint is in the axes of the body, so it turns even in straight flight. An explicit step of that
turn lengthens it by ½ h² ω² each time: a rolling ball would speed up, and a contact that is kept with the axes at the
beginning of the step would be lost with those at its end. Here a step is in the axes at its beginning.
"""

from __future__ import annotations

import numpy as np

from dqdyn.algebra.quaternion import Quaternion, cross3, pure, rotate
from dqdyn.arrays import Array
from dqdyn.model.joints.free import Free
from dqdyn.robot import Robot


class RestingAxes:
    """The free joints of a robot; without one, nothing changes."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.joints = [j for j in robot.joints if j.master is None and isinstance(j.motion, Free)]

    def turning(self, v: Array) -> Array:
        """ω × v (nv) of free joints: what accelerations in resting axes are more than in those of the body."""
        result = np.zeros_like(v)
        for joint in self.joints:
            at = joint.v.start
            result[at + 3 : at + 6] = cross3(pure(*v[at : at + 3].tolist()), pure(*v[at + 3 : at + 6].tolist())).vector
        return result

    def moved(self, q: Array, v: Array, h: float) -> tuple[Array, Array]:
        """q after h s of the velocity v, in the axes at q; and v in the axes there."""
        q1, v1 = self.robot.integrate(q, v, h), v
        if self.joints:
            q1, v1 = q1.copy(), v.copy()
        for joint in self.joints:
            at, linear = joint.q.start, slice(joint.v.start + 3, joint.v.start + 6)
            before, after = Quaternion(*q[at : at + 4].tolist()), Quaternion(*q1[at : at + 4].tolist())
            velocity = rotate(before, pure(*v[linear].tolist()))
            q1[at + 4 : at + 7] = q[at + 4 : at + 7] + h * np.array(velocity.vector)
            v1[linear] = rotate(after.conj(), velocity).vector
        return q1, v1
