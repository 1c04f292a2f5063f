"""The base of tasks: an error that shall vanish.

A task says what its error is, over any scalar; Jacobian, residual of a moving target and rates follow by jets. At the
level of velocities a task asks for ė = −η e, at that of accelerations for ë = −k_d ė − k_p e.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, TypedDict

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar, less, select
from dqdyn.control.core.term import Parts, Quantity
from dqdyn.control.features.features import Thing
from dqdyn.control.features.signals import Signal
from dqdyn.errors import Error


class Settings(TypedDict, total=False):
    """What every task takes by keyword.

    ``gain`` η in 1/s: the rate of decay at both levels; ``gains`` (k_d, k_p) sets those of the second order instead.
    ``weight`` among the tasks of one level; ``within``: half widths of the region around the target, per component of
    the error, inside which the task asks for nothing; ``name`` for reports.
    """

    gain: float
    gains: tuple[float, float] | None
    weight: float
    within: Any
    name: str


class Task(Quantity):
    """An error e of the robot, to be driven to zero."""

    instead_of_equality = ""
    """Why not among the constraints: what to do instead, where the rows of the error depend on each other."""

    def __init__(
        self,
        default_name: str,
        things: tuple[Thing, ...],
        signals: tuple[Signal, ...],
        *,
        gain: float = 1.0,
        gains: tuple[float, float] | None = None,
        weight: float = 1.0,
        within: Any = None,
        name: str | None = None,
    ) -> None:
        self.name, self.things, self.signals = default_name if name is None else name, things, signals
        self.gain, self.gains = positive(gain, f"gain of {self.name}"), second_order(gain, gains, self.name)
        self.weight = positive(weight, f"weight of {self.name}")
        self.within = None if within is None else np.atleast_1d(real_array(within, f"within of {self.name}"))
        if self.within is not None and not (np.isfinite(self.within) & (self.within >= 0.0)).all():
            raise Error(f"within of {self.name} must be numbers from 0; found {within!r}.", found=within)

    @abstractmethod
    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        """e for components of the things and of the signals."""

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        """The error, or how far it is outside of the region."""
        e = list(self.error(robot, given))
        if self.within is None:
            return e
        if len(self.within) not in (1, len(e)):
            raise Error(
                f"within of {self.name} has one number, or one per component of the error, {len(e)}; "
                f"found {len(self.within)}.",
                expected=len(e),
                found=len(self.within),
            )
        return [_outside(c, float(w)) for c, w in zip(e, np.broadcast_to(self.within, len(e)), strict=True)]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


def _outside(e: Scalar, width: float) -> Scalar:
    """e beyond ±width, 0 inside."""
    return select(less(width, e), e - width, select(less(e, -width), e + width, 0.0))


LARGEST = 1e100
"""Of gains, weights and damping."""


def positive(value: float, what: str) -> float:
    """The number, if it is one above zero."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float, np.integer, np.floating))
        or not 0.0 < value < np.inf
    ):
        raise Error(f"The {what} must be a number above 0; found {value!r}.", found=value)
    return fair(value, f"The {what}")


def fair(value: float, what: str) -> float:
    """The number, if its square is finite too."""
    if abs(value) > LARGEST:
        raise Error(f"{what} is too large: give a number up to {LARGEST:g}.", found=value)
    return float(value)


def second_order(gain: float, gains: tuple[float, float] | None, name: str) -> tuple[float, float]:
    """(k_d, k_p): as given, with k_d² > 4 k_p, or with the poles −η and −2η, so that η is the rate of decay."""
    if gains is None:
        return 3.0 * float(gain), 2.0 * float(gain) ** 2
    try:
        d, p = gains
    except (TypeError, ValueError):
        raise Error(f"gains of {name} are two numbers (k_d, k_p); found {gains!r}.", found=gains) from None
    d, p = positive(d, f"first of the gains of {name}"), positive(p, f"second of the gains of {name}")
    if d * d <= 4.0 * p:
        raise Error(
            f"gains of {name} oscillate: k_d² = {d * d:.6g} must exceed 4 k_p = {4 * p:.6g}; raise the first or lower "
            "the second.",
            found=(d, p),
        )
    return d, p
