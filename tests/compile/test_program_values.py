"""Programs as values: digest, equality, hash, print, pickle, counts, dead code."""

from __future__ import annotations

import math
import pickle
from dataclasses import FrozenInstanceError, replace

import pytest
from compile_tools import program_of
from random_programs import ARITY

from dqdyn.compile.trace.passes import without_dead_code
from dqdyn.compile.trace.program import Counts, Instruction, Program
from dqdyn.compile.trace.tracer import trace


def small(constant: float = 0.1) -> Program:
    code = [("input", (0, 1), 0.0), ("const", (), constant), ("mul", (0, 1), 0.0), ("input", (1, 0), 0.0)]
    return program_of([*code, ("sub", (2, 3), 0.0)], [4, 2], [2, 1])


def neighbours() -> list[Program]:
    """Programs that differ from ``small()`` in one thing each."""
    p = small()
    code = list(p.instructions)
    return [
        small(math.nextafter(0.1, 1.0)),
        small(-0.1),
        replace(p, outputs=(2, 4)),
        replace(p, outputs=(4,), shape=(1,)),
        replace(p, shape=(2, 1)),
        replace(p, shape=(1, 2)),
        replace(p, inputs=(("x0", 3), ("x1", 1))),
        replace(p, inputs=(("x0", 2), ("z", 1))),
        replace(p, instructions=(*code[:4], ("add", (2, 3), 0.0))),
        replace(p, instructions=(*code[:4], ("sub", (3, 2), 0.0))),
        replace(p, instructions=(("input", (0, 0), 0.0), *code[1:])),
    ]


@pytest.mark.parametrize("index", range(len(neighbours())))
def test_digest_and_equality_see_every_difference(index: int) -> None:
    other = neighbours()[index]
    assert other.digest != small().digest
    assert other != small()


def test_equal_programs_have_one_digest_and_hash() -> None:
    a, b = small(), small()
    assert a is not b
    assert a == b
    assert hash(a) == hash(b)
    assert a.digest == b.digest
    assert len({a, b, *neighbours()}) == 1 + len(neighbours())
    assert replace(a, name="other").digest == a.digest  # the code does not depend on the name
    assert replace(a, name="other") != a


@pytest.mark.parametrize("exponent", [-1074, -1022, -52, 0, 1, 1023])
def test_digest_changes_with_the_last_bit_of_any_constant(exponent: int) -> None:
    value = math.ldexp(1.0, exponent)
    assert small(value).digest != small(math.nextafter(value, math.inf)).digest


def test_digest_tells_signed_zeros_and_takes_nan() -> None:
    assert small(0.0).digest != small(-0.0).digest
    assert small(0.0) != small(-0.0)
    assert small(math.nan).digest == small(math.nan).digest
    assert small(math.nan) == small(float("nan"))
    assert hash(small(math.nan)) == hash(small(float("nan")))


def test_prints_one_line_per_instruction() -> None:
    assert str(small()) == (
        "program made(x0[2], x1[1])\n"
        "  %0 = x0[1]\n"
        "  %1 = const 0.1\n"
        "  %2 = mul %0 %1\n"
        "  %3 = x1[0]\n"
        "  %4 = sub %2 %3\n"
        "  return %4 %2 as (2,)"
    )


def test_pickles_and_is_frozen() -> None:
    p = small()
    p.digest, p.counts  # noqa: B018  what is cached does not get in the way
    assert pickle.loads(pickle.dumps(p)) == p
    with pytest.raises(FrozenInstanceError):
        p.name = "other"  # type: ignore[misc]


def test_counts() -> None:
    code: list[Instruction] = [*(("input", (0, k), 0.0) for k in range(3)), ("const", (), 2.0)]
    for op, arity in ARITY.items():
        if op not in ("const", "input", "select"):
            code.append((op, tuple(range(arity)), 0.0))
    less = next(i for i, (op, _, _) in enumerate(code) if op == "less")
    code.append(("select", (less, 0, 1), 0.0))
    counts = program_of(code, [0], [3]).counts
    assert counts == Counts(mul=1, add=2, div=1, sqrt=1, sincos=2, other=3)
    assert counts.total == 10
    assert str(counts) == "1 mul, 2 add, 1 div, 1 sqrt, 2 sincos, 3 other"
    assert str(Counts()) == "0 mul, 0 add"


def test_counts_of_a_trace() -> None:
    program = trace("f", [("x", 3)], lambda x: ([x[0] * x[1] + x[1] * x[2] - x[0] * x[1] * 1.0, -x[0]], (2,)))
    assert (program.counts.mul, program.counts.add, program.counts.total) == (2, 2, 4)


def test_dead_code_goes_and_order_stays() -> None:
    code = [("input", (0, 0), 0.0), ("const", (), 5.0), ("add", (0, 0), 0.0), ("mul", (0, 1), 0.0), ("neg", (3,), 0.0)]
    slim = without_dead_code(program_of(code, [4, 0], [1]))
    assert slim.instructions == (
        ("input", (0, 0), 0.0),
        ("const", (), 5.0),
        ("mul", (0, 1), 0.0),
        ("neg", (2,), 0.0),
    )
    assert slim.outputs == (3, 0)
    assert without_dead_code(slim) == slim


def test_a_program_may_be_empty() -> None:
    nothing = program_of([], [], [2], shape=(0,))
    assert nothing.counts == Counts()
    assert without_dead_code(nothing) == nothing
    assert len(nothing.digest) == 64
