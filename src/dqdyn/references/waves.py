"""Every joint swinging: a reference that excites a robot."""

from __future__ import annotations

from math import pi

from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar, cos, sin
from dqdyn.arrays import RealArray
from dqdyn.errors import StateError
from dqdyn.references.computed_torque import Reference
from dqdyn.robot import Robot


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
