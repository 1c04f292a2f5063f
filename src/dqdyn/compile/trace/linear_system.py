"""Results that solve linear equations: a program gives the equations, and loops solve them.

Derivatives of forward dynamics are M⁻¹ times two matrices, and M⁻¹ itself. As straight-line code their solution grows
with the cube of the axes, and is longer than all that leads to the equations from a humanoid on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.compile.trace.program import Program


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """``program`` gives n×n matrices B₁ … Bₖ, M and, if there is one, E; the k + 1 results are

        −M⁻¹ B₁ + E, −M⁻¹ B₂, …, −M⁻¹ Bₖ, M⁻¹

    M is symmetric and positive definite.
    """

    program: Program
    results: int

    @property
    def n(self) -> int:
        """Rows and columns of each matrix."""
        return self.program.shape[-1]

    @property
    def shape(self) -> tuple[int, int, int]:
        """That of the results."""
        return self.results, self.n, self.n

    @property
    def is_sum(self) -> bool:
        """Whether there is an E."""
        return self.program.shape[0] > self.results

    @property
    def most_operations(self) -> int:
        """What a call would take if no entry of a matrix were zero."""
        return self.program.counts.total + 2 * self.results * self.n**3

    @property
    def digest(self) -> str:
        """A name for the code that computes the results."""
        return f"solution of {self.results} {self.program.digest}"

    def has(self, matrix: int, row: int, column: int) -> bool:
        """Whether an entry of a matrix may differ from zero."""
        number = self.program.outputs[(matrix * self.n + row) * self.n + column]
        op, _, value = self.program.instructions[number]
        return op != "const" or value != 0.0

    def solved(self, equations: Sequence[Any]) -> np.ndarray:
        """The results (..., k + 1, n, n) from the outputs of the program, numbers or arrays (...)."""
        batch = np.broadcast_shapes(*(np.shape(x) for x in equations))
        stacked = np.stack([np.broadcast_to(x, batch) for x in equations], axis=-1)
        matrices = stacked.reshape(*batch, -1, self.n, self.n)
        *right, m = (matrices[..., i, :, :] for i in range(self.results))
        identity = np.broadcast_to(np.eye(self.n), m.shape)
        try:
            found = np.linalg.solve(m, np.concatenate([*(-b for b in right), identity], axis=-1))
        except np.linalg.LinAlgError:  # of some state: the others keep their values
            found = np.full((*batch, self.n, self.results * self.n), np.nan)
            for state in np.ndindex(batch) if batch else ():
                found[state] = self.solved(list(stacked[state])).swapaxes(0, 1).reshape(self.n, -1)
        results = np.stack(np.split(found, self.results, axis=-1), axis=-3)
        if self.is_sum:
            results[..., 0, :, :] += matrices[..., -1, :, :]
        return results


class DeferredProgram(Program):
    """A program that is traced when somebody asks for its instructions: calls need inputs and shape alone."""

    def __init__(self, name: str, system: LinearSystem, trace: Callable[[], Program]) -> None:
        inputs, shape = system.program.inputs, system.shape
        self.__dict__.update(name=name, inputs=inputs, shape=shape, size=math.prod(shape), _trace=trace)

    def __getattr__(self, name: str) -> Any:
        if name not in ("instructions", "outputs"):
            raise AttributeError(name)
        traced = self.__dict__["_trace"]()
        self.__dict__.update(instructions=traced.instructions, outputs=traced.outputs)
        return self.__dict__[name]

    def __reduce__(self) -> Any:
        return Program, (self.name, self.inputs, self.instructions, self.outputs, self.shape)
