"""The call path for batches: where the first array has two axes."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.compile.codegen.call_path import CallEmitter
from dqdyn.compile.codegen.fresh_arrays import emit_new_array
from dqdyn.compile.codegen.results import ResultForm, Shape
from dqdyn.compile.runtime import python_abi as abi
from dqdyn.compile.trace.program import Program


class BatchCallEmitter(CallEmitter):
    """IR of ``ptr call_many(ptr self, ptr args, i64 nargs, ptr kwnames)``: batches of rows without gaps.

    The kernel is compiled when it is first needed; from then on ``@many``, of the module, holds its address. It detects
    unfit inputs itself, and computes while other threads of Python run. Batches of more than ``largest`` rows are left
    to Python, which splits them, so that signals are handled in between.
    """

    rows = ""

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
        largest: int = 1 << 62,
    ) -> None:
        super().__init__(program, width, units, numbers, parts, form, name, marks)
        self.largest = largest

    def text(self) -> str:
        kernel = self.op("load ptr, ptr @many")
        self.require(self.op(f"icmp ne ptr {kernel}, null"))
        if len(self.numbers) == len(self.program.inputs):  # no array gives the number of rows
            self.rows = "1"
            self.require("false")
        data = self.arguments()
        strides = ["0" if i in self.numbers else str(size) for i, (_, size) in enumerate(self.program.inputs)]
        self.answer(data, lambda pointers: self.compute(kernel, data, strides, pointers))
        head = f"define internal ptr @{self.name}_many(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {{"
        return "\n".join([*([abi.MANY_IR] if self.is_first else []), head, *self.entry(), *self.lines, "}", ""])

    def compute(self, kernel: str, data: list[str], strides: list[str], pointers: list[str]) -> str:
        words = [word for d, stride in zip(data, strides, strict=True) for word in (f"ptr {d}", f"i64 {stride}")]
        for pointer, (_, _, stride) in zip(pointers, self.views, strict=True):
            words += [f"ptr {pointer}"] if len(pointers) == 1 else [f"ptr {pointer}", f"i64 {stride}"]
        state = self.call("release_gil", "")
        flag = self.op(f"call i64 {kernel}({', '.join([*words, f'i64 {self.rows}'])})")
        self.run("take_gil", f"ptr {state}")
        return flag

    def make_result(self) -> tuple[str, list[str]]:
        """A new one: batches are too seldom of the same size to remember them."""
        shapes = [[self.rows, *map(str, shape)] for shape in self.form.shapes]
        result, arrays = self.new_result(lambda i: emit_new_array(self, shapes[i]))
        return result, [self.field(array, abi.DATA) for array in arrays]

    def leading(self) -> list[str]:
        return [self.rows]

    def array(self, array: str, size: int) -> str:
        self.require_type(array, "array_type")
        self.require_equal("i32", self.field(array, abi.NDIM, "i32"), 2)
        if not self.rows:
            self.rows = self.field(self.field(array, abi.DIMS), 0, "i64")
            some, few = self.op(f"icmp sgt i64 {self.rows}, 0"), self.op(f"icmp sle i64 {self.rows}, {self.largest}")
            self.require(self.op(f"and i1 {some}, {few}"))
        return self.gapless(array, [*self.leading(), str(size)])

    def entry(self) -> list[str]:
        dims = f"  %dims = alloca [{max(map(len, self.form.shapes)) + 1} x i64]"
        return [*super().entry(), dims, *(f"  %mark{i}_number = alloca i64" for i in range(len(self.marks)))]

    def require_number(self, mark: int, arrays: list[str]) -> None:
        array, place = self.marks[mark]
        first, size = self.at(arrays[array], place), self.form.sizes[array]
        with self.loop(f"mark{mark}", self.rows) as row:
            value = self.load(self.at(first, self.op(f"mul i64 {row}, {size}")))
            self.require(self.op(f"fcmp ord double {value}, {value}"), otherwise="redo")

    def length(self, size: int) -> str:
        return self.op(f"mul i64 {self.rows}, {size}")
