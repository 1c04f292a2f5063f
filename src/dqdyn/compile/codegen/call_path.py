"""The call path with the least overhead: a Python function emitted as machine code.

It checks type, dtype, shape, contiguity, finiteness and overlap of its arguments inline and computes at once. Anything
unusual goes, with untouched arguments, to a Python object that converts, explains or raises. What it knows of CPython
and NumPy stands in :mod:`~dqdyn.compile.runtime.python_abi`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from dqdyn.compile.codegen.rows import UNIT_SQUARED
from dqdyn.compile.runtime.python_abi import (
    ALIGNED,
    C_CONTIGUOUS,
    CONTEXT_IR,
    DATA,
    DESCR,
    DIMS,
    FLAGS,
    FLOAT,
    NDIM,
    TYPE,
    WRITEABLE,
    from_context,
)
from dqdyn.compile.trace.program import Program

_METH_FASTCALL_KEYWORDS = 0x0080 | 0x0002


class CallEmitter:
    """IR of ``ptr call(ptr self, ptr args, i64 nargs, ptr kwnames)`` around a scalar kernel.

    ``units`` lists (argument, start) of unit quaternions in the inputs; ``width`` is the vector width for the checks.
    ``numbers`` are the arguments, of size 1, that come as a float: an array would be a batch of them.
    """

    def __init__(
        self, program: Program, width: int, units: Sequence[tuple[int, int]], numbers: Sequence[int] = ()
    ) -> None:
        self.program, self.width, self.units, self.numbers = program, width, units, numbers
        self.lines: list[str] = []
        self._n = 0

    def op(self, text: str) -> str:
        self._n += 1
        self.lines.append(f"  %c{self._n} = {text}")
        return f"%c{self._n}"

    def field(self, base: str, offset: int, kind: str) -> str:
        p = self.op(f"getelementptr i8, ptr {base}, i64 {offset}")
        return self.op(f"load {kind}, ptr {p}")

    def require(self, condition: str, otherwise: str = "slow") -> None:
        """Go on only where the condition holds; else Python takes over, or whoever is named."""
        self._n += 1
        self.lines += [f"  br i1 {condition}, label %ok{self._n}, label %{otherwise}, !prof !0", f"ok{self._n}:"]

    def context(self, name: str) -> str:
        self._n += 1
        self.lines += from_context(name, f"%c{self._n}")
        return f"%c{self._n}"

    def text(self) -> str:
        """The function, and behind it the one for batches, which takes over where the first array has two axes."""
        data = self.arguments()
        self.finite(data)
        for argument, start in self.units:
            self.unit(data[argument], start)
        self.answer(data, lambda where: self.op(f"call i64 @scalar({', '.join(f'ptr {d}' for d in (*data, where))})"))
        self.lines += [
            "many:",
            "  %rows = musttail call ptr @call_many(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)",
            "  ret ptr %rows",
            "}",
        ]
        head = [
            CONTEXT_IR,
            "define ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {",
            *self.entry(),
        ]
        tail = ['!0 = !{!"branch_weights", i32 10000, i32 1}', ""]
        return "\n".join([*self.declarations(), *head, *self.lines, *tail])

    def entry(self) -> list[str]:
        return ["entry:", f"  %dims = alloca [{len(self.program.shape) + 1} x i64]"]

    def arguments(self) -> list[str]:
        """Where the data of all arguments are, after checks of their number and of each of them."""
        count = len(self.program.inputs)
        self.require(self.op(f"icmp eq i64 %nargs, {count}"))
        arrays = [self.op(f"load ptr, ptr {self.op(f'getelementptr ptr, ptr %args, i64 {i}')}") for i in range(count)]
        return [
            self.number(arrays[i]) if i in self.numbers else self.array(arrays[i], size)
            for i, (_, size) in enumerate(self.program.inputs)
        ]

    def answer(self, data: list[str], run: Callable[[str], str]) -> None:
        """``run(where)`` into a new array or the one given as ``out=``; where it returns a flag, Python takes over."""
        self.lines.append("  %positional = icmp eq ptr %kwnames, null")
        self.lines += ["  br i1 %positional, label %make, label %given", "make:"]
        fresh = self.make_array()
        there = self.op(f"icmp ne ptr {fresh}, null")
        self.lines += [f"  br i1 {there}, label %filled, label %no_memory, !prof !0", "filled:"]
        fresh_data = self.field(fresh, DATA, "ptr")
        self.lines += ["  br label %made", "made:", "  br label %run", "given:"]
        given, given_data = self.given_out(data)
        self.lines += ["  br label %taken", "taken:", "  br label %run", "run:"]
        self.lines += [
            f"  %result = phi ptr [ {fresh}, %made ], [ {given}, %taken ]",
            f"  %where = phi ptr [ {fresh_data}, %made ], [ {given_data}, %taken ]",
        ]
        flag = run("%where")
        self.lines += [
            f"  %fine = icmp eq i64 {flag}, 0",
            "  br i1 %fine, label %done, label %redo, !prof !0",
            "done:",
            "  ret ptr %result",
            "redo:",  # the result is dropped, and Python computes it again
        ]
        decrease = self.context("decrease")
        self.lines += [f"  call void {decrease}(ptr %result)", "  br label %slow", "slow:"]
        vectorcall = self.context("vectorcall")
        self.lines += [
            f"  %answer = call ptr {vectorcall}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)",
            "  ret ptr %answer",
            "no_memory:",  # NumPy has set the exception
            "  ret ptr null",
        ]

    # --- what differs for batches ---

    def out_argument(self) -> str:
        """What is given as ``out=``, if that is the only keyword."""
        size = self.op(f"call i64 {self.context('tuple_size')}(ptr %kwnames)")
        self.require(self.op(f"icmp eq i64 {size}, 1"))
        name = self.op(f"call ptr {self.context('tuple_item')}(ptr %kwnames, i64 0)")
        self.require(self.op(f"icmp eq ptr {name}, {self.context('out')}"))
        return self.op(f"load ptr, ptr {self.op(f'getelementptr ptr, ptr %args, i64 {len(self.program.inputs)}')}")

    def leading(self) -> list[str]:
        """Sizes of the axes before those of the program."""
        return []

    def array(self, array: str, size: int) -> str:
        """Data of a one-dimensional float64 array of that size without gaps."""
        self.require(self.op(f"icmp eq ptr {self.field(array, TYPE, 'ptr')}, {self.context('array_type')}"))
        self.require(self.op(f"icmp eq i32 {self.field(array, NDIM, 'i32')}, 1"), otherwise="many")
        return self.gapless(array, [*self.leading(), str(size)], C_CONTIGUOUS | ALIGNED)

    def length(self, size: int) -> str:
        """How many doubles an argument has whose last axis has that size."""
        return str(size)

    # --- pieces ---

    def gapless(self, array: str, shape: Sequence[str], flags: int) -> str:
        """Data of a float64 array of that shape and with those flags; the number of axes is known to be right."""
        good = self.op(f"icmp eq ptr {self.field(array, DESCR, 'ptr')}, {self.context('descr')}")
        good = self.op(f"and i1 {good}, {self.flags_set(array, flags)}")
        dims = self.field(array, DIMS, "ptr")
        for i, expected in enumerate(shape):
            same = self.op(f"icmp eq i64 {self.field(dims, 8 * i, 'i64')}, {expected}")
            good = self.op(f"and i1 {good}, {same}")
        self.require(good)
        return self.field(array, DATA, "ptr")

    def number(self, value: str) -> str:
        """Where a Python float keeps its value."""
        self.require(self.op(f"icmp eq ptr {self.field(value, TYPE, 'ptr')}, {self.context('float_type')}"))
        return self.op(f"getelementptr i8, ptr {value}, i64 {FLOAT}")

    def flags_set(self, array: str, wanted: int) -> str:
        flags = self.field(array, FLAGS, "i32")
        return self.op(f"icmp eq i32 {self.op(f'and i32 {flags}, {wanted}')}, {wanted}")

    def finite(self, data: list[str]) -> None:
        """Σ 0·x is NaN where any x is NaN or infinite."""
        w, total = self.width, None
        real = f"<{w} x double>"
        for pointer, (_, size) in zip(data, self.program.inputs, strict=True):
            for start in range(0, size, w):
                p = self.op(f"getelementptr double, ptr {pointer}, i64 {start}")
                mask = ", ".join(f"i1 {'true' if start + k < size else 'false'}" for k in range(w))
                load = f"@llvm.masked.load.v{w}f64.p0(ptr {p}, i32 8, <{w} x i1> <{mask}>, {real} zeroinitializer)"
                x = self.op(f"call {real} {load}")
                zero = self.op(f"fmul {real} {x}, zeroinitializer")
                total = zero if total is None else self.op(f"fadd {real} {total}, {zero}")
        if total is not None:
            bad = self.op(f"fcmp uno {real} {total}, zeroinitializer")
            self.require(self.op(f"icmp eq i{w} {self.op(f'bitcast <{w} x i1> {bad} to i{w}')}, 0"))

    def unit(self, pointer: str, start: int) -> None:
        """Four components whose squares sum to one, nearly; Python measures exactly where they do not."""
        p = self.op(f"getelementptr double, ptr {pointer}, i64 {start}")
        r = self.op(f"load <4 x double>, ptr {p}, align 8")
        square = self.op(f"fmul <4 x double> {r}, {r}")
        norm = self.op(f"call reassoc double @llvm.vector.reduce.fadd.v4f64(double 0.0, <4 x double> {square})")
        off = self.op(f"call double @llvm.fabs.f64(double {self.op(f'fsub double {norm}, 1.0')})")
        self.require(self.op(f"fcmp olt double {off}, {UNIT_SQUARED:e}"))

    def make_array(self) -> str:
        shape = [*self.leading(), *map(str, self.program.shape)]
        for i, size in enumerate(shape):
            self.lines.append(f"  store i64 {size}, ptr {self.op(f'getelementptr i64, ptr %dims, i64 {i}')}")
        descr, kind, function = self.context("descr"), self.context("array_type"), self.context("new_array")
        self.keep(descr)  # PyArray_NewFromDescr takes over one reference
        rest = "ptr null, ptr null, i32 0, ptr null"
        return self.op(f"call ptr {function}(ptr {kind}, ptr {descr}, i32 {len(shape)}, ptr %dims, {rest})")

    def given_out(self, data: list[str]) -> tuple[str, str]:
        """The array passed as ``out=``, if nothing overlaps it."""
        shape = [*self.leading(), *map(str, self.program.shape)]
        out = self.out_argument()
        self.require(self.op(f"icmp eq ptr {self.field(out, TYPE, 'ptr')}, {self.context('array_type')}"))
        self.require(self.op(f"icmp eq i32 {self.field(out, NDIM, 'i32')}, {len(shape)}"))
        out_data = self.gapless(out, shape, C_CONTIGUOUS | ALIGNED | WRITEABLE)
        out_end = self.op(f"getelementptr double, ptr {out_data}, i64 {self.length(len(self.program.outputs))}")
        good = "true"
        for i, (pointer, (_, size)) in enumerate(zip(data, self.program.inputs, strict=True)):
            count = str(size) if i in self.numbers else self.length(size)
            end = self.op(f"getelementptr double, ptr {pointer}, i64 {count}")
            before = self.op(f"icmp ule ptr {end}, {out_data}")
            apart = self.op(f"or i1 {before}, {self.op(f'icmp ule ptr {out_end}, {pointer}')}")
            good = self.op(f"and i1 {good}, {apart}")
        self.require(good)
        self.keep(out)
        return out, out_data

    def keep(self, thing: str) -> None:
        """One more reference, by CPython's own function: immortal objects and free-threaded builds count otherwise."""
        self.lines.append(f"  call void {self.context('increase')}(ptr {thing})")

    def declarations(self) -> list[str]:
        w = self.width
        return [
            f"declare <{w} x double> @llvm.masked.load.v{w}f64.p0(ptr, i32, <{w} x i1>, <{w} x double>)",
            "declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)",
        ]


class _MethodDef(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


def python_function(address: int, owner: Any, name: str, doc: str) -> Any:
    """A built-in function of that machine code whose ``__self__`` is ``owner``."""
    definition = _MethodDef(name.encode(), address, _METH_FASTCALL_KEYWORDS, doc.encode())
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    # Never freed: a dying function reads its definition, and at the end of the program no list here would live on.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(definition))
    return make(ctypes.addressof(definition), owner, None)
