"""The active bounds of the last problem as a guess for the next: in a control loop, most of the time the solution."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dqdyn.arrays import Array
from dqdyn.compile.codegen.active_bounds import EQUALITY
from dqdyn.compile.codegen.active_set import ARGUMENTS, REASONS, SOLVED, ActiveSetCode
from dqdyn.compile.codegen.held_bounds import HELD
from dqdyn.compile.runtime.function import native_wanted, warn_once

if TYPE_CHECKING:
    from dqdyn.compile.runtime.native import Library

CHANGES = 60
"""How often the guess may change before another solver is asked."""
_LARGEST = 120  # unknowns from which on another solver is as fast


class ActiveSetGuess:
    """Solves problems of one size in machine code; ``marks`` (sides,) are the active bounds, kept between problems."""

    def __init__(
        self,
        unknowns: int,
        bounded: int,
        rows: int,
        equalities: int,
        width: int | None = None,
        fma: bool | None = None,
    ) -> None:
        """``width`` of vectors and ``fma``: those of this machine, unless given."""
        from dqdyn.compile.runtime.native import Library, machine

        host = machine()
        width, fma = host.width_for_one if width is None else width, host.fma if fma is None else fma
        code = ActiveSetCode(unknowns, bounded, rows, width, fma)
        self._library = Library(code.text(), code.key, width)
        self._call = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(self._library.address("active_set"))
        self._kinds = np.zeros(code.sides, dtype=np.int32)
        self._equalities = slice(bounded, bounded + equalities)
        self._kinds[self._equalities] = EQUALITY
        self.marks, self.multipliers = self._kinds.copy(), np.zeros(code.sides)
        self._u, self._shapes = np.zeros(unknowns), ((unknowns, unknowns), (unknowns,), (rows, unknowns))
        self._rows, self._memory = np.zeros(code.stride, dtype=np.int64), _aligned(sum(code.sections.values()))
        self._words = np.zeros(len(ARGUMENTS), dtype=np.int64)
        own = (self._u, self.multipliers, self.marks, self._rows, self._memory)
        self._words[5:10] = [a.ctypes.data for a in own]
        self._words[10] = CHANGES
        self._at = self._words.ctypes.data
        self._given: tuple[Any, ...] = (None,) * 5
        self._result, self._has_guess = SOLVED, False

    def __call__(self, H: Array, f: Array, A: Array, upper: Array, lower: Array) -> Array | None:
        """The minimum, which obeys all bounds to 1e-9 in their units; None where it is not found this way."""
        g = self._given
        if not (H is g[0] and f is g[1] and A is g[2] and upper is g[3] and lower is g[4]):
            given = H, f, A, upper, lower
            if not self._fits(given):
                return None
            self._words[:5] = [a.ctypes.data for a in given]
            self._given = given  # kept alive as long as their addresses are
        result = self._call(self._at)
        if result != SOLVED and self._has_guess:  # a guess may be so wrong that it is worse than none
            self.marks[:] = self._kinds
            result = self._call(self._at)
        self._result, self._has_guess = result, result == SOLVED
        if result != SOLVED:
            self.forget()
            return None
        return self._u.copy()

    def holder(self, held: int, room: float, upper: Array, lower: Array) -> BoundsHolder:
        """What sets bounds (sides,) of problems whose first ``held`` rows keep the values of another solution."""
        equalities = self._equalities.stop - self._equalities.start - held
        above = (len(self.marks) - held,)
        return BoundsHolder(
            self._library, self._memory, (held, equalities), room, (upper, lower), (self._shapes[2], above, above)
        )

    @property
    def reason(self) -> str:
        """How the last problem ended: "solved", or why not."""
        return REASONS[self._result]

    def forget(self) -> None:
        """Start the next problem without a guess."""
        self.marks[:] = self._kinds
        self._has_guess = False

    def start_from(self, multipliers: Array) -> None:
        """Take the bounds with these multipliers, of another solver, as the next guess."""
        np.sign(multipliers, out=self.marks, casting="unsafe")
        self.marks[self._equalities] = EQUALITY
        self._has_guess = True

    def _fits(self, given: tuple[Array, ...]) -> bool:
        sides = (len(self.marks),)
        return all(_is_plain(a, shape) for a, shape in zip(given, (*self._shapes, sides, sides), strict=True))


class BoundsHolder:
    """Sets bounds of a problem below another one, in machine code; see :meth:`ActiveSetGuess.holder`."""

    def __init__(
        self,
        library: Library,
        memory: Array,
        counts: tuple[int, int],
        room: float,
        own: tuple[Array, Array],
        shapes: tuple[tuple[int, ...], ...],
    ) -> None:
        self._library, self._own, self._shapes = library, (*own, memory), shapes  # kept alive
        self._call = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(library.address("hold"))
        self._words = np.zeros(len(HELD), dtype=np.int64)
        self._words[4:7] = [a.ctypes.data for a in self._own]
        self._words[7:9] = counts
        self._words[9:] = np.array([room]).view(np.int64)
        self._at = self._words.ctypes.data
        self._given: tuple[Any, ...] = (None,) * 3

    def __call__(self, A: Array, upper: Array, lower: Array, u: Array) -> bool:
        """The rows A (rows, n), the bounds of the problem above, without those held, and its solution u (n,).

        False where the arrays are not such as machine code reads.
        """
        g = self._given
        if not (A is g[0] and upper is g[1] and lower is g[2]):
            given = A, upper, lower
            if not all(_is_plain(a, shape) for a, shape in zip(given, self._shapes, strict=True)):
                return False
            self._words[[0, 2, 3]] = [a.ctypes.data for a in given]
            self._given = given
        if not _is_plain(u, self._shapes[0][1:]):
            return False
        self._words[1] = u.ctypes.data
        self._call(self._at)
        return True


def _is_plain(a: Array, shape: tuple[int, ...]) -> bool:
    """Whether machine code may read an array: doubles of that shape without gaps."""
    return a.shape == shape and a.dtype == np.float64 and a.flags.c_contiguous and a.flags.aligned


def guess_for(unknowns: int, bounded: int, rows: int, equalities: int) -> ActiveSetGuess | None:
    """None where machine code is unavailable, not wanted, or no gain."""
    if not native_wanted(None) or not 0 < unknowns <= _LARGEST or not bounded + rows:
        return None
    try:
        return ActiveSetGuess(unknowns, bounded, rows, equalities)
    except Exception as problem:  # whatever LLVM or the loader may raise: the solver does without
        reason = f"{type(problem).__name__}: {problem}"
        warn_once(f"native code is unavailable ({reason}): quadratic programs take several times longer.")
        return None


def _aligned(size: int) -> npt.NDArray[np.float64]:
    """Zeros aligned to cache lines."""
    memory = np.zeros(size + 8)
    first = -(memory.ctypes.data // 8) % 8
    return memory[first : first + size]
