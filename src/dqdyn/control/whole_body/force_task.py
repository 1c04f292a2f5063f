"""The base of tasks on contact forces."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.settings import positive
from dqdyn.control.core.term import ControlPart

if TYPE_CHECKING:
    from dqdyn.control.whole_body.context import WholeBodyContext

ForceRows = tuple[list[list[Scalar]], list[Scalar]]
"""G, one row per residual over all contact forces φ, and r of G φ + r."""


class ForceTask(ControlPart):
    """Contact forces with G φ + r small: ``weight`` · ‖G φ + r‖² in the cost of a whole-body controller.

    φ are the forces of all contacts, one after the other, as :class:`dqdyn.contacts.Contact` defines them.
    """

    def __init__(self, name: str, weight: float = 1.0) -> None:
        self.name, self.weight = name, positive(weight, f"weight of {name}")

    @abstractmethod
    def rows(self, context: WholeBodyContext) -> ForceRows:
        """G and r at a state."""
