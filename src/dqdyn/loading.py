"""From files and tables to robots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dqdyn.algebra.dual import IDENTITY
from dqdyn.arrays import RealArray
from dqdyn.errors import LoadError, UnknownNameError, missing_extra, unknown_name
from dqdyn.robot import Robot
from dqdyn.robot.options import Base

if TYPE_CHECKING:
    from dqdyn.algebra.any_pose import PoseLike
    from dqdyn.formats.serial.chain import InertiaLike
    from dqdyn.model.description import Description


def load(
    source: str | Path,
    *,
    base: Base | None = None,
    mimic: bool = True,
    strict: bool = False,
    constrained: bool = True,
    package_paths: Sequence[str | Path] = (),
    srdf: str | Path | None = None,
    xacro_args: Mapping[str, Any] | None = None,
) -> Robot:
    """A robot from a URDF, xacro, MJCF or JSON file, from such a text, or by name.

    Names are those of built-in robots, as "arm7", and where the package robot_descriptions is installed its own, as
    "panda_description", which are cloned from the network when they are first used.

    ``base`` is "fixed", "free", "planar" or "differential" (default: what the file says, else fixed).
    ``mimic=False`` gives mimic joints coordinates of their own; ``strict=True`` turns warnings into errors.
    ``constrained=False`` gives the bare tree: no loops are closed, and a differential base becomes a planar one.
    ``package_paths`` are folders in which packages that URDF and xacro name are searched first. ``srdf`` is an SRDF
    file or text with postures, groups and pairs of links that may touch; ``xacro_args`` are those of a xacro template.
    """
    folders, arguments = _folders(package_paths), _arguments(xacro_args)
    description = _named(source, folders, arguments)
    if description is None:
        from dqdyn.formats.load import read

        description = read(source, package_paths=folders, xacro_args=arguments)
    if srdf is not None:
        from dqdyn.formats.srdf.reader import with_srdf

        description = with_srdf(description, srdf)
    return Robot.from_description(
        description,
        base=base,
        mimic=mimic,
        strict=strict,
        constrained=constrained,
    )


def _named(source: str | Path, folders: list[Path], arguments: Mapping[str, Any]) -> Description | None:
    """The robot that a name stands for; None for a file or a text, an error for a name that is neither."""
    if not isinstance(source, str) or not source.isidentifier():
        return None
    from dqdyn.robots import downloaded
    from dqdyn.robots.builders import BUILDERS, describe

    if source in BUILDERS:
        if arguments:
            raise LoadError(f"{source!r} is a built-in robot, so it takes no xacro_args: leave them out.", name=source)
        return describe(source)
    if Path(source).exists():
        return None
    elsewhere = downloaded.names()
    if source in elsewhere:
        from dqdyn.formats.load import read

        found = downloaded.download(source)
        given = {**found.xacro_args, **arguments}
        return read(found.path, package_paths=(*folders, *found.package_paths), xacro_args=given)
    if source.endswith("_description") and not elsewhere:
        raise missing_extra("robot_descriptions", "descriptions", f"Loading {source!r}, a robot of that package,")
    error = unknown_name("built-in robot", source, [*BUILDERS, *elsewhere])
    raise UnknownNameError(f"{error} No file {source!r} exists either.", **error.data)


def _folders(given: Any) -> list[Path]:
    if isinstance(given, (str, Path)) or not isinstance(given, Iterable):
        raise LoadError(f"package_paths is a list of folders, as ['src', 'models']; found {given!r}.", found=given)
    folders = list(given)
    for folder in folders:
        if not isinstance(folder, (str, Path)) or not Path(folder).is_dir():
            raise LoadError(f"package_paths has {folder!r}, which is not a folder: correct it.", found=folder)
    return [Path(folder) for folder in folders]


def _arguments(given: Any) -> Mapping[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        raise LoadError(f"xacro_args is a dictionary, as {{'arm': 'left'}}; found {given!r}.", found=given)
    return given or {}


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
