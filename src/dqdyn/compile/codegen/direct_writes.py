"""The batch kernel of a short program that writes results from registers to their rows as soon as they are there.

Results that wait in memory are stored twice, and a store of a vector takes as long as two operations. Here the order of
operations is one in which few values wait, for operations or for the results beside them in a row. The block of rows is
emitted once for each way in which the output may be aligned. Longer programs are written this way, too, if almost no
value has to wait; in their own order if that hides the stores (:mod:`dqdyn.compile.codegen.hidden_writes`); or in
stages (:mod:`dqdyn.compile.codegen.staged_batches`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dqdyn.compile.codegen.blocks import size_of
from dqdyn.compile.codegen.prefetch import ChunkRequests, PrefetchPlan
from dqdyn.compile.codegen.register_order import in_registers, traffic
from dqdyn.compile.codegen.register_plan import (
    Operation,
    RegisterPlan,
    crossing,
    from_inputs,
    operations,
    register_plan,
)
from dqdyn.compile.codegen.result_columns import is_sparse
from dqdyn.compile.codegen.row_chunks import Chunk, chunks
from dqdyn.compile.codegen.rows import RowLoop
from dqdyn.compile.trace.program import Program

_SHORTEST = 1000  # lines of IR; between the operations of fewer, results of the block before are written quicker
_LONGEST = 2  # times what is long: one basic block takes LLVM seconds then
_BY_FAR = 0.5  # of the traffic, at which programs are written so that are quicker otherwise as a rule
_STORED_AND_LOADED = 2.5  # traffic of a result that waits


def may_be_direct(program: Program, long: int, whole_vectors: bool = False) -> bool:
    """Whether this may be less work than other ways; ``long`` lines of IR are cut into basic blocks as a rule.

    With ``whole_vectors`` (:attr:`~dqdyn.compile.runtime.processor.Machine.has_whole_vectors`) stores take longer than
    operations, and the shortest programs gain, too.
    """
    shortest = 0 if whole_vectors else _SHORTEST
    return shortest <= size_of(program) <= _LONGEST * long and not is_sparse(program)


def direct_order(rows: RowLoop) -> Sequence[int]:
    """Instructions of a program in the order for this kind of kernel."""
    writes = [_results(rows, number, chunk) for number, chunk in _all_chunks(rows, None)]
    return [
        i
        for i in in_registers(rows.program, members_of(rows.program), rows.registers, writes)
        if i < len(rows.program.instructions)
    ]


def is_direct(rows: RowLoop, order: Sequence[int], waiting: int, is_long: bool = False) -> bool:
    """Whether that is less work than to let ``waiting`` results wait, which are then written evenly.

    Those of a long program are written side by side, in the order of rows, which is quicker than as they come, and
    those of a short one between operations: there it must be less by far.
    """
    program = rows.program
    members = members_of(program)
    later = (
        traffic(program, in_registers(program, members, rows.registers), rows.registers) + _STORED_AND_LOADED * waiting
    )
    writes = [_results(rows, number, chunk) for number, chunk in _all_chunks(rows, None)]
    is_by_far = is_long or size_of(program) < _SHORTEST
    return traffic(program, order, rows.registers, writes) < (_BY_FAR if is_by_far else 1.0) * later


def direct_batch_kernel(rows: RowLoop, name: str, order: Sequence[int]) -> str:
    """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)`` as :func:`~dqdyn.compile.codegen.kernels.batch_kernel`."""

    def block(which: str, is_behind: bool | None) -> list[str]:
        return direct_block(rows, which, PlannedWrites.of(rows, order, is_behind))

    blocks, choice, chosen = rows.blocks(name, block)
    return "\n".join([*blocks, *rows.loop(name, choice, block=chosen), *rows.piece(name), ""])


@dataclass(frozen=True)
class PlannedWrites:
    """Instructions in their order, which values wait where, what is written when, and which products are fused.

    Where the order is cut into stages, values that cross from one to another have places of their own, so many in all.
    """

    order: Sequence[int]
    waiting: RegisterPlan
    due: DueWrites
    fused: dict[int, int]
    crossing: Mapping[int, int] = field(default_factory=dict)
    places: int = 0

    @staticmethod
    def of(
        rows: RowLoop, order: Sequence[int], is_behind: bool | None, stages: Sequence[Sequence[int]] = ()
    ) -> PlannedWrites:
        """The plan for an output that starts in one of two ways (:func:`~dqdyn.compile.codegen.row_chunks.chunks`)."""
        fused, due = rows.fused(order), DueWrites(rows, order, is_behind)
        first = {stage[0] for stage in stages[1:]}
        planned: list[Operation] = [(some.number, some.results) for some in due.left]
        for operation in operations(rows.program, order, fused):
            planned += [operation, *((some.number, some.results) for some in due.after(operation[0]))]
        planned = from_inputs(rows.program, planned)
        cuts = {turn for turn, (i, _) in enumerate(planned) if i in first}
        elsewhere, places = crossing(planned, cuts)
        waiting = register_plan(planned, rows.registers, {}, elsewhere, cuts)
        return PlannedWrites(order, waiting, due, fused, elsewhere, places)


@dataclass(frozen=True)
class LongBlock:
    """How a block of a long program is emitted, with so many instructions of the program in a basic block.

    Chunks that fill lines go past the caches if it ``is_past``; else lines of results are requested some operations
    before they are written, and in the first of several stages those of the next inputs, too. The block, or one of the
    ``stages`` of it, is the function of some ``number`` in a module of its own. What crosses from one stage to another
    waits at ``%waiting``, a further parameter.
    """

    segment: int
    is_past: bool
    number: int
    stages: Sequence[Sequence[int]] = ()
    stage: int = 0

    @property
    def is_first(self) -> bool:
        return self.stage == 0


def direct_block(rows: RowLoop, name: str, plan: PlannedWrites, long: LongBlock | None = None) -> list[str]:
    """The function ``name_block``."""
    program, body, waiting = rows.program, rows.body, plan.waiting
    order = long.stages[long.stage] if long and long.stages else plan.order
    instructions = program.instructions
    body.lines = []
    values: dict[int, str] = {}

    def memory(k: int) -> str:
        if k in plan.crossing:
            return body.at("%waiting", plan.crossing[k], body.real)
        return body.slot(waiting.slot[k])

    def keep(i: int, value: str) -> None:
        if i in plan.crossing or i in waiting.slot:
            body.store_slot(instructions[i][0] == "less", value, memory(i))

    def fetch(k: int) -> str:
        return body.load_slot(instructions[k][0] == "less", memory(k))

    def write(some: _Write) -> None:
        values.update({k: fetch(k) for k in some.results if (some.number, k) in waiting.reloads})
        rows.store_chunk(pointers[some.array], some.array, some.chunk, values.__getitem__, is_past)

    def compute(i: int, value: str) -> None:
        keep(i, value)
        for some_requests in requests:
            some_requests.step()
        for some in plan.due.after(i):
            write(some)

    numbers = rows.row_numbers("%i")
    if long is None or long.is_first:
        rows.read(numbers, values, keep)
    pointers = [rows.output_rows(numbers, number) for number in range(len(rows.arrays.sizes))]
    requests: list[PrefetchPlan | ChunkRequests]
    if long is None:
        is_past, segment = False, max(1, len(order))
        requests = [PrefetchPlan(rows, len(order), is_written_all_along=True)]
    else:
        is_past, segment = long.is_past, long.segment
        requests = [ChunkRequests(body, () if is_past else plan.due.lines(order, pointers))]
        if long.stages and long.is_first:
            requests.append(PrefetchPlan(rows, len(order)))
    for n, start in enumerate(range(0, max(1, len(order)), segment)):
        body.cut(f"part{n}")
        body.largest = rows.recorded("largest")
        members = order[start : start + segment]
        body.segment(program, members, fetch, compute, fused=plan.fused, reloads=waiting.reloads, values=values)
        rows.record("largest", body.largest)
    for some in plan.due.left:
        write(some)
    return rows.block(
        name, waiting.slots, "ptr noalias %waiting" if long and long.stages else "", long.number if long else None
    )


@dataclass(frozen=True)
class _Write:
    """A chunk of an array of the output; its number follows those of the instructions, and it reads ``results``."""

    number: int
    array: int
    chunk: Chunk
    results: tuple[int, ...]


class DueWrites:
    """Chunks that are written as soon as their last result is there; those without any, evenly among the others."""

    def __init__(self, rows: RowLoop, order: Sequence[int], is_behind: bool | None) -> None:
        instructions = rows.program.instructions
        turn = {i: n for n, i in enumerate(order)}
        self._after: dict[int, list[_Write]] = {}
        anytime: list[_Write] = []
        for number, (array, chunk) in enumerate(_all_chunks(rows, is_behind), start=len(instructions)):
            results = tuple(k for k in _results(rows, array, chunk) if instructions[k][0] != "const")
            made = [k for k in results if k in turn]
            last = self._after.setdefault(max(made, key=turn.__getitem__), []) if made else anytime
            last.append(_Write(number, array, chunk, tuple(dict.fromkeys(results))))
        for n, write in enumerate(anytime) if order else ():
            self._after.setdefault(order[n * len(order) // len(anytime)], []).append(write)
        self.left = () if order else anytime
        """What is written where there are no instructions."""

    def after(self, i: int) -> Sequence[_Write]:
        """What is written after an instruction."""
        return self._after.get(i, ())

    def lines(self, order: Sequence[int], pointers: Sequence[Sequence[str]]) -> list[tuple[int, str, int]]:
        """Lines that are written, in order: the turn, the row, and the column at which a chunk begins."""
        found = []
        for turn, i in enumerate(order):
            for some in self.after(i):
                own = pointers[some.array]
                lanes = own if some.chunk.parity is None else own[some.chunk.parity :: 2]
                found += [(turn, row, some.chunk.start) for row in lanes]
        return found


def members_of(program: Program) -> list[int]:
    """The instructions that compute something."""
    return [i for i, (op, _, _) in enumerate(program.instructions) if op not in ("input", "const")]


def _all_chunks(rows: RowLoop, is_behind: bool | None) -> list[tuple[int, Chunk]]:
    sizes = enumerate(rows.arrays.sizes)
    return [(number, chunk) for number, size in sizes for chunk in chunks(size, rows.width, is_behind)]


def _results(rows: RowLoop, number: int, chunk: Chunk) -> tuple[int, ...]:
    """The instructions that give a chunk."""
    first = rows.arrays.starts[number]
    return rows.program.outputs[first + chunk.start : first + chunk.end]
