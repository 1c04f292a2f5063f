"""Vector field inequalities of first and second order: the base of all zones to stay out of or inside.

An inequality says what is to stay positive, h(a, b) ≥ 0. At the level of velocities the robot obeys

    ḣ ≥ −η h,    so  −J v ≤ η h + ζ,

and at that of accelerations ḧ ≥ −η_d ḣ − η_p h, so −J v̇ ≤ drift + η_d ḣ + η_p h with drift = J̇ v + ζ̇.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, TypedDict, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.command_constraint import CommandBound, CommandConstraint, Context
from dqdyn.control.core.settings import Gains
from dqdyn.control.core.task import Task
from dqdyn.control.core.term import Features, Parts, Signals, Term
from dqdyn.control.features.pairs import Pair
from dqdyn.control.features.signals import SignalLike
from dqdyn.model.model import Model


class ZoneOptions(TypedDict, total=False):
    """What every inequality takes by keyword.

    ``gain`` η in 1/s: how fast the robot may approach. ``gains`` of the second order: "auto" takes the poles −η and −2η
    and raises them at activation until Lemma 4.1 holds; a pair (η_d, η_p) is taken as it is, and the controller reports
    whether the lemma holds. ``name`` for reports; ``relaxable=False`` keeps the policy "relax" from giving way here.
    """

    gain: float
    gains: Gains
    name: str
    relaxable: bool


class Inequality(Term, CommandConstraint):
    """h ≥ 0, component by component."""

    def __init__(self, default_name: str, features: Features, signals: Signals, **options: Unpack[ZoneOptions]) -> None:
        if options.get("name") is None:
            options["name"] = default_name
        CommandConstraint.__init__(self, **options)
        self.features, self.signals = features, signals

    @abstractmethod
    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        """h, one component per zone."""

    def row_names(self) -> list[str]:
        """A name per component of h."""
        return [self.name]

    def guard_count(self, model: Model) -> int:
        return len(self.row_names())

    def bounds(self, context: Context) -> list[CommandBound]:
        """-J v ≤ η h + ζ or its second-order form, per component.

        Keep-out at the level of velocities [Quiroz, eq. (4.1)] with ζ_safe = ζ − ḋ_safe [Quiroz, eq. (4.2)], and of
        accelerations [Quiroz, eq. (4.6)], from [Quiroz, eq. (4.3)] with the rates [Quiroz, eq. (4.4)] and
        [Quiroz, eq. (4.5)]; keep-in, where h = d_safe − d, likewise [Quiroz, eq. (4.7)] [Quiroz, eq. (4.8)].
        """
        rows = self.rows(context.state, [context.given(signal) for signal in self.signals])
        return context.guards(self.row_names(), rows)

    def clearances_at_target(self, task: Task, model: Model) -> Iterable[tuple[str, float]]:
        parts = [task.components_at_target(feature) for feature in self.features]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return ()
        h = self.value(known, [signal.at(0.0).value for signal in self.signals])
        return zip(self.row_names(), map(float, h), strict=True)


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
