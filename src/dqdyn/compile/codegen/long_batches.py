"""The batch kernel of a long program: a block of rows is computed in segments; arrays are written as they are complete.

Nothing is gained by mixing the two further: a store to a line that is not in the innermost cache holds up all stores
behind it, those of the computation included. Chunks of rows that are written as they are complete, or in portions among
the operations of the next block, took as long or up to twice as long.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

from dqdyn.compile.codegen.blocks import plan
from dqdyn.compile.codegen.prefetch import PrefetchPlan, ResultRequests
from dqdyn.compile.codegen.register_plan import operations, register_plan
from dqdyn.compile.codegen.result_columns import ResultColumns, is_sparse
from dqdyn.compile.codegen.rows import RowLoop


def long_batch_kernel(rows: RowLoop, name: str, segment: int) -> str:
    """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)`` as :func:`~dqdyn.compile.codegen.kernels.batch_kernel`.

    ``segment`` is the number of lines of IR in a basic block.
    """
    program, body = rows.program, rows.body
    instructions, some = program.instructions, f"{name}_some"
    rows.knows_all = True
    segments = plan(program, segment).segments
    order = [i for members in segments for i in members]
    complete, fused = _complete_after(rows, segments), rows.fused(order)
    waiting = register_plan(operations(program, order, fused), rows.width, _kept(rows, segments, complete))
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
    rows.read(numbers, {instructions[i][1]: i for i in waiting.slot if instructions[i][0] == "input"}, keep)
    prefetch = PrefetchPlan(rows, len(order))
    requests = ResultRequests(rows, numbers, len(order), ResultColumns.beyond(rows))
    values: dict[int, str] = {}
    if not is_sparse(program):
        columns.store_constants(body, "%scratch")
    for n, members in enumerate(segments):
        body.cut(f"part{n}")
        body.largest = rows.recorded("largest")
        body.segment(program, members, fetch, compute, fused=fused, reloads=waiting.reloads, values=values)
        rows.record("largest", body.largest)
        for number in () if is_sparse(program) else complete.get(n, ()):
            columns.write(number, "%scratch", numbers)
    if is_sparse(program):
        body.cut("write")
        rows.write(numbers, fetch)
        kernel = [*rows.block(some, waiting.slots), *rows.loop(some)]
    else:
        block = rows.block(some, columns.size)
        kernel = [*columns.globals(), *block, *rows.loop(some, after=columns.after())]
    return "\n".join([*kernel, *rows.whole(name, some), *rows.piece(name, some), ""])


def _complete_after(rows: RowLoop, segments: Sequence[Sequence[int]]) -> dict[int, list[int]]:
    """Arrays of the output by the segment that makes their last result."""
    made = {i: n for n, members in enumerate(segments) for i in members}
    found: dict[int, list[int]] = {}
    for number, results in enumerate(_results(rows)):
        found.setdefault(max((made.get(k, 0) for k in results), default=0), []).append(number)
    return found


def _kept(rows: RowLoop, segments: Sequence[Sequence[int]], complete: Mapping[int, Sequence[int]]) -> dict[int, int]:
    """Results, and the last turn of the segment after which they are written; the last of all, if most are constant."""
    ends = list(accumulate(map(len, segments)))
    found: dict[int, int] = {}
    for n in sorted(complete):
        end = ends[-1] if is_sparse(rows.program) else ends[n]
        for number in complete[n]:
            found.update(dict.fromkeys(_results(rows)[number], end - 1))
    return found


def _results(rows: RowLoop) -> list[list[int]]:
    """The results in each array of the output that are not constant."""
    program, arrays = rows.program, rows.arrays
    parts = [program.outputs[start : start + size] for start, size in zip(arrays.starts, arrays.sizes, strict=True)]
    return [[k for k in part if program.instructions[k][0] != "const"] for part in parts]
