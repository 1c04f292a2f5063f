"""Robots from Denavit-Hartenberg tables, standard and modified."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from dqdyn.algebra.any_pose import PoseLike
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.arrays import Array, RealArray
from dqdyn.errors import LoadError, unknown_name
from dqdyn.formats.serial import chain
from dqdyn.model.description import Description, DHTable, Joint, placement

LAYOUTS = ("rows", "columns")
WIDTHS = (4, 5)
KIND_OF_TYPE = {0.0: "revolute", 1.0: "prismatic"}


def describe_dh(
    table: RealArray,
    *,
    modified: bool = False,
    joints_in: Literal["rows", "columns"] | None = None,
    names: Sequence[str] | None = None,
    inertias: Sequence[chain.InertiaLike] | None = None,
    name: str = "dh",
    base: PoseLike = IDENTITY,
    tool: PoseLike = IDENTITY,
) -> Description:
    """A serial robot from a table of shape (n, 4) or (n, 5): one ROW per joint, columns θ, d, a, α and maybe the type.

    Angles in rad, lengths in m; type 0 is revolute (the coordinate adds to θ), 1 prismatic (it adds to d); without
    that column all joints are revolute. Standard DH chains ``Rz(θ) Tz(d) Tx(a) Rx(α)``; with ``modified`` (Craig) a
    row means ``Rx(α) Tx(a) Rz(θ) Tz(d)``, so it holds the a and α that come before its joint.

    The matrices of DQ Robotics have one COLUMN per joint: pass ``joints_in="columns"``. Shapes that could be either
    (4×4, 4×5, 5×4, 5×5) are refused until ``joints_in`` says which.

    ``names`` are those of the joints. ``inertias`` are in the DH frames of the links, as ``Inertia`` or (mass, com,
    tensor); None makes a robot for kinematics only. ``base`` is the pose of DH frame 0 in the root link, ``tool``
    that of the frame "tool" in the last DH frame: a ``Pose``, vec8 or 4×4 matrix.
    """
    rows = _oriented(chain.number_array(table, "A DH table"), joints_in)
    start = chain.pose_argument(base, "The base of a DH robot")
    joints: list[Joint] = []
    for i, (row, joint) in enumerate(zip(rows, chain.joint_names(names, len(rows)), strict=True)):
        *constants, kind = (*map(float, row), 0.0)[:5]
        before = start if i == 0 else IDENTITY
        origin, child = row_poses(constants, before, modified)
        joints.append(chain.chain_joint(i, joint, _kind(kind, i), origin=origin, child_origin=child))
    made = chain.serial_robot(name, joints, inertias, chain.pose_argument(tool, "The tool of a DH robot"))
    return made.with_changes(dh=DHTable(tuple((r[0], r[1], r[2], r[3]) for r in rows.tolist()), modified))


def row_poses(constants: Sequence[float], before: DQ, modified: bool) -> tuple[DQ, DQ]:
    """Where the joint of a row stands on the link before it, and the link after it on the joint.

    The joint moves about or along z, so it may stand before or after the constant motion about and along z.
    """
    theta, d, a, alpha = constants
    along_z = placement((0.0, 0.0, d), (0.0, 0.0, theta))
    along_x = placement((a, 0.0, 0.0), (alpha, 0.0, 0.0))
    return (before * along_x * along_z, IDENTITY) if modified else (before, along_z * along_x)


def _oriented(table: Array, joints_in: str | None) -> Array:
    """The table with one row per joint, or an error where that would be a guess."""
    if joints_in is not None and joints_in not in LAYOUTS:
        raise unknown_name("layout of a DH table (joints_in)", joints_in, LAYOUTS)
    rows_fit, columns_fit = table.shape[1] in WIDTHS, table.shape[0] in WIDTHS
    shape = f"{table.shape[0]}×{table.shape[1]}"
    if joints_in == "columns" and columns_fit:
        return table.T
    if joints_in == "rows" and rows_fit:
        return table
    if joints_in is not None or not (rows_fit or columns_fit):
        found = f"{shape} with joints_in={joints_in!r}" if joints_in else shape
        problem = f"A DH table has 4 or 5 numbers per joint (θ, d, a, α and maybe the type); found the shape {found}."
    elif not rows_fit:
        remedy = "as in DQ Robotics: pass joints_in='columns'"
        problem = f"The DH table of shape {shape} has one column per joint, {remedy}."
    elif columns_fit:
        remedy = "pass joints_in='rows' or joints_in='columns' (DQ Robotics)"
        problem = f"A DH table of shape {shape} may hold its joints in rows or in columns: {remedy}."
    else:
        return table
    raise LoadError(problem, shape=table.shape)


def _kind(kind: float, i: int) -> str:
    if kind not in KIND_OF_TYPE:
        problem = f"has the type {kind:g}: give 0 for revolute or 1 for prismatic."
        raise LoadError(f"Joint {i + 1} of the DH table {problem}", row=i, found=kind)
    return KIND_OF_TYPE[kind]
