"""What the tests of the compiler share: kernels as plain functions, distances in ulp, bits of arrays."""

from __future__ import annotations

import ctypes
import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dqdyn.compile.codegen.kernels import batch_kernel, scalar_kernel
from dqdyn.compile.codegen.rows import TOO_LARGE
from dqdyn.compile.runtime import native
from dqdyn.compile.trace.program import Instruction, Program

MACHINE = native.machine()
WIDTHS = tuple(w for w in (2, 4, 8) if w <= MACHINE.width)
FUSED = (True, False) if MACHINE.fma else (False,)

Kernel = Callable[[Sequence[np.ndarray], np.ndarray], int]
"""``kernel(inputs, out)`` with C-contiguous rows: inputs (n, size) or (1, size), out (n, outputs); 1: redo it."""


def library(ir: str) -> native.Library:
    """Machine code of a module, named by its text: the same text is never compiled twice where a cache is on."""
    return native.Library(ir, hashlib.sha256(ir.encode()).hexdigest())


def scalar_code(program: Program, fma: bool, contract: bool, width: int = 1, registers: int = 16) -> Kernel:
    """The kernel for one state, called row by row; sines of coordinates in vectors of ``width``."""
    made = library(scalar_kernel(program, fma, contract, width=width, registers=registers))
    count = len(program.inputs) + 1
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * count)(made.address("scalar"))

    def run(inputs: Sequence[np.ndarray], out: np.ndarray, _alive: Any = made) -> int:
        starts = [a.ctypes.data for a in inputs]
        steps = [8 * a.shape[1] if len(a) > 1 else 0 for a in inputs]
        at, row = out.ctypes.data, 8 * out.shape[1]
        return sum(
            function(*(start + i * step for start, step in zip(starts, steps, strict=True)), at + i * row)
            for i in range(len(out))
        )

    return run


def batch_code(program: Program, width: int, fma: bool, contract: bool, whole_vectors: bool = False) -> Kernel:
    """The SIMD kernel for vectors of ``width`` states."""
    made = library(batch_kernel(program, width, fma, contract, whole_vectors=whole_vectors))
    kinds = [ctypes.c_void_p, ctypes.c_int64] * (len(program.inputs) + 1)
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(made.address("batch"))

    def run(inputs: Sequence[np.ndarray], out: np.ndarray, _alive: Any = made) -> int:
        pairs = [x for a in inputs for x in (a.ctypes.data, a.shape[1] if len(a) > 1 else 0)]
        return int(function(*pairs, out.ctypes.data, len(out))) & TOO_LARGE

    return run


def parts_code(
    program: Program, width: int, parts: Sequence[tuple[int, ...]], whole_vectors: bool = False
) -> Callable[[np.ndarray, Sequence[np.ndarray]], int]:
    """The same, without fused operations, of a program of one input and several arrays of results."""
    made = library(batch_kernel(program, width, False, False, parts=parts, whole_vectors=whole_vectors))
    kinds = [ctypes.c_void_p, ctypes.c_int64] * (1 + len(parts))
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds, ctypes.c_int64)(made.address("batch"))

    def run(x: np.ndarray, outs: Sequence[np.ndarray], _alive: Any = made) -> int:
        pairs = [word for a in (x, *outs) for word in (a.ctypes.data, a.strides[0] // 8)]
        return int(function(*pairs, len(x))) & TOO_LARGE

    return run


def program_of(
    instructions: Sequence[Instruction],
    outputs: Sequence[int],
    sizes: Sequence[int],
    shape: tuple[int, ...] | None = None,
    name: str = "made",
) -> Program:
    """A program written by hand; inputs are called x0, x1, …"""
    inputs = tuple((f"x{i}", size) for i, size in enumerate(sizes))
    return Program(name, inputs, tuple(instructions), tuple(outputs), (len(outputs),) if shape is None else shape)


def bits(values: Any) -> np.ndarray:
    """The bits of doubles, every NaN made the same one."""
    array = np.array(values, dtype=np.float64)
    array[np.isnan(array)] = np.nan
    return array.view(np.uint64)


def assert_same_bits(found: Any, expected: Any) -> None:
    """Equal to the last bit, zeros by sign; NaN equals NaN."""
    a, b = bits(found), bits(expected)
    assert a.shape == b.shape, (a.shape, b.shape)
    wrong = np.argwhere(a != b)
    if len(wrong):
        where = tuple(int(i) for i in wrong[0])
        left, right = np.asarray(found)[where], np.asarray(expected)[where]
        raise AssertionError(f"{len(wrong)} of {a.size} differ, first at {where}: {left!r} and {right!r}")


def ulps(found: np.ndarray, high: np.ndarray, low: np.ndarray | float = 0.0) -> np.ndarray:
    """Distance of ``found`` from the exact ``high + low`` in units of the last place of ``high``."""
    return np.abs((found - high) - low) / np.spacing(np.abs(high))


def own_size() -> int:
    """Resident memory of this process in bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
