"""The tracer: run an algorithm on it and it becomes a program.

Equal expressions become one instruction (hash-consing), constants fold, and so do 0 and ±1. What does not depend on the
inputs is a plain number, so that arithmetic on it costs nothing here; the sign of a value is part of the value and
costs an instruction only where nothing absorbs it. A traced value has no truth value: a branch on it would freeze one
path into the program, so it raises.
"""

from __future__ import annotations

import math
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, compress
from typing import Any

from dqdyn.algebra.scalar import Functions, is_scalar, rank_of, register
from dqdyn.compile.trace.collection import no_collection
from dqdyn.compile.trace.program import Instruction, Program
from dqdyn.errors import Error

_RANK = 6
LONG = 64
"""Numbers in an input from which on programs may have loops."""
_SIGNED = 40
"""Numbers in an input from which on constants keep their signs, so that bodies have formulas in common."""
Operands = tuple[int, ...]

LONGEST = 2_000_000
"""Instructions of a program at most: a gigabyte of memory, and half a minute of tracing."""


class Graph:
    """Instructions so far, each once; operands are indices of instructions.

    ``keeps_signs``: a product with a negative constant is an instruction of its own; else it is the negative of one
    with a positive constant, and the sign moves on into sums.
    """

    __slots__ = (
        "_known_constants",
        "_others",
        "constants",
        "differences",
        "instructions",
        "keeps_signs",
        "name",
        "products",
        "sums",
    )

    def __init__(self, name: str = "the program", keeps_signs: bool = False) -> None:
        self.name, self.keeps_signs = name, keeps_signs
        self.instructions: list[Instruction] = []
        self.constants: dict[int, float] = {}  # of the instructions that are constants
        # Instructions by their operands; those of sums and products in ascending order.
        self.sums: dict[Operands, int] = {}
        self.differences: dict[Operands, int] = {}
        self.products: dict[Operands, int] = {}
        self._others: dict[tuple[str, Operands], int] = {}
        self._known_constants: dict[Any, int] = {}

    def node(self, op: str, *operands: int) -> int:
        """An operation other than sums, differences and products."""
        index = self._others.setdefault((op, operands), len(self.instructions))
        if index == len(self.instructions):
            self.instructions.append((op, operands, 0.0))
        return index

    def constant(self, value: float) -> int:
        key: Any = value
        if not (value < 0.0 or value > 0.0):  # −0.0 and NaN are constants of their own
            key = "+0" if value == 0.0 and math.copysign(1.0, value) > 0.0 else struct.pack("<d", value)
        index = self._known_constants.get(key)
        if index is None:
            index = self._known_constants[key] = len(self.instructions)
            self.instructions.append(("const", (), value))
            self.constants[index] = value
        return index

    # --- the operations that make up nearly all of a program ---

    def add(self, a: int, b: int, negative: bool = False) -> Traced:
        """±(a + b)."""
        pair = (a, b) if a <= b else (b, a)
        index = self.sums.get(pair)
        if index is None:
            index = self.sums[pair] = len(self.instructions)
            self.instructions.append(("add", pair, 0.0))
        return Traced(self, index, negative)

    def sub(self, a: int, b: int) -> Traced:
        """a − b, or −(b − a) where that is known."""
        index = self.differences.get((b, a))
        if index is not None:
            return Traced(self, index, True)
        pair = (a, b)
        index = self.differences.get(pair)
        if index is None:
            index = self.differences[pair] = len(self.instructions)
            self.instructions.append(("sub", pair, 0.0))
        return Traced(self, index)

    def mul(self, a: int, b: int, negative: bool) -> Traced:
        """±(a b)."""
        pair = (a, b) if a <= b else (b, a)
        index = self.products.get(pair)
        if index is None:
            if len(self.instructions) >= LONGEST:  # no long program is without products
                raise _too_long(self.name)
            index = self.products[pair] = len(self.instructions)
            self.instructions.append(("mul", pair, 0.0))
        return Traced(self, index, negative)

    def scaled(self, a: int, c: float, negative: bool) -> Traced:
        """±(a c) for a constant c."""
        if self.keeps_signs:
            b = self._known_constants.get(-c)
            opposite = None if b is None else self.products.get((a, b) if a <= b else (b, a))
            if opposite is not None:
                return Traced(self, opposite, not negative)
        elif c < 0.0:  # one constant for ±c
            return self.mul(a, self.constant(-c), not negative)
        return self.mul(a, self.constant(c), negative)

    def needed_for(self, outputs: Sequence[int]) -> bytearray:
        """One for each instruction that the outputs depend on, else zero."""
        needed = bytearray(len(self.instructions))
        for k in outputs:
            needed[k] = 1
        i = len(needed)
        for op, operands, _ in reversed(self.instructions):
            i -= 1
            if needed[i] and op != "input":
                for k in operands:
                    needed[k] = 1
        return needed


