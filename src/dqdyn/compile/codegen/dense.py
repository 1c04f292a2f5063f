"""Dense linear algebra in LLVM IR, for sizes that are known when the code is emitted."""

from __future__ import annotations

from dqdyn.compile.codegen.loops import LoopEmitter, number

PANEL = 4
"""Rows that are handled side by side, so that none of them waits for its own last result."""


class DenseCode:
    """Functions for vectors of n doubles in memory padded to whole vectors; the padding holds zeros.

    The upper factor R of H = RᵀR has padded rows with zeros left of the diagonal; ``inverse`` holds 1/R_kk.
    """

    PIVOT = 1e-12
    """How small a pivot may be, relative to the entry of the diagonal that it started from."""

    def __init__(self, n: int, width: int, fma: bool) -> None:
        self.n, self.width, self.fma = n, width, fma
        self.blocks = -(-n // width)
        self.padded = self.blocks * width

    def text(self) -> str:
        """All functions."""
        parts = [self.factor(), self.forward(1), self.forward(PANEL), self.backward(), self.dot(), self.add_multiple()]
        return "\n".join([*parts, self.dots("dots", self.padded), self.dots("measure", self.n, squares=True)])

    def emitter(self) -> LoopEmitter:
        return LoopEmitter(self.width, self.fma)

    def block(self, e: LoopEmitter, pointer: str, k: int) -> str:
        """Vector k of a row of n doubles that may lack padding."""
        at = e.at(pointer, k * self.width)
        return e.load_lanes(at, range(min(self.width, self.n - k * self.width)))

    def _rows(self, group: int) -> tuple[int, int]:
        """The rows whose diagonal lies in a vector."""
        return group * self.width, min((group + 1) * self.width, self.n)

    def factor(self) -> str:
        """``i1 factor(ptr H, ptr R, ptr inverse)``: false where H is not clearly positive definite."""
        e, N, w = self.emitter(), self.padded, self.width
        for group in range(self.blocks):
            columns = range(group, self.blocks)

            def row(k: str, _: list[str], columns: range = columns) -> list[str]:
                given = e.entry("%H", k, self.n)
                target = e.entry("%R", k, N)

                def subtract(j: str, sums: list[str]) -> list[str]:
                    above = e.entry("%R", j, N)
                    factor = e.spread(e.load(e.at(above, k)))
                    loads = [e.load(e.at(above, c * w), e.real) for c in columns]
                    return [e.subtract_product(s, factor, x) for s, x in zip(sums, loads, strict=True)]

                sums = e.repeat(0, k, subtract, *[(e.real, self.block(e, given, c)) for c in columns])
                for c, value in zip(columns, sums, strict=True):
                    e.store(value, e.at(target, c * w), e.real)
                pivot = e.load(e.at(target, k))
                least = e.scalar("fmul", e.load(e.at(given, k)), number(self.PIVOT))
                e.require(e.op(f"fcmp ogt double {pivot}, {least}"), "singular")
                e.require(e.op(f"fcmp ogt double {pivot}, 0.0"), "singular")
                inverse = e.scalar("fdiv", "1.0", e.op(f"call double @llvm.sqrt.f64(double {pivot})"))
                e.store(inverse, e.at("%inverse", k))
                scale = e.spread(inverse)
                for c, value in zip(columns, sums, strict=True):
                    e.store(e.binary("fmul", value, scale), e.at(target, c * w), e.real)

                def clear(j: str, _: list[str]) -> list[str]:
                    e.store("0.0", e.at(target, j))
                    return []

                e.repeat(columns.start * w, k, clear)
                return []

            e.repeat(*self._rows(group), row)
        e.lines += ["  ret i1 true", "singular:"]
        return e.define("i1 @factor(ptr noalias readonly %H, ptr noalias %R, ptr noalias %inverse)", "ret i1 false")

    def forward(self, count: int) -> str:
        """``forward1(ptr R, ptr inverse, ptr x)``: x ← R⁻ᵀ x; ``forward4`` the same for as many rows one by one."""
        e, w = self.emitter(), self.width
        vectors = ["%x", *(e.at("%x", i * self.padded) for i in range(1, count))]
        for group in range(self.blocks):

            def row(k: str, _: list[str], group: int = group) -> list[str]:
                inverse, source = e.load(e.at("%inverse", k)), e.entry("%R", k, self.padded)
                values = [e.scalar("fmul", e.load(e.at(x, k)), inverse) for x in vectors]
                factors = [e.spread(y) for y in values]
                for c in range(group, self.blocks):
                    value = e.load(e.at(source, c * w), e.real)
                    for x, factor in zip(vectors, factors, strict=True):
                        at = e.at(x, c * w)
                        e.store(e.subtract_product(e.load(at, e.real), factor, value), at, e.real)
                for x, y in zip(vectors, values, strict=True):
                    e.store(y, e.at(x, k))
                return []

            e.repeat(*self._rows(group), row)
        arguments = "ptr noalias readonly %R, ptr readonly %inverse, ptr noalias %x"
        return e.define(f"void @forward{count}({arguments})", "ret void")

    def backward(self) -> str:
        """``backward(ptr R, ptr inverse, ptr y, ptr x)``: x ← R⁻¹ y."""
        e, w = self.emitter(), self.width
        for c in range(self.blocks):
            e.store("zeroinitializer" if w > 1 else "0.0", e.at("%x", c * w), e.real)
        for group in reversed(range(self.blocks)):
            first, end = self._rows(group)

            def row(i: str, _: list[str], group: int = group, end: int = end) -> list[str]:
                k = e.op(f"sub i64 {end - 1}, {i}")
                total = self._dot(e, e.entry("%R", k, self.padded), "%x", range(group, self.blocks))
                rest = e.scalar("fsub", e.load(e.at("%y", k)), total)
                e.store(e.scalar("fmul", rest, e.load(e.at("%inverse", k))), e.at("%x", k))
                return []

            e.repeat(0, end - first, row)
        arguments = "ptr noalias readonly %R, ptr readonly %inverse, ptr noalias readonly %y, ptr noalias %x"
        return e.define(f"void @backward({arguments})", "ret void")

    def dot(self) -> str:
        """``double dot(ptr a, ptr b)``; a may lack padding."""
        e = self.emitter()
        total = self._dot(e, "%a", "%b", range(self.blocks))
        return e.define("double @dot(ptr readonly %a, ptr readonly %b)", f"ret double {total}")

    def _dot(self, e: LoopEmitter, a: str, b: str, columns: range) -> str:
        sums: list[str] = []
        for n, c in enumerate(columns):
            x, y = self.block(e, a, c), e.load(e.at(b, c * self.width), e.real)
            if n < 4:  # sums that do not wait for each other
                sums.append(e.binary("fmul", x, y))
            else:
                sums[n % 4] = e.add_product(sums[n % 4], x, y)
        while len(sums) > 1:
            sums = [
                e.binary("fadd", *sums[i : i + 2]) if i + 1 < len(sums) else sums[i] for i in range(0, len(sums), 2)
            ]
        return e.sum_of_lanes(sums[0])

    def dots(self, name: str, stride: int, squares: bool = False) -> str:
        """``dots(ptr rows, ptr x, ptr out)``: products of as many rows, ``stride`` apart, with x.

        ``measure(ptr rows, ptr x, ptr out, ptr squares)`` also gives the squared lengths of the rows.
        """
        e = self.emitter()
        rows = ["%rows", *(e.at("%rows", i * stride) for i in range(1, PANEL))]
        products, lengths = ([e.const(0.0)] * PANEL for _ in range(2))
        for c in range(self.blocks):
            x = e.load(e.at("%x", c * self.width), e.real)
            for i, row in enumerate(rows):
                a = self.block(e, row, c)
                products[i] = e.add_product(products[i], a, x)
                if squares:
                    lengths[i] = e.add_product(lengths[i], a, a)
        self._store_sums(e, products, "%out")
        if squares:
            self._store_sums(e, lengths, "%squares")
        more = ", ptr noalias %squares" if squares else ""
        return e.define(f"void @{name}(ptr readonly %rows, ptr readonly %x, ptr noalias %out{more})", "ret void")

    def _store_sums(self, e: LoopEmitter, vectors: list[str], target: str) -> None:
        """The sums of the lanes of each vector, side by side."""
        if self.width != PANEL:
            for i, vector in enumerate(vectors):
                e.store(e.sum_of_lanes(vector), e.at(target, i))
            return

        def halves(a: str, b: str, first: str, second: str) -> str:
            parts = [
                e.op(f"shufflevector {e.real} {a}, {e.real} {b}, <4 x i32> <{lanes}>") for lanes in (first, second)
            ]
            return e.binary("fadd", *parts)

        pairs = "i32 0, i32 4, i32 2, i32 6", "i32 1, i32 5, i32 3, i32 7"
        low, high = halves(vectors[0], vectors[1], *pairs), halves(vectors[2], vectors[3], *pairs)
        e.store(halves(low, high, "i32 0, i32 1, i32 4, i32 5", "i32 2, i32 3, i32 6, i32 7"), target, e.real)

    def add_multiple(self) -> str:
        """``add_multiple(double s, ptr a, ptr x)``: x ← x + s a; a may lack padding."""
        e = self.emitter()
        factor = e.spread("%s")
        for c in range(self.blocks):
            at = e.at("%x", c * self.width)
            e.store(e.add_product(e.load(at, e.real), factor, self.block(e, "%a", c)), at, e.real)
        return e.define("void @add_multiple(double %s, ptr readonly %a, ptr noalias %x)", "ret void")
