"""From files and tables to robots."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dqdyn.robot import Robot
from dqdyn.robot.options import Base


def load(
    source: str | Path,
    *,
    base: Base | None = None,
    mimic: bool = True,
    strict: bool = False,
    constrained: bool = True,
    **options: Any,
) -> Robot:
    """A robot from a URDF, MJCF or JSON file, from such a text, or by the name of a built-in robot.

    ``base`` is "fixed", "free", "planar" or "differential" (default: what the file says, else fixed).
    ``mimic=False`` gives mimic joints coordinates of their own; ``strict=True`` turns warnings into errors.
    ``constrained=False`` gives the bare tree: no loops are closed, and a differential base becomes a planar one.
    """
    from dqdyn.formats.load import read

    if isinstance(source, str) and source.isidentifier() and not options:
        from dqdyn.robots.builders import BUILDERS, describe

        if source in BUILDERS:
            found = describe(source)
            return Robot.from_description(found, base=base, mimic=mimic, strict=strict, constrained=constrained)
    found = read(source, **options)
    return Robot.from_description(found, base=base, mimic=mimic, strict=strict, constrained=constrained)


def from_dh(table: Any, *, modified: bool = False, strict: bool = False, **options: Any) -> Robot:
    """An arm from a Denavit-Hartenberg table; see :func:`dqdyn.formats.serial.dh.describe_dh`."""
    from dqdyn.formats.serial.dh import describe_dh

    return Robot.from_description(describe_dh(table, modified=modified, **options), strict=strict)


def from_screws(axes: Any, home: Any, inertias: Any = None, *, strict: bool = False, **options: Any) -> Robot:
    """An arm from its screw axes at home; see :func:`dqdyn.formats.serial.screws.describe_screws`."""
    from dqdyn.formats.serial.screws import describe_screws

    return Robot.from_description(describe_screws(axes, home, inertias, **options), strict=strict)
