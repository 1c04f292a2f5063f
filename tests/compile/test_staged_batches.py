"""Batches of programs in stages, through each of which several blocks of rows pass."""

from __future__ import annotations

import re
import threading

import numpy as np
import pytest
from compile_tools import FUSED, MACHINE, WIDTHS, assert_same_bits, batch_code, program_of
from test_batch_results import INPUTS, UNTOUCHED, assert_close, assert_parts, assert_written, made, of_all_kinds, placed
from trees import random_q, random_robot

from dqdyn.compile.codegen import kernels, result_columns, staged_batches
from dqdyn.compile.codegen.direct_writes import members_of
from dqdyn.compile.codegen.kernels import batch_kernel
from dqdyn.compile.codegen.register_plan import crossing
from dqdyn.compile.codegen.rows import RowLoop
from dqdyn.compile.codegen.staged_batches import StagedBatches, cut_into_stages
from dqdyn.compile.codegen.stages import NEXT_MODULE
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Instruction

needs_lines = pytest.mark.skipif(MACHINE.width < 8, reason="vectors of this processor do not fill a line of its caches")


@pytest.fixture(autouse=True)
def _short_programs_are_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staged_batches, "_SHORTEST", 0)
    monkeypatch.setattr(staged_batches, "_FEWEST", 1)
    monkeypatch.setattr(staged_batches, "_STAGE", 200)
    monkeypatch.setattr(kernels, "_SEGMENT", 60)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("results", [1, 7, 8, 36, 41, 42, 66, 68, 100])
def test_blocks_that_pass_stages_together_have_the_same_numbers(results: int, width: int) -> None:
    counts = (1, width - 1, width, width + 1, 7 * width, 8 * width, 8 * width + 1, 17 * width - 3)
    assert_written(made(results, 700, results), width, counts, shifts=range(8), whole_vectors=True)


