"""The base of constraints of a controller: bounds ``left ≤ normal · u ≤ right`` on the command u.

u is v at the level of velocities and v̇ at that of accelerations. Everything here runs over any scalar.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import Array
from dqdyn.caching import cached_property
from dqdyn.control.core.errors import refused
from dqdyn.control.core.kinematics import Rows, SignalMotion, State
from dqdyn.control.core.settings import Gains, positive, second_order
from dqdyn.control.core.term import ControlPart
from dqdyn.control.features.signals import Signal
from dqdyn.control.qp.solver import INFINITE
from dqdyn.model.model import Model

if TYPE_CHECKING:
    from dqdyn.control.core.task import Task

Matrix = list[list[Scalar]]
MassAndBias = tuple[Matrix, list[Scalar]]
"""M and n of M v̇ + n = τ."""
Relax = bool | None
"""Whether the policy "relax" gives way; None where the level of the controller decides."""


@dataclass(frozen=True)
class CommandBound:
    """A bound on the command: on one component of it (``axis``), on ``normal`` · u, or on the torque of an axis.

    A guard protects ``h`` ≥ 0, with its ``rate`` at the level of accelerations; ``gains`` is the index of its pair.
    """

    name: str
    right: Scalar = INFINITE
    left: Scalar = -INFINITE
    axis: int | None = None
    normal: list[Scalar] = field(default_factory=list)
    torque: int | None = None
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
    given: Callable[[Signal], SignalMotion]
    gains: list[tuple[Scalar, Scalar]]
    task_errors: list[Scalar] = field(default_factory=list)
    task_rates: list[Scalar] = field(default_factory=list)
    taken: int = 0
    dynamics: Callable[[list[Scalar], list[Scalar]], MassAndBias] | None = None

    @cached_property
    def state(self) -> State:
        return State(self.model, self.q, self.v if self.level == "acceleration" else None)

    @cached_property
    def mass_and_bias(self) -> MassAndBias:
        assert self.dynamics is not None
        return self.dynamics(self.q, self.v)

    def next_gains(self) -> tuple[int, tuple[Scalar, Scalar]]:
        """Index and values of the next pair of gains."""
        index = self.taken
        self.taken += 1
        return index, self.gains[index]

    def guards(self, names: list[str], rows: Rows) -> list[CommandBound]:
        """Bounds that keep the values h of ``rows`` positive, a pair of gains each: −J u ≤ ζ + η h, or second order."""
        result = []
        for i, (name, h) in enumerate(zip(names, rows.value, strict=True)):
            index, gains = self.next_gains()
            normal, rate = [-c for c in rows.jacobian[i]], None if rows.rate is None else rows.rate[i]
            result.append(CommandBound(name, rows.decay(i, gains), normal=normal, h=h, rate=rate, gains=index))
        return result


class CommandConstraint(ControlPart):
    """A named bound on the command.

    ``gain`` η in 1/s: how fast what it protects may shrink. ``gains`` of the second order: "auto" takes the poles −η
    and −2η and raises them at activation until Lemma 4.1 holds; a pair (η_d, η_p) is taken as it is.
    ``relaxable=False``: not even the policy "relax" relaxes it.
    """

    levels: tuple[str, ...] = ("velocity", "acceleration", "torque")
    follows_progress = False
    """Whether it depends on how much of the tasks can be done: see :mod:`dqdyn.control.core.progress`."""

    def __init__(self, name: str, gain: float = 1.0, gains: Gains = "auto", relaxable: Relax = True) -> None:
        self.name, self.gain, self.relaxable = name, positive(gain, f"gain of {name}"), relaxable
        self.has_automatic_gains = isinstance(gains, str)
        if isinstance(gains, str) and gains != "auto":
            raise refused(f"gains of {name} are 'auto' or a pair (η_d, η_p)", gains)
        self.gains = second_order(gain, None if isinstance(gains, str) else gains, name)

    def gives_way(self, level: str) -> bool:
        """Whether the policy "relax" may give way here, in a controller of that level."""
        return bool(self.relaxable)

    def guard_count(self, model: Model) -> int:
        """How many of its bounds protect an h, and have a pair of gains."""
        return 0

    def initial_gains(self, model: Model, level: str) -> list[tuple[float, float]]:
        """A pair of gains for every bound that has them."""
        return [(self.gain, 0.0) if level == "velocity" else self.gains] * self.guard_count(model)

    @abstractmethod
    def bounds(self, context: Context) -> list[CommandBound]:
        """The bounds at a state."""

    def exceeded(self, model: Model, v: Array) -> list[tuple[str, float]]:
        """What the velocities v (nv,) themselves violate, by how much: bounds on accelerations cannot undo that."""
        return []

    def clearances_at_target(self, task: Task, model: Model) -> Iterable[tuple[str, float]]:
        """(name, h) of what it protects where the task is met, as far as the task tells: h < 0 is a violation."""
        return ()
