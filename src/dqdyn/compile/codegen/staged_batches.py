"""The batch kernel of a program that is longer than the cache of decoded instructions: several blocks pass each stage.

A processor that computes with two whole vectors of eight at a time takes its instructions from that cache. Code that
does not fit has to be fetched and decoded anew for every block of rows, 16 bytes a cycle, two or three instructions,
and waits for them half of the time. So the program is cut into stages that fit, and some blocks of rows pass one stage
before they pass the next. What crosses from stage to stage waits in memory, in the second level of the caches: as many
blocks go together as find room there.

Chunks of results are written from registers as soon as they are complete.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from dqdyn.compile.codegen.blocks import WEIGHT, size_of
from dqdyn.compile.codegen.direct_writes import DueWrites, LongBlock, PlannedWrites, direct_block, direct_order
from dqdyn.compile.codegen.result_columns import ResultColumns
from dqdyn.compile.codegen.rows import TOO_LARGE, RowLoop
from dqdyn.compile.codegen.stages import NEXT_MODULE, TABLE, table
from dqdyn.compile.codegen.variants import chosen, may_go_past, variants
from dqdyn.compile.codegen.workspace import in_workspace

_SHORTEST = 4400  # instructions; fewer are in the cache of decoded ones, which holds 6,000 at best
_STAGE = 3700  # instructions; with what is not counted, such a stage fits
_FEWEST = 1000  # lines of IR: else nearly all of the code writes results
_LONGEST = 30_000  # instructions: of four variants, which LLVM compiles in two or three seconds
_SHORT_ROWS = 256  # numbers; longer rows, where they exceed the caches but may not go past them, are written in order
_OF_A_RESULT, _OF_AN_INPUT = 4, 6  # instructions that transpose one, and store it, or load and check it
_SECOND_LEVEL = 512 * 1024  # bytes, half of that cache, for what blocks that go together keep there
_MOST_BLOCKS = 8  # more need hardly fewer fetches


class StagedBatches:
    """Kernels of a program."""

    def __init__(self, rows: RowLoop) -> None:
        self.rows = rows

    @cached_property
    def length(self) -> int:
        """About how many instructions a block takes: as many are fused as loads and stores come in between."""
        program = self.rows.program
        results = sum(1 if program.instructions[k][0] == "const" else _OF_A_RESULT for k in program.outputs)
        return size_of(program) + results + _OF_AN_INPUT * sum(size for _, size in program.inputs)

    def pay(self) -> bool:
        """Whether the code of a block is too long otherwise, and rows beyond the caches do not suffer."""
        if not (may_go_past(self.rows) or sum(self.rows.arrays.sizes) <= _SHORT_ROWS):
            return False
        return _SHORTEST <= self.length <= _LONGEST and size_of(self.rows.program) >= _FEWEST

    @cached_property
    def _stages(self) -> list[list[int]]:
        return cut_into_stages(self.rows, direct_order(self.rows), max(2, -(-self.length // _STAGE)))

    @cached_property
    def _plan(self) -> PlannedWrites:
        return self._planned(variants(self.rows)[0].is_behind)

    def _planned(self, is_behind: bool | None) -> PlannedWrites:
        return PlannedWrites.of(self.rows, [i for stage in self._stages for i in stage], is_behind, self._stages)

    @property
    def _bytes_of_results(self) -> int:
        return 8 * self.rows.width * sum(self.rows.arrays.sizes)

    @property
    def _blocks(self) -> int:
        """How many blocks of rows go together."""
        size = 8 * self.rows.width * self._plan.places + self._bytes_of_results
        return min(_MOST_BLOCKS, max(2, _SECOND_LEVEL // max(1, size)))

    def kernel(self, name: str, segment: int, hand_over: Callable[[str], None] | None = None) -> str:
        """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)``; ``segment`` instructions are in a basic block.

        Each variant of a stage is a module of its own, which goes to ``hand_over`` as soon as it is complete.
        """
        rows, own_name, count = self.rows, f"{name}_some", len(self._stages)
        rows.knows_all = True
        ways = list(dict.fromkeys(variant.is_behind for variant in variants(rows)))
        plans = dict(zip(ways, [self._plan, *map(self._planned, ways[1:])], strict=True))
        blocks = [
            (plans[variant.is_behind], LongBlock(segment, variant.is_past, number * count + stage, self._stages, stage))
            for number, variant in enumerate(variants(rows))
            for stage in range(count)
        ]
        modules: list[str] = []
        for plan, block in blocks:
            (hand_over or modules.append)("\n".join([*direct_block(rows, "", plan, block), ""]))
        places = max(plan.places for plan in plans.values())
        loop = self._loop(own_name, count, places)
        first = [table(len(blocks)), *loop, *rows.whole(name, own_name), *rows.piece(name, own_name), ""]
        return NEXT_MODULE.join(["\n".join(first), *modules])

    def _loop(self, name: str, stages: int, places: int) -> list[str]:
        """The kernel: groups of blocks, which pass stage after stage."""
        rows, body = self.rows, self.rows.body
        real, width, blocks = body.real, rows.width, self._blocks
        body.lines = []
        answer, end = rows.answer(), body.lines
        body.lines = []
        first = body.op(f"mul i64 {chosen(rows, '%i')}, {stages}")
        number = body.op(f"add i64 {first}, %stage")
        function, choice = body.load(body.at(f"@{TABLE}", number, "ptr"), "ptr"), body.lines
        body.lines = []
        together = str(width * blocks)
        if not may_go_past(rows):  # results beyond the caches take so long that other blocks would only push them out
            together = body.op(f"select i1 {ResultColumns.beyond(rows)}, i64 {width}, i64 {together}")
        records = ("%largest", "%unfit")
        lines = [
            *body.lines,
            "  %last = sub i64 %n, 1",
            *(f"  {record} = alloca {real}, align 64" for record in records),
            *(f"  store {real} zeroinitializer, ptr {record}, align 64" for record in records),
            "  br label %group",
            "group:",
            "  %start = phi i64 [ 0, %entry ], [ %end, %after ]",
            f"  %all_blocks = add i64 %start, {together}",
            "  %end = call i64 @llvm.umin.i64(i64 %all_blocks, i64 %n)",
            "  br label %next_stage",
            "next_stage:",
            "  %stage = phi i64 [ 0, %group ], [ %following, %passed ]",
            "  br label %block",
            "block:",
            "  %i = phi i64 [ %start, %next_stage ], [ %next, %block ]",
            "  %waiting = phi ptr [ %scratch, %next_stage ], [ %beyond, %block ]",
            *choice,
            f"  call i64 {function}({rows.given()}, ptr %waiting)",
            f"  %next = add i64 %i, {width}",
            f"  %beyond = getelementptr {real}, ptr %waiting, i64 {places}",
            "  %more = icmp ult i64 %next, %end",
            "  br i1 %more, label %block, label %passed",
            "passed:",
            "  %following = add i64 %stage, 1",
            f"  %again = icmp ult i64 %following, {stages}",
            "  br i1 %again, label %next_stage, label %after",
            "after:",
            "  %left = icmp ult i64 %end, %n",
            "  br i1 %left, label %group, label %exit",
            "exit:",
            *(["  fence seq_cst"] if may_go_past(rows) else []),  # visible before anything that follows
            *end,
            f"  ret i64 {answer}",
        ]
        size = 8 * width * places * blocks
        return in_workspace(name, rows.arguments().split(", "), size, str(TOO_LARGE), lines)


def cut_into_stages(rows: RowLoop, order: Sequence[int], count: int) -> list[list[int]]:
    """Instructions in their order, in at most so many stages of about the same length."""
    instructions, due = rows.program.instructions, DueWrites(rows, order, None)
    weights = [
        WEIGHT.get(instructions[i][0], 1) + _OF_A_RESULT * sum(len(some.results) for some in due.after(i))
        for i in order
    ]
    whole, before = sum(weights), 0
    stages: list[list[int]] = [[] for _ in range(count)]
    for i, weight in zip(order, weights, strict=True):
        stages[min(count - 1, before * count // max(1, whole))].append(i)
        before += weight
    return [stage for stage in stages if stage]
