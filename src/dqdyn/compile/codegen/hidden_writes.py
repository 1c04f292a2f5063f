"""The batch kernel of a long program whose stores of results are hidden behind its operations.

Where each result takes many operations, chunks of rows are written from registers as soon as they are complete, and
the processor computes on meanwhile. Stores that follow each other closely, or in bursts, would hold up the operations:
a line that goes past the caches takes eight cycles, and a store to a line that is not in the innermost cache holds up
those behind it. Such results are written at the end instead (:mod:`dqdyn.compile.codegen.long_batches`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial, reduce

from dqdyn.compile.codegen.blocks import size_of
from dqdyn.compile.codegen.direct_writes import LongBlock, PlannedWrites, direct_block, members_of
from dqdyn.compile.codegen.pipelined import different_results
from dqdyn.compile.codegen.register_plan import RegisterPlan, from_inputs, operations, register_plan
from dqdyn.compile.codegen.result_columns import ResultColumns, is_sparse
from dqdyn.compile.codegen.row_chunks import has_alignments
from dqdyn.compile.codegen.row_stream import RowStream
from dqdyn.compile.codegen.rows import ALWAYS, CutRows, RowLoop
from dqdyn.compile.codegen.stages import NEXT_MODULE, TABLE, table

_FEWEST = 512  # results, of which a block of eight states fills the innermost cache
_HIDING = 8  # operations per result that hide its store
_SELDOM = 16  # operations per result from which lines need no request, and a choice for each chunk takes no time
_OF_A_STORE, _OF_A_RESULT = 1.5, 2.5  # loads; a result that waits is stored, and loaded to be written
_LESS = 0.93  # of the loads and stores of results that wait


class HiddenWrites:
    """Kernels of a program, in its own order."""

    def __init__(self, rows: RowLoop) -> None:
        self.rows, self.order = rows, members_of(rows.program)
        sizes = rows.arrays.sizes
        # Large arrays of NumPy start 16 bytes behind a line; others are written in the same chunks, unaligned.
        self.is_behind = True if all(has_alignments(size, rows.width, 1) for size in sizes) else None
        self.may_go_past = [self.is_behind is True and RowStream.fits(rows.width, size, size) for size in sizes]

    @cached_property
    def _plan(self) -> PlannedWrites:
        return PlannedWrites.of(self.rows, self.order, self.is_behind)

    def pay(self) -> bool:
        """Whether this is less work than to let results wait."""
        program = self.rows.program
        results = len(program.outputs)
        if results < _FEWEST or size_of(program) < _HIDING * results or is_sparse(program):
            return False
        alone = from_inputs(program, operations(program, self.order, self._plan.fused))
        plan = register_plan(alone, self.rows.registers, {})
        later = self._traffic(plan) + _OF_A_RESULT * len(different_results(program))
        return self._traffic(self._plan.waiting) < _LESS * later

    def _traffic(self, plan: RegisterPlan) -> float:
        return len(plan.reloads) + _OF_A_STORE * len(plan.slot.keys() & set(self.order))

    def kernel(self, name: str, segment: int, hand_over: Callable[[str], None] | None = None) -> str:
        """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)``; ``segment`` instructions are in a basic block.

        Results that exceed the caches go past them. That is chosen for each chunk, or where results follow each other
        closely for a block, of which there are several then: a choice for each chunk would take longer. Each is a
        module of its own, which goes to ``hand_over`` as soon as it is complete.
        """
        rows, program, own_name = self.rows, self.rows.program, f"{name}_some"
        rows.knows_all = True
        modules: list[str] = []
        choice: list[str] = []
        if size_of(program) < _SELDOM * len(program.outputs):
            count, choice, block = self._choices(segment, hand_over or modules.append)
            first = [table(count)]
        else:
            first, block = direct_block(rows, own_name, self._plan, LongBlock(segment, self._past, False)), ""
        after = ["  fence seq_cst"] if any(self.may_go_past) else []  # visible before what follows
        first += [*rows.loop(own_name, first=choice, after=after, block=block), *rows.whole(name, own_name)]
        return NEXT_MODULE.join(["\n".join([*first, *rows.piece(name, own_name), ""]), *modules])

    def _choices(self, segment: int, hand_over: Callable[[str], None]) -> tuple[int, list[str], str]:
        """How many blocks there are, each a module, lines that choose among them, and the name of what they choose.

        One writes through the caches, one past them, and one is for arrays that start at a multiple of 32 bytes.
        """
        rows, body, count = self.rows, self.rows.body, 0

        def emit(plan: PlannedWrites, past: Callable[[Sequence[CutRows]], list[str]], has_requests: bool) -> None:
            nonlocal count
            hand_over("\n".join([*direct_block(rows, "", plan, LongBlock(segment, past, has_requests, count)), ""]))
            count += 1

        emit(self._plan, self._never, True)
        if any(self.may_go_past):
            emit(self._plan, self._always, False)
        if rows.has_alignments:
            emit(PlannedWrites.of(rows, self.order, False), self._never, True)
        body.lines = []
        functions = [body.load(body.at(f"@{TABLE}", k, "ptr"), "ptr") for k in range(count)]
        chosen = functions[0]
        if rows.has_alignments:
            chosen = body.op(f"select i1 {rows.is_aligned()}, ptr {functions[-1]}, ptr {chosen}")
        if any(self.may_go_past):
            numbers = rows.row_numbers("%i")
            past = self._past([rows.cut_rows(numbers, number, first) for number, first in enumerate(self._plan.first)])
            every = reduce(partial(body.binary, "and", kind="i1"), filter(None, past))
            chosen = body.op(f"select i1 {every}, ptr {functions[1]}, ptr {chosen}")
        return count, body.lines, chosen

    def _never(self, pointers: Sequence[CutRows]) -> list[str]:
        return [""] * len(pointers)

    def _always(self, pointers: Sequence[CutRows]) -> list[str]:
        return [ALWAYS if may else "" for may in self.may_go_past]

    def _past(self, pointers: Sequence[CutRows]) -> list[str]:
        """For each array an i1: whether whole chunks of this block are lines, and results exceed the caches."""
        rows = [own.pointers[0] for own in pointers]
        return [self._goes_past(n, row) if self.may_go_past[n] else "" for n, row in enumerate(rows)]

    def _goes_past(self, number: int, row: str) -> str:
        """An i1 for one array; its chunks of the first lane are in that ``row``."""
        rows, body, width = self.rows, self.rows.body, self.rows.width
        size, stride, chunk = rows.arrays.sizes[number], rows.strides[number], self._plan.first[number]
        assert chunk is not None
        start = body.op(f"ptrtoint ptr {body.at(row, chunk.end % width)} to i64")
        gap = body.op(f"shl i64 {body.op(f'sub i64 {stride}, {size}')}, 3")  # between rows
        rest = body.op(f"and i64 {body.op(f'or i64 {start}, {gap}')}, {8 * width - 1}")
        is_whole = body.op(f"icmp ule i64 {body.op(f'add i64 %i, {width - 1}')}, %last")
        is_line = body.op(f"and i1 {is_whole}, {body.op(f'icmp eq i64 {rest}, 0')}")
        return body.op(f"and i1 {ResultColumns.beyond(rows)}, {is_line}")
