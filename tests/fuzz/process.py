"""The parent's side of a worker: orders, a watchdog, and what is left to say when it dies."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

from .worker import BOARD, Board

START = 120.0  # s to import everything and prepare, on a busy machine


class Died(Exception):
    """The worker ended, or was ended since it hung; ``seed`` is the case that it was at."""

    def __init__(self, how: str, seed: int, elsewhere: bool, text: str) -> None:
        super().__init__(how)
        self.how, self.seed, self.elsewhere, self.text = how, seed, elsewhere, text


class Worker:
    """One process for one area; a context manager."""

    def __init__(self, area: str, limit: float) -> None:
        self.area, self.limit = area, limit

    def __enter__(self) -> Worker:
        handle, self._path = tempfile.mkstemp(prefix="dqdyn-fuzz-board-")
        os.write(handle, bytes(BOARD.size))
        os.close(handle)
        self.board = Board(self._path)
        self._errors = tempfile.TemporaryFile()
        command = [sys.executable, "-m", f"{__package__}.worker", self.area, self._path]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in sys.path)}
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            start_new_session=True,  # children of cases go with it
        )
        try:
            self._answer(START)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        if self._process.poll() is None:
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._kill()
        self._process.stdout.close()
        self.board.close()
        self._errors.close()
        os.unlink(self._path)

    def run_range(self, start: int, count: int, seconds: float) -> dict[str, Any]:
        """Counts and violations of the cases from ``start`` on."""
        return self._ask({"start": start, "count": count, "seconds": seconds})

    def try_case(self, case: Any) -> dict[str, Any]:
        """The verdict on one case."""
        return self._ask({"case": case})

    def _ask(self, order: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(order).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._death("ended") from None
        return self._answer(self.limit)

    def _answer(self, limit: float) -> dict[str, Any]:
        """One line; ``limit`` counts from the last change on the board."""
        assert self._process.stdout is not None
        at, since, line = self.board.read(), time.monotonic(), b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([self._process.stdout], [], [], 0.2)
            if ready:
                piece = os.read(self._process.stdout.fileno(), 1 << 16)
                if not piece:
                    raise self._death("ended")
                line += piece
                continue
            now = self.board.read()
            if now != at:
                at, since = now, time.monotonic()
            elif time.monotonic() - since > limit:
                self._kill()
                raise self._death("hang")
        return json.loads(line)

    def _kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)  # its own session, started above
        self._process.wait()

    def _death(self, how: str) -> Died:
        if how == "ended":
            code = self._process.wait()
            how = f"crash by {signal.Signals(-code).name}" if code < 0 else f"exit with status {code}"
        _, seed, elsewhere = self.board.read()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace")[-3000:]
        return Died(how, seed, elsewhere, said)
