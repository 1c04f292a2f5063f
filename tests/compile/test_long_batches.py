"""Batches of long programs: values that wait in registers or in memory, and results that go past the caches."""

from __future__ import annotations

import numpy as np
import pytest
from compile_tools import MACHINE, WIDTHS, assert_same_bits, batch_code
from test_batch_results import INPUTS, UNTOUCHED, assert_written, made

import dqdyn as dq
from dqdyn.compile.codegen import kernels, pipelined, register_plan, result_columns
from dqdyn.compile.codegen.emit import fused_products
from dqdyn.compile.codegen.kernels import batch_kernel
from dqdyn.compile.codegen.register_plan import Operation, RegisterPlan, operations
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


def _planned(
    program: Program, registers: int, monkeypatch: pytest.MonkeyPatch, fused: dict[int, int] | None = None
) -> tuple[list[Operation], RegisterPlan]:
    order = operations(program, _members(program), fused or {})
    monkeypatch.setattr(register_plan, "_REGISTERS", {8: registers})
    return order, register_plan.register_plan(order, 8, dict.fromkeys(_results(program), len(order)))


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
def test_a_plan_needs_no_more_registers_than_there_are(
    registers: int, is_fused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(12):
        program = made(seed, 400, 60)
        fused = fused_products(program, _members(program)) if is_fused else {}
        assert bool(fused) == is_fused
        order, plan = _planned(program, registers, monkeypatch, fused)
        assert plan.slots <= len(plan.slot)
        assert _executed(program, order, plan) <= registers


def test_more_registers_need_fewer_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    program = made(3, 600, 60)
    counts = [len(_planned(program, registers, monkeypatch)[1].reloads) for registers in (2, 8, 26, 999)]
    assert counts == sorted(counts, reverse=True)
    assert len(set(counts)) == len(counts)
    inputs = {k for i in _members(program) for k in program.instructions[i][1] if program.instructions[k][0] == "input"}
    assert counts[-1] == len(inputs)


def test_slots_serve_again_after_results_are_written(monkeypatch: pytest.MonkeyPatch) -> None:
    program = made(4, 600, 60)
    order = operations(program, _members(program), {})
    made_at = {i: turn for turn, (i, _) in enumerate(order)}
    at_once = register_plan.register_plan(order, 8, {k: made_at.get(k, 0) for k in _results(program)})
    at_the_end = register_plan.register_plan(order, 8, dict.fromkeys(_results(program), len(order)))
    assert at_once.reloads == at_the_end.reloads
    assert at_once.slots < at_the_end.slots


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("registers", [1, 5, 26])
def test_any_number_of_registers_gives_the_same_numbers(
    registers: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(register_plan, "_REGISTERS", {width: registers})
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
    monkeypatch.setenv("DQDYN_CACHE", "0")
    monkeypatch.setattr(result_columns, "_CACHED", 0)
    for links in (8, 9, 10, 12):
        robot = dq.robots.chain(links)
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


@needs_lines
def test_pieces_of_a_batch_go_past_the_caches_as_the_whole_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """A piece of one block, which alone would fit: the kernel asks for the number of all rows."""
    monkeypatch.setattr(result_columns, "_CACHED", 16 * 96 * 8)
    text = batch_kernel(made(2, 300, 96), 8, False, False)
    limits = [line for line in text.splitlines() if "icmp ugt i64 %all, 16" in line]
    assert limits
    assert "icmp ugt i64 %n, 16" not in text
