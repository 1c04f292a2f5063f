"""The argument ROBOT of the commands, a file or a built-in robot such as ``chain:50``, and the options to load it."""

from __future__ import annotations

import ast
import warnings
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from dqdyn.errors import Error, ModelWarning, UnknownNameError, unknown_name
from dqdyn.loading import load
from dqdyn.robot import Robot
from dqdyn.robot.options import Base
from dqdyn.robots import builders as builtin

_SOURCES = "A file (.urdf, .xacro, .xml, .json), or a built-in robot: arm7, chain:50, chain:n=8,seed=3."
RobotArgument = Annotated[str, typer.Argument(metavar="ROBOT", help=_SOURCES, show_default=False)]
BaseOption = Annotated[str | None, typer.Option(help="fixed, free, planar or differential; default: the robot's own.")]
NoMimicOption = Annotated[bool, typer.Option("--no-mimic", help="Give mimic joints coordinates of their own.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="Turn warnings into errors.")]


PackagesOption = Annotated[
    list[Path] | None, typer.Option("--package-path", help="A folder that holds packages of meshes and templates.")
]
XacroOption = Annotated[list[str] | None, typer.Option("--xacro-arg", help="An argument of a template: name=value.")]
SrdfOption = Annotated[Path | None, typer.Option(help="An SRDF file with postures, groups and pairs that may touch.")]


def robot_of(
    source: RobotArgument,
    base: BaseOption = None,
    no_mimic: NoMimicOption = False,
    strict: StrictOption = False,
    package_path: PackagesOption = None,
    srdf: SrdfOption = None,
    xacro_arg: XacroOption = None,
) -> Robot:
    """The robot that a user names on the command line; its warnings are in ``robot.warnings``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # commands print them themselves
        name, _, options = source.partition(":")
        if name in builtin.names():
            positional, named = _arguments(source, options)
            described = builtin.describe(name, *positional, **named)
            return Robot.from_description(described, base=cast("Base | None", base), mimic=not no_mimic, strict=strict)
        path = Path(source)
        is_file = path.exists() or path.suffix or len(path.parts) > 1
        if is_file or source.isidentifier():
            given: dict[str, Any] = {"package_paths": package_path or [], "srdf": srdf}
            given["xacro_args"] = dict(map(_template_argument, xacro_arg or []))
            chosen: str | Path = path if is_file else source
            return load(chosen, base=cast("Base | None", base), mimic=not no_mimic, strict=strict, **given)
    error = unknown_name("built-in robot", name, builtin.names())
    raise UnknownNameError(f"{error} No file {source!r} exists either.", **error.data)


def _template_argument(text: str) -> tuple[str, str]:
    """Of ``name=value``, or ``name:=value`` as ROS writes it."""
    name, equals, value = text.partition("=")
    if not equals or not name.rstrip(":"):
        raise Error(f"--xacro-arg takes name=value, as in --xacro-arg arm=left; found {text!r}.", option=text)
    return name.rstrip(":"), value


def _arguments(source: str, options: str) -> tuple[list[Any], dict[str, Any]]:
    """Of ``50,seed=1``: the values without names, and those with names."""
    positional, named = [], {}
    for option in options.split(",") if options else ():
        *name, text = option.split("=", 1)
        try:
            value = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            remedy = "write options as in chain:50 or chain:n=50,seed=1."
            raise Error(f"In {source!r}, {text!r} is not a number: {remedy}", option=text) from None
        if name:
            named[name[0].strip()] = value
        else:
            positional.append(value)
    return positional, named
