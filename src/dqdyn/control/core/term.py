"""The base of tasks and inequalities: a named function of features of the robot and of signals."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Self

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.differentiate import Rows, SignalMotion, differentiate
from dqdyn.control.core.part import ControlPart
from dqdyn.control.core.state import State
from dqdyn.control.features.features import Feature, stacked
from dqdyn.model.model import Model

Parts = list[list[Scalar]]
"""Components, one list per feature or signal."""


class Term(ControlPart):
    """y = ``value(parts of features, parts of signals)``, over any scalar; all derivatives follow from it by jets."""

    features: tuple[Feature, ...]

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
        sizes = [len(part.value) for part in parts]
        signals = SignalMotion(
            [c for g in given for c in g.value],
            [c for g in given for c in g.rate],
            [c for g in given for c in g.acceleration],
        )

        def function(c: list[Scalar]) -> list[Scalar]:
            split = _split(c, [*sizes, *(signal.size for signal in self.signals)])
            return self.value(split[: len(sizes)], split[len(sizes) :])

        return differentiate(function, stacked(parts), signals, state.model.nv)


def _split(c: list[Scalar], sizes: Sequence[int]) -> Parts:
    parts = []
    for size in sizes:
        parts.append(c[:size])
        c = c[size:]
    return parts
