"""Any program in C: random ones bit for bit, and constants that C has no plain words for."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from c_compiler import call, library, needs_compiler
from compile_tools import assert_same_bits, program_of
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import EXACT, WILD, programs, reals_of, rows

from dqdyn.compile.export import c_body
from dqdyn.compile.export.c import to_c, to_c_file
from dqdyn.compile.export.c_body import literal
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program

pytestmark = needs_compiler
STATES = 4
# Each example is a file of several programs, since a run of the compiler costs more than a program.
few = settings(settings.get_profile("compile"), max_examples=12)
NAMES = ("q", "v", "out", "w", "t3", "k", "parts", "double", "sin", "class", "ß", "2", "f0", "")
CONSTANTS = (
    *WILD,
    -math.nan,
    math.ulp(0.0),
    2.2250738585072009e-308,
    np.finfo(float).max,
    -np.finfo(float).max,
    0.1,
    1 / 3,
    -math.pi,
    1e22,
    2.0**53 + 2,
    1e-5,
    123456.0,
)


def on_floats(program: Program, inputs: list[np.ndarray]) -> np.ndarray:
    states = [[[float(x) for x in a[row]] for a in inputs] for row in range(len(inputs[0]))]
    return np.array([interpret(program, state) for state in states])


def in_c(code: Any, name: str, program: Program, inputs: list[np.ndarray]) -> np.ndarray:
    return np.array([call(getattr(code, name), program, [a[row] for a in inputs]) for row in range(len(inputs[0]))])


def renamed(program: Program, names: list[str]) -> Program:
    """Inputs called by awkward names, perhaps all by the same one."""
    return replace(program, inputs=tuple((name, size) for name, (_, size) in zip(names, program.inputs, strict=False)))


@pytest.mark.parametrize("whole", [10**6, 6])
@few
@given(data=st.data())
def test_random_programs_bit_for_bit(data: Any, whole: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    made = {}
    for i in range(data.draw(st.integers(1, 10))):
        names = data.draw(st.lists(st.sampled_from(NAMES), min_size=3, max_size=3))
        made[f"f{i}"] = renamed(data.draw(programs(EXACT)), names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(c_body, "WHOLE", whole)
        patch.setattr(c_body, "PART", 4)
        source = to_c_file(made)
    code = library(tmp_path_factory.mktemp("c"), source, "-O2", "-ffp-contract=off")
    for name, program in made.items():
        inputs = data.draw(rows(program, STATES))
        assert_same_bits(in_c(code, name, program, inputs), on_floats(program, inputs))


@few
@given(data=st.data())
def test_functions_of_the_c_library_within_two_ulp(data: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    made = {}
    for i in range(data.draw(st.integers(1, 10))):
        inner = data.draw(programs(EXACT, longest=8))
        code = list(inner.instructions)
        arguments = data.draw(st.lists(st.sampled_from(reals_of(inner)), min_size=2, max_size=6))
        outputs = []
        for a, b in zip(arguments, [*arguments[1:], arguments[0]], strict=True):
            outputs += [len(code), len(code) + 1, len(code) + 2]
            code += [("sin", (a,), 0.0), ("cos", (a,), 0.0), ("atan2", (a, b), 0.0)]
        made[f"f{i}"] = replace(inner, instructions=tuple(code), outputs=tuple(outputs), shape=(len(outputs) // 3, 3))
    shared = library(tmp_path_factory.mktemp("c"), to_c_file(made), "-O2", "-ffp-contract=off")
    for name, program in made.items():
        inputs = data.draw(rows(program, STATES))
        found = in_c(shared, name, program, inputs).reshape(STATES, -1)
        expected = on_floats(program, inputs)
        assert np.array_equal(np.isnan(found), np.isnan(expected))
        there = ~np.isnan(found)
        assert np.all(np.abs(found - expected)[there] <= 2 * np.spacing(np.abs(expected[there])))


def test_constants_are_exact(tmp_path: Path) -> None:
    code = [("const", (), float(x)) for x in CONSTANTS] + [("input", (0, 0), 0.0)]
    last = len(CONSTANTS)
    sums = [("mul", (last, k), 0.0) for k in range(last)]
    program = program_of([*code, *sums], [*range(last), *range(last + 1, last + 1 + len(sums))], [1])
    shared = library(tmp_path, to_c(program, "f"), "-O2", "-ffp-contract=off")
    found = call(shared.f, program, [np.ones(1)])
    assert_same_bits(found, [*CONSTANTS, *CONSTANTS])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.5"),
        (-2.0, "(-2.0)"),
        (-0.0, "(-0.0)"),
        (0.1, "0x1.999999999999ap-4"),
        (math.inf, "(double)INFINITY"),
        (-math.inf, "(-(double)INFINITY)"),
        (math.nan, "(double)NAN"),
        (5e-324, "0x0.0000000000001p-1022"),
        (2.0**100, "0x1p+100"),
    ],
)
def test_literals(value: float, text: str) -> None:
    assert literal(value) == text


def test_constants_are_shown_in_decimal_too() -> None:
    program = program_of([("input", (0, 0), 0.0), ("const", (), 0.1), ("mul", (0, 1), 0.0)], [2], [1])
    assert "const double t2 = x0[0] * 0x1.999999999999ap-4; /* 0.1 */" in to_c(program)


def test_what_is_not_needed_is_not_there(tmp_path: Path) -> None:
    code = [("input", (0, 0), 0.0), ("input", (1, 0), 0.0), ("const", (), 3.0), ("mul", (0, 2), 0.0)]
    source = to_c(program_of(code, [1], [1, 1]), "f")
    assert "(void)x0;" in source
    assert "3.0" not in source
    library(tmp_path, source, "-O2")


def test_nothing_in_nothing_out(tmp_path: Path) -> None:
    program = program_of([], [], [0, 0], (6, 0))
    shared = library(tmp_path, to_c(program, "f"), "-O2")
    assert call(shared.f, program, [np.zeros(0), np.zeros(0)]).shape == (6, 0)
