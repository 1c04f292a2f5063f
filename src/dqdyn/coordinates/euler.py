"""Euler angles in all twelve sequences, by one construction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.adjoint import Columns
from dqdyn.algebra.quaternion import Quaternion, rotation_columns
from dqdyn.algebra.scalar import Scalar, Scalars, atan2, cos, less, select, sin, sqrt
from dqdyn.coordinates.parameterisation import Parameterisation
from dqdyn.errors import Error
from dqdyn.model.joints.axis_joint import X, Y, Z, turn

SEQUENCES = tuple(a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if a != b != c)
"""All twelve: six of three axes (Tait-Bryan) and six that begin and end with the same one (proper Euler)."""
_AXES = {"x": X, "y": Y, "z": Z}


@dataclass(frozen=True)
class Euler(Parameterisation):
    """R = R_a(θ₁) R_b(θ₂) R_c(θ₃): turns about the moved axes a, b, c in this order, in rad [Bouyarmane, table 1].

    "zyx" is yaw, pitch, roll. Where θ₂ brings the third axis onto the first, rates are lost: gimbal lock.
    """

    sequence: str = "zyx"

    def __post_init__(self) -> None:
        if self.sequence not in SEQUENCES:
            found = f"found {self.sequence!r}: take one of {', '.join(SEQUENCES)}"
            expected = "Euler angles turn about three axes, adjacent ones different"
            raise Error(f"{expected}; {found}.", sequence=self.sequence)
        labels = tuple(f"angle_{i}_{axis}" for i, axis in enumerate(self.sequence, 1))
        self._set(f"euler-{self.sequence}", labels)

    @property
    def proper(self) -> bool:
        """Whether the first axis is also the last one."""
        return self.sequence[0] == self.sequence[2]

    def rotation(self, theta: Scalars) -> Columns:
        return rotation_columns(self.quaternion(theta))

    def quaternion(self, theta: Scalars) -> Quaternion:
        a, b, c = (turn(_AXES[axis], angle) for axis, angle in zip(self.sequence, theta, strict=True))
        return a * b * c

    def parameters(self, r: Quaternion) -> list[Scalar]:
        """θ₁ and θ₃ in (−π, π], θ₂ in [0, π] (proper) or [−π/2, π/2].

        A proper sequence of the axes i, j has the components of r as c₂ cos σ, c₂ sin σ, s₂ cos δ, s₂ sin δ with half
        the sum σ and half the difference δ of θ₁ and θ₃. A quarter turn about j makes a proper sequence of any other.
        """
        i, j = ("xyz".index(axis) for axis in self.sequence[:2])
        handed = 1.0 if (j - i) % 3 == 1 else -1.0
        w, x, y, z = r.w, r.vector[i], r.vector[j], r.vector[3 - i - j] * handed
        if not self.proper:
            w, x, y, z = w - y, x - z, y + w, z + x
        half_sum, half_difference = atan2(x, w), atan2(z, y)
        second = 2.0 * atan2(sqrt(y * y + z * z), sqrt(w * w + x * x))
        first, last = half_sum + half_difference, half_sum - half_difference
        if not self.proper:
            second, last = second - 0.5 * math.pi, last * -handed
        return [_wrapped(first), second, _wrapped(last)]

    def regularity(self, theta: Scalars) -> Scalar:
        """det² of J_ω is sin² θ₂ of proper Euler angles, cos² θ₂ of the others."""
        size = sin(theta[1]) if self.proper else cos(theta[1])
        return size * size

    def lock(self, theta: Any) -> str:
        """Gimbal lock by name: which sequence, at which middle angle, and a way out."""
        angle = float(np.asarray(theta[1]))
        other = _other(self.sequence)
        return (
            f"Euler angles {self.sequence!r} are in gimbal lock: the second angle is {angle:.9g} rad "
            f"({math.degrees(angle):.6g}°), where the third axis lies on the first and rates of rotation are lost; "
            f"take 'quaternion', or a sequence that is regular there, such as 'euler-{other}'"
        )


def _other(sequence: str) -> str:
    """A sequence whose lock is 90° away: of the same first two axes, ending on the other axis."""
    ends = {c for c in "xyz" if c not in sequence[1:]}
    return sequence[:2] + ends.pop()


def _wrapped(angle: Scalar) -> Scalar:
    """In (−π, π]; from (−2π, 2π)."""
    angle = select(less(math.pi, angle), angle - 2.0 * math.pi, angle)
    return select(less(-math.pi, angle), angle, angle + 2.0 * math.pi)
