"""What commands print: tables and trees for people, JSON for programs, one red line for errors."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO, TypeAlias

import numpy as np
import typer
from rich import markup
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table as RichTable
from rich.text import Text

from dqdyn.errors import one_line

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]

BROKEN_PIPE, INTERRUPTED = 141, 130  # exit codes, as of processes that these signals ended
_LONGEST_CELL = 20_000  # characters; a row of a large matrix has some thousands
_WIDE = 4000  # columns where there is no terminal: nothing is wrapped in files and pipes


class Verbatim(str):
    """Text to print as it is, such as source code: never wrapped, without markup."""


Printable: TypeAlias = RenderableType | Iterable[RenderableType] | Verbatim
"""What people see: one renderable of rich, or several."""


def escape(text: str) -> str:
    """Text that may come from any file: one line that prints, in which brackets mean nothing to rich."""
    return markup.escape(one_line(text, _LONGEST_CELL))


def emit(data: Any, drawing: Printable, as_json: bool) -> None:
    """Print the data as JSON, or their drawing."""
    if as_json:
        write(json.dumps(_plain(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    elif isinstance(drawing, Verbatim):
        write(drawing)
    else:
        show([drawing] if isinstance(drawing, str) or not isinstance(drawing, Iterable) else drawing)


def show(parts: Iterable[Any]) -> None:
    """Print for people: colored in a terminal; plain, unwrapped and without control codes elsewhere."""
    console = _console(sys.stdout)
    with console.capture() as capture:
        for part in parts:
            console.print(part)
    text = capture.get()
    if not console.is_terminal:  # tables fill their cells with spaces
        text = "".join(line.rstrip() + "\n" for line in text.splitlines())
    write(text)


def write(text: str) -> None:
    """To stdout, at once; stops quietly where the reader has closed the pipe, as ``| head`` does."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # else Python complains at exit
        raise typer.Exit(BROKEN_PIPE) from None


def complain(message: str, *, kind: str = "error", style: str = "bold red") -> None:
    """One line on stderr."""
    line = Text.assemble((f"{kind}: ", style), (one_line(" ".join(message.split())), style.removeprefix("bold ")))
    _console(sys.stderr).print(line, soft_wrap=True)


def warn(message: str) -> None:
    """One yellow line on stderr."""
    complain(message, kind="warning", style="bold yellow")


class Steps(Progress):
    """A line on stderr that names the step under way and counts them; it leaves nothing behind. Only on a terminal."""

    def __init__(self, total: int) -> None:
        columns = (SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
        silent = not sys.stderr.isatty()
        super().__init__(*columns, console=Console(stderr=True), transient=True, disable=silent)
        self.task, self.begun = self.add_task("", total=total), 0

    def at(self, what: str) -> None:
        """The step that begins now."""
        self.update(self.task, description=what, completed=self.begun)
        self.begun += 1


def _console(stream: TextIO) -> Console:
    console = Console(file=stream, highlight=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDE
    return console


def width() -> int:
    """Columns of the page that is printed to."""
    return _console(sys.stdout).width


@dataclass(frozen=True)
class TextTable:
    """A table of texts, which rich prints and a report shows: ``report.table(**vars(table))``."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[str] = ()  # columns aligned to the right

    def __rich__(self) -> RichTable:
        result = RichTable(title=escape(self.title) or None, box=SIMPLE_HEAD, title_justify="left", title_style="bold")
        result.show_edge = result.pad_edge = False
        for i, column in enumerate(self.columns):
            side: Literal["right", "left"] = "right" if column in self.right else "left"
            result.add_column(escape(column), style="" if i else "bold", no_wrap=not i, overflow="fold", justify=side)
        for row in self.rows:
            result.add_row(*map(escape, row))
        return result


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[str] = ()) -> TextTable:
    """A table without its empty columns."""
    rows = list(rows)
    kept = [i for i in range(len(columns)) if any(row[i] for row in rows)]
    return TextTable(title, [columns[i] for i in kept], [[row[i] for i in kept] for row in rows], right)


def mark(passed: bool) -> str:
    """A green check mark or a red cross."""
    return "[green]✓[/]" if passed else "[red]✗[/]"


def indented(part: RenderableType) -> Padding:
    """Two columns to the right, with an empty line below."""
    return Padding(part, (0, 0, 1, 2), expand=False)


def number(x: float) -> str:
    """Four digits, as short as they get."""
    return f"{x:.4g}" if x else "0"


def count(n: int, noun: str) -> str:
    """ "1 joint", "2 joints"."""
    plural = noun[:-1] + "ies" if noun.endswith("y") else noun + "s"
    return f"{n} {noun if n == 1 else plural}"


def attributes(source: object, *names: str) -> dict[str, Any]:
    """The attributes of these names, as data to print."""
    return {name: getattr(source, name) for name in names}


def written(path: Path) -> dict[str, Any]:
    """The facts of a file that a command wrote."""
    return {"target": path, "bytes": path.stat().st_size}


def without_tags(text: str) -> str:
    """A sentence without its citations, which are in brackets."""
    return re.sub(r"\s*\[[A-Z]\w+, [^\]]+\]", "", text)


def _plain(data: Any) -> Any:
    """Data that JSON can hold: records and arrays as objects and lists, null for what is not finite."""
    if is_dataclass(data) and not isinstance(data, type):
        return _plain(asdict(data))
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, (np.ndarray, np.generic)):
        return _plain(data.tolist())
    if isinstance(data, (list, tuple)):
        return [_plain(value) for value in data]
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return str(data) if isinstance(data, Path) else data
