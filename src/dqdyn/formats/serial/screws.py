"""Robots from the screws of their joints at home: the product of exponentials."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dqdyn.algebra.any_pose import PoseLike
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.arrays import Array, RealArray
from dqdyn.errors import LoadError
from dqdyn.formats.serial import chain
from dqdyn.model.check import AXIS_TOLERANCE
from dqdyn.model.description import Description, Joint, placement
from dqdyn.model.inertia import as_vector

ROUNDING = 1e-9
"""What may be rounding: a pitch below this share of the moment, or a direction shorter than this, counts as zero."""
FINEST_PITCH = 1e-5
"""In m/rad (0.06 mm per turn). A pitch below it is rather a moment with few digits, which is said in a warning."""


def describe_screws(
    axes: RealArray,
    home: PoseLike,
    inertias: Sequence[chain.InertiaLike] | None = None,
    *,
    links: Sequence[PoseLike] | None = None,
    names: Sequence[str] | None = None,
    name: str = "screws",
) -> Description:
    """A serial robot from its joint screws at home, q = 0, in the base frame.

    ``axes`` has the shape (n, 6), each row [l, m] of the screw l + εm: a unit l with m = p × l for a point p of the
    axis is revolute; m = p × l + h l is helical with the pitch h in m/rad; l = 0 with a unit m is prismatic along m.
    ``home`` is the pose of the frame "tool" at home: a ``Pose``, vec8 or 4×4 matrix. Then x_tool = exp(s₁q₁/2) ⋯
    exp(sₙqₙ/2) · home.

    ``links`` are the poses of the n link frames at home, e.g. at the centers of mass as Farias has them; None puts
    all of them at the base frame. ``inertias``, as ``Inertia`` or (mass, com, tensor), are in the link frames.

    A link moves against the one before as δ exp(a q/2) with δ = δᵢ₋₁* δᵢ and a the screw in frame i [Farias, eq.
    (38)]; its print has δ the other way round. At home and elsewhere these chain to the tool [Farias, eq. (37)]
    [Farias, eq. (39)].
    """
    screws = chain.number_array(axes, "A list of screws")
    n = len(screws)
    if screws.shape[1] != 6:
        shape = screws.shape
        raise LoadError(f"A screw has six numbers, direction and moment; found the shape {shape}.", shape=shape)
    at_home = [IDENTITY, *_link_poses(links, n)]
    notes: list[str] = []
    labels = chain.joint_names(names, n)
    joints = [_joint(i, labels[i], screw, at_home, notes) for i, screw in enumerate(screws)]
    tool = at_home[-1].conj() * chain.pose_argument(home, "The home pose")
    return chain.serial_robot(name, joints, inertias, tool, notes)


def _link_poses(links: Sequence[PoseLike] | None, n: int) -> list[DQ]:
    if links is None:
        return [IDENTITY] * n
    chain.require_one_each(links, n, "screws", "link poses: give one per link that moves")
    return [chain.pose_argument(pose, f"The home pose of link {i + 1}") for i, pose in enumerate(links)]


def _joint(i: int, name: str, screw: Array, at_home: list[DQ], notes: list[str]) -> Joint:
    l, m = screw[:3], screw[3:]
    turning, sliding = float(np.linalg.norm(l)), float(np.linalg.norm(m))
    pitch, point, kind = 0.0, np.zeros(3), "prismatic"
    if turning > ROUNDING:
        _require_unit(turning, i, "direction")
        pitch, point = float(l @ m) / turning**2, np.cross(l, m) / turning**2
        kind = "helical" if abs(pitch) > ROUNDING * max(1.0, sliding) else "revolute"
    elif sliding > ROUNDING:
        _require_unit(sliding, i, "moment (its direction is zero, so it is prismatic)")
    else:
        raise LoadError(f"Screw {i + 1} is zero: give a unit direction, or a unit moment for a prismatic joint.", row=i)
    if kind == "helical" and abs(pitch) < FINEST_PITCH:
        remedy = "for a revolute joint give a moment orthogonal to the direction, m = p × l"
        notes.append(f"screw {i + 1} has the tiny pitch {pitch:.3g} m/rad and is helical; {remedy}.")
    # The joint frame stands on the axis with the axes of the base, whatever the frames of the two links are.
    on_axis = placement(point)
    origin, child_origin = at_home[i].conj() * on_axis, on_axis.conj() * at_home[i + 1]
    axis, pitch = as_vector(m if kind == "prismatic" else l), pitch if kind == "helical" else 0.0
    return chain.chain_joint(i, name, kind, axis=axis, pitch=pitch, origin=origin, child_origin=child_origin)


def _require_unit(size: float, i: int, what: str) -> None:
    # Between rounding and this tolerance the model warns and uses length one, as it does for every axis.
    if not math.isclose(size, 1.0, abs_tol=AXIS_TOLERANCE, rel_tol=0.0):
        raise LoadError(f"Screw {i + 1} has a {what} of length {size:.6g}: divide the screw by it.", row=i, length=size)
