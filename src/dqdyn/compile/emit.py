"""The body of a program in LLVM IR, scalar or as vectors of states."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from dqdyn.compile.program import Program
from dqdyn.compile.sincos import emit_sincos

_BLOCK = 700  # operations per basic block; code generation slows down steeply on longer ones
_MANY = 8 * _BLOCK  # operations from which values pass from block to block through memory
_WEIGHT = {"sin": 40, "cos": 0, "const": 0}  # lines of IR; a cosine comes with its sine
_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


class Blocks:
    """Where a program is cut into basic blocks, and which values wait in memory for a later block.

    In long programs values with long lives make register allocation slow, steeply. There each value that a later block
    uses is stored where it is made and loaded in the blocks that need it; slots are used again after the last of them.
    """

    def __init__(self, program: Program) -> None:
        block, weight, total = 0, 0, 0
        place: list[int] = []
        self.starts: set[int] = set()
        for i, (op, _, _) in enumerate(program.instructions):
            if weight > _BLOCK:
                block, weight = block + 1, 0
                self.starts.add(i)
            place.append(block)
            weight += _WEIGHT.get(op, 1)
            total += _WEIGHT.get(op, 1)
        self.slot: dict[int, int] = {}
        self.slots = 0
        # Conditions are not numbers, and constants are literals: they are used across blocks as they are.
        self.anywhere = {i for i, (op, _, _) in enumerate(program.instructions) if op in ("const", "less")}
        if total > _MANY:
            self._assign(program, place)

    def _assign(self, program: Program, place: list[int]) -> None:
        last: dict[int, int] = {}
        for i, (op, operands, _) in enumerate(program.instructions):
            if op != "input":
                for k in operands:
                    if place[k] < place[i] and k not in self.anywhere:
                        last[k] = place[i]
        free: list[int] = []
        ending: dict[int, list[int]] = {}
        for i, block in enumerate(place):
            if i in self.starts:
                free += ending.pop(block - 1, [])
            if i in last:
                if not free:
                    free.append(self.slots)
                    self.slots += 1
                self.slot[i] = free.pop()
                ending.setdefault(last[i], []).append(self.slot[i])


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
        self.slots = 0
        self._names = 0

    # --- pieces ---

    def fresh(self) -> str:
        self._names += 1
        return f"%t{self._names}"

    def op(self, text: str) -> str:
        """A new value."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def const(self, value: float) -> str:
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return self._splat("double", f"0x{bits:016X}")

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
        self.block = name

    # --- a program ---

    def emit(self, program: Program, load: Callable[[int, int], str], store: Callable[[int, str], None]) -> str:
        """Emit all instructions; the name of an i1 (vector) that is true where an argument was too large."""
        users: dict[int, list[int]] = {}
        for k, source in enumerate(program.outputs):
            users.setdefault(source, []).append(k)
        both: dict[int, tuple[str, str]] = {}
        flag = self._splat("i1", "false")
        blocks = Blocks(program)
        self.slots = blocks.slots
        values: dict[int, str] = {}  # names that the current block may use

        def value_of(k: int) -> str:
            if k not in values:  # from an earlier block, by way of memory
                values[k] = self.op(f"load {self.real}, ptr {self._slot(blocks.slot[k])}, align 8")
            return values[k]

        for i, (op, operands, constant) in enumerate(program.instructions):
            if i in blocks.starts:
                self.cut(f"part{i}")
                if blocks.slots:
                    values = {k: name for k, name in values.items() if k in blocks.anywhere}
            if op in ("sin", "cos"):
                if operands[0] not in both:
                    sine, cosine, large = emit_sincos(self, value_of(operands[0]))
                    both[operands[0]] = sine, cosine
                    flag = self.op(f"or {self.boolean} {flag}, {large}")
                value = both[operands[0]][0 if op == "sin" else 1]
            elif op == "const":
                value = self.const(constant)
            elif op == "input":
                value = load(*operands)
            else:
                value = self._operation(op, [value_of(k) for k in operands])
            values[i] = value
            if i in blocks.slot:
                self.lines.append(f"  store {self.real} {value}, ptr {self._slot(blocks.slot[i])}, align 8")
            for k in users.get(i, ()):
                store(k, value)
        return flag

    def _slot(self, index: int) -> str:
        return self.op(f"getelementptr {self.real}, ptr %scratch, i64 {index}")

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

    def frame(self, head: list[str], body: list[str], tail: list[str]) -> list[str]:
        """A function around lines that were cut into blocks: ``%go`` at the start, ``stop`` at the end."""
        start = ["  %go = icmp ne ptr %out, null"]
        if self.slots:
            start.append(f"  %scratch = alloca [{self.slots} x {self.real}], align 64")
        return [*head, *start, *body, *tail, "stop:", "  ret i64 0", "}"]

    def declarations(self) -> list[str]:
        """Intrinsics and library functions that the lines may use."""
        real, s = self.real, self.suffix
        return [
            f"declare {real} @llvm.fma.{s}({real}, {real}, {real})",
            f"declare {real} @llvm.fabs.{s}({real})",
            f"declare {real} @llvm.sqrt.{s}({real})",
            "declare double @atan2(double, double)",
        ]
