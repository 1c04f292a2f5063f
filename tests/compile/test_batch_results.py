"""Batches of many results: every way to write them gives the numbers of one state, and touches nothing else."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from compile_tools import WIDTHS, assert_same_bits, batch_code, parts_code, program_of

from dqdyn.compile.codegen import (
    direct_writes,
    kernels,
    long_batches,
    pipelined,
    register_order,
    result_columns,
    row_chunks,
    row_stream,
)
from dqdyn.compile.codegen.kernels import batch_kernel
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Instruction, Program

INPUTS = 11
ROWS = (*range(1, 18), 24, 33)
UNTOUCHED = 123.0


def made(seed: int, length: int, results: int) -> Program:
    """A program of exact operations; constants and inputs are among its results, and some appear more than once."""
    rng = np.random.default_rng(seed)
    instructions: list[Instruction] = [("input", (0, k), 0.0) for k in range(INPUTS)]
    instructions += [("const", (), value) for value in (0.0, 1.0, -0.0, 2.5)]
    while len(instructions) < length:
        op = str(rng.choice(["add", "sub", "mul", "neg"]))
        some = rng.integers(max(0, len(instructions) - 60), len(instructions), size=1 if op == "neg" else 2)
        instructions.append((op, tuple(map(int, some)), 0.0))
    zeros = rng.random(results) < 0.4
    picked = np.where(zeros, INPUTS + rng.integers(0, 4, results), rng.integers(0, length, results))
    picked[3 * results // 5 : 4 * results // 5] = INPUTS  # a stretch of zeros
    return program_of(instructions, [int(k) for k in picked], [INPUTS])


def assert_written(
    program: Program,
    width: int,
    counts: Sequence[int] = ROWS,
    shifts: Sequence[int] = (0, 2, 5),
    whole_vectors: bool = False,
) -> None:
    kernel = batch_code(program, width, False, contract=False, whole_vectors=whole_vectors)
    x = np.random.default_rng(0).uniform(-1.5, 1.5, size=(max(counts), INPUTS))
    expected = np.array([interpret(program, [list(map(float, row))]) for row in x])
    size = len(program.outputs)
    for count in counts:
        for shift in shifts:
            memory = np.full(8 + shift + count * size + 8, UNTOUCHED)
            out = memory[8 + shift : 8 + shift + count * size].reshape(count, size)
            assert kernel([x[:count]], out) == 0
            assert_same_bits(out, expected[:count])
            assert (memory[: 8 + shift] == UNTOUCHED).all()
            assert (memory[-8:] == UNTOUCHED).all()


def of_all_kinds(length: int, results: int) -> Program:
    """A program with conditions, and with sines and cosines far from each other."""
    program = made(11, length, results)
    instructions = list(program.instructions)
    for i in range(60, length - 100, 9):
        a, b = i - 20, i - 33
        instructions[i] = ("less", (a, b), 0.0) if i % 2 else ("sin" if i % 4 else "cos", (a % INPUTS,), 0.0)
        if i % 2:
            instructions[i + 4] = ("select", (i, a, b), 0.0)
    conditions = {i for i, (op, _, _) in enumerate(instructions) if op == "less"}
    for i, (op, operands, _) in enumerate(instructions):  # numbers where the program had conditions since
        kept = 1 if op == "select" else 0
        some = tuple(k - 1 if n >= kept and k in conditions else k for n, k in enumerate(operands))
        instructions[i] = (op, some, instructions[i][2])
    outputs = tuple(k - 1 if k in conditions else k for k in program.outputs)
    return replace(program, instructions=tuple(instructions), outputs=outputs)


def assert_close(program: Program, offsets: Iterable[int], whole_vectors: bool = False) -> None:
    """Batches into arrays at some places in a line of the caches have the numbers of single states."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(24, INPUTS))
    expected = np.array([interpret(program, [list(map(float, row))]) for row in x])
    for width in WIDTHS:
        kernel = batch_code(program, width, False, contract=False, whole_vectors=whole_vectors)
        for offset in offsets:
            out = placed((24, len(program.outputs)), offset)
            assert kernel([x], out) == 0
            np.testing.assert_allclose(out, expected, rtol=1e-9, atol=1e-9)


