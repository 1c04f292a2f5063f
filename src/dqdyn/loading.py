"""From files and tables to robots."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from dqdyn.algebra.dual import IDENTITY
from dqdyn.arrays import RealArray
from dqdyn.robot import Robot
from dqdyn.robot.options import Base

if TYPE_CHECKING:
    from dqdyn.algebra.any_pose import PoseLike
    from dqdyn.formats.serial.chain import InertiaLike


def load(
    source: str | Path,
    *,
    base: Base | None = None,
    mimic: bool = True,
    strict: bool = False,
    constrained: bool = True,
    package_paths: Sequence[Path] = (),
) -> Robot:
    """A robot from a URDF, MJCF or JSON file, from such a text, or by the name of a built-in robot.

    ``base`` is "fixed", "free", "planar" or "differential" (default: what the file says, else fixed).
    ``mimic=False`` gives mimic joints coordinates of their own; ``strict=True`` turns warnings into errors.
    ``constrained=False`` gives the bare tree: no loops are closed, and a differential base becomes a planar one.
    ``package_paths`` are folders in which meshes of URDF named ``package://…`` are searched first.
    """
    from dqdyn.formats.load import read

    description = None
    if isinstance(source, str) and source.isidentifier():
        from dqdyn.robots.builders import BUILDERS, describe

        description = describe(source) if source in BUILDERS else None
    return Robot.from_description(
        description or read(source, package_paths=package_paths),
        base=base,
        mimic=mimic,
        strict=strict,
        constrained=constrained,
    )


def from_dh(
    table: RealArray,
    *,
    modified: bool = False,
    joints_in: Literal["rows", "columns"] | None = None,
    names: Sequence[str] | None = None,
    inertias: Sequence[InertiaLike] | None = None,
    name: str = "dh",
    base: PoseLike = IDENTITY,
    tool: PoseLike = IDENTITY,
    strict: bool = False,
) -> Robot:
    """An arm from a Denavit-Hartenberg table; see :func:`dqdyn.formats.serial.dh.describe_dh`."""
    from dqdyn.formats.serial.dh import describe_dh

    description = describe_dh(
        table,
        modified=modified,
        joints_in=joints_in,
        names=names,
        inertias=inertias,
        name=name,
        base=base,
        tool=tool,
    )
    return Robot.from_description(description, strict=strict)


def from_screws(
    axes: RealArray,
    home: PoseLike,
    inertias: Sequence[InertiaLike] | None = None,
    *,
    links: Sequence[PoseLike] | None = None,
    names: Sequence[str] | None = None,
    name: str = "screws",
    strict: bool = False,
) -> Robot:
    """An arm from its screw axes at home; see :func:`dqdyn.formats.serial.screws.describe_screws`."""
    from dqdyn.formats.serial.screws import describe_screws

    description = describe_screws(axes, home, inertias, links=links, names=names, name=name)
    return Robot.from_description(description, strict=strict)
