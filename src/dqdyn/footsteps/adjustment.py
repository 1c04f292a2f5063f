"""Where the next footstep must be when the divergent component is not where it should be.

While a robot stands on one foot, feedback moves the zero-moment point by at most what the sole allows, and the error e
of the divergent component obeys ė = ω (e − d) with the displacement d of that point. With d at its limit for the time
T that is left of the step,

    e(T) = d + e^{ωT} (e − d),

of which e^{ωT} (e − d) is put into the place of the next foot, in each direction of the standing foot: what is left, d,
the next sole can correct, and below the limit the error dies out by itself.

Where that is farther than the leg can reach, the foot lands at another time: sooner where ξ flees to the side to which
the foot swings, later where it hesitates over the foot that stands. With z the zero-moment point that was meant, ξ_T
where ξ should be when the foot lands, and D the greatest displacement that it can have, T is such that

    e^{ωT} (ξ − z − d) = ξ_T − z + D (1 − e^{−ωS})/(ωS).

A displacement D of the next foot moves ξ at the end of the step by less than D, where the load then goes over to it
within a time S of double support: by D (1 − e^{−ωS})/(ωS), see :mod:`dqdyn.footsteps.divergent_reference`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.footsteps.checks import number


@dataclass(frozen=True)
class StepAdjustment:
    """``room`` (ahead, sideways) in m: how far the zero-moment point may go from where it is meant to be in the sole.

    ``gain`` of the displacement: 1 puts the foot where the sole can just correct what is left of the error.
    """

    room: tuple[float, float] = (0.06, 0.03)
    gain: float = 1.0

    def __post_init__(self) -> None:
        try:
            ahead, sideways = self.room
        except (TypeError, ValueError):
            raise Error(f"room of an adjustment is (ahead, sideways) in m; found {self.room!r}.") from None
        room = number(ahead, "room ahead in m", 0.0), number(sideways, "room sideways in m", 0.0)
        object.__setattr__(self, "room", room)
        object.__setattr__(self, "gain", number(self.gain, "the gain of an adjustment", 0.0))

    def displacement(self, error: Any, left: float, omega: float, double: float = 0.0) -> Array:
        """(2,) in m of the next footstep, for an ``error`` (2,) in m of ξ with ``left`` s until it lands.

        Both are (ahead, sideways) in the axes of the standing foot. ``double``: s of the double support that follows.
        """
        e = real_array(error, "the error of a divergent component")
        if e.shape != (2,):
            raise Error(f"the error of a divergent component has two components; found {error!r}.", found=error)
        grown = math.exp(omega * max(left, 0.0))
        room = np.asarray(self.room)
        beyond = np.sign(e) * np.maximum(np.abs(e) - room, 0.0)
        return np.asarray(self.gain * grown * beyond / carried(omega, double))

    def landing(self, component: Any, point: Any, end: Any, most: Any, omega: float, double: float = 0.0) -> Array:
        """T (2,) in s until the foot lands, for which ``most`` (2,) in m is the displacement that is needed.

        All are (ahead, sideways) in the axes of the standing foot: the ``component`` ξ now, the zero-moment ``point``
        z, the ``end`` ξ_T and ``most``, in m. The sole helps by its whole room, against ξ. NaN where no time would do,
        because ξ goes to the other side.
        """
        xi, z, then, limit = (real_array(x, "a point of the ground") for x in (component, point, end, most))
        flees = xi - z - np.sign(limit) * np.asarray(self.room)
        with np.errstate(divide="ignore", invalid="ignore"):
            grows = (then - z + carried(omega, double) * limit) / flees
            return np.asarray(np.where(grows > 0.0, np.log(np.maximum(grows, 1e-300)), np.nan) / omega)


def carried(omega: float, double: float) -> float:
    """(1 − e^{−ωS})/(ωS): the part of a displacement of a foot that ξ has when ``double`` S s begin."""
    x = omega * double
    return -math.expm1(-x) / x if x > 0.0 else 1.0
