"""The fastest way within limits between states that move, by the package ruckig (Berscheid and Kröger, RSS 2021)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error, missing_extra
from dqdyn.splines import Piecewise
from dqdyn.splines.profiles import refined


def fastest(distance: Array, velocities: tuple[Array, Array], limits: Sequence[Array]) -> Piecewise:
    """From 0 to ``distance`` (g,) with velocities (g,) at both ends, all components in one time.

    ``limits`` of velocity, acceleration and jerk (g,) each; a start above the limit of velocity brakes first.
    """
    try:
        import ruckig
    except ImportError:
        raise missing_extra("ruckig", "ruckig", "A time-optimal reference that starts or ends in motion") from None
    count = len(distance)
    given, found = ruckig.InputParameter(count), ruckig.Trajectory(count)
    given.current_position, given.target_position = [0.0] * count, distance.tolist()
    given.current_velocity, given.target_velocity = (x.tolist() for x in velocities)
    given.max_velocity, given.max_acceleration, given.max_jerk = (limit.tolist() for limit in limits)
    try:
        result = ruckig.Ruckig(count).calculate(given, found)
    except ruckig.RuckigError as problem:
        why = " ".join(str(problem).replace("[ruckig]", "").split()).rstrip(".")
        raise Error(f"there is no time-optimal reference between these states: {why}.", reason=why) from problem
    if result not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise Error(f"there is no time-optimal reference between these states: ruckig says {result.name}.")
    return refined([_piece(p) for p in found.profiles[0]], float(found.duration))


def _piece(of: Any) -> Piecewise:
    """One component: phases of constant jerk, those of braking first."""
    phases = (
        [*zip(of.brake.t, of.brake.p, of.brake.v, of.brake.a, of.brake.j, strict=False)] if of.brake.duration else []
    )
    phases += zip(of.t, of.p, of.v, of.a, of.j, strict=False)
    phases = [phase for phase in phases if phase[0] > 0.0]
    times = np.concatenate([[0.0], np.cumsum([phase[0] for phase in phases])])
    rows = [[p, v, 0.5 * a, j / 6.0, 0.0, 0.0] for _, p, v, a, j in phases]
    return Piecewise(times, np.array(rows)[:, :, None])
