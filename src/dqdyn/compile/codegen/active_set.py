"""A small quadratic program by a guess of its active bounds, in machine code.

min ½ uᵀH u + fᵀu under lower ≤ [u; A u] ≤ upper. With the bounds that are active known, the solution is that of linear
equations, here by H = RᵀR and, for the rows G of active bounds, W = G R⁻¹ and S = W Wᵀ:

    H u + Gᵀλ = −f,   G u = b.

Where λ has the right signs and u obeys all bounds, u is the minimum, and for a positive definite H the only one: the
guess needs no trust. Otherwise a bound with a wrong sign is dropped, or the one that is missed most is added, a few
times. In a control loop the guess of the last step is right most of the time.
"""

from __future__ import annotations

from dqdyn.compile.codegen.active_rows import ActiveRows
from dqdyn.compile.codegen.dense import PANEL
from dqdyn.compile.codegen.loops import LoopEmitter, number

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


class ActiveSetCode(ActiveRows):
    """The whole code for problems of one size."""

    @property
    def key(self) -> str:
        return f"active set {self.n} {self.bounded} {self.rows} {self.width} {self.fma}"

    def text(self) -> str:
        """``i64 active_set(ptr arguments)`` with the words of :data:`ARGUMENTS`."""
        e = self.emitter()
        given = {
            name: e.load(e.at("%arguments", k, "i64"), "i64" if name == "changes" else "ptr")
            for k, name in enumerate(ARGUMENTS)
        }
        e.lines.append(f"  %memory = getelementptr i8, ptr {given['memory']}, i64 0")
        e.lines += ["  %count = alloca i64", "  %changed = alloca i64"]
        search = _Search(self, e, given)
        search.factor()
        search.collect()
        search.attempt()
        e.lines += ["failed:"]
        return "\n".join([self.functions(), e.define("i64 @active_set(ptr %arguments)", "ret i64 1")])


