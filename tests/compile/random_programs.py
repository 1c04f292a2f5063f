"""Programs drawn by Hypothesis, their inputs, and an interpreter that carries a bound on rounding errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from compile_tools import program_of
from hypothesis import strategies as st

from dqdyn.compile.trace.program import Instruction, Program

ARITY = {
    "const": 0,
    "input": 0,
    "add": 2,
    "sub": 2,
    "mul": 2,
    "div": 2,
    "neg": 1,
    "sqrt": 1,
    "sin": 1,
    "cos": 1,
    "atan2": 2,
    "less": 2,
    "select": 3,
}
"""Operations and how many operands they take."""

EXACT = ("add", "sub", "mul", "div", "neg", "sqrt", "less", "select")
"""Operations that IEEE 754 rounds correctly, so that every back end has the same bits."""
ALL = (*EXACT, "sin", "cos", "atan2")
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e300, -1e300, 1e-300, 5e-324, -5e-324, 2.2250738585072014e-308, 1e16)
WILD = (*SPECIAL, math.nan, math.inf, -math.inf)
_TAME = st.floats(-4, 4).map(lambda x: x if abs(x) > 1e-9 else 0.0)


@st.composite
def programs(draw: Any, operations: Sequence[str] = EXACT, wild: bool = True, longest: int = 30) -> Program:
    """A program of up to ``longest`` operations; ``wild`` constants are huge, tiny, infinite or no numbers."""
    sizes = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    code: list[Instruction] = [("input", (i, k), 0.0) for i, size in enumerate(sizes) for k in range(size)]
    values = st.one_of(_TAME, st.sampled_from(WILD if wild else (0.0, 1.0, -1.0)))
    code += [("const", (), value) for value in draw(st.lists(values, min_size=1, max_size=4))]
    reals, conditions = list(range(len(code))), list[int]()
    for op in draw(st.lists(st.sampled_from([o for o in operations if o != "less"]), min_size=1, max_size=longest)):
        if op == "select":
            if not conditions or draw(st.booleans()):
                conditions.append(len(code))
                code.append(("less", _operands(draw, reals, 2), 0.0))
            code.append((op, (draw(st.sampled_from(conditions)), *_operands(draw, reals, 2)), 0.0))
        else:
            code.append((op, _operands(draw, reals, ARITY[op]), 0.0))
        reals.append(len(code) - 1)
    outputs = draw(st.lists(st.sampled_from(reals), min_size=1, max_size=11))
    return program_of(code, outputs, sizes)


def _operands(draw: Any, reals: list[int], count: int) -> tuple[int, ...]:
    """Mostly values computed lately, so that programs are deep."""
    late = st.integers(max(0, len(reals) - 6), len(reals) - 1)
    return tuple(reals[draw(st.one_of(late, st.integers(0, len(reals) - 1)))] for _ in range(count))


@st.composite
def rows(draw: Any, program: Program, count: int, wild: bool = True) -> list[np.ndarray]:
    """Inputs of shape (count, size), drawn by a seed; ``wild`` ones hold the special values too."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    result = []
    for _, size in program.inputs:
        values = rng.normal(size=(count, size)) * 2.0
        if wild:
            values = values * 10.0 ** rng.integers(-3, 4, (count, size))
            values = np.where(rng.random((count, size)) < 0.4, rng.choice(WILD, (count, size)), values)
        result.append(values)
    return result


def reals_of(program: Program) -> list[int]:
    """Instructions that are numbers, not conditions."""
    return [i for i, (op, _, _) in enumerate(program.instructions) if op != "less"]


class Bounded:
    """A float and a bound on its distance from the exact value, for any order and fusion of roundings.

    The bound is infinite where rounding alone could change the result at will: near overflow, near a division by
    zero, and where a root could become negative.
    """

    _UNIT = 2.0**-52  # twice the unit roundoff: a fused operation rounds another number than this one
    _TINY = 1e-320

    def __init__(self, value: float, error: float = 0.0) -> None:
        rounded = error + self._UNIT * (abs(value) + error) + self._TINY
        fine = math.isfinite(value) and abs(value) < 1e290 and math.isfinite(rounded)
        self.value, self.error = value, rounded if fine else math.inf

    @staticmethod
    def exact(value: float) -> Bounded:
        result = Bounded(value)
        result.error = 0.0 if math.isfinite(value) else math.inf
        return result


def bounded(op: str, a: Sequence[Any]) -> Any:
    """One operation on bounded values; ``less`` gives (truth, certain)."""
    if op == "select":
        (truth, certain), x, y = a
        chosen, other = (x, y) if truth else (y, x)
        if certain:
            return chosen
        return Bounded(chosen.value, max(chosen.error, other.error + abs(x.value - y.value)))
    x = a[0]
    y = a[1] if len(a) > 1 else x
    p, q, d, e = x.value, y.value, x.error, y.error
    if op == "less":
        return p < q, abs(p - q) > d + e
    if not (math.isfinite(d) and math.isfinite(e)):
        return Bounded(math.nan)
    if op in ("add", "sub"):
        return Bounded(p + q if op == "add" else p - q, d + e)
    if op == "mul":
        return Bounded(p * q, abs(p) * e + abs(q) * d + d * e)
    if op == "neg":
        result = Bounded(-p)
        result.error = d
        return result
    if op == "div":
        return Bounded(p / q, (d + abs(p / q) * e) / (abs(q) - e)) if abs(q) > 2 * e and q else Bounded(math.nan)
    if op == "sqrt":
        return Bounded(math.sqrt(p), d / math.sqrt(p)) if p > 2 * d else Bounded(math.nan)
    if op in ("sin", "cos"):
        value = math.sin(p) if op == "sin" else math.cos(p)
        return Bounded(value, d + 2.0 * math.ulp(value)) if abs(p) < 1e14 else Bounded(math.nan)
    assert op == "atan2"
    square = p * p + q * q
    if square < 1e-200 or square < 16 * (d + e) ** 2 or (q < 0 and abs(p) <= 2 * d):
        return Bounded(math.nan)
    value = math.atan2(p, q)
    return Bounded(value, 2 * (d * abs(q) + e * abs(p)) / square + 2.0 * math.ulp(value))


def with_bounds(program: Program, inputs: Sequence[Sequence[float]]) -> list[Bounded]:
    """The outputs of one state with bounds on their errors."""
    values: list[Any] = []
    for op, operands, constant in program.instructions:
        if op == "const":
            values.append(Bounded.exact(constant))
        elif op == "input":
            values.append(Bounded.exact(float(inputs[operands[0]][operands[1]])))
        else:
            values.append(bounded(op, [values[k] for k in operands]))
    return [values[k] for k in program.outputs]
