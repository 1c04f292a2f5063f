"""Floors below which no batch can run on this machine: bytes by the bandwidth of memory, operations by vector units.

Both are measured. A copy of as many bytes as a batch reads and writes, half of each, gives the bandwidth; independent
fused multiply-adds on the widest vectors give the throughput, two operations each. A sine with its cosine counts as
many operations as are emitted for it.
"""

from __future__ import annotations

import ctypes
import timeit
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dqdyn.compile.codegen.ir import Emitter
from dqdyn.compile.codegen.sincos import emit_sincos
from dqdyn.compile.runtime.native import Library, machine

_CHAINS = 24  # independent sums: more than latency times units of any processor
_REPEATS = 15


@dataclass(frozen=True)
class Floor:
    """Nanoseconds per state that a batch takes at least."""

    memory: float
    arithmetic: float

    @property
    def larger(self) -> float:
        return max(self.memory, self.arithmetic)

    def __str__(self) -> str:
        return f"floors: {self.memory:.1f} ns of memory, {self.arithmetic:.1f} ns of arithmetic"


def floor(program: Any, rows: int) -> Floor:
    """The floors of a program on a batch of so many rows, which is in the caches as far as it fits."""
    numbers = len(program.outputs) + sum(size for _, size in program.inputs)
    return Floor(8 * numbers / bandwidth(8 * numbers * rows), operations(program) / throughput())


def operations(program: Any) -> int:
    """Additions, multiplications and all others, those inside sines and cosines included."""
    angles = {operands for op, operands, _ in program.instructions if op in ("sin", "cos")}
    return int(program.counts.total - program.counts.sincos + len(angles) * _of_a_sine())


@lru_cache(maxsize=1)
def _of_a_sine() -> int:
    code = Emitter(machine().width, machine().fma)
    emit_sincos(code, "%x")
    words = [line.split()[2:4] for line in code.lines]
    fused = sum(first == "call" and "fma" in line for (first, _), line in zip(words, code.lines, strict=True))
    return 2 * fused + sum(first in ("fadd", "fsub", "fmul") for first, _ in words)


@lru_cache
def bandwidth(size: int) -> float:
    """Bytes per ns, read or written, of a copy that touches ``size`` bytes again and again."""
    source = np.ones(max(64, size // 16))
    target = np.zeros_like(source)
    return 2 * source.nbytes / _least(lambda: np.copyto(target, source), 1 + 10_000_000 // max(1, size))


@lru_cache(maxsize=1)
def throughput() -> float:
    """Additions and multiplications per ns of one core, in batches."""
    host = machine()
    code = Emitter(host.width, host.fma)
    names = [f"%x{i}" for i in range(_CHAINS)]
    results = []
    for x in names:
        if host.fma:
            results.append(code.intrinsic("fma", x, code.const(0.999), code.const(1e-3)))
        else:
            results.append(code.binary("fadd", code.binary("fmul", x, code.const(0.999)), code.const(1e-3)))
    start = [
        f"  {x} = phi {code.real} [ {code.const(0.5)}, %entry ], [ {r}, %loop ]"
        for x, r in zip(names, results, strict=True)
    ]
    end = Emitter(host.width, host.fma)
    total = results[0]
    for i, value in enumerate(results[1:]):
        end.lines.append(f"  %sum{i} = fadd {code.real} {total}, {value}")
        total = f"%sum{i}"
    text = "\n".join(
        [
            "define void @work(i64 %n, ptr %out) {",
            "entry:",
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *start,
            *code.lines,
            "  %next = add i64 %i, 1",
            "  %more = icmp ult i64 %next, %n",
            "  br i1 %more, label %loop, label %exit",
            "exit:",
            *end.lines,
            f"  store {code.real} {total}, ptr %out, align 8",
            "  ret void",
            "}",
        ]
    )
    library = Library(text, f"throughput {_CHAINS}", host.width)
    work = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(library.address("work"))
    out, count = np.empty(host.width), 20_000
    return 2 * _CHAINS * host.width * count / _least(lambda: work(count, out.ctypes.data), 3)


def _least(call: Any, number: int) -> float:
    """ns per call."""
    return min(timeit.repeat(call, number=number, repeat=_REPEATS)) / number * 1e9
