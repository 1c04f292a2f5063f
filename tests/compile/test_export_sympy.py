"""Robots in SymPy: step by step and in full, as floats and as fractions."""

from __future__ import annotations

import math
import re
import sys
from typing import Any

import numpy as np
import pytest
from compile_tools import program_of
from export_cases import SMALL, STATES, Case, assert_same, case, matrix_shape, names_of, robot_named

import dqdyn as dq
from dqdyn.compile.export.sympy import Symbolic, to_sympy
from dqdyn.compile.trace.program import Program
from dqdyn.errors import install_command

sympy = pytest.importorskip("sympy")


def evaluated(one: Case, function: Any) -> np.ndarray:
    found = [function(*(a[k] for a in one.inputs)) for k in range(STATES)]
    return np.array(found, dtype=float).reshape(one.expected.shape)


@pytest.mark.parametrize("robot", SMALL)
def test_every_function_agrees_with_numpy(robot: str) -> None:
    for name in names_of(robot):
        one = case(robot, name)
        if robot == "two_link" or one.program.counts.total < 1000:  # SymPy is slow
            symbolic = to_sympy(one.program)
            assert symbolic.outputs.shape == matrix_shape(one.program)
            assert_same(evaluated(one, symbolic.lambdify()), one.expected, of=name)


def test_full_expressions_agree_with_numpy() -> None:
    for name in names_of("two_link"):
        one = case("two_link", name)
        if one.program.counts.total < 60:
            symbolic = to_sympy(one.program)
            assert symbolic.expression.free_symbols <= set(symbolic.arguments)
            columns = [list(symbols) for symbols in symbolic.inputs.values()]
            assert_same(evaluated(one, sympy.lambdify(columns, symbolic.expression, "numpy")), one.expected)


def test_steps_use_only_earlier_ones_and_grow_no_more_than_the_program() -> None:
    program = case("ball", "pose_jacobian_derivative").program
    symbolic = to_sympy(program)
    known = set(symbolic.arguments)
    for symbol, value in symbolic.replacements:
        assert value.free_symbols <= known
        assert symbol not in known
        known.add(symbol)
    assert symbolic.outputs.free_symbols <= known
    size = sum(value.count_ops() for _, value in symbolic.replacements) + sympy.count_ops(symbolic.outputs)
    assert size < 2 * len(program.instructions)


def test_exact_in_fractions() -> None:
    """With rational constants and inputs nothing is rounded: a half turn and the identity of unit quaternions hold."""
    robot = robot_named("two_link")
    symbolic = robot.export("sympy", "pose", frame="tool", constants="rational")
    assert not symbolic.expression.atoms(sympy.Float)
    norm = sum(x**2 for x in symbolic.expression[:4])
    assert sympy.simplify(norm) == 1
    at = dict(zip(symbolic.arguments, (sympy.pi / 2, -sympy.pi / 2), strict=True))
    assert sympy.simplify(symbolic.expression.subs(at)[0]) == 1


def test_closed_form_of_two_links() -> None:
    """The position of the tool of two links of 1 m that hang along x and turn about −y."""
    symbolic = robot_named("two_link").export("sympy", "point_on", frame="tool", constants="decimal")
    q0, q1 = symbolic.inputs["q"]
    at_origin = dict.fromkeys(symbolic.inputs["point"], 0)
    x, y, z = symbolic.simplified(lambda e: sympy.simplify(e.subs(at_origin)))
    assert sympy.simplify(x - sympy.cos(q0) - sympy.cos(q0 + q1)) == 0
    assert y == 0
    assert sympy.simplify(z - sympy.sin(q0) - sympy.sin(q0 + q1)) == 0


CONSTANT = program_of([("const", (), 0.1), ("input", (0, 0), 0.0), ("mul", (0, 1), 0.0)], [2], [1])


@pytest.mark.parametrize(
    ("constants", "expected"),
    [
        ("float", sympy.Float(0.1)),
        ("rational", sympy.Rational(3602879701896397, 36028797018963968)),
        ("decimal", sympy.Rational(1, 10)),
    ],
)
def test_kinds_of_constants(constants: str, expected: Any) -> None:
    symbolic = to_sympy(CONSTANT, constants)
    (x,) = symbolic.arguments
    assert symbolic.outputs[0] == expected * x


