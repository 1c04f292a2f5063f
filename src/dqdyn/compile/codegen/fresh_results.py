"""Results of calls in emitted code: new ones, and those of earlier calls that nobody holds any more.

A call of a small function takes less time than CPython and NumPy take to make a result and to free it. So a function
remembers the last two results that it made: two, since in ``x = f(x)`` the former one is still held while the next is
computed. One of them is handed out again where nothing else refers to it or to its arrays, and these are as they were
made; else a new one takes its place. Callers cannot tell the difference, but that ``resize`` in place finds one more
reference. Large functions gain, too: their kernels push CPython's code for new objects out of the caches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dqdyn.compile.codegen.fresh_arrays import fresh_array, require_alone, require_untouched
from dqdyn.compile.codegen.python_objects import ObjectEmitter
from dqdyn.compile.codegen.results import ResultForm
from dqdyn.compile.runtime import python_abi as abi

REMEMBERED = 2
"""Results that are remembered."""
OWN = ("remembered", "type", "frames")
"""What the global ``@…_own`` of a form has: where results are remembered, and type and frames of new ones."""


class ResultEmitter(ObjectEmitter):
    """Makes results of a ``form`` in functions whose names begin with ``name``; they have a block ``no_memory``."""

    def __init__(self, width: int, form: ResultForm, name: str) -> None:
        super().__init__(width)
        self.form, self.name = form, name

    def own(self, what: str) -> str:
        return self.load(self.at(f"@{self.name}_own", OWN.index(what), "ptr"), "ptr")

    def kind(self) -> str:
        """The type of results."""
        if self.form.is_value or self.form.fields:
            return self.own("type")
        return self.context("tuple_type" if self.form.is_tuple else "array_type")

    # --- new results ---

    def new_result(self, make_array: Callable[[int], str]) -> tuple[str, list[str]]:
        """A new result, and its arrays, which ``make_array`` makes, or null where memory is short."""
        if self.form.is_value:
            return self._new_value(make_array)
        if self.form.is_tuple:
            return self._new_tuple(make_array)
        array = make_array(0)
        self.require(self.op(f"icmp ne ptr {array}, null"), otherwise="no_memory")
        return array, [array]

    def _new_value(self, make_array: Callable[[int], str]) -> tuple[str, list[str]]:
        array = make_array(0)
        self.require(self.op(f"icmp ne ptr {array}, null"), otherwise="no_memory")
        value = self.call("allocate", f"ptr {self.kind()}, i64 0")
        self.branch(self.op(f"icmp ne ptr {value}, null"), "complete", "incomplete")
        self.label("incomplete")
        self.run("decrease", f"ptr {array}")
        self.jump("no_memory")
        self.label("complete")
        none, frames = self.context("none"), self.own("frames")
        for held in (none, frames):
            self.run("increase", f"ptr {held}")
        for i, content in enumerate((array, none, frames)):
            self.store(content, self.at(value, abi.SLOT + 8 * i, "i8"), "ptr")
        return value, [array]

    def _new_tuple(self, make_array: Callable[[int], str]) -> tuple[str, list[str]]:
        count = f"i64 {len(self.form.shapes)}"
        if self.form.fields:  # a tuple of another type: it has the same items, and no others
            result = self.call("allocate", f"ptr {self.kind()}, {count}")
        else:
            result = self.call("new_tuple", count)
        self.require(self.op(f"icmp ne ptr {result}, null"), otherwise="no_memory")
        arrays = []
        for i in range(len(self.form.shapes)):
            array = make_array(i)
            self.require(self.op(f"icmp ne ptr {array}, null"), otherwise="incomplete")
            self.call("set_item", f"ptr {result}, i64 {i}, ptr {array}", "i32")  # takes over the reference
            arrays.append(array)
        self.jump("complete")
        self.label("incomplete")
        self.run("decrease", f"ptr {result}")
        self.jump("no_memory")
        self.label("complete")
        return result, arrays

    # --- results that serve again ---

    def take(self, result: str, otherwise: str) -> list[str]:
        """A new reference to a remembered result, where it is as it was made; its arrays."""
        require_alone(self, result, self.kind(), otherwise)
        arrays = self._arrays(result, otherwise)
        for array, shape in zip(arrays, self.form.shapes, strict=True):
            if array != result:
                require_alone(self, array, self.context("array_type"), otherwise)
            require_untouched(self, array, shape, otherwise)
        self.store("2", self.at(result, abi.REFERENCES, "i8"), "i32", align=4)
        return arrays

    def _arrays(self, result: str, otherwise: str) -> list[str]:
        """Those in a result to which nothing else refers."""
        if self.form.is_tuple:
            return [self.field(result, abi.TUPLE_ITEMS + 8 * i) for i in range(len(self.form.shapes))]
        if not self.form.is_value:
            return [result]
        array, made, frames = (self.field(result, abi.SLOT + 8 * i) for i in range(3))
        good = self.op(f"icmp eq ptr {made}, {self.context('none')}")
        same = self.op(f"icmp eq ptr {frames}, {self.own('frames')}")
        good = self.op(f"and i1 {good}, {same}")
        self.require(self.op(f"and i1 {good}, {self.op(f'icmp ne ptr {array}, null')}"), otherwise)
        return [array]

    def tidy(self, place: str, label: str) -> None:
        """Drop what users of a remembered value made from its array, as if the value had died with them.

        What dies may run Python code, which may call this function: so the value is held meanwhile, and whatever is in
        its ``place`` afterwards is looked at anew.
        """
        value = self.load(place, "ptr")
        require_alone(self, value, self.kind(), otherwise=label)
        slot, none = self.at(value, abi.SLOT + 8, "i8"), self.context("none")
        made = self.load(slot, "ptr")
        self.require(self.op(f"icmp ne ptr {made}, {none}"), otherwise=label)
        for held in (value, none):
            self.run("increase", f"ptr {held}")
        self.store(none, slot, "ptr")
        for dropped in (made, value):
            self.run("decrease", f"ptr {dropped}")
        self.jump(label)
        self.label(label)


def renewed_result(form: ResultForm, name: str) -> str:
    """IR of ``ptr name_renew(ptr remembered, ptr data)``: a new reference to a result, null where memory is short.

    ``remembered`` is null, or the start of ``REMEMBERED`` references to any objects. The addresses of the numbers in
    its arrays go to ``data``. This is what a call does where the last result cannot serve again.
    """
    code = ResultEmitter(1, form, name)
    code.branch(code.op("icmp eq ptr %remembered, null"), "make", "try0")
    for k in range(REMEMBERED):
        code.label(f"try{k}")
        place, following = code.at("%remembered", k, "ptr"), f"try{k + 1}" if k + 1 < REMEMBERED else "last"
        if form.is_value:
            code.tidy(place, f"tidy{k}")
        result = code.load(place, "ptr")
        _answer(code, result, code.take(result, following))
    code.label("last")
    if form.is_tuple:
        _offer_arrays(code, code.load(code.at("%remembered", REMEMBERED - 1, "ptr"), "ptr"))
    code.jump("make")
    code.label("make")

    def make_array(i: int) -> str:
        former = code.load(code.at("%former", i, "ptr"), "ptr")
        return code.op(f"call ptr @{name}_fresh{i}(ptr {former})")

    new, arrays = code.new_result(make_array)
    code.branch(code.op("icmp eq ptr %remembered, null"), "done", "remember")
    code.label("done")
    _answer(code, new, arrays)
    code.label("remember")
    code.run("increase", f"ptr {new}")
    before = new
    for k, former in enumerate(code.load(code.at("%remembered", k, "ptr"), "ptr") for k in range(REMEMBERED)):
        code.store(before, code.at("%remembered", k, "ptr"), "ptr")
        before = former
    for dropped in (before, code.load("%held", "ptr")):  # last: what dies with them may run Python code
        code.run("decrease", f"ptr {dropped}")
    _answer(code, new, arrays)
    code.label("no_memory")
    code.run("decrease", f"ptr {code.load('%held', 'ptr')}")
    code.lines.append("  ret ptr null")
    head = f"define internal ptr @{name}_renew(ptr %remembered, ptr %data) noinline {{"
    sizes = {"former": len(form.shapes), "held": 1}
    memory = [f"  %{what} = alloca [{size} x ptr]" for what, size in sizes.items()]
    memory += [f"  store [{size} x ptr] zeroinitializer, ptr %{what}" for what, size in sizes.items()]
    fresh = [fresh_array(f"{name}_fresh{i}", shape) for i, shape in enumerate(form.shapes)]
    return "\n".join([*fresh, head, "entry:", *memory, *code.lines, "}", ""])


def _answer(code: ResultEmitter, result: str, arrays: Sequence[str]) -> None:
    for i, array in enumerate(arrays):
        code.store(code.field(array, abi.DATA), code.at("%data", i, "ptr"), "ptr")
    code.lines.append(f"  ret ptr {result}")


def _offer_arrays(code: ResultEmitter, former: str) -> None:
    """Put the arrays of the tuple that is to go into ``%former``: some may serve on in the new one.

    So it is where users hold some of the arrays of a tuple for long, and not the others. Making a tuple may collect
    garbage, which may run Python code, which may call this function: so the former tuple is in ``%held`` meanwhile.
    """
    require_alone(code, former, code.kind(), otherwise="make")
    code.run("increase", f"ptr {former}")
    code.store(former, "%held", "ptr")
    for i in range(len(code.form.shapes)):
        code.store(code.field(former, abi.TUPLE_ITEMS + 8 * i), code.at("%former", i, "ptr"), "ptr")
