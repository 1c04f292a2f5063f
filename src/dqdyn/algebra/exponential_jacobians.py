"""How the motion along a screw changes with the screw: the derivative of the exponential and of the logarithm.

With the map ad: η → ξ × η of pure dual quaternions and ŝ = ⟨ξ, ξ⟩, a dual number, ad³ = −ŝ ad. So every power series of
ad is 1 + â ad + b̂ ad² with functions â, b̂ of ŝ, and a function of a dual number is f(s + ε s') = f(s) + ε s' f'(s):
the formulas of rotations hold for poses as they stand.
"""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra import removable
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import dot3
from dqdyn.algebra.scalar import Scalar

DualNumber = tuple[Scalar, Scalar]
"""a + ε b."""


@dataclass(frozen=True)
class ScrewMap:
    """η → η + â ξ × η + b̂ ξ × (ξ × η)."""

    xi: DQ
    a: DualNumber
    b: DualNumber

    def __call__(self, eta: DQ) -> DQ:
        once = cross(self.xi, eta)
        return eta + _times(self.a, once) + _times(self.b, cross(self.xi, once))


def carried_back(xi: DQ) -> ScrewMap:
    """Ad(x*) for the motion x = screw_exp(ξ/2): what moves with the start, seen from the end."""
    sine, versine = _sine(xi), _versine(xi)
    return ScrewMap(xi, _negative(sine), versine)


def right_jacobian(xi: DQ) -> ScrewMap:
    """η such that, to first order, screw_exp((ξ + δ)/2) = screw_exp(ξ/2) screw_exp(η/2) for a small δ, from δ."""
    s, rate = _square(xi)
    gap = removable.sine_gap_root(s), rate * removable.sine_gap_slope_root(s)
    return ScrewMap(xi, _negative(_versine(xi)), gap)


def right_jacobian_inverse(xi: DQ) -> ScrewMap:
    """The inverse of :func:`right_jacobian`, for rotations by less than 2π."""
    s, rate = _square(xi)
    quarter = s * 0.25
    # (1 − y cot y)/(4 y²) with y = x/2, and its derivative with respect to x².
    gap = removable.cotangent_gap_root(quarter) * 0.25, rate * (removable.cotangent_gap_slope_root(quarter) * 0.0625)
    return ScrewMap(xi, (0.5, 0.0), gap)


def _square(xi: DQ) -> DualNumber:
    """⟨ξ, ξ⟩."""
    return dot3(xi.primary, xi.primary), dot3(xi.primary, xi.dual) * 2.0


def _sine(xi: DQ) -> DualNumber:
    """sin(x̂)/x̂ of x̂² = ⟨ξ, ξ⟩."""
    s, rate = _square(xi)
    return removable.sinc_root(s), rate * (removable.sinc_slope_root(s) * 0.5)


def _versine(xi: DQ) -> DualNumber:
    """(1 − cos x̂)/x̂² = ½ (sin(x̂/2)/(x̂/2))²."""
    s, rate = _square(xi)
    u, slope = removable.sinc_root(s * 0.25), removable.sinc_slope_root(s * 0.25)
    return u * u * 0.5, rate * (u * slope * 0.125)


def _negative(x: DualNumber) -> DualNumber:
    return -x[0], -x[1]


def _times(x: DualNumber, y: DQ) -> DQ:
    return DQ.of(y.primary * x[0], y.dual * x[0] + y.primary * x[1])
