"""The inequalities of a running loop: activated at the first step, and again where the state or an obstacle jumped."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Collection, Iterable

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.core.composition import Composition
from dqdyn.control.core.errors import ControlWarning
from dqdyn.control.core.lemma import Activation, automatic_gains, fast_pole

# What tells the loss of a condition from the error of a step near the boundary: how many steps away that is, for a rate
# that changed by so much of itself in one step, and for one that is so many times too fast.
SUDDEN, SUDDEN_STEPS = 0.5, 10.0
FAST, FAST_STEPS = 2.0, 50.0
DRIFT, ROUNDING = 10.0, 1e-6  # of h per s that obstacles may move at though their rate is unknown, and of h
_PACKAGE = "dqdyn."
HIGHEST = 0.25  # of η_d times the step, up to which a loop follows


class Supervisor:
    """Checks Lemma 4.1 for every second-order inequality when it becomes active, and watches it from then on.

    As long as its bound is obeyed ḣ ≥ −ρ h stays true, the condition :attr:`Activation.sharp`. Where it fails in spite
    of that, something jumped, and the inequality is activated again.
    """

    _h: Array
    _rate: Array
    _pole: Array
    _base: Array

    def __init__(self, composition: Composition) -> None:
        self.composition = composition
        self._given = composition.gains.copy()
        self._has_rates = composition.level != "velocity"
        self._is_automatic = [owner.has_automatic_gains for owner in composition.guard_owners]
        self.reset()

    def reset(self) -> None:
        """The next step is the first one."""
        self.composition.gains[:] = self._given
        self._activations: dict[int, Activation] = {}
        self._is_new = True
        self._t = self._step = 0.0
        self._raised: set[int] = set()
        self._told: set[int] = set()
        self._coming: list[int] = []
        self._known_constraints: set[str] = set()

    def take_over(self, other: Supervisor) -> None:
        """Go on where another one ended, in another composition.

        What both supervise, by name and kind, stays active as it was; the next step activates the rest.
        """
        self.reset()
        if other._is_new:
            return
        theirs = {key: i for i, key in enumerate(other._keys())}
        kept = {i: theirs[key] for i, key in enumerate(self._keys()) if key in theirs}
        self._is_new, self._t, self._step = False, other._t, other._step
        self._activations = {i: other._activations[j] for i, j in kept.items() if j in other._activations}
        self._raised = {i for i, j in kept.items() if j in other._raised}
        self._told = {i for i, j in kept.items() if j in other._told}
        count, gains = len(self.composition.guards), self.composition.gains
        self._coming = [i for i in range(count) if i not in kept]
        self._known_constraints = {constraint.name for constraint in other.composition.design.constraints}
        self._h = np.zeros(count)
        if self._has_rates:
            self._rate, self._pole, self._base = np.zeros(count), np.zeros(count), gains.copy()
        for i, j in kept.items():
            mine, their = self.composition.guard_gains[i], other.composition.guard_gains[j]
            gains[mine], self._h[i] = other.composition.gains[their], other._h[j]
            if self._has_rates:
                self._rate[i], self._pole[i], self._base[mine] = other._rate[j], other._pole[j], other._base[their]

    def _keys(self) -> list[tuple[str, type]]:
        """Name and kind of everything that is supervised."""
        owners = self.composition.guard_owners
        return [(name, type(owner)) for name, owner in zip(self.composition.guards, owners, strict=True)]

    @property
    def given_gains(self) -> Array:
        """All gains as they were given (..., 2)."""
        return self._given

    @property
    def activations(self) -> tuple[Activation, ...]:
        """The last activation of each inequality."""
        return tuple(self._activations[i] for i in sorted(self._activations))

    def changes(self, t: float, v: Array, excused: Collection[str] | None) -> bool:
        """Whether gains changed at this step; ``excused`` are those that gave way at the last one, None for all."""
        if self._is_new or t < self._t:
            return self._start(t, v)
        changed = self._join(t, v) if self._coming or self._known_constraints else False
        if self._has_rates and len(self._pole):
            h, rates = self.composition.views["h"], self.composition.views["h_rate"]
            margin = rates + self._pole * h
            if margin[margin.argmin()] >= 0.0:
                self._told.clear()
            elif excused is not None:
                changed = self._reactivate(t, margin, excused) or changed
            if self._raised:
                changed = self._lower(t) or changed
            self._h[:], self._rate[:] = h, rates
            self._step = t - self._t or self._step
        self._t = t
        return changed

    def _start(self, t: float, v: Array) -> bool:
        self.reset()
        self._is_new, self._t = False, t
        composition = self.composition
        self._h = composition.views["h"].copy()
        self._warn_of_violations(range(len(self._h)), v, "at the start")
        if not self._has_rates:
            return False
        self._rate, self._pole = composition.views["h_rate"].copy(), np.zeros(len(self._h))
        for i in range(len(self._h)):
            self._activate(i, t, math.inf)
        self._base = composition.gains.copy()
        return True

    def _join(self, t: float, v: Array) -> bool:
        """Activate what was not supervised before."""
        coming, self._coming = self._coming, []
        self._warn_of_violations(coming, v, f"from t = {t:.6g} s on")
        self._known_constraints = set()
        self._h[coming] = self.composition.views["h"][coming]
        if not (self._has_rates and coming):
            return False
        self._rate[coming] = self.composition.views["h_rate"][coming]
        for i in coming:
            self._activate(i, t, math.inf)
            mine = self.composition.guard_gains[i]
            self._base[mine] = self.composition.gains[mine]
        return True

    def _warn_of_violations(self, which: Iterable[int], v: Array, since: str) -> None:
        """A warning for each of these, and for each constraint that is not known yet, that is violated."""
        composition = self.composition
        for i in which:
            h = float(composition.views["h"][i])
            if h < 0.0:
                _warn(f"{composition.guards[i]!r} is violated {since} by {-h:.4g}; the robot first has to get back.")
        if not self._has_rates:
            return
        for constraint in composition.design.constraints:
            if constraint.name in self._known_constraints:
                continue
            for name, amount in constraint.exceeded(composition.model, v):
                _warn(f"{name!r} is violated {since} by {amount:.4g}; the robot first has to slow down.")

    def _reactivate(self, t: float, margin: Array, excused: Collection[str]) -> bool:
        """Activate again what lost its condition by more than the error of a step."""
        changed = False
        steps = [s for s in (t - self._t, self._step) if s > 0.0]
        step = min(steps, default=0.0)  # the loop's own, also after a pause
        negative = np.flatnonzero(margin < 0.0).tolist()
        self._told.intersection_update(negative)
        for i in negative:
            h, rate = self._motion(i)
            if self.composition.guards[i] in excused or not self._is_lost(i, h, rate, step):
                continue
            helps = self._is_automatic[i] and h > 0.0
            if helps or i not in self._told:
                self._activate(i, t, HIGHEST / step if step > 0.0 else math.inf)
                changed = True
        return changed

    def _is_lost(self, i: int, h: float, rate: float, step: float) -> bool:
        """Whether ḣ < −ρ h is more than the error of a step."""
        last = float(self._rate[i])
        fell = h < self._h[i] + step * (2.0 * min(rate, last, 0.0) - DRIFT) - ROUNDING
        if fell or h <= 0.0:
            return bool(fell)
        far = -h / (rate * step) if step > 0.0 else math.inf
        if last - rate > -SUDDEN * rate and far > SUDDEN_STEPS:
            return True
        # Without a jump gains may rise, without a warning: long steps do this to given gains.
        return bool(self._is_automatic[i] and rate < -FAST * self._pole[i] * h and far > FAST_STEPS)

    def _lower(self, t: float) -> bool:
        """Gains that were raised while the loop ran go back where the lemma holds with the former ones."""
        raised = tuple(self._raised)
        for i in raised:
            former = Activation(self.composition.guards[i], *self._motion(i), *self._pair(self._base, i), t)
            if former.holds:
                self._set(i, former)
                self._raised.discard(i)
        return len(self._raised) < len(raised)

    def _activate(self, i: int, t: float, highest: float) -> None:
        composition, first = self.composition, i not in self._activations
        name, pair = composition.guards[i], self._pair(composition.gains, i)
        h, rate = self._motion(i)
        if self._is_automatic[i]:
            pair = automatic_gains(pair, h, rate, highest)
            if not first:
                self._raised.add(i)
        activation = Activation(name, h, rate, *pair, t)
        self._set(i, activation)
        if not activation.sharp:
            self._told.add(i)
        if h < 0.0 and not first:
            _warn(f"{name!r} is violated from t = {t:.6g} s on by {-h:.4g}; the robot first has to get back.")
        elif not activation.holds and activation.starts_inside:
            since = "" if first else f" from t = {t:.6g} s on"
            _warn(f"Lemma 4.1 does not hold for {name!r}{since}: {' and '.join(activation.failing)}.")

    def _motion(self, i: int) -> tuple[float, float]:
        """h of a guard and its rate at this step."""
        return float(self.composition.views["h"][i]), float(self.composition.views["h_rate"][i])

    def _pair(self, gains: Array, i: int) -> tuple[float, float]:
        """The pair that belongs to a guard, out of all gains."""
        eta_d, eta_p = gains[self.composition.guard_gains[i]].tolist()
        return eta_d, eta_p

    def _set(self, i: int, activation: Activation) -> None:
        self.composition.gains[self.composition.guard_gains[i]] = activation.eta_d, activation.eta_p
        self._pole[i] = fast_pole(activation.eta_d, activation.eta_p)
        self._activations[i] = activation


def _warn(text: str) -> None:
    """A warning at the line outside of this library that called the controller."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, ControlWarning, stacklevel=level)
