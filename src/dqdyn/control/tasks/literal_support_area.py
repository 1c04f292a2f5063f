"""The support area of four points as printed: two triangles, and the Jacobian through the law of cosines.

A reference to compare with. :class:`~dqdyn.control.SupportAreaTask` has the same gradient from the shoelace formula,
for any number of corners, and without dividing by lengths or by √(1 − u²), which vanish for triangles without area.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.algebra.scalar import Scalar, atan2, cos, divide, sin, sqrt, total

PlanePoint = Sequence[Scalar]


@dataclass(frozen=True)
class PrintedSupportArea:
    """p_a, p_b, p_d fixed on the ground, the feet's, and p_c that of a hand, projected, all (x, y) in m.

    The names are those of the print: a = ‖p_c − p_d‖, b = ‖p_c − p_b‖, c = ‖p_d − p_b‖, d = ‖p_b − p_a‖,
    e = ‖p_d − p_a‖, α at p_a and ϕ_c at p_c.
    """

    p_a: PlanePoint
    p_b: PlanePoint
    p_c: PlanePoint
    p_d: PlanePoint

    @property
    def a(self) -> Scalar:
        return _length(_difference(self.p_c, self.p_d))

    @property
    def b(self) -> Scalar:
        return _length(_difference(self.p_c, self.p_b))

    @property
    def c(self) -> Scalar:
        return _length(_difference(self.p_d, self.p_b))

    @property
    def u(self) -> Scalar:
        """cos ϕ_c = (a² + b² − c²)/(2ab), by the law of cosines.

        It is ±1 only where a + c = b or b + c = a, in a triangle without area [Quiroz, eq. (4.50)].
        """
        a, b, c = self.a, self.b, self.c
        return divide(a * a + b * b - c * c, 2.0 * a * b)

    @property
    def phi_c(self) -> Scalar:
        """arccos u [Quiroz, eq. (4.46)]."""
        return atan2(sqrt(1.0 - self.u * self.u), self.u)

    @property
    def area(self) -> Scalar:
        """½ (e d sin α + a b sin ϕ_c) [Quiroz, eq. (4.41)]."""
        to_b, to_d = _difference(self.p_b, self.p_a), _difference(self.p_d, self.p_a)
        d, e = _length(to_b), _length(to_d)
        cos_alpha = divide(_dot(to_b, to_d), d * e)
        return 0.5 * (e * d * sqrt(1.0 - cos_alpha * cos_alpha) + self.a * self.b * sin(self.phi_c))

    def side_rates(self, rate: PlanePoint) -> tuple[Scalar, Scalar]:
        """ȧ [Quiroz, eq. (4.43)] and ḃ [Quiroz, eq. (4.44)] for ṗ_c."""
        a_rate = divide(_dot(_difference(self.p_c, self.p_d), rate), self.a)
        return a_rate, divide(_dot(_difference(self.p_c, self.p_b), rate), self.b)

    def angle_rate(self, rate: PlanePoint) -> Scalar:
        """ϕ̇_c = −u̇/√(1 − u²) [Quiroz, eq. (4.47)], with u̇ of the sides [Quiroz, eq. (4.48)]."""
        (a_rate, b_rate), a, b, c = self.side_rates(rate), self.a, self.b, self.c
        first = divide(c * c + a * a - b * b, 2.0 * a * a * b) * a_rate
        second = divide(c * c - a * a + b * b, 2.0 * a * b * b) * b_rate
        return divide(-(first + second), sqrt(1.0 - self.u * self.u))

    def area_rate(self, rate: PlanePoint) -> Scalar:
        """Ȧ = ½ (ȧ b sin ϕ_c + a ḃ sin ϕ_c + a b ϕ̇_c cos ϕ_c) [Quiroz, eq. (4.42)]."""
        (a_rate, b_rate), a, b, phi = self.side_rates(rate), self.a, self.b, self.phi_c
        turning = a * b * self.angle_rate(rate) * cos(phi)
        return 0.5 * (a_rate * b * sin(phi) + a * b_rate * sin(phi) + turning)

    @property
    def j_u(self) -> list[Scalar]:
        """u̇ = J_u ṗ_c [Quiroz, eq. (4.49)], so that ϕ̇_c = −J_u ṗ_c/√(1 − u²) [Quiroz, eq. (4.51)]."""
        a, b, c = self.a, self.b, self.c
        along_d = divide(c * c + a * a - b * b, 2.0 * a * a * a * b)
        along_b = divide(c * c - a * a + b * b, 2.0 * a * b * b * b)
        return _sum(along_d, _difference(self.p_c, self.p_d), along_b, _difference(self.p_c, self.p_b))

    @property
    def j_a1(self) -> list[Scalar]:
        """The part of the sides [Quiroz, eq. (4.45)]."""
        a, b, sine = self.a, self.b, sin(self.phi_c)
        along_d, along_b = 0.5 * divide(b * sine, a), 0.5 * divide(a * sine, b)
        return _sum(along_d, _difference(self.p_c, self.p_d), along_b, _difference(self.p_c, self.p_b))

    @property
    def gradient(self) -> list[Scalar]:
        """J̄_A = J_A1 + J_A2 with Ȧ = J̄_A ṗ_c [Quiroz, eq. (4.52)]: half the diagonal p_b–p_d, turned by 90°."""
        factor = divide(-self.a * self.b * cos(self.phi_c), 2.0 * sqrt(1.0 - self.u * self.u))
        return [first + factor * second for first, second in zip(self.j_a1, self.j_u, strict=True)]

    def jacobian(self, position_jacobian: Sequence[Sequence[Scalar]]) -> list[Scalar]:
        """J_A = J̄_A J_cxy [Quiroz, eq. (4.54)] with the first two rows of the position Jacobian (3, n) of p_c, of
        which ṗ_c = J_cxy q̇ [Quiroz, eq. (4.53)]."""
        g_x, g_y = self.gradient
        return [g_x * x + g_y * y for x, y in zip(position_jacobian[0], position_jacobian[1], strict=True)]


def _difference(p: PlanePoint, q: PlanePoint) -> list[Scalar]:
    return [a - b for a, b in zip(p, q, strict=True)]


def _dot(p: PlanePoint, q: PlanePoint) -> Scalar:
    return total(a * b for a, b in zip(p, q, strict=True))


def _length(p: PlanePoint) -> Scalar:
    return sqrt(_dot(p, p))


def _sum(a: Scalar, p: PlanePoint, b: Scalar, q: PlanePoint) -> list[Scalar]:
    return [a * x + b * y for x, y in zip(p, q, strict=True)]
