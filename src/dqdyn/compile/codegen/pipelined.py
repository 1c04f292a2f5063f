"""The batch kernel of a program with some dozens of results: it writes a block of rows while it computes the next.

Stores occupy other units than arithmetic does, but a processor looks only some hundred instructions ahead. So the
results of a block wait in memory as vectors over states, and are brought back to rows in small portions between the
operations on the following block. There are two such memories, which take turns. The last block, the only one that may
be ragged, is written by a loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dqdyn.compile.codegen.blocks import WEIGHT, segments
from dqdyn.compile.codegen.prefetch import PrefetchPlan
from dqdyn.compile.codegen.register_order import in_registers
from dqdyn.compile.codegen.register_plan import from_inputs, operations, register_plan
from dqdyn.compile.codegen.result_columns import Portion, ResultColumns
from dqdyn.compile.codegen.row_chunks import chunks
from dqdyn.compile.codegen.rows import RowLoop
from dqdyn.compile.trace.program import Program

_FEWEST = 24  # results from which this pays
_MOST = 160  # different results: twice as many vectors leave room in the innermost cache
_OF_LONG = 100  # results at least, and different ones at most, of a long program: it keeps more else in that cache
_PORTION = 30  # lines of IR between two portions

_MEMORIES = "ptr noalias %now, ptr noalias readonly %before, i1 %later"
"""Further parameters of a block: results of this one, those of the one before, and whether there is one before."""


def is_pipelined(program: Program, is_long: bool) -> bool:
    """Whether a program gets this kind of kernel; a long one is cut into several basic blocks."""
    fewest, most = (_OF_LONG, min(_OF_LONG, _MOST)) if is_long else (_FEWEST, _MOST)
    return len(program.outputs) >= fewest and len(different_results(program)) <= most


def different_results(program: Program) -> list[int]:
    """Results that are not constant, each once."""
    return [k for k in dict.fromkeys(program.outputs) if program.instructions[k][0] != "const"]


def pipelined_batch_kernel(rows: RowLoop, name: str, segment: int) -> str:
    """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)`` as :func:`~dqdyn.compile.codegen.kernels.batch_kernel`.

    ``segment`` is the number of lines of IR in a basic block.
    """
    place = {k: n for n, k in enumerate(different_results(rows.program))}
    columns = ResultColumns(rows, place, len(place), name)
    parts: Sequence[Sequence[int]] = segments(rows.program, segment)
    if len(parts) == 1:
        parts = [in_registers(rows.program, parts[0], rows.registers)]
    blocks, choice, chosen = rows.blocks(name, lambda which, is_behind: _block(rows, place, parts, which, is_behind))
    body = rows.body
    body.lines = []
    numbers = rows.row_numbers("%i")
    for number, size in enumerate(rows.arrays.sizes):
        columns.write(Portion(number, 0, Portion.count(size, rows.width), True), "%now", numbers)
    head = f"define internal i64 @{name}_rest({rows.arguments()}, {rows.BLOCK}, ptr noalias readonly %now) noinline {{"
    rest = [head, "entry:", *body.lines, "  ret i64 0", "}"]
    loop = _loop(rows, columns, name, choice, chosen)
    return "\n".join([*columns.globals(), *blocks, *rest, *loop, *rows.piece(name), ""])


def _block(
    rows: RowLoop, place: dict[int, int], parts: Sequence[Sequence[int]], name: str, is_behind: bool | None
) -> list[str]:
    """The function ``name_block``."""
    program, body = rows.program, rows.body
    instructions = program.instructions
    order = [i for members in parts for i in members]
    fused = rows.fused(order)
    waiting = register_plan(from_inputs(program, operations(program, order, fused)), rows.registers, {}, place)
    body.lines = []

    def memory(k: int) -> str:
        return body.at("%now", place[k], body.real) if k in place else body.slot(waiting.slot[k])

    def fetch(k: int) -> str:
        return body.load_slot(instructions[k][0] == "less", memory(k))

    def keep(i: int, value: str) -> None:
        if i in place or i in waiting.slot:
            body.store_slot(instructions[i][0] == "less", value, memory(i))

    def compute(i: int, value: str) -> None:
        keep(i, value)
        prefetch.step()
        portions.step(WEIGHT.get(instructions[i][0], 1))

    numbers = rows.row_numbers("%i")
    values: dict[int, str] = {}
    rows.read(numbers, values, keep)
    prefetch = PrefetchPlan(rows, len(order))
    lines = sum(WEIGHT.get(instructions[i][0], 1) for i in order)
    portions = _Portions(rows, place, lines, is_behind)
    for n, members in enumerate(parts):
        body.cut(f"part{n}")
        body.largest = rows.recorded("largest")
        body.segment(program, members, fetch, compute, fused=fused, reloads=waiting.reloads, values=values)
        rows.record("largest", body.largest)
    portions.finish()
    return rows.block(name, waiting.slots, _MEMORIES)


def _loop(rows: RowLoop, columns: ResultColumns, name: str, choice: Sequence[str], chosen: str) -> list[str]:
    """The kernel: as :meth:`RowLoop.loop`, with the two memories."""
    body = rows.body
    body.lines = []
    for which in ("%one", "%other"):
        body.lines.append(f"  {which} = alloca [{max(1, columns.size)} x {body.real}], align 64")
    for which in ("%one", "%other"):
        columns.store_constants(body, which)
    start = body.lines
    return rows.loop(
        name,
        [*start, *choice],
        [
            "  %now = phi ptr [ %one, %entry ], [ %before, %block ]",
            "  %before = phi ptr [ %other, %entry ], [ %now, %block ]",
            "  %later = icmp ne i64 %i, 0",
        ],
        "ptr %now, ptr %before, i1 %later",
        [f"  call i64 @{name}_rest({rows.given()}, ptr %now)"],
        chosen,
    )


class _Portions:
    """The block before, brought back to rows in portions during ``lines`` lines of IR."""

    def __init__(self, rows: RowLoop, place: dict[int, int], lines: int, is_behind: bool | None) -> None:
        self.rows, self.place, self.lines = rows, place, lines
        self.taken = self.since = 0
        self.waiting = self._chunks(is_behind)
        self.all = max(1, len(self.waiting))

    def step(self, lines: int) -> None:
        """After an operation of so many lines: write what is due."""
        self.taken += lines
        self.since += lines
        if self.since >= _PORTION:
            self.since = 0
            self._write(len(self.waiting) - self.all + -(-self.taken * self.all // max(1, self.lines)))

    def finish(self) -> None:
        self._write(len(self.waiting))

    def _write(self, count: int) -> None:
        if count <= 0 or not self.waiting:
            return
        body = self.rows.body
        due, self.waiting = self.waiting[:count], self.waiting[count:]
        yes, on = body.new_label("portion"), body.new_label("on")
        body.branch("%later", yes, on)
        body.label(yes)
        for write in due:
            write()
        body.jump(on)
        body.label(on)

    def _chunks(self, is_behind: bool | None) -> list[Callable[[], None]]:
        """Functions that write some columns each; the rows of the block before are complete, so none is the last."""
        rows, body = self.rows, self.rows.body
        first = body.op(f"sub i64 %i, {rows.width}")
        numbers = rows.lane_rows(first)
        writes: list[Callable[[], None]] = []
        for number, size in enumerate(rows.arrays.sizes):
            pointers = rows.output_rows(numbers, number)
            for chunk in chunks(size, rows.width, is_behind):
                writes.append(partial(rows.store_chunk, pointers, number, chunk, self._column))
        return writes

    def _column(self, k: int) -> str:
        body = self.rows.body
        return body.load(body.at("%before", self.place[k], body.real), body.real, 8 * body.width)
