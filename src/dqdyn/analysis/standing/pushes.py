"""How hard a standing robot may be pushed, beside what the linear inverted pendulum could take without a step.

The pendulum ẍ = ω₀² (x − p) + F/m starts at rest at x = 0, with its zero-moment point p no farther than d. Its
divergent component ξ = x + ẋ/ω₀ obeys ξ̇ = ω₀ (ξ − p) + F/(m ω₀). With p = d from the start, a force F for the time T
leaves ξ(T) − d = e^{ω₀T} (F/(m ω₀²) (1 − e^{−ω₀T}) − d), which must not be positive, or ξ runs away. So

    F ≤ m ω₀² d / (1 − e^{−ω₀T}),   and the impulse F T ≤ m ω₀² d T / (1 − e^{−ω₀T}).

Angular momentum is not part of the pendulum: arms and trunk may take more than this.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.analysis.standing.loop import DT, Law, Run, run
from dqdyn.analysis.standing.setting import Standing
from dqdyn.arrays import Array

PUSH, BEFORE, AFTER = 0.1, 0.3, 5.0
"""s of the push, of rest before it, and until the robot must have come to rest."""
RESTS, STAYS = 0.05, 0.02
"""m/s of the center of mass, and m of the feet, below which a push was survived."""
DIRECTIONS = tuple(math.radians(45.0 * i) for i in range(8))
"""rad from x, forward, to y, the robot's left."""
_GROWTH, _RESOLUTION, _MOST = 0.1, 0.05, 3.0


def distance_to_edge(corners: Array, point: Array, angle: float) -> float:
    """m from a point (2,) in a convex polygon, corners (n, 2) counter-clockwise, to its border in a direction."""
    along = np.roll(corners, -1, axis=0) - corners
    outward = np.stack([along[:, 1], -along[:, 0]], axis=1)
    speed = outward @ np.array([math.cos(angle), math.sin(angle)])
    room = ((corners - point) * outward).sum(axis=1)
    return float((room[speed > 1e-12] / speed[speed > 1e-12]).min())


def greatest_force(standing: Standing, angle: float) -> float:
    """N that the linear pendulum survives for the time of a push."""
    d = distance_to_edge(standing.polygon.corners, standing.center[:2], angle)
    return standing.robot.mass * standing.omega**2 * d / (1.0 - math.exp(-standing.omega * PUSH))


@dataclass(frozen=True, eq=False)
class Push:
    """A push of ``ratio`` times what the pendulum survives, and what came of it."""

    angle: float
    ratio: float
    force: float
    run: Run

    @property
    def impulse(self) -> float:
        """N s."""
        return self.force * PUSH

    @property
    def moved(self) -> float:
        """m of the feet."""
        return self.run.standing.feet_moved(self.run.trajectory.q)

    @property
    def survived(self) -> bool:
        return self.run.stood and self.run.speed < RESTS and self.moved < STAYS

    @property
    def why(self) -> str:
        """What went wrong, or ""."""
        if self.run.loop.fell is not None:
            return f"fell at {self.run.loop.fell:.2f} s"
        if not self.run.stood:
            return f"touched by {', '.join(sorted(self.run.standing.others(self.run.trajectory.about['touched'])))}"
        if self.run.speed >= RESTS:
            return f"moves at {self.run.speed:.2f} m/s"
        return f"a foot moved by {100.0 * self.moved:.1f} cm" if self.moved >= STAYS else ""


def push(
    standing: Standing, controller: Law, angle: float, ratio: float, *, after: float = AFTER, every: int = 20
) -> Push:
    """Push the pelvis horizontally with a constant force."""
    force = ratio * greatest_force(standing, angle)
    times = BEFORE, PUSH, after
    wrench = np.zeros((round(sum(times) / DT), 6))
    begin, end = round(BEFORE / DT), round((BEFORE + PUSH) / DT)
    wrench[begin:end, :2] = force * np.array([math.cos(angle), math.sin(angle)])
    acting: dict[str, Any] = {"wrenches": {standing.pelvis: wrench}, "expressed": "aligned"}
    return Push(angle, ratio, force, run(standing, controller, len(wrench) * DT, every=every, **acting))


def growing(
    standing: Standing, controller: Law, angle: float, first: float = 0.7, resolution: float = _RESOLUTION
) -> Iterator[Push]:
    """Pushes that grow until the robot falls, or shrink until it stands, then those between, to a resolution."""
    survived, failed, ratio = 0.0, math.inf, first
    while failed - survived > resolution * 1.001 and 0.0 < ratio < _MOST:
        tried = push(standing, controller, angle, ratio)
        yield tried
        survived, failed = (ratio, failed) if tried.survived else (survived, ratio)
        if math.isinf(failed):
            ratio += _GROWTH
        elif survived == 0.0:
            ratio -= 2.0 * _GROWTH
        else:
            ratio = 0.5 * (survived + failed)
