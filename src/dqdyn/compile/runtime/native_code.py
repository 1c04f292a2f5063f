"""Machine code of one program, compiled at first use: one state in one module, batches in another."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

from dqdyn.compile.codegen.results import ResultForm, Shape
from dqdyn.compile.runtime import python_abi as abi
from dqdyn.compile.runtime.process_lock import SharedProperty
from dqdyn.compile.trace.linear_system import LinearSystem
from dqdyn.compile.trace.program import Program

if TYPE_CHECKING:
    from dqdyn.compile.runtime.native import Library

_UNINTERRUPTED = 200_000_000  # operations between two checks for signals: a tenth of a second on a slow processor


class NativeCode:
    """The kernels of a program; ``units`` and ``numbers`` are those of :class:`CallEmitter`.

    The kernels write an array for each of the ``parts``. ``forms`` are those in which built-in functions give the
    result, by their names; the first is "call". They leave states to Python at which one of the outputs in ``marks`` is
    NaN. Batches of more than ``largest`` rows are computed in pieces, so that Python can handle signals in between.
    Where there is a ``system``, the code computes and solves it; of ``program`` it has the inputs and the shape.
    """

    def __init__(
        self,
        program: Program,
        units: Sequence[tuple[int, int]],
        contract: bool,
        numbers: Sequence[int] = (),
        parts: Sequence[Shape] = (),
        forms: Mapping[str, ResultForm] | None = None,
        marks: Sequence[int] = (),
        system: LinearSystem | None = None,
    ) -> None:
        self.system = system
        self.program, self.units, self.contract, self.numbers = program, tuple(units), contract, tuple(numbers)
        self.parts, self.marks = tuple(parts) if len(parts) > 1 else (), tuple(marks)
        self.forms = dict(forms or {"call": ResultForm((program.shape,))})
        operations = program.counts.total if system is None else system.most_operations
        self.largest = max(1, _UNINTERRUPTED // max(1, operations))
        self._started: dict[str, Library] = {}  # being compiled on other threads

    def start(self, executor: Executor, batches: bool = False) -> None:
        """Begin to compile on an executor the code for one state and, if asked for, for batches.

        The caller holds :data:`~dqdyn.compile.runtime.process_lock.LOCK` until ``single`` and ``many`` are there.
        """
        if "single" not in self.__dict__:
            self._started["single"] = self._single(executor)
        if batches and "batch" not in self.__dict__:
            self._started["batch"] = self._batch(executor)

    def abandon(self) -> None:
        """Forget what was started: its executor stops."""
        self._started.clear()

    def libraries(self) -> list[Library]:
        """The modules that are loaded."""
        return [self.__dict__[name] for name in ("single", "batch") if name in self.__dict__]

    @SharedProperty
    def single(self) -> Library:
        """The module with ``scalar`` and, where the layout is known, ``call`` and functions for other forms."""
        library = self._started.pop("single", None) or self._single()
        library.finish()
        if "many" in self.__dict__:
            self._announce(library)
        return library

    def _single(self, executor: Executor | None = None) -> Library:
        from dqdyn.compile.runtime.native import Library, machine

        host = machine()
        width, known = host.width_for_rows(self._columns), abi.layout_is_known()

        def text(hand_over: Callable[[str], None]) -> str:
            from dqdyn.compile.codegen import kernels  # here, for code from the cache needs none of them
            from dqdyn.compile.codegen.batch_call_path import BatchCallEmitter
            from dqdyn.compile.codegen.call_path import CallEmitter

            seldom = calls = ""
            for name, form in self.forms.items() if known else ():
                choices = (self.program, width, self.units, self.numbers, self.parts, form, name, self.marks)
                call = CallEmitter(*choices)
                seldom += BatchCallEmitter(*choices, self.largest).text() + call.seldom()
                calls += call.function()  # next to the kernel: fewer pages and lines
            if self.system is not None:
                from dqdyn.compile.codegen.solve_kernels import solved_state_kernel

                system = (self.system, host.fma, self.contract, width, self.parts, hand_over, host.registers)
                return seldom + calls + solved_state_kernel(*system)
            code = (self.program, host.fma, self.contract, "scalar", width, self.parts, hand_over, host.registers)
            return seldom + calls + kernels.scalar_kernel(*code)

        call = f"{abi.HEADER if known else None} {self.units} {self.numbers} {self.marks}"
        key = f"{call} {self.contract} {self.parts} {self.forms}"
        return Library(text, f"single {key} {self._digest}", width, executor)

    @property
    def _columns(self) -> int:
        """How many numbers a row of a matrix of results has; 0 where there is no matrix."""
        return self.program.shape[-1] if len(self.program.shape) > 1 else 0

    @property
    def _digest(self) -> str:
        return self.program.digest if self.system is None else self.system.digest

    @SharedProperty
    def one(self) -> Any:
        """The scalar kernel as a ctypes function."""
        arguments = [ctypes.c_void_p] * (len(self.program.inputs) + max(1, len(self.parts)))
        return ctypes.CFUNCTYPE(ctypes.c_int64, *arguments)(self.single.address("scalar"))

    @SharedProperty
    def many(self) -> Any:
        """The batch kernel as a ctypes function, which releases the GIL."""
        pairs = len(self.program.inputs) + len(self.parts)
        last = [ctypes.c_int64] if self.parts else [ctypes.c_void_p, ctypes.c_int64]
        arguments = [ctypes.c_void_p, ctypes.c_int64] * pairs + last
        kernel = ctypes.CFUNCTYPE(ctypes.c_int64, *arguments)(self.batch.address("batch"))
        if "single" in self.__dict__:
            self._announce(self.single)
        return kernel

    @SharedProperty
    def batch(self) -> Library:
        """The module with ``batch`` and ``batch_piece``."""
        library = self._started.pop("batch", None) or self._batch()
        library.finish()
        return library

    def _batch(self, executor: Executor | None = None) -> Library:
        from dqdyn.compile.runtime.native import Library, machine

        host = machine()

        def text(hand_over: Callable[[str], None]) -> str:
            from dqdyn.compile.codegen import kernels

            if self.system is not None:
                from dqdyn.compile.codegen.solve_kernels import solved_batch_kernel

                widths = (host.width, host.width_for_rows(self._columns))
                return solved_batch_kernel(self.system, *widths, host.fma, self.contract, self.units, self.parts)
            choices = (self.program, host.width, host.fma, self.contract, "batch", self.units, self.parts)
            return kernels.batch_kernel(*choices, hand_over, host.has_whole_vectors)

        key = f"batch {self.units} {self.contract} {self.parts} {self._digest}"
        return Library(text, key, host.width, executor)

    def pieces(self, threads: int) -> list[int]:
        """Addresses of the batch kernel for pieces, one per thread."""
        return self.batch.addresses("batch_piece", threads)

    def output_words(self, rows: Sequence[tuple[int, int]]) -> list[int]:
        """Arguments of the batch kernel for the arrays of the result, from the address and the row stride of each."""
        return [word for pair in rows for word in pair] if self.parts else [rows[0][0]]

    def _announce(self, single: Library) -> None:
        """Tell the built-in functions where the batch kernel is."""
        if abi.layout_is_known():
            ctypes.c_void_p.from_address(single.address("many")).value = self.batch.address("batch")
