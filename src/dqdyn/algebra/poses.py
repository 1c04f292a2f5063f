"""Poses x = r + ½ε p r: made from rotation and translation, and taken apart."""

from __future__ import annotations

from dqdyn.algebra import removable
from dqdyn.algebra.checks import require_unit
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.open_pose import OpenPose
from dqdyn.algebra.quaternion import Quaternion, dot3, pure, rotation_columns
from dqdyn.algebra.scalar import Scalar, atan2, sqrt, stack
from dqdyn.arrays import Array


def pose(r: Quaternion, p: Quaternion) -> DQ:
    """x = r + ½ε p r: rotation r, then translation p in the reference frame."""
    return DQ.of(r, p * r * 0.5)


def translator(p: Quaternion) -> DQ:
    """1 + ½ε p: a pure translation."""
    return DQ.of(Quaternion(1.0, 0.0, 0.0, 0.0), p * 0.5)


def position(x: DQ) -> Quaternion:
    """p = 2 D P* of a pose r + ½ε p r, as a pure quaternion; no check."""
    if isinstance(x, OpenPose):
        return x.position
    p, d = x.primary, x.dual
    return pure(
        2.0 * (d.x * p.w - d.w * p.x + d.z * p.y - d.y * p.z),
        2.0 * (d.y * p.w - d.w * p.y + d.x * p.z - d.z * p.x),
        2.0 * (d.z * p.w - d.w * p.z + d.y * p.x - d.x * p.y),
    )


def rotation(x: DQ) -> DQ:
    """Rotation r of the pose r + ½ε p r."""
    return require_unit(x, "rotation").P()


def translation(x: DQ) -> DQ:
    """Translation p of the pose r + ½ε p r, a pure quaternion; in the moving frame it is r*pr [Farias, eq. (28)]."""
    return DQ.of(position(require_unit(x, "translation")))


def tplus(x: DQ) -> DQ:
    """1 + ½ε p: the translation of the pose x = tplus(x) rotation(x), as a pose."""
    return translator(position(require_unit(x, "tplus")))


def rotation_angle(x: DQ) -> Scalar:
    """φ in [0, 2π] of r = cos(φ/2) + n sin(φ/2)."""
    r = require_unit(x, "rotation_angle").primary
    return 2.0 * atan2(sqrt(dot3(r, r)), r.w)


def rotation_axis(x: DQ) -> DQ:
    """n of r = cos(φ/2) + n sin(φ/2), a pure quaternion; k where sin(φ/2) = 0."""
    r = require_unit(x, "rotation_axis").primary
    return DQ.of(pure(*removable.unit_or(r.vector, (0.0, 0.0, 1.0))))


def rotation_matrix(x: DQ) -> Array:
    """The 3×3 rotation matrix of a unit (dual) quaternion, shape (..., 3, 3)."""
    a, b, c = rotation_columns(x.primary)
    return stack([a.x, b.x, c.x, a.y, b.y, c.y, a.z, b.z, c.z], (3, 3))


def dec_mult(a: DQ, b: DQ) -> DQ:
    """Decompositional product of poses: translations add, rotations multiply as r_b r_a (the order of DQ Robotics)."""
    r = b.primary * a.primary
    p = translation(a).primary + translation(b).primary
    return DQ.of(r, p * r * 0.5)


def pinv(x: DQ) -> DQ:
    """Inverse of a pose for :func:`dec_mult`: rotation r*, translation −p. Not :func:`inv`, the inverse motion."""
    require_unit(x, "pinv")
    return pose(x.primary.conj(), -position(x))
