"""The divergent component of motion over footsteps, in closed form.

The center of mass c of a walking robot has a divergent component ξ = c + ċ/ω, which flees from the point p that pushes
it: ξ̇ = ω (ξ − p). In the plane p is the zero-moment point z of the linear inverted pendulum with ω = √(g/h). In space
p = z + (0, 0, h), h = g/ω² above the point z of the ground through which the force passes, and the same equation holds
for all three components with a *constant* ω, however the heights of the footsteps change: c rises and falls with them
around h above the ground, and the force on the center of mass, m ω² (c − z), points from z to c. So ω is never adapted
to the present height of the center of mass: it is a choice, made once, of how high c is over the ground at rest.

Where z moves linearly from z₀ to z₁ within T, with the velocity ż,

    ξ(t) = p(t) + ż/ω + e^{ω(t−T)} (ξ(T) − p(T) − ż/ω),

which for a constant p is ξ(t) = p + e^{ω(t−T)} (ξ(T) − p). ξ runs away from p forward in time, and to it backward: from
the last phase, at whose end the robot rests with ξ above z, all phases follow backward, each ending where the next
begins. The center of mass follows forward from where it is, c(t) = p(t) + ½ e^{ω(t−T)} k + e^{−ωt} k′.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dqdyn.arrays import Array, RealArray
from dqdyn.errors import Error
from dqdyn.footsteps.checks import number, point

GRAVITY = 9.81


class Phase:
    """``duration`` s in which the zero-moment point goes from ``first`` (3,) to ``last`` (3,), in m, linearly.

    ``velocity`` (3,) in m/s is that of the zero-moment point.
    """

    def __init__(self, duration: float, first: RealArray, last: RealArray) -> None:
        self.duration = number(duration, "the duration of a phase in s", 0.0, above=True)
        self.first = point(first, "the first zero-moment point of a phase")
        self.last = point(last, "the last zero-moment point of a phase")
        self.velocity: Array = (self.last - self.first) / self.duration

    def __repr__(self) -> str:
        return f"Phase({self.duration:g} s, {self.first.tolist()} to {self.last.tolist()} m)"


class DivergentMotion(NamedTuple):
    """At one time: ξ (3,) in m, its ``rate`` (3,) in m/s, and the ``zero_moment_point`` (3,) in m."""

    component: Array
    rate: Array
    zero_moment_point: Array


class DivergentReference:
    """ξ(t) over ``phases`` one after the other from the time ``start`` in s on, ending at rest over the last point.

    ``omega`` in rad/s; the center of mass is at rest h = ``gravity``/ω² above the ground. ``end`` (3,) in m: where ξ
    ends, by default h above the last zero-moment point. Before the start and after the end it is what it is there, at
    rest.
    """

    def __init__(
        self,
        phases: Sequence[Phase],
        omega: float,
        *,
        start: float = 0.0,
        end: RealArray | None = None,
        gravity: float = GRAVITY,
    ) -> None:
        self.omega = number(omega, "omega of a divergent component in rad/s", 0.0, above=True)
        self.height = number(gravity, "gravity in m/s²", 0.0, above=True) / self.omega**2
        self.phases = _phases(phases)
        up = np.array([0.0, 0.0, self.height])
        last = self.phases[-1].last + up if end is None else point(end, "the end of a divergent component")
        begin = number(start, "the start of a divergent component in s")
        self.times = [begin]
        for phase in self.phases:
            self.times.append(self.times[-1] + phase.duration)
        self.ends = [last]
        self._factors: list[Array] = []
        for phase in reversed(self.phases):
            lead = phase.velocity / self.omega
            factor = self.ends[0] - phase.last - up - lead
            self._factors.insert(0, factor)
            before = phase.first + up + lead + math.exp(-self.omega * phase.duration) * factor
            self.ends.insert(0, before)
        self._up = up

    @property
    def duration(self) -> float:
        """Of all phases, s."""
        return self.times[-1] - self.times[0]

    def index(self, t: float) -> int:
        """Which phase has the time t; the first before the start, the last after the end."""
        for i in range(len(self.phases) - 1):
            if t < self.times[i + 1]:
                return i
        return len(self.phases) - 1

    def at(self, t: float) -> DivergentMotion:
        """ξ, ξ̇ and the zero-moment point at the time t in s."""
        if t < self.times[0]:
            return DivergentMotion(self.ends[0], np.zeros(3), self.phases[0].first)
        if t > self.times[-1]:
            return DivergentMotion(self.ends[-1], np.zeros(3), self.phases[-1].last)
        i = self.index(t)
        phase, left = self.phases[i], self.times[i + 1] - t
        zmp = phase.last - left * phase.velocity
        grown = math.exp(-self.omega * left) * self._factors[i]
        lead = phase.velocity / self.omega
        return DivergentMotion(zmp + self._up + lead + grown, phase.velocity + self.omega * grown, zmp)

    def center(self, t: float, first: RealArray) -> tuple[Array, Array]:
        """The center of mass (3,) in m and its velocity in m/s at t, if it was at ``first`` (3,) at the start."""
        c = point(first, "the center of mass")
        t = min(max(t, self.times[0]), self.times[-1])
        for i in range(self.index(t) + 1):
            elapsed = min(t, self.times[i + 1]) - self.times[i]
            c = self._center(i, c, elapsed)
        return c, self.omega * (self.at(t).component - c)

    def _center(self, i: int, first: Array, elapsed: float) -> Array:
        """c = p + ½ e^{ω(t−T)} k + e^{−ωt} k′ in phase i, after ``elapsed`` s in it."""
        phase, omega = self.phases[i], self.omega
        half = 0.5 * math.exp(-omega * phase.duration) * self._factors[i]
        decays = first - phase.first - self._up - half
        place = phase.first + elapsed * phase.velocity + self._up
        return np.asarray(place + math.exp(omega * elapsed) * half + math.exp(-omega * elapsed) * decays)


def first_phase(
    component: RealArray, last: RealArray, after: RealArray, duration: float, omega: float, gravity: float = GRAVITY
) -> Phase:
    """The phase of ``duration`` s that leads ξ from ``component`` (3,) to ``after`` (3,), in m, where the rest begins.

    The zero-moment point ends at ``last`` (3,). It begins where ξ needs it: with x = ω T,

        z₀ = (ξ₀ − h − z₁ ((1 − e^{−x})/x − e^{−x}) − e^{−x} (ξ(T) − h)) / (1 − (1 − e^{−x})/x),

    away from the foot that will stand, as people do when they start to walk: they press with the foot that will swing.
    """
    xi, z1, then = (
        point(component, "ξ at the start"),
        point(last, "the last zero-moment point"),
        point(after, "ξ after"),
    )
    T = number(duration, "the duration of the first phase in s", 0.0, above=True)
    rate = number(omega, "omega of a divergent component in rad/s", 0.0, above=True)
    up = np.array([0.0, 0.0, number(gravity, "gravity in m/s²", 0.0, above=True) / rate**2])
    x = rate * T
    decay = math.exp(-x)
    mean = (1.0 - decay) / x
    return Phase(T, (xi - up - z1 * (mean - decay) - decay * (then - up)) / (1.0 - mean), z1)


def _phases(phases: Any) -> tuple[Phase, ...]:
    if not isinstance(phases, Sequence) or not phases:
        raise Error(f"phases are a list of at least one Phase; found {phases!r}.", found=phases)
    for phase in phases:
        if not isinstance(phase, Phase):
            raise Error(f"phases are a list of Phase(duration, first, last); found {phase!r}.", found=phase)
    return tuple(phases)
