"""Vector field inequalities of first and second order: the base of all that keeps the robot out of or inside a zone.

An inequality says what is to stay positive, h(a, b) ≥ 0. At the level of velocities the robot obeys

    ḣ ≥ −η h,    so  −J v ≤ η h + ζ,

and at that of accelerations ḧ ≥ −η_d ḣ − η_p h, so −J v̇ ≤ drift + η_d ḣ + η_p h with drift = J̇ v + ζ̇.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self, TypedDict

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.command_bound import Constraint, Context, Side
from dqdyn.control.core.task import positive, second_order
from dqdyn.control.core.term import Parts, Quantity
from dqdyn.control.features.features import Thing
from dqdyn.control.features.signals import Signal
from dqdyn.errors import Error
from dqdyn.model.model import Model


class Gains(TypedDict, total=False):
    """What every inequality takes by keyword.

    ``gain`` η in 1/s: how fast the robot may approach. ``gains`` of the second order: "auto" takes the poles −η and −2η
    and raises them at activation until Lemma 4.1 holds; a pair (η_d, η_p) is taken as it is, and the controller reports
    whether the lemma holds. ``name`` for reports; ``relaxable=False`` keeps the policy "relax" from giving way here.
    """

    gain: float
    gains: str | tuple[float, float]
    name: str
    relaxable: bool


class Inequality(Quantity, Constraint):
    """h ≥ 0, component by component."""

    def __init__(
        self,
        default_name: str,
        things: tuple[Thing, ...],
        signals: tuple[Signal, ...],
        *,
        gain: float = 1.0,
        gains: Any = "auto",
        name: str | None = None,
        relaxable: bool = True,
    ) -> None:
        self.name, self.things, self.signals = default_name if name is None else name, things, signals
        self.gain, self.relaxable = positive(gain, f"gain of {self.name}"), relaxable
        if isinstance(gains, str) and gains != "auto":
            raise Error(f"gains of {self.name} are 'auto' or a pair (η_d, η_p); found {gains!r}.", found=gains)
        self.auto = gains == "auto"
        self.pair = second_order(gain, None if self.auto else gains, self.name)

    def bound(self, model: Model) -> Self:
        return Quantity.bound(self, model)

    @abstractmethod
    def value(self, robot: Parts, given: Parts) -> list[Scalar]:
        """h, one component per zone."""

    def row_names(self) -> list[str]:
        """A name per component of h."""
        return [self.name]

    def automatic(self) -> bool:
        return self.auto

    def initial_gains(self, model: Model, level: str) -> list[tuple[float, float]]:
        return [(self.gain, 0.0) if level == "velocity" else self.pair] * len(self.row_names())

    def sides(self, context: Context) -> list[Side]:
        """-J v ≤ η h + ζ or its second-order form, per component.

        Keep-out at the level of velocities [Quiroz, eq. (4.1)] with ζ_safe = ζ − ḋ_safe [Quiroz, eq. (4.2)], and of
        accelerations [Quiroz, eq. (4.6)], from [Quiroz, eq. (4.3)] with the rates [Quiroz, eq. (4.4)] and
        [Quiroz, eq. (4.5)]; keep-in, where h = d_safe − d, likewise [Quiroz, eq. (4.7)] [Quiroz, eq. (4.8)].
        """
        rows = self.rows(context.state, [context.given(signal) for signal in self.signals])
        sides = []
        for i, name in enumerate(self.row_names()):
            index, first, second = context.next_gains()
            h, normal = rows.value[i], [-c for c in rows.jacobian[i]]
            if rows.rate is None or rows.drift is None:
                sides.append(Side(name, first * h + rows.residual[i], normal=normal, h=h, gains=index))
            else:
                right = rows.drift[i] + first * rows.rate[i] + second * h
                sides.append(Side(name, right, normal=normal, h=h, rate=rows.rate[i], gains=index))
        return sides
