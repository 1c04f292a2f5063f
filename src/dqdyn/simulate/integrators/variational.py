"""A variational integrator: the motion that makes a discrete action stationary.

Order 2, implicit. It is symplectic and keeps the momenta that belong to symmetries, so that the energy of a robot
without friction stays bounded for millions of steps (Marsden and West 2001; formulas in
:mod:`dqdyn.simulate.discrete`). With p = M v, gravity and forces F half at each end of the step, and the mean
velocity w:

    leaving(q, w) = p + ½ dt F(q, w),   q₁ = q exp(dt w),   p₁ = arriving(q, w) + ½ dt F(q₁, w).

The first equation is solved by Newton's method with M(q) instead of the Jacobian, from which it differs by terms of
the order of the step: each iteration gains a factor of the order dt |v|. Their number is fixed, so that a step
remains a program without branches; how much the last iteration changed is recorded and judged after the run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from dqdyn.algebra.scalar import less, select
from dqdyn.dynamics.fast.sparse_solve import factored, substitute
from dqdyn.dynamics.formulations.mass_centers import row_times
from dqdyn.dynamics.joint_forces import resisting_forces
from dqdyn.errors import Error
from dqdyn.model.canonical import canonical
from dqdyn.simulate.discrete import arriving, leaving
from dqdyn.simulate.integrators.integrator import Integrator, Stage, Step, plus, times
from dqdyn.simulate.problem import is_whole
from dqdyn.simulate.system import System

_CONVERGED = 1e-8
"""Change of the velocity in the last iteration, relative, that is called converged."""


class Variational(Integrator):
    """``iterations`` of Newton's method per step."""

    name: ClassVar[str] = "variational"
    order: ClassVar[int] = 2

    def __init__(self, iterations: int = 8) -> None:
        if not is_whole(iterations):
            raise Error(f"iterations is a whole number from 1; found {iterations!r}.", iterations=iterations)
        self.iterations = iterations

    def stages(self) -> Sequence[Stage]:
        return [_start, _iterate, _finish]

    def schedule(self) -> Sequence[tuple[int, Sequence[float]]]:
        return [(0, ()), *[(1, ())] * self.iterations, (2, ())]

    def memory(self, system: System) -> int:
        if system.robot.constraints:
            what = f"the integrator 'variational' takes no constraints, but {system.model.name!r} has some"
            raise Error(f"{what}: use 'rkmk4' or 'adaptive', or robot.without_constraints().")
        # How much the last iteration changed; w; what w must fulfil; the factors of M.
        return 1 + 2 * system.nv + len(_pattern(system)) + system.nv

    def records(self, system: System) -> int:
        return 1

    def doubt(self, records: np.ndarray, v: np.ndarray) -> str:
        left = np.nanmax(records[..., 0] / (1.0 + np.abs(v).max(axis=-1)))
        if left < _CONVERGED:
            return ""
        return f"Newton's method still moved by {left:.2g} of the velocity after {self.iterations} iterations"


def _start(system: System, s: Step) -> list[Any]:
    matrix = _mass_matrix(system, s.q)
    momentum = [row_times(row, s.v) for row in matrix]
    right = plus(momentum, _steady(system, s, s.q), 0.5 * s.dt)
    lower, inverse = factored(matrix)
    w = substitute(lower, inverse, right)
    return [*s.q, *s.v, 0.0, *w, *right, *(lower[i][j] for i, j in _pattern(system)), *inverse]


def _iterate(system: System, s: Step) -> list[Any]:
    n = system.nv
    w, right, factors = s.memory[1 : 1 + n], s.memory[1 + n : 1 + 2 * n], s.memory[1 + 2 * n :]
    lower: list[list[Any]] = [[0.0] * n for _ in range(n)]
    for (i, j), entry in zip(_pattern(system), factors, strict=False):
        lower[i][j] = entry
    inverse = factors[-n:]
    wanted = plus(right, _moving(system, s.t, s.q, w), 0.5 * s.dt)
    missing = plus(wanted, leaving(canonical(system.model), s.q, system.moved(s.q, times(w, s.dt)), w, s.dt), -1.0)
    change = substitute(lower, inverse, missing)
    return [*s.q, *s.v, _largest(change), *plus(w, change), *s.memory[1 + n :]]


def _finish(system: System, s: Step) -> list[Any]:
    n = system.nv
    w = s.memory[1 : 1 + n]
    q = system.moved(s.q, times(w, s.dt))
    momentum = arriving(canonical(system.model), s.q, q, w, s.dt)
    forces = plus(_steady(system, s, q), _moving(system, s.t + s.dt, q, w))
    lower, inverse = factored(_mass_matrix(system, q))
    v = substitute(lower, inverse, plus(momentum, forces, 0.5 * s.dt))
    return [*q, *v, *s.memory]


def _steady(system: System, s: Step, q: Sequence[Any]) -> list[Any]:
    """Generalized forces that depend on q alone: the input, gravity and wrenches."""
    return plus(s.u[: system.nv], system.holding(q, s.u), -1.0)


def _moving(system: System, t: Any, q: Sequence[Any], w: Sequence[Any]) -> list[Any]:
    """Generalized forces that depend on the velocity: friction, damping and a control law."""
    forces = times(resisting_forces(system.model, w), -1.0)
    return forces if system.law is None else plus(forces, system.law(t, q, w))


def _mass_matrix(system: System, q: Sequence[Any]) -> list[list[Any]]:
    entries, n = system.quantity("mass_matrix", q), system.nv
    return [list(entries[n * i : n * i + n]) for i in range(n)]


def _pattern(system: System) -> list[tuple[int, int]]:
    """Places below the diagonal of the factors of M that are not zero by structure: joints on one branch."""
    program, n = system.robot.program("mass_matrix"), system.nv
    constant = {k for k, (op, _, c) in enumerate(program.instructions) if op == "const" and c == 0.0}
    filled = {(i, j) for i in range(n) for j in range(i) if program.outputs[n * i + j] not in constant}
    for k in reversed(range(n)):  # eliminating k couples all variables coupled to it
        coupled = [i for i in range(k) if (k, i) in filled]
        filled |= {(i, j) for i in coupled for j in coupled if j < i}
    return sorted(filled)


def _largest(values: Sequence[Any]) -> Any:
    result: Any = 0.0
    for x in values:
        size = select(less(x, 0.0), -x, x)
        result = select(less(result, size), size, result)
    return result
