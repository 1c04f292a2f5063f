"""A small quadratic program by a guess of its active bounds, in machine code.

min ½ uᵀH u + fᵀu under lower ≤ [u; A u] ≤ upper. With the bounds that are active known, the solution is that of linear
equations, here by H = RᵀR and, for the rows G of active bounds, W = G R⁻¹ and S = W Wᵀ:

    H u + Gᵀλ = −f,   G u = b.

Where λ has the right signs and u obeys all bounds, u is the minimum, and for a positive definite H the only one: the
guess needs no trust. In a control loop that of the last step is right most of the time. Otherwise bounds with a wrong
sign are dropped, and those that are missed are added by the dual method of Goldfarb and Idnani (1983).
"""

from __future__ import annotations

from dqdyn.compile.codegen.active_bounds import LOWER, UPPER, ActiveBounds
from dqdyn.compile.codegen.active_rows import ActiveRows
from dqdyn.compile.codegen.dense import PANEL, DenseCode
from dqdyn.compile.codegen.held_bounds import hold
from dqdyn.compile.codegen.loops import number

REASONS = ("solved", "singular", "full", "changes", "inaccurate", "unfair", "nan", "crossing", "infeasible", "infinite")
"""What the numbers mean that the code returns: it has the minimum, or why another solver is needed."""
SOLVED = 0
MISSED = 1e-9
"""How far a bound may be missed, in the unit of its row."""
CORRECTED, ROUNDS = 1e-6, 4
"""How much the last correction of rounding errors may change u, relative to u, and how many may follow the first: else
the equations are too nearly singular."""
FAIR = 1e-8, 1e12
"""The least and largest squared length of a row; others need scaling first."""
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
        slots = {"count": "i64", "changed": "i64", "rounds": "i64", "missed": "double", "side": "double"}
        e.lines += [f"  %{name} = alloca {kind}" for name, kind in slots.items()]
        search = _Search(self, e, given)
        search.factor()
        search.collect()
        search.attempt()
        search.exchange()
        for k, name in enumerate(REASONS[1:], 1):
            e.lines += [f"{name}:", f"  ret i64 {k}"]
        return "\n".join([self.functions(), hold(self), e.define("i64 @active_set(ptr %arguments)", "")])


