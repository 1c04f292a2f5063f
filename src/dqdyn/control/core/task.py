"""The base of tasks: an error that shall vanish.

A task says what its error is, over any scalar; Jacobian, residual of a moving target and rates follow by jets. At the
level of velocities a task requires ė = −η e, at that of accelerations for ë = −k_d ė − k_p e.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence, Sized
from dataclasses import replace
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar, less, select
from dqdyn.arrays import Array, RealArray
from dqdyn.control.core.errors import refused
from dqdyn.control.core.kinematics import Rows, SignalMotion, State
from dqdyn.control.core.settings import GainPair, positive, second_order
from dqdyn.control.core.term import Features, Parts, Signals, Term
from dqdyn.control.features.features import Feature
from dqdyn.control.features.pairs import Pair


class TaskOptions(TypedDict, total=False):
    """What every task takes by keyword.

    ``gain`` η in 1/s: the rate of decay at both levels, one number or one per component of the error; ``gains``
    (k_d, k_p) sets those of the second order instead, critically damped or slower: k_d² ≥ 4 k_p.
    ``weight`` among the tasks of one level, one number or one per component; ``mask``: 1 or 0 per component, those with
    0 are left alone, as if the task had no such rows; ``within``: half widths of the region around the target, per
    component of the error, inside which the task is inactive; ``name`` for reports. What is given per component is
    given for all of them, masked or not.
    """

    gain: float | RealArray
    gains: GainPair | None
    weight: float | RealArray
    mask: RealArray | None
    within: RealArray | float | None
    name: str


class Task(Term):
    """An error e of the robot, to be driven to zero."""

    instead_of_equality = ""
    """Why not among the constraints: what to do instead, where the rows of the error depend on each other."""
    instead_of_velocities = ""
    """Why not in a controller by velocity: what to do instead, where the task is a law of accelerations."""

    def __init__(
        self,
        default_name: str,
        features: Features,
        signals: Signals,
        *,
        gain: float | RealArray = 1.0,
        gains: GainPair | None = None,
        weight: float | RealArray = 1.0,
        mask: RealArray | None = None,
        within: RealArray | float | None = None,
        name: str | None = None,
    ) -> None:
        self.name, self.features, self.signals = default_name if name is None else name, features, signals
        self.gain_factors = _gain_factors(gain, gains, self.name) if _are_several(gain) else None
        self.gain = positive(gain if self.gain_factors is None else 1.0, f"gain of {self.name}")
        self.gains = second_order(self.gain, gains, self.name, critical=True)
        self.mask = None if mask is None else _mask(mask, self.name)
        self.weights = _per_component(weight, "weight", self.name) if _are_several(weight) else None
        self.weight = positive(weight if self.weights is None else float(self.weights.max()), f"weight of {self.name}")
        self.within = None if within is None else np.atleast_1d(real_array(within, f"within of {self.name}"))
        if self.within is not None and not (np.isfinite(self.within) & (self.within >= 0.0)).all():
            raise refused(f"within of {self.name} must be numbers from 0", within)

    @abstractmethod
    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        """e for components of the features and of the signals."""

    def rows(self, state: State, given: Sequence[SignalMotion]) -> Rows:
        return self.chosen_rows(super().rows(state, given))

    def chosen_rows(self, rows: Rows) -> Rows:
        """The rows with one gain per component, where the user gives them, without those that the mask leaves out."""
        rows = self.with_gain_factors(rows)
        if self.mask is None:
            return rows
        self._require_size("mask", self.mask, len(rows.value))
        return rows.chosen(np.flatnonzero(self.mask).tolist())

    def row_weights(self, count: int) -> list[float]:
        """The weight of each of the ``count`` rows that the task has in a cost."""
        if self.weights is None:
            return [self.weight] * count
        kept = self.weights
        if self.mask is not None:
            self._require_size("weight", kept, len(self.mask))
            kept = kept[self.mask]
        self._require_size("weight", kept, count)
        return list(map(float, kept))

    def _require_size(self, what: str, given: Sized, size: int) -> None:
        """An error where something is not given once per component of the error."""
        if len(given) != size:
            one = "" if what == "mask" else "one number, or "
            wanted = f"{what} of {self.name} has {one}one per component of the error, {size}"
            raise refused(wanted, len(given), expected=size, task=self.name)

    def with_gain_factors(self, rows: Rows) -> Rows:
        """The rows with one gain per component, where the user gives them: η, or 3η and 2η² of the second order."""
        if self.gain_factors is None:
            return rows
        size, eta = len(rows.value), self.gain_factors
        self._require_size("gain", eta, size)
        of_value = eta if rows.rate is None else eta**2
        return replace(rows, gain_matrices=(np.diag(eta).tolist(), np.diag(of_value).tolist()))

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        """The error, or how far it is outside of the region."""
        e = list(self.error(robot, given))
        if self.within is None:
            return e
        if len(self.within) not in (1, len(e)):
            wanted = f"within of {self.name} has one number, or one per component of the error, {len(e)}"
            raise refused(wanted, len(self.within), expected=len(e))
        return [_outside(c, float(w)) for c, w in zip(e, np.broadcast_to(self.within, len(e)), strict=True)]

    def components_at_target(self, feature: Feature) -> list[Scalar] | None:
        """Components of a feature where the task is met at t = 0: NaN for those left open, None where all are."""
        return None

    def distance_at_target(self, pair: Pair) -> Scalar | None:
        """The distance of a pair, by its own function, where the task is met at t = 0; None where it is left open."""
        return None


def _gain_factors(gain: float | RealArray, gains: GainPair | None, name: str) -> Array:
    """One η per component."""
    if gains is not None:
        raise refused(f"{name} takes gains=(k_d, k_p), or one gain per component, not both", gain)
    return _per_component(gain, "gain", name)


def _are_several(given: object) -> bool:
    """Whether something is given per component, and not as one number for all."""
    return isinstance(given, (list, tuple)) or (isinstance(given, np.ndarray) and given.ndim > 0)


def _per_component(given: float | RealArray, what: str, name: str) -> Array:
    """Numbers above 0, one per component."""
    values = real_array(given, f"{what} of {name}")
    if values.ndim != 1 or not len(values):
        raise refused(f"{what} of {name} has one number, or one per component of the error", given)
    if what == "weight" and (values == 0.0).any():
        raise refused(f"weight of {name} must be numbers above 0; use mask= to leave components alone", given)
    return np.array([positive(float(c), f"{what} of {name}") for c in values])


def _mask(given: RealArray, name: str) -> npt.NDArray[np.bool_]:
    """Which components count."""
    flags = real_array(given, f"the mask of {name}")
    if flags.ndim != 1 or not np.isin(flags, (0.0, 1.0)).all() or not flags.any():
        raise refused(f"mask of {name} has 1 or 0 per component of the error, and not all 0", given, task=name)
    return flags.astype(bool)


def _outside(e: Scalar, width: float) -> Scalar:
    """e beyond ±width, 0 inside."""
    return select(less(width, e), e - width, select(less(e, -width), e + width, 0.0))
