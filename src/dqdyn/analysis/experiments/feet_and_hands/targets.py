"""Targets that move from posture to posture: of the center of mass, of the joints, of the pelvis and of limbs."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn import control as ct
from dqdyn.analysis.experiments.feet_and_hands.postures import Posture
from dqdyn.analysis.experiments.feet_and_hands.setting import LIMBS
from dqdyn.arrays import Array
from dqdyn.robot import Robot

PRESS = 0.02
"""m below the ground to which a limb that is to touch it goes on."""


def smooth(part: float) -> tuple[float, float]:
    """From 0 to 1 with rest at both ends, for a part of the time from 0 to 1, and its rate."""
    s = min(max(part, 0.0), 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0)), 30.0 * (s * (1.0 - s)) ** 2


def lowered(pose: Array, depth: float) -> Array:
    """A pose vec8 (8,) moved down by ``depth`` m: ½ε p r with p = −depth k is added."""
    w, x, y, z = pose[:4].tolist()
    half = -0.5 * depth
    result = pose.copy()
    result[4:] += (-half * z, -half * y, half * x, half * w)
    return result


class Targets:
    """Signals of the tasks: :meth:`aim` begins a way to a posture, :meth:`move` sets them at a time on it.

    All start from the last target. Joints and pelvis move on a straight line of the configuration space; limbs are
    where they are in that configuration.
    """

    def __init__(self, robot: Robot, start: Posture) -> None:
        self.robot, self.start = robot, start
        # compiled functions by themselves: they are called in every step
        self._pose = {limb: robot.function("pose", frame=limb) for limb in LIMBS}
        self._integrate, self._rate = robot.function("integrate"), robot.function("configuration_rate")
        self.center = ct.Measured(start.center[:2])
        self.posture = ct.Measured(start.q)
        self.pelvis = ct.Measured(start.q[:4])
        self.limbs = {limb: ct.Measured(start.limbs[limb].vec8()) for limb in LIMBS}
        self.reset()

    def reset(self) -> None:
        """At rest in the first posture."""
        self._q, self._center = self.start.q.copy(), self.start.center[:2].copy()
        self.aim(self.start, 1.0)
        self.move(0.0)

    def aim(self, goal: Posture, seconds: float, moving: Sequence[str] = (), lands: bool = False) -> None:
        """Go to a posture in ``seconds`` s; ``moving`` limbs have targets, which with ``lands`` go into the ground."""
        self._from, self._center_from = self._q.copy(), self._center.copy()
        self._change, self._shift = self.robot.difference(self._from, goal.q), goal.center[:2] - self._center_from
        self._seconds, self._moving, self._depth = seconds, tuple(moving), PRESS if lands else 0.0
        self._last: dict[str, Array] = {}
        self._elapsed = 0.0

    def move(self, elapsed: float) -> None:
        """Set the targets ``elapsed`` s after the way began."""
        part, rate = smooth(elapsed / self._seconds)
        rate /= self._seconds
        self._q = self._integrate(self._from, part * self._change, 1.0)
        speed = self._rate(self._q, rate * self._change)
        self._center = self._center_from + part * self._shift
        self.center.update(self._center, rate * self._shift)
        self.posture.update(self._q, speed)
        self.pelvis.update(self._q[:4], speed[:4])
        step = elapsed - self._elapsed
        for limb in self._moving:
            pose = self._pose[limb](self._q)
            if self._depth > 0.0:
                pose = lowered(pose, part * self._depth)
            before = self._last.get(limb)
            self.limbs[limb].update(pose, (pose - before) / step if before is not None and step > 0.0 else None)
            self._last[limb] = pose
        self._elapsed = elapsed
