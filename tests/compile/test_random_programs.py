"""Programs of every kind give the same numbers on floats, on NumPy, and in scalar and SIMD machine code."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from compile_tools import FUSED, MACHINE, WIDTHS, assert_same_bits, batch_code, program_of, scalar_code, ulps
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import ALL, EXACT, programs, reals_of, rows, with_bounds

from dqdyn.compile.codegen.sincos import LARGEST
from dqdyn.compile.runtime import compiler
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Instruction, Program

COUNT = 11  # rows: one full block and a ragged one at every width
few = settings(settings.get_profile("compile"), max_examples=25)


def on_floats(program: Program, inputs: list[np.ndarray]) -> np.ndarray:
    """Row by row, on Python floats."""
    states = [[[float(x) for x in a[row]] for a in inputs] for row in range(COUNT)]
    return np.array([interpret(program, state) for state in states])


def on_numpy(program: Program, inputs: list[np.ndarray]) -> np.ndarray:
    """All rows at once, one array per component."""
    with np.errstate(all="ignore"):
        results = interpret(program, [list(a.T) for a in inputs])
    return np.stack([np.broadcast_to(r, COUNT) for r in results], axis=1)


def on_machine(program: Program, inputs: list[np.ndarray], width: int, fma: bool, contract: bool) -> Any:
    """(results, how many blocks are to be redone)."""
    out = np.full((COUNT, len(program.outputs)), 123.0)
    one = width == 1  # with sines in vectors, as in the functions that users call
    kernel = scalar_code(program, fma, contract, MACHINE.width) if one else batch_code(program, width, fma, contract)
    return out, kernel(inputs, out)


@few
@given(st.data())
def test_correctly_rounded_operations_have_the_same_bits_everywhere(data: Any) -> None:
    program = data.draw(programs(EXACT))
    inputs = data.draw(rows(program, COUNT))
    expected = on_floats(program, inputs)
    assert_same_bits(on_numpy(program, inputs), expected)
    width, fma = data.draw(st.sampled_from([2, 4, 8])), data.draw(st.sampled_from(FUSED))
    for w in {1, min(width, MACHINE.width)}:
        found, redo = on_machine(program, inputs, w, fma, contract=False)
        assert redo == 0
        assert_same_bits(found, expected)


@few
@given(st.data())
def test_every_single_operation_is_right(data: Any) -> None:
    """With all values as outputs, each can be checked against its own operands: no error adds up."""
    program = data.draw(programs(ALL))
    reals = reals_of(program)
    shown = replace(program, outputs=tuple(reals), shape=(len(reals),))
    inputs = data.draw(rows(program, COUNT))
    width = data.draw(st.sampled_from((1, *WIDTHS)))
    found, redo = on_machine(shown, inputs, width, data.draw(st.sampled_from(FUSED)), contract=False)
    large = np.zeros(COUNT, dtype=bool)
    values: dict[int, Any] = dict(zip(reals, found.T, strict=True))
    for i, (op, operands, constant) in enumerate(program.instructions):
        a = [values[k] for k in operands] if op not in ("input", "const") else []
        if op in ("sin", "cos", "atan2"):
            _check_function(op, a, values[i], large)
            continue
        with np.errstate(all="ignore"):
            expected = (
                np.full(COUNT, constant)
                if op == "const"
                else inputs[operands[0]][:, operands[1]]
                if op == "input"
                else np.less(*a)
                if op == "less"
                else _apply(op, a)
            )
        if op == "less":
            values[i] = expected
        else:
            assert_same_bits(values[i], expected)
    assert redo == (large.sum() if width == 1 else large.any())  # one call per state, or one for all of them


def _apply(op: str, a: list[np.ndarray]) -> np.ndarray:
    one = program_of([*(("input", (0, k), 0.0) for k in range(len(a))), (op, tuple(range(len(a))), 0.0)], [len(a)], [3])
    if op == "select":
        return np.where(*a)
    return np.asarray(interpret(one, [a])[0])


def _check_function(op: str, a: list[np.ndarray], found: np.ndarray, large: np.ndarray) -> None:
    reference: Any = {"sin": math.sin, "cos": math.cos, "atan2": math.atan2}[op]
    usable = np.ones(COUNT, dtype=bool)
    if op != "atan2":
        large |= np.abs(a[0]) > LARGEST
        usable = ~(np.abs(a[0]) > LARGEST)
    for row in np.flatnonzero(usable):
        expected = reference(*(float(x[row]) for x in a))
        if math.isnan(expected):
            assert math.isnan(found[row])
        else:
            assert ulps(found[row : row + 1], np.array([expected])) <= 2.5  # the reference itself is off by up to half


@few
@given(st.data())
def test_contraction_stays_within_the_rounding_of_the_program(data: Any) -> None:
    program = data.draw(programs(ALL, wild=False))
    inputs = data.draw(rows(program, COUNT, wild=False))
    width = data.draw(st.sampled_from((1, *WIDTHS)))
    found, redo = on_machine(program, inputs, width, fma=MACHINE.fma, contract=True)
    for row in range(COUNT):
        for value, bounded in zip(found[row], with_bounds(program, [list(a[row]) for a in inputs]), strict=True):
            if math.isfinite(bounded.error) and not redo:
                assert abs(value - bounded.value) <= 2.0 * bounded.error


def test_bounds_are_tight_enough_to_find_a_fault() -> None:
    """A sum of 20 products: the bound is a few ulp of the largest term, so that a wrong digit would be seen."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=40)
    code = [("input", (0, k), 0.0) for k in range(40)]
    code += [("mul", (2 * k, 2 * k + 1), 0.0) for k in range(20)]
    code += [("add", (40, 41), 0.0)] + [("add", (59 + k, 41 + k), 0.0) for k in range(1, 19)]
    program = program_of(code, [len(code) - 1], [40])
    (result,) = with_bounds(program, [list(x)])
    assert 0.0 < result.error < 1e-13
    assert result.value == interpret(program, [list(x)])[0]