def placed(shape: tuple[int, ...], offset: int) -> np.ndarray:
    """An array that starts so many numbers behind a line of the caches."""
    memory = np.full(int(np.prod(shape)) + 16, UNTOUCHED)
    start = -(memory.ctypes.data // 8) % 8 + offset
    return memory[start : start + int(np.prod(shape))].reshape(shape)


def assert_parts(program: Program, parts: tuple[tuple[int, ...], ...], whole_vectors: bool = False) -> None:
    """For arrays at any two places in a line, with gaps between rows, and nothing beside them is touched."""
    x = np.random.default_rng(0).uniform(-1.5, 1.5, size=(33, INPUTS))
    expected = np.array([interpret(program, [list(map(float, row))]) for row in x])
    sizes = [int(np.prod(part)) for part in parts]
    for width in WIDTHS:
        kernel = parts_code(program, width, parts, whole_vectors)
        for first, other in itertools.product((0, 2, 4, 5, 6), (0, 2, 4, 6)):
            for count, gap in ((1, 0), (16, 0), (33, 0), (16, 8), (19, 3), (16, 4)):
                outs, around = [], []
                for size, shift in zip(sizes, (first, other, other), strict=False):
                    memory = np.full(16 + count * (size + gap) + 16, UNTOUCHED)
                    start = 8 - memory.ctypes.data // 8 % 8 + shift  # numbers from there to a line, and on
                    rows = memory[start : start + count * (size + gap)].reshape(count, size + gap)
                    outs.append(rows[:, :size])
                    around.append((memory, rows))
                assert kernel(x[:count], outs) == 0
                assert_same_bits(np.concatenate(outs, axis=1), expected[:count])
                for (memory, _), out in zip(around, outs, strict=True):
                    out[...] = UNTOUCHED
                    assert (memory == UNTOUCHED).all()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("results", [24, 28, 41, 42, 100])
def test_a_block_is_written_while_the_next_one_is_computed(results: int, width: int) -> None:
    program = made(results, 250, results)
    assert pipelined.is_pipelined(program, is_long=False)
    assert "_rest(" in batch_kernel(program, width, False, False)
    assert_written(program, width, shifts=range(8))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("results", [7, 8, 9, 10, 36, 41, 50])
def test_results_of_a_short_program_are_written_from_registers(
    results: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipelined, "_MOST", -1)
    program = made(results, 120, results)
    text = batch_kernel(program, width, False, False)
    assert "_rest(" not in text
    assert ("@batch_behind_block" in text) == row_chunks.has_alignments(results, width, 1)
    assert_written(program, width, shifts=range(8))


def test_results_are_written_from_registers_where_fewer_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    instructions: list[Instruction] = [("input", (0, k), 0.0) for k in range(INPUTS)]
    instructions += [("mul", (k % INPUTS, (k + 1) % INPUTS), 0.0) for k in range(40)]
    program = program_of(instructions, list(range(INPUTS, INPUTS + 40)), [INPUTS])
    assert "_rest(" in batch_kernel(program, 8, False, False)
    monkeypatch.setattr(direct_writes, "_SHORTEST", 40)
    assert "_rest(" not in batch_kernel(program, 8, False, False)
    assert_written(program, WIDTHS[-1])


def test_short_programs_of_which_few_values_wait_are_written_from_registers_where_stores_take_longest() -> None:
    instructions: list[Instruction] = [("input", (0, k), 0.0) for k in range(INPUTS)]
    instructions += [("mul", (k % INPUTS, (k + 1) % INPUTS), 0.0) for k in range(40)]
    few = program_of(instructions, list(range(INPUTS, INPUTS + 40)), [INPUTS])
    for whole_vectors in (False, True):
        text = batch_kernel(few, 8, False, False, whole_vectors=whole_vectors)
        assert ("_rest(" in text) != whole_vectors
        many = batch_kernel(made(1, 250, 100), 8, False, False, whole_vectors=whole_vectors)
        assert "_rest(" in many  # in any order, most of its results wait for the one that is computed last


@pytest.mark.parametrize("results", [5, 20])
def test_results_may_be_inputs_and_constants_alone(results: int) -> None:
    program = made(results, INPUTS + 4, results)
    assert "_rest(" not in batch_kernel(program, 8, False, False)
    assert_written(program, WIDTHS[-1])
    instructions: list[Instruction] = [*(("input", (0, k), 0.0) for k in range(INPUTS)), ("const", (), 2.5)]
    assert_written(program_of(instructions, [INPUTS] * results, [INPUTS]), WIDTHS[-1])


@pytest.mark.parametrize("width", [2, 4, 8])
@pytest.mark.parametrize("is_behind", [None, True, False])
def test_chunks_cover_a_row_once_and_start_at_boundaries(width: int, is_behind: bool | None) -> None:
    for size in range(1, 60):
        found = row_chunks.chunks(size, width, is_behind)
        for parity in (0, 1):
            mine = [chunk for chunk in found if chunk.parity in (None, parity)]
            assert [c for chunk in mine for c in range(chunk.start, chunk.end)] == list(range(size))
            if is_behind is not None and row_chunks.has_alignments(size, width, 1):
                before = 2 * is_behind + parity * size  # numbers from a boundary to the row
                step = row_chunks.boundary(size, width)
                assert step == (8 if width == 8 and size % 4 == 0 else 4)
                assert all((before + chunk.start) % step == 0 for chunk in mine[1:])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("results", [3, 17, 100])
def test_results_of_a_long_program_are_written_by_a_loop(
    results: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "_LONG", 100)
    monkeypatch.setattr(kernels, "_SEGMENT", 60)
    monkeypatch.setattr(pipelined, "_MOST", 0)
    monkeypatch.setattr(result_columns, "_SPARSE", 1.0)
    program = made(results, 300, results)
    assert "_columns0" in batch_kernel(program, width, False, False)
    assert_written(program, width)


@pytest.mark.parametrize("is_large", [True, False])
def test_many_results_are_written_by_a_loop_though_most_are_constant(
    is_large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "_LONG", 100)
    monkeypatch.setattr(kernels, "_SEGMENT", 60)
    monkeypatch.setattr(pipelined, "_MOST", 0)
    monkeypatch.setattr(result_columns, "_SPARSE", 0.0)
    monkeypatch.setattr(result_columns, "_CACHED", 0 if is_large else 1 << 30)
    monkeypatch.setattr(row_stream, "_FEWEST", 64)
    program = made(6, 300, 92)
    assert "_columns0" not in batch_kernel(program, 8, False, False)
    monkeypatch.setattr(long_batches, "_MANY_RESULTS", 92)
    assert "_columns0" in batch_kernel(program, 8, False, False)
    for width in WIDTHS:
        assert_written(program, width, (1, 7, 8, 33), shifts=range(8))


@pytest.mark.parametrize("is_sparse", [True, False])
def test_neither_zeros_nor_large_batches_change_what_is_written(
    is_sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "_LONG", 100)
    monkeypatch.setattr(kernels, "_SEGMENT", 60)
    monkeypatch.setattr(pipelined, "_MOST", 0)
    monkeypatch.setattr(result_columns, "_SPARSE", 0.0 if is_sparse else 1.0)
    monkeypatch.setattr(result_columns, "_CACHED", 8 * 90 * 10)  # ten rows
    assert_written(made(5, 300, 90), WIDTHS[-1], (1, 9, 17, 33))


def test_an_order_for_registers_uses_only_what_is_there() -> None:
    for seed in range(5):
        program = made(seed, 300, 50)
        members = [i for i, (op, _, _) in enumerate(program.instructions) if op not in ("input", "const")]
        for key in register_order._KEYS:
            order = register_order._ordered(program.instructions, members, key)
            assert sorted(order) == members
            turn = {i: n for n, i in enumerate(order)}
            assert all(turn.get(k, -1) < turn[i] for i in order for k in program.instructions[i][1])
        chosen = register_order.in_registers(program, members, 26)
        assert register_order.traffic(program, chosen, 26) <= register_order.traffic(program, members, 26)


def test_an_order_in_which_results_are_written_when_due_remains() -> None:
    """It is compared with results written as they are complete, not at the end."""
    instructions: list[Instruction] = [("input", (0, k), 0.0) for k in range(INPUTS)]
    products = range(INPUTS, INPUTS + 96)
    instructions += [("mul", (k % INPUTS, (3 * k + 1) % INPUTS), 0.0) for k in products]
    program = program_of(instructions, list(products), [INPUTS])
    chunks = [tuple(products[k : k + 8]) for k in range(0, 96, 8)]
    assert list(register_order.in_registers(program, products, 26, chunks)) == list(products)
    mixed = [tuple(products[k::12]) for k in range(12)]
    assert list(register_order.in_registers(program, products, 26, mixed)) != list(products)


def test_values_that_are_used_late_are_made_late() -> None:
    instructions: list[Instruction] = [("input", (0, k), 0.0) for k in range(INPUTS)]
    products = range(INPUTS, INPUTS + 100)
    instructions += [("mul", (k % INPUTS, (k + 1) % INPUTS), 0.0) for k in products]
    instructions += [("neg", (k,), 0.0) for k in products]
    outputs = [k + 100 for k in products]
    program = program_of(instructions, outputs, [INPUTS])
    members = range(INPUTS, len(instructions))
    order = register_order.in_registers(program, members, 26)
    turn = {i: n for n, i in enumerate(order)}
    assert all(turn[k + 100] == turn[k] + 1 for k in products)
