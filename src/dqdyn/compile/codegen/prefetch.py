"""Prefetching of cache lines for a batch: those that a later block of rows reads, and those that it writes.

Rows fill pages quickly, and the processor's own prefetching starts anew at every page. Requested all at once, the lines
would delay each other and the computation, so they are spread over it. A block of long rows takes long: there it is
time to request the next block, and what this one writes. A block of short rows is done before its lines could arrive:
there the block one page further on is requested.
"""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.compile.codegen.emit import CodeBody
from dqdyn.compile.codegen.rows import RowLoop

_LONG = 16  # numbers in a row
_LINE = 64  # bytes
_PAGE = 4096
_MOST = 256  # lines; more would push each other out again
_MOST_WRITTEN = (
    64  # a result of more is written long after it is requested, and stores follow each other closely anyway
)
_NEAR, _FAR = 3, 2  # the first level of the cache, the second
_PORTION = 40  # operations after which lines for results are requested, or more:
_PORTIONS = 256  # each is a basic block of its own, and thousands of them make a long program 2 % slower
_AHEAD = 1000  # operations between the request of a line and its writing, where they mix
_TIME_FOR_ALL = 4  # operations per line; where there are fewer, only the first of two neighbours is requested


class PrefetchPlan:
    """Lines to request during ``steps`` operations; to be created where the rows of the block are known.

    Lines of long results are requested only if they are written all along: those of the next block, for the second
    level.
    """

    def __init__(self, rows: RowLoop, steps: int, is_written_all_along: bool = False) -> None:
        self.body, self.steps, self.taken, self.requested = rows.body, steps, 0, 0
        self.is_written_all_along = is_written_all_along
        self.lines: list[tuple[str, int, bool]] = []  # pointer, offset in bytes, whether it is written soon
        for number, size in enumerate(rows.arrays.sizes):
            self._add(rows, size, output=number)
        for argument, (_, size) in enumerate(rows.program.inputs):
            self._add(rows, size, argument=argument)

    def _add(self, rows: RowLoop, size: int, argument: int | None = None, output: int = 0) -> None:
        """The lines of an input, or of an array of the output, with ``size`` numbers in a row."""
        size_of_block = 8 * size * rows.width
        if not size_of_block:
            return
        lines, is_near = -(-size_of_block // _LINE), argument is None
        if argument is None and lines > _MOST_WRITTEN:
            if not self.is_written_all_along:
                return
            is_near = False
        blocks = (0 if is_near else 1) if size >= _LONG else -(-_PAGE // size_of_block)
        row = self.body.op(f"add i64 %i, {blocks * rows.width}")
        pointer = (rows.output_rows([row], output) if argument is None else rows.input_rows(argument, [row]))[0]
        if argument is not None:
            lines = min(lines, _MOST)
        self.lines += [(pointer, _LINE * k, is_near) for k in range(lines)]

    def step(self) -> None:
        """After each operation: request as many lines as are due."""
        self.taken += 1
        while self.requested < len(self.lines) and self.requested * self.steps < self.taken * len(self.lines):
            pointer, offset, is_near = self.lines[self.requested]
            p = self.body.at(pointer, offset, "i8")
            kind = f"i32 1, i32 {_NEAR}" if is_near else f"i32 0, i32 {_FAR}"
            self.body.lines.append(f"  call void @llvm.prefetch.p0(ptr {p}, {kind}, i32 1)")
            self.requested += 1


class ResultRequests:
    """Lines of long rows, which this block writes after ``steps`` operations, requested for the second level meanwhile.

    The writing is bound by what comes from the caches behind. None is requested where results go ``beyond`` the caches:
    there they are written past them, or the processor's own requests are in time.
    """

    def __init__(self, rows: RowLoop, numbers: Sequence[str], steps: int, beyond: str) -> None:
        self.body, self.steps, self.beyond = rows.body, steps, beyond
        self.taken = self.requested = 0
        self.lines: list[tuple[str, int]] = []  # row, number in it
        for number, size in enumerate(rows.arrays.sizes):
            if 8 * size * rows.width > _MOST_WRITTEN * _LINE:
                columns = range(0, size, _LINE // 8)
                self.lines += [(row, k) for row in rows.output_rows(numbers, number) for k in columns]
        if steps < _TIME_FOR_ALL * len(self.lines):
            self.lines = self.lines[::2]
        self.portion = max(_PORTION, steps // _PORTIONS)

    def step(self) -> None:
        """After each operation: request as many lines as are due, a portion at a time."""
        self.taken += 1
        due = len(self.lines) * self.taken // self.steps
        if (self.taken % self.portion and self.taken < self.steps) or due == self.requested:
            return
        request, on = self.body.new_label("request"), self.body.new_label("on")
        self.body.branch(self.beyond, on, request)
        self.body.label(request)
        _request(self.body, self.lines[self.requested : due])
        self.requested = due
        self.body.jump(on)
        self.body.label(on)


class ChunkRequests:
    """Lines, (turn, row, column), requested for the second level before that turn, at which they are written.

    Those written during the first operations are requested at once.
    """

    def __init__(self, body: CodeBody, lines: Sequence[tuple[int, str, int]]) -> None:
        self.body, self.lines = body, lines
        self.taken = self.requested = 0

    def step(self) -> None:
        """After each operation: request as many lines as are due."""
        self.taken += 1
        first = self.requested
        while self.requested < len(self.lines) and self.lines[self.requested][0] <= self.taken + _AHEAD:
            self.requested += 1
        _request(self.body, [(row, column) for _, row, column in self.lines[first : self.requested]])


def _request(body: CodeBody, lines: Sequence[tuple[str, int]]) -> None:
    """Request lines, (row, column), for the second level of the caches."""
    for row, column in lines:
        body.lines.append(f"  call void @llvm.prefetch.p0(ptr {body.at(row, column)}, i32 0, i32 {_FAR}, i32 1)")
