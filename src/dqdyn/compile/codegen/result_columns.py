"""Results of a block of rows that wait in memory as vectors over states, and the loop that brings them back to rows.

Each different result has one place, however often it appears in the output, and so has each different constant: a
matrix of many zeros or a symmetric one stays in the innermost cache. The loop is short, where code for every column
would be longer than what it computes and would be fetched anew for every block. Its vectors begin where cache lines do,
as far as the first row tells; at both ends of a row they overlap instead of being cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dqdyn.compile.codegen.emit import CodeBody
from dqdyn.compile.codegen.ir import bits_of
from dqdyn.compile.codegen.row_chunks import Chunk
from dqdyn.compile.codegen.row_stream import RowStream, first_aligned
from dqdyn.compile.codegen.rows import RowLoop
from dqdyn.compile.trace.program import Program

_CACHED = 16 << 20  # bytes of results; where they go to memory, aligned vectors took 12 % longer, in caches 10 % less
_SPARSE = 0.6  # of the results are constants; code for every column leaves out what a loop would do for them

_PARAMETERS = (  # of what writes rows
    "ptr noalias %out, i64 %stride, i64 %i, i64 %last, i1 %beyond, ptr noalias readonly %memory, "
    "i64 %first, i64 %end, i1 %is_last"
)


def is_sparse(program: Program) -> bool:
    """Whether most results are constants."""
    constants = sum(program.instructions[k][0] == "const" for k in program.outputs)
    return constants > _SPARSE * len(program.outputs)


@dataclass(frozen=True)
class Portion:
    """Chunks ``first`` to before ``end`` of the rows of an array; the last portion has the ends of the rows.

    Chunk k begins at column (k − 1) width + a, where a is the first column that is aligned; chunk 0 is the beginning.
    """

    array: int
    first: int
    end: int
    is_last: bool

    @staticmethod
    def count(size: int, width: int) -> int:
        """How many chunks rows of some size have."""
        return -(-size // width) + 1


class ResultColumns:
    """Places of the results, ``place`` by instruction, and after them those of constants, from ``free`` on.

    With ``may_stream``, results that exceed the caches go past them (:mod:`dqdyn.compile.codegen.row_stream`).
    """

    def __init__(self, rows: RowLoop, place: Mapping[int, int], free: int, name: str, may_stream: bool = False) -> None:
        self.rows, self.name, self.free, self.may_stream = rows, name, free, may_stream
        self.constants: dict[str, tuple[int, float]] = {}  # bits → place, value
        self.places: list[int] = []  # of each output
        for k in rows.program.outputs:
            op, _, value = rows.program.instructions[k]
            if op == "const":
                self.places.append(self.constants.setdefault(bits_of(value), (free + len(self.constants), value))[0])
            else:
                self.places.append(place[k])
        self.size = free + len(self.constants)

    def store_constants(self, body: CodeBody, memory: str) -> None:
        """Write the constants to their places."""
        for place, value in self.constants.values():
            body.store(body.const(value), body.at(memory, place, body.real), body.real, 8 * body.width)

    def globals(self) -> list[str]:
        """What other functions of the kernel refer to: for each array of the output the places of its columns in bytes,
        and functions that write a block of its rows."""
        size, lines = 8 * self.rows.width, []
        for number, places in enumerate(self._by_array()):
            listed = ", ".join(f"i32 {size * place}" for place in places)
            lines.append(f"@{self.name}_columns{number} = internal constant [{len(places)} x i32] [{listed}], align 64")
            if len(places) >= self.rows.width:
                lines += self._function("rows", number, partial(self._loop, number=number, size=len(places)))
            if self._streams(number):
                lines += self._function("stream", number, partial(self._stream, number=number, size=len(places)))
        return lines

    def _function(self, what: str, number: int, emit: Callable[[list[str]], None]) -> list[str]:
        """A function of its own, so that its loop has all registers; ``emit`` takes pointers to the rows."""
        rows, body = self.rows, self.rows.body
        body.lines = []
        offsets = [body.op(f"mul i64 {row}, %stride") for row in rows.row_numbers("%i")]
        emit([body.at("%out", offset) for offset in offsets])
        head = f"define internal void @{self.name}_{what}{number}({_PARAMETERS}) noinline {{"
        return [head, "entry:", *body.lines, "  ret void", "}"]

    def _by_array(self) -> list[list[int]]:
        arrays = self.rows.arrays
        return [self.places[start : start + size] for start, size in zip(arrays.starts, arrays.sizes, strict=True)]

    def after(self) -> list[str]:
        """Lines for the end of the kernel: what went past the caches is visible before anything that follows."""
        return ["  fence seq_cst"] if any(map(self._streams, range(len(self.rows.arrays.sizes)))) else []

    def _streams(self, number: int) -> bool:
        """Whether there is code that writes an array past the caches."""
        size, stride = self.rows.arrays.sizes[number], self.rows.strides[number]
        return self.may_stream and RowStream.fits(self.rows.width, size, int(stride) if stride.isdigit() else 0)

    @staticmethod
    def beyond(rows: RowLoop) -> str:
        """Whether all results together exceed the caches."""
        count = "%all" if rows.knows_all else "%n"
        return rows.body.op(f"icmp ugt i64 {count}, {_CACHED // (8 * max(1, sum(rows.arrays.sizes)))}")

    def write(self, portion: Portion, memory: str, numbers: Sequence[str]) -> None:
        """Write some columns of the rows ``numbers``, a block that begins with the row ``%i``."""
        rows, body, number, places = self.rows, self.rows.body, portion.array, self._by_array()[portion.array]
        pointer, stride, beyond = rows.arrays.pointers[number], rows.strides[number], self.beyond(rows)
        function = f"@{self.name}_rows{number}"
        if self._streams(number):
            streams = body.op(f"and i1 {beyond}, {RowStream.is_possible(body, stride)}")
            function = body.op(f"select i1 {streams}, ptr @{self.name}_stream{number}, ptr {function}")
        if len(places) >= rows.width:
            given = f"ptr {pointer}, i64 {stride}, i64 %i, i64 %last, i1 {beyond}, ptr {memory}"
            some = f"i64 {portion.first}, i64 {portion.end}, i1 {'true' if portion.is_last else 'false'}"
            body.lines.append(f"  call void {function}({given}, {some})")
        elif places:
            columns = [body.load(body.at(memory, place, body.real), body.real, 8 * rows.width) for place in places]
            rows.store_columns(rows.output_rows(numbers, number), Chunk(0, len(columns)), columns)

    def _stream(self, pointers: list[str], number: int, size: int) -> None:
        columns = partial(self._columns, number)
        RowStream(self.rows, pointers, size, first_aligned(self.rows.body, pointers[0]), columns).emit()

    def _loop(self, pointers: list[str], number: int, size: int) -> None:
        rows, body, w = self.rows, self.rows.body, self.rows.width
        aligned = body.op(f"select i1 %beyond, i64 0, i64 {first_aligned(body, pointers[0])}")
        body.jump("loop")
        body.label("loop")
        body.lines.append("  %chunk = phi i64 [ %first, %entry ], [ %following, %on ]")
        start = body.op(f"mul i64 {body.op('sub i64 %chunk, 1')}, {w}")
        column = body.op(f"add i64 {start}, {aligned}")
        column = body.op(f"call i64 @llvm.smax.i64(i64 {column}, i64 0)")
        column = body.op(f"call i64 @llvm.umin.i64(i64 {column}, i64 {size - w})")
        targets = [body.at(pointer, column) for pointer in pointers]
        table = body.at(f"@{self.name}_columns{number}", column, "i32")
        body.branch(self._is_one_place(table), "same", "mixed")
        body.label("same")  # zeros, mostly: a vector of equal numbers is its own row
        vector = self._column(table, 0)
        for target in targets:
            body.store(vector, target, body.real)
        body.jump("on")
        body.label("mixed")
        for target, row in zip(targets, rows.squares.transposed(self._columns(number, column)), strict=True):
            body.store(row, target, body.real)
        body.jump("on")
        body.label("on")
        body.lines.append("  %following = add i64 %chunk, 1")
        body.branch(body.op("icmp ult i64 %following, %end"), "loop", "after")
        body.label("after")

    def _columns(self, number: int, first: str) -> list[str]:
        """As many vectors over states as a vector has lanes, from a column on."""
        table = self.rows.body.at(f"@{self.name}_columns{number}", first, "i32")
        return [self._column(table, k) for k in range(self.rows.width)]

    def _column(self, table: str, k: int) -> str:
        body = self.rows.body
        offset = body.op(f"zext i32 {body.load(body.at(table, k, 'i32'), 'i32', 4)} to i64")
        return body.load(body.at("%memory", offset, "i8"), body.real, 8 * self.rows.width)

    def _is_one_place(self, table: str) -> str:
        """Whether the next ``width`` columns are the same constant."""
        body, w = self.rows.body, self.rows.width
        kind = f"<{w} x i32>"
        places = body.load(table, kind, 4)
        first = body.op(f"shufflevector {kind} {places}, {kind} poison, {kind} zeroinitializer")
        bits = body.op(f"bitcast <{w} x i1> {body.binary('icmp ne', places, first, kind)} to i{w}")
        constant = body.op(f"icmp uge i32 {body.load(table, 'i32', 4)}, {8 * w * self.free}")
        return body.op(f"and i1 {constant}, {body.op(f'icmp eq i{w} {bits}, 0')}")
