"""Batches of long programs: values that wait in registers or in memory, and results that go past the caches."""

from __future__ import annotations

import inspect
import re
from dataclasses import replace

import numpy as np
import pytest
from compile_tools import MACHINE, WIDTHS, assert_same_bits, batch_code, program_of
from test_batch_results import INPUTS, UNTOUCHED, assert_close, assert_parts, assert_written, made, of_all_kinds, placed

import dqdyn as dq
from dqdyn.compile.codegen import (
    direct_writes,
    hidden_writes,
    kernels,
    long_batches,
    pipelined,
    prefetch,
    result_columns,
    row_stream,
    rows,
)
from dqdyn.compile.codegen.emit import fused_products
from dqdyn.compile.codegen.hidden_writes import HiddenWrites
from dqdyn.compile.codegen.kernels import batch_kernel
from dqdyn.compile.codegen.register_plan import Operation, RegisterPlan, from_inputs, operations, register_plan
from dqdyn.compile.codegen.row_stream import RowStream
from dqdyn.compile.codegen.rows import RowLoop
from dqdyn.compile.codegen.stages import NEXT_MODULE
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.passes import negations_early
from dqdyn.compile.trace.program import Instruction, Program
from dqdyn.dynamics.fast.responses import _by_tiles

needs_lines = pytest.mark.skipif(MACHINE.width < 8, reason="vectors of this processor do not fill a line of its caches")


@pytest.fixture(autouse=True)
def _short_programs_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "_LONG", 100)
    monkeypatch.setattr(kernels, "_SEGMENT", 60)
    monkeypatch.setattr(pipelined, "_MOST", 0)
    monkeypatch.setattr(result_columns, "_SPARSE", 1.0)


def _members(program: Program) -> list[int]:
    return [i for i, (op, _, _) in enumerate(program.instructions) if op not in ("input", "const")]


def _results(program: Program) -> set[int]:
    return {k for k in program.outputs if program.instructions[k][0] != "const"}


def _planned(
    program: Program, registers: int, fused: dict[int, int] | None = None
) -> tuple[list[Operation], RegisterPlan]:
    order = operations(program, _members(program), fused or {})
    return order, register_plan(order, registers, dict.fromkeys(_results(program), len(order)))


def _executed(program: Program, order: list[Operation], plan: RegisterPlan) -> int:
    """Execute a plan, with names in place of numbers: the largest number of values that wait in registers."""
    waiting: list[int] = []
    from_register: set[int] = set()  # values that a later operation reads without a load
    for i, reads in reversed(order):
        from_register.discard(i)
        waiting.append(len(from_register))
        for k in reads:
            (from_register.discard if (i, k) in plan.reloads else from_register.add)(k)
    assert not from_register, "read from a register before it is made"
    memory = {plan.slot[k]: k for k in plan.slot if program.instructions[k][0] == "input"}
    for i, reads in order:
        assert all(memory[plan.slot[k]] == k for k in reads if (i, k) in plan.reloads)
        if i in plan.slot:
            memory[plan.slot[i]] = i
    assert all(memory[plan.slot[k]] == k for k in _results(program))
    return max(waiting)


@pytest.mark.parametrize("registers", [1, 4, 12, 26])
@pytest.mark.parametrize("is_fused", [True, False])
def test_a_plan_needs_no_more_registers_than_there_are(registers: int, is_fused: bool) -> None:
    for seed in range(12):
        program = made(seed, 400, 60)
        fused = fused_products(program, _members(program)) if is_fused else {}
        assert bool(fused) == is_fused
        order, plan = _planned(program, registers, fused)
        assert plan.slots <= len(plan.slot)
        assert _executed(program, order, plan) <= registers


def test_more_registers_need_fewer_loads() -> None:
    program = made(3, 600, 60)
    counts = [len(_planned(program, registers)[1].reloads) for registers in (2, 8, 26, 999)]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) == len(counts)
    inputs = {k for i in _members(program) for k in program.instructions[i][1] if program.instructions[k][0] == "input"}
    assert counts[-1] == len(inputs)


