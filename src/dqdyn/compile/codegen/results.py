"""Where the results of a program lie: the arrays that a kernel writes, and the form in which callers get them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from dqdyn.compile.codegen.ir import Emitter
from dqdyn.compile.trace.program import Program

Shape = tuple[int, ...]


@dataclass(frozen=True)
class OutputArrays:
    """Neighbouring outputs of a program lie in arrays of their own, each of so many numbers per state.

    ``columns`` is the length of a row in each of them.
    """

    sizes: tuple[int, ...]
    columns: tuple[int, ...]

    @classmethod
    def of(cls, program: Program, parts: Sequence[Shape] = ()) -> OutputArrays:
        """One array for each part, or for the whole result."""
        if len(parts) <= 1:
            return cls((program.size,), program.shape[-1:] or (1,))
        return cls(tuple(map(math.prod, parts)), tuple(shape[-1] if shape else 1 for shape in parts))

    @property
    def starts(self) -> tuple[int, ...]:
        """The first output of each array."""
        return tuple(accumulate(self.sizes, initial=0))[:-1]

    @property
    def pointers(self) -> list[str]:
        """Names of the kernel's arguments."""
        return ["%out", *(f"%out{i}" for i in range(1, len(self.sizes)))]

    def number(self, k: int) -> int:
        """The array of an output."""
        return next(i for i, start in reversed(list(enumerate(self.starts))) if start <= k and self.sizes[i])

    def at(self, code: Emitter, k: int) -> str:
        """Where a kernel for one state writes an output."""
        number = self.number(k) if len(self.sizes) > 1 else 0
        return code.at(self.pointers[number], k - self.starts[number])

    def are_neighbours(self, k: int, last: int) -> bool:
        """Whether two outputs, and those between them, are in the same array."""
        return len(self.sizes) == 1 or self.number(k) == self.number(last)


@dataclass(frozen=True)
class ValueKind:
    """The class of the values that callers get, and the names of frames in them.

    Its slots are, in this order: the array, what is made from it later, which is None at first, and the names.
    """

    kind: Any
    frames: Collection[str | None] = ()
    slots: tuple[str, str, str] = ("_coefficients", "_dq", "frames")

    def of(self, array: Any) -> Any:
        return self.kind.of_array(array, *self.frames)


@dataclass(frozen=True)
class ResultForm:
    """What callers get: one array, or a tuple of arrays, of these shapes; ``fields`` make it a named tuple.

    A value is an object that holds the one array (:class:`ValueKind`).
    """

    shapes: tuple[Shape, ...]
    is_tuple: bool = False
    fields: tuple[str, ...] = ()
    is_value: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(map(math.prod, self.shapes))

    def views(self, arrays: OutputArrays) -> list[tuple[int, int, int]]:
        """(array that callers get, where in its row, numbers in its row) for each array that a kernel writes."""
        if len(self.shapes) == len(arrays.sizes):
            return [(i, 0, size) for i, size in enumerate(self.sizes)]
        assert len(self.shapes) == 1
        return [(0, start, self.sizes[0]) for start in arrays.starts]

    def place(self, arrays: OutputArrays, k: int) -> tuple[int, int]:
        """(array that callers get, where in its row) of an output."""
        number = arrays.number(k)
        array, start, _ = self.views(arrays)[number]
        return array, start + k - arrays.starts[number]
