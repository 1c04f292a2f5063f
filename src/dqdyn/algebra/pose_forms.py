"""The forms of a pose: quaternions in either order, angles, matrices, and values of other libraries."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from dqdyn.algebra import foreign_poses, ros_messages
from dqdyn.algebra.checks import UNIT_TOLERANCE, require_unit
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.frame_names import Name, require_names
from dqdyn.algebra.framed import Framed
from dqdyn.algebra.poses import pose, position, rotation_matrix
from dqdyn.algebra.quaternion import Quaternion, pure, quaternions_from_matrices
from dqdyn.algebra.real import real_array
from dqdyn.algebra.rows import at_row, first_row, row_number
from dqdyn.algebra.scalar import stack
from dqdyn.algebra.value import batch_shape, require_broadcast, vector
from dqdyn.arrays import Array, RealArray, Reals
from dqdyn.errors import Error

P = TypeVar("P", bound="PoseForms")

_GIMBAL = 1e-12
"""Below this, roll and yaw turn about the same axis, and only their sum or difference is known."""


class PoseForms(Framed):
    """The forms of a pose. All of them take and give batches, except where another library has none."""

    __slots__ = ()

    @classmethod
    def _made(cls: type[P], rotation: Reals, translation: Reals | None, body: Name, reference: Name) -> P:
        dq = require_unit(pose_of_parts(rotation, translation), "A pose")
        return cls.of(dq, *require_names((body, reference)))

    # --- quaternions and translation ------------------------------------------------------------------------------

    @property
    def rotation(self) -> Array:
        """Unit quaternion (w, x, y, z), shape (..., 4)."""
        return stack(self.dq.primary.components, batch=self.shape)

    @property
    def xyzw(self) -> Array:
        """Unit quaternion with the real part last, (x, y, z, w), as ROS, SciPy and Pinocchio order it; (..., 4)."""
        return np.roll(self.rotation, -1, axis=-1)

    @property
    def translation(self) -> Array:
        """Position of the frame's origin in m, shape (..., 3)."""
        return stack(position(self.dq).vector, batch=self.shape)

    @classmethod
    def from_xyzw(
        cls: type[P], xyzw: Reals, translation: Reals | None = None, *, body: Name = None, reference: Name = None
    ) -> P:
        """The pose of a unit quaternion with the real part last, (..., 4), and a translation in m, (..., 3)."""
        x, y, z, w = vector(xyzw, 4, "A rotation (x, y, z, w)")
        return cls._made(stack((w, x, y, z)), translation, body, reference)

    # --- roll, pitch, yaw -----------------------------------------------------------------------------------------

    @property
    def rpy(self) -> Array:
        """Roll, pitch and yaw in rad, (..., 3), of R = Rz(yaw) Ry(pitch) Rx(roll), as in URDF; pitch is within ±π/2.

        At a pitch of ±π/2 only roll ∓ yaw is determined; yaw is 0 there.
        """
        w, x, y, z = np.moveaxis(self.rotation, -1, 0)
        up, down = np.hypot(w + y, x - z), np.hypot(w - y, x + z)
        pitch = 2.0 * np.arctan2(up - down, up + down)
        half_difference, half_sum = np.arctan2(x - z, w + y), np.arctan2(x + z, w - y)  # of roll and yaw
        half_sum = np.where(down < _GIMBAL, half_difference, half_sum)
        half_difference = np.where(up < _GIMBAL, half_sum, half_difference)
        roll, yaw = half_sum + half_difference, half_sum - half_difference
        wrapped = [np.arctan2(np.sin(angle), np.cos(angle)) for angle in (roll, yaw)]
        return np.stack([wrapped[0], pitch, wrapped[1]], axis=-1)

    @classmethod
    def from_rpy(
        cls: type[P], rpy: Reals, translation: Reals | None = None, *, body: Name = None, reference: Name = None
    ) -> P:
        """The pose of roll, pitch and yaw in rad, (..., 3), R = Rz(yaw) Ry(pitch) Rx(roll), and a translation in m."""
        angles = real_array(rpy, "A triple of roll, pitch and yaw")
        vector(angles, 3, "A triple of roll, pitch and yaw")
        (cr, cp, cy), (sr, sp, sy) = (np.moveaxis(f(angles / 2.0), -1, 0) for f in (np.cos, np.sin))
        turn = Quaternion(cy, 0.0, 0.0, sy) * Quaternion(cp, 0.0, sp, 0.0) * Quaternion(cr, sr, 0.0, 0.0)
        return cls._made(stack(turn.components), translation, body, reference)

    # --- matrices -------------------------------------------------------------------------------------------------

    @property
    def rotation_matrix(self) -> Array:
        """Shape (..., 3, 3)."""
        return np.array(np.broadcast_to(rotation_matrix(self.dq), (*self.shape, 3, 3)))

    @property
    def matrix(self) -> Array:
        """Homogeneous transformation, shape (..., 4, 4)."""
        result = np.zeros((*self.shape, 4, 4))
        result[..., :3, :3], result[..., :3, 3], result[..., 3, 3] = self.rotation_matrix, self.translation, 1.0
        return result

    @classmethod
    def from_matrix(cls: type[P], matrix: RealArray, *, body: Name = None, reference: Name = None) -> P:
        """The pose of homogeneous transformations (..., 4, 4) or rotation matrices (..., 3, 3)."""
        m = real_array(matrix, "A transformation matrix")
        if m.shape[-2:] not in ((3, 3), (4, 4)):
            raise Error(f"A rotation is (3, 3) and a transformation (4, 4); found shape {m.shape}.", found=m.shape)
        homogeneous, r = m.shape[-1] == 4, m[..., :3, :3]
        if homogeneous:
            off = np.abs(m[..., 3, :] - (0.0, 0.0, 0.0, 1.0)).max(axis=-1)
            row = first_row(~(off <= UNIT_TOLERANCE))
            if row is not None:
                what = f"The last row of a 4×4 matrix is (0, 0, 0, 1); found {m[row][3]}{at_row(row)}"
                raise Error(f"{what}: is it transposed?", found=m[row], row=row_number(row))
        with np.errstate(invalid="ignore", over="ignore"):
            off = np.abs(r @ np.swapaxes(r, -1, -2) - np.eye(3)).max(axis=(-1, -2))
            row = first_row(~(off <= UNIT_TOLERANCE) | ~(np.linalg.det(r) > 0.0))
        if row is not None:
            what = f"The 3×3 part{at_row(row)} is not a rotation matrix"
            raise Error(f"{what}: it must be orthogonal with determinant 1.", found=r[row], row=row_number(row))
        translation = m[..., :3, 3] if homogeneous else None
        return cls._made(quaternions_from_matrices(r), translation, body, reference)

    # --- values of other libraries --------------------------------------------------------------------------------

    @classmethod
    def from_scipy(
        cls: type[P], rotation: Any, translation: Reals | None = None, *, body: Name = None, reference: Name = None
    ) -> P:
        """The pose of SciPy's ``Rotation`` and a translation in m, or of its ``RigidTransform``; batches stay so."""
        parts = foreign_poses.scipy_parts(rotation)
        return cls._from_parts(parts, translation, "SciPy's RigidTransform", body, reference)

    @classmethod
    def from_pinocchio(cls: type[P], placement: Any, *, body: Name = None, reference: Name = None) -> P:
        """The pose of one ``pinocchio.SE3``."""
        return cls._from_parts(foreign_poses.pinocchio_parts(placement), None, "", body, reference)

    @classmethod
    def from_spatialmath(
        cls: type[P], value: Any, translation: Reals | None = None, *, body: Name = None, reference: Name = None
    ) -> P:
        """The pose of spatialmath's ``SE3``, or of its ``SO3`` or ``UnitQuaternion`` and a translation in m.

        One that holds several poses gives a batch.
        """
        parts = foreign_poses.spatialmath_parts(value)
        return cls._from_parts(parts, translation, "spatialmath's SE3", body, reference)

    @classmethod
    def _from_parts(
        cls: type[P], parts: foreign_poses.Parts, translation: Reals | None, what: str, body: Name, reference: Name
    ) -> P:
        """A quaternion, or matrices, and perhaps a translation that leaves no room for another one."""
        rotation, own = parts
        if own is not None and translation is not None:
            raise Error(f"{what} has a translation of its own: leave out the second one.", found=translation)
        if rotation.shape[-2:] == (3, 3):
            rotation = cls.from_matrix(rotation).rotation
        return cls._made(rotation, translation if own is None else own, body, reference)

    def to_scipy(self) -> Any:
        """SciPy's ``Rotation`` of the pose; the translation is not part of it: see ``translation``."""
        return foreign_poses.to_scipy(self.xyzw)

    def to_pinocchio(self) -> Any:
        """``pinocchio.SE3`` of one pose."""
        self._require_one("pinocchio.SE3")
        return foreign_poses.to_pinocchio(self.matrix)

    def to_spatialmath(self) -> Any:
        """spatialmath's ``SE3``; a batch of shape (n,) gives one that holds n poses."""
        return foreign_poses.to_spatialmath(self.matrix)

    def to_ros(self) -> ros_messages.Message:
        """One pose as a dictionary with the fields of ROS's ``geometry_msgs/Pose``: position, orientation (x y z w)."""
        self._require_one("a ROS message")
        orientation = ros_messages.fields("xyzw", self.xyzw)
        return {"position": ros_messages.fields("xyz", self.translation), "orientation": orientation}

    @classmethod
    def from_ros(cls: type[P], message: Any, *, body: Name = None, reference: Name = None) -> P:
        """The pose of ROS's ``Pose``, ``Transform``, ``PoseStamped`` or ``TransformStamped``: dictionary or message.

        The frames of the stamped ones become the names of the frames, unless others are given.
        """
        plain, names = ros_messages.pose_entries(message)
        return cls.from_xyzw(
            ros_messages.read(plain[1], "xyzw", "the orientation of a ROS pose"),
            ros_messages.read(plain[0], "xyz", "the position of a ROS pose"),
            body=names[0] if body is None else body,
            reference=names[1] if reference is None else reference,
        )


def pose_of_parts(rotation: Reals | None, translation: Reals | None) -> DQ:
    """x = r + ½ε p r of (w, x, y, z) and a translation; a missing one is 1 or 0. The norm is not checked."""
    r = vector((1.0, 0.0, 0.0, 0.0) if rotation is None else rotation, 4, "A rotation (w, x, y, z)")
    p = vector((0.0, 0.0, 0.0) if translation is None else translation, 3, "A translation")
    require_broadcast(batch_shape(r[0]), batch_shape(p[0]))
    return pose(Quaternion(*r), pure(*p))
