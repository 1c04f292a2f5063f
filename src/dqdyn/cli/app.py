r"""The commands tied together, and the one place where errors become a line and an exit code.

To add a command, add one file to ``dqdyn/cli/commands``; nothing else needs to know of it::

    '''``dqdyn weight``: the weight of a robot.'''

    from __future__ import annotations

    from collections.abc import Iterator
    from typing import Annotated

    import typer

    from dqdyn.cli.command import Answer, command
    from dqdyn.cli.screen import number
    from dqdyn.robot import Robot

    GravityOption = Annotated[float, typer.Option(help="In m/s².")]


    @command("Explore")
    def weight(robot: Robot, gravity: GravityOption = 9.81) -> Iterator[Answer]:
        '''Print the weight of a robot.

        [dim]Examples:[/]

        \b
          dqdyn weight arm7
        '''
        weight = robot.mass * gravity
        yield {"weight": weight}, f"{number(weight)} N"

The parameter ``robot`` stands for the argument ROBOT with ``--base``, ``--no-mimic`` and ``--strict``. With ``--json``
the first half of what is yielded is printed, else the second. :func:`dqdyn.cli.command.command` documents the details,
:mod:`dqdyn.cli.options` has the options that several commands share, and :mod:`dqdyn.cli.screen` draws tables.
"""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated, Any

import numpy
import typer
import typer.core
from typer.main import get_command

import dqdyn
from dqdyn.cli import commands
from dqdyn.cli.command import REGISTERED
from dqdyn.cli.screen import INTERRUPTED, JsonOption, complain, emit
from dqdyn.errors import Error, unknown_name

FAILED = 2
# Typer brings its own copy of click or takes the package, by its version; this finds the class of either.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]


class Commands(typer.core.TyperGroup):
    """Commands by name; a mistyped one is answered with close matches."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            raise unknown_name("command", args[0], self.list_commands(ctx))
        return super().resolve_command(ctx, args)


app = typer.Typer(
    cls=Commands,
    name="dqdyn",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in iter_modules(commands.__path__):
    import_module(f"{commands.__name__}.{module.name}")
for panel, functions in REGISTERED.items():
    for function in sorted(functions, key=lambda function: function.__name__):
        app.command(rich_help_panel=panel)(function)


@app.callback(invoke_without_command=True)
def dqdyn_command(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Dynamics and control of robots in dual-quaternion algebra.

    Start with [bold]dqdyn demo[/], or inspect a robot with [bold]dqdyn info arm7[/].
    """
    if version:
        versions = {"dqdyn": dqdyn.__version__, "numpy": numpy.__version__, "python": platform.python_version()}
        emit(versions, f"dqdyn {dqdyn.__version__}", as_json)
        raise typer.Exit()
    if as_json:
        after = context.invoked_subcommand or "COMMAND"
        raise Error(f"--json goes after the command: dqdyn {after} --json.")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code: 0, or 2 for an error of the user, or 130 after Ctrl-C.

    With DQDYN_DEBUG=1 in the environment, an error shows where it was raised.
    """
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without Unicode shows "?" rather than a traceback
            stream.reconfigure(errors="replace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return get_command(app).main(args=words or ["--help"], prog_name="dqdyn", standalone_mode=False) or 0
    except Error as error:
        if os.environ.get("DQDYN_DEBUG", "0") not in ("", "0"):
            traceback.print_exc()
        complain(str(error))
    except UsageError as error:
        complain(_usage(error))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    return FAILED


def _usage(error: Any) -> str:
    """The parser's sentence, with the command whose help says more."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "dqdyn"
    return f"{error.format_message().rstrip('.')} (see {path} --help)."
