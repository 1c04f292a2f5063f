"""Joints that turn too fast for the loop that controls them."""

from __future__ import annotations

import math

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.limits.coordinates import axes
from dqdyn.model.model import Model

MOST = math.pi
AGAIN = 0.1
_REMEDY = "add VelocityLimits, raise the damping, or lower the gains: errors that cannot be worked off, as near a "
_REMEDY += "singularity or with targets out of reach, speed joints up without bound"


class SpeedWatch:
    """Notices joints that turn by more than half a turn from one step to the next, until all turn by 0.1 rad or less.

    Beyond half a turn a sampled angle does not even tell which way a joint turns. Accelerations that make up for
    centripetal ones grow with the square of velocities, so a loop at this point diverges, up to numbers that are not
    finite.
    """

    def __init__(self, model: Model) -> None:
        own = [joint for joint in model.joints if joint.master is None]
        self._turns = np.array([is_angle for joint in own for is_angle in joint.motion.angular], dtype=bool)
        self._names = axes(model)
        self.reset()

    def reset(self) -> None:
        """The next step is the first one."""
        self._t = math.nan
        self._step = math.inf
        self._is_fast = False

    def problem(self, t: float, v: Array) -> str:
        """What is wrong with the velocities v (nv,) at time t (s), in words, or ""."""
        since, self._t = t - self._t, t
        if not since > 0.0:  # the first step, or time that does not go on
            return ""
        step, self._step = min(since, self._step), since  # the loop's own, also after a pause
        limit = AGAIN if self._is_fast else MOST
        bound = limit / step
        speeds = np.abs(v) * self._turns
        k = int(speeds.argmax())
        fastest = float(speeds[k])
        self._is_fast = fastest > bound
        if not self._is_fast:
            return ""
        turned = f"joint {self._names[k]!r} turns at {fastest:.3g} rad/s, {fastest * step:.3g} rad in a step"
        return f"{turned} of {step:.3g} s, and the loop diverges: {_REMEDY}"