def test_slots_serve_again_after_results_are_written() -> None:
    program = made(4, 600, 60)
    order = operations(program, _members(program), {})
    made_at = {i: turn for turn, (i, _) in enumerate(order)}
    at_once = register_plan(order, 26, {k: made_at.get(k, 0) for k in _results(program)})
    at_the_end = register_plan(order, 26, dict.fromkeys(_results(program), len(order)))
    assert at_once.reloads == at_the_end.reloads
    assert at_once.slots < at_the_end.slots


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("registers", [1, 5, 26])
def test_any_number_of_registers_gives_the_same_numbers(
    registers: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "_OF_32", registers)
    monkeypatch.setattr(rows, "_OF_16", registers)
    assert_written(made(registers, 400, 70), width, (1, 7, 8, 33))


@needs_lines
@pytest.mark.parametrize("results", [68, 64, 65, 66, 67, 70, 72, 76, 88, 92, 101, 130])
def test_rows_past_the_caches_have_the_same_numbers(results: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_columns, "_CACHED", 0)
    monkeypatch.setattr(row_stream, "_FEWEST", 64)
    program = made(results, 300, results)
    assert ("!nontemporal" in batch_kernel(program, 8, False, False)) == (results % 4 == 0)
    assert_written(program, 8, (1, 7, 8, 9, 16, 23, 32), shifts=range(8))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("is_large", [True, False])
@pytest.mark.parametrize("results", [132, 128, 136, 141, 142, 200])
def test_rows_are_written_as_far_as_they_are_complete(
    results: int, is_large: bool, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_columns, "_CACHED", 0 if is_large else 1 << 30)
    monkeypatch.setattr(row_stream, "_FEWEST", 64)
    monkeypatch.setattr(long_batches, "_MANY_RESULTS", 0)
    monkeypatch.setattr(long_batches, "_FEWEST_CHUNKS", 2)
    mixed = made(results, 700, results)
    in_order = sorted(mixed.outputs)
    in_order[results // 2 : 3 * results // 4] = in_order[: 3 * results // 4 - results // 2]  # some once more
    program = replace(mixed, outputs=tuple(in_order))
    assert batch_kernel(program, width, False, False).count("i1 false)") >= 2  # portions before the last
    assert_written(program, width, (1, 8, 9, 16, 23), shifts=range(8))


@needs_lines
def test_only_results_larger_than_the_caches_go_past_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_stream, "_FEWEST", 64)
    program = made(2, 300, 96)
    assert RowStream.fits(8, 96, 96)
    assert not RowStream.fits(8, 40, 40)
    assert not RowStream.fits(8, 98, 98)
    assert not RowStream.fits(4, 96, 96)
    assert "fence" not in batch_kernel(made(2, 300, 40), 8, False, False)
    assert "fence" in batch_kernel(program, 8, False, False)
    # The limit is in bytes of all results: with that of two blocks, both ways are taken by one kernel.
    monkeypatch.setattr(result_columns, "_CACHED", 16 * 96 * 8)
    kernel = batch_code(program, 8, False, contract=False)
    x = np.random.default_rng(1).uniform(-1.5, 1.5, size=(24, INPUTS))
    expected = np.array([interpret(program, [list(map(float, row))]) for row in x])
    for count in (16, 17, 24):
        out = np.full((count, 96), UNTOUCHED)
        assert kernel([x[:count]], out) == 0
        assert_same_bits(out, expected[:count])


