"""Things on the robot whose motion tasks and constraints are made of: points, lines, planes, segments, poses, ….

Each is a small frozen value that answers :meth:`Thing.seen`: its components in the world and how they move.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.quaternion import cross3, pure
from dqdyn.algebra.rates import pose_rate
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.control.core.state import Seen, State
from dqdyn.kinematics import mass
from dqdyn.kinematics.attached import MOVED, RATE
from dqdyn.model.model import Model


class Thing(ABC):
    """Something that moves with the robot."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """What its components are: "point" (3), "line" (6), "plane" (4), "segment" (6), "pose" (8) or "vector"."""

    @abstractmethod
    def seen(self, state: State) -> Seen:
        """Components in the world and how they move."""

    def frames(self) -> tuple[str, ...]:
        """Names of the frames that it is fixed to."""
        return ()

    @property
    def place(self) -> str:
        """What it is fixed to, in words."""
        return " and ".join(dict.fromkeys(self.frames())) or "the robot"

    def check(self, model: Model) -> None:
        """An error where the robot has no such frame."""
        for name in self.frames():
            model.frame(name)

    def at(self, adjoints: dict[str, Adjoint]) -> list[Scalar] | None:
        """Components if its frames were elsewhere; None where that cannot be said."""
        return None


@dataclass(frozen=True)
class Attached(Thing):
    """A point, line or plane fixed to a frame, by its components in that frame."""

    shape: str
    frame: str
    local: tuple[float, ...]

    @property
    def kind(self) -> str:
        return self.shape

    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    def at(self, adjoints: dict[str, Adjoint]) -> list[Scalar] | None:
        return list(MOVED[self.kind](adjoints[self.frame], self.local)) if self.frame in adjoints else None

    def seen(self, state: State) -> Seen:
        frame, motion = state.model.frame(self.frame), state.motion
        rate = RATE[self.kind]
        a = MOVED[self.kind](motion.frame_adjoint(frame), self.local)
        columns = {k: rate(s, a) for k, s in motion.path_columns(frame.body).items()}
        if state.v is None:
            return Seen(list(a), columns)
        twist = motion.twist[frame.body]
        a_rate = rate(twist, a)
        # The rate is linear in the twist and, but for the translation of points, in the value: the product rule.
        turned = cross3(twist.primary, pure(*a_rate)).vector if self.kind == "point" else rate(twist, a_rate)
        drift = [b + c for b, c in zip(rate(state.drifting[frame.body], a), turned, strict=True)]
        return Seen(list(a), columns, list(a_rate), drift)


@dataclass(frozen=True)
class Joined(Thing):
    """A segment between two points of the robot."""

    a: Attached
    b: Attached
    kind = "segment"

    def frames(self) -> tuple[str, ...]:
        return *self.a.frames(), *self.b.frames()

    def at(self, adjoints: dict[str, Adjoint]) -> list[Scalar] | None:
        ends = [end.at(adjoints) for end in (self.a, self.b)]
        return None if None in ends else [c for end in ends for c in end or ()]

    def seen(self, state: State) -> Seen:
        return stacked([self.a.seen(state), self.b.seen(state)])


@dataclass(frozen=True)
class FramePose(Thing):
    """The pose of a frame in the world, as vec8."""

    frame: str
    kind = "pose"

    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    def seen(self, state: State) -> Seen:
        frame, motion = state.model.frame(self.frame), state.motion
        x = motion.pose[frame.body] * frame.placement
        columns = {k: pose_rate(s, x).components for k, s in motion.path_columns(frame.body).items()}
        if state.v is None:
            return Seen(list(x.components), columns)
        twist = motion.twist[frame.body]
        x_rate = pose_rate(twist, x)
        drift = pose_rate(state.drifting[frame.body], x) + pose_rate(twist, x_rate)
        return Seen(list(x.components), columns, list(x_rate.components), list(drift.components))


@dataclass(frozen=True)
class Configuration(Thing):
    """The robot's q."""

    kind = "vector"

    def seen(self, state: State) -> Seen:
        model, nv = state.model, state.model.nv
        rate = lambda q, v: [c for j in model.joints if j.master is None for c in j.motion.rate(q[j.q], v[j.v])]
        columns = {k: rate(state.q, [1.0 if i == k else 0.0 for i in range(nv)]) for k in range(nv)}
        if state.v is None:
            return Seen(list(state.q), columns)
        v, q_rate = state.v, rate(state.q, state.v)
        return Seen(list(state.q), columns, q_rate, derivative(lambda q: rate(q, v), state.q, q_rate))


@dataclass(frozen=True)
class CenterOfMass(Thing):
    """The robot's center of mass in m."""

    kind = "point"

    def seen(self, state: State) -> Seen:
        model, q, v = state.model, state.q, state.v
        value, jacobian = list(mass.center_of_mass(model, q).vector), mass.center_of_mass_jacobian(model, q)
        columns = {k: [row[k] for row in jacobian] for k in range(model.nv)}
        if v is None:
            return Seen(value, columns)
        rates = mass.center_of_mass_jacobian_derivative(model, q, v)
        along = lambda rows: [total(c * vk for c, vk in zip(row, v, strict=True)) for row in rows]
        return Seen(value, columns, along(jacobian), along(rates))


def stacked(parts: list[Seen]) -> Seen:
    """Several things as one, components one after the other."""
    value = [c for part in parts for c in part.value]
    entries = [(k, i, column) for i, part in enumerate(parts) for k, column in part.columns.items()]
    columns: dict[int, Any] = {}
    starts = np.cumsum([0, *(len(part.value) for part in parts)])
    for k, i, column in entries:
        whole = columns.setdefault(k, [0.0] * len(value))
        whole[starts[i] : starts[i + 1]] = column
    if any(part.rate is None for part in parts):
        return Seen(value, columns)
    rate = [c for part in parts for c in part.rate or ()]
    return Seen(value, columns, rate, [c for part in parts for c in part.drift or ()])
