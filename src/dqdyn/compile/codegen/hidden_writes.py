"""The batch kernel of a long program whose stores of results are hidden behind its operations.

Where each result takes many operations, chunks of rows are written from registers as soon as they are complete, and
the processor computes on meanwhile. Stores that follow each other closely, or in bursts, would hold up the operations:
a line that goes past the caches takes eight cycles, and a store to a line that is not in the innermost cache holds up
those behind it. Such results are written at the end instead (:mod:`dqdyn.compile.codegen.long_batches`).

There are four blocks of code, through the caches and past them, for arrays that start 16 bytes behind a multiple of 32
or at one. So this is for programs of which LLVM compiles four in a second or two, with one array of results whose rows
are an odd number of half lines: those start as planned wherever the array does, even and odd states exchanged or not.
Only an array at an odd multiple of 8 bytes has unaligned rows, and they go through the caches.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from dqdyn.compile.codegen.blocks import size_of
from dqdyn.compile.codegen.direct_writes import LongBlock, PlannedWrites, direct_block, members_of
from dqdyn.compile.codegen.pipelined import different_results
from dqdyn.compile.codegen.register_plan import RegisterPlan, from_inputs, operations, register_plan
from dqdyn.compile.codegen.result_columns import is_sparse
from dqdyn.compile.codegen.row_chunks import alternates
from dqdyn.compile.codegen.rows import RowLoop
from dqdyn.compile.codegen.stages import NEXT_MODULE, TABLE, table
from dqdyn.compile.codegen.variants import chosen, may_go_past, variants

_FEWEST = 512  # results, of which a block of eight states fills the innermost cache
_LONGEST = 20_000  # lines of IR
_HIDING = 8  # operations per result that hide its store
_OF_A_STORE, _OF_A_RESULT = 1.5, 2.5  # loads; a result that waits is stored, and loaded to be written
_LESS = 0.93  # of the loads and stores of results that wait


class HiddenWrites:
    """Kernels of a program, in its own order."""

    def __init__(self, rows: RowLoop) -> None:
        self.rows, self.order = rows, members_of(rows.program)

    @cached_property
    def _plan(self) -> PlannedWrites:
        return PlannedWrites.of(self.rows, self.order, True)

    def pay(self) -> bool:
        """Whether this is possible, and less work than to let results wait."""
        program, width = self.rows.program, self.rows.width
        results, lines = len(program.outputs), size_of(program)
        if results < _FEWEST or not _HIDING * results <= lines <= _LONGEST or is_sparse(program):
            return False
        if not (may_go_past(self.rows) and alternates(results, width)):
            return False
        alone = from_inputs(program, operations(program, self.order, self._plan.fused))
        plan = register_plan(alone, self.rows.registers, {})
        later = self._traffic(plan) + _OF_A_RESULT * len(different_results(program))
        return self._traffic(self._plan.waiting) < _LESS * later

    def _traffic(self, plan: RegisterPlan) -> float:
        return len(plan.reloads) + _OF_A_STORE * len(plan.slot.keys() & set(self.order))

    def kernel(self, name: str, segment: int, hand_over: Callable[[str], None] | None = None) -> str:
        """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)``; ``segment`` instructions are in a basic block.

        Each block of code is a module of its own, which goes to ``hand_over`` as soon as it is complete.
        """
        rows, own_name = self.rows, f"{name}_some"
        rows.knows_all = True
        modules: list[str] = []
        for number, variant in enumerate(variants(rows)):
            plan = self._plan if variant.is_behind else PlannedWrites.of(rows, self.order, False)
            block = direct_block(rows, "", plan, LongBlock(segment, variant.is_past, number))
            (hand_over or modules.append)("\n".join([*block, ""]))
        rows.body.lines = []
        block_name = rows.body.load(rows.body.at(f"@{TABLE}", chosen(rows, "%i"), "ptr"), "ptr")
        choice = rows.body.lines
        loop = rows.loop(own_name, first=choice, after=["  fence seq_cst"], block=block_name)  # visible before others
        first = [table(len(variants(rows))), *loop, *rows.whole(name, own_name), *rows.piece(name, own_name), ""]
        return NEXT_MODULE.join(["\n".join(first), *modules])
