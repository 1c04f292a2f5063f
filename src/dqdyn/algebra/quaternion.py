"""Quaternions over any scalar, and the products of pure quaternions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalar, divide, is_scalar, sqrt, total
from dqdyn.arrays import Array


class Quaternion:
    """``w + x i + y j + z k`` [Quiroz, eq. (A.1)] [Farias, eq. (1)] [Silva, eq. (2)]; an immutable value."""

    __array_ufunc__ = None  # so that array * quaternion asks the quaternion
    __slots__ = ("w", "x", "y", "z")

    def __init__(self, w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> None:
        self.w, self.x, self.y, self.z = w, x, y, z

    @property
    def components(self) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        return self.w, self.x, self.y, self.z

    @property
    def vector(self) -> tuple[Scalar, Scalar, Scalar]:
        """The imaginary components (x, y, z)."""
        return self.x, self.y, self.z

    def __add__(self, other: Quaternion) -> Quaternion:
        return Quaternion(self.w + other.w, self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other: Quaternion) -> Quaternion:
        return Quaternion(self.w - other.w, self.x - other.x, self.y - other.y, self.z - other.z)

    def __neg__(self) -> Quaternion:
        return Quaternion(-self.w, -self.x, -self.y, -self.z)

    def __mul__(self, other: Any) -> Quaternion:
        a = self
        if not isinstance(other, Quaternion):
            if not is_scalar(other):
                return NotImplemented
            return Quaternion(a.w * other, a.x * other, a.y * other, a.z * other)
        b = other
        return Quaternion(
            a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
            a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
            a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
        )

    def __rmul__(self, scalar: Scalar) -> Quaternion:
        if not is_scalar(scalar):
            return NotImplemented
        return Quaternion(scalar * self.w, scalar * self.x, scalar * self.y, scalar * self.z)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, Quaternion):
            return NotImplemented
        return self.components == other.components

    def __hash__(self) -> int:
        return hash(self.components)

    def __repr__(self) -> str:
        return f"Quaternion({self.w}, {self.x}, {self.y}, {self.z})"

    def conj(self) -> Quaternion:
        """Conjugate [Quiroz, eq. (A.2)]."""
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def norm_squared(self) -> Scalar:
        return total(c * c for c in self.components)

    def norm(self) -> Scalar:
        """Euclidean norm of the coefficients [Quiroz, eq. (A.3)]."""
        return sqrt(self.norm_squared())

    def inverse(self) -> Quaternion:
        result: Quaternion = self.conj() * divide(1.0, self.norm_squared())
        return result


Columns = tuple[Quaternion, Quaternion, Quaternion]
"""A 3×3 matrix by its columns, such as the images of i, j, k under a rotation."""

ZERO = Quaternion(0.0, 0.0, 0.0, 0.0)
ONE = Quaternion(1.0, 0.0, 0.0, 0.0)
I = Quaternion(0.0, 1.0, 0.0, 0.0)
J = Quaternion(0.0, 0.0, 1.0, 0.0)
K = Quaternion(0.0, 0.0, 0.0, 1.0)


def real(w: Scalar) -> Quaternion:
    """The real number w as a quaternion."""
    return Quaternion(w, 0.0, 0.0, 0.0)


def pure(x: Scalar, y: Scalar, z: Scalar) -> Quaternion:
    """The vector (x, y, z) as a pure quaternion [Farias, eq. (2)]."""
    return Quaternion(0.0, x, y, z)


def dot4(a: Quaternion, b: Quaternion) -> Scalar:
    """Σ aₖ bₖ of the coefficients."""
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z


def dot3(a: Quaternion, b: Quaternion) -> Scalar:
    """⟨a, b⟩ = −(ab + ba)/2 of pure quaternions [Farias, eq. (3)] [Quiroz, eq. (A.9)]."""
    return a.x * b.x + a.y * b.y + a.z * b.z


def cross3(a: Quaternion, b: Quaternion) -> Quaternion:
    """a × b = (ab − ba)/2 of pure quaternions [Silva, eq. (7)] [Farias, eq. (4)] [Quiroz, eq. (A.8)]."""
    return pure(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x)


def rotation_columns(r: Quaternion) -> Columns:
    """The images r i r*, r j r*, r k r* of the basis under a unit quaternion [Farias, eq. (34)].

    They are the columns of the rotation matrix; written so that the nine products are shared.
    """
    x2, y2, z2 = r.x + r.x, r.y + r.y, r.z + r.z
    xx, yy, zz = r.x * x2, r.y * y2, r.z * z2
    xy, xz, yz = r.x * y2, r.x * z2, r.y * z2
    wx, wy, wz = r.w * x2, r.w * y2, r.w * z2
    return (
        pure(1.0 - (yy + zz), xy + wz, xz - wy),
        pure(xy - wz, 1.0 - (xx + zz), yz + wx),
        pure(xz + wy, yz - wx, 1.0 - (xx + yy)),
    )


def combine(columns: Columns, v: Quaternion) -> Quaternion:
    """``columns[0] v.x + columns[1] v.y + columns[2] v.z``: a linear map of pure quaternions."""
    a, b, c = columns
    return pure(
        a.x * v.x + b.x * v.y + c.x * v.z,
        a.y * v.x + b.y * v.y + c.y * v.z,
        a.z * v.x + b.z * v.y + c.z * v.z,
    )


def rotate(r: Quaternion, v: Quaternion) -> Quaternion:
    """Ad(r) v = r v r* for unit r and pure v [Quiroz, eq. (A.11)]."""
    return combine(rotation_columns(r), v)


def shortest_rotation(a: tuple[float, float, float], b: tuple[float, float, float]) -> Quaternion:
    """The unit quaternion of the shortest rotation that takes unit vector a to unit vector b (numbers only).

    Opposite vectors: the half turn about the perpendicular nearest to x, or to y where a is nearly along x.
    """
    va, vb = pure(*map(float, a)), pure(*map(float, b))
    cosine = dot3(va, vb)
    across = vb - va * cosine
    sine = across.norm()
    if sine < 1e-15:
        if cosine > 0.0:
            return ONE
        sine, across = 0.0, cross3(I if abs(va.x) < 0.9 else J, va)
    half = 0.5 * math.atan2(sine, cosine)
    axis = cross3(va, across)  # this product drops what rounding left of a in the part across it
    x, y, z = (axis * (math.sin(half) / axis.norm())).vector
    return Quaternion(math.cos(half), x, y, z)


def quaternion_from_matrix(r: Array) -> list[float]:
    """(w, x, y, z) of a rotation matrix (numbers only), w ≥ 0 up to rounding."""
    result: list[float] = quaternions_from_matrices(r).tolist()
    return result


def quaternions_from_matrices(r: Array) -> Array:
    """(w, x, y, z) of rotation matrices (..., 3, 3) (numbers only), w ≥ 0 up to rounding; shape (..., 4).

    By their largest component (Shepperd's method).
    """
    trace = np.trace(r, axis1=-2, axis2=-1)[..., None, None]
    products = np.empty((*r.shape[:-2], 4, 4))  # 4 q qᵀ
    products[..., 1:, 1:] = r + np.swapaxes(r, -1, -2) + (1.0 - trace) * np.eye(3)
    products[..., 0, 0] = 1.0 + trace[..., 0, 0]
    for k, (i, j) in enumerate(((2, 1), (0, 2), (1, 0)), start=1):
        products[..., 0, k] = products[..., k, 0] = r[..., i, j] - r[..., j, i]
    squares = np.diagonal(products, axis1=-2, axis2=-1)
    largest = np.argmax(squares, axis=-1)[..., None]
    row = np.take_along_axis(products, largest[..., None], axis=-2)[..., 0, :]
    sign = np.where(row[..., :1] < 0.0, -1.0, 1.0)
    return np.asarray(sign * row / (2.0 * np.sqrt(np.take_along_axis(squares, largest, axis=-1))))
