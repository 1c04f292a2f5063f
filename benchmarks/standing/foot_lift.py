"""A robot shifts its weight to the right foot, lifts the left one, holds it, puts it down, and stands on both again.

The contacts change while the loop runs: both feet, the right foot, both feet, prepared before it starts. The load
leaves the left foot before it is lifted, so that its contact carries little when it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn import control as ct
from dqdyn.algebra.scalar import less, select
from dqdyn.analysis.standing.balance import balance, balance_tasks
from dqdyn.analysis.standing.loop import DT, Run, run
from dqdyn.analysis.standing.setting import Standing
from dqdyn.arrays import Array
from dqdyn.control.whole_body.controller import WholeBodyController

HEIGHT, HOLD = 0.10, 5.0  # m, s
SHIFT, LIFT, SETTLE = 2.5, 1.5, 0.5
"""s to move the center of mass, to lift or to lower the foot, and to rest between."""
_UP = SHIFT + SETTLE
_DOWN = _UP + LIFT + HOLD
_BOTH = _DOWN + LIFT + SETTLE
DURATION = _BOTH + SHIFT + 1.0


def smooth(t: Any, start: float, duration: float) -> Any:
    """From 0 to 1 with rest and no acceleration at both ends: 10 s³ − 15 s⁴ + 6 s⁵."""
    s = (t - start) * (1.0 / duration)
    s = select(less(s, 0.0), 0.0, select(less(1.0, s), 1.0, s))
    return s * s * s * (10.0 + s * (-15.0 + 6.0 * s))


def over_stance(t: Any) -> Any:
    """How much of the way to the right foot the center of mass has gone at the time t in s."""
    return smooth(t, 0.0, SHIFT) - smooth(t, _BOTH, SHIFT)


def height(t: Any) -> Any:
    """Of the left foot, m."""
    return HEIGHT * (smooth(t, _UP, LIFT) - smooth(t, _DOWN, LIFT))


class Stepping:
    """A controller that goes over to other contacts at given times: pairs (s, name of the set)."""

    def __init__(self, controller: WholeBodyController, times: Sequence[tuple[float, str]]) -> None:
        self.controller, self.times = controller, tuple(times)
        self.reset()

    def reset(self) -> None:
        """Begin with the first contacts again."""
        self.controller.reset()
        self._next = 0

    @property
    def report(self) -> ct.StepReport:
        return self.controller.report

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        while self._next < len(self.times) and t >= self.times[self._next][0] - 0.5 * DT:
            self.controller.switch(self.times[self._next][1])
            self._next += 1
        return self.controller(t, q, v)


def stepping(standing: Standing) -> Stepping:
    """Shifts the weight, lets go of the left foot, and takes it back."""
    robot, q0, center, (left, right) = standing.robot, standing.q0, standing.center, standing.supports
    stance = robot.pose(standing.feet[1], q0).translation
    way = (stance - center)[:2].tolist()

    def target(t: Any) -> list[Any]:
        share = over_stance(t)
        return [float(c) + d * share for c, d in zip(center, way, strict=False)]

    def shares(t: Any) -> list[Any]:
        share = 0.5 * over_stance(t)
        return [0.5 - share, 0.5 + share]

    sole = robot.pose(standing.feet[0], q0)
    x, y, z = sole.translation.tolist()
    swing = [
        ct.TranslationTask(standing.feet[0], lambda t: [x, y, z + height(t)], gain=10.0, weight=100.0),
        ct.RotationTask(standing.feet[0], sole, gain=10.0, weight=100.0),
    ]
    controller = balance(standing, target, [ct.LoadSharingTask([left, right], shares, weight=1e-3)])
    on_one = [*balance_tasks(standing, target), *swing]
    controller.prepare({"both": [left, right], "right": [right]}, {"right": on_one}, progress=False)
    return Stepping(controller, [(SHIFT, "right"), (_BOTH, "both")])


@dataclass(frozen=True, eq=False)
class FootLift:
    """``lowest`` and ``highest``: the left sole while it is held up; ``moved``: the farthest that the right foot went;
    ``landed``: how far the left foot is at the end from where it was. All in m."""

    run: Run
    lowest: float
    highest: float
    moved: float
    landed: float


def foot_lift(standing: Standing) -> FootLift:
    done = run(standing, stepping(standing), DURATION)
    time, q = done.trajectory.time, done.trajectory.q
    soles = [standing.robot.pose(foot, q).translation for foot in standing.feet]
    held = soles[0][(time >= _UP + LIFT) & (time <= _DOWN), 2]
    away = [np.linalg.norm(p - p[0], axis=1) for p in soles]
    return FootLift(done, float(held.min()), float(held.max()), float(away[1].max()), float(away[0][-1]))
