"""What a controller commands where it has no solution: it brakes within its limits, then holds still."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.core.command_constraint import CommandConstraint
from dqdyn.control.features.components import is_finite
from dqdyn.control.limits.per_axis import AccelerationLimits, PerAxis
from dqdyn.control.qp.solver import HOLDS
from dqdyn.model.model import Model


class CommandMap(Protocol):
    """The command of (q, v, u), of controllers whose command is not u itself."""

    def __call__(self, q: Array, v: Array, u: Array) -> Array:
        """The command (nv,)."""

    def later(self, q: Array, v: Array, dt: float) -> Array:
        """q after dt (s) at v."""


RATE = 10.0  # 1/s, of v̇ = −k v where no limit requires less
PER_STEP = 0.5  # of the speed that a long step may take away, so that braking does not overshoot
PAUSE = 0.1  # s, up to which the velocity is predicted from the last acceleration
_STILL = 1e-3  # rad/s or m/s, below which braking counts as done


class Brake:
    """Commands without a solution, and the limits that no command exceeds.

    By velocity the last command shrinks to zero, all axes by the same factor, so that the robot stays on its path and
    no axis changes faster than :class:`AccelerationLimits` allow; without such limits it is zero at once. By
    acceleration v̇ = −k v, shrunk by one factor to obey these limits; where v is not measured it is predicted from the
    last one and the accelerations since. By torque that is τ = M v̇ + n, cut off at :class:`TorqueLimits`; where q is
    not measured it is predicted from the last one likewise. Before anything was measured all commands are zero.
    """

    def __init__(
        self, model: Model, level: str, constraints: Sequence[CommandConstraint], command_map: CommandMap | None
    ) -> None:
        self.level, self._command_map = level, command_map
        limits = [c for c in constraints if isinstance(c, PerAxis)]
        free = np.full(model.nv, math.inf)
        hard = [c.limit for c in limits if c.limited == level and not c.gives_way(level)]
        self.limit = np.minimum.reduce([free, *hard])
        per_step = [c.change() if level == "velocity" else c.limit for c in limits if isinstance(c, AccelerationLimits)]
        self.slow = np.minimum.reduce([free, *per_step])
        self._is_limited = bool(np.isfinite(self.limit).any())
        self.reset()

    def reset(self) -> None:
        """Forget what was measured and commanded."""
        self._t: float | None = None
        self._step = 0.0
        self._q: Array | None = None
        self._v = self._u = np.zeros(len(self.limit))

    def take_over(self, other: Brake) -> None:
        """Brake from the state and the command that another one remembers."""
        self._t, self._step, self._q = other._t, other._step, other._q
        self._v, self._u = other._v.copy(), other._u.copy()

    def remember(self, t: float, q: Array | None, v: Array, u: Array) -> None:
        """The state of a step, q where it is known, and u, the velocity or acceleration that was commanded."""
        if self.level != "velocity":
            if self._t is not None:
                self._step = t - self._t
            self._v = v.copy()
            if self._command_map is not None and q is not None:
                self._q = q.copy()
        self._t, self._u = t, u

    def accepts(self, command: Array) -> bool:
        """Whether a command is finite and within its limits; what it exceeds them by rounding is cut off."""
        if not is_finite(command):
            return False
        if self._is_limited:
            cut = self._cut(command)
            if np.abs(cut - command).max() > HOLDS:
                return False
            command[:] = cut
        return True

    def __call__(self, t: float, q: Array | None, v: Array | None) -> tuple[Array, bool]:
        """The command at time t, and whether the robot is to be at rest; None for q and v that are not usable."""
        if self.level == "velocity":
            command = self._slower()
            self.remember(t, command, command, command)
            return command.copy(), not command.any()
        for state, velocity in self._states(t, q, v):
            a = self._against(velocity)
            if not is_finite(a):
                continue
            command = a
            if self._command_map is not None:
                command = np.zeros(len(a)) if state is None else self._command_map(state, velocity, a)
            if is_finite(command):
                self.remember(t, state, velocity, a)
                return self._cut(command), self._is_still(velocity if v is None else v)
        return np.zeros(len(self.limit)), v is None or self._is_still(v)

    def _is_still(self, v: Array) -> bool:
        return bool(np.abs(v).max(initial=0.0) < _STILL)

    def _slower(self) -> Array:
        """The last velocity, shrunk by as much as its limits of change allow."""
        share = self._share(self._u)
        return self._cut(self._u * (1.0 - share) if share < 1.0 else np.zeros(len(self._u)))

    def _share(self, v: Array) -> float:
        """The largest factor of v that no axis changes by more than its limit."""
        speed = np.abs(v)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return float(np.where(speed == 0.0, math.inf, self.slow / speed).min(initial=math.inf))

    def _states(self, t: float, q: Array | None, v: Array | None) -> Iterator[tuple[Array | None, Array]]:
        """States to brake from, the best known first."""
        since = 0.0 if self._t is None or not t > self._t else min(t - self._t, PAUSE)
        with np.errstate(over="ignore", invalid="ignore"):
            predicted = self._v + since * self._u
            mean = self._v + 0.5 * since * self._u
        if q is None and self._q is not None and self._command_map is not None and is_finite(mean):
            q = self._command_map.later(self._q, mean, since)
        if v is not None:
            yield q, v
        yield q, predicted
        yield q, np.zeros(len(self.limit))
        if self._q is not None:
            yield self._q, np.zeros(len(self.limit))

    def _against(self, v: Array) -> Array:
        """−k v, shrunk until no axis exceeds its limit."""
        rate = min(RATE, PER_STEP / self._step) if self._step > 0.0 else RATE
        with np.errstate(over="ignore", invalid="ignore"):
            return -min(rate, self._share(v)) * v

    def _cut(self, command: Array) -> Array:
        return np.minimum(np.maximum(command, -self.limit), self.limit) if self._is_limited else command.copy()
