"""When a task has stalled: its error no longer falls though it is not met."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.control.core.errors import refused
from dqdyn.control.core.settings import number, positive


@dataclass(frozen=True)
class Stall:
    """A task has stalled where in ``window`` s the norm of its error did not fall by the share ``fall`` of itself.

    The error is compared with the least one so far, so that one that oscillates without getting smaller has stalled
    too; oscillations slower than the window need a longer one. Below ``tolerance``, in the unit of the error, the task
    counts as met and has not stalled. ``least`` in the same unit, if given, counts as fall enough, whatever its share:
    for errors that start large and shrink at a constant speed. With ``grows`` the error is to grow, as the area of a
    support polygon with a negative gain: then it has stalled where it no longer grows; None asks the task's gain.

    From when an error stops falling until that is noticed, ``window`` passes at most.
    """

    window: float = 0.8
    fall: float = 0.005
    tolerance: float = 1e-6
    least: float | None = None
    grows: bool | None = None

    def __post_init__(self) -> None:
        positive(self.window, "window of a stall in s")
        number(self.fall, "fall of a stall", 0.0, above=True)
        if self.fall >= 1.0:
            raise refused("fall of a stall is a share of the error, below 1", self.fall)
        number(self.tolerance, "tolerance of a stall", 0.0)
        if self.least is not None:
            positive(self.least, "least of a stall")
        if self.grows is not None and not isinstance(self.grows, bool):
            raise refused("grows of a stall is True, False or None", self.grows)


class StallWatch:
    """Follows the norm of one error from when a state begins."""

    def __init__(self, rule: Stall, grows: bool) -> None:
        self.rule, self.grows = rule, grows
        self._since: float | None = None
        self._best = 0.0

    def __call__(self, t: float, size: float) -> bool:
        """Whether it has stalled at time t (s) with an error of this size; NaN does not fall."""
        rule = self.rule
        if self._since is None:
            self._since, self._best = t, size
            return False
        gone = size - self._best if self.grows else self._best - size
        needed = rule.fall * abs(self._best)
        if rule.least is not None:
            needed = min(needed, rule.least)
        if (gone >= needed and gone > 0.0) or (self._best != self._best and size == size):  # NaN before, a number now
            self._since, self._best = t, size
            return False
        is_met = size <= rule.tolerance and not self.grows
        return t - self._since >= rule.window - 1e-9 and not is_met
