"""The batch kernel of a long program: a block of rows is computed in segments; arrays are written as they are complete.

Where results follow each other closely, nothing is gained by mixing the two further: a store to a line that is not in
the innermost cache holds up all stores behind it, those of the computation included. Chunks of rows that are written as
they are complete, or in portions among the operations of the next block, took as long or up to twice as long. Programs
with many operations for each result are in :mod:`dqdyn.compile.codegen.hidden_writes`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from dqdyn.compile.codegen.blocks import segments
from dqdyn.compile.codegen.prefetch import PrefetchPlan, ResultRequests
from dqdyn.compile.codegen.register_plan import from_inputs, operations, register_plan
from dqdyn.compile.codegen.result_columns import Portion, ResultColumns, is_sparse
from dqdyn.compile.codegen.rows import RowLoop
from dqdyn.compile.trace.program import Program

_MANY_RESULTS = 2000  # of which the first would leave the caches before the last are there
_FEWEST_CHUNKS = 8  # of rows that are not complete yet, to be written together


def long_batch_kernel(rows: RowLoop, name: str, segment: int) -> str:
    """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)`` as :func:`~dqdyn.compile.codegen.kernels.batch_kernel`.

    ``segment`` is the number of lines of IR in a basic block.
    """
    program, body = rows.program, rows.body
    instructions, kernel_name = program.instructions, f"{name}_some"
    rows.knows_all = True
    parts = segments(program, segment)
    order = [i for members in parts for i in members]
    written, fused = _written(rows, parts), rows.fused(order)
    planned = from_inputs(program, operations(program, order, fused))
    waiting = register_plan(planned, rows.registers, _kept(rows, parts, written, len(planned) - len(order)))
    columns = ResultColumns(rows, waiting.slot, waiting.slots, name, may_stream=True)

    def fetch(k: int) -> str:
        return body.load_slot(instructions[k][0] == "less", body.slot(waiting.slot[k]))

    def keep(i: int, value: str) -> None:
        if i in waiting.slot:
            body.store_slot(instructions[i][0] == "less", value, body.slot(waiting.slot[i]))

    def compute(i: int, value: str) -> None:
        keep(i, value)
        prefetch.step()
        requests.step()

    numbers = rows.row_numbers("%i")
    values: dict[int, str] = {}
    rows.read(numbers, values, keep)
    prefetch = PrefetchPlan(rows, len(order))
    requests = ResultRequests(rows, numbers, len(order), ResultColumns.beyond(rows))
    has_loop = _has_loop(program)
    if has_loop:
        columns.store_constants(body, "%scratch")
    for n, members in enumerate(parts):
        body.cut(f"part{n}")
        body.largest = rows.recorded("largest")
        body.segment(program, members, fetch, compute, fused=fused, reloads=waiting.reloads, values=values)
        rows.record("largest", body.largest)
        for portion in written.get(n, ()) if has_loop else ():
            columns.write(portion, "%scratch", numbers)
    if has_loop:
        block = rows.block(kernel_name, columns.size)
        kernel = [*columns.globals(), *block, *rows.loop(kernel_name, after=columns.after())]
    else:
        body.cut("write")
        rows.write(numbers, fetch)
        kernel = [*rows.block(kernel_name, waiting.slots), *rows.loop(kernel_name)]
    return "\n".join([*kernel, *rows.whole(name, kernel_name), *rows.piece(name, kernel_name), ""])


def _has_loop(program: Program) -> bool:
    """Whether rows are written by a loop: not those of mostly constants, unless their code would be long.

    The loop also writes past the caches.
    """
    return not is_sparse(program) or len(program.outputs) >= _MANY_RESULTS


def _written(rows: RowLoop, parts: Sequence[Sequence[int]]) -> dict[int, list[Portion]]:
    """What is written after which segment: an array when it is complete, the beginnings of long rows before."""
    program, arrays, w = rows.program, rows.arrays, rows.width
    made = {i: n for n, members in enumerate(parts) for i in members}
    found: dict[int, list[Portion]] = {}
    for number, (start, size) in enumerate(zip(arrays.starts, arrays.sizes, strict=True)):
        latest = list(accumulate((made.get(k, 0) for k in program.outputs[start : start + size]), max))
        first = 0
        for n in range(latest[-1]) if len(program.outputs) >= _MANY_RESULTS and size >= w else ():
            complete = bisect_right(latest, n)  # columns
            end = (complete - (w - 1)) // w + 1  # of chunks, which may be aligned in any way
            if end - first >= _FEWEST_CHUNKS:
                found.setdefault(n, []).append(Portion(number, first, end, False))
                first = end
        if size:
            found.setdefault(latest[-1], []).append(Portion(number, first, Portion.count(size, w), True))
    return found


def _kept(
    rows: RowLoop, parts: Sequence[Sequence[int]], written: Mapping[int, Sequence[Portion]], before: int
) -> dict[int, int]:
    """Results, and the last turn of the segment after which they are written; the last of all without a loop.

    There are some turns ``before`` the parts.
    A portion may begin with half of the chunk before, and its chunks may be aligned in any way.
    """
    program, arrays, w = rows.program, rows.arrays, rows.width
    ends = list(accumulate(map(len, parts), initial=before))[1:]
    found: dict[int, int] = {}
    is_last = not _has_loop(program)
    for n in sorted(written):
        turn = (ends[-1] if is_last else ends[n]) - 1
        for portion in written[n]:
            start, size = arrays.starts[portion.array], arrays.sizes[portion.array]
            first, until = (portion.first - 2) * w, portion.end * w - 1
            if portion.is_last:
                first, until = min(first, size - 2 * w), size
            results = program.outputs[start + max(0, first) : start + until]
            found.update({k: turn for k in results if program.instructions[k][0] != "const"})
    return found
