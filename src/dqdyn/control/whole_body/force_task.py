"""The base of tasks on contact forces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.kinematics import Rows, SignalMotion, State
from dqdyn.control.core.task import Task
from dqdyn.control.core.term import Parts, Signals
from dqdyn.errors import Error

if TYPE_CHECKING:
    from dqdyn.control.whole_body.context import WholeBodyContext

ForceRows = tuple[list[list[Scalar]], list[Scalar]]
"""G, one row per residual over all contact forces φ, and r of G φ + r."""


class ForceTask(Task):
    """Contact forces with G φ + r small: ``weight`` · ‖G φ + r‖² in the cost of a whole-body controller.

    φ are the forces of all contacts, one after the other, as :class:`dqdyn.contacts.Contact` defines them.
    """

    def __init__(
        self, default_name: str, signals: Signals = (), *, weight: float = 1.0, name: str | None = None
    ) -> None:
        super().__init__(default_name, (), signals, weight=weight, name=name)

    @abstractmethod
    def force_rows(self, context: WholeBodyContext) -> ForceRows:
        """G and r at a state; ``context.given(signal)`` has the signals, ``context.wrench(name)`` rows of a wrench."""

    def rows(self, state: State, given: Sequence[SignalMotion]) -> Rows:
        raise Error(f"{self.name!r} is a task on contact forces: it is for whole_body_controller.", task=self.name)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return []
