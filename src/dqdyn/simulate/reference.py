"""Reference motions for controllers: ``reference(t)`` gives q, v and a, over any scalar."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import pi

from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar, cos, less, select, sin
from dqdyn.arrays import Array, RealArray
from dqdyn.errors import StateError
from dqdyn.robot import Robot

Vector = Sequence[Scalar] | Array
Reference = Callable[[Scalar], tuple[Vector, Vector, Vector]]
"""``reference(t)`` gives the wanted q (nq), v (nv) and a (nv)."""


def waves(robot: Robot, center: RealArray, amplitude: float = 0.3, frequency: float = 0.5) -> Reference:
    """Every coordinate swings about ``center`` as A (1 − cos ωt), slightly faster from joint to joint; from rest.

    ``amplitude`` in rad or m, ``frequency`` in Hz. For robots without quaternions in q.
    """
    if robot.nq != robot.nv:
        raise StateError(f"waves are for robots with nq = nv; {robot.name!r} has quaternions in q.", argument="robot")
    start = real_array(center, "the center of a reference").tolist()
    omegas = [2.0 * pi * frequency * (1.0 + 0.1 * k) for k in range(robot.nv)]

    def reference(t: Scalar) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        q = [c + amplitude * (1.0 - cos(w * t)) for c, w in zip(start, omegas, strict=True)]
        return q, [amplitude * w * sin(w * t) for w in omegas], [amplitude * w * w * cos(w * t) for w in omegas]

    return reference


def between(start: Sequence[float], end: Sequence[float], duration: float) -> Reference:
    """From ``start`` to ``end`` in ``duration`` s along 10 s³ − 15 s⁴ + 6 s⁵: at rest at both ends, and there after."""
    pairs = [(float(a), float(b) - float(a)) for a, b in zip(start, end, strict=True)]

    def reference(t: Scalar) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
        s = select(less(t, duration), t * (1.0 / duration), 1.0)
        way = s * s * s * (10.0 + s * (-15.0 + s * 6.0))
        speed = s * s * (30.0 + s * (-60.0 + s * 30.0)) * (1.0 / duration)
        growth = s * (60.0 + s * (-180.0 + s * 120.0)) * (1.0 / duration**2)
        return [a + d * way for a, d in pairs], [d * speed for _, d in pairs], [d * growth for _, d in pairs]

    return reference
