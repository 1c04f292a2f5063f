"""The command ``dqdyn``: see ``dqdyn --help``. One short file per command."""

from __future__ import annotations

from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code (default: the arguments of the process)."""
    try:
        from dqdyn.cli.app import run  # importing this module alone costs no typer

        code = run(arguments)
    except KeyboardInterrupt:
        code = 130
    raise SystemExit(code)
