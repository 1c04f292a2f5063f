"""The inverse differential of the exponential, dexp⁻¹, for the joints whose motions are a Lie group.

Along q(t) = q₀ exp(w(t)) the velocity, seen from the moving side, is v where

    ẇ = v + ½ w × v + 1/12 w × (w × v) − 1/720 w × (w × (w × (w × v))) + …

with the product of quaternions for a spherical joint and of dual quaternions for a free one: the coefficients are
Bernoulli numbers over factorials (Iserles, Munthe-Kaas, Nørsett, Zanna, Lie-group methods, Acta Numerica 2000). A
method of order p needs the terms up to p − 1 factors of w, since w itself is of the order of the step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ZERO, pure

ALGEBRAS = ("spherical", "free")
"""Joints with a velocity that does not commute with itself."""

_COEFFICIENTS = (1.0, 0.5, 1.0 / 12.0, 0.0, -1.0 / 720.0, 0.0, 1.0 / 30240.0)


def corrected(kind: str, w: Sequence[Any], v: Sequence[Any], order: int) -> list[Any]:
    """dexp⁻¹ of w on v with all terms that a method of that order needs; components as the joint has them."""
    a, power = _element(kind, w), _element(kind, v)
    result = power
    for c in _COEFFICIENTS[1:order]:
        power = cross(a, power)
        if c:
            result = result + power * c
    vector = [*result.primary.vector]
    return [*vector, *result.dual.vector] if kind == "free" else vector


def _element(kind: str, components: Sequence[Any]) -> DQ:
    if kind == "free":
        return DQ.of(pure(*components[:3]), pure(*components[3:]))
    return DQ.of(pure(*components), ZERO)
