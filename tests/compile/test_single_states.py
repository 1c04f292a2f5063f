"""Code for one state: values that wait in registers or in memory, in one function or in several stages."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from compile_tools import MACHINE, WIDTHS, assert_same_bits, batch_code, scalar_code
from hypothesis import given, settings
from hypothesis import strategies as st
from random_programs import EXACT, programs, rows
from test_batch_results import INPUTS, made
from test_inner_groups import layered

from dqdyn.compile.codegen import kernels
from dqdyn.compile.codegen.kernels import scalar_kernel
from dqdyn.compile.codegen.register_plan import operations, register_plan
from dqdyn.compile.codegen.stages import NEXT_MODULE
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program

COUNT = 5


def _expected(program: Program, inputs: list[np.ndarray]) -> np.ndarray:
    states = [[[float(x) for x in a[row]] for a in inputs] for row in range(len(inputs[0]))]
    return np.array([interpret(program, state) for state in states])


def _assert_same(program: Program, inputs: list[np.ndarray], width: int, registers: int) -> None:
    out = np.full((len(inputs[0]), len(program.outputs)), 123.0)
    assert scalar_code(program, False, False, width, registers)(inputs, out) == 0
    assert_same_bits(out, _expected(program, inputs))


def _cut(monkeypatch: pytest.MonkeyPatch, staged: int) -> None:
    """Cut short programs as long ones are cut: into basic blocks, and from ``staged`` lines on into stages."""
    monkeypatch.setattr(kernels, "_LONG", 40)
    monkeypatch.setattr(kernels, "_SEGMENT", 15)
    monkeypatch.setattr(kernels, "_IN_STAGE", 2)
    monkeypatch.setattr(kernels, "_STAGED", staged)


@pytest.mark.parametrize("staged", [0, 10_000])
@pytest.mark.parametrize("registers", [4, 1, 32])
def test_any_number_of_registers_gives_the_same_numbers(
    registers: int, staged: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _cut(monkeypatch, staged)
    for seed in range(4):
        program = made(10 * registers + seed, 300, 60)
        assert (NEXT_MODULE in scalar_kernel(program, False, False, registers=registers)) == (staged == 0)
        x = np.random.default_rng(seed).normal(size=(COUNT, INPUTS))
        _assert_same(program, [x], WIDTHS[-1], registers)


@pytest.mark.skipif(not MACHINE.fma, reason="nothing is fused here")
def test_which_products_are_fused_depends_on_the_program_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither on the registers nor on where the program is cut: bits do not change from one machine to another."""
    program = made(7, 300, 60)
    x = np.random.default_rng(7).normal(size=(COUNT, INPUTS))
    found = []
    for registers, staged in ((32, 10_000), (1, 10_000), (4, 0)):
        _cut(monkeypatch, staged)
        out = np.full((COUNT, len(program.outputs)), np.nan)
        assert scalar_code(program, True, True, 1, registers)([x], out) == 0
        found.append(out)
    monkeypatch.undo()
    whole = np.full((COUNT, len(program.outputs)), np.nan)
    assert batch_code(program, WIDTHS[-1], True, True)([x], whole) == 0
    for out in found:
        assert_same_bits(out, whole)
    assert (np.abs(whole - _expected(program, [x])) > 0).any()  # some are fused


@pytest.mark.parametrize("staged", [0, 10_000])
@pytest.mark.parametrize("width", WIDTHS[::-1])
def test_packed_programs_give_the_same_numbers(width: int, staged: int, monkeypatch: pytest.MonkeyPatch) -> None:
    _cut(monkeypatch, staged)
    for seed, registers in ((1, 2), (2, 5), (3, 16)):
        program = layered(seed)
        rng = np.random.default_rng(seed)
        inputs = [rng.normal(size=(COUNT, size)) for _, size in program.inputs]
        assert width == 2 or "%lanes" in scalar_kernel(program, False, False, width=width, registers=registers)
        _assert_same(program, inputs, width, registers)


@pytest.mark.parametrize("staged", [0, 10_000])
@pytest.mark.long
def test_programs_of_all_operations_give_the_same_numbers(staged: int) -> None:
    @settings(settings.get_profile("compile"), max_examples=25)
    @given(st.data())
    def check(data: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            _cut(patch, staged)
            patch.setattr(kernels, "_LONG", 4)
            patch.setattr(kernels, "_SEGMENT", 3)
            program = data.draw(programs(EXACT))
            _assert_same(program, data.draw(rows(program, COUNT)), 1, data.draw(st.integers(1, 6)))

    check()


def test_a_stage_begins_with_empty_registers() -> None:
    """What a stage reads and has not computed itself is loaded there, and was stored by the one that computed it."""
    for seed in range(8):
        program = made(seed, 300, 60)
        order = [i for i, (op, _, _) in enumerate(program.instructions) if op not in ("input", "const")]
        cuts = {50, 51, 120, 200}
        read = operations(program, order, {})
        plan = register_plan(read, 12, {}, (), cuts)
        held: set[int] = set()
        crossing = 0
        for turn, (i, operands) in enumerate(read):
            if turn in cuts:
                crossing += len(held)
                held.clear()
            for k in operands:
                assert k in held or (i, k) in plan.reloads
                assert (i, k) not in plan.reloads or k in plan.slot
            held |= {i, *operands}
        assert crossing
        assert len(plan.reloads) > len(register_plan(read, 12, {}).reloads)


def test_a_value_that_an_operation_reads_twice_is_loaded_once() -> None:
    instructions: list[Any] = [("input", (0, k), 0.0) for k in range(20)]
    squares = [len(instructions) + k for k in range(20)]
    instructions += [("mul", (k, k), 0.0) for k in range(20)]
    program = Program("squares", (("x", 20),), tuple(instructions), tuple(squares), (20,))
    text = scalar_kernel(program, False, False, registers=1)
    assert len(re.findall(r"= load (?:volatile )?double, ptr", text)) == 20
