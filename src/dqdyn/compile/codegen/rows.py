"""A loop over a batch in LLVM IR, with SIMD vectors of states.

Batches come as rows. A block of ``width`` rows is read as vectors along the row and transposed in registers, so that
each component becomes one vector over states. In the last block of a ragged batch the rows past the end are the last
row again: they are read, computed and written twice with equal results, and nothing outside of the arrays is touched.

The same pass detects invalid inputs: numbers that are not finite, and quaternions that are not of unit norm. It costs
one operation per loaded vector, where a separate pass would read memory twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dqdyn.compile.codegen.emit import CodeBody, fused_products
from dqdyn.compile.codegen.ir import Emitter
from dqdyn.compile.codegen.results import OutputArrays, Shape
from dqdyn.compile.codegen.row_chunks import Chunk, alternates, chunks, has_alignments
from dqdyn.compile.codegen.stages import stage_name
from dqdyn.compile.codegen.transposition import Transposition
from dqdyn.compile.trace.program import Program

TOO_LARGE, UNFIT = 1, 2
"""Bits of a kernel's answer: an argument of a sine was too large, or an input was not finite or not of unit norm."""

UNIT_SQUARED = 1.9e-6
"""|‖r‖² − 1| beyond which Python decides whether a quaternion is refused."""

_LONGEST = 500  # lines of IR in a basic block
_OF_32, _OF_16 = 26, 12  # registers
_HALVED = 4  # lanes from which vectors are loaded by halves


def vector_registers(width: int, fma: bool) -> int:
    """Those of a processor with batches of that width: AVX-512 and NEON have 32."""
    return 32 if width == 8 or (width == 2 and fma) else 16


