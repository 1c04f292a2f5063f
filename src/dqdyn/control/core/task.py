"""The base of tasks: an error that shall vanish.

A task says what its error is, over any scalar; Jacobian, residual of a moving target and rates follow by jets. At the
level of velocities a task requires ė = −η e, at that of accelerations for ë = −k_d ė − k_p e.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TypedDict

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar, less, select
from dqdyn.arrays import RealArray
from dqdyn.control.core.errors import refused
from dqdyn.control.core.settings import GainPair, positive, second_order
from dqdyn.control.core.term import Features, Parts, Signals, Term
from dqdyn.control.features.features import Feature
from dqdyn.control.features.pairs import Pair


class TaskOptions(TypedDict, total=False):
    """What every task takes by keyword.

    ``gain`` η in 1/s: the rate of decay at both levels; ``gains`` (k_d, k_p) sets those of the second order instead.
    ``weight`` among the tasks of one level; ``within``: half widths of the region around the target, per component of
    the error, inside which the task is inactive; ``name`` for reports.
    """

    gain: float
    gains: GainPair | None
    weight: float
    within: RealArray | float | None
    name: str


class Task(Term):
    """An error e of the robot, to be driven to zero."""

    instead_of_equality = ""
    """Why not among the constraints: what to do instead, where the rows of the error depend on each other."""

    def __init__(
        self,
        default_name: str,
        features: Features,
        signals: Signals,
        *,
        gain: float = 1.0,
        gains: GainPair | None = None,
        weight: float = 1.0,
        within: RealArray | float | None = None,
        name: str | None = None,
    ) -> None:
        self.name, self.features, self.signals = default_name if name is None else name, features, signals
        self.gain, self.gains = positive(gain, f"gain of {self.name}"), second_order(gain, gains, self.name)
        self.weight = positive(weight, f"weight of {self.name}")
        self.within = None if within is None else np.atleast_1d(real_array(within, f"within of {self.name}"))
        if self.within is not None and not (np.isfinite(self.within) & (self.within >= 0.0)).all():
            raise refused(f"within of {self.name} must be numbers from 0", within)

    @abstractmethod
    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        """e for components of the features and of the signals."""

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


def _outside(e: Scalar, width: float) -> Scalar:
    """e beyond ±width, 0 inside."""
    return select(less(width, e), e - width, select(less(e, -width), e + width, 0.0))