@needs_lines
@pytest.mark.long
@pytest.mark.parametrize("offset", [0, 1, 2, 4, 6])
def test_several_arrays_past_the_caches(offset: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three matrices in one array, whose rows are three times as far apart, and in arrays of their own."""
    monkeypatch.undo()
    monkeypatch.setenv("DQDYN_CACHE", "0")
    monkeypatch.setattr(result_columns, "_CACHED", 0)
    monkeypatch.setattr(row_stream, "_FEWEST", 64)
    for links in (8, 9, 10, 12):
        robot = dq.robots.chain(links)
        parts = [(links, links)] * 3
        assert "!nontemporal" in batch_kernel(robot.program("inverse_dynamics_derivatives"), 8, True, True, parts=parts)
        rng = np.random.default_rng(links)
        states = [rng.normal(size=(83, robot.nv)) for _ in range(3)]
        f = robot.function("inverse_dynamics_derivatives")
        one_by_one = np.array([f(*(x[k] for x in states)) for k in range(83)])
        memory = np.full(one_by_one.size + 16, UNTOUCHED)
        out = memory[offset : offset + one_by_one.size].reshape(one_by_one.shape)
        for threads in (1, 2):
            out[...] = UNTOUCHED
            f(*states, out=out, threads=threads)
            np.testing.assert_allclose(out, one_by_one, rtol=1e-10, atol=1e-10)
            assert (memory[:offset] == UNTOUCHED).all()
            assert (memory[offset + one_by_one.size :] == UNTOUCHED).all()
        for part, whole in zip(robot.inverse_dynamics_derivatives(*states), np.moveaxis(out, 1, 0), strict=True):
            assert_same_bits(part, whole)


@pytest.mark.parametrize("parts", [(), ((48,), (48,))])
def test_pieces_know_how_many_rows_there_are_in_all(parts: tuple[tuple[int, ...], ...]) -> None:
    """A piece of one block, which alone would fit into the caches, is written as the whole batch is."""
    text = batch_kernel(made(2, 300, 96), 8, False, False, parts=parts)
    assert "icmp ugt i64 %all, " in text
    assert "icmp ugt i64 %n, " not in text
    piece = text[text.index("@batch_piece(") :]
    words = 2 * (1 + len(parts)) if parts else 2 + 1  # pointers, and strides of the input and of several arrays
    loads = re.findall(r"(%t\d+) = getelementptr i64, ptr %arguments, i64 (\d+)", piece)
    assert [int(index) for _, index in loads] == list(range(words + 1))
    (all_rows,) = re.findall(rf"(%t\d+) = load i64, ptr {loads[-1][0]}, ", piece)
    assert f", i64 {all_rows})" in piece


@pytest.mark.parametrize("time_for_all", [1, 10])
def test_lines_of_results_are_requested_unless_they_go_past_the_caches(
    time_for_all: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prefetch, "_TIME_FOR_ALL", time_for_all)
    text = batch_kernel(made(2, 300, 96), 8, False, False)
    requests = re.findall(r"request\d+:\n((?:  %t\d+ = getelementptr .*\n  call void @llvm.prefetch.*\n)+)", text)
    lines = [line for part in requests for line in part.splitlines() if "prefetch" in line]
    assert len(lines) == 8 * 96 * 8 // 64 // (1 if time_for_all == 1 else 2)  # neighbours come by themselves
    assert all(line.endswith("i32 0, i32 2, i32 1)") for line in lines)  # a read, for the second level
    branches = re.findall(r"br i1 (%t\d+), label %on\d+, label %request\d+", text)
    assert len(branches) == len(requests)
    (beyond,) = set(branches)
    assert f"{beyond} = icmp ugt i64 %all, " in text


def test_long_programs_of_which_few_values_wait_are_written_from_registers(monkeypatch: pytest.MonkeyPatch) -> None:
    instructions: list[Instruction] = [("input", (0, k), 0.0) for k in range(INPUTS)]
    instructions += [("mul", (k % INPUTS, (k + 1) % INPUTS), 0.0) for k in range(150)]
    side_by_side = program_of(instructions, list(range(INPUTS, INPUTS + 150)), [INPUTS])
    monkeypatch.setattr(direct_writes, "_SHORTEST", 0)
    assert "_rows0" not in batch_kernel(side_by_side, 8, False, False)
    assert_written(side_by_side, WIDTHS[-1], (1, 9))
    assert "_rows0" in batch_kernel(made(1, 170, 100), 8, False, False)  # results that wait for each other
    monkeypatch.setattr(kernels, "_LONG", 70)
    assert "_rows0" in batch_kernel(side_by_side, 8, False, False)  # too long for one basic block


@pytest.fixture
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs of the tests take enough operations for each result to hide its store."""
    monkeypatch.setattr(hidden_writes, "_FEWEST", 1)
    monkeypatch.setattr(hidden_writes, "_HIDING", 1)
    monkeypatch.setattr(hidden_writes, "_LESS", 99.0)
    monkeypatch.setattr(row_stream, "_FEWEST", 64)


@pytest.mark.usefixtures("hidden")
@needs_lines
@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("results", [68, 76, 132])
def test_stores_among_many_operations_have_the_same_numbers(
    results: int, is_large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_columns, "_CACHED", 0 if is_large else 1 << 30)
    program = made(results, 700, results)
    first, *blocks = batch_kernel(program, 8, False, False).split(NEXT_MODULE)
    assert "_rows0" not in first
    assert "fence" in first
    assert ["!nontemporal !1" in block for block in blocks] == [False, True, False, True]
    assert ["@llvm.prefetch" in block for block in blocks] == [True, False, True, False]
    assert_written(program, 8, (1, 7, 8, 9, 16, 23), shifts=range(8))


@pytest.mark.usefixtures("hidden")
@needs_lines
def test_blocks_go_past_the_caches_only_where_they_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code for lines would fault where they are not aligned; what it writes is all of a line."""
    monkeypatch.setattr(result_columns, "_CACHED", 16 * 100 * 8)  # two blocks
    assert_written(made(4, 700, 100), 8, (8, 16, 17, 24, 40), shifts=range(8))


@pytest.mark.usefixtures("hidden")
@pytest.mark.parametrize("results", [64, 65, 66, 72])
def test_stores_are_not_hidden_where_rows_may_start_otherwise_than_planned(results: int) -> None:
    text = batch_kernel(made(results, 700, results), 8, False, False)
    assert "_rows0" in text
    assert "_rows0" in batch_kernel(made(68, 700, 68), 8, False, False, parts=((34,), (34,)))
    assert "_rows0" in batch_kernel(made(68, 700, 68), 4, False, False)
    assert "_rows0" not in batch_kernel(made(68, 700, 68), 8, False, False)


MIXED = [
    ((48,), (48,)),
    ((68,), (28,)),
    ((65,), (31,)),
    ((66,), (30,)),
    ((4, 8), (8, 8)),
    ((68,), (31,)),
    ((92,), (4,)),
]
"""Arrays whose rows are whole lines, an odd number of halves, or neither, side by side."""


@pytest.mark.parametrize("parts", MIXED)
@pytest.mark.parametrize("is_large", [True, False])
def test_stores_to_several_arrays_have_the_same_numbers(
    is_large: bool, parts: tuple[tuple[int, ...], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_columns, "_CACHED", 0 if is_large else 1 << 30)
    monkeypatch.setattr(row_stream, "_FEWEST", 28)
    assert_parts(made(7, 700, sum(int(np.prod(part)) for part in parts)), parts)


@pytest.mark.parametrize("parts", [((4,), (3,)), ((12,), (5,)), ((12,), (12,), (4,)), ((4,), (0,)), ((0,), (20,))])
def test_short_programs_write_several_arrays(
    parts: tuple[tuple[int, ...], ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    assert_parts(made(3, 120, sum(int(np.prod(part)) for part in parts)), parts)


@pytest.mark.parametrize("offset", range(0, 8, 2))
def test_several_short_functions_have_the_same_numbers_at_any_place(
    offset: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Arrays of 4, 4 and 3 numbers: rows of two start at alternating halves of a line, those of the last do not."""
    monkeypatch.undo()
    robot = dq.robots.chain(4)
    f = robot.function(["gravity_forces", "bias_forces", "center_of_mass"])
    rng = np.random.default_rng(0)
    states = {"q": rng.normal(size=(24, 4)), "v": rng.normal(size=(24, 4))}
    given = [states[name] for name in inspect.signature(f).parameters if name in states]
    outs = tuple(placed((24, n), offset) for n in (4, 4, 3))
    for found in (f(*given), f(*given, out=outs)):
        for k in range(24):
            for part, single in zip(found, f(*(x[k] for x in given)), strict=True):
                np.testing.assert_allclose(part[k], single, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("hidden")
def test_hidden_stores_among_conditions_and_sines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_columns, "_CACHED", 0)
    assert_close(of_all_kinds(700, 68), range(8))


def test_programs_without_results_have_kernels() -> None:
    assert "@batch(" in batch_kernel(replace(made(1, 120, 4), outputs=(), shape=(0,)), 8, False, False)


def test_stores_are_hidden_where_that_is_less_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def pays(results: int, operations: int, in_order: bool = True) -> bool:
        """Each result is a chain of operations on inputs, complete before the next one begins, in the order of rows."""
        instructions: list[Instruction] = [("input", (0, k), 0.0) for k in range(INPUTS)]
        for number in range(results):
            before = number % INPUTS
            for k in range(operations):
                instructions.append(("mul" if k % 2 else "sub", (before, (number + k) % INPUTS), 0.0))
                before = len(instructions) - 1
        made_at = [INPUTS + operations * (number + 1) - 1 for number in range(results)]
        outputs = made_at if in_order else [made_at[37 * number % results] for number in range(results)]
        return HiddenWrites(RowLoop(program_of(instructions, outputs, [INPUTS]), 8, False, False, ())).pay()

    monkeypatch.setattr(hidden_writes, "_LESS", 0.5)
    assert pays(516, 8)
    assert not pays(516, 8, in_order=False)  # chunks are complete late, so that most results wait in any event
    assert not pays(516, 7)  # too few operations for each
    assert not pays(508, 8)  # all of a block fit into the innermost cache
    assert not pays(516, 50)  # LLVM would compile four blocks for too long
    monkeypatch.setattr(result_columns, "_SPARSE", -1.0)
    assert not pays(516, 8)


def test_negations_of_results_follow_what_they_negate() -> None:
    for seed in range(10):
        program = made(seed, 300, 60)
        early = negations_early(program)
        assert early.operations == program.operations
        x = [list(np.random.default_rng(seed).normal(size=INPUTS))]
        assert interpret(early, x) == interpret(program, x)
        for i in early.outputs:
            op, operands, _ = early.instructions[i]
            if op == "neg" and early.instructions[operands[0]][0] != "neg":
                between = early.instructions[operands[0] + 1 : i]
                assert all(o == "neg" and k == operands for o, k, _ in between)


def test_tiles_have_every_entry_once() -> None:
    for n in range(1, 15):
        assert sorted(_by_tiles(n)) == [(i, j) for i in range(n) for j in range(i, n)]


def test_inputs_are_in_registers_once_a_block_is_read() -> None:
    program = made(5, 200, 20)
    order = from_inputs(program, operations(program, _members(program), {}))
    inputs = sorted({k for _, reads in order for k in reads if program.instructions[k][0] == "input"})
    assert len(inputs) > 6
    assert order[: len(inputs)] == [(k, ()) for k in inputs]
    assert not register_plan(order, 999, {}).slot
    assert not register_plan(order, 999, {}).reloads
    few = register_plan(order, 4, {})
    assert len(few.slot.keys() & set(inputs)) >= len(inputs) - 4  # those used last leave their registers at once
