"""Two geometric elements with a distance: each on the robot or in the workspace, at least one on the robot."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dqdyn.algebra.scalar import Scalar, cos
from dqdyn.control.core.errors import refused
from dqdyn.control.core.settings import is_number
from dqdyn.control.features.components import SIZE, kind_of, sentence
from dqdyn.control.features.features import Attached, Feature
from dqdyn.control.features.on_robot import FrameLike, on, part, point
from dqdyn.control.features.signals import Signal, SignalLike, as_signal, value_at_start
from dqdyn.errors import Error, unknown_name
from dqdyn.kinematics.distances import DISTANCES, Distance

Side = Feature | Signal
SideLike = Feature | FrameLike | SignalLike
"""A feature of the robot, a frame (its origin), or an element of the workspace, at rest or moving."""

SIGNED = {"point_to_plane", "plane_to_point", "segment_to_plane"}
"""Distances with a sign; all others are squared."""

Reach = float | None
REACH = 2.0
"""m of a line of the robot, to both sides, that count where it is near another line, unless another reach is given."""

_LARGEST_REACH = 1e6  # m: the ends of longer ones are known to fewer digits than distances need

_Pick = Callable[[list[Scalar], list[Scalar]], tuple[list[Scalar], list[Scalar]]]
_ENDS: dict[str, list[tuple[str, str, _Pick]]] = {
    "segment_to_plane": [
        ("first end", "point_to_plane", lambda a, b: (a[:3], b)),
        ("last end", "point_to_plane", lambda a, b: (a[3:], b)),
    ],
    "line_to_segment": [
        ("", "line_to_segment", lambda a, b: (a, b)),
        ("first end", "line_to_point", lambda a, b: (a, b[:3])),
        ("last end", "line_to_point", lambda a, b: (a, b[3:])),
    ],
    "segment_to_segment": [
        ("", "segment_to_segment", lambda a, b: (a, b)),
        ("first end of the first", "point_to_segment", lambda a, b: (a[:3], b)),
        ("last end of the first", "point_to_segment", lambda a, b: (a[3:], b)),
        ("first end of the second", "point_to_segment", lambda a, b: (b[:3], a)),
        ("last end of the second", "point_to_segment", lambda a, b: (b[3:], a)),
    ],
}
"""Distances with segments: (words, distance function, its arguments) of the rows that keep all of a segment away."""


@dataclass(frozen=True)
class Pair:
    """A distance function and the two features it relates, in the order of its arguments."""

    function: Distance
    sides: tuple[Side, Side]
    name: str
    ends_of: str = ""
    """The line of which only a part counts, in words; "" where all of both sides does."""

    @classmethod
    def of(cls, a: SideLike, b: SideLike, *, angle: bool = False) -> Pair:
        """The pair of two features, frames (their origins), values of the workspace, or moving ones."""
        first, second = _side(a), _side(b)
        if not any(isinstance(side, Feature) for side in (first, second)):
            raise Error(f"A distance needs something on the robot; {a!r} and {b!r} are both in the workspace.")
        what, suffix = ("angle", "_angle") if angle else ("distance", "")
        for one, other in ((first, second), (second, first)):
            function = DISTANCES.get(f"{one.kind}_to_{other.kind}{suffix}")
            if function is not None:
                return cls(function, (one, other), f"{what} of {_shown(one)} and {_shown(other)}")
        raise unknown_name(f"{what} function", f"{first.kind}_to_{second.kind}{suffix}", DISTANCES)

    def within(self, reach: Reach) -> Pair:
        """The pair, of two lines with only the part of the robot's first one that lies within ``reach`` m, or 2 m.

        The nearest points of two lines run to infinity as the lines become parallel, and their distance jumps there.
        With a part that has ends it is that of the lines or of the nearer end, as in :class:`TorsoArm`. It changes by
        no more than the points of the part move, and its gradient is continuous but where the part is parallel to the
        other line. Near there the ends keep all of it away: in squared distance no point of a part of length L at an
        angle θ to the line is nearer than both ends by more than L² sin²θ/4.
        """
        if self.function.name != "line_to_line":
            if reach is not None:
                raise Error(f"A reach is for the zone of two lines: leave it out for the {self.name}.", found=reach)
            return self
        far = _checked_reach(REACH if reach is None else reach, self.name)
        if math.isinf(far):
            return self
        cut = next(side for side in self.sides if isinstance(side, Attached))
        other = self.sides[1] if self.sides[0] is cut else self.sides[0]
        return Pair(DISTANCES["line_to_segment"], (other, part(cut, far)), self.name, _shown(cut))

    @property
    def features(self) -> tuple[Feature, ...]:
        """The sides on the robot."""
        return tuple(side for side in self.sides if isinstance(side, Feature))

    @property
    def signals(self) -> tuple[Signal, ...]:
        """The sides in the workspace."""
        return tuple(side for side in self.sides if isinstance(side, Signal))

    @property
    def is_angle(self) -> bool:
        return self.function.name == "line_to_line_angle"

    @property
    def is_signed(self) -> bool:
        return self.function.name in SIGNED

    def is_between(self, other: Pair) -> bool:
        """Whether two pairs measure the same between the same sides, in any order, as of t = 0."""
        a, b = (
            [side.comparison_key if isinstance(side, Signal) else side for side in pair.sides] for pair in (self, other)
        )
        return a in (b, b[::-1]) and self.is_angle == other.is_angle

    def _components(self, robot: list[list[Scalar]], given: list[list[Scalar]]) -> list[list[Scalar]]:
        """Components of the two sides, out of those of the features and of the signals."""
        features, signals = iter(robot), iter(given)
        return [next(features) if isinstance(side, Feature) else next(signals) for side in self.sides]

    def distance(self, robot: list[list[Scalar]], given: list[list[Scalar]]) -> Scalar:
        """The distance function for the components of the features and of the signals."""
        return self.function.of(*self._components(robot, given))

    @property
    def rows(self) -> tuple[str, ...]:
        """What :meth:`distances` gives, in words; "" for the distance itself."""
        whose = f" of {self.ends_of}" if self.ends_of else ""
        return tuple(words and words + whose for words, _, _ in self._rows())

    def distances(self, robot: list[list[Scalar]], given: list[list[Scalar]]) -> list[Scalar]:
        """The distance and, where a segment takes part, those of its ends.

        Where a segment is parallel to the other side, many of its points are nearest at a time, and the gradient of
        the distance is that of one of them: keeping that one away lets others come near. The ends keep them all.
        """
        a, b = self._components(robot, given)
        return [DISTANCES[name].of(*pick(a, b)) for _, name, pick in self._rows()]

    def _rows(self) -> list[tuple[str, str, _Pick]]:
        return _ENDS.get(self.function.name, [("", self.function.name, lambda a, b: (a, b))])

    def limit(self, given: SignalLike, what: str) -> Signal:
        """A safe distance or angle as a signal; an error where it could not be one, as far as t = 0 tells."""
        signal = as_signal("number", given, what)
        now = float(signal.at(0.0).value[0])
        if self.is_angle and not 0.0 <= now <= math.pi:
            raise Error(f"{sentence(what)} must be between 0 and π rad; found {now:.6g}.", found=now)
        if not self.is_angle and not self.is_signed and now < 0.0:
            raise Error(f"{sentence(what)} must be from 0 on, only distances to planes have a sign; found {now:.6g}.")
        return signal

    def scale(self, distance: Scalar) -> Scalar:
        """What the function is at a distance in m, or at an angle in rad: squared, itself, or 2 − 2 cos φ."""
        if self.is_angle:
            return 2.0 - 2.0 * cos(distance)
        return distance if self.is_signed else distance * distance


def _checked_reach(given: float, name: str) -> float:
    if not is_number(given) or not (0.0 < given <= _LARGEST_REACH or given == math.inf):
        wanted = f"above 0 and at most {_LARGEST_REACH:g} m, or math.inf for the whole line"
        raise refused(f"The reach of the {name} must be {wanted}", given)
    return float(given)


def _side(given: Any) -> Side:
    given = on(point, given)
    if isinstance(given, (Feature, Signal)):
        return given
    kind = _kind(given)
    return as_signal(kind, given, f"the {kind} in the workspace")


def _kind(given: Any) -> str:
    """The kind of what is given; of what moves, as it is at t = 0."""
    now = value_at_start(given, "what is in the workspace")
    kind = kind_of(now)
    if kind is not None and kind != "pose":
        return kind
    try:
        return {SIZE[kind]: kind for kind in ("point", "plane")}[len(now)]
    except (TypeError, KeyError):
        wanted = "What is in the workspace is a Point, Line, Plane or Segment, or a function that gives one"
        raise refused(wanted, given) from None


def _shown(side: Side) -> str:
    return side.what if isinstance(side, Signal) else f"the {side.kind} on {side.place}"
