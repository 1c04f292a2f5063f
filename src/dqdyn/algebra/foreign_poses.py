"""Poses of SciPy, Pinocchio and spatialmath. They are recognised by the names of their types: nothing is imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error, missing_extra, one_line

Parts = tuple[Array, Array | None]
"""A rotation, as quaternions (w, x, y, z) or as matrices, and a translation where the value has one."""


class _Quaternions(Protocol):
    """SciPy's ``Rotation``, for type checkers."""

    def as_quat(self) -> Any: ...


class _Matrices(Protocol):
    """SciPy's ``RigidTransform``, for type checkers."""

    def as_matrix(self) -> Any: ...


class _Placement(Protocol):
    """``pinocchio.SE3``, for type checkers."""

    def toActionMatrix(self) -> Any: ...


class _Listed(Protocol):
    """spatialmath's ``SE3``, ``SO3`` and ``UnitQuaternion``, for type checkers."""

    @property
    def A(self) -> Any: ...


ForeignPose: TypeAlias = _Quaternions | _Matrices | _Placement | _Listed
"""A pose or rotation of SciPy, Pinocchio or spatialmath."""


def is_of(value: Any, package: str, *names: str) -> bool:
    """Whether a value is of one of these types of a package, or of one derived from them."""
    kinds = type(value).__mro__
    return any(kind.__module__.partition(".")[0] == package and kind.__name__ in names for kind in kinds)


def scipy_parts(value: Any) -> Parts:
    """Of ``Rotation`` or ``RigidTransform``."""
    if is_of(value, "scipy", "Rotation"):
        return np.roll(value.as_quat(), 1, axis=-1), None
    if is_of(value, "scipy", "RigidTransform"):
        matrix = np.asarray(value.as_matrix())
        return matrix[..., :3, :3], matrix[..., :3, 3]
    raise _other("from_scipy", "a Rotation or RigidTransform of scipy.spatial.transform", value)


def pinocchio_parts(value: Any) -> Parts:
    """Of ``SE3``."""
    if is_of(value, "pinocchio", "SE3"):
        return np.array(value.rotation), np.array(value.translation)
    raise _other("from_pinocchio", "a pinocchio.SE3", value)


def spatialmath_parts(value: Any) -> Parts:
    """Of ``SE3``, ``SO3`` or ``UnitQuaternion``, each of which may hold several."""
    if is_of(value, "spatialmath", "UnitQuaternion"):
        return np.array(value.vec), None
    if is_of(value, "spatialmath", "SE3"):
        matrix = np.array(value.A)
        return matrix[..., :3, :3], matrix[..., :3, 3]
    if is_of(value, "spatialmath", "SO3"):
        return np.array(value.A), None
    raise _other("from_spatialmath", "an SE3, SO3 or UnitQuaternion of spatialmath", value)


READERS: dict[str, Callable[[Any], Parts]] = {
    "scipy": scipy_parts,
    "pinocchio": pinocchio_parts,
    "spatialmath": spatialmath_parts,
}


def reader(value: Any) -> Callable[[Any], Parts] | None:
    """The reader for a value of one of these libraries, or None."""
    for kind in type(value).__mro__:
        if found := READERS.get(kind.__module__.partition(".")[0]):
            return found
    return None


def _other(method: str, wanted: str, value: Any) -> Error:
    shown = one_line(repr(value), 80)
    return Error(f"Pose.{method} takes {wanted}; found {shown}: dq.as_pose(value) takes any of them.", found=value)


def to_scipy(xyzw: Array) -> Any:
    """SciPy's ``Rotation`` of quaternions (x, y, z, w)."""
    try:
        from scipy.spatial.transform import Rotation
    except ImportError:
        raise missing_extra("scipy", "scipy", "Pose.to_scipy") from None
    return Rotation.from_quat(xyzw)


def to_pinocchio(matrix: Array) -> Any:
    """``pinocchio.SE3`` of one homogeneous transformation."""
    try:
        import pinocchio
    except ImportError:
        raise missing_extra("pin", "pinocchio", "Pose.to_pinocchio") from None
    return pinocchio.SE3(matrix)


def to_spatialmath(matrix: Array) -> Any:
    """spatialmath's ``SE3`` of homogeneous transformations, (4, 4) or (n, 4, 4)."""
    try:
        from spatialmath import SE3
    except ImportError:
        raise missing_extra("spatialmath-python", "spatialmath", "Pose.to_spatialmath") from None
    if matrix.ndim > 3:
        shape = matrix.shape[:-2]
        raise Error(f"spatialmath's SE3 holds a list of poses; found a batch of shape {shape}.", found=shape)
    return SE3(matrix, check=False) if matrix.ndim == 2 else SE3(list(matrix), check=False)
