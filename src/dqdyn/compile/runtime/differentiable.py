"""A program in machine code together with its derivatives, which are compiled when they are asked for."""

from __future__ import annotations

from contextlib import suppress

from dqdyn.arrays import Array
from dqdyn.caching import cached_property
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.adjoint import adjoint
from dqdyn.compile.trace.partials import Units
from dqdyn.compile.trace.program import Program
from dqdyn.compile.trace.tangent import tangent
from dqdyn.errors import StateError

_SMALL = 5000
"""Operations of a program that is compiled within some tenths of a second."""


class Differentiable:
    """``tangent`` and ``adjoint`` are of the same kind, so that derivatives of any order exist.

    States are not checked: frameworks of learning pass NaN on, and so do programs.
    """

    def __init__(self, program: Program, units: Units = (), threads: int = 1) -> None:
        self.program, self.units, self.threads = program, tuple(units), threads
        self._adjoints: dict[tuple[int, ...], Differentiable] = {}

    @cached_property
    def function(self) -> Function:
        """The compiled function."""
        return Function(self.program)

    def __call__(self, *arrays: Array, out: Array | None = None) -> Array:
        """Arrays (..., size), float64, to (..., *shape)."""
        if self.threads == 1 and (arrays[0].ndim == 1 or self._is_small):
            with suppress(StateError):  # the quickest call finds NaN, which is to be passed on here
                quick: Array = self.function.fast(*arrays) if out is None else self.function.fast(*arrays, out=out)
                return quick
        result: Array = self.function(*arrays, out=out, check=False, threads=self.threads)
        return result

    @cached_property
    def _is_small(self) -> bool:
        """Whether code for one state, which the quickest call brings along, is compiled at once."""
        return self.program.counts.total < _SMALL

    @cached_property
    def tangent(self) -> Differentiable:
        """(inputs, rates) → rate of the result."""
        return self._with(tangent(self.program, self.units))

    def adjoint(self, arguments: tuple[int, ...]) -> Differentiable:
        """(inputs, cotangent) → gradients with respect to some inputs, one after the other."""
        if arguments not in self._adjoints:
            self._adjoints[arguments] = self._with(adjoint(self.program, arguments, self.units))
        return self._adjoints[arguments]

    def _with(self, program: Program) -> Differentiable:
        return Differentiable(program, self.units, self.threads)
