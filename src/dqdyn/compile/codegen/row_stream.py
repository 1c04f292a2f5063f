"""Rows of a block that go past the caches to memory, in whole lines.

A store to a line that is not in the caches first reads the line. Results that are larger than the caches would be read
and pushed out again, each line twice over the bus; written past the caches they go there once, in half of the time.
Results that fit into the caches stay there for whoever reads them next.

Rows of even and odd states may start at different halves of a line. Those of odd states then lag half a vector behind:
each of their lines has the second half of one chunk of columns and the first half of the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dqdyn.compile.codegen.emit import CodeBody
from dqdyn.compile.codegen.rows import RowLoop

_LINE = 64  # bytes
_FEWEST = 64  # numbers in a row: the ends of rows take longer


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
    def fits(width: int, size: int) -> bool:
        """Whether vectors of a width fill lines, and rows are long."""
        return 8 * width == _LINE and size >= _FEWEST

    @staticmethod
    def is_possible(body: CodeBody, stride: str) -> str:
        """Whether a block is whole, and its rows all start at the same place of a line or alternate between halves."""
        whole = body.op(f"icmp ule i64 {body.op(f'add i64 %i, {body.width - 1}')}, %last")
        steady = body.op(f"icmp eq i64 {body.op(f'and i64 {stride}, {body.width // 2 - 1}')}, 0")
        return body.op(f"and i1 {whole}, {steady}")

    def emit(self) -> None:
        """Write the rows."""
        body, w = self.rows.body, self.rows.width
        rounds = body.op(f"udiv i64 {body.op(f'sub i64 {self.size}, {self.aligned}')}, {w}")
        body.branch(body.op(f"icmp eq i64 {body.op(f'and i64 %stride, {w - 1}')}, 0"), "alike", "lagging")
        for label, lag in (("alike", 0), ("lagging", w // 2)):
            body.label(label)
            self._lines(label, rounds, lag)
            self._ends(rounds, lag)
            body.jump("after")
        body.label("after")

    def _lines(self, label: str, rounds: str, lag: int) -> None:
        """Whole lines, from the aligned column on; those of odd states from the second chunk of columns on."""
        body, w = self.rows.body, self.rows.width
        before = self.rows.transposed(self.columns(self.aligned))
        self._store(before[::2], 0, self.aligned)
        if not lag:
            self._store(before[1::2], 1, self.aligned)
        loop, on = f"{label}_loop", f"{label}_ends"
        start, round_ = f"%{label}_start", f"%{label}_round"
        kept = [f"%{label}_kept{k}" for k in range(w // 2)]
        place = len(body.lines)
        column = body.op(f"add i64 {start}, {w}")
        rows = self.rows.transposed(self.columns(column))
        self._store(rows[::2], 0, column)
        if lag:
            halves = ", ".join(f"i32 {k + lag}" for k in range(w))
            pairs = zip(kept, rows[1::2], strict=True)
            mixed = [
                body.op(f"shufflevector {body.real} {a}, {body.real} {b}, <{w} x i32> <{halves}>") for a, b in pairs
            ]
            self._store(mixed, 1, body.op(f"sub i64 {column}, {lag}"))
        else:
            self._store(rows[1::2], 1, column)
        following = body.op(f"add i64 {round_}, 1")
        body.branch(body.op(f"icmp ult i64 {following}, {rounds}"), loop, on)
        body.label(on)
        values = [("i64", start, self.aligned, column), ("i64", round_, "1", following)]
        values += [(body.real, k, a, b) for k, a, b in zip(kept, before[1::2], rows[1::2], strict=True)]
        body.lines[place:place] = [
            f"  br label %{loop}",
            f"{loop}:",
            *(f"  {name} = phi {kind} [ {a}, %{label} ], [ {b}, %{loop} ]" for kind, name, a, b in values),
        ]

    def _store(self, vectors: Sequence[str], parity: int, column: str) -> None:
        for vector, pointer in zip(vectors, self.pointers[parity::2], strict=True):
            self.rows.body.store_past_caches(vector, self.rows.body.at(pointer, column))

    def _ends(self, rounds: str, lag: int) -> None:
        """What is left at both ends of the rows, in lines that they share with other rows."""
        body, w = self.rows.body, self.rows.width
        end = body.op(f"add i64 {self.aligned}, {body.op(f'mul i64 {rounds}, {w}')}")
        heads = [self.aligned, body.op(f"add i64 {self.aligned}, {lag}")]
        tails = [end, body.op(f"sub i64 {end}, {lag}")]
        last = (self.size - w,) if not lag else (self.size - 2 * w, self.size - w)
        first = (0,) if not lag else (0, w)
        for comparison, limits, columns in (("ult", heads, first), ("uge", tails, last)):
            bounds = [self._spread(limit) for limit in limits]
            for column in columns:
                numbers = f"<{', '.join(f'i64 {column + k}' for k in range(w))}>"
                masks = [body.binary(f"icmp {comparison}", numbers, bound, body.integer) for bound in bounds]
                for k, row in enumerate(self.rows.transposed(self.columns(str(column)))):
                    body.store_where(row, body.at(self.pointers[k], column), masks[k % 2])

    def _spread(self, number: str) -> str:
        body, kind, w = self.rows.body, self.rows.body.integer, self.rows.width
        first = body.op(f"insertelement {kind} poison, i64 {number}, i64 0")
        return body.op(f"shufflevector {kind} {first}, {kind} poison, <{w} x i32> zeroinitializer")
