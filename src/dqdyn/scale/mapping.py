"""``map_zarr``: a function of a robot over arrays on disk, larger than any memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error, StateError, unknown_name
from dqdyn.progress import Progress
from dqdyn.robot.base import WithFunctions
from dqdyn.robot.dask_arrays import Travelling
from dqdyn.robot.options import Option
from dqdyn.robot.robot_function import TIMES
from dqdyn.scale import disk, zarr_arrays
from dqdyn.scale.chunks import suggested_chunks
from dqdyn.scale.journal import Journal, checksum
from dqdyn.scale.workers import require_packages, results

Source = str | Array
"""An input of a chunk: the folder of a Zarr array, or numbers for all states."""


@dataclass(frozen=True)
class ChunkJob:
    """Computes one chunk: reads its rows, calls the function, writes the result, and then notes that it is complete."""

    travelling: Travelling
    sources: tuple[Source, ...]
    output: str
    journal: str
    states: int
    rows: int
    check: bool

    def __call__(self, chunk: int) -> int:
        """The number of states computed."""
        rows = self.span(chunk)
        given = [rows_of(source, rows) for source in self.sources]
        try:
            result = self.travelling(*given, check=self.check, threads=1)
        except StateError as error:
            row = error.data.get("row")
            where = "" if not isinstance(row, int) else f" (state {rows.start + row} in all)"
            raise type(error)(f"chunk {chunk}{where}, {error}", **error.data, chunk=chunk) from None
        try:
            zarr_arrays.kept_open(self.output, "r+")[rows] = result
            Journal(Path(self.journal)).complete(chunk, {"states": len(result), "crc32c": checksum(result)})
        except OSError as problem:
            if disk.is_full(problem):
                raise disk.full(Path(self.output)) from None
            raise
        return len(result)

    def span(self, chunk: int) -> slice:
        """The rows of a chunk."""
        return slice(chunk * self.rows, min((chunk + 1) * self.rows, self.states))

    def size(self, chunk: int) -> int:
        """States in a chunk."""
        rows = self.span(chunk)
        return int(rows.stop - rows.start)


def rows_of(source: Source, rows: slice) -> Array:
    """The rows of an input that belong to a chunk."""
    return np.asarray(zarr_arrays.kept_open(source)[rows]) if isinstance(source, str) else source


def map_zarr(
    robot: WithFunctions,
    name: str,
    inputs: Mapping[str, Any],
    output: str | Path,
    *,
    rows: int | None = None,
    compressed: bool = False,
    check: bool = True,
    memory: float = 1e9,
    scheduler: str | None = None,
    workers: int | None = None,
    verify: bool = False,
    progress: bool | None = None,
    **options: Option,
) -> Any:
    """The function ``name`` of a robot over Zarr arrays: a new Zarr array in the folder ``output``, one row per state.

    ``inputs`` maps the names of the inputs to folders of Zarr arrays (N, n), or to numbers (n,) for all states; times
    are arrays (N,) or numbers. ``rows`` states are computed at a time, by default as many as the chunks of the inputs
    have, or :func:`suggested_chunks` for ``memory`` bytes in each process. ``options`` are those of the function,
    as ``frame="tool"``. The result is uncompressed unless ``compressed``.

    Before it begins, it is an error if the disk has no room for the result. What was computed before is not computed
    again: call it again with the same arguments after a failure, and it computes what is missing. ``verify=True`` reads
    what is there and computes again what differs from its checksum, kept in ``<output>.journal``. ``scheduler`` and
    ``workers`` are those of :func:`dqdyn.scale.sweep`.
    """
    job, missing = prepared(robot, name, inputs, output, rows, compressed, check, memory, verify, options)
    with Progress(job.states, f"{name} of {job.states} states", progress) as bar:
        done = job.states - sum(job.size(chunk) for chunk in missing)
        for _, count in results(job, missing, scheduler, workers):
            done += count
            bar.at(done)
    return zarr_arrays.opened(Path(job.output), "output")


def prepared(
    robot: WithFunctions,
    name: str,
    inputs: Mapping[str, Any],
    output: str | Path,
    rows: int | None,
    compressed: bool,
    check: bool,
    memory: float,
    verify: bool,
    options: Mapping[str, Option],
) -> tuple[ChunkJob, list[int]]:
    """The job of all chunks and the numbers of those to compute, once everything is known to fit."""
    require_packages("map_zarr", "zarr", "cloudpickle")
    folder = zarr_arrays.folder_of(output, "output")
    function, chosen = robot._functions.named(name, options)
    program = robot._functions.get(function, chosen).program
    names = [given for given, _ in program.inputs]
    for given in inputs:
        if given not in names:
            raise unknown_name(f"input of {name}", given, names)
    if absent := [given for given in names if given not in inputs]:
        raise Error(f"{name} takes {', '.join(names)}: give {absent[0]!r} in inputs.", argument=absent[0])
    sources, states, common = _sources(program.inputs, inputs)
    rows = _rows(robot, name, states, rows, common, memory, options)
    plan = {
        "function": name,
        "program": program.digest,
        "states": states,
        "rows": rows,
        "inputs": [source if isinstance(source, str) else source.tolist() for source in sources],
        "check": bool(check),
        "compressed": bool(compressed),
    }
    journal = Journal.begin(folder.with_name(f"{folder.name}.journal"), plan, str(folder))
    travelling = Travelling.of(robot._functions, name, chosen)
    job = ChunkJob(travelling, sources, str(folder), str(journal.folder), states, rows, check)
    is_new = not (folder / "zarr.json").exists()
    done = _found(job, is_new, verify)
    missing = [chunk for chunk in range(-(-states // rows)) if chunk not in done]
    disk.require_room(folder, 8 * program.size * sum(map(job.size, missing)))
    if is_new:
        zarr_arrays.created(folder, (states, *program.shape), (rows, *program.shape), "f8", compressed)
    return job, missing


def _found(job: ChunkJob, is_new: bool, verify: bool) -> set[int]:
    """Chunks that are complete; with ``verify``, those whose bytes are still the ones that were written."""
    journal = Journal(Path(job.journal))
    if is_new or verify:  # the array was removed, or some of it may be damaged
        for chunk in journal.done():
            if is_new or checksum(_written(job, chunk)) != journal.record(chunk)["crc32c"]:
                journal.forget(chunk)
    return journal.done()


def _written(job: ChunkJob, chunk: int) -> Array:
    return np.asarray(zarr_arrays.opened(Path(job.output), "output")[job.span(chunk)])


def _sources(
    declared: tuple[tuple[str, int], ...], inputs: Mapping[str, Any]
) -> tuple[tuple[Source, ...], int, int | None]:
    """The inputs in order, the number of states, and the rows of chunks that all have; None if they differ."""
    sources: list[Source] = []
    counts, chunk_rows = {}, set()
    for name, size in declared:
        given, width = inputs[name], None if name in TIMES else size
        if isinstance(given, (str, Path)) or hasattr(given, "store"):
            folder = zarr_arrays.folder_of(given, name)
            array = zarr_arrays.opened(folder, name)
            counts[name] = zarr_arrays.require_rows(array, name, width)
            chunk_rows.add(int(array.chunks[0]))
            sources.append(str(folder))
        else:
            numbers = np.asarray(given, dtype=float)
            if numbers.shape != (() if width is None else (width,)):
                kind = "a number" if width is None else f"{width} numbers"
                raise StateError(f"{name} is the folder of a Zarr array, or {kind}; found shape {numbers.shape}.")
            sources.append(numbers)
    if not counts:
        raise Error("none of the inputs is a Zarr array: call the function of the robot itself.")
    if len(set(counts.values())) > 1:
        shown = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise StateError(f"inputs have different numbers of rows: {shown}.")
    return tuple(sources), next(iter(counts.values())), chunk_rows.pop() if len(chunk_rows) == 1 else None


def _rows(
    robot: WithFunctions, name: str, states: int, rows: int | None, common: int | None, memory: float, options: Any
) -> int:
    """States per chunk: as asked for, as the inputs have them if they fit the memory, or as suggested."""
    if rows is not None:
        if isinstance(rows, bool) or not isinstance(rows, (int, np.integer)) or rows < 1:
            raise Error(f"rows is how many states to compute at a time, from 1; found {rows!r}.", argument="rows")
        return int(min(rows, max(states, 1)))
    suggested = suggested_chunks(robot, name, max(states, 1), memory, **options)
    return common if common is not None and 0.25 * suggested <= common <= 2 * suggested else suggested
