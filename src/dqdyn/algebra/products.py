"""Products of pure dual quaternions."""

from __future__ import annotations

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import cross3, dot3, real
from dqdyn.algebra.scalar import Scalar


def cross(a: DQ, b: DQ) -> DQ:
    """a × b = (ab − ba)/2 of pure dual quaternions [Silva, eq. (8)] [Farias, eq. (6)]."""
    return DQ.of(cross3(a.primary, b.primary), cross3(a.primary, b.dual) + cross3(a.dual, b.primary))


def dot(a: DQ, b: DQ) -> DQ:
    """⟨a, b⟩ = −(ab + ba)/2 of pure dual quaternions, a dual number [Silva, eq. (30)]."""
    return DQ.of(real(dot3(a.primary, b.primary)), real(dot3(a.primary, b.dual) + dot3(a.dual, b.primary)))


def geodesic(a: DQ, b: DQ) -> Scalar:
    """a ⊙ b = ⟨P(a), P(b)⟩ + ⟨D(a), D(b)⟩, a real number [Farias, eq. (7)]."""
    return dot3(a.primary, b.primary) + dot3(a.dual, b.dual)
