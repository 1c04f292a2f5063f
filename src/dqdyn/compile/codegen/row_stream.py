"""Rows of a block that go past the caches to memory, in whole lines.

A store to a line that is not in the caches first reads the line. Results that are larger than the caches would be read
and pushed out again, each line twice over the bus; written past the caches they go there once, in half the time.
Results that fit into the caches stay there for whoever reads them next.

Rows of even and odd states may start at different halves of a line. Those of odd states then lag half a vector behind:
each of their lines has the second half of one chunk of columns and the first half of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dqdyn.compile.codegen.emit import CodeBody
from dqdyn.compile.codegen.rows import RowLoop

_LINE = 64  # bytes
_FEWEST = 256  # numbers in a row: the ends of rows, which go through the caches, take longer


def first_aligned(body: CodeBody, row: str) -> str:
    """The first column of a row that is aligned, as vectors are."""
    negative = body.op(f"sub i64 0, {body.op(f'ptrtoint ptr {row} to i64')}")
    return body.op(f"and i64 {body.op(f'lshr i64 {negative}, 3')}, {body.width - 1}")


class RowStream:
    """Rows of ``size`` numbers at ``pointers``, the first of which is ``aligned`` from a column on.

    ``columns(c)`` gives vectors over states from column c on. It is for the body of a function with a ``%stride``.
    """

    def __init__(
        self, rows: RowLoop, pointers: Sequence[str], size: int, aligned: str, columns: Callable[[str], list[str]]
    ) -> None:
        self.rows, self.pointers, self.size, self.aligned, self.columns = rows, pointers, size, aligned, columns

    @staticmethod
    def fits(width: int, size: int, stride: int) -> bool:
        """Whether vectors of a width fill lines, and rows are long and may start as they must."""
        return 8 * width == _LINE and size >= _FEWEST and stride % (width // 2) == 0

    @staticmethod
    def is_possible(body: CodeBody, stride: str) -> str:
        """Whether a block is whole, and its rows all start at the same place of a line or alternate between halves."""
        whole = body.op(f"icmp ule i64 {body.op(f'add i64 %i, {body.width - 1}')}, %last")
        steady = body.op(f"icmp eq i64 {body.op(f'and i64 {stride}, {body.width // 2 - 1}')}, 0")
        return body.op(f"and i1 {whole}, {steady}")

    def emit(self) -> None:
        """Write chunks ``%first`` to before ``%end``, with the ends of the rows in the last portion."""
        body, w = self.rows.body, self.rows.width
        rounds = body.op(f"udiv i64 {body.op(f'sub i64 {self.size}, {self.aligned}')}, {w}")
        is_first = body.op("icmp eq i64 %first, 0")
        # Chunk k is line k − 1; what comes before the first line is none.
        line = body.op(f"select i1 {is_first}, i64 0, i64 {body.op('sub i64 %first, 1')}")
        end = body.op(f"select i1 %is_last, i64 {rounds}, i64 {body.op('sub i64 %end, 1')}")
        body.branch(body.op(f"icmp eq i64 {body.op(f'and i64 %stride, {w - 1}')}, 0"), "alike", "lagging")
        for label, lag in (("alike", 0), ("lagging", w // 2)):
            body.label(label)
            # The ends first: through the caches, lines that were just written past them would come back.
            self._ends("head", label, is_first, self.aligned, lag)
            self._ends("tail", label, "%is_last", self._column(rounds), lag)
            self._lines(label, line, end, lag)
            body.jump("after")
        body.label("after")

    def _column(self, line: str) -> str:
        """Where a line begins in rows of even states."""
        body = self.rows.body
        return body.op(f"add i64 {self.aligned}, {body.op(f'mul i64 {line}, {self.rows.width}')}")

    def _lines(self, label: str, line: str, end: str, lag: int) -> None:
        """Whole lines; those of odd states have half of the line before, if they lag, and begin with the second."""
        body, w = self.rows.body, self.rows.width
        kept, lines = [f"%{label}_kept{k}" for k in range(w // 2)], f"%{label}_line"
        before, check, loop, out = (f"{label}_{what}" for what in ("before", "check", "loop", "out"))
        start, initial = line, ["zeroinitializer"] * (w // 2)
        if lag:  # from the second line on, with the first stored before
            start = body.op(f"call i64 @llvm.umax.i64(i64 {line}, i64 1)")
            column = self._column(body.op(f"sub i64 {start}, 1"))
            rows = self.rows.squares.transposed(self.columns(column))
            initial = rows[1::2]
            body.branch(body.op(f"icmp eq i64 {line}, 0"), f"{label}_once", before)
            body.label(f"{label}_once")
            self._store(rows[::2], 0, column)
        body.jump(before)
        body.label(before)
        body.jump(check)
        body.label(check)
        following = f"%{label}_following"
        place = len(body.lines)
        body.branch(body.op(f"icmp ult i64 {lines}, {end}"), loop, out)
        body.label(loop)
        column = self._column(lines)
        rows = self.rows.squares.transposed(self.columns(column))
        self._store(rows[::2], 0, column)
        if lag:
            order = ", ".join(f"i32 {k + lag}" for k in range(w))
            pairs, kind = zip(kept, rows[1::2], strict=True), body.real
            mixed = [body.op(f"shufflevector {kind} {a}, {kind} {b}, <{w} x i32> <{order}>") for a, b in pairs]
            self._store(mixed, 1, body.op(f"sub i64 {column}, {lag}"))
        else:
            self._store(rows[1::2], 1, column)
        body.lines.append(f"  {following} = add i64 {lines}, 1")
        body.jump(check)
        values = [("i64", lines, start, following)]
        values += [(body.real, k, a, b) for k, a, b in zip(kept, initial, rows[1::2], strict=True)] if lag else []
        body.lines[place:place] = [
            f"  {name} = phi {kind} [ {a}, %{before} ], [ {b}, %{loop} ]" for kind, name, a, b in values
        ]
        body.label(out)

    def _store(self, vectors: Sequence[str], parity: int, column: str) -> None:
        for vector, pointer in zip(vectors, self.pointers[parity::2], strict=True):
            self.rows.body.store_past_caches(vector, self.rows.body.at(pointer, column))

    def _ends(self, what: str, label: str, condition: str, border: str, lag: int) -> None:
        """Columns before the first whole line of a row, its head, or after the last one, its tail."""
        body, w, is_head = self.rows.body, self.rows.width, what == "head"
        comparison, empty = ("ult", "0") if is_head else ("uge", str(self.size))
        near, far = (0, w) if is_head else (self.size - w, self.size - 2 * w)
        on = f"{label}_after_{what}"
        body.branch(condition, f"{label}_{what}", on)
        body.label(f"{label}_{what}")
        for parity in (0, 1):
            limit = body.op(f"{'add' if is_head else 'sub'} i64 {border}, {lag if parity else 0}")
            some, done = body.new_label("some"), body.new_label("done")
            body.branch(body.op(f"icmp eq i64 {limit}, {empty}"), done, some)
            body.label(some)
            for column in (near, far) if lag and parity else (near,):
                self._masked(parity, column, comparison, limit)
            body.jump(done)
            body.label(done)
        body.jump(on)
        body.label(on)

    def _masked(self, parity: int, column: int, comparison: str, limit: str) -> None:
        """Columns from one on, as far as they compare so with a limit, of rows of even or odd states."""
        body, w = self.rows.body, self.rows.width
        numbers = f"<{', '.join(f'i64 {column + k}' for k in range(w))}>"
        mask = body.binary(f"icmp {comparison}", numbers, self._spread(limit), body.integer)
        rows = self.rows.squares.half_transposed(self.columns(str(column)), parity)
        for row, pointer in zip(rows, self.pointers[parity::2], strict=True):
            body.store_where(row, body.at(pointer, column), mask)

    def _spread(self, number: str) -> str:
        body, kind, w = self.rows.body, self.rows.body.integer, self.rows.width
        first = body.op(f"insertelement {kind} poison, i64 {number}, i64 0")
        return body.op(f"shufflevector {kind} {first}, {kind} poison, <{w} x i32> zeroinitializer")
