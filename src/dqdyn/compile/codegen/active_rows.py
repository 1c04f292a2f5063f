"""The equations of a quadratic program with some of its bounds active, in machine code.

With H = RᵀR, the rows G of active bounds, W = G R⁻¹ and S = W Wᵀ. How many bounds are active is known at run time.
"""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.compile.codegen.dense import PANEL, DenseCode
from dqdyn.compile.codegen.loops import LoopEmitter, number


@dataclass(frozen=True)
class ActiveRows:
    """For ``n`` unknowns, the first ``bounded`` of them with bounds of their own, and ``rows`` rows of A."""

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
        """The most bounds that may be active at once; equalities may depend on each other, so more than unknowns."""
        return min(2 * self.n, self.sides)

    @property
    def stride(self) -> int:
        """The capacity, and a row about to be added, in whole panels."""
        return -(-(self.capacity + 1) // PANEL) * PANEL

    @property
    def sections(self) -> dict[str, int]:
        """Doubles in each part of the memory, all of which are zeros at first."""
        padded, most = self.dense.padded, self.stride
        vectors = dict.fromkeys(("inverse", "x", "change", "residual"), padded)
        small = dict.fromkeys(("lambda", "bound", "missing", "pivots", "lambda_change"), most)
        measures = dict.fromkeys(("values", "squares"), self.rows)
        matrices = {"R": self.n * padded, "G": most * padded, "W": most * padded, "S": most * most}
        return matrices | vectors | small | measures

    @property
    def dense(self) -> DenseCode:
        """Functions on vectors of unknowns."""
        return DenseCode(self.n, self.width, self.fma)

    def functions(self) -> str:
        """All functions."""
        return "\n".join([self.dense.text(), self.small_factor(), self.small_solve(), self.equations()])

    # --- the matrix S = UᵀU of the active bounds, of a size that changes; zeros fill the last vectors ---

    def small_factor(self) -> str:
        """``small_factor(ptr S, ptr pivots, i64 count)``: U in the place of S, 1/U_kk in ``pivots``.

        A row that depends on those before it asks for nothing new: 0 in ``pivots``, and 0 as its multiplier. Whether
        it holds is seen when all rows are checked.
        """
        e, most, w = self.emitter(), self.stride, self.width
        end = self.vectors(e, "%count")

        def row(k: str, _: list[str]) -> list[str]:
            target = e.entry("%S", k, most)
            first, given = e.op(f"sdiv i64 {k}, {w}"), e.load(e.at(target, k))

            def subtract(c: str, _: list[str]) -> list[str]:
                place = e.at(target, e.op(f"mul i64 {c}, {w}"))

                def one(j: str, total: list[str]) -> list[str]:
                    above = e.entry("%S", j, most)
                    factor = e.spread(e.load(e.at(above, k)))
                    value = e.load(e.at(above, e.op(f"mul i64 {c}, {w}")), e.real)
                    return [e.subtract_product(total[0], factor, value)]

                e.store(e.repeat(0, k, one, (e.real, e.load(place, e.real)))[0], place, e.real)
                return []

            e.repeat(first, end, subtract)
            pivot = e.load(e.at(target, k))
            least = e.scalar("fmul", given, number(DenseCode.PIVOT))
            root = e.scalar("fdiv", "1.0", e.op(f"call double @llvm.sqrt.f64(double {pivot})"))
            is_new = e.op(f"fcmp ogt double {pivot}, {least}")
            inverse = e.op(f"select i1 {is_new}, double {root}, double 0.0")
            e.store(inverse, e.at("%pivots", k))
            scale = e.spread(inverse)

            def divide(c: str, _: list[str]) -> list[str]:
                place = e.at(target, e.op(f"mul i64 {c}, {w}"))
                e.store(e.binary("fmul", e.load(place, e.real), scale), place, e.real)
                return []

            def clear(j: str, _: list[str]) -> list[str]:
                e.store("0.0", e.at(target, j))
                return []

            e.repeat(first, end, divide)
            e.repeat(e.op(f"mul i64 {first}, {w}"), k, clear)
            return []

        e.repeat(0, "%count", row)
        return e.define("void @small_factor(ptr noalias %S, ptr noalias %pivots, i64 %count)", "ret void")

    def small_solve(self) -> str:
        """``small_solve(ptr S, ptr pivots, i64 count, ptr x)``: x ← S⁻¹ x with the factor of S."""
        e, most, w = self.emitter(), self.stride, self.width
        end = self.vectors(e, "%count")

        def down(k: str, _: list[str]) -> list[str]:
            y = e.scalar("fmul", e.load(e.at("%x", k)), e.load(e.at("%pivots", k)))
            factor, row = e.spread(y), e.entry("%S", k, most)

            def subtract(c: str, _: list[str]) -> list[str]:
                at = e.op(f"mul i64 {c}, {w}")
                place, value = e.at("%x", at), e.load(e.at(row, at), e.real)
                e.store(e.subtract_product(e.load(place, e.real), factor, value), place, e.real)
                return []

            e.repeat(e.op(f"sdiv i64 {k}, {w}"), end, subtract)
            e.store(y, e.at("%x", k))
            return []

        def up(i: str, _: list[str]) -> list[str]:
            k = e.op(f"sub i64 {e.op(f'sub i64 %count, {i}')}, 1")
            row, rest = e.entry("%S", k, most), e.load(e.at("%x", k))
            e.store("0.0", e.at("%x", k))

            def add(c: str, total: list[str]) -> list[str]:
                at = e.op(f"mul i64 {c}, {w}")
                return [e.add_product(total[0], e.load(e.at(row, at), e.real), e.load(e.at("%x", at), e.real))]

            total = e.repeat(e.op(f"sdiv i64 {k}, {w}"), end, add, (e.real, e.const(0.0)))[0]
            value = e.scalar("fmul", e.scalar("fsub", rest, e.sum_of_lanes(total)), e.load(e.at("%pivots", k)))
            e.store(value, e.at("%x", k))
            return []

        e.repeat(0, "%count", down)
        e.repeat(0, "%count", up)
        arguments = "ptr noalias readonly %S, ptr noalias readonly %pivots, i64 %count, ptr noalias %x"
        return e.define(f"void @small_solve({arguments})", "ret void")

    # --- the equations of an active set ---

    def equations(self) -> str:
        """``equations(ptr memory, i64 count, ptr first, ptr second, ptr x, ptr l)``.

        H x + Gᵀl = first, G x = second; ``first`` is overwritten. With y = R⁻ᵀ first: S l = W y − second, and
        R x = y − Wᵀl.
        """
        e, at = self.emitter(), self.places
        R, inverse, W, S, pivots = at(e, "R", "inverse", "W", "S", "pivots")
        e.lines.append(f"  call void @forward1(ptr {R}, ptr {inverse}, ptr %first)")

        def product(p: str, _: list[str]) -> list[str]:
            a = e.op(f"mul i64 {p}, {PANEL}")
            e.lines.append(f"  call void @dots(ptr {self.row(e, W, a)}, ptr %first, ptr {e.at('%l', a)})")
            return []

        def right(a: str, _: list[str]) -> list[str]:
            place = e.at("%l", a)
            e.store(e.scalar("fsub", e.load(place), e.load(e.at("%second", a))), place)
            return []

        def back(a: str, _: list[str]) -> list[str]:
            factor = e.op(f"fneg double {e.load(e.at('%l', a))}")
            e.lines.append(f"  call void @add_multiple(double {factor}, ptr {self.row(e, W, a)}, ptr %first)")
            return []

        e.repeat(0, self.panels(e, "%count"), product)
        e.repeat(0, "%count", right)
        self.clear_rest(e, "%l", "%count")
        e.lines.append(f"  call void @small_solve(ptr {S}, ptr {pivots}, i64 %count, ptr %l)")
        e.repeat(0, "%count", back)
        e.lines.append(f"  call void @backward(ptr {R}, ptr {inverse}, ptr %first, ptr %x)")
        arguments = "ptr %memory, i64 %count, ptr %first, ptr %second, ptr %x, ptr %l"
        return e.define(f"void @equations({arguments})", "ret void")

    # --- pieces ---

    def emitter(self) -> LoopEmitter:
        return LoopEmitter(self.width, self.fma)

    def places(self, e: LoopEmitter, *names: str) -> list[str]:
        """Pointers to sections of the memory."""
        starts, total = {}, 0
        for name, size in self.sections.items():
            starts[name], total = total, total + size
        return [e.at("%memory", starts[name]) for name in names]

    def vectors(self, e: LoopEmitter, count: str) -> str:
        """How many vectors hold ``count`` doubles."""
        return e.op(f"sdiv i64 {e.op(f'add i64 {count}, {self.width - 1}')}, {self.width}")

    def panels(self, e: LoopEmitter, count: str) -> str:
        """How many panels hold ``count`` rows."""
        return e.op(f"sdiv i64 {e.op(f'add i64 {count}, {PANEL - 1}')}, {PANEL}")

    def clear_rest(self, e: LoopEmitter, target: str, count: str) -> None:
        """Zeros behind ``count`` doubles, to the end of the last panel."""

        def clear(j: str, _: list[str]) -> list[str]:
            e.store("0.0", e.at(target, j))
            return []

        e.repeat(count, e.op(f"mul i64 {self.panels(e, count)}, {PANEL}"), clear)

    def row(self, e: LoopEmitter, matrix: str, a: str) -> str:
        """A padded row."""
        return e.entry(matrix, a, self.dense.padded)

    def fill(self, e: LoopEmitter, target: str, value: str = "zeroinitializer") -> None:
        for c in range(self.dense.blocks):
            e.store(value if self.width > 1 else "0.0", e.at(target, c * self.width), e.real)
