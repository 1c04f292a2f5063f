"""Many steps of a recursion x ← f(x, u, …) in machine code: one call runs thousands of steps of one state or a batch.

A step is a schedule: programs that are called one after the other, each with its own row of parameters, so that four
stages of a method are one piece of code called four times. Each program has the inputs state, input, parameters and
time = (t, dt), and gives the whole state back. Where LLVM is absent the same loop runs on the interpreter.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.caching import cached_property
from dqdyn.compile.codegen.lanes import ROLLOUT, blocks, lane_kernel, loop
from dqdyn.compile.runtime.function import native_wanted, warn_once
from dqdyn.compile.runtime.process_lock import LOCK
from dqdyn.compile.trace.program import Program

_SHARED = (2, 3)  # parameters and time are the same for all states
_CTYPES = {"ptr": ctypes.c_void_p, "i64": ctypes.c_int64, "double": ctypes.c_double}


class Rollout:
    """Steps of ``programs`` in the order of ``schedule``, a list of (program, parameters).

    ``kept`` is how many leading components of the state are recorded. ``native=False``, or ``DQDYN_NATIVE=0`` in the
    environment, runs everything on the interpreter.
    """

    def __init__(
        self,
        programs: Sequence[Program],
        schedule: Sequence[tuple[int, Sequence[float]]],
        kept: int,
        contract: bool = True,
        native: bool | None = None,
    ) -> None:
        self.programs, self.order = tuple(programs), tuple(k for k, _ in schedule)
        self.size, self.inputs, self.parameters = (n for _, n in self.programs[0].inputs[:3])
        self.table = np.array([row for _, row in schedule], dtype=float).reshape(len(schedule), self.parameters)
        self.kept, self.contract = kept, contract
        self.native = native_wanted(native)
        self._libraries: dict[int, Any] = {}  # by the width of vectors, as the loops
        self._loops: dict[int, Any] = {}

    @cached_property
    def width(self) -> int:
        """States per vector instruction."""
        from dqdyn.compile.runtime.native import machine

        return machine().width

    def _compiled(self, width: int) -> Any:
        from dqdyn.compile.runtime.native import Library, machine

        host = machine()
        names = [f"program{k}" for k in range(len(self.programs))]
        parts = [
            lane_kernel(program, width, _SHARED, host.fma, self.contract, name)
            for program, name in zip(self.programs, names, strict=True)
        ]
        parts.append(loop([names[k] for k in self.order], self.size, self.kept, self.parameters, width))
        parts.append(blocks(self.size, self.inputs, self.kept, width))
        digests = " ".join(program.digest for program in self.programs)
        key = f"rollout {width} {self.contract} {self.kept} {self.order} {digests}"
        library = Library("\n".join(parts), key, width)
        self._libraries[width] = library
        return ctypes.CFUNCTYPE(ctypes.c_int64, *(_CTYPES[kind] for kind in ROLLOUT))(library.address("rollout"))

    def blocks(self, threads: int) -> list[int]:
        """Addresses of the roll-out of blocks, one per thread; call :meth:`function` first."""
        addresses: list[int] = self._libraries[self.width].addresses("rollout_blocks", threads)
        return addresses

    def function(self, batch: bool) -> Any:
        """The loop for one state or for blocks of states; None where machine code is unavailable."""
        if not self.native:
            return None
        with LOCK:
            try:
                width = self.width if batch else 1
                if width not in self._loops:
                    self._loops[width] = self._compiled(width)
                return self._loops[width]
            except Exception as problem:  # whatever LLVM or the loader may raise: the interpreter does the work
                self.native = False
                reason = f"{type(problem).__name__}: {problem}"
                warn_once(f"native code is unavailable ({reason}): roll-outs run on NumPy, more slowly.")
                return None

    def lanes(self, batch: bool) -> int:
        """States that lie side by side in memory: the width of vectors for a batch, else 1."""
        return self.width if batch and self.function(True) is not None else 1