class _Search:
    """The lines of ``active_set``: steps that end in the block ``failed`` where another solver is needed."""

    def __init__(self, code: ActiveSetCode, e: LoopEmitter, given: dict[str, str]) -> None:
        self.code, self.e, self.given = code, e, given
        names = tuple(code.sections)
        self.at = dict(zip(names, code.places(e, *names), strict=True))

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

        def panel(p: str, _: list[str]) -> list[str]:
            rows = self.code.row(e, at["W"], e.op(f"mul i64 {p}, {PANEL}"))
            e.lines.append(f"  call void @forward{PANEL}(ptr {at['R']}, ptr {at['inverse']}, ptr {rows})")
            return []

        at = self.at
        e.repeat(0, self.code.sides, one)
        e.repeat(0, self.code.panels(e, e.load("%count", "i64")), panel)

    def append(self, i: str, mark: str) -> None:
        """One more active bound; W gets its row of G."""
        e, at, code = self.e, self.at, self.code
        count = e.load("%count", "i64")
        e.require(e.op(f"icmp slt i64 {count}, {code.capacity}"), "failed")
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
            self._copy_row(i, G)
            e.jump(names[2])
            e.label(names[2])
        else:
            self._copy_row(i, G)
        self._copy(G, W)
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
        code.fill(e, at["residual"])
        e.lines.append(f"  call void @add_multiple(double -1.0, ptr {given['f']}, ptr {at['residual']})")
        self._equations(count, "bound", "x", "lambda")
        self._correct(count)
        self._drop(count)
        self._add()
        self._finish(count)

    def _products(self, count: str) -> None:
        """S = W Wᵀ, the upper triangle."""
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

    def _equations(self, count: str, second: str, x: str, multipliers: str) -> None:
        """From what stands in ``residual``."""
        names = ("residual", second, x, multipliers)
        pointers = ", ".join(f"ptr {self.at[name]}" for name in names)
        self.e.lines.append(f"  call void @equations(ptr %memory, i64 {count}, {pointers})")

    def _correct(self, count: str) -> None:
        """One step of iterative refinement, which must be small."""
        e, at, given, code = self.e, self.at, self.given, self.code
        code.fill(e, at["residual"])
        e.lines.append(f"  call void @add_multiple(double -1.0, ptr {given['f']}, ptr {at['residual']})")

        def column(i: str, _: list[str]) -> list[str]:  # H is symmetric
            factor = e.op(f"fneg double {e.load(e.at(at['x'], i))}")
            row = e.entry(given["H"], i, code.n)
            e.lines.append(f"  call void @add_multiple(double {factor}, ptr {row}, ptr {at['residual']})")
            return []

        def active(a: str, _: list[str]) -> list[str]:
            row = code.row(e, at["G"], a)
            factor = e.op(f"fneg double {e.load(e.at(at['lambda'], a))}")
            e.lines.append(f"  call void @add_multiple(double {factor}, ptr {row}, ptr {at['residual']})")
            product = e.op(f"call double @dot(ptr {row}, ptr {at['x']})")
            e.store(e.scalar("fsub", e.load(e.at(at["bound"], a)), product), e.at(at["missing"], a))
            return []

        e.repeat(0, code.n, column)
        e.repeat(0, count, active)
        self._equations(count, "missing", "change", "lambda_change")
        squares = [e.op(f"call double @dot(ptr {at[name]}, ptr {at[name]})") for name in ("change", "x")]
        allowed = e.scalar("fmul", squares[1], number(CORRECTED**2))
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
                self._copy(self.code.row(e, at[name], last), self.code.row(e, at[name], which))
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
            square = e.load(e.at(squares, k))
            result = compare(e.op(f"add i64 {k}, {code.bounded}"), e.load(e.at(values, k)), carried)
            for comparison, limit in zip(("oge", "ole"), FAIR, strict=True):
                fair = e.op(f"fcmp {comparison} double {square}, {number(limit)}")
                result[4] = e.op(f"and i1 {result[4]}, {fair}")
            return result

        def compare(i: str, value: str, carried: list[str]) -> list[str]:
            worst, which, mark, good, fair = carried
            over = e.scalar("fsub", value, e.load(e.at(given["upper"], i)))
            under = e.scalar("fsub", e.load(e.at(given["lower"], i)), value)
            is_under = e.op(f"fcmp ogt double {under}, {over}")
            missed = e.op(f"select i1 {is_under}, double {under}, double {over}")
            more = e.op(f"fcmp ogt double {missed}, {worst}")
            side = e.op(f"select i1 {is_under}, i32 {LOWER}, i32 {UPPER}")
            kept = [e.op(f"fcmp ole double {s}, {number(MISSED)}") for s in (over, under)]  # NaN is not
            return [
                e.op(f"select i1 {more}, double {missed}, double {worst}"),
                e.op(f"select i1 {more}, i64 {i}, i64 {which}"),
                e.op(f"select i1 {more}, i32 {side}, i32 {mark}"),
                e.op(f"and i1 {good}, {e.op(f'and i1 {kept[0]}, {kept[1]}')}"),
                fair,
            ]

        values, squares = self._measured()
        start = (("double", number(MISSED)), ("i64", "-1"), ("i32", "0"), ("i1", "true"), ("i1", "true"))
        found = e.repeat(0, code.bounded, own, *start)
        kinds = [kind for kind, _ in start]
        _, which, mark, good, fair = e.repeat(0, code.rows, general, *zip(kinds, found, strict=True))
        e.require(fair, "failed")

        def add() -> None:
            e.require(e.op(f"icmp sge i64 {which}, 0"), "failed")  # a bound that is NaN
            place = e.at(given["marks"], which, "i32")
            e.require(e.op(f"icmp eq i32 {e.load(place, 'i32', 4)}, 0"), "failed")  # active already: bounds cross
            e.store(mark, place, "i32", 4)
            row = self.code.row(e, self.at["W"], e.load("%count", "i64"))
            self.append(which, mark)
            e.lines.append(f"  call void @forward1(ptr {self.at['R']}, ptr {self.at['inverse']}, ptr {row})")
            e.jump("attempt")
            e.label(f"unreachable{next(e._names)}")

        e.when(e.op(f"xor i1 {good}, true"), add)

    def _measured(self) -> tuple[str, str]:
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
            self._copy(row, copy)
            e.store(e.op(f"call double @dot(ptr {row}, ptr {x})"), e.at(values, k))
            e.store(e.op(f"call double @dot(ptr {row}, ptr {copy})"), e.at(squares, k))
            return []

        e.repeat(0, code.rows // PANEL, panel)
        e.repeat(code.rows // PANEL * PANEL, code.rows, one)
        return values, squares

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
        e.require(e.op(f"fcmp olt double {square}, {number(float('inf'))}"), "failed")
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
        dense = self.code.dense
        for c in range(dense.blocks):
            self.e.store(dense.block(self.e, source, c), self.e.at(target, c * dense.width), self.e.real)
