"""Cache lines of a batch asked for ahead: those that the next block of rows reads, and those that this one writes.

Rows of many numbers fill pages quickly, and the processor's own prefetching starts anew at every page. Asked for all at
once the lines would wait for each other and the work for them, so they are spread over the computation.
"""

from __future__ import annotations

from dqdyn.compile.rows import Rows

_LONG = 16  # numbers in a row from which it pays
_LINE = 64  # bytes
_MOST = 256  # lines; more would push each other out again
_NEAR, _FAR = 3, 2  # the first level of the cache, the second


class Ahead:
    """Lines to ask for during ``steps`` operations; to be made where the rows of the block are known."""

    def __init__(self, rows: Rows, steps: int) -> None:
        self.body, self.steps, self.taken, self.asked = rows.body, steps, 0, 0
        self.lines: list[tuple[str, int, bool]] = []  # pointer, offset in bytes, whether it is written
        if rows.size >= _LONG:
            self._add(rows.output_rows(["%i"])[0], rows.size * rows.width, True)
        following = self.body.op(f"add i64 %i, {rows.width}")
        for argument, (_, size) in enumerate(rows.program.inputs):
            if size >= _LONG:
                self._add(rows.input_rows(argument, [following])[0], size * rows.width, False)

    def _add(self, pointer: str, numbers: int, written: bool) -> None:
        lines = min(-(-8 * numbers // _LINE), _MOST)
        self.lines += [(pointer, _LINE * k, written) for k in range(lines)]

    def step(self) -> None:
        """After each operation: ask for as many lines as are due."""
        self.taken += 1
        while self.asked < len(self.lines) and self.asked * self.steps < self.taken * len(self.lines):
            pointer, offset, written = self.lines[self.asked]
            p = self.body.op(f"getelementptr i8, ptr {pointer}, i64 {offset}")
            kind = f"i32 1, i32 {_NEAR}" if written else f"i32 0, i32 {_FAR}"
            self.body.lines.append(f"  call void @llvm.prefetch.p0(ptr {p}, {kind}, i32 1)")
            self.asked += 1
