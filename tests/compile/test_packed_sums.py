"""Results in a row with the same formula are computed in vectors: the same bits without contraction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compile_tools import FUSED, WIDTHS, assert_same_bits, scalar_code
from guarded import Guarded

import dqdyn as dq
from dqdyn.compile.codegen.packed_sums import pack_sums
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace


def products(rows: int, columns: int) -> Program:
    """A matrix of sums of six products with signs, some entries with a term less, and one that is used elsewhere."""

    def entries(x: list, y: list) -> tuple[list, tuple[int, int]]:
        result: list[Any] = []
        for i in range(rows):
            a = [x[6 * i + c] + 0.5 for c in range(6)]
            for j in range(columns):
                b = [y[6 * j + c] for c in range(6)]
                if j == 1:
                    b[2] = 0.0  # folds away, so that this entry has another shape
                if j % 3 == 2:
                    b[4] = -b[4]
                result.append((a[0] * b[0] + a[1] * b[1] - a[2] * b[2]) - (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]))
        result[-1] = result[-1] + result[0]
        return result, (rows, columns)

    return trace("products", [("x", 6 * rows), ("y", 6 * columns)], entries)


@pytest.mark.parametrize("width", WIDTHS)
def test_neighbours_with_one_shape_are_found(width: int) -> None:
    packing = pack_sums(products(9, 19), width)
    assert len(packing.outputs) >= 9 * 19 // 2
    assert {1, 0, 9 * 19 - 1}.isdisjoint(packing.outputs)  # another shape, used elsewhere, and not a sum of products
    for group in packing.groups:
        assert len(group.lanes) >= 2
        assert group.start % 19 + max(group.lanes) < 19  # within its row


def test_few_results_are_left_alone() -> None:
    assert not pack_sums(products(1, 2), 8).groups


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("shape", [(9, 19), (5, 16), (40, 8)])
def test_same_bits_and_nothing_written_outside(width: int, shape: tuple[int, int]) -> None:
    program = products(*shape)
    rng = np.random.default_rng(3)
    memory = [Guarded(1) for _ in range(3)]
    for at_end in (True, False):
        sizes = (6 * shape[0], 6 * shape[1], shape[0] * shape[1])
        x, y, out = (m.array((1, size), at_end) for m, size in zip(memory, sizes, strict=True))
        x[...], y[...] = rng.normal(size=x.shape), rng.normal(size=y.shape)
        for fma in FUSED:
            out[...] = np.nan
            assert scalar_code(program, fma, False, width)([x, y], out) == 0
            assert_same_bits(out[0], interpret(program, [list(x[0]), list(y[0])]))


@pytest.mark.parametrize("width", WIDTHS)
def test_not_finite_stays_where_it_belongs(width: int) -> None:
    program = products(9, 19)
    x, y = np.ones((1, 54)), np.ones((1, 114))
    y[0, 4] = np.nan
    out = np.empty((1, 9 * 19))
    scalar_code(program, FUSED[0], False, width)([x, y], out)
    with np.errstate(all="ignore"):
        assert_same_bits(out[0], interpret(program, [list(x[0]), list(y[0])]))


def test_mass_matrix_of_a_long_chain() -> None:
    robot = dq.robots.chain(40)
    program = robot.program("mass_matrix")
    q = robot.random_configuration(np.random.default_rng(1))
    expected = np.reshape(interpret(program, [list(q)]), program.shape)
    found = robot.mass_matrix(q)
    assert np.abs(found - expected).max() <= 1e-13 * np.abs(expected).max()


def symmetric(size: int) -> Program:
    """W D Wᵀ for a unit triangular W: terms that are no products, signs that all have, and results that stand twice."""

    def entries(x: list, d: list) -> tuple[list, tuple[int, int]]:
        w = [[-x[size * i + k] for k in range(i)] + [1.0] for i in range(size)]
        scaled = [[a * d[k] for k, a in enumerate(row)] for row in w]
        result: list[Any] = [0.0] * size**2
        for i in range(size):
            for j in range(i, size):
                entry = scaled[j][i]
                for k in range(i):
                    entry = entry + w[i][k] * scaled[j][k] if (i + k) % 3 else w[i][k] * scaled[j][k] + entry
                result[size * i + j] = result[size * j + i] = entry
        return result, (size, size)

    return trace("symmetric", [("x", size * size), ("d", size)], entries)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("size", [9, 14])
def test_symmetric_results_with_single_terms(width: int, size: int) -> None:
    program = symmetric(size)
    packing = pack_sums(program, width)
    if width > 1 and size == 14:
        assert len(packing.groups) > 10
        assert packing.copies(program)
    rng = np.random.default_rng(4)
    x, d, out = rng.normal(size=(1, size * size)), rng.normal(size=(1, size)), np.full((1, size * size), np.nan)
    for fma in FUSED:
        assert scalar_code(program, fma, False, width)([x, d], out) == 0
        assert_same_bits(out[0], interpret(program, [list(x[0]), list(d[0])]))


@pytest.mark.parametrize("width", WIDTHS)
def test_a_term_alone_beside_a_product_with_it(width: int) -> None:
    """The term is no factor that the neighbours have in common."""

    def entries(x: list, y: list) -> tuple[list, tuple[int, int]]:
        result = []
        for i in range(6):
            s, a = x[i] + 1.0, [x[i + c] * 2.0 for c in range(4)]
            for j in range(8):
                products = [a[c] * y[4 * j + c] for c in range(4)]
                result.append((products[0] + products[1]) + (products[2] + products[3]) + (s * y[j] if j % 2 else s))
        return result, (6, 8)

    program = trace("mixed", [("x", 10), ("y", 32)], entries)
    assert width == 2 or pack_sums(program, width).groups
    rng = np.random.default_rng(5)
    x, y, out = rng.normal(size=(1, 10)), rng.normal(size=(1, 32)), np.full((1, 48), np.nan)
    assert scalar_code(program, FUSED[0], False, width)([x, y], out) == 0
    assert_same_bits(out[0], interpret(program, [list(x[0]), list(y[0])]))
