"""Factors of packed sums that have a formula in common: computed in vectors, the same bits without contraction."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from compile_tools import FUSED, WIDTHS, assert_same_bits, scalar_code

from dqdyn.compile.codegen.packed_sums import pack_sums
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace

COLUMNS = 11
WIDE = [width for width in WIDTHS if width > 2]


def solved(size: int) -> Program:
    """W D Wᵀ B for a unit triangular W: its first row consists of factors of the others, and signs differ."""

    def entries(x: list, d: list, b: list) -> tuple[list, tuple[int, int]]:
        w = [[x[size * i + k] for k in range(i)] + [1.0] for i in range(size)]
        signed = [
            [-b[size * i + j] if (i + j) % 3 == 0 else b[size * i + j] * 2.0 for j in range(size)] for i in range(size)
        ]
        half = [
            [d[i] * sum((w[k][i] * signed[k][j] for k in range(i + 1, size)), signed[i][j]) for j in range(size)]
            for i in range(size)
        ]
        return [sum((w[i][k] * half[k][j] for k in range(i)), half[i][j]) for i in range(size) for j in range(size)], (
            size,
            size,
        )

    return trace("solved", [("x", size * size), ("d", size), ("b", size * size)], entries)


def layered(seed: int) -> Program:
    """Columns with the same formulas, layer by layer, but for exceptions; some layers need single entries of others."""
    rng = random.Random(seed)

    def entries(x: list, y: list) -> tuple[list, tuple[int, int]]:
        layers: list[list[Any]] = [[x[COLUMNS * k + j] for j in range(COLUMNS)] for k in range(3)]
        common: list[Any] = list(y)
        for _ in range(12):
            a, b, c = (rng.choice(layers) for _ in range(3))
            kind, s, t = rng.randrange(4), rng.choice(common), rng.choice(common)
            flipped = {j for j in range(COLUMNS) if rng.random() < 0.1}
            odd = rng.randrange(3 * COLUMNS)
            row = []
            for j in range(COLUMNS):
                formulas = (s * a[j] + t * b[j], a[j] * b[j] - s * c[j], (a[j] + b[j]) * c[j], s * (t * a[j] - b[j]))
                entry = formulas[kind] if j != odd else a[j] + 0.25
                row.append(-entry if j in flipped else entry)
            layers.append(row)
            if rng.random() < 0.4:  # what a later layer has in common is computed from this one, entry by entry
                common.append(row[rng.randrange(COLUMNS)] + row[rng.randrange(COLUMNS)] * s)
        rows = [[(rng.choice(common), rng.choice(layers)) for _ in range(rng.randint(3, 6))] for _ in range(8)]
        found = [
            sum((s * layer[j] for s, layer in row[1:]), row[0][0] * row[0][1][j])
            for row in rows
            for j in range(COLUMNS)
        ]
        return found, (8, COLUMNS)

    return trace("layered", [("x", 3 * COLUMNS), ("y", 4)], entries)


def check(program: Program, width: int, fma: bool, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    inputs = [rng.normal(size=(1, size)) for _, size in program.inputs]
    out = np.full((1, program.size), np.nan)
    assert scalar_code(program, fma, False, width)(inputs, out) == 0
    assert_same_bits(out[0], interpret(program, [list(x[0]) for x in inputs]))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("size", [7, 12])
def test_factors_in_vectors(width: int, size: int) -> None:
    program = solved(size)
    packing = pack_sums(program, width)
    if width > 2 and size == 12:
        assert len(packing.late) > 10
        assert any(program.outputs[k] in packing.computed for k in range(size))  # results that others need
        replaced = len(program.instructions) - len(packing.scalars)
        assert replaced > 0.8 * len(program.instructions)
    for fma in FUSED:
        check(program, width, fma)


@pytest.mark.parametrize("width", WIDE)
@pytest.mark.parametrize("seed", range(12))
def test_layers_of_columns(width: int, seed: int) -> None:
    check(layered(seed), width, FUSED[seed % len(FUSED)], seed)


@pytest.mark.parametrize("width", WIDE)
def test_groups_stand_between_what_they_need_and_what_needs_them(width: int) -> None:
    found = 0
    for seed in range(30):
        program = layered(seed)
        packing = pack_sums(program, width)
        found += len(packing.before)
        done: set[int] = set()
        for i in range(len(program.instructions)):
            for group in packing.before.get(i, ()):
                needed = {*group.common, *(packing.arrays[n][lane][0] for n in group.arrays for lane in group.lanes)}
                assert needed <= done
                done |= {k for k, _ in packing.arrays[group.start].values()}
            if i in packing.scalars:
                op, operands, _ = program.instructions[i]
                assert op == "input" or done.issuperset(operands)
                done.add(i)
        for group in packing.late:
            done |= {k for k, _ in packing.arrays[group.start].values()}
        assert packing.factors() <= done
    assert found > 10


@pytest.mark.parametrize("width", WIDE)
def test_not_finite_stays_in_its_column(width: int) -> None:
    program = solved(12)
    inputs = [np.full((1, size), 0.5) for _, size in program.inputs]
    inputs[2][0, 12 * 3 + 5] = np.nan
    out = np.empty((1, program.size))
    scalar_code(program, FUSED[0], False, width)(inputs, out)
    found = np.isnan(out.reshape(12, 12))
    assert found[:, 5].any()
    assert not np.delete(found, 5, axis=1).any()


@pytest.mark.parametrize("width", WIDE)
def test_long_sums(width: int) -> None:
    """Formulas that are longer than Python's stack are divided."""

    def entries(x: list, y: list) -> tuple[list, tuple[int, int]]:
        sums = [sum((x[k] * y[8 * (k % 50) + j] for k in range(1, 1500)), x[0] * y[j]) for j in range(8)]
        return [
            sum((x[3 * i + k] * sums[j] for k in range(1, 3)), x[i] * sums[j] * 0.5) for i in range(6) for j in range(8)
        ], (
            6,
            8,
        )

    check(trace("long", [("x", 1500), ("y", 400)], entries), width, FUSED[0])
