"""Operations and segments of a program in LLVM IR, scalar or as vectors of states."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence

from dqdyn.compile.codegen.arctangent import emit_atan2
from dqdyn.compile.codegen.ir import Emitter
from dqdyn.compile.codegen.sincos import LARGEST, emit_largest, emit_sincos
from dqdyn.compile.trace.program import Program

_ARITHMETIC = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


def fused_products(program: Program, members: Sequence[int]) -> dict[int, int]:
    """The products that sums take into a fused multiply-add, by the sum: of two products the first.

    LLVM would choose among them by what stands around them, so that two kernels of one program, which write to memory
    of different alignment, would differ in their last bits.
    """
    uses, outputs, here = program.uses(), set(program.outputs), set(members)
    found: dict[int, int] = {}
    for i in members:
        op, operands, _ = program.instructions[i]
        for k in operands if op in ("add", "sub") else ():
            if k in here and program.instructions[k][0] == "mul" and uses[k] == 1 and k not in outputs:
                found[i] = k
                break
    return found


class CodeBody(Emitter):
    """The body of a function, for ``width`` states at a time; ``contract``: the program may use fused multiply-add."""

    def __init__(self, width: int, fma: bool, contract: bool) -> None:
        super().__init__(width, fma)
        self.contract, self.flags = contract, " contract" if contract else ""
        self.largest = self.const(0.0)  # of all arguments of sines so far
        self._start = 0  # line at which the basic block begins
        # LLVM searches long for better places of loads and stores, a fifth of its time, and for one state finds none.
        self._in_slot = f"{'volatile ' if width == 1 else ''}{self.real}"

    def widened(self, width: int) -> CodeBody:
        """An emitter of vectors that writes into the same lines."""
        wide = CodeBody(width, self.fma, self.contract)
        wide.lines, wide._names = self.lines, self._names
        return wide

    def cut(self, name: str) -> None:
        """End the basic block and go on in another one.

        The branch depends on ``%go``, which is always true; LLVM, which cannot know that, would join the blocks again.
        """
        self.lines.append(f"  br i1 %go, label %{name}, label %stop")
        self.label(name)
        self._start = len(self.lines)

    def cut_if_long(self, lines: int) -> None:
        """A cut where the basic block has that many lines by now."""
        if len(self.lines) - self._start >= lines:
            self.cut(f"cut{next(self._names)}")

    def take_lines(self) -> list[str]:
        """The lines so far, which others write to their function."""
        lines, self._start = self.lines[:], 0
        self.lines.clear()  # the same list, which emitters of other widths share
        return lines

    def segment(
        self,
        program: Program,
        members: Sequence[int],
        fetch: Callable[[int], str],
        keep: Callable[[int, str], None],
        noted: Container[int] | None = None,
        before: Callable[[int, Callable[[int], str]], None] | None = None,
        fused: Mapping[int, int] | None = None,
        reloads: Container[tuple[int, int]] | None = None,
        values: dict[int, str] | None = None,
    ) -> None:
        """Emit some instructions: ``fetch(k)`` loads a value made elsewhere, ``keep(i, name)`` sees every new one.

        If only some are ``noted``, it sees those. ``before(i, value_of)`` is called before each of them. ``reloads``,
        (instruction, operand), are loaded again (:class:`~dqdyn.compile.codegen.register_plan.RegisterPlan`), and
        the names of ``values`` are shared with other segments. With ``fused`` products, by the sum that takes them
        (:func:`fused_products`), LLVM fuses no others.
        """
        instructions, append, numbers = program.instructions, self.lines.append, self._names
        flags = self.flags if fused is None else ""
        arithmetic = {op: f"{name}{flags} {self.real}" for op, name in _ARITHMETIC.items()}
        inside = set((fused or {}).values())
        values = {} if values is None else values
        sines: dict[int, tuple[str, str]] = {}  # argument → sine and cosine
        loaded: dict[int, int] = {}  # value → the instruction for which it was loaded

        def value_of(k: int) -> str:
            if k not in values or (reloads is not None and (i, k) in reloads and loaded.get(k) != i):
                loaded[k] = i
                op, _, constant = instructions[k]
                values[k] = self.const(constant) if op == "const" else fetch(k)
            return values[k]

        nothing: dict[int, str] = {}
        known = values.get if reloads is None else nothing.get  # values that need not be looked after
        for i in members:
            op, operands, _ = instructions[i]
            if before is not None:
                before(i, value_of)
            if i in inside:
                value = ""  # nobody asks for it
            elif fused and i in fused:
                product = fused[i]
                first, second = (value_of(k) for k in instructions[product][1])
                is_first = operands[0] == product
                value = self._fused(op, is_first, first, second, value_of(operands[1 if is_first else 0]))
            elif op in arithmetic:  # nearly all of them: as self.operation, without its calls
                a, b = operands
                first, second = known(a) or value_of(a), known(b) or value_of(b)
                value = f"%t{next(numbers)}"
                append(f"  {value} = {arithmetic[op]} {first}, {second}")
            elif op in ("sin", "cos"):
                if operands[0] not in sines:
                    sines[operands[0]] = self.sincos(value_of(operands[0]))
                value = sines[operands[0]][0 if op == "sin" else 1]
            else:
                value = self.operation(op, [value_of(k) for k in operands])
            values[i] = value
            if noted is None or i in noted:
                keep(i, value)

    def _fused(self, op: str, is_first: bool, a: str, b: str, c: str) -> str:
        """a b + c, or the difference of the two, in which a b is the first."""
        if op == "sub":
            a, c = (a, self.operation("neg", [c])) if is_first else (self.operation("neg", [a]), c)
        return self.intrinsic("fma", a, b, c)

    def store_slot(self, is_condition: bool, value: str, pointer: str) -> None:
        """Keep a value in memory for a later segment; a condition is kept as 1 or 0."""
        if is_condition:
            value = self.select(value, self.const(1.0), self.const(0.0))
        self.store(value, pointer, self._in_slot, 8 * self.width)

    def load_slot(self, is_condition: bool, pointer: str) -> str:
        """A value kept by :meth:`store_slot`."""
        x = self.load(pointer, self._in_slot, 8 * self.width)
        return self.binary("fcmp ogt", x, self.const(0.5)) if is_condition else x

    def slot(self, index: int) -> str:
        return self.at("%scratch", index, self.real)

    def sincos(self, x: str) -> tuple[str, str]:
        """Sine and cosine; the argument counts for :attr:`largest`."""
        self.largest = emit_largest(self, x, self.largest)
        return emit_sincos(self, x)

    def too_large(self) -> str:
        """The name of an i1: whether an argument was too large for the sines, so that the interpreter must redo it."""
        return self.any_lane(self.binary("fcmp ogt", self.largest, self.const(LARGEST)))

    def operation(self, op: str, a: Sequence[str]) -> str:
        """One instruction other than constants, inputs, sines and cosines."""
        if op in _ARITHMETIC:
            return self.binary(_ARITHMETIC[op] + self.flags, *a)
        if op == "neg":
            return self.op(f"fneg {self.real} {a[0]}")
        if op == "sqrt":
            return self.intrinsic("sqrt", *a)
        if op == "less":
            return self.binary("fcmp olt", *a)
        if op == "select":
            return self.select(*a)
        assert op == "atan2", op
        if self.width > 1:
            return emit_atan2(self, *a)
        # By its address, which the loader fills in: code that names it may lie too far from the library.
        target = self.op("load ptr, ptr @atan2_at")
        return self.op(f"call double {target}(double {a[0]}, double {a[1]})")

    def frame(self, head: list[str], slots: int, body: list[str], tail: list[str]) -> list[str]:
        """A function around lines that were cut into blocks: ``%go`` at the start, ``stop`` at the end."""
        start = ["  %go = icmp ne ptr %out, null"]
        if slots:
            start.append(f"  %stack = alloca [{slots} x {self.real}], align 64")
            start.append("  %scratch = select i1 %go, ptr %stack, ptr %out")
        return [*head, *start, *body, *tail, "stop:", "  ret i64 0", "}"]
