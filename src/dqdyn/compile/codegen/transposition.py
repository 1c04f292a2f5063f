"""Squares of vectors transposed in registers, or on the way from memory: columns of a batch to rows and back."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.compile.codegen.emit import CodeBody


class Transposition:
    """Emits transpositions of squares, ``width`` vectors of ``width`` doubles, into a body."""

    def __init__(self, body: CodeBody) -> None:
        self.body, self.width = body, body.width

    def transposed(self, rows: list[str]) -> list[str]:
        """A square of ``width`` vectors transposed by log₂(width) rounds of shuffles.

        Each is an interleaving of neighbours or a choice of pairs in order. Permutations of another kind would occupy
        the units that multiply.
        """
        if self.width == 1:
            return list(rows)
        halves = [self.half_transposed(rows, parity) for parity in range(2)]
        return [row for pair in zip(*halves, strict=True) for row in pair]

    def half_transposed(self, rows: list[str], parity: int) -> list[str]:
        """Every second row of the transposed square."""
        result = [""] * self.width
        self._sort(self._paired(rows, parity), range(parity, self.width, 2), result)
        return result[parity::2]

    def _paired(self, rows: list[str], parity: int) -> list[str]:
        """The first round of a transposition: of two neighbours the lanes of one parity, side by side."""
        order = [j - j % 2 + parity + self.width * (j % 2) for j in range(self.width)]
        return [self._shuffle(rows[k], rows[k + 1], order) for k in range(0, len(rows), 2)]

    def _sort(self, mixed: list[str], numbers: Sequence[int], result: list[str]) -> None:
        """Bring pairs of the rows ``numbers``, which lie side by side in each vector, together: a vector per row."""
        if len(mixed) == 1:
            result[numbers[0]] = mixed[0]
            return
        w = self.width
        for odd in range(2):
            order = [4 * (k // 2) + 2 * odd + k % 2 for k in range(w)]
            half = [self._shuffle(mixed[k], mixed[k + 1], order) for k in range(0, len(mixed), 2)]
            self._sort(half, numbers[odd::2], result)

    def _shuffle(self, a: str, b: str, order: list[int]) -> str:
        real, w = self.body.real, self.width
        mask = ", ".join(f"i32 {j}" for j in order)
        return self.body.op(f"shufflevector {real} {a}, {real} {b}, <{w} x i32> <{mask}>")

    def from_memory(self, pointers: Sequence[str], lanes: int) -> tuple[list[str], list[str]]:
        """Some columns of a square in memory, and the vectors that were loaded for them.

        Halves of two rows are loaded into one vector, which spares the last round of shuffles.
        """
        w, narrow = self.width, self.body.widened(self.width // 2)
        result, loaded = ["zeroinitializer"] * w, []

        def both(k: int, start: int) -> str:
            some = range(min(lanes - start, w // 2))
            halves = [narrow.load_lanes(narrow.at(pointers[row], start), some) for row in (k, k + 2)]
            mask = ", ".join(f"i32 {lane}" for lane in range(w))
            a, b = (f"{narrow.real} {half}" for half in halves)
            return narrow.op(f"shufflevector {a}, {b}, <{w} x i32> <{mask}>")

        for start in range(0, lanes, w // 2):
            rows = [both(k, start) for k in range(w) if k % 4 < 2]
            for parity in range(2):
                self._sort(self._paired(rows, parity), range(start + parity, start + w // 2, 2), result)
            loaded += rows
        return loaded, result
