"""The batch kernel of a program that writes results from registers to their rows as soon as they are there.

Results that wait in memory are stored twice, and a store of a vector takes as long as two operations. Here the order of
operations is one in which few values wait, for operations or for the results beside them in a row. The block of rows is
emitted once for each way in which the output may be aligned.

Longer programs are written this way, too, if almost no value has to wait, or if each result takes many operations:
then the stores are hidden behind them, those past the caches as well. Stores that follow each other closely would hold
up the operations, and come at the end instead (:mod:`dqdyn.compile.codegen.long_batches`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from dqdyn.compile.codegen.blocks import size_of
from dqdyn.compile.codegen.prefetch import ChunkRequests, PrefetchPlan
from dqdyn.compile.codegen.register_order import in_registers, traffic
from dqdyn.compile.codegen.register_plan import Operation, RegisterPlan, operations, register_plan
from dqdyn.compile.codegen.result_columns import ResultColumns, is_sparse
from dqdyn.compile.codegen.row_chunks import Chunk, chunks, has_alignments
from dqdyn.compile.codegen.row_stream import RowStream
from dqdyn.compile.codegen.rows import ALWAYS, RowLoop
from dqdyn.compile.codegen.stages import NEXT_MODULE, TABLE, table
from dqdyn.compile.trace.program import Program

_SHORTEST = 1000  # lines of IR; between the operations of fewer, results of the block before are written quicker
_LONGEST = 2  # times what is long: one basic block takes LLVM seconds then
_OF_LONG = 0.5  # of the traffic, at which a long program is written so
_STORED_AND_LOADED = 2.5  # traffic of a result that waits
_FEWEST = 256  # results from which those of a block leave the innermost cache
_HIDDEN = 8  # operations per result that hide its store
_HIDDEN_FAR = 16  # the same where the values that wait leave the innermost cache, too
_NEAR_SLOTS = 384  # vectors of eight numbers that leave room for other lines in that cache, of 32 kB


def may_be_direct(program: Program, long: int) -> bool:
    """Whether this may be less work than other ways; ``long`` lines of IR are cut into basic blocks as a rule."""
    return _SHORTEST <= size_of(program) <= _LONGEST * long and not is_sparse(program)


def direct_order(rows: RowLoop) -> Sequence[int]:
    """Instructions of a program in the order for this kind of kernel."""
    writes = [_results(rows, number, chunk) for number, chunk in _all_chunks(rows, None)]
    return [
        i
        for i in in_registers(rows.program, _members(rows.program), rows.registers, writes)
        if i < len(rows.program.instructions)
    ]


def is_direct(rows: RowLoop, order: Sequence[int], waiting: int, is_long: bool = False) -> bool:
    """Whether that is less work than to let ``waiting`` results wait, which are then written evenly.

    Those of a long program are written side by side, in the order of rows, which is quicker than as they come.
    """
    program = rows.program
    members = _members(program)
    later = (
        traffic(program, in_registers(program, members, rows.registers), rows.registers) + _STORED_AND_LOADED * waiting
    )
    writes = [_results(rows, number, chunk) for number, chunk in _all_chunks(rows, None)]
    return traffic(program, order, rows.registers, writes) < (_OF_LONG if is_long else 1.0) * later


def hides_stores(rows: RowLoop) -> bool:
    """Whether a long program takes so many operations for each result that its stores are hidden behind them."""
    program = rows.program
    results, lines = len(program.outputs), size_of(program)
    if results < _FEWEST or lines < _HIDDEN * results or is_sparse(program):
        return False
    return lines >= _HIDDEN_FAR * results or _planned(rows, _members(program), True)[0].slots <= _NEAR_SLOTS


def direct_batch_kernel(rows: RowLoop, name: str, order: Sequence[int]) -> str:
    """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)`` as :func:`~dqdyn.compile.codegen.kernels.batch_kernel`."""
    blocks, choice, chosen = rows.blocks(name, lambda which, is_behind: _block(rows, which, order, is_behind))
    return "\n".join([*blocks, *rows.loop(name, choice, block=chosen), *rows.piece(name), ""])


def long_direct_batch_kernel(rows: RowLoop, name: str, segment: int) -> str:
    """The same of a long program, in its own order; ``segment`` is the number of lines of IR in a basic block.

    Results that exceed the caches go past them. That is chosen for each chunk, or where results follow each other
    closely for a block, of which there are several then: a choice for each chunk would take longer.
    """
    program, kernel_name = rows.program, f"{name}_some"
    rows.knows_all = True
    # Large arrays of NumPy start 16 bytes behind a line; others are written in the same chunks, unaligned.
    is_behind = True if all(has_alignments(size, rows.width, 1) for size in rows.arrays.sizes) else None
    if size_of(program) < _HIDDEN_FAR * len(program.outputs):
        modules, choice, chosen = _choices(rows, segment, is_behind)
        before = [table(len(modules))]
    else:
        before = _block(rows, kernel_name, _members(program), is_behind, _Long(segment))
        modules, choice, chosen = [], [], f"@{kernel_name}_block"
    goes_past = any("!nontemporal" in line for lines in (before, *modules) for line in lines)
    after = ["  fence seq_cst"] if goes_past else []  # visible before what follows
    loop = rows.loop(kernel_name, first=choice, after=after, block=chosen)
    first = "\n".join([*before, *loop, *rows.whole(name, kernel_name), *rows.piece(name, kernel_name), ""])
    return NEXT_MODULE.join([first, *("\n".join([*lines, ""]) for lines in modules)])


def _choices(rows: RowLoop, segment: int, is_behind: bool | None) -> tuple[list[list[str]], list[str], str]:
    """Blocks in modules of their own, lines that choose among them, and the name of what they choose.

    One writes through the caches, one past them, and one is for arrays that start at half a line.
    """
    body, order = rows.body, _members(rows.program)
    modules = [_block(rows, "", order, is_behind, _Long(segment, "", 0))]
    may_go_past = any(_may_go_past(rows, number, is_behind) for number in range(len(rows.arrays.sizes)))
    if may_go_past:
        modules.append(_block(rows, "", order, is_behind, _Long(segment, ALWAYS, len(modules))))
    if rows.has_alignments:
        modules.append(_block(rows, "", order, False, _Long(segment, "", len(modules))))
    body.lines = []
    functions = [body.load(body.at(f"@{TABLE}", k, "ptr"), "ptr") for k in range(len(modules))]
    chosen = functions[0]
    if rows.has_alignments:
        chosen = body.op(f"select i1 {rows.is_aligned()}, ptr {functions[-1]}, ptr {chosen}")
    if may_go_past:
        numbers = rows.row_numbers("%i")
        starts = [rows.output_rows(numbers[:1], number)[0] for number in range(len(rows.arrays.sizes))]
        past = [_past(rows, number, row, is_behind) for number, row in enumerate(starts)]
        every = reduce(lambda a, b: body.op(f"and i1 {a}, {b}"), filter(None, past))
        chosen = body.op(f"select i1 {every}, ptr {functions[1]}, ptr {chosen}")
    return modules, body.lines, chosen


@dataclass(frozen=True)
class _Long:
    """How a block of a long program is emitted: instructions in a basic block, and whether results go past the caches.

    If that is None, it is asked for each chunk. A block in a module of its own is a ``stage``.
    """

    segment: int
    past: str | None = None
    stage: int | None = None


def _planned(
    rows: RowLoop, order: Sequence[int], is_behind: bool | None
) -> tuple[RegisterPlan, _DueWrites, dict[int, int]]:
    """Which values wait where, what is written when, and the fused products."""
    fused, due = rows.fused(order), _DueWrites(rows, order, is_behind)
    planned: list[Operation] = [(some.number, some.results) for some in due.left]
    for operation in operations(rows.program, order, fused):
        planned += [operation, *((some.number, some.results) for some in due.after(operation[0]))]
    return register_plan(planned, rows.registers, {}), due, fused


def _block(
    rows: RowLoop, name: str, order: Sequence[int], is_behind: bool | None, long: _Long | None = None
) -> list[str]:
    """The function ``name_block``."""
    program, body = rows.program, rows.body
    instructions = program.instructions
    body.lines = []
    waiting, due, fused = _planned(rows, order, is_behind)
    values: dict[int, str] = {}

    def keep(i: int, value: str) -> None:
        if i in waiting.slot:
            body.store_slot(instructions[i][0] == "less", value, body.slot(waiting.slot[i]))

    def fetch(k: int) -> str:
        return body.load_slot(instructions[k][0] == "less", body.slot(waiting.slot[k]))

    def write(some: _Write) -> None:
        values.update({k: fetch(k) for k in some.results if (some.number, k) in waiting.reloads})
        rows.store_chunk(pointers[some.array], some.array, some.chunk, values.__getitem__, past[some.array])

    def compute(i: int, value: str) -> None:
        keep(i, value)
        requests.step()
        for some in due.after(i):
            write(some)

    numbers = rows.row_numbers("%i")
    rows.read(numbers, {instructions[i][1]: i for i in waiting.slot if instructions[i][0] == "input"}, keep)
    pointers = [rows.output_rows(numbers, number) for number in range(len(rows.arrays.sizes))]
    past = [""] * len(pointers)
    requests: PrefetchPlan | ChunkRequests
    if long is None:
        requests = PrefetchPlan(rows, len(order), is_written_all_along=True)
    else:
        requests = ChunkRequests(body, due.lines(order, pointers) if long.past == "" else ())
        if long.past is None:
            past = [_past(rows, number, own[0], is_behind) for number, own in enumerate(pointers)]
        elif long.past:
            past = [long.past if _may_go_past(rows, number, is_behind) else "" for number in range(len(pointers))]
    segment = max(1, len(order)) if long is None else long.segment
    for n, start in enumerate(range(0, max(1, len(order)), segment)):
        body.cut(f"part{n}")
        body.largest = rows.recorded("largest")
        members = order[start : start + segment]
        body.segment(program, members, fetch, compute, fused=fused, reloads=waiting.reloads, values=values)
        rows.record("largest", body.largest)
    for some in due.left:
        write(some)
    return rows.block(name, waiting.slots, stage=long.stage if long else None)


def _may_go_past(rows: RowLoop, number: int, is_behind: bool | None) -> bool:
    """Whether whole chunks of an array may be lines."""
    size = rows.arrays.sizes[number]
    return is_behind is not None and RowStream.fits(rows.width, size, size)


def _past(rows: RowLoop, number: int, row: str, is_behind: bool | None) -> str:
    """An i1: whether chunks of an array, whose first lane has the ``row``, are lines and exceed the caches, if ever."""
    if not _may_go_past(rows, number, is_behind):
        return ""
    body, width, size, stride = rows.body, rows.width, rows.arrays.sizes[number], rows.strides[number]
    first = next(chunk.start for chunk in chunks(size, width, is_behind) if chunk.end - chunk.start == width)
    start = body.op(f"ptrtoint ptr {body.at(row, first)} to i64")
    gap = body.op(f"shl i64 {body.op(f'sub i64 {stride}, {size}')}, 3")  # between rows
    rest = body.op(f"and i64 {body.op(f'or i64 {start}, {gap}')}, {8 * width - 1}")
    is_whole = body.op(f"icmp ule i64 {body.op(f'add i64 %i, {width - 1}')}, %last")
    is_line = body.op(f"and i1 {is_whole}, {body.op(f'icmp eq i64 {rest}, 0')}")
    return body.op(f"and i1 {ResultColumns.beyond(rows)}, {is_line}")


@dataclass(frozen=True)
class _Write:
    """A chunk of an array of the output; its number follows those of the instructions, and it reads ``results``."""

    number: int
    array: int
    chunk: Chunk
    results: tuple[int, ...]


class _DueWrites:
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


def _members(program: Program) -> list[int]:
    return [i for i, (op, _, _) in enumerate(program.instructions) if op not in ("input", "const")]


def _all_chunks(rows: RowLoop, is_behind: bool | None) -> list[tuple[int, Chunk]]:
    sizes = enumerate(rows.arrays.sizes)
    return [(number, chunk) for number, size in sizes for chunk in chunks(size, rows.width, is_behind)]


def _results(rows: RowLoop, number: int, chunk: Chunk) -> tuple[int, ...]:
    """The instructions that give a chunk."""
    first = rows.arrays.starts[number]
    return rows.program.outputs[first + chunk.start : first + chunk.end]
