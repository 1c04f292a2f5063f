"""Operations and segments of a program in LLVM IR, scalar or as vectors of states."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable, Iterator, Sequence

from dqdyn.compile.codegen.sincos import LARGEST, emit_largest, emit_sincos
from dqdyn.compile.trace.program import Program

_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


class Body:
    """Lines of IR, for ``width`` states at a time.

    ``fma``: the machine fuses multiply-add; ``contract``: the program may use it.
    """

    def __init__(self, width: int, fma: bool, contract: bool) -> None:
        self.width, self.fma, self.contract = width, fma, contract
        self.flags = " contract" if contract else ""
        self.real = "double" if width == 1 else f"<{width} x double>"
        self.integer = "i64" if width == 1 else f"<{width} x i64>"
        self.boolean = "i1" if width == 1 else f"<{width} x i1>"
        self.suffix = "f64" if width == 1 else f"v{width}f64"
        self.lines: list[str] = []
        self.largest = self.const(0.0)  # of all arguments of sines so far
        self._names: Iterator[int] = itertools.count(1)

    # --- pieces ---

    def fresh(self) -> str:
        return f"%t{next(self._names)}"

    def widened(self, width: int) -> Body:
        """An emitter of vectors that writes into the same lines."""
        wide = Body(width, self.fma, self.contract)
        wide.lines, wide._names = self.lines, self._names
        return wide

    def op(self, text: str) -> str:
        """A new value."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def const(self, value: float) -> str:
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return self._splat("double", f"0x{bits:016X}")

    def constants(self, values: Sequence[float]) -> str:
        """A vector of different constants."""
        bits = (struct.unpack("<Q", struct.pack("<d", value))[0] for value in values)
        return f"<{', '.join(f'double 0x{b:016X}' for b in bits)}>"

    def const_int(self, value: int) -> str:
        return self._splat("i64", str(value))

    def _splat(self, kind: str, text: str) -> str:
        return text if self.width == 1 else f"<{', '.join([f'{kind} {text}'] * self.width)}>"

    def cut(self, name: str) -> None:
        """End the basic block and go on in another one.

        The branch depends on ``%go``, which always holds but which LLVM cannot know: it would join the blocks again.
        """
        self.lines.append(f"  br i1 %go, label %{name}, label %stop")
        self.open(name)

    def open(self, name: str) -> None:
        """Start a basic block."""
        self.lines.append(f"{name}:")

    # --- a program ---

    def segment(
        self,
        program: Program,
        members: Sequence[int],
        fetch: Callable[[int], str],
        keep: Callable[[int, str], None],
    ) -> None:
        """Emit some instructions: ``fetch(k)`` loads a value made elsewhere, ``keep(i, name)`` sees every new one."""
        values: dict[int, str] = {}
        turned: dict[int, tuple[str, str]] = {}

        def value_of(k: int) -> str:
            op, _, constant = program.instructions[k]
            if op == "const":
                return self.const(constant)
            if k not in values:
                values[k] = fetch(k)
            return values[k]

        for i in members:
            op, operands, _ = program.instructions[i]
            if op in ("sin", "cos"):
                if operands[0] not in turned:
                    turned[operands[0]] = self.sincos(value_of(operands[0]))
                values[i] = turned[operands[0]][0 if op == "sin" else 1]
            else:
                values[i] = self.operation(op, [value_of(k) for k in operands])
            keep(i, values[i])

    def store_slot(self, is_condition: bool, value: str, pointer: str) -> None:
        """Let a value wait in memory; a condition waits as 1 or 0."""
        if is_condition:
            value = self.op(
                f"select {self.boolean} {value}, {self.real} {self.const(1.0)}, {self.real} {self.const(0.0)}"
            )
        self.lines.append(f"  store {self.real} {value}, ptr {pointer}, align {8 * self.width}")

    def load_slot(self, is_condition: bool, pointer: str) -> str:
        """A value that waited."""
        x = self.op(f"load {self.real}, ptr {pointer}, align {8 * self.width}")
        return self.op(f"fcmp ogt {self.real} {x}, {self.const(0.5)}") if is_condition else x

    def slot(self, index: int) -> str:
        return self.op(f"getelementptr {self.real}, ptr %scratch, i64 {index}")

    def sincos(self, x: str) -> tuple[str, str]:
        """Sine and cosine; the argument counts for :attr:`largest`."""
        self.largest = emit_largest(self, x, self.largest)
        return emit_sincos(self, x)

    def too_large(self) -> str:
        """The name of an i1: whether an argument was too large for the sines, so that the interpreter must redo it."""
        found = self.op(f"fcmp ogt {self.real} {self.largest}, {self.const(LARGEST)}")
        if self.width == 1:
            return found
        bits = self.op(f"bitcast {self.boolean} {found} to i{self.width}")
        return self.op(f"icmp ne i{self.width} {bits}, 0")

    def operation(self, op: str, a: Sequence[str]) -> str:
        """One instruction other than constants, inputs, sines and cosines."""
        real = self.real
        if op in _ARITHMETIC:
            return self.op(f"{_ARITHMETIC[op]}{self.flags} {real} {a[0]}, {a[1]}")
        if op == "neg":
            return self.op(f"fneg {real} {a[0]}")
        if op == "sqrt":
            return self.op(f"call {real} @llvm.sqrt.{self.suffix}({real} {a[0]})")
        if op == "less":
            return self.op(f"fcmp olt {real} {a[0]}, {a[1]}")
        if op == "select":
            return self.op(f"select {self.boolean} {a[0]}, {real} {a[1]}, {real} {a[2]}")
        assert op == "atan2", op
        return self._by_lane("atan2", a)

    def _by_lane(self, function: str, a: Sequence[str]) -> str:
        """A function of the C library, one state at a time."""
        # By its address, which the loader fills in: code that names it may lie too far from the library.
        target = self.op(f"load ptr, ptr @{function}_at")
        if self.width == 1:
            return self.op(f"call double {target}({', '.join(f'double {x}' for x in a)})")
        result = "poison"
        for lane in range(self.width):
            parts = [self.op(f"extractelement {self.real} {x}, i32 {lane}") for x in a]
            value = self.op(f"call double {target}({', '.join(f'double {x}' for x in parts)})")
            result = self.op(f"insertelement {self.real} {result}, double {value}, i32 {lane}")
        return result

    def frame(self, head: list[str], slots: int, body: list[str], tail: list[str]) -> list[str]:
        """A function around lines that were cut into blocks: ``%go`` at the start, ``stop`` at the end."""
        start = ["  %go = icmp ne ptr %out, null"]
        if slots:
            start.append(f"  %stack = alloca [{slots} x {self.real}], align 64")
            start.append("  %scratch = select i1 %go, ptr %stack, ptr %out")
        return [*head, *start, *body, *tail, "stop:", "  ret i64 0", "}"]

    def declarations(self) -> list[str]:
        """Intrinsics and library functions that the lines may use."""
        real, s = self.real, self.suffix
        found = [
            f"declare {real} @llvm.fma.{s}({real}, {real}, {real})",
            f"declare {real} @llvm.fabs.{s}({real})",
            f"declare {real} @llvm.sqrt.{s}({real})",
            "@atan2_at = dso_local global ptr null",
        ]
        if self.width > 1:
            found.append(f"declare {real} @llvm.masked.load.{s}.p0(ptr, i32, {self.boolean}, {real})")
            found.append(f"declare void @llvm.masked.store.{s}.p0({real}, ptr, i32, {self.boolean})")
        return found
