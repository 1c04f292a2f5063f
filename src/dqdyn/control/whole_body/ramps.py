"""Normal forces that go down before a contact is let go, and up after another one is made."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.core.optimum import Optimum
from dqdyn.control.qp.solver import INFINITE
from dqdyn.control.whole_body.composition import WholeBodyComposition

DURATION = 0.2
"""s of a ramp, where neither it nor a greatest rate of torques is given."""
_BINDS = 0.999  # of the ramp that the normal force takes up where the ramp binds
_SHARE = 0.5  # of the greatest rate of torques that a ramp may use; the rest is for the motion
_LEAST = 1e-3  # of the robot's weight at which a ramp begins, so that the cone is more than a point


class Unloading:
    """Normal forces of the contacts ``leaving`` go down from ``forces`` (N) to zero in ``duration`` s."""

    def __init__(self, t: float, leaving: Collection[int], forces: Array, duration: float) -> None:
        self.begin, self.duration = t, duration
        self.leaving = list(leaving)
        self.forces = np.maximum(forces, 0.0)

    def is_done(self, t: float, composition: WholeBodyComposition) -> bool:
        """Set the ramps at time t; whether nothing is left of them."""
        left = 1.0 - (t - self.begin) / self.duration if self.duration > 0.0 else 0.0
        if left <= 1e-9:
            return True
        for i in self.leaving:
            composition.pressing[i] = self.forces[i] * min(left, 1.0)
        return False


class Loading:
    """Normal forces of the contacts ``coming`` may grow, until they no longer use that up.

    ``slopes`` (contacts,) in N/s, None until the first step with them has told how fast.
    """

    def __init__(self, t: float, coming: Collection[int], duration: float | None) -> None:
        self.coming, self.duration, self._last = set(coming), duration, t
        self.slopes: Array | None = None

    def is_done(self, t: float, composition: WholeBodyComposition, forces: Array) -> bool:
        """Set the ramps at time t, after normal ``forces`` (N) of the last step; whether none is left."""
        assert self.slopes is not None
        step, self._last = max(t - self._last, 0.0), t
        for i in tuple(self.coming):
            allowed = float(composition.pressing[i])
            binds = forces[i] >= _BINDS * allowed - 1e-6
            composition.pressing[i] = min(allowed + step * self.slopes[i], INFINITE) if binds else INFINITE
            if composition.pressing[i] >= INFINITE:
                self.coming.discard(i)
        return not self.coming


def least_force(composition: WholeBodyComposition) -> float:
    """N at which ramps begin and end."""
    return _LEAST * 9.81 * composition.model.mass


@dataclass(frozen=True, eq=False)
class Change:
    """How fast forces may change: in ``duration`` s, or by the ``rate`` (nv,) of torques in N m/s from the ``last``."""

    duration: float | None
    rate: Array | None
    last: Array


def end_of_ramp(composition: WholeBodyComposition, limits: Array, change: Change) -> tuple[float, Array]:
    """How long a ramp to the ``limits`` (contacts,) of normal forces takes in s, and the forces (N) at its end.

    Both are those of the last state with these limits.
    """
    seconds = DURATION if change.duration is None else change.duration
    views = {name: composition.views[name] for name in ("H0", "f0", "A")}
    views["upper"], views["lower"] = composition.bounds_without_ramps(limits)
    u = Optimum(composition.size, "daqp")(views) if np.isfinite(composition.out).all() else None
    if u is None:
        return seconds, np.full(len(limits), 9.81 * composition.model.mass)
    forces = composition.normal_forces(u)
    if change.duration is not None or change.rate is None:
        return seconds, forces
    motors = composition.motors
    moved = np.abs(composition.views["torque"] @ u + composition.views["bias"] - change.last[motors])
    return float((moved / (_SHARE * change.rate[motors])).max(initial=0.0)), forces
