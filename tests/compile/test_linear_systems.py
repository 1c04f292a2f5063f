"""Programs that give linear systems, which loops solve: zeros of trees and others, all sizes of vectors, batches."""

from __future__ import annotations

import ctypes
import pickle
import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from compile_tools import FUSED, WIDTHS, library

from dqdyn.compile.codegen.solve_kernels import solved_batch_kernel, solved_state_kernel
from dqdyn.compile.codegen.solve_plan import SolvePlan
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.linear_system import DeferredProgram, LinearSystem
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tracer import trace

Pattern = set[tuple[int, int]]


def tree_pattern(n: int, rng: random.Random, coupled: float) -> Pattern:
    """Entries below the diagonal: those of a random tree, each joined to one before it or to none, and some others."""
    entries: Pattern = set()
    parents: list[int] = []
    for i in range(n):
        parents.append(rng.choice([i - 1, i - 1, i - 1, rng.randrange(-1, i) if i else -1]))
        k = parents[i]
        while k >= 0:
            entries.add((i, k))
            k = parents[k]
    return entries | {(i, j) for i in range(n) for j in range(i) if rng.random() < coupled}


def system_of(n: int, seed: int, coupled: float = 0.0, is_sum: bool = False, results: int = 3) -> LinearSystem:
    """Inputs are entries of the matrices; a diagonal of M is large enough."""
    rng = random.Random(seed)
    below = tree_pattern(n, rng, coupled)
    related = below | {(j, i) for i, j in below} | {(i, i) for i in range(n)}
    kept = [{e for e in related if rng.random() < 0.9} for _ in range(results - 1)]
    added = {(i, j) for i in range(n) for j in range(n) if rng.random() < 0.05}

    def entries(b: list, m: list, e: list) -> tuple[list, tuple[int, ...]]:
        flat: list = []
        for number, pattern in enumerate(kept):
            own = b[number * n * n : (number + 1) * n * n]
            flat += [own[i * n + j] * 2.0 if (i, j) in pattern else 0.0 for i in range(n) for j in range(n)]
        for i in range(n):
            for j in range(n):
                low = (max(i, j), min(i, j))
                entry = m[low[0] * n + low[1]] * 0.5 if low in below else 0.0
                flat.append(m[i * n + i] * m[i * n + i] + float(n) if i == j else entry)
        if is_sum:
            flat += [e[i * n + j] if (i, j) in added else 0.0 for i in range(n) for j in range(n)]
        return flat, (results + is_sum, n, n)

    inputs = [("b", (results - 1) * n * n), ("m", n * n), ("e", n * n)]
    return LinearSystem(trace("system", inputs, entries), results)


def inputs_of(system: LinearSystem, rows: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1.0, 1.0, (rows, size)) for _, size in system.program.inputs]


def expected(system: LinearSystem, inputs: list[np.ndarray]) -> np.ndarray:
    """By the interpreter and NumPy, from the defining equations."""
    n, results = system.n, system.results
    slow = Function(system.program, native=False)(*inputs)
    *right, m = (slow[:, k] for k in range(results))
    inverse = np.linalg.inv(m)
    found = np.stack([*(-inverse @ b for b in right), inverse], axis=1)
    if system.is_sum:
        found[:, 0] += slow[:, results]
    assert found.shape[1:] == (results, n, n)
    return found


CASES = [(8, 0.0, False), (1, 0.0, False), (2, 0.0, True), (3, 0.3, False), (13, 0.0, True), (21, 0.1, False)]
CASES += [(33, 0.0, True), (40, 0.02, False), (70, 0.0, False)]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("width", [1, *WIDTHS])
def test_one_state(case: tuple[int, float, bool], width: int) -> None:
    n, coupled, is_sum = case
    for fma in FUSED:
        system = system_of(n, n + width, coupled, is_sum, results=2 + n % 3)
        made = library(solved_state_kernel(system, fma, fma, width, ()))
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * 4)(made.address("scalar"))
        inputs = inputs_of(system, 3)
        wanted = expected(system, inputs)
        for row, answer in enumerate(wanted):
            out = np.full(wanted[row].size + 8, 7.0)  # nothing is written beyond the results
            assert function(*(x[row].ctypes.data for x in inputs), out.ctypes.data) == 0
            assert (out[-8:] == 7.0).all()
            np.testing.assert_allclose(out[:-8].reshape(answer.shape), answer, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 2, 5, 8, 9, 17])