@pytest.mark.parametrize("constants", ["float", "rational", "decimal"])
@pytest.mark.parametrize("value", [5e-324, 1.7976931348623157e308, 0.1, 1 / 3, 2.5, -3.0, 0.0, 2.0**53 + 2])
def test_constants_keep_their_value(constants: str, value: float) -> None:
    symbolic = to_sympy(program_of([("const", (), value)], [0], [0]), constants)
    assert float(symbolic.outputs[0]) == value


def test_constants_that_are_no_numbers() -> None:
    program = program_of([("const", (), x) for x in (math.inf, -math.inf, math.nan)], range(3), [0])
    assert list(to_sympy(program).outputs) == [sympy.oo, -sympy.oo, sympy.nan]


def test_names_of_symbols_never_clash() -> None:
    """q[11] and q1[1] are different symbols, and so are inputs of the same name."""
    sizes = (("q", 12), ("q1", 12), ("x", 2), ("x", 2), ("q1", 1))
    instructions = [("input", (i, k), 0.0) for i, (_, size) in enumerate(sizes) for k in range(size)]
    program = Program("f", sizes, tuple(instructions), tuple(range(len(instructions))), (len(instructions),))
    symbolic = to_sympy(program)
    assert [s.name for s in symbolic.arguments[:2]] == ["q0", "q1"]
    assert symbolic.inputs["q1"][0].name == "q1_0"
    assert len(set(symbolic.arguments)) == len({s.name for s in symbolic.arguments}) == 29
    assert len(symbolic.inputs) == 5
    short = to_sympy(Program("f", (("q", 2), ("q1", 2)), (("input", (1, 0), 0.0),), (0,), (1,)))
    assert [s.name for s in short.arguments] == ["q0", "q1", "q1_0", "q1_1"]


def test_replacements_avoid_the_inputs() -> None:
    code = [("input", (0, 0), 0.0), ("sin", (0,), 0.0), ("mul", (1, 1), 0.0)]
    symbolic = to_sympy(Program("f", (("x", 1),), tuple(code), (2, 1), (2,)))
    ((symbol, value),) = symbolic.replacements
    assert symbol.name == "x1"
    assert value == sympy.sin(symbolic.arguments[0])


@pytest.mark.parametrize("constants", ["float", "rational", "decimal"])
@pytest.mark.parametrize("function", ["difference", "integrate", "mass_matrix", "configuration_rate"])
def test_source_reads_as_the_same(function: str, constants: str) -> None:
    symbolic = to_sympy(case("ball", function).program, constants)
    space: dict[str, Any] = {}
    exec(symbolic.source(), space)
    assert space["inputs"] == symbolic.inputs
    assert tuple(space["replacements"]) == symbolic.replacements
    assert space["outputs"] == symbolic.outputs


def test_source_says_what_it_is() -> None:
    text = robot_named("ball").export("sympy", "pose", frame="tool").source()
    assert f"# Generated by dqdyn {dq.__version__} for SymPy." in text
    assert "# pose of 'tree_33' for frame 'tool'" in text
    assert "unit quaternion (w, x, y, z)" in text


def test_unknown_kind_of_constants() -> None:
    with pytest.raises(dq.UnknownNameError, match="'float'"):
        robot_named("two_link").export("sympy", "center_of_mass", constants="floats")


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(dq.MissingExtraError, match=re.escape(install_command("sympy", "symbolic"))):
        robot_named("two_link").export("sympy", "center_of_mass")


def test_selection_of_symbols_and_numbers() -> None:
    code = [("input", (0, 0), 0.0), ("const", (), 0.0), ("const", (), 2.0), ("less", (0, 1), 0.0)]
    code += [("neg", (0,), 0.0), ("select", (3, 4, 0), 0.0), ("less", (1, 2), 0.0), ("select", (6, 2, 0), 0.0)]
    symbolic: Symbolic = to_sympy(program_of(code, [5, 7], [1]))
    (x,) = symbolic.arguments
    assert symbolic.outputs[1] == 2
    assert [symbolic.outputs[0].subs(x, value) for value in (-3, 4)] == [3, 4]
