"""A plan: where both feet are, and the steps from there, checked against what legs can do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error, unknown_name
from dqdyn.footsteps.checks import number
from dqdyn.footsteps.footstep import Footstep, Sole, as_footstep

Start = tuple[Footstep, Footstep]
"""The left and the right foot."""
_UPRIGHT = math.cos(math.radians(60.0))  # of the soles' normals: steeper ones are walls


@dataclass(frozen=True)
class Reach:
    """Where a foot may be put, seen from the other foot, which stands.

    ``ahead`` and ``back`` in m along the standing foot; ``apart`` in m sideways, the least and the greatest, to the
    foot's own side; ``turn`` in rad, and ``rise`` in m up or down.
    """

    ahead: float = 0.5
    back: float = 0.4
    apart: tuple[float, float] = (0.14, 0.4)
    turn: float = 0.6
    rise: float = 0.2

    def __post_init__(self) -> None:
        for part in fields(self):
            if part.name != "apart":
                value = number(getattr(self, part.name), f"{part.name} of the reach", 0.0)
                object.__setattr__(self, part.name, value)
        try:
            least, greatest = self.apart
        except (TypeError, ValueError):
            raise Error(f"apart of the reach is (least, greatest) in m; found {self.apart!r}.") from None
        least = number(least, "the least distance of the feet in m", 0.0)
        greatest = number(greatest, "the greatest distance of the feet in m", least)
        object.__setattr__(self, "apart", (least, greatest))


@dataclass(frozen=True, eq=False)
class FootstepPlan:
    """``steps`` from a ``start`` (left, right); feet alternate, do not overlap, and stay within ``reach``."""

    start: Start
    steps: tuple[Footstep, ...]
    sole: Sole = field(default_factory=Sole)
    reach: Reach = field(default_factory=Reach)

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", checked_start(self.start))
        object.__setattr__(self, "steps", _steps(self.steps))
        if not isinstance(self.sole, Sole):
            raise Error(f"the sole of a plan is a Sole(half_length, half_width); found {self.sole!r}.")
        if not isinstance(self.reach, Reach):
            raise Error(f"the reach of a plan is a Reach(…); found {self.reach!r}.")
        self._check()

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def feet(self) -> tuple[str, str]:
        """Names of the left and the right foot."""
        return self.start[0].foot, self.start[1].foot

    def side(self, foot: str) -> float:
        """1 for the left foot and −1 for the right one."""
        if foot not in self.feet:
            raise unknown_name("foot", foot, self.feet)
        return 1.0 if foot == self.feet[0] else -1.0

    def other(self, foot: str) -> str:
        """The foot that stands while ``foot`` steps."""
        return self.feet[1] if self.side(foot) > 0.0 else self.feet[0]

    def standing(self, k: int) -> Footstep:
        """Where the other foot stands while step k (from 0) is made."""
        if k:
            return self.steps[k - 1]
        return self.start[1] if self.steps[0].foot == self.feet[0] else self.start[0]

    def before(self, k: int) -> Footstep:
        """Where the foot of step k (from 0) comes from."""
        if k > 1:
            return self.steps[k - 2]
        return self.start[0] if self.steps[k].foot == self.feet[0] else self.start[1]

    def limits(self, standing: Footstep) -> tuple[Array, Array]:
        """(2,) each: the least and greatest (ahead, left) in m of the other foot in the axes of the standing one."""
        least, greatest = self.reach.apart
        if self.side(standing.foot) > 0.0:  # the right foot is on the negative side
            least, greatest = -greatest, -least
        return np.array([-self.reach.back, least]), np.array([self.reach.ahead, greatest])

    def _check(self) -> None:
        for k, step in enumerate(self.steps):
            standing = self.standing(k)
            if step.foot not in self.feet:
                raise unknown_name("foot", step.foot, self.feet)
            if step.foot == standing.foot:
                raise Error(f"step {k + 1} is made by {step.foot!r} again: let the feet alternate.", step=k + 1)
            self._check_reach(k + 1, standing, step)
            if overlap(self.sole.corners(standing.pose)[:, :2], self.sole.corners(step.pose)[:, :2]):
                what = f"step {k + 1} puts {step.foot!r} on {standing.foot!r}"
                raise Error(f"{what}: leave at least the width of a sole between them.", step=k + 1)

    def _check_reach(self, k: int, standing: Footstep, step: Footstep) -> None:
        relative = standing.pose.inverse() * step.pose
        x, y, z = relative.translation
        y *= -self.side(standing.foot)
        forward = relative.rotation_matrix[:, 0]
        turn = abs(math.atan2(forward[1], forward[0]))
        reach = self.reach
        for found, least, greatest, what, unit in (
            (x, -reach.back, reach.ahead, "ahead of", "m"),
            (y, *reach.apart, "apart from", "m"),
            (z, -reach.rise, reach.rise, "above", "m"),
            (turn, 0.0, reach.turn, "turned against", "rad"),
        ):
            if not least - 1e-9 <= found <= greatest + 1e-9:
                said = f"step {k} puts {step.foot!r} {found:.3g} {unit} {what} {standing.foot!r}"
                remedy = "make it smaller, or give another reach"
                raise Error(f"{said}, which must be {least:g} to {greatest:g} {unit}: {remedy}.", step=k, found=found)


def checked_start(start: Any) -> Start:
    """The left and the right footstep; an error where they are something else, or the same foot."""
    try:
        left, right = start
    except (TypeError, ValueError):
        raise Error(f"the start is a pair of footsteps (left, right); found {start!r}.", found=start) from None
    left, right = as_footstep(left, "the start of the left foot"), as_footstep(right, "the start of the right foot")
    if left.foot == right.foot:
        raise Error(f"both feet of the start are {left.foot!r}: name the left and the right one.", foot=left.foot)
    return left, right


def _steps(steps: Any) -> tuple[Footstep, ...]:
    if isinstance(steps, Footstep) or not isinstance(steps, Sequence):
        raise Error(f"the steps of a plan are a list of footsteps; found {steps!r}.", found=steps)
    if not steps:
        raise Error("a plan has no steps: give at least one.")
    found = tuple(as_footstep(step, f"step {k}") for k, step in enumerate(steps, 1))
    for k, step in enumerate(found, 1):
        if step.pose.rotation_matrix[2, 2] < _UPRIGHT:
            raise Error(f"step {k} stands on a wall: z of a sole points up.", step=k)
    return found


def overlap(a: Array, b: Array) -> bool:
    """Whether two convex polygons (n, 2) share an area: no edge of either separates them."""
    for corners in (a, b):
        along = np.roll(corners, -1, axis=0) - corners
        normals = np.stack([along[:, 1], -along[:, 0]], axis=1)
        first, second = normals @ a.T, normals @ b.T
        apart = (first.max(axis=1) <= second.min(axis=1)) | (second.max(axis=1) <= first.min(axis=1))
        if apart.any():
            return False
    return True
