"""The way of a foot through the air: up, over what is between, and down, at rest at both ends."""

from __future__ import annotations

import copy
import math
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
from dqdyn.splines import Quintic


class SwingMotion(NamedTuple):
    """At one time: position, velocity, acceleration (3,) in m, s; the rotation (w, x, y, z), its rate and the next."""

    position: Array
    velocity: Array
    acceleration: Array
    rotation: Array
    rotation_rate: Array
    rotation_acceleration: Array


class SwingPath:
    """From ``begin`` to ``end`` in ``duration`` s after the time ``start`` in s, with a ``clearance`` in m.

    Polynomials of fifth degree: up to the highest point and down again, while it goes from place to place in the part
    ``window`` of the time, so that it rises before it goes and comes down where it will stand. Velocity and
    acceleration are zero at both ends, and the vertical ones at the highest point, at the part ``rises`` of the time.
    ``top`` in m in the world is the highest surface on the way, see :func:`highest_between`, and ``clearance`` the
    height of the sole over it; by default both ends alone count.
    """

    def __init__(
        self,
        begin: Pose,
        end: Pose,
        duration: float,
        clearance: float = 0.05,
        top: float | None = None,
        *,
        start: float = 0.0,
        window: tuple[float, float] = (0.1, 0.9),
        rises: float = 0.45,
    ) -> None:
        self.begin, self.end = one_pose(begin, "the begin of a swing"), one_pose(end, "the end of a swing")
        self.duration = number(duration, "the duration of a swing in s", 0.0, above=True)
        self.clearance = number(clearance, "the clearance of a swing in m", 0.0)
        self.start = number(start, "the start of a swing in s")
        first, last = self.begin.translation, self.end.translation
        ends = max(float(first[2]), float(last[2]))
        self.highest = self.clearance + (ends if top is None else max(ends, number(top, "the top of a swing in m")))
        """m in the world, of the middle of the sole."""
        self.window = _window(window)
        middle = self.start + self.duration * _part(rises)
        a, b = (self.start + part * self.duration for part in self.window)
        self._level = Quintic.between(a, b, first[:2], last[:2])
        self._upward = Quintic.between(self.start, middle, first[2:], self.highest)
        self._downward = Quintic.between(middle, self.finish, self.highest, last[2:])
        self._share = Quintic.between(a, b, 0.0, 1.0)
        self._first, self._turn = _turn(self.begin, self.end)

    @property
    def finish(self) -> float:
        """The time at which it lands, s."""
        return self.start + self.duration

    def at(self, t: float) -> SwingMotion:
        """Where the foot is at the time t in s; before and after at rest."""
        across = self._level.at(t)
        up = (self._upward if t < self._downward.begin else self._downward).at(t)
        position, velocity, acceleration = (np.concatenate(both) for both in zip(across, up, strict=True))
        return SwingMotion(position, velocity, acceleration, *self._rotation(t))

    def _rotation(self, t: float) -> tuple[Array, Array, Array]:
        """r = r₀ e^{s g} with s from 0 to 1, ṙ = ṡ r g and r̈ = r (s̈ g + ṡ² g²)."""
        g, (s, rate, second) = self._turn, (float(x[0]) for x in self._share.at(t))
        r = self._first * exp(DQ.of(g * s)).primary
        here, speed, bend = (np.array(x.components) for x in (r, r * g * rate, r * (g * second + g * g * rate**2)))
        return here, speed, bend

    def aimed(self, t: float, end: Pose, finish: float | None = None) -> SwingPath:
        """The path that leaves this one at the time t with its velocity and acceleration, for another end.

        It lands at the time ``finish`` in s, by default when this one does, with the rotation that was meant, and still
        goes over the top if it has not yet.
        """
        goal = one_pose(end, "the end of a swing").translation
        if not self.start <= t < self.finish:
            raise Error(f"a swing is aimed while it lasts, {self.start:g} to {self.finish:g} s; found {t!r}.", found=t)
        lands = self.finish if finish is None else number(finish, "the time at which a swing lands in s", t, above=True)
        slower = (lands - t) / (self.finish - t)  # what is left of every part lasts longer by this factor
        now, new = self.at(t), copy.copy(self)
        new.end = Pose(rotation=self.end.rotation, translation=goal)
        new.duration = lands - self.start
        place, velocity, acceleration = (x[:2] for x in now[:3])
        # Late in the step the rest of the window would be too short: half of the time that is left is taken at least.
        close = t + max(slower * (self._level.end - t), 0.5 * (lands - t))
        begin = t + max(slower * (self._level.begin - t), 0.0)
        new._level = Quintic.between(begin, close, place, goal[:2], velocity, acceleration)
        height, speed, rate = (x[2:] for x in now[:3])
        middle = t + slower * (self._downward.begin - t)
        if middle > t:
            if slower != 1.0:
                new._upward = Quintic.between(t, middle, height, self.highest, speed, rate)
            new._downward = Quintic.between(middle, lands, self.highest, goal[2:])
        else:
            new._downward = Quintic.between(t, lands, height, goal[2:], speed, rate)
        if slower != 1.0 and t < self._share.end:
            share, quick, quicker = self._share.at(t)
            new._share = Quintic.between(begin, t + slower * (self._share.end - t), share, 1.0, quick, quicker)
        return new

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


def highest_between(begin: Pose, end: Pose, scene: Surfaces, sole: Sole | None = None, samples: int = 20) -> float:
    """m in the world: the highest surface of a scene below the corners of a sole on its straight way."""
    shape = Sole() if sole is None else sole
    places = np.linspace(begin.translation, end.translation, samples)
    heights = [
        float(surface.height)
        for place in places
        for corner in shape.corners(Pose(rotation=begin.rotation, translation=place))
        if (surface := scene.surface_below(corner, above=1.0)) is not None
    ]
    return max(heights, default=float(min(begin.translation[2], end.translation[2])))


def _turn(begin: Pose, end: Pose) -> tuple[Quaternion, Quaternion]:
    """The first rotation, and the logarithm of that from it to the last one, the shorter way."""
    first, last = (Quaternion(*pose.rotation.tolist()) for pose in (begin, end))
    between = first.conj() * last
    x, y, z = log(DQ.of(between if between.w >= 0.0 else -between)).primary.vector
    return first, pure(float(x), float(y), float(z))


def _part(value: Any) -> float:
    part = number(value, "the part of a swing that rises", 0.0, above=True)
    if part >= 1.0:
        raise Error(f"the part of a swing that rises is between 0 and 1; found {value!r}.", found=value)
    return part


def _window(given: Any) -> tuple[float, float]:
    try:
        a, b = given
    except (TypeError, ValueError):
        raise Error(f"the window of a swing is a pair of parts; found {given!r}.", found=given) from None
    a, b = number(a, "the window of a swing", 0.0), number(b, "the window of a swing", 0.0)
    if not a < b <= 1.0:
        raise Error(f"the window of a swing is a pair 0 ≤ begin < end ≤ 1; found {given!r}.", found=given)
    return a, b
