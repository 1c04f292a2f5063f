"""From rest to rest along a line as fast as limits allow: trapezoids of velocity, and S-curves that limit jerk too.

The phases of the S-curve are those of Biagiotti and Melchiorri, Trajectory Planning for Automatic Machines and Robots,
section 3.4, for an initial and a final velocity of 0.
"""

from __future__ import annotations

import math

import numpy as np

from dqdyn.arrays import Array
from dqdyn.splines.piecewise import DEGREE, Piecewise

Phases = list[tuple[float, float, float]]
"""(duration in s, acceleration at the start, jerk) of each phase."""


def profile(distance: float, velocity: float, acceleration: float, jerk: float = math.inf) -> Piecewise:
    """The fastest way from 0 to ``distance`` ≥ 0 and from rest to rest, one component; limits may be infinite.

    Without a limit of jerk it is a trapezoid of velocity, which needs one of acceleration.
    """
    if distance == 0.0:
        return Piecewise.of_one(0.0, 0.0, np.zeros((DEGREE + 1, 1)))
    phases = _trapezoid(distance, velocity, acceleration) if math.isinf(jerk) else []
    phases = phases or _s_curve(distance, velocity, acceleration, jerk)
    return _joined([phase for phase in phases if phase[0] > 0.0], distance)


def _trapezoid(d: float, v: float, a: float) -> Phases:
    peak = min(v, math.sqrt(a * d))
    rise = peak / a
    return [(rise, a, 0.0), (max(0.0, d / peak - rise), 0.0, 0.0), (rise, -a, 0.0)]


def _s_curve(d: float, v: float, a: float, j: float) -> Phases:
    """Phases of constant jerk: ``bend`` where the acceleration changes, ``rise`` until the highest velocity."""
    cruise = -1.0
    if math.isfinite(v):
        bend = math.sqrt(v / j) if v * j < a * a else a / j
        rise = 2.0 * bend if v * j < a * a else bend + v / a
        cruise = d / v - rise
    if cruise < 0.0:  # the limit of velocity is not reached
        cruise = 0.0
        if a**3 * 2.0 <= d * j * j:
            bend = a / j
            rise = 0.5 * bend + math.sqrt(0.25 * bend * bend + d / a)
        else:  # nor that of acceleration
            bend = (d / (2.0 * j)) ** (1.0 / 3.0)
            rise = 2.0 * bend
    top, hold = j * bend, max(0.0, rise - 2.0 * bend)
    up = [(bend, 0.0, j), (hold, top, 0.0), (bend, top, -j)]
    return [*up, (cruise, 0.0, 0.0), *((h, -start, -change) for h, start, change in up)]


def _joined(phases: Phases, distance: float) -> Piecewise:
    times = np.concatenate([[0.0], np.cumsum([h for h, _, _ in phases])])
    coefficients = np.zeros((len(phases), DEGREE + 1, 1))
    p = v = 0.0
    for k, (h, a, j) in enumerate(phases):
        coefficients[k, :4, 0] = p, v, 0.5 * a, j / 6.0
        p, v = p + h * (v + h * (0.5 * a + h * j / 6.0)), v + h * (a + 0.5 * h * j)
    return Piecewise(times, coefficients * (distance / p))  # p differs from the distance by rounding only


def refined(pieces: list[Piecewise], duration: float) -> Piecewise:
    """Components with intervals of their own, each stretched to one duration, as one vector."""
    stretched = [piece.stretched(duration / float(piece.times[-1])) for piece in pieces if piece.times[-1] > 0.0]
    times = np.unique(np.concatenate([[0.0, duration], *(piece.times for piece in stretched)]))
    close = np.diff(times, prepend=-1.0) < 1e-12 * duration
    times = times[~close]
    times[-1] = duration
    coefficients = np.zeros((len(times) - 1, DEGREE + 1, len(pieces)))
    moving = iter(stretched)
    for i, piece in enumerate(pieces):
        if piece.times[-1] > 0.0:
            coefficients[:, :, i] = _restarted(next(moving), times)
    return Piecewise(times, coefficients)


def _restarted(piece: Piecewise, times: Array) -> Array:
    """Coefficients (m, 6) of one component of third degree, of powers of the time since each of ``times``."""
    k = piece.intervals(0.5 * (times[:-1] + times[1:]))
    s, c = times[:-1] - piece.times[k], piece.coefficients[k, :, 0].T
    zero = 0.0 * s
    return np.stack(
        [
            c[0] + s * (c[1] + s * (c[2] + s * c[3])),
            c[1] + s * (2.0 * c[2] + s * (3.0 * c[3])),
            c[2] + 3.0 * s * c[3],
            c[3],
            zero,
            zero,
        ],
        axis=-1,
    )
