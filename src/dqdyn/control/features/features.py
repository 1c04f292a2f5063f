"""Features of the robot, of whose motion tasks and constraints are made: points, lines, planes, segments, poses, ….

Each is a small frozen value that answers :meth:`Feature.kinematics`: its components in the world and how they move.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.quaternion import cross3, pure
from dqdyn.algebra.rates import pose_rate
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.control.core.kinematics import FeatureKinematics, State
from dqdyn.kinematics import mass
from dqdyn.kinematics.attached import MOVED, RATE, Components, Rate
from dqdyn.kinematics.configuration import configuration_rate
from dqdyn.model.model import Model


class Feature(ABC):
    """Something that moves with the robot."""

    kind: str
    """Its components: "point" (3), "line" (6), "plane" (4), "segment" (6), "pose" (8), "number" (1) or "vector"."""

    @abstractmethod
    def kinematics(self, state: State) -> FeatureKinematics:
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

    def at_pose(self, place: str, pose: DQ) -> list[Scalar] | None:
        """Components with what it is fixed to at a pose, if that is ``place``; None where they are still open."""
        return None

    def implied(self, c: list[Scalar], other: Feature) -> list[Scalar] | None:
        """Components of another feature where those of this one are c; None where they are still open."""
        return c if other == self else None


@dataclass(frozen=True)
class Attached(Feature):
    """A point, line or plane fixed to a frame, by its components in that frame."""

    kind: str
    frame: str
    local: tuple[float, ...]

    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    def at_pose(self, place: str, pose: DQ) -> list[Scalar] | None:
        return list(MOVED[self.kind](Adjoint(pose), self.local)) if place == self.place else None

    def kinematics(self, state: State) -> FeatureKinematics:
        frame = state.model.frame(self.frame)
        a = MOVED[self.kind](state.motion.frame_adjoint(frame), self.local)
        return _carried(state, frame.body, a, RATE[self.kind], _point_turned if self.kind == "point" else None)


@dataclass(frozen=True)
class SegmentBetween(Feature):
    """A segment between two points of the robot."""

    a: Attached
    b: Attached
    kind = "segment"

    def frames(self) -> tuple[str, ...]:
        return *self.a.frames(), *self.b.frames()

    def at_pose(self, place: str, pose: DQ) -> list[Scalar] | None:
        a, b = (end.at_pose(place, pose) for end in (self.a, self.b))
        return None if a is None or b is None else a + b

    def kinematics(self, state: State) -> FeatureKinematics:
        return stacked([self.a.kinematics(state), self.b.kinematics(state)])


class PoseFeature(Feature):
    """The pose of something on the robot, as vec8."""

    kind = "pose"

    def at_pose(self, place: str, pose: DQ) -> list[Scalar] | None:
        return list(pose.components) if place == self.place else None

    def implied(self, c: list[Scalar], other: Feature) -> list[Scalar] | None:
        """NaN where all but the rotation, the first four of c, is open."""
        return other.at_pose(self.place, DQ.of8([*c[:4], *(c[4:] or [math.nan] * 4)]))


@dataclass(frozen=True)
class FramePose(PoseFeature):
    """The pose of a frame in the world."""

    frame: str

    def frames(self) -> tuple[str, ...]:
        return (self.frame,)

    def kinematics(self, state: State) -> FeatureKinematics:
        frame = state.model.frame(self.frame)
        x = (state.motion.pose[frame.body] * frame.placement).components
        return _carried(state, frame.body, x, lambda twist, c: pose_rate(twist, DQ.of8(c)).components)


@dataclass(frozen=True)
class Configuration(Feature):
    """The robot's q."""

    kind = "vector"

    def kinematics(self, state: State) -> FeatureKinematics:
        model, q, v, axes = state.model, state.q, state.v, range(state.model.nv)
        columns = {k: configuration_rate(model, q, [1.0 if i == k else 0.0 for i in axes]) for k in axes}
        if v is None:
            return FeatureKinematics(list(q), columns)
        rate = configuration_rate(model, q, v)
        return FeatureKinematics(list(q), columns, rate, derivative(lambda c: configuration_rate(model, c, v), q, rate))


@dataclass(frozen=True)
class CenterOfMass(Feature):
    """The robot's center of mass in m."""

    kind = "point"

    def kinematics(self, state: State) -> FeatureKinematics:
        model, q, v = state.model, state.q, state.v
        value, jacobian = list(mass.center_of_mass(model, q).vector), mass.center_of_mass_jacobian(model, q)
        columns = {k: [row[k] for row in jacobian] for k in range(model.nv)}
        if v is None:
            return FeatureKinematics(value, columns)
        rate, drift = (
            [total(c * vk for c, vk in zip(row, v, strict=True)) for row in rows]
            for rows in (jacobian, mass.center_of_mass_jacobian_derivative(model, q, v))
        )
        return FeatureKinematics(value, columns, rate, drift)


def _carried(state: State, body: int, a: Components, rate: Rate, turned: Rate | None = None) -> FeatureKinematics:
    """Components a that a body carries along; the rate of them at a twist is linear in the twist.

    The drift is by the product rule: ``turned``, or the rate itself where it is linear in a too.
    """
    columns = {k: rate(s, a) for k, s in state.motion.path_columns(body).items()}
    if state.v is None:
        return FeatureKinematics(list(a), columns)
    twist = state.motion.twist[body]
    a_rate = rate(twist, a)
    both = zip(rate(state.twist_drifts[body], a), (turned or rate)(twist, a_rate), strict=True)
    return FeatureKinematics(list(a), columns, list(a_rate), [b + c for b, c in both])


def _point_turned(twist: DQ, a_rate: Components) -> Components:
    """ω × ṗ: the translation of a point does not depend on where it is."""
    return cross3(twist.primary, pure(*a_rate)).vector


def stacked(parts: list[FeatureKinematics]) -> FeatureKinematics:
    """Several features as one, components one after the other."""
    value = [c for part in parts for c in part.value]
    columns: dict[int, list[Scalar]] = {}
    starts = np.cumsum([0, *(len(part.value) for part in parts)])
    for i, part in enumerate(parts):
        for k, column in part.columns.items():
            columns.setdefault(k, [0.0] * len(value))[starts[i] : starts[i + 1]] = column
    if any(part.rate is None for part in parts):
        return FeatureKinematics(value, columns)
    rate = [c for part in parts for c in part.rate or ()]
    return FeatureKinematics(value, columns, rate, [c for part in parts for c in part.drift or ()])
