"""Options that several commands share, so that they have one name and one meaning."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from dqdyn.arrays import Array
from dqdyn.cli.screen import count
from dqdyn.errors import StateError
from dqdyn.robot import Robot

QOption = Annotated[str | None, typer.Option("--q", help="Configuration, as in 0.1,0.2; default: neutral.")]
VOption = Annotated[str | None, typer.Option("--v", help="Velocity, as in 0.1,0.2; default: 0.")]
AOption = Annotated[str | None, typer.Option("--a", help="Acceleration, as in 0.1,0.2; default: 0.")]


def option(help: str, *names: str, **settings: Any) -> Any:
    """An option with the name of its parameter, or with these names."""
    return typer.Option(*names, help=help, **settings)


def argument(help: str, name: str | None = None, show_default: bool | str = False) -> Any:
    """An argument with the name of its parameter in capitals, or with this name."""
    return typer.Argument(help=help, metavar=name, show_default=show_default)


def random_option(what: str) -> Any:
    """A seed for what is not given."""
    return option(f"Draw a random {what} where none is given.", "--random", metavar="SEED", min=0)


def output_option(help: str) -> Any:
    """The file or folder to write to."""
    return option(help, "--output", "--out", "-o", show_default=False)


def state_of(robot: Robot, seed: int | None, **texts: str | None) -> list[Array]:
    """Those of q, v and a that are named: from their texts, else random with a seed, else neutral and at rest."""
    rng = None if seed is None else np.random.default_rng(seed)
    result = []
    for name, text in texts.items():
        if name == "q":
            default = robot.neutral() if rng is None else robot.random_configuration(rng)
        else:
            default = np.zeros(robot.nv) if rng is None else rng.normal(size=robot.nv)
        result.append(default if text is None else numbers(name, text, len(default)))
    return result


def numbers(name: str, text: str, size: int) -> Array:
    """The numbers of an option such as ``--q 0.1,0.2``."""
    try:
        values = np.array([float(part) for part in text.split(",")] if text.strip() else [])
    except ValueError:
        raise StateError(f"--{name} {text!r} is not a list of numbers: write them as 0.1,0.2.", option=name) from None
    if not np.isfinite(values).all():
        raise StateError(f"--{name} {text!r} is not finite: give finite numbers.", option=name)
    if len(values) != size:
        raise StateError(f"--{name} takes {count(size, 'number')}; found {len(values)}.", option=name, expected=size)
    return values