@pytest.mark.skipif(not MACHINE.fma, reason="this machine cannot fuse")
def test_contraction_fuses_and_its_absence_does_not() -> None:
    program = program_of(
        [*(("input", (0, k), 0.0) for k in range(3)), ("mul", (0, 1), 0.0), ("add", (3, 2), 0.0)], [4], [3]
    )
    x = np.array([[1.0 + 2.0**-30, 1.0 + 2.0**-30, -1.0]])
    plain, fused = 2.0**-29, 2.0**-29 + 2.0**-60
    for width in (1, *WIDTHS):
        for contract, expected in ((False, plain), (True, fused)):
            out = np.empty((1, 1))
            code = scalar_code(program, True, contract) if width == 1 else batch_code(program, width, True, contract)
            code([x], out)
            assert out[0, 0] == expected


@few
@given(st.data())
def test_functions_are_right_whatever_the_input(data: Any) -> None:
    """Through the whole path, flags and all: one state, a batch, and the interpreter agree to the last bits."""
    program = data.draw(programs(("sin", "cos", "atan2", "neg", "select"), longest=6))
    inputs = data.draw(rows(program, COUNT))
    # sin of a rounded sin and the like: each of at most six operations moves the result by few ulp of at most π.
    expected = Function(program, native=False)(*inputs, check=False)
    native = Function(program, contract=False)
    found = native(*inputs, check=False)
    assert_close_or_same(found, expected)
    for row in (0, COUNT - 1):
        assert_close_or_same(native.fast(*(a[row] for a in inputs)), expected[row])


def assert_close_or_same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    with np.errstate(invalid="ignore"):
        # atan2 jumps by 2π where its first argument changes sign, which a rounded sine of 2π does.
        apart = np.abs(found - expected)
        apart = np.minimum(apart, np.abs(apart - 2 * math.pi))
    same = (found == expected) | np.isnan(expected) | (apart <= 1e-13)
    assert same.all(), (found[~same], expected[~same])


def test_outputs_may_repeat_and_be_inputs_or_constants() -> None:
    code = [("input", (0, 0), 0.0), ("input", (0, 1), 0.0), ("const", (), -0.0), ("add", (0, 1), 0.0)]
    program = program_of(code, [2, 0, 3, 3, 1, 2, 0, 3, 2, 1], [2])
    inputs = [np.arange(2.0 * COUNT).reshape(COUNT, 2)]
    for width in (1, *WIDTHS):
        found, _ = on_machine(program, inputs, width, MACHINE.fma, True)
        assert_same_bits(found, on_floats(program, inputs))


def test_long_programs_cross_basic_blocks() -> None:
    code: list[Instruction] = [("input", (0, 0), 0.0), ("input", (0, 1), 0.0)]
    code += [(("add", "mul", "sub")[k % 3], (k, k + 1) if k % 7 else (0, k + 1), 0.0) for k in range(2500)]
    code += [("sin", (len(code) - 1,), 0.0), ("cos", (len(code) - 1,), 0.0)]
    last = len(code) - 3
    program = program_of(code, [last, 100, 1200], [2])
    rng = np.random.default_rng(0)
    inputs = [rng.uniform(-0.9, 0.9, (COUNT, 2))]
    expected = on_floats(program, inputs)
    for width in (1, MACHINE.width):
        found, _ = on_machine(program, inputs, width, MACHINE.fma, False)
        assert_same_bits(found, expected)


@pytest.mark.parametrize("width", [1, *WIDTHS])
def test_quick_compilation_of_huge_programs_computes_the_same(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    code: list[Instruction] = [("input", (0, k), 0.0) for k in range(5)]
    code += [(op, (k, k + 1), 0.0) for k, op in enumerate(("add", "mul", "sub", "div", "mul", "atan2", "add", "less"))]
    code += [("select", (12, 3, 11), 0.0), ("sin", (13,), 0.0), ("cos", (13,), 0.0), ("sqrt", (8,), 0.0)]
    program = program_of(code, [8, 11, 13, 14, 15, 16, 0], [5])
    inputs = [np.random.default_rng(0).normal(size=(COUNT, 5))]
    found, redo = on_machine(program, inputs, width, MACHINE.fma, contract=False)
    monkeypatch.setattr(compiler, "_QUICK", 0)
    again, redo_again = on_machine(program, inputs, width, MACHINE.fma, contract=False)
    assert (redo, redo_again) == (0, 0)
    assert_same_bits(again, found)
    np.testing.assert_allclose(found, on_floats(program, inputs), rtol=1e-14)


def test_interpreter_lets_go_of_what_it_has_used() -> None:
    """Batches of arrays would otherwise hold the memory of every step at once."""
    alive: list[int] = []

    class Held:
        """A scalar that knows how many of its kind there are."""

        count = 0

        def __init__(self) -> None:
            Held.count += 1

        def __del__(self) -> None:
            Held.count -= 1

        def __neg__(self) -> Held:
            alive.append(Held.count)
            return Held()

    code: list[Instruction] = [("input", (0, 0), 0.0)] + [("neg", (k,), 0.0) for k in range(50)]
    result = interpret(program_of(code, [50, 3], [1]), [[Held()]])
    assert len(result) == 2
    assert max(alive) <= 4
