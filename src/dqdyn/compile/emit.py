"""The body of a program in LLVM IR, scalar or as vectors of states."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from dqdyn.compile.program import Program
from dqdyn.compile.sincos import emit_sincos

_BLOCK = 700  # operations per basic block; code generation slows down steeply on longer ones
_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


class Body:
    """Lines of IR that compute a program once, for ``width`` states at a time.

    ``load(argument, component)`` gives the name of an input; ``store(k, name)`` is called for each output as soon as
    its value is known. ``fma``: the machine fuses multiply-add; ``contract``: the program may use it.
    """

    def __init__(self, width: int, fma: bool, contract: bool) -> None:
        self.width, self.fma = width, fma
        self.flags = " contract" if contract else ""
        self.real = "double" if width == 1 else f"<{width} x double>"
        self.integer = "i64" if width == 1 else f"<{width} x i64>"
        self.boolean = "i1" if width == 1 else f"<{width} x i1>"
        self.suffix = "f64" if width == 1 else f"v{width}f64"
        self.lines: list[str] = []
        self.block = "entry"
        self._names = 0
        self._since_block = 0

    # --- pieces ---

    def fresh(self) -> str:
        self._names += 1
        return f"%t{self._names}"

    def op(self, text: str) -> str:
        """A new value."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        self._since_block += 1
        return name

    def const(self, value: float) -> str:
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return self._splat("double", f"0x{bits:016X}")

    def const_int(self, value: int) -> str:
        return self._splat("i64", str(value))

    def _splat(self, kind: str, text: str) -> str:
        return text if self.width == 1 else f"<{', '.join([f'{kind} {text}'] * self.width)}>"

    def label(self, name: str) -> None:
        """Start a basic block, reached from the one before."""
        self.lines.append(f"  br label %{name}")
        self.open(name)

    def open(self, name: str) -> None:
        """Start a basic block."""
        self.lines.append(f"{name}:")
        self.block = name
        self._since_block = 0

    # --- a program ---

    def emit(self, program: Program, load: Callable[[int, int], str], store: Callable[[int, str], None]) -> str:
        """Emit all instructions; the name of an i1 (vector) that is true where an argument was too large."""
        users: dict[int, list[int]] = {}
        for k, source in enumerate(program.outputs):
            users.setdefault(source, []).append(k)
        both: dict[int, tuple[str, str]] = {}
        flag = self._splat("i1", "false")
        values: list[str] = []
        for i, (op, operands, constant) in enumerate(program.instructions):
            if self._since_block > _BLOCK:
                self.label(f"part{i}")
            if op in ("sin", "cos"):
                if operands[0] not in both:
                    sine, cosine, large = emit_sincos(self, values[operands[0]])
                    both[operands[0]] = sine, cosine
                    flag = self.op(f"or {self.boolean} {flag}, {large}")
                value = both[operands[0]][0 if op == "sin" else 1]
            elif op == "const":
                value = self.const(constant)
            elif op == "input":
                value = load(*operands)
            else:
                value = self._operation(op, [values[k] for k in operands])
            values.append(value)
            for k in users.get(i, ()):
                store(k, value)
        return flag

    def _operation(self, op: str, a: Sequence[str]) -> str:
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
        if self.width == 1:
            return self.op(f"call double @{function}({', '.join(f'double {x}' for x in a)})")
        result = "poison"
        for lane in range(self.width):
            parts = [self.op(f"extractelement {self.real} {x}, i32 {lane}") for x in a]
            value = self.op(f"call double @{function}({', '.join(f'double {x}' for x in parts)})")
            result = self.op(f"insertelement {self.real} {result}, double {value}, i32 {lane}")
        return result

    def declarations(self) -> list[str]:
        """Intrinsics and library functions that the lines may use."""
        real, s = self.real, self.suffix
        return [
            f"declare {real} @llvm.fma.{s}({real}, {real}, {real})",
            f"declare {real} @llvm.fabs.{s}({real})",
            f"declare {real} @llvm.sqrt.{s}({real})",
            "declare double @atan2(double, double)",
        ]
