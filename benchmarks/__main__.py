"""``python -m benchmarks [--json FILE] [NAME...]``: run benchmarks and print what they measured."""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from dataclasses import asdict
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import benchmarks
from benchmarks.measure import Result, machine

PEERS = {
    *("code_generators_peer", "gymnasium_peer", "pinocchio_peers"),
    *("whole_body_peer", "whole_body_placo", "whole_body_tsid"),
}
TOOLS = {"__main__", "environments", "floors", "measure", "python_calls", "robots", "standing", "talos_sway"}
NOT_BENCHMARKS = PEERS | TOOLS


def names() -> list[str]:
    """The benchmarks: every other module of this folder, each with a function ``run() -> list[Result]``."""
    return sorted({module.name for module in pkgutil.iter_modules(benchmarks.__path__)} - NOT_BENCHMARKS)


def table(results: dict[str, list[Result]]) -> Table:
    """One line per result."""
    drawn = Table(box=SIMPLE_HEAD)
    for title in ("what", "measured", "times faster", "target", "than", "operations"):
        drawn.add_column(title, justify="left" if title in ("what", "than", "operations") else "right")
    for name, rows in results.items():
        for row in rows:
            mark = {None: "", True: "[green]✓[/]", False: "[red]✗[/]"}[row.met]
            target = "" if row.target is None else f"≤ {row.target:g} {row.unit} {mark}"
            if row.at_least is not None:
                target = f"≥ {row.at_least:g} × {mark}"
            peer = "" if row.peer_measured is None else f"{row.peer}: {row.peer_measured:.4g} {row.unit}"
            speedup = "" if row.speedup is None else f"{row.speedup:.2f}"
            drawn.add_row(f"{name}: {row.name}", f"{row.measured:.4g} {row.unit}", speedup, target, peer, row.note)
    return drawn


def as_json(results: dict[str, list[Result]]) -> str:
    rows = {
        name: [{**asdict(row), "speedup": row.speedup, "met": row.met} for row in found]
        for name, found in results.items()
    }
    return json.dumps({"machine": machine(), "results": rows}, indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=benchmarks.__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"default: all of {', '.join(names())}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to a file")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(names()):
        parser.error(f"there is no benchmark {sorted(unknown)[0]!r}: known are {', '.join(names())}")
    results: dict[str, list[Result]] = {}
    for name in options.names or names():
        print(f"running {name} …", file=sys.stderr)
        results[name] = importlib.import_module(f"benchmarks.{name}").run()
    if options.json:
        options.json.write_text(as_json(results), encoding="utf-8")
    return show(results)


def show(results: dict[str, list[Result]]) -> int:
    """Print the results; 1 where a target is missed, else 0."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 200)
    console.print(table(results))
    console.print("  " + ", ".join(f"{fact}: {value}" for fact, value in machine().items()))
    return 0 if all(row.met is not False for rows in results.values() for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
