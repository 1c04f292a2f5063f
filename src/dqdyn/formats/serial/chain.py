"""Serial chains given as numbers: what DH tables and screws share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.any_pose import PoseLike, as_pose
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.real import REAL
from dqdyn.arrays import Array, RealArray, RealNumber
from dqdyn.errors import Error, LoadError
from dqdyn.model.check import in_range
from dqdyn.model.description import Description, Joint, Link, NamedFrame
from dqdyn.model.inertia import Inertia

ROOT_LINK = "base"
TOOL = "tool"

InertiaLike = Inertia | tuple[RealNumber, RealArray, RealArray]
"""An inertia, or mass, center of mass and tensor."""


def number_array(values: Any, what: str) -> Array:
    """A two-dimensional array of finite numbers, or an error that names the row."""
    try:
        rows = [list(row) for row in values]
    except TypeError:
        raise LoadError(f"{what} is a list of rows of numbers; found {values!r}.", found=values) from None
    if not rows:
        raise LoadError(f"{what} has no rows: give one per joint.", found=values)
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            counts = f"{len(rows[0])} numbers in row 1 and {len(row)} in row {i + 1}"
            raise LoadError(f"{what} has {counts}: make them equal.", row=i)
        for j, entry in enumerate(row):
            if not (isinstance(entry, REAL) and in_range(entry)):
                found = f"{entry!r} in row {i + 1}, column {j + 1}"
                raise LoadError(f"{what} has {found}: give a finite number.", row=i, column=j)
    return np.array(rows, dtype=float)


def pose_argument(value: PoseLike, what: str) -> DQ:
    """One pose, in any form that :func:`dqdyn.as_pose` takes."""
    try:
        pose = as_pose(value)
    except (TypeError, ValueError) as error:
        raise LoadError(f"{what} must be a Pose, a vec8 or a 4×4 matrix: {error}", found=value) from None
    if pose.shape:
        raise LoadError(f"{what} must be one pose; found a batch of shape {pose.shape}.", found=value)
    return pose.dq


def require_one_each(values: Sequence[Any], n: int, owners: str, values_remedy: str) -> None:
    """An error where there are not n values."""
    if len(values) != n:
        raise LoadError(f"There are {n} {owners} but {len(values)} {values_remedy}.", expected=n, found=len(values))


def joint_names(names: Sequence[str] | None, n: int) -> list[str]:
    """Names of n joints: those given, or joint1, joint2, …"""
    if names is None:
        return [f"joint{i + 1}" for i in range(n)]
    names = [names] if isinstance(names, str) else list(names)
    require_one_each(names, n, "joints", "names: give one per joint")
    return names


def _inertias(inertias: Sequence[InertiaLike] | None, n: int) -> list[Inertia]:
    """Inertias of n links: ``Inertia`` values or (mass, com, tensor); None makes a robot for kinematics only."""
    if inertias is None:
        return [Inertia()] * n
    require_one_each(inertias, n, "joints", "inertias: give one per link that moves")
    return [_inertia(value, f"link{i + 1}") for i, value in enumerate(inertias)]


def _inertia(value: Any, link: str) -> Inertia:
    try:
        inertia = value if isinstance(value, Inertia) else Inertia(*value)
    except (TypeError, ValueError) as problem:
        reason = f": {problem}" if isinstance(problem, Error) else f"; found {value!r}."
        expected = "must be an Inertia or (mass, com, 3×3 tensor)"
        raise LoadError(f"The inertia of {link!r} {expected}{reason}", element=link) from None
    tensor = np.array(inertia.tensor)
    if not np.allclose(tensor, tensor.T, rtol=1e-9, atol=1e-12, equal_nan=True):
        remedy = "give the same number on both sides of the diagonal"
        raise LoadError(f"The inertia tensor of {link!r} is not symmetric: {remedy}.", element=link)
    return inertia


def serial_robot(
    name: str, joints: Sequence[Joint], inertias: Sequence[InertiaLike] | None, tool: DQ, notes: Sequence[str] = ()
) -> Description:
    """The links base, link1, link2, … with these joints between them, and the frame "tool" on the last one."""
    moving = (Link(link_name(i + 1), inertia) for i, inertia in enumerate(_inertias(inertias, len(joints))))
    frame = NamedFrame(TOOL, link_name(len(joints)), tool)
    return Description(name, (Link(ROOT_LINK), *moving), tuple(joints), (frame,), notes=tuple(notes))


def link_name(i: int) -> str:
    """The link that the i-th joint moves, counted from one; 0 is the root."""
    return f"link{i}" if i else ROOT_LINK


def chain_joint(i: int, name: str, kind: str, **geometry: Any) -> Joint:
    """The joint from link i to link i + 1."""
    return Joint(name, kind, link_name(i), link_name(i + 1), **geometry)
