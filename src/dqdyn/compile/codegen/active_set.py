"""A small quadratic program by a guess of its active bounds, in machine code.

min ½ uᵀH u + fᵀu under lower ≤ [u; A u] ≤ upper. With the bounds that are active known, the solution is that of linear
equations, here by H = RᵀR and, for the rows G of active bounds, W = G R⁻¹ and S = W Wᵀ:

    H u + Gᵀλ = −f,   G u = b.

Where λ has the right signs and u obeys all bounds, u is the minimum, and for a positive definite H the only one: the
guess needs no trust. Otherwise a bound with a wrong sign is dropped, or the one that is missed most is added, a few
times. In a control loop the guess of the last step is right most of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dqdyn.compile.codegen.ir import Emitter
from dqdyn.compile.codegen.loops import DenseCode, LoopEmitter

SOLVED = 0
"""What the code returns where it has the minimum; any other number where another solver is needed."""
MISSED = 1e-9
"""How far a bound may be missed, in the unit of its row."""
CORRECTED = 1e-6
"""How much the correction of rounding errors may change u, relative to u: else H is too nearly singular."""
FAIR = 1e-8, 1e12
"""The least and largest squared length of a row; others need scaling first."""
UPPER, LOWER, EQUALITY = 1, -1, 2
"""Marks of active bounds; 0 is inactive."""
ARGUMENTS = ("H", "f", "A", "upper", "lower", "u", "multipliers", "marks", "rows", "memory", "changes")
"""Words that the code reads: pointers, the last one the greatest number of changes of the guess."""


@dataclass(frozen=True)
class ActiveSetCode:
    """Code for ``n`` unknowns, the first ``bounded`` of them with bounds of their own, and ``rows`` rows of A."""

    n: int
    bounded: int
    rows: int
    width: int
    fma: bool

    @property
    def sides(self) -> int:
        return self.bounded + self.rows

    @property
    def capacity(self) -> int:
        """The most bounds that may be active at once."""
        return min(self.n, self.sides)

    @property
    def sections(self) -> dict[str, int]:
        """Doubles in each part of the memory, all of which are zeros at first."""
        padded, most = DenseCode(self.n, self.width, self.fma).padded, self.capacity
        vectors = dict.fromkeys(("inverse", "x", "change", "residual", "sum"), padded)
        small = dict.fromkeys(("lambda", "bound", "missing", "pivots", "lambda_change"), most)
        return {"R": self.n * padded, "G": most * padded, "W": most * padded, **vectors, "S": most * most, **small}

    @property
    def key(self) -> str:
        return f"active set {self.n} {self.bounded} {self.rows} {self.width} {self.fma}"

    def text(self) -> str:
        """``i64 active_set(ptr arguments)`` with the words of :data:`ARGUMENTS`."""
        dense = DenseCode(self.n, self.width, self.fma)
        return "\n".join([dense.text(), self._small_factor(), self._small_solve(), self._equations(), self._main()])

    # --- the matrix S of the active bounds, of a size that changes ---

    def _small_factor(self) -> str:
        """``i1 small_factor(ptr S, ptr pivots, i64 count)``: lower factor in place, 1/diagonal apart."""
        e, most = self._emitter(), self.capacity

        def product(a: str, b: str) -> Callable[[str, list[str]], list[str]]:
            def one(c: str, total: list[str]) -> list[str]:
                x, y = e.load(e.entry("%S", a, most, c)), e.load(e.entry("%S", b, most, c))
                return [e.scalar("fsub", total[0], e.scalar("fmul", x, y))]

            return one

        def row(a: str, _: list[str]) -> list[str]:
            def column(b: str, _: list[str]) -> list[str]:
                at = e.entry("%S", a, most, b)
                rest = e.repeat(0, b, product(a, b), ("double", e.load(at)))[0]
                e.store(e.scalar("fmul", rest, e.load(e.at("%pivots", b))), at)
                return []

            e.repeat(0, a, column)
            given = e.load(e.entry("%S", a, most, a))
            pivot = e.repeat(0, a, product(a, a), ("double", given))[0]
            least = e.scalar("fmul", given, _number(DenseCode.PIVOT))
            e.require(e.op(f"fcmp ogt double {pivot}, {least}"), "singular")
            e.store(e.scalar("fdiv", "1.0", e.op(f"call double @llvm.sqrt.f64(double {pivot})")), e.at("%pivots", a))
            return []

        e.repeat(0, "%count", row)
        e.lines += ["  ret i1 true", "singular:"]
        return e.define("i1 @small_factor(ptr %S, ptr %pivots, i64 %count)", "ret i1 false")

    def _small_solve(self) -> str:
        """``small_solve(ptr S, ptr pivots, i64 count, ptr x)``: x ← S⁻¹ x with the factor of S."""
        e, most = self._emitter(), self.capacity

        def finish(a: str, rest: str) -> list[str]:
            e.store(e.scalar("fmul", rest, e.load(e.at("%pivots", a))), e.at("%x", a))
            return []

        def down(a: str, _: list[str]) -> list[str]:
            def one(b: str, total: list[str]) -> list[str]:
                product = e.scalar("fmul", e.load(e.entry("%S", a, most, b)), e.load(e.at("%x", b)))
                return [e.scalar("fsub", total[0], product)]

            return finish(a, e.repeat(0, a, one, ("double", e.load(e.at("%x", a))))[0])

        def up(i: str, _: list[str]) -> list[str]:
            following = e.op(f"sub i64 %count, {i}")
            a = e.op(f"sub i64 {following}, 1")

            def one(b: str, total: list[str]) -> list[str]:
                product = e.scalar("fmul", e.load(e.entry("%S", b, most, a)), e.load(e.at("%x", b)))
                return [e.scalar("fsub", total[0], product)]

            return finish(a, e.repeat(following, "%count", one, ("double", e.load(e.at("%x", a))))[0])

        e.repeat(0, "%count", down)
        e.repeat(0, "%count", up)
        return e.define("void @small_solve(ptr %S, ptr %pivots, i64 %count, ptr noalias %x)", "ret void")

    # --- the equations of an active set ---

    def _equations(self) -> str:
        """``equations(ptr memory, i64 count, ptr first, ptr second, ptr x, ptr l)``.

        H x + Gᵀl = first, G x = second; ``first`` is overwritten.
        """
        e, at = self._emitter(), self._places
        R, inverse, G, W, total, S, pivots = at(e, "R", "inverse", "G", "W", "sum", "S", "pivots")
        e.lines.append(f"  call void @forward(ptr {R}, ptr {inverse}, ptr %first)")
        e.lines.append(f"  call void @backward(ptr {R}, ptr {inverse}, ptr %first, ptr %x)")
        e.require(e.op("icmp sgt i64 %count, 0"), "done")

        def right(a: str, _: list[str]) -> list[str]:
            product = e.op(f"call double @dot(ptr {self._row(e, G, a)}, ptr %x)")
            e.store(e.scalar("fsub", product, e.load(e.at("%second", a))), e.at("%l", a))
            return []

        def back(a: str, _: list[str]) -> list[str]:
            factor = e.op(f"fneg double {e.load(e.at('%l', a))}")
            e.lines.append(f"  call void @add_multiple(double {factor}, ptr {self._row(e, W, a)}, ptr {total})")
            return []

        e.repeat(0, "%count", right)
        e.lines.append(f"  call void @small_solve(ptr {S}, ptr {pivots}, i64 %count, ptr %l)")
        self._fill(e, total)
        e.repeat(0, "%count", back)
        e.lines.append(f"  call void @backward(ptr {R}, ptr {inverse}, ptr {total}, ptr %first)")
        e.lines.append("  call void @add_multiple(double 1.0, ptr %first, ptr %x)")
        e.jump("done")
        e.label("done")
        arguments = "ptr %memory, i64 %count, ptr %first, ptr %second, ptr %x, ptr %l"
        return e.define(f"void @equations({arguments})", "ret void")

    # --- the search for the active set ---

    def _main(self) -> str:
        e = self._emitter()
        given = {
            name: e.load(e.at("%arguments", k, "i64"), "i64" if name == "changes" else "ptr")
            for k, name in enumerate(ARGUMENTS)
        }
        e.lines.append(f"  %memory = getelementptr i8, ptr {given['memory']}, i64 0")
        e.lines += ["  %count = alloca i64", "  %changed = alloca i64"]
        search = _Search(self, e, given)
        search.check_rows()
        search.factor()
        search.collect()
        search.attempt()
        e.lines += ["failed:"]
        return e.define("i64 @active_set(ptr %arguments)", "ret i64 1")

    # --- pieces ---

    def _emitter(self) -> LoopEmitter:
        return LoopEmitter(self.width, self.fma)

    def _places(self, e: LoopEmitter, *names: str) -> list[str]:
        """Pointers to sections of the memory."""
        starts, total = {}, 0
        for name, size in self.sections.items():
            starts[name], total = total, total + size
        return [e.at("%memory", starts[name]) for name in names]

    def _row(self, e: LoopEmitter, matrix: str, a: str) -> str:
        """A padded row."""
        return e.entry(matrix, a, DenseCode(self.n, self.width, self.fma).padded)

    def _fill(self, e: LoopEmitter, target: str, value: str = "zeroinitializer") -> None:
        for c in range(DenseCode(self.n, self.width, self.fma).blocks):
            e.store(value if self.width > 1 else "0.0", e.at(target, c * self.width), e.real)


class _Search:
    """The lines of ``active_set``: steps that end in the block ``failed`` where another solver is needed."""

    def __init__(self, code: ActiveSetCode, e: LoopEmitter, given: dict[str, str]) -> None:
        self.code, self.e, self.given = code, e, given
        names = tuple(code.sections)
        self.at = dict(zip(names, code._places(e, *names), strict=True))

    def check_rows(self) -> None:
        """Rows of A must be neither very short nor very long."""
        e, code = self.e, self.code

        def one(i: str, _: list[str]) -> list[str]:
            row = e.entry(self.given["A"], i, code.n)
            self._copy(row, self.at["x"])
            square = e.op(f"call double @dot(ptr {row}, ptr {self.at['x']})")
            e.require(e.op(f"fcmp oge double {square}, {_number(FAIR[0])}"), "failed")
            e.require(e.op(f"fcmp ole double {square}, {_number(FAIR[1])}"), "failed")
            return []

        if code.rows:
            e.repeat(0, code.rows, one)

    def factor(self) -> None:
        e, at = self.e, self.at
        good = e.op(f"call i1 @factor(ptr {self.given['H']}, ptr {at['R']}, ptr {at['inverse']})")
        e.require(good, "failed")

    def collect(self) -> None:
        """The rows of bounds that are marked."""
        e = self.e
        e.store("0", "%count", "i64")
        e.store("0", "%changed", "i64")

        def one(i: str, _: list[str]) -> list[str]:
            mark = e.load(e.at(self.given["marks"], i, "i32"), "i32", 4)
            e.when(e.op(f"icmp ne i32 {mark}, 0"), lambda: self.append(i, mark))
            return []

        e.repeat(0, self.code.sides, one)

    def append(self, i: str, mark: str) -> None:
        """One more active bound."""
        e, at, code = self.e, self.at, self.code
        count = e.load("%count", "i64")
        e.require(e.op(f"icmp slt i64 {count}, {code.capacity}"), "failed")
        e.store(i, e.at(self.given["rows"], count, "i64"), "i64")
        is_lower = e.op(f"icmp eq i32 {mark}, {LOWER}")
        sides = [e.load(e.at(self.given[name], i)) for name in ("lower", "upper")]
        e.store(e.op(f"select i1 {is_lower}, double {sides[0]}, double {sides[1]}"), e.at(at["bound"], count))
        G, W = (code._row(e, at[name], count) for name in ("G", "W"))
        if code.bounded:
            own = e.op(f"icmp slt i64 {i}, {code.bounded}")
            names = [f"{what}{next(e._names)}" for what in ("unit", "general", "after")]
            e.branch(own, *names[:2])
            e.label(names[0])
            code._fill(e, G)
            e.store("1.0", e.at(G, i))
            e.jump(names[2])
            e.label(names[1])
            self._copy_row(i, G)
            e.jump(names[2])
            e.label(names[2])
        else:
            self._copy_row(i, G)
        self._copy(G, W)
        e.lines.append(f"  call void @forward(ptr {at['R']}, ptr {at['inverse']}, ptr {W})")
        e.store(e.op(f"add i64 {count}, 1"), "%count", "i64")

    def attempt(self) -> None:
        """Solve for the active bounds, and change them until the solution is the minimum."""
        e, at, given = self.e, self.at, self.given
        e.jump("attempt")
        e.label("attempt")
        changed = e.load("%changed", "i64")
        e.require(e.op(f"icmp sle i64 {changed}, {given['changes']}"), "failed")
        e.store(e.op(f"add i64 {changed}, 1"), "%changed", "i64")
        count = e.load("%count", "i64")
        self._products(count)
        good = e.op(f"call i1 @small_factor(ptr {at['S']}, ptr {at['pivots']}, i64 {count})")
        e.require(good, "failed")
        code = self.code
        code._fill(e, at["residual"])
        e.lines.append(f"  call void @add_multiple(double -1.0, ptr {given['f']}, ptr {at['residual']})")
        self._equations(count, "bound", "x", "lambda")
        self._correct(count)
        self._drop(count)
        self._add()
        self._finish(count)

    def _products(self, count: str) -> None:
        """S = W Wᵀ, the lower triangle."""
        e, W = self.e, self.at["W"]

        def row(a: str, _: list[str]) -> list[str]:
            first = self.code._row(e, W, a)

            def column(b: str, _: list[str]) -> list[str]:
                product = e.op(f"call double @dot(ptr {first}, ptr {self.code._row(e, W, b)})")
                e.store(product, e.entry(self.at["S"], a, self.code.capacity, b))
                return []

            e.repeat(0, e.op(f"add i64 {a}, 1"), column)
            return []

        e.repeat(0, count, row)

    def _equations(self, count: str, second: str, x: str, multipliers: str) -> None:
        """From what stands in ``residual``."""
        names = ("residual", second, x, multipliers)
        pointers = ", ".join(f"ptr {self.at[name]}" for name in names)
        self.e.lines.append(f"  call void @equations(ptr %memory, i64 {count}, {pointers})")

    def _correct(self, count: str) -> None:
        """One step of iterative refinement, which must be small."""
        e, at, given, code = self.e, self.at, self.given, self.code
        code._fill(e, at["residual"])
        e.lines.append(f"  call void @add_multiple(double -1.0, ptr {given['f']}, ptr {at['residual']})")

        def column(i: str, _: list[str]) -> list[str]:  # H is symmetric
            factor = e.op(f"fneg double {e.load(e.at(at['x'], i))}")
            row = e.entry(given["H"], i, code.n)
            e.lines.append(f"  call void @add_multiple(double {factor}, ptr {row}, ptr {at['residual']})")
            return []

        def active(a: str, _: list[str]) -> list[str]:
            row = code._row(e, at["G"], a)
            factor = e.op(f"fneg double {e.load(e.at(at['lambda'], a))}")
            e.lines.append(f"  call void @add_multiple(double {factor}, ptr {row}, ptr {at['residual']})")
            product = e.op(f"call double @dot(ptr {row}, ptr {at['x']})")
            e.store(e.scalar("fsub", e.load(e.at(at["bound"], a)), product), e.at(at["missing"], a))
            return []

        e.repeat(0, code.n, column)
        e.repeat(0, count, active)
        self._equations(count, "missing", "change", "lambda_change")
        squares = [e.op(f"call double @dot(ptr {at[name]}, ptr {at[name]})") for name in ("change", "x")]
        allowed = e.scalar("fmul", squares[1], _number(CORRECTED**2))
        e.require(e.op(f"fcmp ole double {squares[0]}, {allowed}"), "failed")
        e.lines.append(f"  call void @add_multiple(double 1.0, ptr {at['change']}, ptr {at['x']})")

        def add(a: str, _: list[str]) -> list[str]:
            place = e.at(at["lambda"], a)
            e.store(e.scalar("fadd", e.load(place), e.load(e.at(at["lambda_change"], a))), place)
            return []

        e.repeat(0, count, add)

    def _drop(self, count: str) -> None:
        """Drop the bound whose multiplier has the wrong sign most, if any, and try again."""
        e, at, given = self.e, self.at, self.given

        def one(a: str, carried: list[str]) -> list[str]:
            worst, which = carried
            i = e.load(e.at(given["rows"], a, "i64"), "i64")
            mark = e.load(e.at(given["marks"], i, "i32"), "i32", 4)
            value = e.load(e.at(at["lambda"], a))
            negative = e.op(f"fneg double {value}")
            signed = e.op(f"select i1 {e.op(f'icmp eq i32 {mark}, {LOWER}')}, double {negative}, double {value}")
            free = e.op(f"select i1 {e.op(f'icmp eq i32 {mark}, {EQUALITY}')}, double 0.0, double {signed}")
            less = e.op(f"fcmp olt double {free}, {worst}")
            return [
                e.op(f"select i1 {less}, double {free}, double {worst}"),
                e.op(f"select i1 {less}, i64 {a}, i64 {which}"),
            ]

        _, which = e.repeat(0, count, one, ("double", "0.0"), ("i64", "-1"))

        def drop() -> None:
            last = e.op(f"sub i64 {count}, 1")
            place = e.at(given["rows"], which, "i64")
            e.store("0", e.at(given["marks"], e.load(place, "i64"), "i32"), "i32", 4)
            e.store(e.load(e.at(given["rows"], last, "i64"), "i64"), place, "i64")
            e.store(e.load(e.at(at["bound"], last)), e.at(at["bound"], which))
            for name in ("G", "W"):
                self._copy(self.code._row(e, at[name], last), self.code._row(e, at[name], which))
            e.store(last, "%count", "i64")
            e.jump("attempt")
            e.label(f"unreachable{next(e._names)}")

        e.when(e.op(f"icmp sge i64 {which}, 0"), drop)

    def _add(self) -> None:
        """Add the bound that is missed most, if any, and try again."""
        e, given, code, x = self.e, self.given, self.code, self.at["x"]

        def own(i: str, carried: list[str]) -> list[str]:
            return compare(i, e.load(e.at(x, i)), carried)

        def general(k: str, carried: list[str]) -> list[str]:
            value = e.op(f"call double @dot(ptr {e.entry(given['A'], k, code.n)}, ptr {x})")
            return compare(e.op(f"add i64 {k}, {code.bounded}") if code.bounded else k, value, carried)

        def compare(i: str, value: str, carried: list[str]) -> list[str]:
            worst, which, mark, good = carried
            over = e.scalar("fsub", value, e.load(e.at(given["upper"], i)))
            under = e.scalar("fsub", e.load(e.at(given["lower"], i)), value)
            is_under = e.op(f"fcmp ogt double {under}, {over}")
            missed = e.op(f"select i1 {is_under}, double {under}, double {over}")
            more = e.op(f"fcmp ogt double {missed}, {worst}")
            side = e.op(f"select i1 {is_under}, i32 {LOWER}, i32 {UPPER}")
            kept = [e.op(f"fcmp ole double {s}, {_number(MISSED)}") for s in (over, under)]  # NaN is not
            return [
                e.op(f"select i1 {more}, double {missed}, double {worst}"),
                e.op(f"select i1 {more}, i64 {i}, i64 {which}"),
                e.op(f"select i1 {more}, i32 {side}, i32 {mark}"),
                e.op(f"and i1 {good}, {e.op(f'and i1 {kept[0]}, {kept[1]}')}"),
            ]

        start = (("double", _number(MISSED)), ("i64", "-1"), ("i32", "0"), ("i1", "true"))
        found = e.repeat(0, code.bounded, own, *start)
        kinds = [kind for kind, _ in start]
        _, which, mark, good = e.repeat(0, code.rows, general, *zip(kinds, found, strict=True))

        def add() -> None:
            e.require(e.op(f"icmp sge i64 {which}, 0"), "failed")  # a bound that is NaN
            place = e.at(given["marks"], which, "i32")
            e.require(e.op(f"icmp eq i32 {e.load(place, 'i32', 4)}, 0"), "failed")  # active already: bounds cross
            e.store(mark, place, "i32", 4)
            self.append(which, mark)
            e.jump("attempt")
            e.label(f"unreachable{next(e._names)}")

        e.when(e.op(f"xor i1 {good}, true"), add)

    def _finish(self, count: str) -> None:
        """The solution for the caller: what u misses of its own bounds by rounding is cut off."""
        e, at, given, code = self.e, self.at, self.given, self.code

        def zero(i: str, _: list[str]) -> list[str]:
            e.store("0.0", e.at(given["multipliers"], i))
            return []

        def multiplier(a: str, _: list[str]) -> list[str]:
            i = e.load(e.at(given["rows"], a, "i64"), "i64")
            e.store(e.load(e.at(at["lambda"], a)), e.at(given["multipliers"], i))
            return []

        def component(i: str, _: list[str]) -> list[str]:
            e.store(e.load(e.at(at["x"], i)), e.at(given["u"], i))
            return []

        def cut(i: str, _: list[str]) -> list[str]:
            value, place = e.load(e.at(at["x"], i)), e.at(given["u"], i)
            for name, comparison in (("upper", "ogt"), ("lower", "olt")):
                bound = e.load(e.at(given[name], i))
                beyond = e.op(f"fcmp {comparison} double {value}, {bound}")
                value = e.op(f"select i1 {beyond}, double {bound}, double {value}")
            e.store(value, place)
            return []

        square = e.op(f"call double @dot(ptr {at['x']}, ptr {at['x']})")
        e.require(e.op(f"fcmp olt double {square}, {_number(float('inf'))}"), "failed")
        e.repeat(0, code.sides, zero)
        e.repeat(0, count, multiplier)
        e.repeat(0, code.bounded, cut)
        e.repeat(code.bounded, code.n, component)
        e.lines.append(f"  ret i64 {SOLVED}")

    def _copy_row(self, i: str, target: str) -> None:
        e, code = self.e, self.code
        k = e.op(f"sub i64 {i}, {code.bounded}") if code.bounded else i
        self._copy(e.entry(self.given["A"], k, code.n), target)

    def _copy(self, source: str, target: str) -> None:
        """A row of n doubles that may lack padding into one that has it."""
        dense = DenseCode(self.code.n, self.code.width, self.code.fma)
        for c in range(dense.blocks):
            self.e.store(dense.block(self.e, source, c), self.e.at(target, c * dense.width), self.e.real)


def _number(value: float) -> str:
    return Emitter(1).const(value)
