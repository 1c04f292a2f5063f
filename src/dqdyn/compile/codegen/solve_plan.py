"""Where the solution of a linear system has zeros, and how its products are cut into tiles.

A mass matrix has the zeros of the tree: axes on different branches have nothing in common. Eliminated from the last
axis to the first, M = Lᵀ D L has no others, so M⁻¹ = Tᵀ D⁻¹ T with T = L⁻ᵀ, whose rows have entries for the axes behind
their own. A tile of a product is some rows times some vectors of columns, whose sums stay in registers; its terms are
listed, and tiles are placed where their rows have most of them in common. They may overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from dqdyn.compile.trace.linear_system import LinearSystem
from dqdyn.compile.trace.program import Counts

_SHAPES = ((4, 1), (2, 2), (2, 1), (1, 3), (1, 1))  # rows and vectors of a tile: sums of three matrices in 16 registers
_CHUNK = 8  # vectors of a row that are eliminated at a time
_BEGIN = 14.0  # cycles that a tile costs beside its terms
_USUAL_WIDTH = 4
_LATENCY = 4.0  # cycles until a sum can go on


@dataclass(frozen=True)
class Tile:
    """The first row and column, and the rows of the other factor that are summed up."""

    row: int
    column: int
    terms: tuple[int, ...]


class SolvePlan:
    """The rows ``behind`` each that its elimination needs, the columns of a ``chunk``, and the tiles of two products.

    ``lower`` are those of Z = −T B, ``upper`` those of Tᵀ D⁻¹ Z and Tᵀ D⁻¹ T, of ``rows`` rows and ``vectors`` vectors.
    """

    def __init__(self, system: LinearSystem, width: int) -> None:
        self.n, self.results = system.n, system.results
        n, k = range(self.n), self.results - 1
        self.behind = _eliminated([{j for j in n[:i] if system.has(k, i, j)} for i in n])
        self._moved: list[set[int]] = [set() for _ in n]  # entries of T by rows
        for j in reversed(n):
            self._moved[j] = {j}.union(*(self._moved[i] for i in self.behind[j]))
        self._moving = [{j for j in n if i in self._moved[j]} for i in n]
        self._given = [{i for i in n if any(system.has(m, i, c) for m in range(k))} for c in n]
        self.width = min(width, 1 << (self.n.bit_length() - 1))  # no vector is longer than a row
        vectors = -(-self.n // self.width)
        self.chunk = min(-(-vectors // -(-vectors // _CHUNK)), self.n // self.width)
        plans = [self._tiles(*shape) for shape in _SHAPES if shape[0] <= self.n and shape[1] * self.width <= self.n]
        self.cost, self.rows, self.vectors, self.lower, self.upper = min(plans, key=lambda plan: plan[0])

    @property
    def products(self) -> int:
        """Products that are added to sums, those with zeros inside of tiles included."""
        wide = self.chunk * self.width
        eliminated = (len(self.starts(wide)) + 1) * wide * sum(map(len, self.behind))
        parts = (self.lower, self.results - 1), (self.upper, self.results)
        terms = sum(matrices * sum(len(tile.terms) for tile in tiles) for tiles, matrices in parts)
        return eliminated + self.rows * self.vectors * self.width * terms

    def starts(self, wide: int) -> list[int]:
        """The first columns of pieces of a row; the last one begins where it ends with the row."""
        return [min(start, self.n - wide) for start in range(0, self.n, wide)]

    def _tiles(self, rows: int, vectors: int) -> tuple[float, int, int, list[Tile], list[Tile]]:
        """Cycles, about, the shape, and all tiles of this shape."""
        wide, cost = vectors * self.width, 0.0
        lower: list[Tile] = []
        upper: list[Tile] = []
        for column in self.starts(wide):
            columns = range(column, column + wide)
            given = set[int]().union(*(self._given[c] for c in columns))
            wanted = {j for j in range(self.n) if self._moved[j] & given}
            wanted = wanted.union(*(self._moving[c] for c in columns))
            parts = (lower, self._moved, given, self.results - 1), (upper, self._moving, wanted, self.results)
            for tiles, factors, sources, matrices in parts:
                term = _cycles(rows, vectors, matrices)
                starts = range(self.n - rows + 1)
                found = self._cover(rows, [_union(factors[row : row + rows]) & sources for row in starts], term)
                tiles += [Tile(row, column, tuple(sorted(terms))) for row, terms in found]
                cost += sum(_BEGIN + term * len(terms) for _, terms in found)
        return cost, rows, vectors, lower, upper

    def _cover(self, rows: int, terms: Sequence[set[int]], cycles: float) -> list[tuple[int, set[int]]]:
        """The first rows and the terms of the tiles that cover all rows at the least cost."""

        @cache
        def least(covered: int) -> tuple[float, int]:
            """The cost of the first rows, and where the last tile of them starts."""
            if covered <= 0:
                return 0.0, 0
            starts = range(max(0, covered - rows), min(covered, self.n - rows + 1))
            return min((least(s)[0] + _BEGIN + cycles * len(terms[s]), s) for s in starts)

        for covered in range(self.n):  # in this order no call is nested
            least(covered)
        chosen, covered = [], self.n
        while covered > 0:
            covered = least(covered)[1]
            chosen.append((covered, terms[covered]))
        return chosen[::-1]


def _eliminated(rows: list[set[int]]) -> list[list[int]]:
    """The rows behind each that have an entry for it once all rows behind are eliminated."""
    rows = [set(row) for row in rows]
    behind: list[list[int]] = [[] for _ in rows]
    for i in reversed(range(len(rows))):
        for j in rows[i]:
            behind[j].append(i)
        if rows[i]:
            parent = max(rows[i])
            rows[parent] |= rows[i] - {parent}
    return behind


def _cycles(rows: int, vectors: int, matrices: int) -> float:
    """Of a term: two products or loads in each, and no sum goes on before it has its last result."""
    return max(rows * vectors * matrices / 2, (vectors * matrices + rows + 1) / 2, _LATENCY)


def _union(sets: Sequence[set[int]]) -> set[int]:
    return set[int]().union(*sets)


def executed(system: LinearSystem) -> Counts:
    """Operations of a program and of the solution for one state, with vectors of usual width."""
    own, products = system.program.counts, SolvePlan(system, _USUAL_WIDTH).products
    return replace(own, mul=own.mul + products, add=own.add + products)
