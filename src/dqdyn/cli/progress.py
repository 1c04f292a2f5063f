"""What a long command is doing, on a terminal; silence elsewhere."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any


class Steps:
    """A line on stderr that names the step under way and counts them; it leaves nothing behind."""

    def __init__(self, total: int) -> None:
        self.total, self.done = total, 0
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Steps:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

            columns = (SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task("", total=self.total)
        return self

    def at(self, what: str) -> None:
        """The step that begins now."""
        if self._bar is not None:
            self._bar.update(self._task, description=what, completed=self.done)
        self.done += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
