"""What every constraint of a controller gives: sides ``left ≤ normal · u ≤ right`` on the command u.

u is v at the level of velocities and v̇ at that of accelerations. Everything here runs over any scalar.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from dqdyn.algebra.scalar import Scalar
from dqdyn.caching import cached_property
from dqdyn.control.core.differentiate import Given
from dqdyn.control.core.state import State
from dqdyn.control.features.signals import Signal
from dqdyn.model.model import Model

Matrix = list[list[Scalar]]


@dataclass(frozen=True)
class Side:
    """A bound on the command: on one component of it (``axis``), or on ``normal`` · u.

    ``h`` ≥ 0 is what the bound protects, with its ``rate``; ``gains`` is the index of its pair of gains.
    """

    name: str
    right: Scalar | None
    left: Scalar | None = None
    axis: int | None = None
    normal: list[Scalar] = field(default_factory=list)
    h: Scalar | None = None
    rate: Scalar | None = None
    gains: int | None = None


@dataclass
class Context:
    """The state at which a controller's program is traced."""

    model: Model
    level: str
    q: list[Scalar]
    v: list[Scalar]
    given: Callable[[Signal], Given]
    gains: list[tuple[Scalar, Scalar]]
    task_errors: list[Scalar] = field(default_factory=list)
    task_rates: list[Scalar] = field(default_factory=list)
    taken: int = 0
    dynamics: Callable[[list[Scalar], list[Scalar]], tuple[Matrix, list[Scalar]]] | None = None

    @cached_property
    def state(self) -> State:
        return State(self.model, self.q, self.v if self.level == "acceleration" else None)

    @cached_property
    def mass_and_bias(self) -> tuple[Matrix, list[Scalar]]:
        """M and n of M v̇ + n = τ."""
        assert self.dynamics is not None
        return self.dynamics(self.q, self.v)

    def next_gains(self) -> tuple[int, Scalar, Scalar]:
        """Index and values of the next pair of gains."""
        index = self.taken
        self.taken += 1
        return index, *self.gains[index]


class Constraint(ABC):
    """A named bound on the command. ``relaxable=False``: not even the policy "relax" gives way here."""

    name: str
    signals: tuple[Signal, ...] = ()
    levels: tuple[str, ...] = ("velocity", "acceleration", "torque")
    relaxable: bool | None = True

    def gives_way(self, level: str) -> bool:
        """Whether the policy "relax" may give way here, in a controller of that level."""
        return bool(self.relaxable)

    def bound(self, model: Model) -> Self:
        """The constraint for one robot; raises on unknown frames and missing limits."""
        return self

    @abstractmethod
    def initial_gains(self, model: Model, level: str) -> list[tuple[float, float]]:
        """A pair of gains for every side that has them."""

    @abstractmethod
    def sides(self, context: Context) -> list[Side]:
        """The bounds at a state."""

    def automatic(self) -> bool:
        """Whether gains are chosen at activation."""
        return False

    def exceeded(self, model: Model, v: np.ndarray) -> list[tuple[str, float]]:
        """What the velocities v (nv,) themselves violate, by how much: bounds on accelerations cannot undo that."""
        return []

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"
