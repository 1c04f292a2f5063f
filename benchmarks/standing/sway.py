"""A robot sways on both feet: its center of mass follows a sine to the left and to the right."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn import control as ct
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import sin
from dqdyn.analysis.standing.balance import balance
from dqdyn.analysis.standing.loop import Run, run
from dqdyn.analysis.standing.setting import Standing
from dqdyn.arrays import Array

AMPLITUDE, FREQUENCY = 0.03, 0.5  # m, Hz
_BEGIN = 1.0  # s, in which the amplitude grows to a half
_STEADY = 5.0  # s, from which on it counts


def sideways(standing: Standing, t: Any) -> Any:
    """y in m of the center of mass at the time t in s, a number or a variable of the algebra."""
    share = t * t / (t * t + _BEGIN**2)
    return float(standing.center[1]) + AMPLITUDE * share * sin((2.0 * math.pi * FREQUENCY) * t)


def controller(standing: Standing) -> ct.Controller:
    """Balance around the divergent component ξ = c + ċ/ω₀ of the wanted motion."""
    x, omega = float(standing.center[0]), standing.omega

    def target(t: Any) -> list[Any]:
        rate = derivative(lambda at: [sideways(standing, at[0])], [t], [1.0])[0]
        return [x, sideways(standing, t) + rate * (1.0 / omega)]

    return balance(standing, target)


@dataclass(frozen=True, eq=False)
class Sway:
    """``amplitude`` in m and ``error`` in m, the farthest that the center of mass was from its target sideways."""

    run: Run
    amplitude: float
    error: float


def sway(standing: Standing, duration: float = 60.0, law: ct.Controller | None = None) -> Sway:
    done = run(standing, controller(standing) if law is None else law, duration)
    time, y = done.trajectory.time, done.centers[:, 1]
    wanted: Array = np.array([sideways(standing, float(t)) for t in time])
    late = time >= min(_STEADY, 0.5 * duration)
    return Sway(done, 0.5 * float(np.ptp(y[late])), float(np.abs(y - wanted)[late].max()))
