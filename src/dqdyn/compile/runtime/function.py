"""A program as a callable: native where LLVM is available, else interpreted; the same signature and errors."""

from __future__ import annotations

import ctypes
import inspect
import itertools
import math
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.algebra.real import scalar_array
from dqdyn.algebra.scalar import stack, unstack
from dqdyn.arrays import Array
from dqdyn.compile.codegen.fresh_results import OWN, REMEMBERED
from dqdyn.compile.codegen.results import OutputArrays, ResultForm, Shape, ValueKind
from dqdyn.compile.codegen.rows import TOO_LARGE, UNFIT, UNIT_SQUARED
from dqdyn.compile.codegen.solve_plan import executed
from dqdyn.compile.runtime import python_abi as abi
from dqdyn.compile.runtime.array_memory import address, as_rows, gapless, given_arrays, target
from dqdyn.compile.runtime.checked_call import CheckedCall, QuicklyCheckedCall
from dqdyn.compile.runtime.named_results import named_results
from dqdyn.compile.runtime.native_code import NativeCode
from dqdyn.compile.runtime.process_lock import SharedProperty
from dqdyn.compile.runtime.threads import share, whole
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.linear_system import LinearSystem
from dqdyn.compile.trace.program import Counts, Program
from dqdyn.errors import CompileWarning, Error, LazyArrayError, StateError

if TYPE_CHECKING:
    from dqdyn.compile.runtime.native import Library

Converter = Callable[[int, Any, bool], Array]
"""``convert(argument, value, check)`` gives a float64 array of shape (..., size), or an object array of symbols.

With ``check`` it raises for inputs that are not finite, and for quaternions that are not of unit norm."""

Refusal = Callable[[Array], None]
"""Raises where any entry of an array (...) of booleans, one per state, is true."""


def size_converter(program: Program) -> Converter:
    """Takes arrays of the right size; the converter of programs without a robot."""

    def convert(argument: int, value: Any, check: bool) -> Array:
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

    return convert


def native_wanted(native: bool | None) -> bool:
    """The choice of the caller, or that of the environment."""
    return os.environ.get("DQDYN_NATIVE", "1") != "0" if native is None else native


