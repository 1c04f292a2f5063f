"""A program as a callable: native where LLVM is there, interpreted where it is not; the same signature and errors."""

from __future__ import annotations

import ctypes
import math
import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.real import scalar_array
from dqdyn.algebra.scalar import stack, unstack
from dqdyn.caching import cached_property
from dqdyn.compile.codegen.rows import TOO_LARGE, UNFIT
from dqdyn.compile.runtime.process_lock import LOCK
from dqdyn.compile.runtime.python_abi import HEADER, fill_context, layout_is_known, layout_problem
from dqdyn.compile.runtime.threads import share, whole
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program
from dqdyn.errors import CompileWarning, Error, StateError

Door = Callable[[int, Any, bool], np.ndarray]
"""``door(argument, value, check)`` gives a float64 array of shape (..., size), or an object array of symbols."""


def plain_door(program: Program) -> Door:
    """Takes arrays of the right size; the door of programs without a robot."""

    def door(argument: int, value: Any, check: bool) -> np.ndarray:
        name, size = program.inputs[argument]
        array = scalar_array(value, f"{name} of {program.name}", StateError, argument=name)
        if array.ndim == 0 or array.shape[-1] != size:
            raise StateError(
                f"{name} of {program.name} has shape ({size},) or (..., {size}); found {array.shape}.",
                argument=name,
                expected=size,
                found=array.shape,
            )
        return array

    return door


