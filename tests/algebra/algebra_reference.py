"""Exponentials of poses with 50 digits, another way: through the 3×3 matrix V that takes a twist to a translation."""

from __future__ import annotations

from typing import Any

import mpmath  # type: ignore[import-untyped]

mp = mpmath.MPContext()
mp.dps = 50
Vector = list[Any]


def vector(values: Any) -> Vector:
    return [mp.mpf(float(v)) for v in values]


def unit(v: Vector) -> Vector:
    n = mp.sqrt(sum(c * c for c in v))
    return [c / n for c in v]


def norm(v: Vector) -> Any:
    return mp.sqrt(sum(c * c for c in v))


def product(a: Vector, b: Vector) -> Vector:
    """Hamilton product of [w, x, y, z]."""
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def rotation(n: Vector, angle: Any) -> Vector:
    return [mp.cos(angle / 2), *(c * mp.sin(angle / 2) for c in n)]


def pose(r: Vector, p: Vector) -> Vector:
    """vec8 of r + ½ε p r."""
    return r + [c / 2 for c in product([mp.mpf(0), *p], r)]


def left_jacobian(n: Vector, angle: Any) -> Any:
    """V of SE(3): a constant twist with angular part n·angle and linear part u translates by V u in unit time."""
    k = mp.matrix([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    if angle == 0:
        return mp.eye(3)
    return mp.eye(3) + (1 - mp.cos(angle)) / angle * k + (1 - mp.sin(angle) / angle) * (k * k)


def screw_exp(n: Vector, angle: Any, u: Vector) -> Vector:
    """vec8 of the motion by the twist n·angle + εu for unit time."""
    return pose(rotation(n, angle), list(left_jacobian(n, angle) * mp.matrix(u)))


def screw_log(n: Vector, angle: Any, p: Vector) -> Vector:
    """vec6 of half the twist that leads to the rotation by ``angle`` about n and the translation p."""
    u = mp.lu_solve(left_jacobian(n, angle), mp.matrix(p))
    return [c * angle / 2 for c in n] + [c / 2 for c in u]


def relative_error(found: Any, expected: Vector) -> float:
    """‖found − expected‖/‖expected‖, or the norm of what was found where nothing is expected."""
    difference = norm([mp.mpf(float(a)) - b for a, b in zip(found, expected, strict=True)])
    size = norm(expected)
    return float(difference / size) if size else float(difference)
