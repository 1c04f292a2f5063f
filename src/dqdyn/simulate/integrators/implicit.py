"""A linearly implicit method for stiff joints: springs, damping and control laws whose gains are large.

Order 2, two evaluations of the dynamics and no iteration: the Rosenbrock-W method ROS2 (Verwer, Spee, Blom and
Hundsdorfer, A second-order Rosenbrock method applied to photochemical dispersion problems, SIAM J. Sci. Comput. 20,
1999), in the Lie algebra of each joint. With u = (w, v), q = q₀ exp(w), ẇ = dexp⁻¹(v), v̇ = a:

    (1 − γ h A) k₁ = h f(u₀),   (1 − γ h A) k₂ = h f(u₀ + k₁) − 2 k₁,   u₁ = u₀ + (3 k₁ + k₂)/2.

The order is 2 whatever A is, so A needs only what is stiff: with the derivatives K and D of springs, damping and the
law with respect to w and v it is [0, 1; M⁻¹ K, M⁻¹ D]. Eliminating w leaves nv linear equations with

    M − γ h D − (γ h)² K,

which is the mass matrix plus diagonal terms without a law. With γ = 1 − 1/√2 the method is L-stable: stiff motions are
damped in one step, however large it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import divide
from dqdyn.dynamics.fast.sparse_solve import factored, substitute
from dqdyn.dynamics.formulations.mass_centers import row_times
from dqdyn.dynamics.joint_forces import damping, stiffness
from dqdyn.errors import Error
from dqdyn.simulate.integrators.integrator import Integrator, Stage, Step, plus, times
from dqdyn.simulate.system import System

GAMMA = 1.0 - 1.0 / math.sqrt(2.0)
Matrix = list[list[Any]]


class Implicit(Integrator):
    """Implicit in springs, damping and a :class:`~dqdyn.simulate.ControlLaw`; explicit in all else."""

    name: ClassVar[str] = "implicit"
    order: ClassVar[int] = 2
    damps: ClassVar[bool] = True

    def stages(self) -> Sequence[Stage]:
        return [_step]

    def memory(self, system: System) -> int:
        if system.robot.constraints:
            what = f"the integrator 'implicit' takes no constraints, but {system.model.name!r} has some"
            raise Error(f"{what}: use 'rkmk4' or 'adaptive', or robot.without_constraints().")
        return 0


def _step(system: System, s: Step) -> list[Any]:
    n, step = system.nv, s.dt * GAMMA
    entries = system.quantity("mass_matrix", s.q)
    mass = [list(entries[n * i : n * i + n]) for i in range(n)]
    by_w, by_v = _stiffness(system, s), _resistance(system, s)
    shifted = [
        [m - d * step - k * (step * step) for m, d, k in zip(*rows, strict=True)]
        for rows in zip(mass, by_v, by_w, strict=True)
    ]
    solve = _symmetric(shifted) if system.law is None else _general(shifted)

    def slope(right_w: list[Any], right_v: list[Any]) -> tuple[list[Any], list[Any]]:
        """k = (1 − γ h A)⁻¹ r, as its parts of w and v."""
        pushed = times([row_times(row, right_w) for row in by_w], step)
        k_v = solve(plus([row_times(row, right_v) for row in mass], pushed))
        return plus(right_w, k_v, step), k_v

    first = system.acceleration(s.t, s.q, s.v, s.u)
    w1, v1 = slope(times(s.v, s.dt), times(first, s.dt))
    q, v = system.moved(s.q, w1), plus(s.v, v1)
    rate, second = system.corrected(w1, v, Implicit.order), system.acceleration(s.t + s.dt, q, v, s.u)
    w2, v2 = slope(plus(times(rate, s.dt), w1, -2.0), plus(times(second, s.dt), v1, -2.0))
    w = plus(times(w1, 1.5), w2, 0.5)
    return [*system.moved(s.q, w), *plus(plus(s.v, v1, 1.5), v2, 0.5)]


def _stiffness(system: System, s: Step) -> Matrix:
    """K (nv, nv): derivative of springs and law with respect to w at the start of the step."""
    rows = _diagonal([-k for k in stiffness(system.model)])
    law = system.law
    if law is None:
        return rows

    def forces(w: list[Any]) -> Sequence[Any]:
        return law(s.t, system.moved(s.q, w), s.v)

    return _with_columns(rows, [derivative(forces, [0.0] * system.nv, unit) for unit in _units(system.nv)])


def _resistance(system: System, s: Step) -> Matrix:
    """D (nv, nv): derivative of damping and law with respect to v."""
    rows = _diagonal([-d for d in damping(system.model)])
    law = system.law
    if law is None:
        return rows
    return _with_columns(rows, [derivative(lambda v: law(s.t, s.q, v), s.v, unit) for unit in _units(system.nv)])


def _diagonal(values: Sequence[float]) -> Matrix:
    return [[value if i == j else 0.0 for j in range(len(values))] for i, value in enumerate(values)]


def _units(n: int) -> Matrix:
    return _diagonal([1.0] * n)


def _with_columns(rows: Matrix, columns: Sequence[Sequence[Any]]) -> Matrix:
    return [[entry + columns[j][i] for j, entry in enumerate(row)] for i, row in enumerate(rows)]


def _symmetric(matrix: Matrix) -> Any:
    lower, inverse = factored(matrix)
    return lambda right: substitute(lower, inverse, right)


def _general(matrix: Matrix) -> Any:
    """Solves with a matrix whose symmetric part is positive definite, so that no pivoting is needed."""
    n, rows, inverse = len(matrix), [list(row) for row in matrix], []
    for k in range(n):
        inverse.append(divide(1.0, rows[k][k]))
        for i in range(k + 1, n):
            rows[i][k] = rows[i][k] * inverse[k]
            for j in range(k + 1, n):
                rows[i][j] = rows[i][j] - rows[i][k] * rows[k][j]

    def solve(right: Sequence[Any]) -> list[Any]:
        x = list(right)
        for i in range(n):
            for j in range(i):
                x[i] = x[i] - rows[i][j] * x[j]
        for i in reversed(range(n)):
            for j in range(i + 1, n):
                x[i] = x[i] - rows[i][j] * x[j]
            x[i] = x[i] * inverse[i]
        return x

    return solve
