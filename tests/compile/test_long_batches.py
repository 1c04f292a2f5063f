"""Batches of long programs: values that wait in registers or in memory, and results that go past the caches."""

from __future__ import annotations

import numpy as np
import pytest
from compile_tools import MACHINE, WIDTHS, assert_same_bits, batch_code
from test_batch_results import INPUTS, UNTOUCHED, assert_written, made

import dqdyn as dq
from dqdyn.compile.codegen import kernels, long_batches, pipelined, result_columns
from dqdyn.compile.codegen.emit import fused_products
from dqdyn.compile.codegen.kernels import batch_kernel
from dqdyn.compile.codegen.register_plan import RegisterPlan, register_plan
from dqdyn.compile.codegen.row_stream import RowStream
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program

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


def _executed(program: Program, plan: RegisterPlan, fused: dict[int, int]) -> int:
    """Execute a plan, with names in place of numbers: the largest number of values that wait in registers."""
    instructions, inside = program.instructions, set(fused.values())
    memory = {plan.slot[k]: k for k in plan.slot if instructions[k][0] == "input"}
    order = [i for i in _members(program) if i not in inside]
    reads = {}
    for i in order:
        operands = [k for k in instructions[i][1] if k != fused.get(i)]
        operands += instructions[fused[i]][1] if i in fused else ()
        reads[i] = {k for k in operands if instructions[k][0] != "const"}
    from_register: dict[int, int] = {}  # value → turn of its last use without a reload
    waiting: list[set[int]] = []
    for turn in reversed(range(len(order))):
        i = order[turn]
        from_register.pop(i, None)
        waiting.append(set(from_register))
        for k in reads[i]:
            if (i, k) in plan.reloads:
                from_register.pop(k, None)
            else:
                from_register[k] = turn
    assert not from_register, "read from a register before it is made"
    for i in order:
        for k in reads[i]:
            if (i, k) in plan.reloads:
                assert memory[plan.slot[k]] == k
        if i in plan.slot:
            memory[plan.slot[i]] = i
    for k in _results(program):
        assert memory[plan.slot[k]] == k
    return max(map(len, waiting))


@pytest.mark.parametrize("registers", [1, 4, 12, 26])
@pytest.mark.parametrize("is_fused", [True, False])
def test_a_plan_needs_no_more_registers_than_there_are(registers: int, is_fused: bool) -> None:
    for seed in range(12):
        program = made(seed, 400, 60)
        order = _members(program)
        fused = fused_products(program, order) if is_fused else {}
        assert not is_fused or fused
        plan = register_plan(program, order, registers, fused, _results(program))
        assert plan.slots <= len(plan.slot)
        assert _executed(program, plan, fused) <= registers + 1  # what was just made may leave at once


def test_more_registers_need_fewer_loads() -> None:
    program = made(3, 600, 60)
    counts = [len(register_plan(program, _members(program), r, {}, _results(program)).reloads) for r in (2, 8, 26, 999)]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) == len(counts)
    inputs = {k for i in _members(program) for k in program.instructions[i][1] if program.instructions[k][0] == "input"}
    assert counts[-1] == len(inputs)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("registers", [1, 5, 26])
def test_any_number_of_registers_gives_the_same_numbers(
    registers: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(long_batches, "_REGISTERS", {width: registers})
    assert_written(made(registers, 400, 70), width, (1, 7, 8, 33))


@needs_lines
@pytest.mark.parametrize("results", [64, 65, 66, 67, 68, 70, 72, 76, 88, 92, 101, 130])
def test_rows_past_the_caches_have_the_same_numbers(results: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_columns, "_CACHED", 0)
    program = made(results, 300, results)
    assert "!nontemporal" in batch_kernel(program, 8, False, False)
    assert_written(program, 8, (1, 7, 8, 9, 16, 23, 32), shifts=range(8))


@needs_lines
def test_only_results_larger_than_the_caches_go_past_them(monkeypatch: pytest.MonkeyPatch) -> None:
    program = made(2, 300, 96)
    assert RowStream.fits(8, 96)
    assert not RowStream.fits(8, 40)
    assert not RowStream.fits(4, 96)
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
    monkeypatch.setattr(result_columns, "_CACHED", 0)
    for links in (8, 9, 10, 12):
        robot = dq.robots.chain(links)
        rng = np.random.default_rng(links)
        states = [rng.normal(size=(19, robot.nv)) for _ in range(3)]
        f = robot.function("inverse_dynamics_derivatives")
        one_by_one = np.array([f(*(x[k] for x in states)) for k in range(19)])
        memory = np.full(one_by_one.size + 16, UNTOUCHED)
        out = memory[offset : offset + one_by_one.size].reshape(one_by_one.shape)
        f(*states, out=out)
        np.testing.assert_allclose(out, one_by_one, rtol=1e-10, atol=1e-10)
        assert (memory[:offset] == UNTOUCHED).all()
        assert (memory[offset + one_by_one.size :] == UNTOUCHED).all()
        for part, whole in zip(robot.inverse_dynamics_derivatives(*states), np.moveaxis(out, 1, 0), strict=True):
            assert_same_bits(part, whole)