class Function:
    """What a compiled function falls back to: converts, broadcasts, loops over batches, explains.

    ``fast`` is a built-in function where machine code is available, else this object. ``native=False``, or
    ``DQDYN_NATIVE=0`` in the environment, runs everything on the interpreter. ``units`` and ``numbers`` are those of
    :class:`~dqdyn.compile.codegen.call_path.CallEmitter`. ``verify`` raises for states, already converted and checked,
    at which the function has no value; such functions have no built-in, but those whose ``verify`` depends on some
    inputs ``alone``, its attribute, which are checked where they changed, or those that it lets pass by
    ``quick(*inputs)``. ``refusals`` by number of an output raise for states at which that output is NaN: so a program
    can say itself that it has no value. ``lazy(function, inputs, **options)`` takes calls with Dask arrays and gives
    the result in one of them.

    ``forms`` say how the result is given: "call" by this function, by default as one array, and "plain" by the method
    of a robot, where that differs. In a tuple each of the ``parts``, shapes of neighbouring outputs, has its own array;
    ``value`` is the kind of a form that is a value. Where there is a ``system``, it is
    computed and solved in place of ``program``.
    """

    def __init__(
        self,
        program: Program,
        convert: Converter | None = None,
        units: Sequence[tuple[int, int]] = (),
        summary: str = "",
        contract: bool = True,
        native: bool | None = None,
        numbers: Sequence[int] = (),
        verify: Callable[[list[Array]], None] | None = None,
        refusals: Mapping[int, Refusal] | None = None,
        parts: Sequence[Shape] = (),
        forms: Mapping[str, ResultForm] | None = None,
        value: ValueKind | None = None,
        lazy: Callable[..., Any] | None = None,
        system: LinearSystem | None = None,
    ) -> None:
        self.program, self.units, self.verify, self.value, self.lazy = program, units, verify, value, lazy
        self.forms = dict(forms or {"call": ResultForm((program.shape,))})
        self.form_name, self.form, self.arrays = "call", self.forms["call"], OutputArrays.of(program, parts)
        self.convert = size_converter(program) if convert is None else convert
        self.refusals = dict(refusals or {})
        self.__name__, self.__doc__ = program.name, summary
        wanted = native_wanted(native) and program.size
        self.system = system
        code = (program, units, contract, numbers, parts, self.forms, tuple(self.refusals), system)
        self.native = NativeCode(*code) if wanted else None

    @SharedProperty
    def plain(self) -> Function:
        """The function as a method of a robot gives its result; the same machine code."""
        if "plain" not in self.forms:
            return self
        other = object.__new__(type(self))
        other.__dict__ |= {name: value for name, value in self.__dict__.items() if name != "fast"}
        other.form_name, other.form = "plain", self.forms["plain"]
        return other

    @SharedProperty
    def fast(self) -> Callable[..., Array]:
        """The callable to hand out; machine code for one state is compiled at first use."""
        alone, quick = getattr(self.verify, "alone", None), getattr(self.verify, "quick", None)
        if (self.verify is not None and alone is None and quick is None) or self._attempt(
            lambda code: code.one
        ) is None:
            return self
        if self.form.is_value and not (self.value and abi.slots_fit(self.value.kind, self.value.slots)):
            return self
        if problem := abi.layout_problem():
            warn_once(f"{problem}: every call goes through ctypes and takes some 10 µs longer.", "calls")
            return self
        built_in = self._attempt(self._built_in) or self
        if quick is not None and built_in is not self:
            return QuicklyCheckedCall(self, built_in, quick)
        return built_in if alone is None or built_in is self else CheckedCall(self, built_in, alone)

    def start(self, executor: Executor, batches: bool = False) -> None:
        """Begin to compile on an executor; see :meth:`NativeCode.start`, and :meth:`finish`."""
        self._attempt(lambda code: code.start(executor, batches))

    def finish(self, batches: bool = False) -> None:
        """Wait for the code of single states and, if asked for, of batches."""
        if self.fast is self:
            self._attempt(lambda code: code.one)
        if batches:
            self._attempt(lambda code: code.many)

    def abandon(self) -> None:
        """Forget code that was started and not finished; it is compiled when it is needed."""
        if self.native is not None:
            self.native.abandon()

    def libraries(self) -> list[Library]:
        """The machine code that there is."""
        return [] if self.native is None else self.native.libraries()

    def _built_in(self, code: NativeCode) -> Any:
        doc = f"{self.__name__}{self.__signature__}\n--\n\n{self.__doc__}"
        abi.fill_context(code.single.address("context"))
        own = (ctypes.c_void_p * len(OWN)).from_address(code.single.address(f"{self.form_name}_own"))
        if self.form.fields:
            own[OWN.index("type")] = abi.immortal(named_results(self.form.fields).__self__)
        if self.value and self.form.is_value:
            own[OWN.index("type")] = abi.immortal(self.value.kind)
            own[OWN.index("frames")] = id(self.value.frames)  # which this object holds
        if abi.references_are_counted():
            self._remembered = np.full(REMEMBERED, None)  # results, which may serve again
            own[OWN.index("remembered")] = address(self._remembered)
        return abi.python_function(code.single.address(self.form_name), self, self.__name__, doc)

    def _attempt(self, get: Callable[[NativeCode], Any]) -> Any:
        """A piece of machine code; None, after one warning, where it is unavailable."""
        if self.native is None:
            return None
        try:
            return get(self.native)
        except Exception as problem:  # whatever LLVM or the loader may raise: the interpreter does the work
            self._retired = self.native  # the built-in function of this very call may still run in its code
            self.native = None
            reason = f"{type(problem).__name__}: {problem}"
            absent = isinstance(problem, ImportError)
            remedy = " (install llvmlite where it has wheels, or set DQDYN_NATIVE=0 to say so)" if absent else ""
            warn_once(f"native code is unavailable ({reason}): functions run on NumPy, more slowly{remedy}.")
            return None

    def __call__(self, *inputs: Any, out: Any = None, check: bool = True, threads: int = 1, **named: Any) -> Any:
        if named or len(inputs) != len(self.program.inputs):
            inputs = self._arguments(inputs, named)
        threads = whole(threads)
        try:
            arrays = [self.convert(i, value, False) for i, value in enumerate(inputs)]
        except LazyArrayError:
            if self.lazy is None:
                raise
            arrays = []
        if not arrays and inputs:
            return self._lazily(inputs, out=out, check=check, threads=threads)
        if any(a.dtype == object for a in arrays):
            return self._symbolic(arrays, out)
        batch = self._common_batch(arrays)
        shapes = [(*batch, *shape) for shape in self.form.shapes]
        given = given_arrays(self.__name__, out, shapes, self.form.is_tuple)
        targets = [target(o, shape, arrays) for o, shape in zip(given, shapes, strict=True)]
        # The kernel for batches detects unfit inputs as it reads them; for everything else they are checked first.
        deferred = self.native is not None and self.verify is None and math.prod(batch) > 1
        if check and not deferred and self._is_suspicious(arrays):
            self._refuse_unfit(inputs)
        if check and self.verify is not None:
            self.verify(arrays)
        unfit = self._compute(arrays, batch, targets, threads)
        if check and deferred and unfit:
            self._refuse_unfit(inputs)
        if check:
            self._refuse_states(targets)
        if out is None:
            return self._formed(targets)
        for o, computed in zip(given, targets, strict=True):
            if computed is not o:
                o[...] = computed
        return out

    def _lazily(self, inputs: tuple[Any, ...], **options: Any) -> Any:
        """The result of Dask arrays, which is one array by now, in the form of this function."""
        assert self.lazy is not None
        whole = self.lazy(self, inputs, **options)
        if self.form_name == "call":
            return whole
        if self.form.is_value:
            return self._formed([whole])
        if not self.form.is_tuple:
            return whole[..., 0]
        return tuple(whole[..., k, *(slice(None),) * len(shape)] for k, shape in enumerate(self.form.shapes))

    def _formed(self, arrays: list[Array]) -> Any:
        """Arrays in the form of the result."""
        if self.form.is_value:
            assert self.value is not None
            return self.value.of(arrays[0])
        if not self.form.is_tuple:
            return arrays[0]
        return named_results(self.form.fields)(arrays) if self.form.fields else tuple(arrays)

    def _is_suspicious(self, arrays: list[Array]) -> bool:
        """Whether an input may be unfit, by the criteria of emitted code."""
        if not all(np.isfinite(a).all() for a in arrays):
            return True
        quaternions = [arrays[argument][..., start : start + 4] for argument, start in self.units]
        return any((np.abs((r * r).sum(-1) - 1.0) >= UNIT_SQUARED).any() for r in quaternions)

    def _refuse_unfit(self, inputs: tuple[Any, ...]) -> None:
        """An error that names what is not finite, or not of unit norm."""
        for i, value in enumerate(inputs):
            self.convert(i, value, True)

    def _refuse_states(self, targets: list[Array]) -> None:
        """An error where the program found that it has no value."""
        for k, refuse in self.refusals.items():
            array, place = self.form.place(self.arrays, k)
            batch = targets[array].shape[: targets[array].ndim - len(self.form.shapes[array])]
            refuse(np.isnan(targets[array].reshape(*batch, self.form.sizes[array])[..., place]))

    def _symbolic(self, arrays: list[Array], out: Any) -> Any:
        if out is not None or any(a.ndim != 1 for a in arrays):
            what = "out" if out is not None else "batch"
            raise StateError(f"{self.__name__} of symbols takes one state and makes a new array: pass no {what}.")
        results = iter(interpret(self.program, [list(a) for a in arrays]))
        pairs = zip(self.form.shapes, self.form.sizes, strict=True)
        return self._formed([stack(list(itertools.islice(results, size)), shape) for shape, size in pairs])

    def _arguments(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        names = [name for name, _ in self.program.inputs]
        given = dict(zip(names, inputs, strict=False)) | named
        if len(inputs) + len(named) != len(names) or set(given) != set(names):
            raise Error(
                f"{self.__name__} takes {', '.join(names)}; found {len(inputs)} positional arguments"
                + (f" and {', '.join(sorted(named))}." if named else ".")
            )
        return tuple(given[name] for name in names)

    def _common_batch(self, arrays: list[Array]) -> tuple[int, ...]:
        shapes = {a.shape[:-1] for a in arrays}
        if len(shapes) == 1:
            return shapes.pop()
        try:
            return np.broadcast_shapes(*shapes)
        except ValueError:
            pairs = zip(self.program.inputs, arrays, strict=True)
            given = ", ".join(f"{name} {a.shape}" for (name, _), a in pairs)
            raise StateError(f"inputs of {self.__name__} have batches that do not fit together: {given}.") from None

    def _compute(self, arrays: list[Array], batch: tuple[int, ...], targets: list[Array], threads: int) -> bool:
        """Fill the targets; whether there may be unfit inputs in a batch."""
        rows = math.prod(batch)
        if rows == 0 or not self.program.size:
            return True
        outs = self._columns([t.reshape(rows, size) for t, size in zip(targets, self.form.sizes, strict=True)])
        if rows == 1 and self._one(arrays, outs):
            return False
        flat, strides = as_rows(arrays, batch, rows)
        kernel = self._attempt(lambda code: code.many)
        if kernel is None or self.native is None:
            self._interpret(flat, outs, slice(0, rows))
            return True

        def words(start: int) -> list[int]:
            given = [x for a, s in zip(flat, strides, strict=True) for x in (address(a) + 8 * s * start, s)]
            return given + native.output_words([(address(o) + o.strides[0] * start, o.strides[0] // 8) for o in outs])

        native = self.native
        limit = native.largest
        if threads == 1 and rows <= limit:
            bits = kernel(*words(0), rows)
        else:
            bits = share(native.pieces, [*words(0), rows], rows, threads, largest=limit, keep=(flat, outs))
        if bits & TOO_LARGE:
            for start in range(0, rows, _SOME):
                part = slice(start, min(start + _SOME, rows))
                if kernel(*words(start), part.stop - start) & TOO_LARGE:
                    self._interpret(flat, outs, part)
        return bool(bits & UNFIT)

    def _columns(self, rows: list[Array]) -> list[Array]:
        """What a kernel writes, (rows, size) for each of its arrays, as views of what callers get."""
        views = zip(self.form.views(self.arrays), self.arrays.sizes, strict=True)
        return [rows[array][:, start : start + size] for (array, start, _), size in views]

    def _one(self, arrays: list[Array], outs: list[Array]) -> bool:
        """One state by the code for one state; False if there is no such code."""
        kernel = self._attempt(lambda code: code.one)
        if kernel is None:
            return False
        flat = [gapless(a.reshape(1, a.shape[-1])) for a in arrays]
        if kernel(*(a.ctypes.data for a in (*flat, *outs))):
            self._interpret(flat, outs, slice(0, 1))
        return True

    def _interpret(self, flat: list[Array], outs: list[Array], rows: slice) -> None:
        scalars = []
        for a in flat:
            part = a[rows] if a.shape[0] > 1 else a
            scalars.append(unstack(part, a.shape[1]) if a.shape[1] else [])
        with np.errstate(all="ignore"):
            results = iter(self._interpreted(scalars))
        for out in outs:
            for k in range(out.shape[1]):
                out[rows, k] = next(results)

    def _interpreted(self, scalars: list[Any]) -> Sequence[Any]:
        if self.system is None:
            return interpret(self.program, scalars)
        found = self.system.solved(interpret(self.system.program, scalars))
        return list(np.moveaxis(found.reshape(*found.shape[:-3], -1), -1, 0))

    @property
    def __signature__(self) -> Any:
        """That of the built-in, for ``inspect.signature``."""
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
        return f"<{self.__name__}({', '.join(name for name, _ in self.program.inputs)}): {self.counts}>"

    @property
    def counts(self) -> Counts:
        """Operations of what is run for one state."""
        return self.program.counts if self.system is None else executed(self.system)


_SOME = 512  # rows that the interpreter does at a time: a thousand values of each fit into a few megabytes
_warned: set[str] = set()


def warn_once(text: str, about: str = "native code") -> None:
    """A :class:`CompileWarning`, once per process and subject."""
    if about not in _warned:
        _warned.add(about)
        warnings.warn(text, CompileWarning, stacklevel=4)
