"""Built-in robots: ``dqdyn.robots.chain(50)``, ``dqdyn.robots.names()``.

One file per family describes them; they are imported on first use, so that importing dqdyn stays quick.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from dqdyn.errors import unknown_name
from dqdyn.robot import Robot
from dqdyn.robot.options import Base


def names() -> list[str]:
    """Names of the built-in robots."""
    from dqdyn.robots.builders import BUILDERS

    return list(BUILDERS)


def __getattr__(name: str) -> Callable[..., Robot]:
    if name.startswith("_") or name == "builders":
        raise AttributeError(name)
    from dqdyn.robots.builders import BUILDERS, describe

    if name not in BUILDERS:
        raise AttributeError(str(unknown_name("built-in robot", name, BUILDERS)))

    @functools.wraps(BUILDERS[name])
    def robot(*arguments: Any, base: Base | None = None, constrained: bool = True, **options: Any) -> Robot:
        return Robot.from_description(describe(name, *arguments, **options), base=base, constrained=constrained)

    return robot


def __dir__() -> list[str]:
    return [*names(), "names"]
