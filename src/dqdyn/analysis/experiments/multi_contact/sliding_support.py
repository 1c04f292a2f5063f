"""Balance while a hand slides: the center of mass inside of a polygon that moves with the hand."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from dqdyn import control as ct
from dqdyn.algebra.scalar import Scalar, sqrt
from dqdyn.arrays import Array
from dqdyn.contacts.support_polygon import convex_hull
from dqdyn.control.core.inequality import Inequality, ZoneOptions
from dqdyn.control.core.term import Parts
from dqdyn.control.features.signals import Measured, as_signal

_FAR = 1e3  # m to edges that are not needed


class SlidingSupport(Inequality):
    """The center of mass at least ``margin`` m inside of the hull of fixed points and of a point of the robot.

    As the planes of (4.62), but edges that end at the hand move with it, and their rates are part of the inequality:
    a hand may slide so that the center of mass gets room, and never takes it away. Which points are corners of the
    hull is said by :meth:`update`, from step to step; ``edges`` at most.
    """

    def __init__(
        self, fixed: Array, hand: str, at: Array, margin: float, *, edges: int = 6, **options: Unpack[ZoneOptions]
    ) -> None:
        self.fixed, self.margin, self.edges = np.asarray(fixed, dtype=float), margin, edges
        self._measured = Measured(None)
        self.update(at)
        signal = as_signal("vector", self._measured, "the edges of the support polygon", 6 * edges)
        super().__init__("center of mass", (ct.CenterOfMass(), ct.point(hand)), (signal,), **options)

    def update(self, hand: Array) -> None:
        """The hand is at (2,) or (3,): its projection is the corner next to those of the fixed points on the hull."""
        at = np.asarray(hand[:2], dtype=float)
        ends = [
            (*corner, 0.0) if (corner != at).any() else (0.0, 0.0, 1.0)
            for corner in convex_hull(np.vstack([self.fixed, at]))
        ]
        rows = [(*a, *b) for a, b in zip(ends, [*ends[1:], ends[0]], strict=True)]
        # the line y = -far, from left to right, has every center of mass on its left
        rows += [(-1.0, -_FAR, 0.0, 1.0, -_FAR, 0.0)] * (self.edges - len(rows))
        self._measured.update(np.array(rows).reshape(-1))

    def row_names(self) -> list[str]:
        return [f"{self.name}: edge {i + 1}" for i in range(self.edges)]

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        (x, y, _), (hx, hy, _), found = *robot, given[0]
        rows = []
        for i in range(self.edges):
            ax, ay, a_is_hand, bx, by, b_is_hand = found[6 * i : 6 * i + 6]
            ax, ay = ax + a_is_hand * hx, ay + a_is_hand * hy
            bx, by = bx + b_is_hand * hx, by + b_is_hand * hy
            ux, uy = bx - ax, by - ay
            rows.append((ux * (y - ay) - uy * (x - ax)) / sqrt(ux * ux + uy * uy) - self.margin)
        return rows
