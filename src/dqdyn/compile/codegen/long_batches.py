"""The batch kernel of a long program: a block of rows is computed in segments, then its results are written.

The two do not overlap, and nothing is gained by mixing them: a store to a line that is not in the innermost cache holds
up all stores behind it, those of the computation included. Results that are written as they are complete, block by
block or in portions among the operations, took as long or up to twice as long, with lines requested ahead or without.
"""

from __future__ import annotations

from dqdyn.compile.codegen.blocks import plan
from dqdyn.compile.codegen.emit import fused_products
from dqdyn.compile.codegen.prefetch import PrefetchPlan, ResultRequests
from dqdyn.compile.codegen.register_plan import register_plan
from dqdyn.compile.codegen.result_columns import ResultColumns, is_sparse
from dqdyn.compile.codegen.rows import RowLoop

_REGISTERS = {8: 26}  # by the width; of 32 vectors, the others are for constants and products
_FEW_REGISTERS = 12  # of 16 vectors


def long_batch_kernel(rows: RowLoop, name: str, segment: int) -> str:
    """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)`` as :func:`~dqdyn.compile.codegen.kernels.batch_kernel`.

    ``segment`` is the number of lines of IR in a basic block.
    """
    program, body = rows.program, rows.body
    instructions = program.instructions
    segments = plan(program, segment, transposed=True).segments
    order = [i for members in segments for i in members]
    fused = fused_products(program, order) if body.contract and body.fma else {}
    results = {k for k in program.outputs if instructions[k][0] != "const"}
    waiting = register_plan(program, order, _REGISTERS.get(rows.width, _FEW_REGISTERS), fused, results)

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
    for n, members in enumerate(segments):
        body.cut(f"part{n}")
        body.largest = rows.recorded("largest")
        body.segment(program, members, fetch, compute, fused=fused, reloads=waiting.reloads, values=values)
        rows.record("largest", body.largest)
    body.cut("write")
    if is_sparse(program):
        rows.write(numbers, fetch)
        return "\n".join([*rows.block(name, waiting.slots), *rows.loop(name), *rows.piece(name), ""])
    columns = ResultColumns(rows, waiting.slot, waiting.slots, name, may_stream=True)
    columns.store_constants(body, "%scratch")
    columns.write("%scratch", numbers)
    block = rows.block(name, columns.size)
    return "\n".join([*columns.globals(), *block, *rows.loop(name, after=columns.after()), *rows.piece(name), ""])
