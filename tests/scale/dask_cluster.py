"""A scheduler and workers on loopback, started by the ordinary commands and ended by their ids."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dqdyn

PATIENCE = 60.0  # s


@contextmanager
def cluster(folder: Path, workers: int = 1) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address, and the processes: the scheduler, then its workers."""
    source, tests = Path(dqdyn.__file__).parents[1], Path(__file__).parent
    path = os.pathsep.join(filter(None, [str(source), str(tests), os.environ.get("PYTHONPATH", "")]))
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    quiet["env"] = {**os.environ, "PYTHONPATH": path}
    dask, file = [sys.executable, "-m", "dask"], folder / "scheduler.json"
    file.unlink(missing_ok=True)
    begin = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    processes = [subprocess.Popen([*dask, *begin], **quiet)]
    try:
        deadline = time.monotonic() + PATIENCE
        while not file.exists() or not file.read_text(encoding="utf-8"):
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.05)
        address = json.loads(file.read_text(encoding="utf-8"))["address"]
        one = ["worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        processes += [subprocess.Popen([*dask, *one], **quiet) for _ in range(workers)]
        yield address, processes
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()
