"""The way of a foot through the air: up, over what is between, and down, at rest at both ends."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import exp, log
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.footsteps.checks import number, one_pose
from dqdyn.footsteps.footstep import Sole
from dqdyn.footsteps.plans import Surfaces
from dqdyn.footsteps.quintic import Quintic


class SwingMotion(NamedTuple):
    """At one time: position, velocity, acceleration (3,) in m, s; the rotation (w, x, y, z), its rate and the next."""

    position: Array
    velocity: Array
    acceleration: Array
    rotation: Array
    rotation_rate: Array
    rotation_acceleration: Array


@dataclass(frozen=True, eq=False)
class SwingPath:
    """From ``begin`` to ``end`` in ``duration`` s after the time ``start`` in s, with a ``clearance`` in m.

    Polynomials of fifth degree: up to ``top`` and down again, while it goes from place to place in the part ``window``
    of the time, so that it rises before it goes and comes down where it will stand. Velocity and acceleration are zero
    at both ends, and the vertical ones at the top. ``top`` in m in the world is the highest that there is on the way,
    ``clearance`` the height of the sole over it; by default both ends alone count.
    """

    begin: Pose
    end: Pose
    duration: float
    clearance: float = 0.05
    top: float | None = None
    start: float = 0.0
    window: tuple[float, float] = (0.1, 0.9)
    rises: float = 0.45
    """Part of the time at which it is at its top."""
    level: Quintic | None = None
    upward: Quintic | None = None
    downward: Quintic | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        one_pose(self.begin, "the begin of a swing path")
        one_pose(self.end, "the end of a swing path")
        put(self, "duration", number(self.duration, "the duration of a swing in s", 0.0, above=True))
        put(self, "clearance", number(self.clearance, "the clearance of a swing in m", 0.0))
        put(self, "start", number(self.start, "the start of a swing in s"))
        if self.top is not None:
            put(self, "top", number(self.top, "the top of what a swing goes over, in m"))
        if not 0.0 < number(self.rises, "the part of a swing that rises") < 1.0:
            raise Error(f"the part of a swing that rises is between 0 and 1; found {self.rises!r}.", found=self.rises)
        try:
            a, b = (number(part, "the window of a swing") for part in self.window)
        except (TypeError, ValueError):
            raise Error(f"the window of a swing is a pair of parts; found {self.window!r}.") from None
        if not 0.0 <= a < b <= 1.0:
            raise Error(f"the window of a swing is a pair 0 ≤ begin < end ≤ 1; found {self.window!r}.")
        if self.level is None:
            self._make(a, b)

    def _make(self, a: float, b: float) -> None:
        put, T, t0 = object.__setattr__, self.duration, self.start
        first, last = self.begin.translation, self.end.translation
        middle = t0 + self.rises * T
        put(self, "level", Quintic.between(t0 + a * T, t0 + b * T, first[:2], last[:2]))
        put(self, "upward", Quintic.between(t0, middle, first[2:], self.highest))
        put(self, "downward", Quintic.between(middle, t0 + T, self.highest, last[2:]))

    @property
    def highest(self) -> float:
        """m in the world, of the middle of the sole."""
        ends = max(float(self.begin.translation[2]), float(self.end.translation[2]))
        return (ends if self.top is None else max(ends, self.top)) + self.clearance

    @property
    def finish(self) -> float:
        """The time at which it lands, s."""
        return self.start + self.duration

    def at(self, t: float) -> SwingMotion:
        """Where the foot is at the time t in s; before and after at rest."""
        assert self.level is not None and self.upward is not None and self.downward is not None
        across = self.level.at(t)
        up = (self.upward if t < self.downward.begin else self.downward).at(t)
        position, velocity, acceleration = (np.concatenate(both) for both in zip(across, up, strict=True))
        return SwingMotion(position, velocity, acceleration, *self._rotation(t))

    def _rotation(self, t: float) -> tuple[Array, Array, Array]:
        """r = r₀ e^{s g} with s from 0 to 1, ṙ = ṡ r g and r̈ = r (s̈ g + ṡ² g²)."""
        first, turn, share = self._turn
        s, rate, second = share.at(t)
        r = first * exp(DQ.of(turn * float(s[0]))).primary
        square = turn * turn
        moved = (
            r,
            r * turn * float(rate[0]),
            r * (turn * float(second[0]) + square * float(rate[0]) ** 2),
        )
        return tuple(np.array(q.components, dtype=float) for q in moved)  # type: ignore[return-value]

    @cached_property
    def _turn(self) -> tuple[Quaternion, Quaternion, Quintic]:
        """The first rotation, the logarithm of that to the last one, the shorter way, and its part over time."""
        first, last = Quaternion(*self.begin.rotation.tolist()), Quaternion(*self.end.rotation.tolist())
        between = first.conj() * last
        between = between if between.w >= 0.0 else -between
        x, y, z = log(DQ.of(between)).primary.vector
        a, b = (self.start + part * self.duration for part in self.window)
        return first, pure(float(x), float(y), float(z)), Quintic.between(a, b, 0.0, 1.0)

    def aimed(self, t: float, end: Pose) -> SwingPath:
        """The path that leaves this one at the time t with its velocity and acceleration, for another end.

        It lands at the same time, with the rotation that was meant, and still goes over the top if it has not yet.
        """
        one_pose(end, "the end of a swing path")
        if not self.start <= t < self.finish:
            raise Error(f"a swing is aimed while it lasts, {self.start:g} to {self.finish:g} s; found {t!r}.", found=t)
        assert self.level is not None and self.upward is not None and self.downward is not None
        place, goal = self.at(t), end.translation
        begin, close = max(t, self.level.begin), max(self.level.end, t + 0.5 * (self.finish - t))
        level = Quintic.between(
            begin, close, place.position[:2], goal[:2], place.velocity[:2], place.acceleration[:2]
        )
        if t < self.downward.begin:
            downward = Quintic.between(self.downward.begin, self.finish, self.highest, goal[2:])
        else:
            state = place.position[2:], goal[2:], place.velocity[2:], place.acceleration[2:]
            downward = Quintic.between(t, self.finish, *state)
        turned = Pose(rotation=self.end.rotation, translation=goal)
        top = self.highest - self.clearance
        return replace(self, end=turned, top=top, level=level, upward=self.upward, downward=downward)

    def gap(self, scene: Surfaces, sole: Sole | None = None, samples: int = 100) -> float:
        """The least height in m of a corner of the sole over the surfaces of a scene, in the middle 80 % of the time.

        Negative where it would go through a body; infinite where there is nothing below.
        """
        least, shape = math.inf, Sole() if sole is None else sole
        for part in np.linspace(0.1, 0.9, samples):
            now = self.at(self.start + float(part) * self.duration)
            for corner in shape.corners(Pose(rotation=now.rotation, translation=now.position)):
                surface = scene.surface_below(corner, above=1.0)
                if surface is not None:
                    least = min(least, float(corner[2]) - float(surface.height))
        return least


def highest_between(begin: Pose, end: Pose, scene: Surfaces, sole: Sole | None = None, samples: int = 20) -> Any:
    """m in the world: the highest surface of a scene below the corners of a sole on its straight way."""
    shape = Sole() if sole is None else sole
    places = np.linspace(begin.translation, end.translation, samples)
    heights = [
        surface.height
        for place in places
        for corner in shape.corners(Pose(rotation=begin.rotation, translation=place))
        if (surface := scene.surface_below(corner, above=1.0)) is not None
    ]
    return max(heights, default=float(min(begin.translation[2], end.translation[2])))
