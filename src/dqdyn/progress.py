"""A progress bar for long runs on a terminal; silence elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

from dqdyn.errors import one_line

_PATIENCE = 1.0  # s before the bar appears


class Progress:
    """Shows how far a run is; ``show=None`` decides by whether stderr is a terminal."""

    def __init__(self, total: int, what: str, show: bool | None = None) -> None:
        self.total, self.what = total, what
        self.show = sys.stderr.isatty() if show is None else show
        self.begin = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Progress:
        return self

    def at(self, done: int) -> None:
        """Report the number of steps done."""
        if not self.show:
            return
        if self._bar is None:
            if time.monotonic() - self.begin < _PATIENCE:
                return
            from rich.console import Console
            from rich.markup import escape
            from rich.progress import Progress as Bar

            self._bar = Bar(console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(escape(one_line(self.what)), total=self.total)
        self._bar.update(self._task, completed=done)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
