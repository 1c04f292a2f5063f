"""The tracer: run an algorithm on it and it becomes a program.

Equal expressions become one instruction (hash-consing), constants fold, and so do 0 and ±1. A traced value has no
truth value: a branch on it would freeze one path into the program, so it raises.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

from dqdyn.algebra import scalar
from dqdyn.algebra.scalar import Functions, register, scalars_only
from dqdyn.compile.trace.passes import without_dead_code
from dqdyn.compile.trace.program import Instruction, Program
from dqdyn.errors import Error

LONG = 64
"""Numbers in an input from which on programs are traced for loops: constants keep their signs."""

LONGEST = 2_000_000
"""Instructions of a program at most: a gigabyte of memory, and half a minute of tracing."""


class Graph:
    """Instructions so far, each once.

    ``keeps_signs``: a product with a negative constant is an instruction of its own; else it is the negative of one
    with a positive constant, and the sign moves on into sums.
    """

    def __init__(self, name: str = "the program", keeps_signs: bool = False) -> None:
        self.name, self.keeps_signs = name, keeps_signs
        self.instructions: list[Instruction] = []
        self.constants: dict[int, float] = {}  # of the instructions that are constants
        self.negated: dict[int, int] = {}  # of the instructions that are negations
        self._known: dict[Any, int] = {}

    def node(self, op: str, *operands: int) -> int:
        index = self._known.setdefault((op, operands), len(self.instructions))
        if index == len(self.instructions):
            if index == LONGEST:
                raise _too_long(self.name)
            self.instructions.append((op, operands, 0.0))
        return index

    def constant(self, value: float) -> int:
        key: Any = value
        if not (value < 0.0 or value > 0.0):  # −0.0 and NaN are constants of their own
            key = "+0" if value == 0.0 and math.copysign(1.0, value) > 0.0 else struct.pack("<d", value)
        index = self._known.setdefault(key, len(self.instructions))
        if index == len(self.instructions):
            self.instructions.append(("const", (), value))
            self.constants[index] = value
        return index

    # --- arithmetic with folding: operands are indices ---

    def add(self, a: int, b: int) -> int:
        ca, cb = self.constants.get(a), self.constants.get(b)
        if ca is not None and cb is not None:
            return self.constant(ca + cb)
        if ca == 0.0:
            return b
        if cb == 0.0:
            return a
        if b in self.negated:
            return self.sub(a, self.negated[b])
        if a in self.negated:
            return self.sub(b, self.negated[a])
        return self.node("add", a, b) if a <= b else self.node("add", b, a)

    def sub(self, a: int, b: int) -> int:
        ca, cb = self.constants.get(a), self.constants.get(b)
        if ca is not None and cb is not None:
            return self.constant(ca - cb)
        if ca == 0.0:
            return self.neg(b)
        if cb == 0.0:
            return a
        if b in self.negated:
            return self.add(a, self.negated[b])
        if a in self.negated:
            return self.neg(self.add(self.negated[a], b))
        if ("sub", (b, a)) in self._known:
            return self.neg(self._known["sub", (b, a)])
        return self.node("sub", a, b)

    def neg(self, a: int) -> int:
        if a in self.constants:
            return self.constant(-self.constants[a])
        if a in self.negated:
            return self.negated[a]
        result = self.node("neg", a)
        self.negated[result] = a
        return result

    def mul(self, a: int, b: int) -> int:
        ca, cb = self.constants.get(a), self.constants.get(b)
        if ca is not None and cb is not None:
            return self.constant(ca * cb)
        if ca is not None:
            a, b, ca, cb = b, a, cb, ca
        if cb is not None:
            if cb == 0.0:
                return self.constant(0.0)
            if cb == 1.0:
                return a
            if cb == -1.0:
                return self.neg(a)
            if self.keeps_signs:
                opposite = self._opposite_product(a, cb)
                if opposite is not None:
                    return self.neg(opposite)
            elif cb < 0.0:  # one constant for ±c
                return self.neg(self.mul(a, self.constant(-cb)))
        if a in self.negated:
            return self.neg(self.mul(self.negated[a], b))
        if b in self.negated:
            return self.neg(self.mul(a, self.negated[b]))
        return self.node("mul", a, b) if a <= b else self.node("mul", b, a)

    def _opposite_product(self, a: int, c: float) -> int | None:
        """The product of a value and −c, if there is one."""
        b = self._known.get(-c)
        return None if b is None else self._known.get(("mul", (a, b) if a <= b else (b, a)))

    def div(self, a: int, b: int) -> int:
        ca, cb = self.constants.get(a), self.constants.get(b)
        if ca is not None and cb is not None:
            return self.constant(scalar.divide(ca, cb))
        if cb == 1.0:
            return a
        if cb == -1.0:
            return self.neg(a)
        if ca == 0.0 and cb is None:
            return self.constant(0.0)
        if a in self.negated:
            return self.neg(self.div(self.negated[a], b))
        if b in self.negated:
            return self.neg(self.div(a, self.negated[b]))
        return self.node("div", a, b)

    def unary(self, op: str, a: int) -> int:
        if a in self.constants:
            return self.constant(_FOLD[op](self.constants[a]))
        if a in self.negated and op in ("sin", "cos"):
            positive = self.node(op, self.negated[a])
            return self.neg(positive) if op == "sin" else positive
        return self.node(op, a)

    def atan2(self, a: int, b: int) -> int:
        if a in self.constants and b in self.constants:
            return self.constant(math.atan2(self.constants[a], self.constants[b]))
        return self.node("atan2", a, b)


_FOLD: dict[str, Callable[[float], float]] = {"sin": scalar.sin, "cos": scalar.cos, "sqrt": scalar.sqrt}


def _operator(fold: Callable[[Graph, int, int], int], reflected: bool = False) -> Callable[[Any, Any], Any]:
    def apply(self: Traced, other: Any) -> Traced:
        graph, a = self.graph, self.index
        b = other.index if type(other) is Traced else _index(graph, other)
        return Traced(graph, fold(graph, b, a) if reflected else fold(graph, a, b))

    return scalars_only(apply)


class Traced:
    """A scalar that records what is done to it."""

    __array_ufunc__ = None
    __slots__ = ("graph", "index")

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph, self.index = graph, index

    __add__ = __radd__ = _operator(Graph.add)
    __sub__, __rsub__ = _operator(Graph.sub), _operator(Graph.sub, reflected=True)
    __mul__ = __rmul__ = _operator(Graph.mul)
    __truediv__, __rtruediv__ = _operator(Graph.div), _operator(Graph.div, reflected=True)

    def __neg__(self) -> Traced:
        return Traced(self.graph, self.graph.neg(self.index))

    def __bool__(self) -> bool:
        raise TypeError("a traced value has no truth value: use dqdyn.algebra.scalar.select instead of a branch.")

    def __eq__(self, other: object) -> bool:
        return bool(self)  # an answer would freeze one path as a branch does

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Traced(%{self.index})"


class Condition:
    """A traced comparison; only :func:`select` can use it."""

    __array_ufunc__ = None
    __slots__ = ("graph", "index")

    def __init__(self, graph: Graph, index: int) -> None:
        self.graph, self.index = graph, index

    __bool__, __eq__, __hash__ = Traced.__bool__, Traced.__eq__, Traced.__hash__


def _graph(*values: Any) -> Graph:
    return next(v.graph for v in values if isinstance(v, (Traced, Condition)))


def _index(graph: Graph, value: Any) -> int:
    if isinstance(value, Condition):
        raise TypeError("a comparison is not a number: turn it into one with dqdyn.algebra.scalar.select.")
    return value.index if isinstance(value, Traced) else graph.constant(float(value))


def _unary(op: str) -> Callable[[Any], Traced]:
    return lambda a: Traced(a.graph, a.graph.unary(op, _index(a.graph, a)))


def _binary(op: str) -> Callable[[Any, Any], Traced]:
    def call(a: Any, b: Any) -> Traced:
        graph = _graph(a, b)
        return Traced(graph, getattr(graph, op)(_index(graph, a), _index(graph, b)))

    return call


def _less(a: Any, b: Any) -> Any:
    graph = _graph(a, b)
    i, j = _index(graph, a), _index(graph, b)
    if i in graph.constants and j in graph.constants:
        return graph.constants[i] < graph.constants[j]
    return Condition(graph, graph.node("less", i, j))


def _select(condition: Any, a: Any, b: Any) -> Any:
    if not isinstance(condition, Condition):
        return a if condition else b
    graph = condition.graph
    i, j = _index(graph, a), _index(graph, b)
    return Traced(graph, i if i == j else graph.node("select", condition.index, i, j))


_FUNCTIONS = Functions(
    rank=6,
    sin=_unary("sin"),
    cos=_unary("cos"),
    sqrt=_unary("sqrt"),
    atan2=_binary("atan2"),
    divide=_binary("div"),
    less=_less,
    select=_select,
)
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


def trace(
    name: str,
    inputs: Sequence[tuple[str, int]],
    algorithm: Callable[..., tuple[Sequence[Any], tuple[int, ...]]],
) -> Program:
    """The program of ``algorithm(*inputs)``, which takes lists of scalars and gives (scalars, shape)."""
    # Signs of constants would lead to other instructions in each body of a chain, and none of them would repeat.
    graph = Graph(name, keeps_signs=any(size >= LONG for _, size in inputs))
    arguments = [[Traced(graph, graph.node("input", i, k)) for k in range(size)] for i, (_, size) in enumerate(inputs)]
    results, shape = algorithm(*arguments)
    outputs = tuple(_index(graph, r) for r in results)
    program = Program(name, tuple(inputs), tuple(graph.instructions), outputs, tuple(shape))
    return without_dead_code(program)
