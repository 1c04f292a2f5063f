"""Whole functions in LLVM IR: one state, and a loop over a batch with SIMD vectors of states.

Batches come as rows. A block of ``width`` rows is read as vectors along the row and transposed in registers, so that
each component becomes one vector over states. In the last block of a ragged batch the rows past the end are the last
row again: they are read, computed and written twice with equal results, and nothing outside of the arrays is touched.
"""

from __future__ import annotations

from dqdyn.compile.emit import Body
from dqdyn.compile.program import Program

_AHEAD = 2  # blocks


def scalar_kernel(program: Program, fma: bool, contract: bool, name: str = "scalar") -> str:
    """``i64 name(ptr in…, ptr out)`` for one state; returns 1 where the interpreter must redo it."""
    body = Body(1, fma, contract)
    arguments = [f"ptr noalias readonly %in{i}" for i in range(len(program.inputs))] + ["ptr noalias %out"]

    def load(argument: int, component: int) -> str:
        p = body.op(f"getelementptr double, ptr %in{argument}, i64 {component}")
        return body.op(f"load double, ptr {p}, align 8")

    def store(k: int, value: str) -> None:
        p = body.op(f"getelementptr double, ptr %out, i64 {k}")
        body.lines.append(f"  store double {value}, ptr {p}, align 8")

    flag = body.emit(program, load, store)
    head = [f"define i64 @{name}({', '.join(arguments)}) {{", "entry:"]
    lines = body.frame(head, body.lines, [f"  %flag = zext i1 {flag} to i64", "  ret i64 %flag"])
    return "\n".join([*body.declarations(), *lines, ""])


def batch_kernel(program: Program, width: int, fma: bool, contract: bool, name: str = "batch") -> str:
    """``i64 name(ptr in, i64 stride, …, ptr out, i64 n)`` for n ≥ 1 rows; strides in doubles, 0 repeats a row.

    Returns how many blocks the interpreter must redo.
    """
    return _Batch(program, width, fma, contract).text(name)


class _Batch:
    def __init__(self, program: Program, width: int, fma: bool, contract: bool) -> None:
        self.program, self.width = program, width
        self.body = Body(width, fma, contract)
        self.columns: dict[tuple[int, int], list[str]] = {}  # (argument, chunk) → vectors over states
        self.waiting: dict[int, dict[int, str]] = {}  # chunk of the output → known columns
        self.size = len(program.outputs)

    def text(self, name: str) -> str:
        body, program, w = self.body, self.program, self.width
        arguments = [f"ptr noalias readonly %in{i}, i64 %stride{i}" for i in range(len(program.inputs))]
        arguments += ["ptr noalias %out", "i64 %n"]
        body.open("loop")
        body.lines += ["  %i = phi i64 [ 0, %entry ], [ %next, %last_part ]"]
        body.lines += ["  %redo = phi i64 [ 0, %entry ], [ %redo_next, %last_part ]"]
        self.rows()
        flag = body.emit(program, self.load, self.store)
        bits = body.op(f"bitcast <{w} x i1> {flag} to i{w}")
        any_flag = body.op(f"icmp ne i{w} {bits}, 0")
        body.lines.append("  br label %last_part")
        body.open("last_part")
        tail = [
            f"  %large = zext i1 {any_flag} to i64",
            "  %redo_next = add i64 %redo, %large",
            f"  %next = add i64 %i, {w}",
            "  %more = icmp ult i64 %next, %n",
            "  br i1 %more, label %loop, label %exit",
            "exit:",
            "  ret i64 %redo_next",
        ]
        head = [f"define i64 @{name}({', '.join(arguments)}) {{", "entry:", "  %last = sub i64 %n, 1"]
        lines = body.frame(head, ["  br label %loop", *body.lines], tail)
        real, mask = body.real, body.boolean
        declarations = [
            *body.declarations(),
            "declare i64 @llvm.umin.i64(i64, i64)",
            "declare void @llvm.prefetch.p0(ptr, i32, i32, i32)",
            f"declare {real} @llvm.masked.load.{body.suffix}.p0(ptr, i32, {mask}, {real})",
            f"declare void @llvm.masked.store.{body.suffix}.p0({real}, ptr, i32, {mask})",
        ]
        return "\n".join([*declarations, *lines, ""])

    def rows(self) -> None:
        """Pointers to the rows of this block, clamped to the last row."""
        body = self.body
        self.row_in: list[list[str]] = [[] for _ in self.program.inputs]
        self.row_out: list[str] = []
        for r in range(self.width):
            at = body.op(f"add i64 %i, {r}")
            row = at if r == 0 else body.op(f"call i64 @llvm.umin.i64(i64 {at}, i64 %last)")
            for i in range(len(self.program.inputs)):
                offset = body.op(f"mul i64 {row}, %stride{i}")
                self.row_in[i].append(body.op(f"getelementptr double, ptr %in{i}, i64 {offset}"))
            offset = body.op(f"mul i64 {row}, {self.size}")
            self.row_out.append(body.op(f"getelementptr double, ptr %out, i64 {offset}"))

        self.fetch_ahead()

    def fetch_ahead(self) -> None:
        """Ask for the cache lines that the next block writes: stores to large results wait for them otherwise."""
        body = self.body
        start = body.op(f"mul i64 {body.op(f'add i64 %i, {self.width * _AHEAD}')}, {self.size}")
        base = body.op(f"getelementptr double, ptr %out, i64 {start}")
        for line in range(min(-(-self.size * self.width // 8), 256)):
            p = body.op(f"getelementptr i8, ptr {base}, i64 {64 * line}")
            body.lines.append(f"  call void @llvm.prefetch.p0(ptr {p}, i32 1, i32 3, i32 1)")

    def load(self, argument: int, component: int) -> str:
        w = self.width
        chunk, column = divmod(component, w)
        if (argument, chunk) not in self.columns:
            left = self.program.inputs[argument][1] - chunk * w
            rows = [self.load_row(p, chunk * w, left) for p in self.row_in[argument]]
            self.columns[argument, chunk] = self.transposed(rows)
        return self.columns[argument, chunk][column]

    def load_row(self, row: str, start: int, left: int) -> str:
        body, w = self.body, self.width
        p = body.op(f"getelementptr double, ptr {row}, i64 {start}") if start else row
        if left >= w:
            return body.op(f"load {body.real}, ptr {p}, align 8")
        mask = ", ".join(f"i1 {'true' if k < left else 'false'}" for k in range(w))
        return body.op(
            f"call {body.real} @llvm.masked.load.{body.suffix}.p0(ptr {p}, i32 8, <{w} x i1> <{mask}>, "
            f"{body.real} zeroinitializer)"
        )

    def store(self, k: int, value: str) -> None:
        w = self.width
        chunk, column = divmod(k, w)
        known = self.waiting.setdefault(chunk, {})
        known[column] = value
        left = min(w, self.size - chunk * w)
        if len(known) < left:
            return
        body = self.body
        rows = self.transposed([known.get(c, "zeroinitializer") for c in range(w)])
        for pointer, row in zip(self.row_out, rows, strict=True):
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
                result[a] = self.shuffle(rows[a], rows[b], low)
                result[b] = self.shuffle(rows[a], rows[b], high)
            rows, step = result, step * 2
        return rows

    def shuffle(self, a: str, b: str, order: list[int]) -> str:
        real, w = self.body.real, self.width
        mask = ", ".join(f"i32 {j}" for j in order)
        return self.body.op(f"shufflevector {real} {a}, {real} {b}, <{w} x i32> <{mask}>")
