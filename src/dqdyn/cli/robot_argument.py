"""The argument ROBOT of the commands: a file, or a built-in robot such as ``chain:50``."""

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

RobotArgument = Annotated[
    str,
    typer.Argument(
        metavar="ROBOT",
        help="A file (.urdf, .xml, .json), or a built-in robot: arm7, chain:50, chain:n=8,seed=3.",
        show_default=False,
    ),
]
BaseOption = Annotated[
    str | None, typer.Option("--base", help="fixed, free, planar or differential; default: what the robot says.")
]
NoMimicOption = Annotated[bool, typer.Option("--no-mimic", help="Give mimic joints coordinates of their own.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="Turn warnings into errors.")]


def robot_of(source: str, *, base: str | None = None, mimic: bool = True, strict: bool = False) -> Robot:
    """The robot that a user names on the command line; its doubts are in ``robot.warnings``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # commands show them in their own way
        name, _, options = source.partition(":")
        if name in builtin.names():
            described = builtin.describe(name, *_positional(source, options), **_named(source, options))
            return Robot.from_description(described, base=cast("Base | None", base), mimic=mimic, strict=strict)
        if _looks_like_file(source):
            return load(Path(source), base=cast("Base | None", base), mimic=mimic, strict=strict)
    raise _neither(source, name)


def _looks_like_file(source: str) -> bool:
    path = Path(source)
    return path.exists() or bool(path.suffix) or len(path.parts) > 1


def _neither(source: str, name: str) -> UnknownNameError:
    error = unknown_name("built-in robot", name, builtin.names())
    return UnknownNameError(f"{error} There is no file {source!r} either.", **error.data)


def _positional(source: str, options: str) -> list[Any]:
    return [_value(source, part) for part in _parts(options) if "=" not in part]


def _named(source: str, options: str) -> dict[str, Any]:
    pairs = (part.partition("=") for part in _parts(options) if "=" in part)
    return {key.strip(): _value(source, value) for key, _, value in pairs}


def _parts(options: str) -> list[str]:
    return options.split(",") if options else []


def _value(source: str, text: str) -> Any:
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError):
        raise Error(
            f"In {source!r}, {text!r} is not a number: write options as in chain:50 or chain:n=50,seed=1.",
            option=text,
        ) from None
