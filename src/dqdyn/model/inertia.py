"""Mass, center of mass and inertia tensor of a rigid body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.inertia_maps import inertia_rows
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.real import real_array, real_number
from dqdyn.arrays import Array
from dqdyn.caching import cached_property
from dqdyn.errors import Error

Vector = tuple[float, float, float]
Tensor = tuple[Vector, Vector, Vector]
ORIGIN: Vector = (0.0, 0.0, 0.0)


def as_vector(values: Any) -> Vector:
    """Three real numbers from any sequence or array."""
    if type(values) is tuple and len(values) == 3 and all(type(v) is float for v in values):  # by far the most
        return values
    array = real_array(values if isinstance(values, np.ndarray) else list(values), "a vector")
    if array.shape != (3,):
        raise Error(f"a vector has 3 components; found shape {array.shape}.", found=values)
    x, y, z = array.tolist()
    return x, y, z


def as_tensor(values: Any) -> Tensor:
    """A 3 × 3 matrix of real numbers from nested sequences or an array."""
    if type(values) is tuple and len(values) == 3:
        a, b, c = (as_vector(row) for row in values)
        return a, b, c
    array = real_array(values, "an inertia tensor")
    if array.shape != (3, 3):
        raise Error(f"an inertia tensor has 3 rows of 3 numbers; found shape {array.shape}.", found=values)
    a, b, c = (tuple(row) for row in array.tolist())
    return a, b, c


@dataclass(frozen=True)
class Inertia:
    """Mass in kg, center of mass in m, and the tensor in kg m² about the center of mass, in the axes of the frame."""

    mass: float = 0.0
    com: Vector = ORIGIN
    tensor: Tensor = ((0.0,) * 3,) * 3

    def __post_init__(self) -> None:
        object.__setattr__(self, "mass", real_number(self.mass, "a mass"))
        object.__setattr__(self, "com", as_vector(self.com))
        object.__setattr__(self, "tensor", as_tensor(self.tensor))

    @cached_property
    def rows(self) -> tuple[Quaternion, Quaternion, Quaternion]:
        """The tensor as three pure quaternions [Silva, eq. (11)]."""
        return inertia_rows(self.tensor)

    @cached_property
    def center(self) -> Quaternion:
        """The center of mass as a pure quaternion."""
        return pure(*self.com)

    @cached_property
    def first_moment(self) -> Quaternion:
        """m c, a pure quaternion."""
        return self.center * self.mass

    @cached_property
    def second_moments(self) -> Tensor:
        """Σ = ∫ r rᵀ dm about the origin of the frame: half the trace of the tensor there, minus the tensor."""
        c = np.array(self.com)
        tensor = np.array(self.tensor) + self.mass * _point_tensor(c)
        return as_tensor(0.5 * np.trace(tensor) * np.eye(3) - tensor)

    def moved_by(self, x: DQ) -> Inertia:
        """The same body seen from frame a, for x = x_ab and this inertia in frame b [Silva, eq. (14)]."""
        a = Adjoint(x)
        rotation = np.array([c.vector for c in a.columns]).T
        com = rotation @ np.array(self.com) + np.array(a.p.vector)
        return Inertia(self.mass, as_vector(com), as_tensor(rotation @ np.array(self.tensor) @ rotation.T))

    def __add__(self, other: Inertia) -> Inertia:
        """Two bodies rigidly joined, both given in the same frame."""
        mass = self.mass + other.mass
        tensor = np.array(self.tensor) + np.array(other.tensor)
        a, b = np.array(self.com), np.array(other.com)
        if mass == 0.0:
            return Inertia(0.0, self.com, as_tensor(tensor))
        com = (self.mass * a + other.mass * b) / mass
        tensor = tensor + self.mass * _point_tensor(a - com) + other.mass * _point_tensor(b - com)
        return Inertia(mass, as_vector(com), as_tensor(tensor))

    @property
    def is_zero(self) -> bool:
        """No mass and no tensor: a frame rather than a body."""
        return self.mass == 0.0 and not any(any(row) for row in self.tensor)

    def principal_moments(self) -> Array:
        """Eigenvalues of the tensor in kg m², ascending."""
        return np.linalg.eigvalsh(np.array(self.tensor))

    def problems(self) -> list[str]:
        """What no rigid body can have: negative moments, or one larger than the sum of the others."""
        a, b, c = self.principal_moments()
        # Files hold rounding noise such as 1e-20: measure it against the same mass at a distance of 1 mm.
        tolerance = 1e-9 * max(abs(c), 1e-6 * self.mass)
        if a < -tolerance:
            return [f"its inertia has the negative principal moment {a:.6g} kg m²"]
        if a + b < c - tolerance:
            moments = f"{a:.6g} + {b:.6g} < {c:.6g} kg m²"
            return [f"its inertia violates the triangle inequality: principal moments {moments}"]
        return []


def _point_tensor(d: Array) -> Array:
    return float(d @ d) * np.eye(3) - np.outer(d, d)


def box(mass: float, size: Sequence[float], com: Sequence[float] = ORIGIN) -> Inertia:
    """A uniform box with edges ``size`` in m."""
    x, y, z = (s * s / 12.0 for s in size)
    return Inertia(mass, as_vector(com), as_tensor(np.diag([y + z, x + z, x + y]) * mass))


def cylinder(mass: float, radius: float, length: float, axis: str = "z", com: Sequence[float] = ORIGIN) -> Inertia:
    """A uniform cylinder along the axis x, y or z."""
    along, across = 0.5 * radius**2, (3 * radius**2 + length**2) / 12.0
    moments = [along if name == axis else across for name in "xyz"]
    return Inertia(mass, as_vector(com), as_tensor(np.diag(moments) * mass))


def sphere(mass: float, radius: float, com: Sequence[float] = ORIGIN) -> Inertia:
    """A uniform ball."""
    return Inertia(mass, as_vector(com), as_tensor(np.eye(3) * (0.4 * mass * radius**2)))
