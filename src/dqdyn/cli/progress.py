"""Progress of a long command on a terminal; silence elsewhere."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn


class Steps(Progress):
    """A line on stderr that names the step under way and counts them; it leaves nothing behind."""

    def __init__(self, total: int) -> None:
        columns = (SpinnerColumn(), BarColumn(bar_width=24), TextColumn("{task.description}", markup=False))
        silent = not sys.stderr.isatty()
        super().__init__(*columns, console=Console(stderr=True), transient=True, disable=silent)
        self.task, self.begun = self.add_task("", total=total), 0

    def at(self, what: str) -> None:
        """The step that begins now."""
        self.update(self.task, description=what, completed=self.begun)
        self.begun += 1
