"""What the tracer folds, what it leaves, and what it shares."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tracing import constants, operations, run, traced

from dqdyn.algebra.scalar import atan2, cos, divide, less, select, sin, sqrt


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b, c: a + 0.0,
        lambda a, b, c: 0.0 + a,
        lambda a, b, c: a + -0.0,
        lambda a, b, c: a - 0.0,
        lambda a, b, c: a * 1.0,
        lambda a, b, c: 1 * a,
        lambda a, b, c: operator.neg(-a),
        lambda a, b, c: a * -1.0 * -1.0,
        lambda a, b, c: divide(a, 1.0),
        lambda a, b, c: a / -1 / -1,
        lambda a, b, c: a + b * 0.0,
        lambda a, b, c: select(less(a, b), a, a),
        lambda a, b, c: select(less(1.0, 2.0), a, b),
        lambda a, b, c: select(less(2.0, 1.0), b, a),
        lambda a, b, c: select(less(math.nan, 1.0), b, a),
        lambda a, b, c: np.float64(1.0) * a,
        lambda a, b, c: (a + c * 0) * np.int64(1),
    ],
)
def test_folds_to_the_input_itself(f: Callable[..., Any]) -> None:
    program = traced(f)
    assert program.instructions == (("input", (0, 0), 0.0),)
    assert program.outputs == (0,)


@pytest.mark.parametrize(
    ("f", "value"),
    [
        (lambda a, b, c: a * 0.0, 0.0),
        (lambda a, b, c: -0.0 * a, 0.0),
        (lambda a, b, c: divide(0.0, a), 0.0),
        (lambda a, b, c: a * 0 + 2 * 3.5 - 1, 6.0),
        (lambda a, b, c: sin(a * 0.0), 0.0),
        (lambda a, b, c: cos(a * 0.0), 1.0),
        (lambda a, b, c: sqrt(a * 0.0 + 2.25), 1.5),
        (lambda a, b, c: sqrt(a * 0.0 - 1.0), math.nan),
        (lambda a, b, c: sin(a * 0.0 + math.inf), math.nan),
        (lambda a, b, c: atan2(a * 0.0 + 1.0, 0.0), math.pi / 2),
        (lambda a, b, c: divide(a * 0.0 + 1.0, 0.0), math.inf),
        (lambda a, b, c: divide(a * 0.0, a * 0.0), math.nan),
        (lambda a, b, c: select(less(a * 0.0, 1.0), 4.0, a), 4.0),
        (lambda a, b, c: -(a * 0.0), -0.0),
        (lambda a, b, c: 7, 7.0),
        (lambda a, b, c: True, 1.0),
    ],
)
def test_folds_to_a_constant(f: Callable[..., Any], value: float) -> None:
    program = traced(f)
    assert operations(program) == []
    (found,) = constants(program)
    assert repr(found) == repr(value)  # tells −0.0 from 0.0, and NaN is NaN


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda a, b, c: a * -1.0, ["neg"]),
        (lambda a, b, c: divide(a, -1.0), ["neg"]),
        (lambda a, b, c: 0.0 - a, ["neg"]),
        (lambda a, b, c: a + -b, ["sub"]),
        (lambda a, b, c: -a + b, ["sub"]),
        (lambda a, b, c: a - -b, ["add"]),
        (lambda a, b, c: -a - b, ["add", "neg"]),
        (lambda a, b, c: -a * b, ["mul", "neg"]),
        (lambda a, b, c: -a * -b, ["mul"]),
        (lambda a, b, c: divide(-a, -b), ["div"]),
        (lambda a, b, c: a * -2.0, ["mul", "neg"]),
        (lambda a, b, c: c - a * -2.0, ["mul", "add"]),
        (lambda a, b, c: sin(-a), ["sin", "neg"]),
        (lambda a, b, c: cos(-a), ["cos"]),
        (lambda a, b, c: sqrt(-a), ["neg", "sqrt"]),
        (lambda a, b, c: atan2(-a, b), ["neg", "atan2"]),
        (lambda a, b, c: divide(a, 0.0), ["div"]),
        (lambda a, b, c: divide(0.0, 0.0) * a, ["mul"]),
        (lambda a, b, c: a * math.nan, ["mul"]),
        (lambda a, b, c: a + math.nan, ["add"]),
        (lambda a, b, c: a * math.inf, ["mul"]),
        (lambda a, b, c: a - a, ["sub"]),
    ],
)
def test_operations_left(f: Callable[..., Any], expected: list[str]) -> None:
    program = traced(f)
    assert operations(program) == expected
    found, direct = run(program)[0], f(2.0, -3.0, 0.7)
    assert found == pytest.approx(direct, nan_ok=True)


@pytest.mark.parametrize(
    ("f", "g", "count"),
    [
        (lambda a, b, c: a + b, lambda a, b, c: b + a, 1),
        (lambda a, b, c: a * b, lambda a, b, c: b * a, 1),
        (lambda a, b, c: a * 3.0, lambda a, b, c: 3.0 * a, 1),
        (lambda a, b, c: a - b, lambda a, b, c: b - a, 2),  # the second is the negation of the first
        (lambda a, b, c: a - b, lambda a, b, c: a - b, 1),
        (lambda a, b, c: divide(a, b), lambda a, b, c: divide(b, a), 2),
        (lambda a, b, c: a * 3.0, lambda a, b, c: a * -3.0, 2),  # one product and a negation
        (lambda a, b, c: sin(a) * cos(b), lambda a, b, c: cos(b) * sin(a), 3),
        (lambda a, b, c: sin(a), lambda a, b, c: sin(-a), 2),
        (lambda a, b, c: select(less(a, b), a, b), lambda a, b, c: select(less(a, b), a, b), 2),
        (lambda a, b, c: (a + b) * (a + b), lambda a, b, c: (b + a) * c, 3),
        (lambda a, b, c: atan2(a, b), lambda a, b, c: atan2(b, a), 2),
    ],
)
def test_equal_expressions_are_one_instruction(f: Callable[..., Any], g: Callable[..., Any], count: int) -> None:
    program = traced(f, g)
    assert len(operations(program)) == count
    assert run(program) == pytest.approx([f(2.0, -3.0, 0.7), g(2.0, -3.0, 0.7)])
