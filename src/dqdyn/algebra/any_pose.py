"""One door for poses, in whatever form people have them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from dqdyn.algebra import foreign_poses
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.frame_names import Name
from dqdyn.algebra.real import scalar_array
from dqdyn.algebra.values import Pose
from dqdyn.arrays import RealArray
from dqdyn.errors import Error, one_line

PoseLike: TypeAlias = Pose | DQ | RealArray | foreign_poses.ForeignPose
"""What :func:`as_pose` takes."""

FORMS = "a Pose, a DQ, vec8, a 3×3 or 4×4 matrix, or a pose of SciPy, Pinocchio or spatialmath"


def as_pose(value: PoseLike, *, body: Name = None, reference: Name = None) -> Pose:
    """The pose of a ``Pose``, ``DQ``, vec8 (..., 8), matrices (..., 3, 3) or (..., 4, 4), SciPy's ``Rotation`` or
    ``RigidTransform``, ``pinocchio.SE3``, or spatialmath's ``SE3``, ``SO3`` or ``UnitQuaternion``.

    A pose that names its frames keeps the names that are not given anew.
    """
    if isinstance(value, Pose):
        names = zip((body, reference), value.frames, strict=True)
        new_body, new_reference = (old if new is None else new for new, old in names)
        return value if body is reference is None else value.with_frames(body=new_body, reference=new_reference)
    if isinstance(value, DQ):
        return Pose(value, body=body, reference=reference)
    if isinstance(value, (str, bytes, dict)) or value is None:
        raise _unknown(value)
    if (read := foreign_poses.reader(value)) is not None:
        return Pose._from_parts(read(value), None, "", body, reference)
    array = scalar_array(value, "a pose")
    if array.ndim and array.shape[-1] == 8:
        return Pose(array, body=body, reference=reference)
    if array.shape[-2:] in ((3, 3), (4, 4)):
        return Pose.from_matrix(array, body=body, reference=reference)
    raise _unknown(value, array.shape)


def is_foreign_pose(value: Any) -> bool:
    """Whether this is a pose of another library, or a list or an array that has the shape of a 3×3 or 4×4 matrix."""
    if foreign_poses.reader(value) is not None:
        return True
    rows = value if isinstance(value, (list, tuple)) else ()
    shape = getattr(value, "shape", None) if not rows else (len(rows), *{np.size(row) for row in rows})
    return shape in ((3, 3), (4, 4))


_REMEDIES = {
    3: ": a position alone is dq.Pose(translation=[x, y, z])",
    4: ": a rotation alone is dq.Pose(rotation=[w, x, y, z]) or dq.Pose.from_xyzw([x, y, z, w])",
    6: ": of angles and a position, use dq.Pose.from_rpy([roll, pitch, yaw], [x, y, z])",
    7: ": of a quaternion and a position, use dq.Pose.from_xyzw([x, y, z, w], [x, y, z]), or dq.Pose with w first",
}
"""What makes a pose of so many numbers, which say it in more than one order."""


def _unknown(value: Any, shape: tuple[int, ...] | None = None) -> Error:
    found = one_line(repr(value), 80) if shape is None else f"numbers of shape {shape}"
    remedy = _REMEDIES.get(shape[-1] if shape else 0, "")
    remedy = ": of a ROS message, use dq.Pose.from_ros(message)" if isinstance(value, dict) else remedy
    return Error(f"A pose is {FORMS}; found {found}{remedy}.", found=value)
