"""The bases of tasks and constraints: a part with a name, and a function of features of the robot and of signals."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import islice
from typing import Self

from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import Array
from dqdyn.control.core.kinematics import Rows, SignalMotion, State, differentiate
from dqdyn.control.features.features import Feature, stacked
from dqdyn.control.features.signals import Signal
from dqdyn.model.model import Model

Parts = list[list[Scalar]]
"""Components, one list per feature or signal."""
Features = tuple[Feature, ...]
Signals = tuple[Signal, ...]


class ControlPart(ABC):
    """A task or a constraint, with a name for reports."""

    name: str
    signals: Signals = ()
    looks = False
    """Whether :meth:`look_around` has something to do."""

    def bound_to(self, model: Model) -> Self:
        """The part for one robot; raises on unknown frames, wrong sizes and missing limits."""
        return self

    def look_around(self, t: float, q: Array) -> None:
        """Find what has to be known of a state before a program is evaluated at time t (s) and q (nq,)."""
        return

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


class Term(ControlPart):
    """y = ``value(parts of features, parts of signals)``, over any scalar; all derivatives follow from it by jets."""

    features: Features

    @abstractmethod
    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        """The components of y."""

    def bound_to(self, model: Model) -> Self:
        for feature in self.features:
            feature.check(model)
        return self

    def rows(self, state: State, given: Sequence[SignalMotion]) -> Rows:
        """y, its Jacobian, residual and, with velocities, its rate and drift."""
        parts = [feature.kinematics(state) for feature in self.features]
        sizes = [len(part.value) for part in parts], [signal.size for signal in self.signals]
        moved = ("value", "rate", "acceleration")
        signals = SignalMotion(*([c for motion in given for c in getattr(motion, name)] for name in moved))

        def function(c: list[Scalar]) -> list[Scalar]:
            rest = iter(c)
            robot, signals = ([list(islice(rest, size)) for size in each] for each in sizes)
            return self.value(robot, signals)

        return differentiate(function, stacked(parts), signals, state.model.nv)
