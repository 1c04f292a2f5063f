"""The base of tasks and constraints: what controllers are made of."""

from __future__ import annotations

from abc import ABC
from typing import Self

from dqdyn.control.features.signals import Signal
from dqdyn.model.model import Model


class ControlPart(ABC):
    """A task or a constraint, with a name for reports."""

    name: str
    signals: tuple[Signal, ...] = ()

    def bound_to(self, model: Model) -> Self:
        """The part for one robot; raises on unknown frames, wrong sizes and missing limits."""
        return self

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"
