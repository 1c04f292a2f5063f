"""The call path with the least overhead: a Python function emitted as machine code.

It checks type, dtype, shape, contiguity, finiteness and overlap of its arguments inline and computes at once. In all
other cases it passes the untouched arguments to a Python object that converts, explains or raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dqdyn.compile.codegen.fresh_arrays import LARGEST
from dqdyn.compile.codegen.fresh_results import OWN, ResultEmitter, renewed_result
from dqdyn.compile.codegen.results import OutputArrays, ResultForm, Shape
from dqdyn.compile.codegen.rows import UNIT_SQUARED
from dqdyn.compile.runtime import python_abi as abi
from dqdyn.compile.trace.program import Program


class CallEmitter(ResultEmitter):
    """IR of ``ptr call(ptr self, ptr args, i64 nargs, ptr kwnames)`` around a scalar kernel.

    ``units`` lists (argument, start) of unit quaternions in the inputs; ``width`` is the vector width for the checks.
    ``numbers`` are the arguments, of size 1, that come as a float: an array would be a batch of them. The kernel writes
    an array for each of the ``parts``; callers get the ``form``, by default one array. A module may have several such
    functions, of different forms and each by its ``name``; the first one brings the table of addresses. Where an output
    in ``marks`` is NaN, Python takes over.
    """

    def __init__(
        self,
        program: Program,
        width: int,
        units: Sequence[tuple[int, int]],
        numbers: Sequence[int] = (),
        parts: Sequence[Shape] = (),
        form: ResultForm | None = None,
        name: str = "call",
        marks: Sequence[int] = (),
    ) -> None:
        super().__init__(width, ResultForm((program.shape,)) if form is None else form, name)
        self.program, self.units, self.numbers, arrays = program, units, numbers, OutputArrays.of(program, parts)
        self.views, self.marks = self.form.views(arrays), [self.form.place(arrays, k) for k in marks]

    def text(self) -> str:
        """The function, and those that it calls but for the kernel and the function for batches."""
        return self.seldom() + self.function()

    def function(self) -> str:
        """The function; the one for batches takes over where the first array has two axes."""
        data = self.arguments()
        self.finite(data)
        for argument, start in self.units:
            self.unit(data[argument], start)
        self.answer(data, lambda to: self.op(f"call i64 @scalar({', '.join(f'ptr {d}' for d in (*data, *to))})"))
        self.lines += [
            "many:",
            f"  %rows = musttail call ptr @{self.name}_many(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)",
            "  ret ptr %rows",
            "}",
        ]
        table = [abi.CONTEXT_IR] if self.is_first else []
        own = f"@{self.name}_own = dso_local global [{len(OWN)} x ptr] zeroinitializer, align 32"
        head = f"define ptr @{self.name}(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{"
        return "\n".join([*table, own, head, *self.entry(), *self.lines, ""])

    def seldom(self) -> str:
        """The function that makes other results than the last one; apart, for most calls go without it."""
        return renewed_result(self.form, self.name)

    @property
    def is_first(self) -> bool:
        """Whether this function brings the globals that all of a module share."""
        return self.name == "call"

    def entry(self) -> list[str]:
        return ["entry:", "  %result = alloca ptr", f"  %data = alloca [{len(self.form.shapes)} x ptr]"]

    def arguments(self) -> list[str]:
        """Pointers to the data of all arguments, after checks of their number and of each of them."""
        count = len(self.program.inputs)
        self.require_equal("i64", "%nargs", count)
        given = [self.argument(i) for i in range(count)]
        return [
            self.number(given[i]) if i in self.numbers else self.array(given[i], size)
            for i, (_, size) in enumerate(self.program.inputs)
        ]

    def answer(self, data: list[str], run: Callable[[list[str]], str]) -> None:
        """``run(pointers)`` into new arrays or those given as ``out=``; where it returns a flag, Python takes over."""
        self.read_words()
        result, arrays = self.make_or_take(data)
        pointers = [self.at(arrays[array], start) if start else arrays[array] for array, start, _ in self.views]
        self.require_equal("i64", run(pointers), 0, otherwise="redo")
        for number in range(len(self.marks)):
            self.require_number(number, arrays)
        self.lines += [f"  ret ptr {result}", "redo:"]  # Python computes it again
        self.run("decrease", f"ptr {result}")
        self.jump("slow")
        self.label("slow")
        answer = self.call("vectorcall", "ptr %self, ptr %args, i64 %nargs, ptr %kwnames")
        self.lines += [f"  ret ptr {answer}", "no_memory:", "  ret ptr null"]  # NumPy has set the exception

    def read_words(self) -> None:
        """Put what is given as ``out=`` into ``%result`` and go to ``given``, or to ``make`` if nothing is.

        ``check=`` is understood, too. Inputs that need no check give the same with and without it, and the others are
        left to Python anyway.
        """
        self.branch(self.op("icmp eq ptr %kwnames, null"), "make", "words")
        self.label("words")
        self.store("null", "%result", "ptr")
        count = self.call("tuple_size", "ptr %kwnames", "i64")
        self.require(self.op(f"icmp ne i64 {count}, 0"), otherwise="understood")
        self.read_word(0)
        self.branch(self.op(f"icmp eq i64 {count}, 1"), "understood", "further")
        self.label("further")
        self.require_equal("i64", count, 2)
        self.read_word(1)
        self.jump("understood")
        self.label("understood")
        given = "slow" if self.form.is_value else "given"  # a value cannot be given
        self.branch(self.op(f"icmp eq ptr {self.load('%result', 'ptr')}, null"), "make", given)

    def read_word(self, number: int) -> None:
        name, before = self.call("tuple_item", f"ptr %kwnames, i64 {number}"), self.load("%result", "ptr")
        value = self.argument(len(self.program.inputs) + number)
        is_none, is_true, is_false = (
            self.op(f"icmp eq ptr {value}, {self.context(one)}") for one in ("none", "true", "false")
        )
        is_out, is_check = (self.op(f"icmp eq ptr {name}, {self.context(one)}") for one in ("out", "check"))
        choice = self.op(f"and i1 {is_check}, {self.op(f'or i1 {is_true}, {is_false}')}")
        self.require(self.op(f"or i1 {is_out}, {choice}"))
        given = self.op(f"select i1 {is_none}, ptr null, ptr {value}")
        self.store(self.op(f"select i1 {is_out}, ptr {given}, ptr {before}"), "%result", "ptr")

    def make_or_take(self, data: list[str]) -> tuple[str, list[str]]:
        """A result to fill, or the one given as ``out=``, and the data of its arrays."""
        self.label("make")
        made = self.make_result()
        if self.form.is_value:
            return made
        return self.either(made, lambda: self.given_out(data), "run", other_block="given")

    def either(
        self,
        one: tuple[str, list[str]],
        make_other: Callable[[], tuple[str, list[str]]],
        name: str,
        other_block: str,
    ) -> tuple[str, list[str]]:
        """The result made so far, or the other one, in whose block the code that makes it begins."""
        self.lines += [f"  br label %{name}_one", f"{name}_one:", f"  br label %{name}", f"{other_block}:"]
        other = make_other()
        self.lines += [f"  br label %{name}_other", f"{name}_other:", f"  br label %{name}", f"{name}:"]
        pairs = zip([one[0], *one[1]], [other[0], *other[1]], strict=True)
        result, *arrays = [self.op(f"phi ptr [ {a}, %{name}_one ], [ {b}, %{name}_other ]") for a, b in pairs]
        return result, arrays

    def make_result(self) -> tuple[str, list[str]]:
        """A result for this call in the form of the caller, and the data of its arrays."""
        if max(self.form.sizes) > LARGEST:
            return self.renew("null")
        remembered = self.own("remembered")
        self.require(self.op(f"icmp ne ptr {remembered}, null"), otherwise="renew")
        result = self.load(remembered, "ptr")
        arrays = self.take(result, otherwise="renew")
        taken = result, [self.field(array, abi.DATA) for array in arrays]
        return self.either(taken, lambda: self.renew(remembered), "made", other_block="renew")

    def renew(self, remembered: str) -> tuple[str, list[str]]:
        """Another result than the last one."""
        result = self.op(f"call ptr @{self.name}_renew(ptr {remembered}, ptr %data)")
        self.require(self.op(f"icmp ne ptr {result}, null"), otherwise="no_memory")
        return result, [self.load(self.at("%data", i, "ptr"), "ptr") for i in range(len(self.form.shapes))]

    # --- what differs for batches ---

    def leading(self) -> list[str]:
        """Sizes of the axes before those of the program."""
        return []

    def array(self, array: str, size: int) -> str:
        """Data of a one-dimensional float64 array of that size without gaps."""
        self.require_type(array, "array_type")
        self.require_equal("i32", self.field(array, abi.NDIM, "i32"), 1, otherwise="many")
        return self.gapless(array, [*self.leading(), str(size)])

    def require_number(self, mark: int, arrays: list[str]) -> None:
        """Go on where a mark in the arrays of the result is not NaN."""
        array, place = self.marks[mark]
        value = self.load(self.at(arrays[array], place))
        self.require(self.op(f"fcmp ord double {value}, {value}"), otherwise="redo")

    def length(self, size: int) -> str:
        """How many doubles an argument has whose last axis has that size."""
        return str(size)

    # --- pieces ---

    def gapless(self, array: str, shape: Sequence[str], flags: int = abi.C_CONTIGUOUS | abi.ALIGNED) -> str:
        """Data of a float64 array of that shape and with those flags; the number of axes is known to be right."""
        good = self.op(f"icmp eq ptr {self.field(array, abi.DESCR)}, {self.context('descr')}")
        given = self.op(f"and i32 {self.field(array, abi.FLAGS, 'i32')}, {flags}")
        good = self.op(f"and i1 {good}, {self.op(f'icmp eq i32 {given}, {flags}')}")
        dims = self.field(array, abi.DIMS)
        for i, expected in enumerate(shape):
            same = self.op(f"icmp eq i64 {self.field(dims, 8 * i, 'i64')}, {expected}")
            good = self.op(f"and i1 {good}, {same}")
        self.require(good)
        return self.field(array, abi.DATA)

    def number(self, value: str) -> str:
        """Where a Python float keeps its value."""
        self.require_type(value, "float_type")
        return self.at(value, abi.FLOAT, "i8")

    def finite(self, data: list[str]) -> None:
        """Σ 0·x is NaN where any x is NaN or infinite."""
        total = None
        for pointer, (_, size) in zip(data, self.program.inputs, strict=True):
            for start in range(0, size, self.width):
                x = self.load_lanes(self.at(pointer, start), range(min(self.width, size - start)))
                zero = self.binary("fmul", x, "zeroinitializer")
                total = zero if total is None else self.binary("fadd", total, zero)
        if total is not None:
            bad = self.any_lane(self.binary("fcmp uno", total, "zeroinitializer"))
            self.require_equal("i1", bad, "false")

    def unit(self, pointer: str, start: int) -> None:
        """Four components whose squares sum to one, nearly; Python measures exactly where they do not."""
        r = self.load(self.at(pointer, start), "<4 x double>")
        square = self.binary("fmul", r, r, "<4 x double>")
        norm = self.op(f"call reassoc double @llvm.vector.reduce.fadd.v4f64(double 0.0, <4 x double> {square})")
        off = self.op(f"call double @llvm.fabs.f64(double {self.op(f'fsub double {norm}, 1.0')})")
        self.require(self.op(f"fcmp olt double {off}, {UNIT_SQUARED:e}"))

    def given_out(self, data: list[str]) -> tuple[str, list[str]]:
        """What is passed as ``out=``, and the data of its arrays, if nothing overlaps."""
        out, arrays = self.load("%result", "ptr"), []
        if self.form.is_tuple:
            self.require_type(out, "tuple_type")
            self.require_equal("i64", self.call("tuple_size", f"ptr {out}", "i64"), len(self.form.shapes))
            arrays = [self.call("tuple_item", f"ptr {out}, i64 {i}") for i in range(len(self.form.shapes))]
        taken = [
            (pointer, self.at(pointer, size if i in self.numbers else self.length(size)))
            for i, (pointer, (_, size)) in enumerate(zip(data, self.program.inputs, strict=True))
        ]
        found = []
        for array, of_state, size in zip(arrays or [out], self.form.shapes, self.form.sizes, strict=True):
            shape = [*self.leading(), *map(str, of_state)]
            self.require_type(array, "array_type")
            self.require_equal("i32", self.field(array, abi.NDIM, "i32"), len(shape))
            start = self.gapless(array, shape, abi.C_CONTIGUOUS | abi.ALIGNED | abi.WRITEABLE)
            end, good = self.at(start, self.length(size)), "true"
            for other, other_end in taken:
                before, behind = (f"icmp ule ptr {other_end}, {start}", f"icmp ule ptr {end}, {other}")
                apart = self.op(f"or i1 {self.op(before)}, {self.op(behind)}")
                good = self.op(f"and i1 {good}, {apart}")
            self.require(good)
            found.append(start)
            taken.append((start, end))
        self.keep(out)
        return out, found

    def keep(self, value: str) -> None:
        """One more reference, by CPython's own function: immortal objects and free-threaded builds count otherwise."""
        self.run("increase", f"ptr {value}")
