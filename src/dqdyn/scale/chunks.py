"""How many states to compute at a time: enough to pay for a task, few enough for caches and memory."""

from __future__ import annotations

from dqdyn.errors import Error
from dqdyn.robot.base import WithFunctions
from dqdyn.robot.options import Option
from dqdyn.simulate.problem import is_whole, positive

CACHE = 32 * 2**20
"""Bytes of inputs and results of one chunk: what the last cache of a processor holds, and tens of milliseconds of work,
beside which the millisecond that a task costs its scheduler is small."""
COPIES = 4
"""Times that the bytes of a chunk are in memory while it is read, computed and written."""
ALIGNED = 1024
"""Chunks are multiples of this many states, so that vectors of the processor and pages of memory are full."""


def suggested_chunks(
    robot: WithFunctions, name: str, states: int, memory: float = 1e9, *, workers: int = 1, **options: Option
) -> int:
    """States per chunk of a function of a robot, for ``states`` in all and ``memory`` bytes in each process.

    Inputs and results of a chunk fit into the last cache of a processor, four copies of them into the memory, and there
    is a chunk for each of the ``workers``. ``da.from_zarr("q.zarr").rechunk((suggested_chunks(…), -1))``.
    """
    for what, given in (("states", states), ("workers", workers)):
        if not is_whole(given):
            raise Error(f"{what} is a whole number from 1; found {given!r}.", argument=what)
    size = bytes_per_state(robot, name, **options)
    room = positive("memory", memory, "number of bytes", "") / COPIES
    if room < size:
        raise Error(
            f"one state of {name} takes {size} bytes, and {COPIES} copies of it do not fit into {memory:g} bytes: "
            "allow more memory.",
            argument="memory",
        )
    rows = int(min(CACHE, room) // size)
    rows = min(rows, -(-states // workers))
    return max(1, min(states, rows - rows % ALIGNED if rows >= ALIGNED else rows))


def bytes_per_state(robot: WithFunctions, name: str, **options: Option) -> int:
    """Bytes of the inputs and the result of a function for one state."""
    program = robot.program(name, **options)
    return 8 * (sum(size for _, size in program.inputs) + program.size)


def spans(states: int, rows: int) -> list[tuple[int, int]]:
    """(start, stop) of every chunk."""
    return [(start, min(start + rows, states)) for start in range(0, states, rows)]
