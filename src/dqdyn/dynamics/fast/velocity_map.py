"""By what map the velocity-dependent force on a body changes with a twist: the Coriolis matrix of a rigid body.

A body with inertia I that moves with the twist ξ = ω + εu needs the force I ξ̇ + B ξ, with

    B x = ½ (ξ × I x + x × I ξ − I (ξ × x)),

which is symmetric in ξ and x but for the last term. In our coordinates B acts on the angular part α alone, about the
origin of any frame:

    B (α + εβ) = α × p + ε N α,        N = ⟨h, u⟩ − u hᵀ − [ω]× Σ

with the linear momentum p, the first moment h and the second moments Σ. Maps of bodies add, so a subtree has one, too
(Echeandia and Wensing 2021, there as 6×6 matrices).
"""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint, Columns
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import I, J, K, Quaternion, combine, cross3, dot3, pure
from dqdyn.algebra.tensor import rotated
from dqdyn.dynamics.fast.composite import Composite


@dataclass(frozen=True)
class VelocityMap:
    """B of a body or a sum of bodies: the linear momentum p and the columns of N."""

    p: Quaternion
    n: Columns

    @classmethod
    def of(cls, inertia: Composite, twist: DQ) -> VelocityMap:
        """B of a body with that twist; linear in the twist."""
        omega, u, h = twist.primary, twist.dual, inertia.first
        along = dot3(h, u)
        columns = zip(inertia.second_moments(), (I, J, K), h.vector, strict=True)
        a, b, c = (e * along - u * f - cross3(omega, s) for s, e, f in columns)
        return cls(u * inertia.mass + cross3(omega, h), (a, b, c))

    def __add__(self, other: VelocityMap) -> VelocityMap:
        (a, b, c), (d, e, f) = self.n, other.n
        return VelocityMap(self.p + other.p, (a + d, b + e, c + f))

    def seen_through(self, x: Adjoint) -> VelocityMap:
        """The same in the parent's frame, for Ad(x_parent,child)."""
        n, p = rotated(self.n, x.columns), x.rotate(self.p)
        # A force α × p at the child's origin r has the moment r × (α × p) about the parent's.
        along = dot3(x.p, p)
        a, b, c = (column - p * r for column, r in zip(n, x.p.vector, strict=True))
        return VelocityMap(p, (a + I * along, b + J * along, c + K * along))

    def __call__(self, x: DQ) -> DQ:
        """B x."""
        return DQ.of(cross3(x.primary, self.p), combine(self.n, x.primary))

    def transposed(self, s: DQ) -> Quaternion:
        """The vector g with ⟨s, B x⟩ = ⟨g, P(x)⟩ for every x."""
        a, b, c = self.n
        turned = pure(dot3(a, s.primary), dot3(b, s.primary), dot3(c, s.primary))
        return turned + cross3(self.p, s.dual)
