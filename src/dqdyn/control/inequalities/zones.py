"""Zones around elements of the robot and the workspace: keep out of them, or inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.algebra.value import Value
from dqdyn.control.core.errors import refused
from dqdyn.control.core.inequality import Inequality, PairInequality, ZoneOptions
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import Feature
from dqdyn.control.features.on_robot import PointLike, point, required
from dqdyn.control.features.pairs import Pair, Reach, SideLike
from dqdyn.control.features.signals import SignalLike, as_signal
from dqdyn.errors import Error


class _Zone(PairInequality):
    word: ClassVar[str]

    def __init__(
        self, a: SideLike, b: SideLike, distance: SignalLike, *, reach: Reach = None, **options: Unpack[ZoneOptions]
    ) -> None:
        pair = Pair.of(a, b).within(reach)
        name = f"{self.word} {pair.name}"
        super().__init__(name, pair, distance, f"the safe distance of {name!r}", **options)


class KeepOut(_Zone):
    """Two elements at least ``distance`` (m) apart: D − D_safe ≥ 0 [Quiroz, eq. (4.22)], its rate as in
    [Quiroz, eq. (4.23)], which misses the dot of Ḋ_safe in print.

    Each is a feature of the robot (``point("tool")``, ``line(…)``, ``segment(…)``; a frame is its origin) or one
    of the workspace: a Point, Line, Plane or Segment, a function of time, a Moving or a Measured. The distance may move
    too. With both on the robot this avoids self-collision. Distances to planes are signed: the side of the normal.

    Of two lines, the robot's (of two on the robot, the first) counts within ``reach`` m of its point next to the origin
    of its frame, 2 m unless given: with the nearest points in there D is the distance of the lines, beyond it that of
    the nearer end from the other line, and each end has a row of its own. So the zone holds where the lines pass by
    parallel, across which the distance of infinite lines jumps. ``reach=math.inf`` gives that distance as it is.
    """

    keeps_apart, word = True, "keep-out:"


class KeepIn(_Zone):
    """Two elements at most ``distance`` (m) apart: D_safe − D ≥ 0; for planes the side opposite to the normal.

    Of two lines, the robot's has to be near within ``reach`` m, as in :class:`KeepOut`.

    Squared distances have a gradient that vanishes at D = 0, and no acceleration changes ḧ there: a point that passes
    the center of its zone at w m/s has the second-order form infeasible for that moment unless η_p D_safe ≥ 2w².
    """

    keeps_apart, word = False, "keep-in:"

    def row_words(self) -> Sequence[str]:
        """Of a segment it suffices that its nearest point is near; it is on one side of a plane with both ends."""
        words = self.pair.rows
        return words if words[0] else words[:1]


class KeepAbove(KeepOut):
    """A point (a frame's name, or a feature) at least ``distance`` m above a plane, along its normal."""

    def __init__(
        self, point: SideLike, plane: SideLike, distance: SignalLike = 0.0, **options: Unpack[ZoneOptions]
    ) -> None:
        super().__init__(point, plane, distance, **options)
        if not self.pair.is_signed:
            raise Error(f"KeepAbove takes a point and a plane; found {point!r} and {plane!r}: use KeepOut for others.")


class Region(Inequality):
    """A point of the robot on the inner side of several planes, whose normals point inwards.

    One inequality per plane, [Quiroz, eq. (4.39)] and [Quiroz, eq. (4.40)].
    """

    def __init__(
        self, robot: PointLike, planes: Sequence[SignalLike], distance: SignalLike = 0.0, **options: Unpack[ZoneOptions]
    ) -> None:
        feature: Feature = required(point, robot, "What a region keeps inside")
        if isinstance(planes, Value) or not hasattr(planes, "__iter__"):
            raise refused("The planes of a region are a list", planes)
        self.pairs = [Pair.of(feature, plane) for plane in planes]
        if not self.pairs:
            raise Error("A region needs at least one plane.")
        for pair, plane in zip(self.pairs, planes, strict=True):
            if pair.function.name != "point_to_plane" or not pair.signals:
                raise refused("A region takes planes of the workspace, at rest or moving", plane)
        safe = as_signal("number", distance, "the safe distance of a region")
        signals = tuple(signal for pair in self.pairs for signal in pair.signals)
        super().__init__(f"region of {feature.place}", (feature,), (*signals, safe), **options)

    def row_names(self) -> list[str]:
        return [f"{self.name}: plane {i + 1}" for i in range(len(self.pairs))]

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        *planes, safe = given
        return [pair.distance(robot, [p]) - safe[0] for pair, p in zip(self.pairs, planes, strict=True)]
