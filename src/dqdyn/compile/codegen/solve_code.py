"""The solution of a linear system in LLVM IR (:mod:`dqdyn.compile.trace.linear_system`): loops over lists of a plan.

First M and the identity are eliminated side by side, row by row from the last one,

    U_j = M_j − Σ L_kj U_k,    D_j = U_jj,    L_j = U_j / D_j,    T_j = e_j − Σ L_kj T_k

with the same rows k behind j in both sums. Two products follow, Z = −T B and the results (D⁻¹ T)ᵀ Z and (D⁻¹ T)ᵀ T.
"""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.compile.codegen.loops import LoopEmitter
from dqdyn.compile.codegen.solve_plan import SolvePlan, Tile
from dqdyn.compile.trace.linear_system import LinearSystem


class SolveCode:
    """``solve(ptr from, ptr work, ptr out…)``: from the outputs of the program to the results, a pointer for each.

    At ``work`` there is room for ``spare`` numbers.
    """

    def __init__(self, system: LinearSystem, width: int, fma: bool) -> None:
        self.system, self.fma = system, fma
        self.plan = SolvePlan(system, width)
        self.n, self.results = system.n, system.results
        self.outputs = [f"%to{m}" for m in range(self.results)]
        self.spare = (self.results - 1 + 4) * self.n**2
        self._terms: list[int] = []
        self._places: dict[tuple[int, ...], int] = {}  # terms → where they begin

    def text(self) -> str:
        """All functions, and the tables that they read."""
        e, k, square = LoopEmitter(1, self.fma), self.results - 1, self.n**2
        given = [e.at("%from", m * square) for m in range(k + 1)]
        u, lower, t, scaled, *z = (e.at("%work", m * square) for m in range(4 + k))
        parts = [self._elimination(), self._products("minus"), self._products("plus")]
        for name, pointers in (
            ("eliminate", [given[k], u, lower, t, scaled]),
            ("minus", [t, *given[:k], *z]),
            ("plus", [scaled, *z, t, *self.outputs]),
        ):
            e.lines.append(f"  call void @{name}({', '.join(f'ptr {p}' for p in pointers)})")
        self._add(e)
        arguments = ", ".join(f"ptr noalias {p}" for p in ["%from", "%work", *self.outputs])
        whole = e.define(f"internal void @solve({arguments}) noinline", "ret void")
        return "\n".join([_constants("solve_terms", self._terms), *parts, whole])

    def call(self, e: LoopEmitter, source: str, work: str, pointers: Sequence[str]) -> None:
        """Solve what is at ``source``; a single pointer is that of all results."""
        if len(pointers) < self.results:
            pointers = [e.at(pointers[0], m * self.n**2) for m in range(self.results)]
        e.lines.append(f"  call void @solve({', '.join(f'ptr {p}' for p in [source, work, *pointers])})")

    # --- tables ---

    def _listed(self, terms: Sequence[int]) -> tuple[int, int]:
        """Where terms begin and end in the table of all terms; equal ones are there once."""
        key = tuple(terms)
        if key not in self._places:
            self._places[key] = len(self._terms)
            self._terms += key
        return self._places[key], self._places[key] + len(key)

    def _number(self, e: LoopEmitter, table: str, at: str) -> str:
        return e.op(f"sext i32 {e.load(e.at(table, at, 'i32'), 'i32', 4)} to i64")

    # --- elimination ---

    def _elimination(self) -> str:
        """``eliminate(ptr m, ptr u, ptr l, ptr t, ptr scaled)``; ``scaled`` is D⁻¹ T."""
        plan, n = self.plan, self.n
        e = LoopEmitter(plan.width, self.fma)
        wide = plan.chunk * plan.width
        starts = plan.starts(wide)
        vectors, zeros = range(plan.chunk), [e.const(0.0)] * plan.chunk
        numbers: list[int] = []
        for j in reversed(range(n)):
            until = next(c for c, start in enumerate(starts) if j < start + wide)  # the first chunk that has j
            numbers += [j, *self._listed(plan.behind[j]), until]

        def row(index: str, _: list[str]) -> list[str]:
            entry = e.at("@solve_rows", e.op(f"mul i64 {index}, 4"), "i32")
            j, first, last, until = (self._number(e, entry, str(k)) for k in range(4))
            place = e.op(f"mul i64 {j}, {n}")
            factors = e.at("%l", j)
            diagonal = e.op(f"add i64 {place}, {j}")

            def chunk(at: str, sources: Sequence[str], initial: Sequence[str]) -> list[list[str]]:
                """The columns from ``at`` on of the rows behind, each times its factor, taken off one row or two."""
                columns = [e.at(source, at) for source in sources]

                def term(number: str, sums: list[str]) -> list[str]:
                    offset = e.op(f"mul i64 {self._number(e, '@solve_terms', number)}, {n}")
                    factor = e.spread(e.load(e.at(factors, offset)))
                    behind = [e.at(column, offset) for column in columns]
                    loads = [e.load(e.at(x, c * e.width), e.real) for x in behind for c in vectors]
                    return [e.subtract_product(s, factor, x) for s, x in zip(sums, loads, strict=True)]

                sums = e.repeat(first, last, term, *[(e.real, x) for x in initial])
                return [sums[k : k + len(vectors)] for k in range(0, len(sums), len(vectors))]

            def of_matrix(at: str) -> list[str]:
                given = e.at("%m", e.op(f"add i64 {place}, {at}"))
                return [e.load(e.at(given, c * e.width), e.real) for c in vectors]

            def store(values: Sequence[str], target: str, at: str) -> None:
                begin = e.at(target, e.op(f"add i64 {place}, {at}"))
                for c, value in zip(vectors, values, strict=True):
                    e.store(value, e.at(begin, c * e.width), e.real)

            def scaled(values: Sequence[str]) -> list[str]:
                return [e.binary("fmul", value, scale) for value in values]

            at = self._number(e, "@solve_starts", until)  # the columns with the pivot come first
            own, moved = chunk(at, ["%u", "%t"], [*of_matrix(at), *zeros])
            store(own, "%u", at)
            inverse = e.scalar("fdiv", "1.0", e.load(e.at("%u", diagonal)))
            scale = e.spread(inverse)
            for target, values in (("%l", scaled(own)), ("%t", moved), ("%scaled", scaled(moved))):
                store(values, target, at)

            def before(c: str, _: list[str]) -> list[str]:
                at = self._number(e, "@solve_starts", c)
                (own,) = chunk(at, ["%u"], of_matrix(at))
                for target, values in (("%u", own), ("%l", scaled(own)), ("%t", zeros), ("%scaled", zeros)):
                    store(values, target, at)
                return []

            def behind(c: str, _: list[str]) -> list[str]:
                at = self._number(e, "@solve_starts", c)
                (moved,) = chunk(at, ["%t"], zeros)
                store(moved, "%t", at)
                store(scaled(moved), "%scaled", at)
                return []

            e.repeat(0, until, before)
            e.repeat(e.op(f"add i64 {until}, 1"), len(starts), behind)
            e.store("1.0", e.at("%t", diagonal))
            e.store(inverse, e.at("%scaled", diagonal))
            return []

        e.repeat(0, n, row)
        pointers = ", ".join(f"ptr noalias %{name}" for name in ("m", "u", "l", "t", "scaled"))
        code = e.define(f"internal void @eliminate({pointers}) noinline", "ret void")
        return "\n".join([_constants("solve_rows", numbers), _constants("solve_starts", starts), code])

    # --- products ---

    def _products(self, name: str) -> str:
        """``minus(ptr t, ptr b…, ptr z…)`` and ``plus(ptr scaled, ptr z…, ptr t, ptr out…)``, tile by tile."""
        plan, n, is_minus = self.plan, self.n, name == "minus"
        tiles, matrices = (plan.lower, self.results - 1) if is_minus else (plan.upper, self.results)
        e = LoopEmitter(plan.width, self.fma)
        rows, vectors = range(plan.rows), range(plan.vectors)
        sources, targets = ([f"%{what}{m}" for m in range(matrices)] for what in ("source", "target"))

        def tile(index: str, _: list[str]) -> list[str]:
            entry = e.at(f"@{name}_tiles", e.op(f"mul i64 {index}, 5"), "i32")
            row, column, place, start, stop = (self._number(e, entry, str(k)) for k in range(5))
            columns = [e.at(source, column) for source in sources]
            first = e.at("%factors", e.op(f"sub i64 {place}, {column}")) if is_minus else e.at("%factors", row)

            def term(at: str, sums: list[str]) -> list[str]:
                number = self._number(e, "@solve_terms", at)
                offset = e.op(f"mul i64 {number}, {n}")
                # Factors are entries of T: of some rows one below the other, or of some columns side by side.
                own = e.at(first, number if is_minus else offset)
                spread = [e.spread(e.load(e.at(own, r * n if is_minus else r))) for r in rows]
                begin = [e.at(c, offset) for c in columns]
                loads = [e.load(e.at(b, c * e.width), e.real) for b in begin for c in vectors]
                pairs = [(f, x) for x in loads for f in spread]
                add = e.subtract_product if is_minus else e.add_product
                return [add(s, f, x) for s, (f, x) in zip(sums, pairs, strict=True)]

            zeros = [(e.real, e.const(0.0))] * (matrices * len(rows) * len(vectors))
            sums = iter(e.repeat(start, stop, term, *zeros))
            for target in targets:
                begin = e.at(target, place)
                for c in vectors:
                    for r in rows:
                        e.store(next(sums), e.at(begin, r * n + c * e.width), e.real)
            return []

        e.repeat(0, len(tiles), tile)
        arguments = ["%factors", *sources, *targets]
        pointers = ", ".join(f"ptr noalias {'' if p in targets else 'readonly '}{p}" for p in arguments)
        code = e.define(f"internal void @{name}({pointers}) noinline", "ret void")
        return "\n".join([_constants(f"{name}_tiles", self._of_tiles(tiles)), code])

    def _of_tiles(self, tiles: Sequence[Tile]) -> list[int]:
        """Row, column, place in a matrix, and first and last term of each tile."""
        numbers: list[int] = []
        for tile in tiles:
            numbers += [tile.row, tile.column, self.n * tile.row + tile.column, *self._listed(tile.terms)]
        return numbers

    def _add(self, e: LoopEmitter) -> None:
        """Add what the first result has beside the solution."""
        if not self.system.is_sum:
            return
        matrix = self.results
        for row in range(self.n):
            for column in range(self.n):
                if self.system.has(matrix, row, column):
                    at = e.at(self.outputs[0], row * self.n + column)
                    more = e.load(e.at("%from", (matrix * self.n + row) * self.n + column))
                    e.store(e.scalar("fadd", e.load(at), more), at)


def _constants(name: str, numbers: Sequence[int]) -> str:
    entries = ", ".join(f"i32 {k}" for k in numbers or (0,))
    return f"@{name} = internal constant [{len(numbers) or 1} x i32] [{entries}], align 64"
