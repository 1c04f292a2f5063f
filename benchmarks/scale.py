"""From Zarr to Zarr on workers of Dask, against the same workers merely copying; simulations against threads.

``python -m benchmarks.scale --states 100000000 --folder DISK`` runs the full size: 22.4 GB, and 5.6 GB for the copy.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Result
from benchmarks.robots import panda

ROWS = 131_072
"""States per chunk: 22 MB read and 7 MB written."""
BLOCK = 64
"""Chunks that are computed or copied before the other has its turn."""


@dataclass(frozen=True)
class FillJob:
    """Writes random rows, which depend on the chunk alone."""

    folder: str
    rows: int
    states: int

    def __call__(self, chunk: int) -> int:
        from dqdyn.scale.zarr_arrays import kept_open

        start, stop = chunk * self.rows, min((chunk + 1) * self.rows, self.states)
        for k, name in enumerate("qva"):
            rng = np.random.default_rng([chunk, k])
            kept_open(f"{self.folder}/{name}.zarr", "r+")[start:stop] = 2.0 * rng.random((stop - start, 7)) - 1.0
        return stop - start


@dataclass(frozen=True)
class CopyJob:
    """Reads what the computation reads and writes as many bytes as it writes: a copy of the last input."""

    sources: tuple[str, ...]
    output: str
    rows: int
    states: int

    def __call__(self, chunk: int) -> int:
        from dqdyn.scale.mapping import rows_of
        from dqdyn.scale.zarr_arrays import kept_open

        rows = slice(chunk * self.rows, min((chunk + 1) * self.rows, self.states))
        given = [rows_of(source, rows) for source in self.sources]
        kept_open(self.output, "r+")[rows] = given[-1]
        return len(given[-1])


@contextmanager
def cluster(workers: int = 2) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler on loopback with workers, all started by the ordinary commands, and the processes."""
    dask = [sys.executable, "-m", "dask"]
    root = Path(__file__).parents[1]
    path = os.pathsep.join(filter(None, [str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")]))
    variables = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "scheduler.json")
        quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": variables}
        begin = ["scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
        processes = [subprocess.Popen([*dask, *begin], cwd=folder, **quiet)]
        try:
            while not file.exists():
                time.sleep(0.1)
            address = json.loads(file.read_text(encoding="utf-8"))["address"]
            one = ["worker", address, "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
            processes += [subprocess.Popen([*dask, *one], cwd=folder, **quiet) for _ in range(workers)]
            yield address, processes
        finally:
            for process in processes:
                process.kill()
            for process in processes:
                process.wait()


def peak_memory(pid: int) -> float:
    """The largest memory that a process has had, in MB."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return float("nan")


def from_zarr_to_zarr(states: int, folder: Path, say: Callable[[str], None]) -> list[Result]:
    """Inverse dynamics of the Panda, in turns with a copy of the same bytes by the same workers."""
    from distributed import Client

    from dqdyn.scale import map_zarr
    from dqdyn.scale.mapping import prepared
    from dqdyn.scale.workers import submitted
    from dqdyn.scale.zarr_arrays import created, opened

    robot = panda()[0]
    sources = {name: str(folder / f"{name}.zarr") for name in "qva"}
    for source in (*sources.values(), str(folder / "copy.zarr")):
        created(Path(source), (states, 7), (ROWS, 7), "f8", False)
    seconds = {"copy": 0.0, "compute": 0.0}
    counted = {"copy": 0, "compute": 0}
    with cluster() as (address, processes), Client(address) as client:
        client.wait_for_workers(2)
        chunks = list(range(-(-states // ROWS)))

        def timed(job: Any, some: list[int]) -> tuple[float, int]:
            start = time.perf_counter()
            count = sum(count for _, count in submitted(client, job, some, address))
            return time.perf_counter() - start, count

        took, _ = timed(FillJob(str(folder), ROWS, states), chunks)
        say(f"wrote {168e-9 * states:.3g} GB of states in {took:.1f} s")
        compute, missing = prepared(
            robot, "inverse_dynamics", sources, folder / "tau.zarr", ROWS, False, True, 1e9, False, {}
        )
        assert missing == chunks
        copy = CopyJob(tuple(sources.values()), str(folder / "copy.zarr"), ROWS, states)
        jobs = {"copy": copy, "compute": compute}
        for job in jobs.values():  # compile and open files, untimed
            timed(job, chunks[:4])
        blocks = [chunks[i : i + BLOCK] for i in range(0, len(chunks), BLOCK)]
        for turn in (0, 1):  # a block is copied in one turn and computed in the other, equally far apart
            for i, block in enumerate(blocks):
                which = ("copy", "compute")[(i + turn) % 2]
                took, count = timed(jobs[which], block)
                seconds[which] += took
                counted[which] += count
        rates = {which: counted[which] / seconds[which] for which in jobs}
        say(
            "bytes read and written: " + ", ".join(f"{which} {224e-9 * rate:.3g} GB/s" for which, rate in rates.items())
        )
        memory = {"scheduler": peak_memory(processes[0].pid), "client": peak_memory(os.getpid())}
        memory |= {f"worker {k}": peak_memory(process.pid) for k, process in enumerate(processes[1:], 1)}
        say("peak memory in MB: " + ", ".join(f"{who} {size:.0f}" for who, size in memory.items()))
    # Complete already: this only finds that nothing is missing, with all checksums right.
    result = map_zarr(robot, "inverse_dynamics", sources, folder / "tau.zarr", rows=ROWS, workers=0, verify=True)
    given = [opened(Path(source), "input") for source in sources.values()]
    equal = all(
        np.array_equal(result[at : at + ROWS], robot.inverse_dynamics(*(x[at : at + ROWS] for x in given)))
        for at in range(0, states, ROWS)
    )
    say(f"bit for bit equal to one process: {equal}")
    if not equal:
        raise SystemExit("results of the workers differ from those of one process")
    load = f"load {os.getloadavg()[0]:.1f}"
    return [
        Result(
            f"{states:.0e} states of the Panda, Zarr to Zarr, two workers",
            1e9 / rates["compute"],
            "ns/state",
            peer="copy by the same workers",
            peer_measured=1e9 / rates["copy"],
            at_least=0.8,
            note=load,
        ),
        Result("largest memory of a process", max(memory.values()), "MB", target=1000.0),
    ]


def rollouts(runs: int, say: Callable[[str], None]) -> list[Result]:
    """Simulations of an arm on two workers, in turns with one process on two threads that does the same."""
    from dataclasses import replace

    from distributed import Client

    import dqdyn as dq
    from dqdyn.scale.batches import Job
    from dqdyn.scale.sweeping import _job, _planned, _sizes
    from dqdyn.scale.workers import submitted

    robot, batch = dq.robots.arm7(), 4096
    rng = np.random.default_rng(1)
    states = np.stack([robot.random_configuration(rng) for _ in range(batch)])
    plan = _planned(robot, None, states, None, -(-runs // batch), 0, None, False, None)
    plan = replace(plan, options={"duration": 0.1, "dt": 1e-3, "every": 100})
    plan = replace(plan, sizes=_sizes(plan))
    threaded = replace(plan, options={**plan.options, "threads": 2})
    job: Job = _job(plan, batch, None, True, local=False)
    seconds = {"workers": 0.0, "threads": 0.0}
    counted = {"workers": 0, "threads": 0}
    with cluster() as (address, _), Client(address) as client:
        client.wait_for_workers(2)
        list(submitted(client, job, range(4)))
        threaded.some(0, 0, range(batch))
        blocks = [range(i, min(i + BLOCK, job.tasks)) for i in range(0, job.tasks, BLOCK)]
        for turn in (0, 1):
            for i, block in enumerate(blocks):
                which = ("workers", "threads")[(i + turn) % 2]
                start = time.perf_counter()
                if which == "workers":
                    found = [len(some.measures["q"]) for _, some in submitted(client, job, block)]
                else:
                    found = [len(threaded.some(0, 0, job.place(task)[1]).measures["q"]) for task in block]
                seconds[which] += time.perf_counter() - start
                counted[which] += sum(found)
        equal = all(
            np.array_equal(some.measures["q"], threaded.some(0, 0, job.place(task)[1]).measures["q"])
            for task, some in submitted(client, job, range(2))
        )
    say(f"{counted['workers']} roll-outs on workers and {counted['threads']} on threads; equal bits: {equal}")
    each = {which: 1e6 * seconds[which] / counted[which] for which in seconds}
    return [
        Result(
            f"{job.runs:.0e} roll-outs of 100 steps, two workers",
            each["workers"],
            "µs/run",
            peer="one process with threads=2",
            peer_measured=each["threads"],
            at_least=0.85,
            note=f"load {os.getloadavg()[0]:.1f}",
        )
    ]


def run(
    states: int = 1_000_000, runs: int = 100_000, folder: Path | None = None, say: Callable[[str], None] = print
) -> list[Result]:
    """All measurements of this file; none, and a line that says so, where the extra is not installed."""
    if missing := [package for package in ("distributed", "zarr") if find_spec(package) is None]:
        say(f"scale is left out, for {missing[0]} is missing: pip install 'dqdyn[scale]'")
        return []
    with tempfile.TemporaryDirectory(dir=folder) as place:
        found = from_zarr_to_zarr(states, Path(place), say) if states else []
    return found + (rollouts(runs, say) if runs else [])


def main() -> int:
    from benchmarks.__main__ import show

    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--states", type=int, default=1_000_000)
    parser.add_argument("--runs", type=int, default=100_000, help="roll-outs")
    parser.add_argument(
        "--folder", type=Path, default=None, help="on the disk to use; default: that of temporary files"
    )
    options = parser.parse_args()
    needed, free = 280 * options.states, shutil.disk_usage(options.folder or tempfile.gettempdir()).free
    if needed > 0.9 * free:
        parser.error(f"{needed / 1e9:.3g} GB are needed and {free / 1e9:.3g} GB are free: choose another --folder")
    return show({"scale": run(options.states, options.runs, options.folder)})


if __name__ == "__main__":
    sys.exit(main())
