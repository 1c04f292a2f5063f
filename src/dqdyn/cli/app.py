"""The commands tied together, and the one place where errors become a line and an exit code."""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import numpy
import typer
import typer.core
from typer.main import get_command

import dqdyn
from dqdyn.cli import (
    bench,
    convert,
    cost,
    demo,
    dynamics,
    equation,
    experiment,
    export,
    info,
    robots,
    simulate,
    validate,
    view,
)
from dqdyn.cli.screen import JsonOption, complain, emit
from dqdyn.errors import Error, unknown_name

FAILED = 2
INTERRUPTED = 130
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
# In the order of --help: to look, to compute, to measure, to write.
for command in (
    demo.demo,
    robots.robots,
    info.info,
    view.view,
    dynamics.dynamics,
    simulate.simulate,
    experiment.experiment,
    validate.validate,
    bench.bench,
    cost.cost,
    convert.convert,
    export.export,
    equation.equation,
):
    app.command()(command)


@app.callback(invoke_without_command=True)
def dqdyn_command(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Dynamics and control of robots in dual-quaternion algebra.

    Start with [bold]dqdyn demo[/], or look at a robot with [bold]dqdyn info arm7[/].
    """
    if version:
        versions = {"dqdyn": dqdyn.__version__, "numpy": numpy.__version__, "python": platform.python_version()}
        emit(versions, lambda: f"dqdyn {dqdyn.__version__}", as_json)
        raise typer.Exit()
    if as_json:
        after = context.invoked_subcommand or "COMMAND"
        raise Error(f"--json belongs behind the command: dqdyn {after} --json.")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and give its exit code: 0, or 2 for an error of the user, or 130 after Ctrl-C.

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
    """The parser's sentence, with the command whose help tells more."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "dqdyn"
    return f"{error.format_message().rstrip('.')} (see {path} --help)."