@needs_lines
@pytest.mark.parametrize("results", [64, 65, 66, 68, 72, 76, 132])
def test_stages_past_the_caches_have_the_same_numbers(results: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of whole lines, of an odd number of halves, and others; non-temporal stores fault where they straddle."""
    monkeypatch.setattr(result_columns, "_CACHED", 0)
    program = made(results, 700, results)
    assert ("!nontemporal !1" in batch_kernel(program, 8, False, False, whole_vectors=True)) == (results % 4 == 0)
    assert_written(program, 8, (1, 8, 9, 64, 65, 130), shifts=range(8), whole_vectors=True)


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("parts", [((48,), (48,)), ((66,), (30,)), ((4, 8), (8, 8)), ((12,), (5,)), ((0,), (20,))])
def test_stages_write_several_arrays(
    parts: tuple[tuple[int, ...], ...], is_large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(result_columns, "_CACHED", 0 if is_large else 1 << 30)
    assert_parts(made(7, 700, sum(int(np.prod(part)) for part in parts)), parts, whole_vectors=True)


def test_stages_among_conditions_and_sines() -> None:
    """A sine and its cosine may be in different stages, and conditions wait for another stage as numbers."""
    assert_close(of_all_kinds(900, 68), range(8), whole_vectors=True)


@pytest.mark.parametrize("second_level", [1, 1 << 14, 1 << 22])
def test_as_many_blocks_go_together_as_the_second_level_holds(
    second_level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staged_batches, "_SECOND_LEVEL", second_level)
    program = made(3, 700, 40)
    text = batch_kernel(program, 8, False, False, whole_vectors=True)
    (rows,) = re.findall(r"select i1 %t\d+, i64 8, i64 (\d+)", text)
    if second_level == 1 << 14:
        assert 16 < int(rows) < 64
    else:
        assert int(rows) == (16 if second_level == 1 else 64)
    assert_written(program, WIDTHS[-1], (1, 16, 17, 64, 65, 200), whole_vectors=True)


@pytest.mark.parametrize("count", [1, 2, 5, 400])
def test_stages_are_cut_evenly_in_order(count: int) -> None:
    program = made(5, 400, 2)
    rows, order = RowLoop(program, 8, False, False, ()), members_of(program)
    stages = cut_into_stages(rows, order, count)
    assert [i for stage in stages for i in stage] == order
    assert all(stages)
    assert len(stages) <= count
    if count == 5:
        assert max(map(len, stages)) <= min(map(len, stages)) + 10


def test_values_that_are_used_behind_a_cut_cross_it() -> None:
    order = [(0, ()), (1, ()), (2, (0, 1)), (3, (2,)), (4, (1, 3)), (5, (4,))]
    assert crossing(order, ()) == ({}, 0)
    assert crossing(order, {3})[0].keys() == {1, 2}
    places, count = crossing(order, {2, 4})
    assert places.keys() == {0, 1, 3}
    assert places[3] == places[0] != places[1]
    assert count == 2
    assert crossing(order, {1, 5}) == ({0: 0, 4: 0}, 1)  # 0 waits no longer when 4 begins to


def test_stages_are_modules_of_their_own_for_all_variants() -> None:
    program = made(2, 900, 42)
    handed: list[str] = []
    first = batch_kernel(program, 8, False, False, hand_over=handed.append, whole_vectors=True)
    assert NEXT_MODULE not in first
    count = len(StagedBatches(RowLoop(program, 8, False, False, ()))._stages)
    assert count > 2
    assert len(handed) == 2 * count  # for arrays at multiples of 32 bytes, and 16 behind one
    names = [re.findall(r"define i64 @(stage\d+)\(", text) for text in handed]
    assert names == [[f"stage{k}"] for k in range(2 * count)]
    whole = batch_kernel(program, 8, False, False, whole_vectors=True).split(NEXT_MODULE)
    assert whole == [first, *handed]


def test_which_programs_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()

    def pays(lines: int, results: int, sizes: tuple[int, ...] = ()) -> bool:
        instructions: list[Instruction] = [("input", (0, k), 0.0) for k in range(INPUTS)]
        instructions += [("mul", (k, k + 1), 0.0) for k in range(lines)]
        program = program_of(instructions, [INPUTS + k % lines for k in range(results)], [INPUTS])
        parts = [(size,) for size in sizes]
        return StagedBatches(RowLoop(program, 8, False, False, (), parts)).pay()

    assert not pays(4200, 10)  # all of the code is in the cache of decoded instructions
    assert pays(4400, 10)
    assert pays(3000, 400)  # results are code, too
    assert not pays(900, 1000)  # of which hardly anything else is left
    assert not pays(30_000, 10)  # LLVM would take too long
    assert not pays(20_000, 6000)
    assert pays(4400, 140, (70, 70))
    assert not pays(4400, 2000, (1000, 1000))  # could not go past the caches
    assert pays(4400, 2000)
    assert pays(4400, 250)
    assert not pays(4400, 2001)  # rows that start anywhere in a line cannot, either


def test_blocks_go_one_by_one_where_results_exceed_the_caches(monkeypatch: pytest.MonkeyPatch) -> None:
    """They would push each other out; but for those that go past the caches."""
    text = batch_kernel(made(3, 700, 66), 8, False, False, whole_vectors=True)
    (beyond, one, all_of_them) = re.findall(r"%t\d+ = select i1 (%t\d+), i64 (\d+), i64 (\d+)", text)[0]
    assert (one, all_of_them) == ("8", "64")
    assert f"{beyond} = icmp ugt i64 %all, " in text
    assert "%all_blocks = add i64 %start, 64" in batch_kernel(made(3, 700, 68), 8, False, False, whole_vectors=True)
    monkeypatch.setattr(result_columns, "_CACHED", 9 * 66 * 8)
    assert_written(made(3, 700, 66), WIDTHS[-1], (1, 8, 9, 10, 40, 65), whole_vectors=True)


def test_the_next_inputs_are_requested_in_the_first_stage() -> None:
    handed: list[str] = []
    batch_kernel(made(2, 900, 42), 8, False, False, hand_over=handed.append, whole_vectors=True)
    count = len(handed) // 2
    inputs = [len(re.findall(r"getelementptr i8, ptr %t\d+, i64 \d+\n  call void @llvm.prefetch", x)) for x in handed]
    assert [n > 0 for n in inputs] == [k % count == 0 for k in range(2 * count)]


def test_programs_are_cut_only_for_whole_vectors() -> None:
    program = made(4, 700, 40)
    assert "next_stage:" in batch_kernel(program, 8, False, False, whole_vectors=True)
    assert "next_stage:" not in batch_kernel(program, 8, False, False)


def test_large_angles_and_unfit_inputs_are_reported_from_any_block() -> None:
    """The sine is in the last stage, and its argument in any block of a group."""
    program = made(6, 500, 9)
    instructions = [*program.instructions, ("sin", (3,), 0.0)]
    program = program_of(instructions, [*program.outputs, len(instructions) - 1], [INPUTS])
    width = WIDTHS[-1]
    kernel = batch_code(program, width, False, contract=False, whole_vectors=True)
    out = np.empty((20 * width, 10))
    for row in (0, width, 9 * width + 1, 20 * width - 1):
        x = np.full((20 * width, INPUTS), 0.5)
        assert kernel([x], out) == 0
        x[row, 3] = 1e16
        assert kernel([x], out) == 1


def test_threads_that_run_the_same_code_have_memory_of_their_own() -> None:
    program = made(8, 900, 33)
    kernel = batch_code(program, WIDTHS[-1], False, contract=False, whole_vectors=True)
    rng = np.random.default_rng(1)
    inputs = [rng.uniform(-1.5, 1.5, size=(400, INPUTS)) for _ in range(4)]
    outs = [np.full((400, 33), UNTOUCHED) for _ in inputs]
    threads = [threading.Thread(target=lambda x, out: [kernel([x], out) for _ in range(200)], args=pair)
               for pair in zip(inputs, outs, strict=True)]  # fmt: skip
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x, out in zip(inputs, outs, strict=True):
        expected = np.array([interpret(program, [list(map(float, row))]) for row in x[::40]])
        assert_same_bits(out[::40], expected)


NAMES = (
    "coriolis_matrix",
    "inverse_dynamics_derivatives",
    "forward_dynamics",
    "poses",
    "joint_wrenches",
    "gauss_function",
)


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_functions_of_robots_in_stages(name: str) -> None:
    """Random trees of all kinds of joints, their quaternions checked, with fused operations where there are any."""
    for seed in range(4):
        rng = np.random.default_rng(seed)
        robot = random_robot(seed, base=("fixed", "free")[seed % 2])
        f, program = robot.function(name), robot.program(name)
        q = random_q(robot, rng, (67,))
        given = [q if x == "q" else rng.normal(size=(67, size)) for x, size in program.inputs]
        single = np.array([np.ravel(f(*(x[k] for x in given))) for k in range(67)])
        for fma in FUSED:
            kernel = batch_code(program, WIDTHS[-1], fma, contract=fma, whole_vectors=True)
            for offset in (0, 2, 5):
                out = placed(single.shape, offset)
                assert kernel(given, out) == 0
                np.testing.assert_allclose(out, single, rtol=1e-9, atol=1e-9 * max(1.0, np.abs(single).max()))
