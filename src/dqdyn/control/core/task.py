"""The base of tasks: an error that shall vanish.

A task says what its error is, over any scalar; Jacobian, residual of a moving target and rates follow by jets. At the
level of velocities a task requires ė = −η e, at that of accelerations for ë = −k_d ė − k_p e.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict

import numpy as np

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
    ``weight`` among the tasks of one level; ``within``: half widths of the region around the target, per component of
    the error, inside which the task is inactive; ``name`` for reports.
    """

    gain: float | RealArray
    gains: GainPair | None
    weight: float
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
        weight: float = 1.0,
        within: RealArray | float | None = None,
        name: str | None = None,
    ) -> None:
        self.name, self.features, self.signals = default_name if name is None else name, features, signals
        several = isinstance(gain, (list, tuple)) or (isinstance(gain, np.ndarray) and gain.ndim > 0)
        self.gain_factors = _gain_factors(gain, gains, self.name) if several else None
        self.gain = positive(gain if self.gain_factors is None else 1.0, f"gain of {self.name}")
        self.gains = second_order(self.gain, gains, self.name, critical=True)
        self.weight = positive(weight, f"weight of {self.name}")
        self.within = None if within is None else np.atleast_1d(real_array(within, f"within of {self.name}"))
        if self.within is not None and not (np.isfinite(self.within) & (self.within >= 0.0)).all():
            raise refused(f"within of {self.name} must be numbers from 0", within)

    @abstractmethod
    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        """e for components of the features and of the signals."""

    def rows(self, state: State, given: Sequence[SignalMotion]) -> Rows:
        return self.with_gain_factors(super().rows(state, given))

    def with_gain_factors(self, rows: Rows) -> Rows:
        """The rows with one gain per component, where the user gives them: η, or 3η and 2η² of the second order."""
        if self.gain_factors is None:
            return rows
        size, eta = len(rows.value), self.gain_factors
        if len(eta) != size:
            wanted = f"gain of {self.name} has one number, or one per component of the error, {size}"
            raise refused(wanted, len(eta), expected=size)
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
    eta = real_array(gain, f"gain of {name}")
    if eta.ndim != 1:
        raise refused(f"gain of {name} has one number, or one per component of the error", gain)
    return np.array([positive(float(c), f"gain of {name}") for c in eta])


def _outside(e: Scalar, width: float) -> Scalar:
    """e beyond ±width, 0 inside."""
    return select(less(width, e), e - width, select(less(e, -width), e + width, 0.0))
