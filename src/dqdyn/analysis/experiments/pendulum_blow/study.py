"""All runs of the study, and what follows from them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dqdyn.analysis.experiments.pendulum_blow.blows import Blow, Ring, Search
from dqdyn.analysis.experiments.pendulum_blow.postures import Posture, Steps
from dqdyn.analysis.standing.pushes import distance_to_edge
from dqdyn.analysis.standing.setting import Standing

VARIED = (0.95, 1.05)
"""Times the blow that both postures get, which they get too."""


@dataclass(frozen=True, eq=False)
class Study:
    """``searches`` by the engine's steps per control step: blows of the unmaximised and of the maximised posture.

    ``momentum`` in N s: of the ball in the blow that both got. ``away``: searches with a blow that goes as far to the
    right as the others go to the left, away from the hand.
    """

    start: Standing
    steps: Steps
    ring: Ring
    momentum: float
    searches: Mapping[int, tuple[Search, Search]]
    away: tuple[Search, Search]

    def pair(self, substeps: int, factor: float = 1.0) -> tuple[Blow, Blow]:
        """Both postures under the same blow, times a factor."""
        first, second = self.searches[substeps]
        return first.at(factor * self.momentum), second.at(factor * self.momentum)

    @property
    def blows(self) -> Iterator[Blow]:
        """All, those of each search from weak to strong."""
        for both in (*self.searches.values(), self.away):
            for search in both:
                yield from sorted(search.blows, key=lambda blow: blow.momentum)

    def bound(self, posture: Posture) -> float:
        """N s that a linear pendulum survives: its capture point reaches the border of the polygon, m ω₀ d."""
        angle = self.ring.pendulum.direction
        d = distance_to_edge(posture.polygon.corners, posture.standing.center[:2], angle)
        return posture.standing.robot.mass * posture.standing.omega * d

    @property
    def degrees(self) -> float:
        """Of the pendulum's release in the blow that both got."""
        return math.degrees(self.ring.pendulum.angle(self.momentum))
