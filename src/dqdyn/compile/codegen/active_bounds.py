"""The list of active bounds in the memory of the active-set code: their rows, and what is made of them."""

from __future__ import annotations

from dqdyn.compile.codegen.active_rows import ActiveRows
from dqdyn.compile.codegen.dense import PANEL
from dqdyn.compile.codegen.loops import LoopEmitter

UPPER, LOWER, EQUALITY = 1, -1, 2
"""Marks of active bounds; 0 is inactive."""


class ActiveBounds:
    """Emits changes of the list, with ``%count`` bounds at a time; ``given`` are pointers to the problem."""

    def __init__(self, code: ActiveRows, e: LoopEmitter, given: dict[str, str]) -> None:
        self.code, self.e, self.given = code, e, given
        names = tuple(code.sections)
        self.at = dict(zip(names, code.places(e, *names), strict=True))

    def collect(self) -> None:
        """The rows of bounds that are marked."""
        e = self.e
        e.store("0", "%count", "i64")
        e.store("0", "%changed", "i64")

        def one(i: str, _: list[str]) -> list[str]:
            mark = e.load(e.at(self.given["marks"], i, "i32"), "i32", 4)
            e.when(e.op(f"icmp ne i32 {mark}, 0"), lambda: self.append(i, mark))
            return []

        def panel(p: str, _: list[str]) -> list[str]:
            rows = self.code.row(e, at["W"], e.op(f"mul i64 {p}, {PANEL}"))
            e.lines.append(f"  call void @forward{PANEL}(ptr {at['R']}, ptr {at['inverse']}, ptr {rows})")
            return []

        at = self.at
        e.repeat(0, self.code.sides, one)
        e.repeat(0, self.code.panels(e, e.load("%count", "i64")), panel)

    def append(self, i: str, mark: str) -> None:
        """One more active bound; W gets its row of G."""
        e = self.e
        count = e.load("%count", "i64")
        e.require(e.op(f"icmp slt i64 {count}, {self.code.capacity}"), "full")
        self.place(i, mark, count)
        e.store(e.op(f"add i64 {count}, 1"), "%count", "i64")

    def place(self, i: str, mark: str, count: str) -> None:
        """What belongs to a bound, behind the active ones."""
        e, at, code = self.e, self.at, self.code
        e.store(i, e.at(self.given["rows"], count, "i64"), "i64")
        is_lower = e.op(f"icmp eq i32 {mark}, {LOWER}")
        sides = [e.load(e.at(self.given[name], i)) for name in ("lower", "upper")]
        e.store(e.op(f"select i1 {is_lower}, double {sides[0]}, double {sides[1]}"), e.at(at["bound"], count))
        G, W = (code.row(e, at[name], count) for name in ("G", "W"))
        if code.bounded:
            own = e.op(f"icmp slt i64 {i}, {code.bounded}")
            names = [f"{what}{next(e._names)}" for what in ("unit", "general", "after")]
            e.branch(own, *names[:2])
            e.label(names[0])
            code.fill(e, G)
            e.store("1.0", e.at(G, i))
            e.jump(names[2])
            e.label(names[1])
            self.copy_row(i, G)
            e.jump(names[2])
            e.label(names[2])
        else:
            self.copy_row(i, G)
        self.copy(G, W)

    def products(self, count: str) -> None:
        """The factor of S = W Wᵀ."""
        e, code, W = self.e, self.code, self.at["W"]
        panels = code.panels(e, count)

        def row(a: str, _: list[str]) -> list[str]:
            x, target = code.row(e, W, a), e.entry(self.at["S"], a, code.stride)

            def some(p: str, _: list[str]) -> list[str]:
                b = e.op(f"mul i64 {p}, {PANEL}")
                e.lines.append(f"  call void @dots(ptr {code.row(e, W, b)}, ptr {x}, ptr {e.at(target, b)})")
                return []

            e.repeat(e.op(f"sdiv i64 {a}, {PANEL}"), panels, some)
            code.clear_rest(e, target, count)
            return []

        e.repeat(0, count, row)
        e.lines.append(f"  call void @small_factor(ptr {self.at['S']}, ptr {self.at['pivots']}, i64 {count})")

    def sign(self, a: str) -> tuple[str, str]:
        """−1.0 of a lower bound, else 1.0; whether it is an equality."""
        e = self.e
        i = e.load(e.at(self.given["rows"], a, "i64"), "i64")
        mark = e.load(e.at(self.given["marks"], i, "i32"), "i32", 4)
        sign = e.op(f"select i1 {e.op(f'icmp eq i32 {mark}, {LOWER}')}, double -1.0, double 1.0")
        return sign, e.op(f"icmp eq i32 {mark}, {EQUALITY}")

    def remove(self, which: str, count: str) -> None:
        """Take a bound out; the last one goes to its place."""
        e = self.e
        last = e.op(f"sub i64 {count}, 1")
        i = e.load(e.at(self.given["rows"], which, "i64"), "i64")
        e.store("0", e.at(self.given["marks"], i, "i32"), "i32", 4)
        self.move(last, which)
        e.store(last, "%count", "i64")

    def move(self, source: str, target: str) -> None:
        e, at, rows = self.e, self.at, self.given["rows"]
        e.store(e.load(e.at(rows, source, "i64"), "i64"), e.at(rows, target, "i64"), "i64")
        for name in ("bound", "lambda"):
            e.store(e.load(e.at(at[name], source)), e.at(at[name], target))
        for name in ("G", "W"):
            self.copy(self.code.row(e, at[name], source), self.code.row(e, at[name], target))

    def measured(self) -> tuple[str, str]:
        """Where A u and the squared lengths of the rows of A are."""
        e, code, A = self.e, self.code, self.given["A"]
        x, values, squares = (self.at[name] for name in ("x", "values", "squares"))

        def panel(p: str, _: list[str]) -> list[str]:
            k = e.op(f"mul i64 {p}, {PANEL}")
            targets = f"ptr {e.at(values, k)}, ptr {e.at(squares, k)}"
            e.lines.append(f"  call void @measure(ptr {e.entry(A, k, code.n)}, ptr {x}, {targets})")
            return []

        def one(k: str, _: list[str]) -> list[str]:
            row, copy = e.entry(A, k, code.n), self.at["residual"]
            self.copy(row, copy)
            e.store(e.op(f"call double @dot(ptr {row}, ptr {x})"), e.at(values, k))
            e.store(e.op(f"call double @dot(ptr {row}, ptr {copy})"), e.at(squares, k))
            return []

        e.repeat(0, code.rows // PANEL, panel)
        e.repeat(code.rows // PANEL * PANEL, code.rows, one)
        return values, squares

    def copy_row(self, i: str, target: str) -> None:
        e, code = self.e, self.code
        k = e.op(f"sub i64 {i}, {code.bounded}") if code.bounded else i
        self.copy(e.entry(self.given["A"], k, code.n), target)

    def copy(self, source: str, target: str) -> None:
        """A row of n doubles that may lack padding into one that has it."""
        dense = self.code.dense
        for c in range(dense.blocks):
            self.e.store(dense.block(self.e, source, c), self.e.at(target, c * dense.width), self.e.real)
