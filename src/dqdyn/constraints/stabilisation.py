"""How a simulation keeps a robot on its constraints, from which rounding and integration let it drift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dqdyn.errors import Error


@dataclass(frozen=True)
class Baumgarte:
    """Errors decay as a critically damped spring does: ë + 2ρ ė + ρ² e = 0 with ``rate`` ρ in 1/s.

    Nonholonomic errors, which have no e, decay as ë + ρ ė = 0. It acts in forward dynamics:
    A a = b − 2ρ(A v − b_v) − ρ²e.
    """

    rate: float = 20.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.rate < float("inf"):
            raise Error(f"the rate of a Baumgarte stabilisation is in 1/s and not negative; found {self.rate}.")


@dataclass(frozen=True)
class Projection:
    """A simulation brings every state back on the constraints by ``robot.project``; forward dynamics is untouched."""


Stabilisation = Baumgarte | Projection
StabilisationChoice = Stabilisation | Literal["baumgarte", "projection", False] | None


def from_numbers(numbers: tuple[float, ...] | None) -> Stabilisation | None:
    """As a description holds it: None, () for a projection, (rate,) for Baumgarte's."""
    if numbers is None:
        return None
    return Baumgarte(*numbers) if numbers else Projection()


def to_numbers(value: Stabilisation | None) -> tuple[float, ...] | None:
    """The inverse of :func:`from_numbers`."""
    if value is None:
        return None
    return (float(value.rate),) if isinstance(value, Baumgarte) else ()


def as_stabilisation(value: StabilisationChoice) -> Stabilisation | None:
    """A stabilisation, "baumgarte" or "projection" for one with its usual numbers, or None or False for none."""
    if value is None or value is False:
        return None
    if isinstance(value, (Baumgarte, Projection)):
        return value
    if value in ("baumgarte", "projection"):
        return Baumgarte() if value == "baumgarte" else Projection()
    raise Error(f"stabilisation is False, 'baumgarte', 'projection', Baumgarte(rate) or Projection(); found {value!r}.")
