"""Loops in LLVM IR."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dqdyn.compile.codegen.ir import Emitter

Body = Callable[[str, list[str]], Sequence[str]]
"""Emits one round of a loop from its index and the values carried so far; gives the values for the next round."""


class LoopEmitter(Emitter):
    """The body of a function with loops and scalar arithmetic beside that on vectors."""

    def __init__(self, width: int, fma: bool) -> None:
        super().__init__(width, fma)
        self.current = "entry"

    def label(self, name: str) -> None:
        super().label(name)
        self.current = name

    def repeat(self, start: str | int, stop: str | int, body: Body, *carried: tuple[str, str]) -> list[str]:
        """For i from ``start`` to below ``stop``; ``carried`` are (type, value at first), returned as they end."""
        k = next(self._names)
        before, head, inside, after = self.current, f"head{k}", f"inside{k}", f"after{k}"
        index, values = f"%i{k}", [f"%carried{k}_{n}" for n in range(len(carried))]
        self.jump(head)
        self.label(head)
        place = len(self.lines)
        self.branch(self.op(f"icmp slt i64 {index}, {stop}"), inside, after)
        self.label(inside)
        new = body(index, values)
        step, last = self.op(f"add i64 {index}, 1"), self.current
        self.jump(head)
        pairs = [("i64", index, str(start), step)]
        pairs += [(kind, v, first, n) for (kind, first), v, n in zip(carried, values, new, strict=True)]
        self.lines[place:place] = [
            f"  {name} = phi {kind} [ {first}, %{before} ], [ {following}, %{last} ]"
            for kind, name, first, following in pairs
        ]
        self.label(after)
        return values

    def when(self, condition: str, body: Callable[[], None]) -> None:
        """Emit what happens only where an i1 holds."""
        k = next(self._names)
        self.branch(condition, f"then{k}", f"else{k}")
        self.label(f"then{k}")
        body()
        self.jump(f"else{k}")
        self.label(f"else{k}")

    # --- arithmetic ---

    def add_product(self, total: str, a: str, b: str) -> str:
        """total + a b, of vectors."""
        return self.intrinsic("fma", a, b, total) if self.fma else self.binary("fadd", total, self.binary("fmul", a, b))

    def subtract_product(self, total: str, a: str, b: str) -> str:
        """total − a b, of vectors."""
        return self.add_product(total, self.op(f"fneg {self.real} {a}"), b)

    def scalar(self, operation: str, a: str, b: str) -> str:
        return self.binary(operation, a, b, "double")

    def sum_of_lanes(self, vector: str) -> str:
        """The sum of the components of a vector."""
        if self.width == 1:
            return vector
        total = self.op(f"extractelement {self.real} {vector}, i64 0")
        for lane in range(1, self.width):
            total = self.scalar("fadd", total, self.op(f"extractelement {self.real} {vector}, i64 {lane}"))
        return total

    def entry(self, pointer: str, row: str | int, stride: int, column: str | int = 0) -> str:
        """The address of an entry of a matrix."""
        return self.at(self.at(pointer, self.op(f"mul i64 {row}, {stride}")), column)

    def define(self, head: str, last: str) -> str:
        """The function of the lines so far."""
        return "\n".join([f"define {head} {{", "entry:", *self.lines, f"  {last}", "}", ""])


def number(value: float) -> str:
    """A double in IR."""
    return Emitter(1).const(value)
