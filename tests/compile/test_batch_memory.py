"""Kernels touch their arrays only: every batch size against forbidden pages, and sentinels around the output."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from functools import cache

import numpy as np
import pytest
from compile_tools import MACHINE, WIDTHS, Kernel, batch_code, program_of, scalar_code
from guarded import Guarded

import dqdyn as dq
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs mprotect")
SIZES = (*range(41), 4096)
# (input sizes, outputs): below, at and above each vector width, and none at all
SHAPES = [((1,), 1), ((3, 7), 5), ((8,), 8), ((9, 2), 17), ((4, 0), 2)]


@cache
def mixing(sizes: tuple[int, ...], outputs: int) -> Program:
    """Every output depends on several inputs, every input is used."""
    code = [("input", (i, k), 0.0) for i, size in enumerate(sizes) for k in range(size)]
    n = len(code)
    code += [("sub", (k % n, (3 * k + 1) % n), 0.0) for k in range(max(outputs, n))]
    code += [("add", (n + k, n + (k + 1) % max(outputs, n)), 0.0) for k in range(outputs)]
    return program_of(code, range(len(code) - outputs, len(code)), sizes)


@cache
def memory() -> list[Guarded]:
    return [Guarded(160) for _ in range(3)]


@cache
def kernel(sizes: tuple[int, ...], outputs: int, width: int) -> Kernel:
    program = mixing(sizes, outputs)
    return batch_code(program, width, MACHINE.fma, False) if width > 1 else scalar_code(program, MACHINE.fma, False)


@pytest.mark.parametrize(("sizes", "outputs"), SHAPES)
@pytest.mark.parametrize("width", [1, *WIDTHS])
def test_kernels_stay_between_forbidden_pages(sizes: tuple[int, ...], outputs: int, width: int) -> None:
    program, run = mixing(sizes, outputs), kernel(sizes, outputs, width)
    rng = np.random.default_rng(outputs)
    for rows in SIZES[1:]:
        for at_end in (True, False):
            inputs = []
            for (_, size), place in zip(program.inputs, memory()[1:], strict=False):
                a = place.array((rows, size), at_end)
                a[...] = rng.normal(size=a.shape)
                inputs.append(a)
            out = memory()[0].array((rows, outputs), at_end)
            out[...] = np.nan
            assert run(inputs, out) == 0
            expected = np.stack(interpret(program, [list(a.T) for a in inputs]), axis=1)
            np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("at_end", [True, False])
def test_functions_stay_between_forbidden_pages(at_end: bool) -> None:
    program = mixing((3, 7), 5)
    function, plain = Function(program, contract=False), Function(program, native=False)
    rng = np.random.default_rng(1)
    for rows in SIZES:
        a, b = memory()[1].array((rows, 3), at_end), memory()[2].array((rows, 7), at_end)
        a[...], b[...] = rng.normal(size=a.shape), rng.normal(size=b.shape)
        out = memory()[0].array((rows, 5), at_end)
        out[...] = np.nan
        assert function(a, b, out=out) is out
        np.testing.assert_array_equal(out, plain(a, b))
        np.testing.assert_array_equal(function(a, b), out)
    a, b, out = memory()[1].array((3,), at_end), memory()[2].array((7,), at_end), memory()[0].array((5,), at_end)
    out[...] = np.nan
    assert function.fast(a, b, out=out) is out
    np.testing.assert_array_equal(out, plain(a, b))


def test_quaternion_check_of_the_fast_path_stays_inside() -> None:
    program = mixing((3, 7), 5)
    f = Function(program, units=[(1, 3)], contract=False).fast
    b = memory()[2].array((7,), True)
    b[...] = (0.1, 0.2, 0.3, 0.5, 0.5, 0.5, 0.5)
    a = memory()[1].array((3,), True)
    a[...] = 1.0
    np.testing.assert_array_equal(f(a, b), Function(program, native=False)(a, b))


def test_forbidden_pages_end_the_process() -> None:
    """The guard works: one element too far is the end."""
    code = (
        "import numpy as np, ctypes, sys; sys.path.insert(0, sys.argv[1]); from guarded import Guarded\n"
        "a = Guarded(1).array((4,), True); print(a.sum(), flush=True)\n"
        "ctypes.c_double.from_address(a.ctypes.data + 32).value"
    )
    folder = __file__.rpartition("/")[0]
    done = subprocess.run(
        [sys.executable, "-c", code, folder], capture_output=True, text=True, check=False, timeout=240
    )
    assert done.stdout.strip() == "0.0"
    assert done.returncode < 0


@pytest.mark.parametrize("width", [1, *WIDTHS])
def test_bytes_around_the_output_stay(width: int) -> None:
    rng = np.random.default_rng(2)
    for rows in (1, 2, 3, 7, 8, 9, 17, 40):
        buffer = np.full(rows * 5 + 40, -7.25)
        out = buffer[20 : 20 + rows * 5].reshape(rows, 5)
        inputs = [rng.normal(size=(rows, 3)), rng.normal(size=(rows, 7))]
        before = [a.copy() for a in inputs]
        kernel((3, 7), 5, width)(inputs, out)
        assert (buffer[:20] == -7.25).all()
        assert (buffer[-20:] == -7.25).all()
        assert not (out == -7.25).any()
        for a, b in zip(inputs, before, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("width", WIDTHS)
def test_one_row_repeated_by_stride_zero(width: int) -> None:
    program = mixing((3, 7), 5)
    rng = np.random.default_rng(3)
    for rows in (2, 5, 8, 11, 33):
        single, many = rng.normal(size=(1, 3)), rng.normal(size=(rows, 7))
        out = np.empty((rows, 5))
        kernel((3, 7), 5, width)([single, many], out)
        everywhere = np.repeat(single, rows, axis=0)
        expected = np.stack(interpret(program, [list(everywhere.T), list(many.T)]), axis=1)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("layout", ["plain", "backwards", "every second row", "columns of a wider array", "one v"])
def test_large_batches_need_no_memory_of_their_own(layout: str, threads: int) -> None:
    """Beside inputs and output next to nothing: 300,000 states, of which a copy of one input would take 17 MB."""
    robot, n = dq.robots.arm7(), 300_000
    f = robot.function("inverse_dynamics")
    q, v, a = np.random.default_rng(0).normal(size=(3, n, 7))
    if layout == "backwards":
        v = v[::-1]
    elif layout == "every second row":
        v = np.repeat(v, 2, axis=0)[::2]
    elif layout == "columns of a wider array":
        v = np.concatenate([v, v], axis=1)[:, 3:10]
    elif layout == "one v":
        v = v[0]
    out = np.empty((n, 7))
    f(q[:100], np.broadcast_to(v, q.shape)[:100], a[:100], threads=threads)  # compiles
    peaks = []
    while len(peaks) < 5 and not (
        peaks and peaks[-1] < 2e6
    ):  # another thread may allocate now; a copy is made each time
        tracemalloc.start()
        try:
            f(q, v, a, out=out, threads=threads)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert min(peaks) < 2e6
    rows = [0, 1, 12_345, n - 1]
    np.testing.assert_allclose(
        out[rows], f(q[rows], np.broadcast_to(v, q.shape)[rows], a[rows]), rtol=1e-12, atol=1e-12
    )
