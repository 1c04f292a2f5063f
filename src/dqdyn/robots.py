"""Built-in robots: ``dqdyn.robots.chain(50)``, ``dqdyn.robots.names()``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from dqdyn.errors import unknown_name
from dqdyn.robot import Robot


def names() -> list[str]:
    """Names of the built-in robots."""
    from dqdyn.model import robots as descriptions  # built when they are asked for: importing dqdyn stays quick

    return list(descriptions.names())


def __getattr__(name: str) -> Callable[..., Robot]:
    if name.startswith("_"):
        raise AttributeError(name)
    from dqdyn.model import robots as descriptions

    if name not in descriptions.names():
        raise AttributeError(str(unknown_name("built-in robot", name, descriptions.names())))

    @functools.wraps(descriptions.BUILDERS[name])
    def robot(*arguments: Any, base: str | None = None, constrained: bool = True, **options: Any) -> Robot:
        found = descriptions.describe(name, *arguments, **options)
        return Robot.from_description(found, base=base, constrained=constrained)

    return robot


def __dir__() -> list[str]:
    return [*names(), "names"]
