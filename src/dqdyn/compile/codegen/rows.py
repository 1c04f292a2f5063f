"""A loop over a batch in LLVM IR, with SIMD vectors of states.

Batches come as rows. A block of ``width`` rows is read as vectors along the row and transposed in registers, so that
each component becomes one vector over states. In the last block of a ragged batch the rows past the end are the last
row again: they are read, computed and written twice with equal results, and nothing outside of the arrays is touched.

The same pass over the inputs notices what the door of a function refuses: numbers that are not finite, and quaternions
that are not of unit norm. It costs one operation per loaded vector, where a pass of its own would read memory twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dqdyn.compile.codegen.emit import Body
from dqdyn.compile.trace.program import Program

TOO_LARGE, UNFIT = 1, 2
"""Bits of a kernel's answer: an argument of a sine was too large, or an input was not finite or not of unit norm."""

UNIT_SQUARED = 1.9e-6
"""|‖r‖² − 1| beyond which Python decides whether a quaternion is refused."""


class Rows:
    """Reading and writing blocks of rows."""

    def __init__(
        self, program: Program, width: int, fma: bool, contract: bool, units: Sequence[tuple[int, int]]
    ) -> None:
        self.program, self.width, self.units = program, width, tuple(units)
        self.body = Body(width, fma, contract)
        self.size = len(program.outputs)

    def arguments(self) -> str:
        """Parameters of the kernel: a pointer and a row stride for each input, the output, and the number of rows."""
        inputs = [f"ptr noalias readonly %in{i}, i64 %stride{i}" for i in range(len(self.program.inputs))]
        return ", ".join([*inputs, "ptr noalias %out", "i64 %n"])

    PLACE = "i64 %i, i64 %last, ptr noalias %largest, ptr noalias %unfit"
    """Further parameters of a block: its first row, the last row of all, and where to note what is noticed."""

    def loop(self, name: str) -> list[str]:
        """The kernel: a loop over blocks, which are calls of ``name_block``, and the answer."""
        body = self.body
        arguments = f"{self.arguments()}, {self.PLACE}".replace("noalias ", "").replace("readonly ", "")
        body.lines = []
        answer = self.answer()
        return [
            f"define i64 @{name}({self.arguments()}) {{",
            "entry:",
            "  %last = sub i64 %n, 1",
            *self.notes(),
            "  br label %block",
            "block:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %block ]",
            f"  call i64 @{name}_block({arguments})",
            f"  %next = add i64 %i, {self.width}",
            "  %more = icmp ult i64 %next, %n",
            "  br i1 %more, label %block, label %exit",
            "exit:",
            *body.lines,
            f"  ret i64 {answer}",
            "}",
        ]

    def piece(self, name: str) -> list[str]:
        """``i64 name_piece(ptr arguments, i64 start, i64 end)``: the kernel on some of the rows.

        ``arguments`` are those of the kernel for all rows, the pointers and strides of inputs and the output's pointer.
        """
        lines = [f"define i64 @{name}_piece(ptr %arguments, i64 %start, i64 %end) {{", "  %n = sub i64 %end, %start"]

        def word(k: int, kind: str, value: str) -> None:
            lines.append(f"  {value}_at = getelementptr i64, ptr %arguments, i64 {k}")
            lines.append(f"  {value} = load {kind}, ptr {value}_at, align 8")

        given, inputs = [], len(self.program.inputs)
        for i in range(inputs):
            word(2 * i, "ptr", f"%all{i}")
            word(2 * i + 1, "i64", f"%stride{i}")
            lines.append(f"  %skip{i} = mul i64 %start, %stride{i}")
            lines.append(f"  %in{i} = getelementptr double, ptr %all{i}, i64 %skip{i}")
            given.append(f"ptr %in{i}, i64 %stride{i}")
        word(2 * inputs, "ptr", "%all")
        lines.append(f"  %skip = mul i64 %start, {self.size}")
        lines.append("  %out = getelementptr double, ptr %all, i64 %skip")
        call = ", ".join([*given, "ptr %out", "i64 %n"])
        return [*lines, f"  %answer = call i64 @{name}({call})", "  ret i64 %answer", "}"]

    def notes(self) -> list[str]:
        """Memory for what is noticed on the way: the largest argument of a sine, and NaN where an input is unfit."""
        real, both = self.body.real, ("largest", "unfit")
        made = [f"  %{what} = alloca {real}, align 64" for what in both]
        return made + [f"  store {real} zeroinitializer, ptr %{what}, align 64" for what in both]

    def noticed(self, what: str) -> str:
        return self.body.op(f"load {self.body.real}, ptr %{what}, align 64")

    def notice(self, what: str, value: str) -> None:
        self.body.lines.append(f"  store {self.body.real} {value}, ptr %{what}, align 64")

    def answer(self) -> str:
        """The bits that a kernel returns, from what was noticed."""
        body, w = self.body, self.width
        body.largest = self.noticed("largest")
        large = body.op(f"zext i1 {body.too_large()} to i64")
        lanes = body.op(f"fcmp uno {body.real} {self.noticed('unfit')}, zeroinitializer")
        some = body.op(f"icmp ne i{w} {body.op(f'bitcast {body.boolean} {lanes} to i{w}')}, 0")
        bad = body.op(f"select i1 {some}, i64 {UNFIT}, i64 0")
        return body.op(f"or i64 {large}, {bad}")

    def declarations(self) -> list[str]:
        body = self.body
        return [
            *body.declarations(),
            "declare i64 @llvm.umin.i64(i64, i64)",
            "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
        ]

    def row_numbers(self, first: str) -> list[str]:
        """The rows of a block, clamped to the last one."""
        body = self.body
        rows = [first]
        for r in range(1, self.width):
            at = body.op(f"add i64 {first}, {r}")
            rows.append(body.op(f"call i64 @llvm.umin.i64(i64 {at}, i64 %last)"))
        return rows

    def input_rows(self, argument: int, rows: Sequence[str]) -> list[str]:
        """Pointers to the rows of an input."""
        body = self.body
        offsets = [body.op(f"mul i64 {row}, %stride{argument}") for row in rows]
        return [body.op(f"getelementptr double, ptr %in{argument}, i64 {offset}") for offset in offsets]

    def output_rows(self, rows: Sequence[str]) -> list[str]:
        """Pointers to the rows of the output."""
        body = self.body
        offsets = [body.op(f"mul i64 {row}, {self.size}") for row in rows]
        return [body.op(f"getelementptr double, ptr %out, i64 {offset}") for offset in offsets]

    def read(
        self, numbers: Sequence[str], wanted: Mapping[tuple[int, ...], int], keep: Callable[[int, str], None]
    ) -> None:
        """Read a block of all inputs; ``keep(i, column)`` takes those that are ``wanted``, by (argument, component)."""
        unfit = self.noticed("unfit")
        for argument, (_, size) in enumerate(self.program.inputs):
            pointers = self.input_rows(argument, numbers)
            columns: list[str] = []
            for start in range(0, size, self.width):
                chunk, unfit = self.load_chunk(pointers, start, size - start, unfit)
                columns += chunk
            for component, column in enumerate(columns[:size]):
                if (argument, component) in wanted:
                    keep(wanted[argument, component], column)
            for unit, start in self.units:
                if unit == argument:
                    unfit = self.not_unit(columns[start : start + 4], unfit)
        self.notice("unfit", unfit)

    def write(self, numbers: Sequence[str], fetch: Callable[[int], str]) -> None:
        """Write a block of all outputs."""
        w, program = self.width, self.program
        pointers = self.output_rows(numbers)
        for chunk in range(-(-self.size // w)):
            columns = []
            for k in program.outputs[chunk * w : (chunk + 1) * w]:
                op, _, constant = program.instructions[k]
                columns.append(self.body.const(constant) if op == "const" else fetch(k))
            self.store_chunk(pointers, chunk, columns)

    def load_chunk(self, pointers: Sequence[str], start: int, left: int, unfit: str) -> tuple[list[str], str]:
        """Columns ``start …`` of a block as vectors over states, and what is NaN where any number was not finite."""
        rows = [self._load_row(p, start, left) for p in pointers]
        for row in rows:
            unfit = self.not_finite(row, unfit)
        return self.transposed(rows), unfit

    def not_finite(self, x: str, before: str) -> str:
        """``before`` + 0 · x: NaN from where x is infinite or NaN."""
        body = self.body
        zero = body.op(f"fmul contract {body.real} {x}, zeroinitializer")
        return body.op(f"fadd contract {body.real} {zero}, {before}")

    def not_unit(self, r: Sequence[str], before: str) -> str:
        """NaN, too, where the squares of four columns do not sum to one, nearly."""
        body = self.body
        total = body.op(f"fmul contract {body.real} {r[0]}, {r[0]}")
        for c in r[1:]:
            square = body.op(f"fmul contract {body.real} {c}, {c}")
            total = body.op(f"fadd contract {body.real} {square}, {total}")
        off = body.op(f"fsub {body.real} {total}, {body.const(1.0)}")
        size = body.op(f"call {body.real} @llvm.fabs.{body.suffix}({body.real} {off})")
        near = body.op(f"fcmp olt {body.real} {size}, {body.const(UNIT_SQUARED)}")
        return body.op(f"select {body.boolean} {near}, {body.real} {before}, {body.real} {body.const(float('nan'))}")

    def _load_row(self, row: str, start: int, left: int) -> str:
        body, w = self.body, self.width
        p = body.op(f"getelementptr double, ptr {row}, i64 {start}") if start else row
        if left >= w:
            return body.op(f"load {body.real}, ptr {p}, align 8")
        mask = ", ".join(f"i1 {'true' if k < left else 'false'}" for k in range(w))
        return body.op(
            f"call {body.real} @llvm.masked.load.{body.suffix}.p0(ptr {p}, i32 8, <{w} x i1> <{mask}>, "
            f"{body.real} zeroinitializer)"
        )

    def store_chunk(self, pointers: Sequence[str], chunk: int, columns: Sequence[str]) -> None:
        """Columns of the output, up to ``width`` of them, back to rows."""
        body, w = self.body, self.width
        left = len(columns)
        rows = self.transposed([*columns, *["zeroinitializer"] * (w - left)])
        for pointer, row in zip(pointers, rows, strict=True):
            p = body.op(f"getelementptr double, ptr {pointer}, i64 {chunk * w}") if chunk else pointer
            if left == w:
                body.lines.append(f"  store {body.real} {row}, ptr {p}, align 8")
            else:
                mask = ", ".join(f"i1 {'true' if c < left else 'false'}" for c in range(w))
                body.lines.append(
                    f"  call void @llvm.masked.store.{body.suffix}.p0({body.real} {row}, ptr {p}, i32 8, "
                    f"<{w} x i1> <{mask}>)"
                )

    def transposed(self, rows: list[str]) -> list[str]:
        """A square of ``width`` vectors transposed by log₂(width) rounds of shuffles."""
        w, step = self.width, 1
        while step < w:
            result = list(rows)
            for a in range(w):
                if a & step:
                    continue
                b = a | step
                low = [(j - step) + w if j & step else j for j in range(w)]
                high = [j + w if j & step else j + step for j in range(w)]
                result[a] = self._shuffle(rows[a], rows[b], low)
                result[b] = self._shuffle(rows[a], rows[b], high)
            rows, step = result, step * 2
        return rows

    def _shuffle(self, a: str, b: str, order: list[int]) -> str:
        real, w = self.body.real, self.width
        mask = ", ".join(f"i32 {j}" for j in order)
        return self.body.op(f"shufflevector {real} {a}, {real} {b}, <{w} x i32> <{mask}>")
