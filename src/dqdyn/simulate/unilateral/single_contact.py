"""One contact with Coulomb's friction, solved exactly."""

from __future__ import annotations

import cmath
import math

import numpy as np

from dqdyn.arrays import Array

_ON_CIRCLE = 1e-4
_REFINEMENTS = 4


def single_contact(w: Array, b: Array, friction: float) -> Array:
    """p = [t1, t2, n] of one contact with u = W p + b under Signorini's condition and Coulomb's law.

    It opens, else sticks, else slides. Sliding along d(θ) = (cos θ, sin θ) keeps u_n = 0 by p_n(θ), and u_t parallel to
    d is a trigonometric polynomial of degree 2: the quartic of Bonnefon and Daviet (INRIA RT-0400, 2011), here in
    z = e^(iθ).
    """
    if b[2] >= 0.0:
        return np.zeros(3)
    stick = -np.linalg.solve(w, b)
    if stick[2] > 0.0 and math.hypot(stick[0], stick[1]) <= friction * stick[2]:
        return np.asarray(stick)
    if friction == 0.0:
        return np.array([0.0, 0.0, -b[2] / w[2, 2]])
    best, fastest = None, -math.inf
    for theta in _directions(w, b, friction):
        d = np.array([math.cos(theta), math.sin(theta)])
        divisor = w[2, 2] - friction * (w[2, :2] @ d)
        if divisor <= 0.0:  # the friction would press the contact together: Painlevé's case
            continue
        normal = -b[2] / divisor
        p = np.array([*(-friction * normal * d), normal])
        speed = float((w[:2] @ p + b[:2]) @ d)
        if speed > fastest:
            best, fastest = p, speed
    return np.zeros(3) if best is None else best


def _directions(w: Array, b: Array, friction: float) -> list[float]:
    """Angles θ at which u_t is parallel to d(θ)."""
    a, t, c = w[:2, :2], w[:2, 2], b[:2]
    # −b_n (w − μ A d) × d + (W_nn − μ w·d) b_t × d, with x × d = x₁ sin θ − x₂ cos θ.
    cos1 = b[2] * t[1] - w[2, 2] * c[1]
    sin1 = -b[2] * t[0] + w[2, 2] * c[0]
    # A d × d = ½ (a₁₁ − a₂₂) sin 2θ − a₁₂ cos 2θ, and (w·d)(c × d) by double angles.
    constant = -friction * 0.5 * (t[1] * c[0] - t[0] * c[1])
    cos2 = -friction * b[2] * a[0, 1] + friction * 0.5 * (t[0] * c[1] + t[1] * c[0])
    sin2 = friction * b[2] * 0.5 * (a[0, 0] - a[1, 1]) - friction * 0.5 * (t[0] * c[0] - t[1] * c[1])

    def parallel(x: float) -> tuple[float, float]:
        """The polynomial and its slope."""
        c1, s1, c2, s2 = math.cos(x), math.sin(x), math.cos(2.0 * x), math.sin(2.0 * x)
        value = constant + cos1 * c1 + sin1 * s1 + cos2 * c2 + sin2 * s2
        return value, -cos1 * s1 + sin1 * c1 - 2.0 * cos2 * s2 + 2.0 * sin2 * c2

    one, two = complex(cos1, -sin1) / 2, complex(cos2, -sin2) / 2
    result = []
    for z in np.roots([two, one, constant, one.conjugate(), two.conjugate()]):
        if abs(abs(z) - 1.0) > _ON_CIRCLE:
            continue
        theta = cmath.phase(complex(z))
        for _ in range(_REFINEMENTS):
            value, slope = parallel(theta)
            if slope == 0.0:
                break
            theta -= value / slope
        result.append(theta)
    return result