class _Search(ActiveBounds):
    """The lines of ``active_set``: steps that end in a block of :data:`REASONS` where another solver is needed."""

    def factor(self) -> None:
        e, at = self.e, self.at
        good = e.op(f"call i1 @factor(ptr {self.given['H']}, ptr {at['R']}, ptr {at['inverse']})")
        e.require(good, "singular")

    def attempt(self) -> None:
        """Solve for the active bounds, and change them until the solution is the minimum."""
        e, at, given = self.e, self.at, self.given
        e.jump("attempt")
        e.label("attempt")
        self._count_change()
        count = e.load("%count", "i64")
        self.products(count)
        code = self.code
        code.fill(e, at["residual"])
        e.lines.append(f"  call void @add_multiple(double -1.0, ptr {given['f']}, ptr {at['residual']})")
        self._equations(count, "bound", "x", "lambda")
        self._correct(count)
        self._drop(count)
        self._add()
        self._finish(count)

    def _count_change(self) -> None:
        """Give up after too many changes."""
        e = self.e
        changed = e.load("%changed", "i64")
        e.require(e.op(f"icmp sle i64 {changed}, {self.given['changes']}"), "changes")
        e.store(e.op(f"add i64 {changed}, 1"), "%changed", "i64")

    def _equations(self, count: str, second: str, x: str, multipliers: str) -> None:
        """From what stands in ``residual``."""
        names = ("residual", second, x, multipliers)
        pointers = ", ".join(f"ptr {self.at[name]}" for name in names)
        self.e.lines.append(f"  call void @equations(ptr %memory, i64 {count}, {pointers})")

    def _correct(self, count: str) -> None:
        """Steps of iterative refinement, most often one, until the last is small."""
        e, at, given, code = self.e, self.at, self.given, self.code
        e.store("0", "%rounds", "i64")
        e.jump("correct")
        e.label("correct")
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
        is_small = e.op(f"fcmp ole double {squares[0]}, {e.scalar('fmul', squares[1], number(CORRECTED**2))}")
        e.lines.append(f"  call void @add_multiple(double 1.0, ptr {at['change']}, ptr {at['x']})")

        def add(a: str, _: list[str]) -> list[str]:
            place = e.at(at["lambda"], a)
            e.store(e.scalar("fadd", e.load(place), e.load(e.at(at["lambda_change"], a))), place)
            return []

        def again() -> None:
            rounds = e.load("%rounds", "i64")
            e.require(e.op(f"icmp slt i64 {rounds}, {ROUNDS}"), "inaccurate")
            e.store(e.op(f"add i64 {rounds}, 1"), "%rounds", "i64")
            e.jump("correct")
            e.label(f"unreachable{next(e._names)}")

        e.repeat(0, count, add)
        e.when(e.op(f"xor i1 {is_small}, true"), again)

    def _drop(self, count: str) -> None:
        """Drop the bound whose multiplier has the wrong sign most, if any, and try again."""
        e, at = self.e, self.at

        def one(a: str, carried: list[str]) -> list[str]:
            worst, which = carried
            sign, is_equality = self.sign(a)
            signed = e.scalar("fmul", sign, e.load(e.at(at["lambda"], a)))
            free = e.op(f"select i1 {is_equality}, double 0.0, double {signed}")
            less = e.op(f"fcmp olt double {free}, {worst}")
            return [
                e.op(f"select i1 {less}, double {free}, double {worst}"),
                e.op(f"select i1 {less}, i64 {a}, i64 {which}"),
            ]

        _, which = e.repeat(0, count, one, ("double", "0.0"), ("i64", "-1"))

        def drop() -> None:
            self.remove(which, count)
            e.jump("attempt")
            e.label(f"unreachable{next(e._names)}")

        e.when(e.op(f"icmp sge i64 {which}, 0"), drop)

    def _add(self) -> None:
        """Find the bound that is missed most, if any, and add it."""
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

        values, squares = self.measured()
        start = (("double", number(MISSED)), ("i64", "-1"), ("i32", "0"), ("i1", "true"), ("i1", "true"))
        found = e.repeat(0, code.bounded, own, *start)
        kinds = [kind for kind, _ in start]
        worst, which, mark, good, fair = e.repeat(0, code.rows, general, *zip(kinds, found, strict=True))
        e.require(fair, "unfair")

        def add() -> None:
            e.require(e.op(f"icmp sge i64 {which}, 0"), "nan")  # a bound that is NaN
            place = e.at(given["marks"], which, "i32")
            # Active already: its other side is missed, or it depends on others that leave no room.
            e.require(e.op(f"icmp eq i32 {e.load(place, 'i32', 4)}, 0"), "crossing")
            count = e.load("%count", "i64")
            self.place(which, mark, count)
            row = code.row(e, self.at["W"], count)
            e.lines.append(f"  call void @forward1(ptr {self.at['R']}, ptr {self.at['inverse']}, ptr {row})")
            e.store(worst, "%missed")
            is_lower = e.op(f"icmp eq i32 {mark}, {LOWER}")
            e.store(e.op(f"select i1 {is_lower}, double -1.0, double 1.0"), "%side")
            e.jump("exchange")
            e.label(f"unreachable{next(e._names)}")

        e.when(e.op(f"xor i1 {good}, true"), add)

    def exchange(self) -> None:
        """One step of the dual method towards the bound behind the active ones, whose multiplier grows from 0.

        With w its row of W and S r = W w, that of the others changes by −r, and what is missed by −(w·w − r·W w) per
        unit. Where one of the others reaches 0 first, it is dropped, and the step goes on without it.
        """
        e, at, code = self.e, self.at, self.code
        e.label("exchange")
        count = e.load("%count", "i64")
        product, r = at["missing"], at["lambda_change"]
        row = code.row(e, at["W"], count)

        def multiply(p: str, _: list[str]) -> list[str]:
            a = e.op(f"mul i64 {p}, {PANEL}")
            e.lines.append(f"  call void @dots(ptr {code.row(e, at['W'], a)}, ptr {row}, ptr {e.at(product, a)})")
            return []

        def copy(a: str, _: list[str]) -> list[str]:
            e.store(e.load(e.at(product, a)), e.at(r, a))
            return []

        e.repeat(0, code.panels(e, count), multiply)
        e.repeat(0, count, copy)
        code.clear_rest(e, r, count)
        e.lines.append(f"  call void @small_solve(ptr {at['S']}, ptr {at['pivots']}, i64 {count}, ptr {r})")
        side, missed = e.load("%side"), e.load("%missed")

        def one(a: str, carried: list[str]) -> list[str]:
            rate, step, which = carried
            change = e.load(e.at(r, a))
            left = e.scalar("fsub", rate, e.scalar("fmul", change, e.load(e.at(product, a))))
            sign, is_equality = self.sign(a)
            falls = e.scalar("fmul", e.scalar("fmul", sign, side), change)
            value = e.scalar("fmul", sign, e.load(e.at(at["lambda"], a)))
            least = e.op(f"select i1 {e.op(f'fcmp olt double {value}, 0.0')}, double 0.0, double {value}")
            ratio = e.scalar("fdiv", least, falls)
            first = e.op(f"and i1 {e.op(f'fcmp ogt double {falls}, 0.0')}, {e.op(f'fcmp olt double {ratio}, {step}')}")
            first = e.op(f"and i1 {first}, {e.op(f'xor i1 {is_equality}, true')}")
            return [
                left,
                e.op(f"select i1 {first}, double {ratio}, double {step}"),
                e.op(f"select i1 {first}, i64 {a}, i64 {which}"),
            ]

        square = e.op(f"call double @dot(ptr {row}, ptr {row})")
        infinite = number(float("inf"))
        rate, step, which = e.repeat(0, count, one, ("double", square), ("double", infinite), ("i64", "-1"))
        is_new = e.op(f"fcmp ogt double {rate}, {e.scalar('fmul', square, number(DenseCode.PIVOT))}")
        whole = e.op(f"select i1 {is_new}, double {e.scalar('fdiv', missed, rate)}, double {infinite}")
        full = e.op(f"fcmp ole double {whole}, {step}")
        room = e.op(f"icmp slt i64 {count}, {code.capacity}")

        def take() -> None:
            i = e.load(e.at(self.given["rows"], count, "i64"), "i64")
            mark = e.op(f"fptosi double {side} to i32")
            e.store(mark, e.at(self.given["marks"], i, "i32"), "i32", 4)
            e.store(e.op(f"add i64 {count}, 1"), "%count", "i64")
            e.jump("attempt")
            e.label(f"unreachable{next(e._names)}")

        e.when(e.op(f"and i1 {e.op(f'and i1 {full}, {is_new}')}, {room}"), take)
        e.require(e.op(f"icmp sge i64 {which}, 0"), "infeasible")  # no u obeys all bounds
        self._count_change()

        def change(a: str, _: list[str]) -> list[str]:
            place, amount = e.at(at["lambda"], a), e.scalar("fmul", e.scalar("fmul", side, step), e.load(e.at(r, a)))
            e.store(e.scalar("fsub", e.load(place), amount), place)
            return []

        e.repeat(0, count, change)
        advance = e.op(f"select i1 {is_new}, double {e.scalar('fmul', step, rate)}, double 0.0")
        e.store(e.scalar("fsub", missed, advance), "%missed")
        self.remove(which, count)
        self.move(count, e.load("%count", "i64"))
        self.products(e.load("%count", "i64"))
        e.jump("exchange")

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
        e.require(e.op(f"fcmp olt double {square}, {number(float('inf'))}"), "infinite")
        e.repeat(0, code.sides, zero)
        e.repeat(0, count, multiplier)
        e.repeat(0, code.bounded, cut)
        e.repeat(code.bounded, code.n, component)
        e.lines.append(f"  ret i64 {SOLVED}")
