"""The base of tasks and constraints: a named function of things on the robot and of signals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.differentiate import Given, Rows, differentiate
from dqdyn.control.core.state import State
from dqdyn.control.features.features import Thing, stacked
from dqdyn.control.features.signals import Signal
from dqdyn.model.model import Model

Parts = list[list[Scalar]]
"""Components, one list per thing or signal."""


class Quantity(ABC):
    """y = ``value(parts of things, parts of signals)``, over any scalar; all derivatives follow from it by jets."""

    name: str
    things: tuple[Thing, ...]
    signals: tuple[Signal, ...]

    @abstractmethod
    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        """The components of y."""

    def bound(self, model: Model) -> Self:
        """The quantity for one robot; raises on unknown frames and wrong sizes."""
        for thing in self.things:
            thing.check(model)
        return self

    def rows(self, state: State, given: Sequence[Given]) -> Rows:
        """y, its Jacobian, residual and, with velocities, its rate and drift."""
        seen = [thing.seen(state) for thing in self.things]
        sizes = [len(part.value) for part in seen], [signal.size for signal in self.signals]
        together = Given(
            [c for g in given for c in g.value],
            [c for g in given for c in g.rate],
            [c for g in given for c in g.acceleration],
        )

        def function(c: list[Scalar]) -> list[Scalar]:
            robot, rest = _cut(c, sizes[0])
            return self.value(robot, _cut(rest, sizes[1])[0])

        return differentiate(function, stacked(seen), together, state.model.nv)


def _cut(c: list[Scalar], sizes: Sequence[int]) -> tuple[Parts, list[Scalar]]:
    parts = []
    for size in sizes:
        parts.append(c[:size])
        c = c[size:]
    return parts, c
