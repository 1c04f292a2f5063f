"""Robots of the package ``robot_descriptions``, which clones their repositories when they are first asked for."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from dqdyn.errors import LoadError, one_line


@dataclass(frozen=True)
class Download:
    """Where a robot is: its file, folders of its packages, and arguments of its template."""

    path: Path
    package_paths: tuple[Path, ...] = ()
    xacro_args: Mapping[str, Any] = field(default_factory=dict)


def names() -> list[str]:
    """Names such as "panda_description"; empty where the package is not installed."""
    try:
        from robot_descriptions import DESCRIPTIONS
    except ImportError:
        return []
    return sorted(DESCRIPTIONS)


def download(name: str) -> Download:
    """The robot of that name, one of :func:`names`; cloned from the network unless it was before."""
    try:
        # Importing the module clones; it reports on stdout, which belongs to the answers of commands.
        with contextlib.redirect_stdout(sys.stderr), _without_questions():
            module = import_module(f"robot_descriptions.{name}")
    except Exception as problem:  # of git, of the network, of the file system
        said = [line.strip() for line in (getattr(problem, "stderr", "") or str(problem)).splitlines() if line.strip()]
        reason = one_line(next((line for line in said if "fatal" in line or "error" in line), said[-1] if said else ""))
        reason = reason.strip("' ").removeprefix("stderr: '").rstrip(".") or type(problem).__name__
        remedy = "check the network, or clone its repository into the folder ROBOT_DESCRIPTIONS_CACHE names"
        raise LoadError(f"the robot {name!r} could not be downloaded ({reason}): {remedy}.", name=name) from None
    file = next(
        (getattr(module, key) for key in ("URDF_PATH", "MJCF_PATH", "XACRO_PATH") if hasattr(module, key)), None
    )
    if file is None:
        raise LoadError(
            f"the robot {name!r} of robot_descriptions has no URDF, MJCF or xacro: load another.", name=name
        )
    package = getattr(module, "PACKAGE_PATH", os.path.dirname(file))
    folders = [package, os.path.dirname(package), getattr(module, "REPOSITORY_PATH", package)]
    folders += getattr(module, "XACRO_PACKAGE_PATHS", {}).values()
    return Download(Path(file), tuple(map(Path, folders)), getattr(module, "XACRO_ARGS", {}))


@contextlib.contextmanager
def _without_questions() -> Any:
    """Let git fail where it would wait for a password that nobody types."""
    former = os.environ.get("GIT_TERMINAL_PROMPT")
    os.environ["GIT_TERMINAL_PROMPT"] = "0"
    try:
        yield
    finally:
        if former is None:
            del os.environ["GIT_TERMINAL_PROMPT"]
        else:
            os.environ["GIT_TERMINAL_PROMPT"] = former
