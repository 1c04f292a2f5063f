"""The tracer: what it refuses, what it forgets, and that the program computes what was traced."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import ARITY, programs, rows
from tracing import INPUTS, operations, run, traced

from dqdyn.algebra.scalar import less, select, sin
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import Condition, Graph, Traced, trace


def test_signed_zeros_and_nan_are_constants_of_their_own() -> None:
    graph = Graph()
    minus, plus, nan = graph.constant(-0.0), graph.constant(0.0), graph.constant(math.nan)
    assert len({minus, plus, nan}) == 3
    assert (graph.constant(-0.0), graph.constant(0.0), graph.constant(math.nan)) == (minus, plus, nan)
    one = graph.constant(1.0)
    assert graph.constant(math.nextafter(1.0, 2.0)) != one


def test_dead_code_and_unused_inputs_go() -> None:
    program = traced(lambda a, b, c: (a * b * c + sin(a), a + b)[1])
    assert operations(program) == ["add"]
    assert program.inputs == (("x", 2), ("y", 1))  # the signature stays
    assert len(program.instructions) == 3


def test_values_without_a_trace_cost_nothing() -> None:
    program = trace("f", INPUTS, lambda x, y: ([1.0, x[0], 2], (3,)))
    assert operations(program) == []
    assert run(program) == [1.0, 2.0, 2.0]


@pytest.mark.parametrize(
    "test", [bool, lambda t: not t, lambda t: t and 1, lambda t: 1 if t else 2, lambda t: max(t, t)]
)
def test_a_branch_raises(test: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        traced(lambda a, b, c: test(a))


def test_branch_on_a_condition_raises_and_names_select() -> None:
    with pytest.raises(TypeError, match="select"):
        traced(lambda a, b, c: a if less(a, b) else b)
    with pytest.raises(TypeError, match="select"):
        traced(lambda a, b, c: 1.0 if a else b)


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_comparisons_raise(compare: Callable[..., Any]) -> None:
    with pytest.raises(TypeError):
        traced(lambda a, b, c: compare(a, 0.0))


@pytest.mark.parametrize("compare", [operator.eq, operator.ne])
def test_equality_raises_instead_of_freezing_a_path(compare: Callable[..., Any]) -> None:
    for other in (0.0, 1, "a", None):
        with pytest.raises(TypeError, match="select"):
            traced(lambda a, b, c, other=other: a if compare(a, other) else b)
    with pytest.raises(TypeError, match="select"):
        traced(lambda a, b, c: 1.0 if compare(less(a, b), True) else b)


@pytest.mark.parametrize("f", [lambda a, b, c: less(a, b), lambda a, b, c: less(a, b) + 1.0])
def test_a_condition_is_no_number(f: Callable[..., Any]) -> None:
    with pytest.raises(TypeError):
        traced(f)
    with pytest.raises(TypeError):
        traced(lambda a, b, c: sin(less(a, b)))
    with pytest.raises(TypeError):
        traced(lambda a, b, c: select(less(a, b), less(a, c), b))


@pytest.mark.parametrize("other", ["1", None, [1.0], 1j, object()])
def test_what_is_no_number_is_refused(other: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        traced(lambda a, b, c: a + other)


def test_printing() -> None:
    graph = Graph()
    value = Traced(graph, graph.node("input", 0, 0))
    assert repr(value) == "Traced(%0)"
    assert repr(value * 2.0) == "Traced(%2)"
    assert isinstance(less(value, 1.0), Condition)


def test_numpy_leaves_its_scalars_to_the_tracer() -> None:
    program = traced(lambda a, b, c: np.float64(2.0) * a + np.float64(1.0) / b - np.float32(0.5))
    assert run(program) == [2.0 * 2.0 + 1.0 / -3.0 - 0.5]


@settings(settings.get_profile("compile"), max_examples=120)
@given(st.data())
def test_folded_programs_compute_the_same(data: Any) -> None:
    """A random program run on the tracer, against itself on floats: equal but for the sign of zeros."""
    program = data.draw(programs(("add", "sub", "mul", "neg", "sqrt", "sin", "cos", "select"), wild=False, longest=12))
    again = trace(program.name, program.inputs, lambda *x: (interpret(program, x), program.shape))
    check_form(again)
    assert again.counts.total <= program.counts.total
    for row in zip(*data.draw(rows(program, 5, wild=False)), strict=True):
        state = [list(map(float, part)) for part in row]
        expected, found = interpret(program, state), interpret(again, state)
        assert np.array_equal(found, expected, equal_nan=True) or overflows(program, state)


def overflows(program: Program, state: list[list[float]]) -> bool:
    """Infinity or NaN inside, where 0·x = 0 does not hold."""
    whole = Program("all", program.inputs, program.instructions, tuple(range(len(program.instructions))), ())
    return not np.isfinite(np.array(interpret(whole, state), dtype=float)).all()


def check_form(program: Program) -> None:
    """Operands come first, nothing is there twice, nothing is unused, nothing is left to fold."""
    seen = set()
    used = set(program.outputs)
    for i, (op, operands, constant) in enumerate(program.instructions):
        assert ARITY[op] == len(operands) or op == "input"
        key = (op, operands, repr(constant))
        assert key not in seen
        seen.add(key)
        if op in ("input", "const"):
            continue
        assert all(k < i for k in operands)
        used |= set(operands)
        known = [program.instructions[k][2] for k in operands if program.instructions[k][0] == "const"]
        if op != "select":
            assert len(known) < len(operands)
        if op in ("add", "mul"):
            assert 0.0 not in known
    assert used == set(range(len(program.instructions)))
