"""Sines of coordinates computed in vectors, in the code for one state: the same numbers, nothing read outside."""

from __future__ import annotations

import math

import numpy as np
import pytest
from compile_tools import FUSED, WIDTHS, scalar_code
from guarded import Guarded

from dqdyn.compile.codegen.sincos import LARGEST
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.angles import angles, windows
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace

SIZE = 21


def turns(x: list, y: list) -> tuple[list, tuple[int]]:
    """Plain, half, shifted, scaled and shifted, shared and lonely arguments, and one that is no coordinate."""
    from dqdyn.algebra.scalar import cos, sin

    plain = [f(c) for c in x if c is not x[9] for f in (sin, cos)]
    shifted = [sin(0.5 * x[3]), cos(0.5 * x[3]), sin(x[4] + 0.25), cos(x[5] - 3.0), sin(2.0 * x[6] + 1.0)]
    return [*plain, *shifted, sin(y[1]), cos(x[0] * y[0])], (len(plain) + 7,)


def expected(x: np.ndarray, y: np.ndarray) -> list[float]:
    plain = [f(c) for i, c in enumerate(x) if i != 9 for f in (math.sin, math.cos)]
    shifted = [math.sin(x[3] / 2), math.cos(x[3] / 2), math.sin(x[4] + 0.25), math.cos(x[5] - 3.0)]
    return [*plain, *shifted, math.sin(2 * x[6] + 1.0), math.sin(y[1]), math.cos(x[0] * y[0])]


def program() -> Program:
    return trace("turns", [("x", SIZE), ("y", 2)], turns)


def test_arguments_are_recognised() -> None:
    found = angles(program())
    assert len(found) == SIZE - 1 + 4 + 1  # all but the product, which is no coordinate
    by_scale = {(a.argument, a.component, a.scale, a.offset) for a in found}
    assert {(0, 3, 0.5, -0.0), (0, 4, 1.0, 0.25), (0, 5, 1.0, -3.0), (0, 6, 2.0, 1.0), (1, 1, 1.0, -0.0)} <= by_scale
    for width in WIDTHS:
        taken = [angle.operand for window in windows(program(), width) for _, angle in window.lanes]
        assert len(taken) == len(set(taken)) <= len(found)
        assert all(0 <= lane < width for window in windows(program(), width) for lane, _ in window.lanes)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("fma", FUSED)
def test_same_numbers_and_nothing_read_outside(width: int, fma: bool) -> None:
    run = scalar_code(program(), fma, True, width)
    rng = np.random.default_rng(width)
    memory = [Guarded(1) for _ in range(3)]
    for scale, at_end in ((1.0, True), (1e3, False), (1e9, True)):
        shapes = [(1, SIZE), (1, 2), (1, len(program().outputs))]
        x, y, out = (m.array(shape, at_end) for m, shape in zip(memory, shapes, strict=True))
        x[...], y[...] = rng.normal(size=x.shape) * scale, rng.normal(size=y.shape)
        assert run([x, y], out) == 0
        np.testing.assert_allclose(out[0], expected(x[0], y[0]), rtol=0, atol=5e-16)


@pytest.mark.parametrize("width", WIDTHS)
def test_flag_comes_from_lanes_in_use_only(width: int) -> None:
    run = scalar_code(program(), FUSED[0], False, width)
    out = np.empty((1, len(program().outputs)))
    y = np.zeros((1, 2))
    for component in range(SIZE):
        x = np.zeros((1, SIZE))
        x[0, component] = 2.5 * LARGEST
        assert run([x, y], out) == (component != 9), component  # the ninth is in no sine


def test_function_takes_huge_arguments_to_the_interpreter() -> None:
    f = Function(program()).fast
    x, y = np.linspace(-3, 3, SIZE), np.array([0.5, 0.25])
    x[17] = 1e18
    np.testing.assert_allclose(f(x, y), expected(x, y), rtol=0, atol=5e-16)