class Native:
    """Machine code of a program, compiled at first use: one state in one module, batches in another."""

    def __init__(
        self, program: Program, units: Sequence[tuple[int, int]], contract: bool, numbers: Sequence[int] = ()
    ) -> None:
        self.program, self.units, self.contract, self.numbers = program, tuple(units), contract, tuple(numbers)
        self.largest = max(1, _UNINTERRUPTED // max(1, program.counts.total))

    @cached_property
    def single(self) -> Any:
        """The module with ``scalar`` and, where the layout is known, ``call``."""
        from dqdyn.compile.codegen.batch_call_path import ManyEmitter
        from dqdyn.compile.codegen.call_path import CallEmitter
        from dqdyn.compile.codegen.kernels import scalar_kernel
        from dqdyn.compile.runtime.native import Library, machine

        host = machine()
        text = scalar_kernel(self.program, host.fma, self.contract, width=host.width_for_one)
        if layout_is_known():
            choices = (self.program, host.width_for_one, self.units, self.numbers)
            text = CallEmitter(*choices).text() + ManyEmitter(*choices, self.largest).text() + text
        key = f"{HEADER if layout_is_known() else None} {self.units} {self.numbers} {self.contract}"
        library = Library(_without_repeats(text), f"single {key} {self.program.digest}", host.width_for_one)
        if "many" in self.__dict__:
            self._tell(library)
        return library

    @cached_property
    def many(self) -> Any:
        """The batch kernel as a ctypes function, which releases the GIL."""
        from dqdyn.compile.codegen.kernels import batch_kernel
        from dqdyn.compile.runtime.native import Library, machine

        host = machine()
        text = batch_kernel(self.program, host.width, host.fma, self.contract, units=self.units)
        key = f"batch {self.units} {self.contract} {self.program.digest}"
        self._batch_library = Library(text, key, host.width)
        arguments = [ctypes.c_void_p, ctypes.c_int64] * (len(self.program.inputs) + 1)
        kernel = ctypes.CFUNCTYPE(ctypes.c_int64, *arguments)(self._batch_library.address("batch"))
        if "single" in self.__dict__:
            self._tell(self.single)
        return kernel

    def pieces(self, threads: int) -> list[int]:
        """Addresses of the batch kernel for pieces, one per thread."""
        self.batch_function()
        return list(self._batch_library.addresses("batch_piece", threads))

    def _tell(self, single: Any) -> None:
        """Let the built-in function know where the batch kernel is."""
        if layout_is_known():
            ctypes.c_void_p.from_address(single.address("many")).value = self._batch_library.address("batch")

    @cached_property
    def one(self) -> Any:
        """The scalar kernel as a ctypes function."""
        arguments = [ctypes.c_void_p] * (len(self.program.inputs) + 1)
        return ctypes.CFUNCTYPE(ctypes.c_int64, *arguments)(self.single.address("scalar"))

    def one_function(self) -> Any:
        """:attr:`one`, compiled once whoever asks first."""
        if "one" not in self.__dict__:
            with LOCK:
                return self.one
        return self.one

    def batch_function(self) -> Any:
        """:attr:`many`, compiled once whoever asks first."""
        if "many" not in self.__dict__:
            with LOCK:
                return self.many
        return self.many


def _without_repeats(text: str) -> str:
    """Declarations once, though several parts of a module ask for them."""
    seen: set[str] = set()
    lines = []
    for line in text.split("\n"):
        if line.startswith(("declare ", "@atan2_at ")):
            if line in seen:
                continue
            seen.add(line)
        lines.append(line)
    return "\n".join(lines)


class Function:
    """What a compiled function falls back to: converts, broadcasts, loops over batches, explains.

    ``fast`` is a built-in function where machine code is to be had, else this object. ``native=False``, or
    ``DQDYN_NATIVE=0`` in the environment, runs everything on the interpreter. ``units`` and ``numbers`` are those of
    :class:`~dqdyn.compile.codegen.call_path.CallEmitter`. ``verify`` looks at sound inputs before anything is computed,
    and raises where there is no answer; such functions have no built-in.
    """

    def __init__(
        self,
        program: Program,
        door: Door | None = None,
        units: Sequence[tuple[int, int]] = (),
        summary: str = "",
        contract: bool = True,
        native: bool | None = None,
        numbers: Sequence[int] = (),
        verify: Callable[[list[np.ndarray]], None] | None = None,
    ) -> None:
        self.program, self.verify = program, verify
        self.door = plain_door(program) if door is None else door
        self.__name__, self.__doc__ = program.name, summary
        wanted = os.environ.get("DQDYN_NATIVE", "1") != "0" if native is None else native
        self.native: Native | None = None
        if wanted and program.outputs:
            self.native = Native(program, units, contract, numbers)
        self._made: Any = None

    @property
    def fast(self) -> Any:
        """The callable to hand out; machine code for one state is made at first use."""
        if self._made is None:
            with LOCK:
                if self._made is None:
                    self._made = self._fast()
        return self._made

    def _fast(self) -> Any:
        if self.native is None or self.verify is not None:
            return self
        from dqdyn.compile.codegen.call_path import python_function

        try:
            self.native.one_function()
            library = self.native.single
            if not layout_is_known():
                text = f"{layout_problem()}: every call goes through ctypes and takes some 10 µs longer."
                warn_once(text, "calls")
                return self
            doc = f"{self.__name__}{self.__signature__}\n--\n\n{self.__doc__}"
            fill_context(library.address("context"))
            return python_function(library.address("call"), self, self.__name__, doc)
        except Exception as problem:  # whatever LLVM or the loader may raise: the interpreter does the work
            self._give_up(problem)
            return self

    def _give_up(self, problem: Exception) -> None:
        self._retired = self.native  # the built-in function of this very call may still run in its code
        self.native = None
        warn_once(f"no native code ({type(problem).__name__}: {problem}); functions run on NumPy, more slowly.")

    def __call__(
        self, *inputs: Any, out: np.ndarray | None = None, check: bool = True, threads: int = 1, **named: Any
    ) -> np.ndarray:
        if named or len(inputs) != len(self.program.inputs):
            inputs = self._arguments(inputs, named)
        threads = whole(threads)
        arrays = [self.door(i, value, False) for i, value in enumerate(inputs)]
        if any(a.dtype == object for a in arrays):
            return self._symbolic(arrays, out)
        batch = self._common_batch(arrays)
        shape = (*batch, *self.program.shape)
        target = self._target(out, shape, arrays)
        # The kernel for batches notices unfit numbers as it reads them; for the rest they are looked for first.
        later = self.native is not None and math.prod(batch) > 1
        if check and (self.verify is not None or not later):
            self._refuse_unfit(inputs)
        if check and self.verify is not None:
            self.verify(arrays)
        unfit = self._compute(arrays, batch, target, threads)
        if check and later and unfit:
            self._refuse_unfit(inputs)
        if out is not None and target is not out:
            out[...] = target
            return out
        return target

    def _refuse_unfit(self, inputs: tuple[Any, ...]) -> None:
        """An error that names what is not finite, or not of unit norm."""
        for i, value in enumerate(inputs):
            self.door(i, value, True)

    def _symbolic(self, arrays: list[np.ndarray], out: Any) -> np.ndarray:
        if out is not None or any(a.ndim != 1 for a in arrays):
            what = "out" if out is not None else "batch"
            raise StateError(f"{self.__name__} of symbols takes one state and makes a new array: pass no {what}.")
        return stack(interpret(self.program, [list(a) for a in arrays]), self.program.shape)

    def _arguments(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        names = [name for name, _ in self.program.inputs]
        given = dict(zip(names, inputs, strict=False)) | named
        if len(inputs) + len(named) != len(names) or set(given) != set(names):
            raise Error(
                f"{self.__name__} takes {', '.join(names)}; found {len(inputs)} positional arguments"
                + (f" and {', '.join(sorted(named))}." if named else ".")
            )
        return tuple(given[name] for name in names)

    def _common_batch(self, arrays: list[np.ndarray]) -> tuple[int, ...]:
        shapes = {a.shape[:-1] for a in arrays}
        if len(shapes) == 1:
            return shapes.pop()
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            pairs = zip(self.program.inputs, arrays, strict=True)
            found = ", ".join(f"{name} {a.shape}" for (name, _), a in pairs)
            raise StateError(f"inputs of {self.__name__} have batches that do not fit together: {found}.") from None

    def _target(self, out: Any, shape: tuple[int, ...], arrays: list[np.ndarray]) -> np.ndarray:
        """Where to compute: ``out`` itself if it is plain memory apart from the inputs, else a new array."""
        if out is None:
            return np.empty(shape)
        check_out(self.__name__, out, shape)
        if not out.flags.c_contiguous or not out.flags.aligned or any(np.may_share_memory(out, a) for a in arrays):
            return np.empty(shape)
        return out

    def _compute(self, arrays: list[np.ndarray], batch: tuple[int, ...], target: np.ndarray, threads: int) -> bool:
        """Fill the target; whether there may be unfit numbers in a batch."""
        rows = math.prod(batch)
        if rows == 0 or not self.program.outputs:
            return True
        if rows == 1 and self._one(arrays, target):
            return False
        flat, strides = _as_rows(arrays, batch, rows)
        out = target.reshape(rows, len(self.program.outputs))
        if self.native is None:
            self._interpret(flat, out, slice(0, rows))
            return False
        try:
            kernel = self.native.batch_function()
        except Exception as problem:
            self._give_up(problem)
            self._interpret(flat, out, slice(0, rows))
            return True

        arguments = [x for a, s in zip(flat, strides, strict=True) for x in (_address(a), s)] + [_address(out)]
        if threads == 1 and rows <= self.native.largest:
            noticed = kernel(*arguments, rows)
        else:
            limit, memory = self.native.largest, (flat, out)
            noticed = share(self.native.pieces, arguments, rows, threads, largest=limit, keep=memory)
        if noticed & TOO_LARGE:
            for start in range(0, rows, _SOME):
                part = slice(start, min(start + _SOME, rows))
                given = [x for a, s in zip(flat, strides, strict=True) for x in (_address(a) + 8 * s * start, s)]
                if kernel(*given, _address(out[part]), part.stop - start) & TOO_LARGE:
                    self._interpret(flat, out, part)
        return bool(noticed & UNFIT)

    def _one(self, arrays: list[np.ndarray], target: np.ndarray) -> bool:
        """One state by the code for one state; False where there is none."""
        if self.native is None:
            return False
        try:
            kernel = self.native.one_function()
        except Exception as problem:
            self._give_up(problem)
            return False
        flat = [_gapless(a.reshape(1, a.shape[-1])) for a in arrays]
        if kernel(*(a.ctypes.data for a in flat), target.ctypes.data):
            self._interpret(flat, target.reshape(1, len(self.program.outputs)), slice(0, 1))
        return True

    def _interpret(self, flat: list[np.ndarray], out: np.ndarray, rows: slice) -> None:
        scalars = []
        for a in flat:
            part = a[rows] if a.shape[0] > 1 else a
            scalars.append(unstack(part, a.shape[1]) if a.shape[1] else [])
        with np.errstate(all="ignore"):
            results = interpret(self.program, scalars)
        part = out[rows]
        for k, value in enumerate(results):
            part[:, k] = value

    @property
    def __signature__(self) -> Any:
        """That of the built-in, for ``inspect.signature``."""
        import inspect

        names = [name for name, _ in self.program.inputs]
        if len(set(names)) < len(names):
            names = [f"{name}{i}" for i, name in enumerate(names)]
        words = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
        options = {"out": None, "check": True, "threads": 1}
        words += [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d) for n, d in options.items()]
        return inspect.Signature(words)

    def __reduce__(self) -> Any:
        raise Error(
            f"the compiled function {self.__name__} cannot be pickled: pickle the robot or the program, and ask it "
            "for the function where it is needed.",
            function=self.__name__,
        )

    def __repr__(self) -> str:
        return f"<{self.__name__}({', '.join(name for name, _ in self.program.inputs)}): {self.program.counts}>"


def check_out(name: str, out: Any, shape: tuple[int, ...]) -> None:
    """An error unless the result of a function can be written to ``out``."""
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != np.float64:
        found = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise StateError(f"out of {name} must be a float64 array of shape {shape}; found {found}.")
    if not out.flags.writeable:
        raise StateError(f"out of {name} is read-only: pass a writeable array.")


def _address(a: np.ndarray) -> int:
    """Where the data start; quicker than ``a.ctypes.data``."""
    return int(a.__array_interface__["data"][0])


def _gapless(a: np.ndarray) -> np.ndarray:
    """The array itself if its memory is in order, else a copy; ``np.ascontiguousarray`` leaves it unaligned."""
    return a if a.flags.c_contiguous and a.flags.aligned else np.array(a, order="C")


def _as_rows(arrays: list[np.ndarray], batch: tuple[int, ...], rows: int) -> tuple[list[np.ndarray], list[int]]:
    """Arrays of shape (rows, n) or (1, n) with gapless rows, and the row strides in doubles (0: one row for all)."""
    flat, strides = [], []
    for a in arrays:
        n = a.shape[-1]
        if a.size == n:
            a = _gapless(a.reshape(1, n))
            stride = 0
        else:
            if a.shape[:-1] != batch:
                a = np.broadcast_to(a, (*batch, n))
            a = a.reshape(rows, n)
            if not (a.strides[1] == 8 or n == 1) or a.strides[0] % 8 or not a.flags.aligned:
                a = np.array(a, order="C")
            stride = a.strides[0] // 8
        flat.append(a)
        strides.append(stride)
    return flat, strides


_UNINTERRUPTED = 200_000_000  # operations without a look at signals: a tenth of a second on a slow processor
_SOME = 512  # rows that the interpreter does at a time: a thousand values of each fit into a few megabytes
_warned: set[str] = set()


def warn_once(text: str, about: str = "native code") -> None:
    """A :class:`CompileWarning`, once per process and subject."""
    if about not in _warned:
        _warned.add(about)
        warnings.warn(text, CompileWarning, stacklevel=4)