@pytest.mark.parametrize("case", [(7, 0.1, True), (18, 0.0, False)], ids=str)
@pytest.mark.parametrize("width", WIDTHS)
def test_batches(case: tuple[int, float, bool], rows: int, width: int) -> None:
    n, coupled, is_sum = case
    system = system_of(n, rows, coupled, is_sum)
    made = library(solved_batch_kernel(system, width, min(width, 4), FUSED[0], FUSED[0]))
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p, ctypes.c_int64] * 4)(made.address("batch"))
    inputs = inputs_of(system, rows)
    out = np.full((rows + 1, 3, n, n), 7.0)
    pairs = [word for x in inputs for word in (x.ctypes.data, x.shape[1])]
    assert function(*pairs, out.ctypes.data, rows) == 0
    assert (out[-1] == 7.0).all()
    np.testing.assert_allclose(out[:-1], expected(system, inputs), rtol=1e-11, atol=1e-12)


def made_function(system: LinearSystem, native: bool | None = None) -> Function:
    def refuse() -> Program:
        raise AssertionError("calls need no instructions")

    return Function(DeferredProgram("solved", system, refuse), native=native, system=system)


@pytest.mark.parametrize("native", [True, False])
def test_as_a_function(native: bool) -> None:
    """Single states, batches of any shape, threads, ``out``; the straight-line program is not traced for that."""
    system = system_of(19, 3, is_sum=True)
    function = made_function(system, native)
    inputs = inputs_of(system, 24)
    wanted = expected(system, inputs)
    np.testing.assert_allclose(function(*(x[5] for x in inputs)), wanted[5], rtol=1e-11)
    np.testing.assert_allclose(function.fast(*(x[6] for x in inputs)), wanted[6], rtol=1e-11)
    out = np.empty((4, 6, 3, 19, 19))
    assert function(*(x.reshape(4, 6, -1) for x in inputs), out=out, threads=2) is out
    np.testing.assert_allclose(out.reshape(wanted.shape), wanted, rtol=1e-11, atol=1e-12)
    assert function(*(x[:0] for x in inputs)).shape == (0, 3, 19, 19)
    assert function.counts.total > system.program.counts.total
    assert "solved(b, m, e)" in repr(function)


def test_calls_on_several_threads_have_memory_of_their_own() -> None:
    system = system_of(30, 5)
    function = made_function(system)
    inputs = inputs_of(system, 64)
    wanted = expected(system, inputs)
    function.fast(*(x[0] for x in inputs))

    def some(start: int) -> float:
        found = function(*(x[start : start + 16] for x in inputs))
        return float(np.abs(found - wanted[start : start + 16]).max())

    with ThreadPoolExecutor(4) as pool:
        assert max(pool.map(some, [0, 16, 32, 48] * 20)) < 1e-11


@pytest.mark.parametrize("native", [True, False])
def test_a_state_without_solution_leaves_others_alone(native: bool) -> None:
    system = system_of(6, 1)
    function = made_function(system, native)
    inputs = inputs_of(system, 9)
    wanted = expected(system, inputs)
    inputs[1][4] = np.nan
    found = function(*inputs, check=False)
    assert np.isnan(found[4]).any()
    others = [k for k in range(9) if k != 4]
    np.testing.assert_allclose(found[others], wanted[others], rtol=1e-11, atol=1e-12)


def test_singular_equations_on_numpy() -> None:
    """LAPACK refuses a batch for one of its states."""
    n = 4
    matrices = np.tile(np.eye(n), (3, 1, 1))
    matrices[1] = 0.0
    system = LinearSystem(trace("m", [("m", n * n)], lambda m: ([*m, *m], (2, n, n))), 2)
    stacked = np.concatenate([matrices.reshape(3, -1)] * 2, axis=1)
    found = system.solved(list(stacked.T))
    assert np.isnan(found[1]).all()
    np.testing.assert_array_equal(found[[0, 2]], np.stack([[-np.eye(n), np.eye(n)]] * 2))


def test_a_deferred_program_is_traced_once() -> None:
    system = system_of(3, 1)
    traced: list[Program] = []

    def whole() -> Program:
        traced.append(system.program)
        return system.program

    program = DeferredProgram("later", system, whole)
    assert (program.name, program.shape, program.size, program.inputs) == (
        "later",
        (3, 3, 3),
        27,
        system.program.inputs,
    )
    assert not traced
    assert program.instructions == system.program.instructions
    assert program.outputs == system.program.outputs
    assert len(traced) == 1
    again = pickle.loads(pickle.dumps(program))
    assert type(again) is Program
    assert again == program


@pytest.mark.parametrize("seed", range(20))
def test_tiles_cover_all_rows_and_columns(seed: int) -> None:
    rng = random.Random(seed)
    system = system_of(rng.randrange(1, 30), seed, rng.choice([0.0, 0.2]))
    plan = SolvePlan(system, rng.choice([1, 2, 4, 8]))
    wide = plan.vectors * plan.width
    for tiles in (plan.lower, plan.upper):
        covered = {(tile.row + r, tile.column + c) for tile in tiles for r in range(plan.rows) for c in range(wide)}
        assert covered == {(i, j) for i in range(system.n) for j in range(system.n)}