class Traced:
    """A scalar that records what is done to it: an instruction, or minus an instruction."""

    __array_ufunc__ = None
    __slots__ = ("graph", "index", "negative")

    def __init__(self, graph: Graph, index: int, negative: bool = False) -> None:
        self.graph, self.index, self.negative = graph, index, negative

    # Each operator asks for the two usual kinds of operand first; :func:`_number` is for the others.

    def __add__(self, other: Any) -> Any:
        kind = type(other)
        if kind is Traced:
            if self.negative:
                if other.negative:
                    return self.graph.add(self.index, other.index, True)
                return self.graph.sub(other.index, self.index)
            if other.negative:
                return self.graph.sub(self.index, other.index)
            return self.graph.add(self.index, other.index)
        if kind is not float and (other := _number(other)) is NotImplemented:
            return NotImplemented
        if other == 0.0:
            return self
        if self.negative:
            return self.graph.sub(self.graph.constant(other), self.index)
        return self.graph.add(self.index, self.graph.constant(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        kind = type(other)
        if kind is Traced:
            if self.negative:
                if other.negative:
                    return self.graph.sub(other.index, self.index)
                return self.graph.add(self.index, other.index, True)
            if other.negative:
                return self.graph.add(self.index, other.index)
            return self.graph.sub(self.index, other.index)
        if kind is not float and (other := _number(other)) is NotImplemented:
            return NotImplemented
        if other == 0.0:
            return self
        if self.negative:
            return self.graph.add(self.index, self.graph.constant(other), True)
        return self.graph.sub(self.index, self.graph.constant(other))

    def __rsub__(self, other: Any) -> Any:
        if (other := _number(other)) is NotImplemented:
            return NotImplemented
        if other == 0.0:
            return -self
        if self.negative:
            return self.graph.add(self.graph.constant(other), self.index)
        return self.graph.sub(self.graph.constant(other), self.index)

    def __mul__(self, other: Any) -> Any:
        kind = type(other)
        if kind is Traced:
            return self.graph.mul(self.index, other.index, self.negative is not other.negative)
        if kind is not float and (other := _number(other)) is NotImplemented:
            return NotImplemented
        if other == 0.0:
            return 0.0
        if other == 1.0:
            return self
        if other == -1.0:
            return -self
        return self.graph.scaled(self.index, other, self.negative)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if type(other) is Traced:
            graph = self.graph
            return Traced(graph, graph.node("div", self.index, other.index), self.negative is not other.negative)
        if (other := _number(other)) is NotImplemented:
            return NotImplemented
        if other == 1.0:
            return self
        if other == -1.0:
            return -self
        return Traced(self.graph, self.graph.node("div", self.index, self.graph.constant(other)), self.negative)

    def __rtruediv__(self, other: Any) -> Any:
        if (other := _number(other)) is NotImplemented:
            return NotImplemented
        if other == 0.0:
            return 0.0
        return Traced(self.graph, self.graph.node("div", self.graph.constant(other), self.index), self.negative)

    def __neg__(self) -> Traced:
        return Traced(self.graph, self.index, not self.negative)

    def __bool__(self) -> bool:
        raise TypeError("a traced value has no truth value: use dqdyn.algebra.scalar.select instead of a branch.")

    def __eq__(self, other: object) -> bool:
        return bool(self)  # an answer would freeze one path as a branch does

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Traced({'-' if self.negative else ''}%{self.index})"


class Condition:
    """A traced comparison; only :func:`select` can use it."""

    __array_ufunc__ = None
    __slots__ = ("graph", "index")

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph, self.index = graph, index

    __bool__, __eq__, __hash__ = Traced.__bool__, Traced.__eq__, Traced.__hash__


def _number(value: Any) -> Any:
    """A constant operand; ``NotImplemented`` for dual quaternions, and all else whose class decides."""
    if type(value) is float:
        return value
    if not is_scalar(value) or rank_of(value) > _RANK:
        return NotImplemented
    if isinstance(value, Condition):
        raise TypeError("a comparison is not a number: turn it into one with dqdyn.algebra.scalar.select.")
    return float(value)


def _graph(*values: Any) -> Graph:
    return next(v.graph for v in values if isinstance(v, (Traced, Condition)))


def _index(graph: Graph, value: Any) -> int:
    """The instruction that gives the value, sign included."""
    if isinstance(value, Traced):
        return graph.node("neg", value.index) if value.negative else value.index
    if isinstance(value, Condition):
        raise TypeError("a comparison is not a number: turn it into one with dqdyn.algebra.scalar.select.")
    return graph.constant(float(value))


def _sin(a: Any) -> Traced:
    _index(a.graph, a)  # refuses a comparison
    return Traced(a.graph, a.graph.node("sin", a.index), a.negative)


def _cos(a: Any) -> Traced:
    _index(a.graph, a)
    return Traced(a.graph, a.graph.node("cos", a.index))


def _sqrt(a: Any) -> Traced:
    return Traced(a.graph, a.graph.node("sqrt", _index(a.graph, a)))


def _atan2(a: Any, b: Any) -> Traced:
    graph = _graph(a, b)
    return Traced(graph, graph.node("atan2", _index(graph, a), _index(graph, b)))


def _divide(a: Any, b: Any) -> Any:
    return a / b if isinstance(a, Traced) else Traced.__rtruediv__(b, a)


def _less(a: Any, b: Any) -> Any:
    graph = _graph(a, b)
    return Condition(graph, graph.node("less", _index(graph, a), _index(graph, b)))


def _select(condition: Any, a: Any, b: Any) -> Any:
    if not isinstance(condition, Condition):
        return a if condition else b
    graph = condition.graph
    i, j = _index(graph, a), _index(graph, b)
    return a if i == j else Traced(graph, graph.node("select", condition.index, i, j))


_FUNCTIONS = Functions(_RANK, _sin, _cos, _sqrt, _atan2, _divide, _less, _select)
register(Traced, _FUNCTIONS)
register(Condition, _FUNCTIONS)


def _too_long(name: str) -> Error:
    return Error(
        f"{name} takes more than {LONGEST:,} instructions for a robot with this many joints, and as much memory: use "
        "functions with one result per joint, such as inverse_dynamics for products with the mass matrix and "
        "forward_dynamics for those with its inverse.",
        function=name,
        longest=LONGEST,
    )


Algorithm = Callable[..., tuple[Sequence[Any], tuple[int, ...]]]
"""Takes lists of scalars, one per input, and gives (scalars, shape)."""


class Trace:
    """An algorithm that has run on symbols; ``total`` counts operations, :meth:`program` is made where it is wanted."""

    def __init__(self, name: str, inputs: Sequence[tuple[str, int]], algorithm: Algorithm) -> None:
        sizes = [size for _, size in inputs]
        # Signs of constants would lead to other instructions in each body of a chain, and none of them would repeat.
        graph = Graph(name, keeps_signs=any(n >= _SIGNED for n in sizes))
        self.name, self.inputs, self.graph = name, tuple(inputs), graph
        arguments = [[Traced(graph, graph.node("input", i, k)) for k in range(n)] for i, n in enumerate(sizes)]
        results, shape = algorithm(*arguments)
        self.outputs, self.shape = [_index(graph, r) for r in results], tuple(shape)
        self._needed = graph.needed_for(self.outputs)
        tally = Counter([op for op, _, _ in compress(graph.instructions, self._needed)])
        self.total = tally.total() - sum(tally[op] for op in _FREE)

    def program(self) -> Program:
        """What the outputs need, renumbered, in the same order."""
        place = list(accumulate(self._needed, initial=0))
        kept: list[Instruction] = []
        for instruction in compress(self.graph.instructions, self._needed):
            op, operands, _ = instruction
            if op == "const" or op == "input":
                kept.append(instruction)
            elif len(operands) == 2:  # nearly all
                a, b = operands
                kept.append((op, (place[a], place[b]), 0.0))
            else:
                kept.append((op, tuple([place[k] for k in operands]), 0.0))
        return Program(self.name, self.inputs, tuple(kept), tuple([place[k] for k in self.outputs]), self.shape)


_FREE = ("const", "input", "neg")


def trace(name: str, inputs: Sequence[tuple[str, int]], algorithm: Algorithm) -> Program:
    """The program of ``algorithm(*inputs)``."""
    with no_collection():
        return Trace(name, inputs, algorithm).program()


def cheapest(name: str, inputs: Sequence[tuple[str, int]], algorithms: Iterable[Algorithm]) -> Program:
    """The program with the fewest operations among those of some algorithms that compute the same."""
    with no_collection():
        traces = (Trace(name, inputs, algorithm) for algorithm in algorithms)
        return min(traces, key=lambda trace: trace.total).program()
