"""What makes a function a command: ``@command``. How to add one is described in :mod:`dqdyn.cli.app`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from typing import Any, Literal, TypeAlias, get_args

from dqdyn.cli.robot_argument import robot_of
from dqdyn.cli.screen import JsonOption, Printable, emit, warn

Answer: TypeAlias = tuple[Any, Printable]
"""What a command prints: its data for ``--json``, and a drawing of them for people."""
Command: TypeAlias = Callable[..., Iterator[Answer]]
HelpPanel = Literal["Explore", "Compute", "Compare and measure", "Write files", "Read the papers"]
REGISTERED: dict[str, list[Callable[..., None]]] = {panel: [] for panel in get_args(HelpPanel)}
"""Commands as Typer takes them, by their panel in ``dqdyn --help``."""

_JSON = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=JsonOption)


def command(panel: HelpPanel, *, robot: str | None = None, warns: bool = True) -> Callable[[Command], Command]:
    """Register a generator function that yields what it prints; its name, options and docstring are the command's.

    A parameter ``robot`` is the robot that the argument ROBOT names, loaded with ``--base``, ``--no-mimic`` and
    ``--strict``; a parameter ``source`` is that argument as it was typed. ``--json`` is added to every command.
    ``robot`` here is the default of ROBOT; ``warns=False`` leaves the robot's warnings to the command.
    """

    def register(function: Command) -> Command:
        own = _parameters_of(function)
        loading = _parameters_of(robot_of) if "robot" in own else {}
        if robot is not None:
            loading["source"] = loading["source"].replace(default=robot)

        def run(*, as_json: bool, **given: Any) -> None:
            if loading:
                loaded = given["robot"] = robot_of(**{name: given[name] for name in loading})
                for text in loaded.warnings if warns else ():
                    warn(text)
            with closing(function(**{name: given[name] for name in own})) as answers:  # type: ignore[type-var]
                try:
                    for data, drawing in answers:
                        emit(data, drawing, as_json)
                except KeyboardInterrupt as interrupt:
                    # A command that serves ends by it as it should, also where it comes while this prints.
                    with suppress(StopIteration):
                        answers.throw(interrupt)  # type: ignore[attr-defined]

        first = dict(list(loading.items())[:1])  # ROBOT, before the arguments of the command itself
        asked = {**first, **own, **loading, "as_json": _JSON}
        asked.pop("robot", None)
        run.__name__, run.__doc__ = function.__name__, function.__doc__
        run.__annotations__ = {name: parameter.annotation for name, parameter in asked.items()}
        run.__signature__ = inspect.Signature(list(asked.values()))  # type: ignore[attr-defined]
        REGISTERED[panel].append(run)
        return function

    return register


def _parameters_of(function: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """Given by name, so that those with a default may precede those without."""
    given = inspect.signature(function, eval_str=True).parameters
    return {name: parameter.replace(kind=_JSON.kind) for name, parameter in given.items()}
