"""Lemma 4.1 of Quiroz at run time: under which conditions a second-order inequality keeps h positive for all times."""

from __future__ import annotations

import math
from dataclasses import dataclass

MARGIN = 1.05  # of gains chosen automatically above what the lemma requires
STEEPEST = 1e9  # 1/s, of η_d chosen automatically: more is beyond any control loop, and squares stay finite


@dataclass(frozen=True)
class Activation:
    """A second-order inequality ḧ ≥ −η_d ḣ − η_p h when it became active, and what the lemma says about it.

    The lemma's condition on the rate is sufficient; ``sharp`` is the weakest one under which the solution of the
    equation stays positive. All hold only as long as the inequality itself does, that is, as the problem is feasible.
    """

    name: str
    h: float
    rate: float
    eta_d: float
    eta_p: float
    t: float = 0.0
    """When, in s; 0 of the lemma's h(0) and of :meth:`bound`."""

    @property
    def discriminant(self) -> float:
        """η_d² − 4η_p, above 0 for an approach without oscillation."""
        return self.eta_d * self.eta_d - 4.0 * self.eta_p

    @property
    def starts_inside(self) -> bool:
        """h(0) > 0."""
        return self.h > 0.0

    @property
    def is_slow(self) -> bool:
        """η_d ≥ 2|ḣ(0)|/h(0) [Quiroz, lemma 4.1]."""
        return self.starts_inside and self.eta_d * self.h >= 2.0 * abs(self.rate)

    @property
    def holds(self) -> bool:
        """All conditions as the paper states them: then h(t) > 0 for all t."""
        return self.discriminant > 0.0 and self.starts_inside and self.is_slow

    @property
    def sharp(self) -> bool:
        """ḣ(0) ≥ −ρ h(0) with ρ = (η_d + √(η_d² − 4η_p))/2, necessary and sufficient for the equation."""
        is_real = self.discriminant > 0.0 and self.starts_inside
        return is_real and self.rate >= -fast_pole(self.eta_d, self.eta_p) * self.h

    @property
    def failing(self) -> tuple[str, ...]:
        """The conditions that fail, in words."""
        failing = []
        if self.discriminant <= 0.0:
            failing.append(f"η_d² = {self.eta_d * self.eta_d:.6g} is not above 4η_p = {4 * self.eta_p:.6g}")
        if not self.starts_inside:
            failing.append(f"h(0) = {self.h:.6g} is not above 0")
        elif not self.is_slow:
            failing.append(f"η_d = {self.eta_d:.6g} is below 2|ḣ(0)|/h(0) = {2 * abs(self.rate) / self.h:.6g}")
        return tuple(failing)

    def bound(self, t: float) -> float:
        """c₁ e^{r₁t} + c₂ e^{r₂t} [Quiroz, eq. (4.16)], below which h(t) cannot fall [Quiroz, eq. (4.19)].

        c₁ and c₂ are those of [Quiroz, eq. (4.17)].
        """
        root = math.sqrt(self.discriminant)
        r1, r2 = 0.5 * (-self.eta_d + root), 0.5 * (-self.eta_d - root)
        c1, c2 = (self.rate - self.h * r2) / (r1 - r2), (self.h * r1 - self.rate) / (r1 - r2)
        return c1 * math.exp(r1 * t) + c2 * math.exp(r2 * t)


def fast_pole(eta_d: float, eta_p: float) -> float:
    """ρ = (η_d + √(η_d² − 4η_p))/2."""
    return 0.5 * (eta_d + math.sqrt(max(0.0, eta_d * eta_d - 4.0 * eta_p)))


def automatic_gains(pair: tuple[float, float], h: float, rate: float, highest: float = math.inf) -> tuple[float, float]:
    """The pair, both poles moved out by one factor until η_d ≥ 2|ḣ|/h; as it is where h ≤ 0, which no gain cures.

    ``highest``: where η_d ends, so that the steps of a running loop can follow; at :data:`STEEPEST` it ends anyway.
    """
    eta_d, eta_p = pair
    if h <= 0.0 or eta_d * h >= 2.0 * abs(rate):
        return pair
    factor = max(1.0, min(MARGIN * 2.0 * abs(rate) / h, highest, STEEPEST) / eta_d)
    return eta_d * factor, eta_p * (factor * factor)
