"""The base of inequalities on the distance or the angle of a pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.inequality import Inequality, ZoneOptions
from dqdyn.control.core.task import Task
from dqdyn.control.core.term import Parts
from dqdyn.control.features.pairs import Pair
from dqdyn.control.features.signals import SignalLike
from dqdyn.model.model import Model


class PairInequality(Inequality):
    """A pair at least as far apart as is safe (``keeps_apart``), or at most; ``what`` is the safe distance in words."""

    keeps_apart: ClassVar[bool]

    def __init__(
        self, default_name: str, pair: Pair, safe: SignalLike, what: str, **options: Unpack[ZoneOptions]
    ) -> None:
        self.pair = pair
        super().__init__(default_name, pair.features, (*pair.signals, pair.limit(safe, what)), **options)

    def row_words(self) -> Sequence[str]:
        """What each row keeps away, in words; "" for the pair itself."""
        return self.pair.rows

    def row_names(self) -> list[str]:
        return [f"{self.name}: {words}" if words else self.name for words in self.row_words()]

    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        distances = self.pair.distances(robot, given)[: len(self.row_words())]
        return [self._clearance(d, given[-1][0]) for d in distances]

    def _clearance(self, distance: Scalar, safe: Scalar) -> Scalar:
        limit = self.pair.scale(safe)
        return distance - limit if self.keeps_apart else limit - distance

    def clearances_at_target(self, task: Task, model: Model) -> Iterable[tuple[str, float]]:
        distance = task.distance_at_target(self.pair)
        if distance is None:
            return super().clearances_at_target(task, model)
        return [(self.name, float(self._clearance(distance, self.signals[-1].at(0.0).value[0])))]