class RowLoop:
    """Reading and writing blocks of rows."""

    def __init__(
        self,
        program: Program,
        width: int,
        fma: bool,
        contract: bool,
        units: Sequence[tuple[int, int]],
        parts: Sequence[Shape] = (),
    ) -> None:
        self.program, self.width, self.units = program, width, tuple(units)
        self.body = CodeBody(width, fma, contract)
        self.arrays = OutputArrays.of(program, parts)
        self.registers = _OF_32 if vector_registers(width, fma) == 32 else _OF_16
        """Vectors for values that wait; the others are for constants and products."""
        self.knows_all = False
        """Whether kernels take the number of all rows, too, where they work on some of them."""
        one = len(self.arrays.sizes) == 1
        self.strides = [str(self.arrays.sizes[0])] if one else [f"%stride_{p[1:]}" for p in self.arrays.pointers]

    @property
    def squares(self) -> Transposition:
        """Transpositions in the present body."""
        return Transposition(self.body)

    def arguments(self) -> str:
        """Parameters of the kernel: a pointer and a row stride for each input, the output, and the number of rows.

        An output in several arrays has a row stride for each of them.
        """
        inputs = [f"ptr noalias readonly %in{i}, i64 %stride{i}" for i in range(len(self.program.inputs))]
        outputs = [
            f"ptr noalias {pointer}, i64 {stride}" if stride.startswith("%") else f"ptr noalias {pointer}"
            for pointer, stride in zip(self.arrays.pointers, self.strides, strict=True)
        ]
        return ", ".join([*inputs, *outputs, "i64 %n", *(["i64 %all"] if self.knows_all else [])])

    BLOCK = "i64 %i, i64 %last, ptr noalias %largest, ptr noalias %unfit"
    """Further parameters of a block: its first row, the last row of all, and where its findings are recorded."""

    def given(self) -> str:
        """Arguments for these parameters, where they have the same names."""
        return f"{self.arguments()}, {self.BLOCK}".replace("noalias ", "").replace("readonly ", "")

    def block(self, name: str, slots: int, more: str = "", stage: int | None = None) -> list[str]:
        """The function ``name_block`` of the lines emitted so far; it may have ``more`` parameters.

        A ``stage`` has a name by which another module finds it (:mod:`dqdyn.compile.codegen.stages`).
        """
        parameters = ", ".join([self.arguments(), self.BLOCK, *([more] if more else [])])
        function = f"internal i64 @{name}_block" if stage is None else f"i64 @{stage_name(stage)}"
        head = [f"define {function}({parameters}) noinline {{", "entry:"]
        return self.body.frame(head, slots, self.body.lines, ["  ret i64 0"])

    def blocks(self, name: str, block: Callable[[str, bool | None], list[str]]) -> tuple[list[str], list[str], str]:
        """Functions ``…_block``, one for each alignment of the output; lines that choose among them, and what to call.

        ``block(name, is_behind)`` gives one of them. Were the choice made inside of a block, the code that is not used
        would lie between the other.
        """
        if not self.has_alignments:
            return block(name, None), [], f"@{name}_block"
        both = [*block(f"{name}_at", False), *block(f"{name}_behind", True)]
        self.body.lines = []
        choice = f"  %chosen = select i1 {self.is_aligned()}, ptr @{name}_at_block, ptr @{name}_behind_block"
        return both, [*self.body.lines, choice], "%chosen"

    def loop(
        self,
        name: str,
        before: Sequence[str] = (),
        first: Sequence[str] = (),
        more: str = "",
        after: Sequence[str] = (),
        block: str = "",
    ) -> list[str]:
        """The kernel: a loop over blocks, which are calls of ``name_block`` or another ``block``, and the answer.

        Blocks may have ``more`` arguments, and lines may come before the loop, first in a round of it, and after it.
        """
        body, real = self.body, self.body.real
        body.lines = []
        answer = self.answer()
        records = ("%largest", "%unfit")
        return [
            f"define i64 @{name}({self.arguments()}) {{",
            "entry:",
            "  %last = sub i64 %n, 1",
            *(f"  {record} = alloca {real}, align 64" for record in records),
            *(f"  store {real} zeroinitializer, ptr {record}, align 64" for record in records),
            *before,
            "  br label %block",
            "block:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %block ]",
            *first,
            f"  call i64 {block or f'@{name}_block'}({', '.join([self.given(), *([more] if more else [])])})",
            f"  %next = add i64 %i, {self.width}",
            "  %more = icmp ult i64 %next, %n",
            "  br i1 %more, label %block, label %exit",
            "exit:",
            *after,
            *body.lines,
            f"  ret i64 {answer}",
            "}",
        ]

    def piece(self, name: str, kernel: str = "") -> list[str]:
        """``i64 name_piece(ptr arguments, i64 start, i64 end)``: the kernel, of another name if any, on some rows.

        ``arguments`` are those of the kernel for all rows, their number included.
        """
        code = Emitter(1)
        given, inputs, outputs = [], len(self.program.inputs), len(self.arrays.sizes)
        with_strides = inputs + (outputs if outputs > 1 else 0)
        for i in range(with_strides):
            first = code.load(code.at("%arguments", 2 * i, "i64"), "ptr")
            stride = code.load(code.at("%arguments", 2 * i + 1, "i64"), "i64")
            given += [f"ptr {code.at(first, code.op(f'mul i64 %start, {stride}'))}", f"i64 {stride}"]
        if outputs == 1:
            first = code.load(code.at("%arguments", 2 * inputs, "i64"), "ptr")
            given.append(f"ptr {code.at(first, code.op(f'mul i64 %start, {self.arrays.sizes[0]}'))}")
        given.append(f"i64 {code.op('sub i64 %end, %start')}")
        if self.knows_all:
            given.append(f"i64 {code.load(code.at('%arguments', 2 * with_strides + (outputs == 1), 'i64'), 'i64')}")
        answer = code.op(f"call i64 @{kernel or name}({', '.join(given)})")
        head = f"define i64 @{name}_piece(ptr %arguments, i64 %start, i64 %end) {{"
        return [head, *code.lines, f"  ret i64 {answer}", "}"]

    def whole(self, name: str, kernel: str) -> list[str]:
        """The function ``name``: a kernel that asks how many rows there are in all, on all of them."""
        parameters = self.arguments().removesuffix(", i64 %all")
        given = parameters.replace("noalias ", "").replace("readonly ", "")
        call = f"  %answer = call i64 @{kernel}({given}, i64 %n)"
        return [f"define i64 @{name}({parameters}) {{", call, "  ret i64 %answer", "}"]

    def recorded(self, what: str) -> str:
        """The largest argument of a sine so far, or what is NaN where an input was unfit."""
        return self.body.load(f"%{what}", self.body.real, 64)

    def record(self, what: str, value: str) -> None:
        self.body.store(value, f"%{what}", self.body.real, 64)

    def answer(self) -> str:
        """The bits that a kernel returns, from what was recorded."""
        body = self.body
        body.largest = self.recorded("largest")
        large = body.op(f"zext i1 {body.too_large()} to i64")
        some = body.any_lane(body.binary("fcmp uno", self.recorded("unfit"), "zeroinitializer"))
        return body.op(f"or i64 {large}, {body.op(f'select i1 {some}, i64 {UNFIT}, i64 0')}")

    def row_numbers(self, first: str) -> list[str]:
        """The rows of a block by lane, clamped to the last one."""
        rows = self.lane_rows(first)
        start = 0 if self._exchanges else 1  # the first row of a block is there
        return [
            *rows[:start],
            *(self.body.op(f"call i64 @llvm.umin.i64(i64 {row}, i64 %last)") for row in rows[start:]),
        ]

    def lane_rows(self, first: str) -> list[str]:
        """The rows of a whole block by lane.

        Rows that start at alternating halves of a line are exchanged, if the array starts at the second half, so that
        chunks of even lanes are as if it started at the first.
        """
        body, lanes = self.body, range(self.width)
        if not self._exchanges:
            return [first, *(body.op(f"add i64 {first}, {r}") for r in lanes[1:])]
        start = body.op(f"ptrtoint ptr {self.arrays.pointers[0]} to i64")
        second = body.op(f"and i64 {body.op(f'lshr i64 {start}, 5')}, 1")
        even, odd = body.op(f"add i64 {first}, {second}"), body.op(f"sub i64 {first}, {second}")
        return [body.op(f"add i64 {odd if r % 2 else even}, {r}") if r else even for r in lanes]

    @property
    def _exchanges(self) -> bool:
        return self.has_alignments and alternates(self.arrays.sizes[0], self.width)

    def input_rows(self, argument: int, rows: Sequence[str]) -> list[str]:
        """Pointers to the rows of an input."""
        body = self.body
        offsets = [body.op(f"mul i64 {row}, %stride{argument}") for row in rows]
        return [body.at(f"%in{argument}", offset) for offset in offsets]

    def output_rows(self, rows: Sequence[str], number: int = 0) -> list[str]:
        """Pointers to the rows of the output, or of one of its arrays."""
        body = self.body
        offsets = [body.op(f"mul i64 {row}, {self.strides[number]}") for row in rows]
        return [body.at(self.arrays.pointers[number], offset) for offset in offsets]

    def read(self, numbers: Sequence[str], values: dict[int, str], keep: Callable[[int, str], None]) -> None:
        """Read a block of all inputs: columns that an instruction names are its ``values``, and ``keep(i, column)``."""
        named = {operands: i for i, (op, operands, _) in enumerate(self.program.instructions) if op == "input"}
        unfit = self.recorded("unfit")
        for argument, (_, size) in enumerate(self.program.inputs):
            pointers = self.input_rows(argument, numbers)
            columns: list[str] = []
            for start in range(0, size, self.width):
                chunk, unfit = self.load_chunk(pointers, start, size - start, unfit)
                columns += chunk
            for component, column in enumerate(columns[:size]):
                if (i := named.get((argument, component))) is not None:
                    values[i] = column
                    keep(i, column)
            for unit, start in self.units:
                if unit == argument:
                    unfit = self.not_unit(columns[start : start + 4], unfit)
        self.record("unfit", unfit)

    def write(self, numbers: Sequence[str], fetch: Callable[[int], str]) -> None:
        """Write a block of all outputs, which are large: in memory, aligned vectors are no quicker."""
        for number, size in enumerate(self.arrays.sizes):
            pointers = self.output_rows(numbers, number)
            for chunk in chunks(size, self.width):
                self.store_chunk(pointers, number, chunk, fetch)
                self.body.cut_if_long(_LONGEST)

    @property
    def has_alignments(self) -> bool:
        """Whether there are two ways to cut the output into chunks."""
        return has_alignments(self.arrays.sizes[0], self.width, len(self.arrays.sizes))

    def is_aligned(self) -> str:
        """An i1 that chooses among them: whether the output starts at a multiple of 32 bytes."""
        body = self.body
        rest = body.op(f"and i64 {body.op('ptrtoint ptr %out to i64')}, 16")
        return body.op(f"icmp eq i64 {rest}, 0")

    def fused(self, members: Sequence[int]) -> dict[int, int]:
        """What is fused. It is chosen here, so that several ways to emit a block compute the same bits."""
        return fused_products(self.program, members) if self.body.contract and self.body.fma else {}

    def load_chunk(self, pointers: Sequence[str], start: int | str, left: int, unfit: str) -> tuple[list[str], str]:
        """Columns ``start …`` of a block as vectors over states, and what is NaN where any number was not finite."""
        body, lanes = self.body, range(min(left, self.width))
        first = [body.at(row, start) if start else row for row in pointers]
        if self.width < _HALVED:
            loaded = [body.load_lanes(row, lanes) for row in first]
            columns = self.squares.transposed(loaded)
        else:
            loaded, columns = self.squares.from_memory(first, len(lanes))
        for half in (loaded[::2], loaded[1::2]):
            unfit = body.binary("fadd", self.not_finite(half), unfit) if half else unfit
        return columns, unfit

    def not_finite(self, vectors: Sequence[str]) -> str:
        """The sum of 0 · x: NaN where a vector is infinite or NaN. Short sums do not wait for each other."""
        total = self.body.binary("fmul", vectors[0], "zeroinitializer")
        for x in vectors[1:]:
            total = self.body.binary("fadd contract", self.body.binary("fmul contract", x, "zeroinitializer"), total)
        return total

    def not_unit(self, r: Sequence[str], before: str) -> str:
        """NaN, too, where the squares of four columns do not sum to one, nearly."""
        body = self.body
        total = body.binary("fmul contract", r[0], r[0])
        for c in r[1:]:
            total = body.binary("fadd contract", body.binary("fmul contract", c, c), total)
        size = body.intrinsic("fabs", body.binary("fsub", total, body.const(1.0)))
        return body.select(body.binary("fcmp olt", size, body.const(UNIT_SQUARED)), before, body.const(float("nan")))

    def store_chunk(
        self,
        pointers: Sequence[str],
        number: int,
        chunk: Chunk,
        fetch: Callable[[int], str],
        is_past: bool = False,
    ) -> None:
        """Columns of an array of the output, up to ``width`` of them, back to rows.

        Whole vectors go past the caches if it ``is_past``; then they must be aligned.
        """
        first = self.arrays.starts[number]
        columns = []
        for k in self.program.outputs[first + chunk.start : first + chunk.end]:
            op, _, constant = self.program.instructions[k]
            columns.append(self.body.const(constant) if op == "const" else fetch(k))
        self.store_columns(pointers, chunk, columns, is_past)

    def store_columns(
        self, pointers: Sequence[str], chunk: Chunk, columns: Sequence[str], is_past: bool = False
    ) -> None:
        """The same for columns that are in registers."""
        body, squares, left = self.body, self.squares, len(columns)
        whole = [*columns, *["zeroinitializer"] * (self.width - left)]
        rows = squares.transposed(whole) if chunk.parity is None else squares.half_transposed(whole, chunk.parity)
        for pointer, row in zip(pointers[chunk.parity or 0 :: 1 if chunk.parity is None else 2], rows, strict=True):
            target = body.at(pointer, chunk.start) if chunk.start else pointer
            if is_past and left == self.width:
                body.store_past_caches(row, target)
            else:
                body.store_lanes(row, target, range(left))
