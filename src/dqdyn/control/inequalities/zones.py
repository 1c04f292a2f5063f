"""Zones around things: keep out of them, or inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.algebra.value import Value
from dqdyn.control.core.inequality import Gains, Inequality
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import Thing
from dqdyn.control.features.on_robot import point, required
from dqdyn.control.features.pairs import SIGNED, Pair
from dqdyn.control.features.signals import as_signal
from dqdyn.errors import Error


class _Zone(Inequality):
    sign: float
    word: str

    def __init__(self, a: Any, b: Any, distance: Any, *, reach: float | None = None, **gains: Unpack[Gains]) -> None:
        self.pair_of_things = Pair.of(a, b).within(reach)
        name = f"{self.word} {self.pair_of_things.name}"
        safe = self.pair_of_things.limit(distance, f"the safe distance of {name!r}")
        super().__init__(name, self.pair_of_things.things, (*self.pair_of_things.signals, safe), **gains)

    def row_names(self) -> list[str]:
        return [f"{self.name}: {words}" if words else self.name for words in self._rows()]

    def _rows(self) -> tuple[str, ...]:
        return self.pair_of_things.rows

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        pair = self.pair_of_things
        safe = pair.scale(given[-1][0])
        return [self.sign * (d - safe) for d in pair.distances(robot, given)[: len(self._rows())]]


class KeepOut(_Zone):
    """Two things at least ``distance`` (m) apart: D − D_safe ≥ 0 [Quiroz, eq. (4.22)], its rate as in
    [Quiroz, eq. (4.23)], which misses the dot of Ḋ_safe in print.

    Each is a thing of the robot (``point("tool")``, ``line(…)``, ``segment(…)``; a frame is its origin) or one
    of the workspace: a Point, Line, Plane or Segment, a function of time, a Moving or a Measured. The distance may move
    too. With both on the robot this avoids self-collision. Distances to planes are signed: the side of the normal.

    Of two lines, the robot's (of two on the robot, the first) counts within ``reach`` m of its point next to the origin
    of its frame, 2 m unless given: with the nearest points in there D is the distance of the lines, beyond it that of
    the nearer end from the other line, and each end has a row of its own. So the zone holds where the lines pass by
    parallel, across which the distance of infinite lines jumps. ``reach=math.inf`` gives that distance as it is.
    """

    sign, word = 1.0, "keep-out:"


class KeepIn(_Zone):
    """Two things at most ``distance`` (m) apart: D_safe − D ≥ 0; for planes the side opposite to the normal.

    Of two lines, the robot's has to be near within ``reach`` m, as in :class:`KeepOut`.

    Squared distances have a gradient that vanishes at D = 0, and no acceleration changes ḧ there: a point that passes
    the center of its zone at w m/s has the second-order form infeasible for that moment unless η_p D_safe ≥ 2w².
    """

    sign, word = -1.0, "keep-in:"

    def _rows(self) -> tuple[str, ...]:
        """Of a segment it suffices that its nearest point is near; it is on one side of a plane with both ends."""
        rows = self.pair_of_things.rows
        return rows if rows[0] else rows[:1]


class KeepAbove(KeepOut):
    """A point (a frame's name, or a thing) at least ``distance`` m above a plane, along its normal."""

    def __init__(self, point: Any, plane: Any, distance: Any = 0.0, **gains: Unpack[Gains]) -> None:
        super().__init__(point, plane, distance, **gains)
        if self.pair_of_things.function.name not in SIGNED:
            raise Error(
                f"KeepAbove takes a point and a plane; found {point!r} and {plane!r}: use KeepOut for other things."
            )


class Region(Inequality):
    """A point of the robot on the inner side of several planes, whose normals point inwards.

    One inequality per plane, [Quiroz, eq. (4.39)] and [Quiroz, eq. (4.40)].
    """

    def __init__(self, robot: Any, planes: Sequence[Any], distance: Any = 0.0, **gains: Unpack[Gains]) -> None:
        thing: Thing = required(point, robot, "What a region keeps inside")
        if isinstance(planes, Value) or not hasattr(planes, "__iter__"):
            raise Error(f"The planes of a region are a list; found {planes!r}.", found=planes)
        self.pairs = [Pair.of(thing, plane) for plane in planes]
        if not self.pairs:
            raise Error("A region needs at least one plane.")
        for pair, plane in zip(self.pairs, planes, strict=True):
            if pair.function.name != "point_to_plane" or not pair.signals:
                raise Error(f"A region takes planes of the workspace, at rest or moving; found {plane!r}.", found=plane)
        safe = as_signal("number", distance, "the safe distance of a region")
        signals = tuple(signal for pair in self.pairs for signal in pair.signals)
        super().__init__(f"region of {thing.place}", (thing,), (*signals, safe), **gains)

    def row_names(self) -> list[str]:
        return [f"{self.name}: plane {i + 1}" for i in range(len(self.pairs))]

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        *planes, safe = given
        return [pair.distance(robot, [p]) - safe[0] for pair, p in zip(self.pairs, planes, strict=True)]
