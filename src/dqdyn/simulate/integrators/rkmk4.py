"""Runge-Kutta-Munthe-Kaas of order 4: the classical method in the Lie algebra of each joint.

The step q = q₀ exp(w) turns the motion into an equation for w and v with ẇ = dexp⁻¹(v) [Munthe-Kaas, High order
Runge-Kutta methods on manifolds, Appl. Numer. Math. 29 (1999)]. Quaternions stay on the sphere by the exponential.
The four stages are one program: each starts from the state at the beginning of the step, displaced by the last slope.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from dqdyn.algebra.scalar import less, select
from dqdyn.simulate.integrators.integrator import Integrator, Stage, Step, plus, times
from dqdyn.simulate.system import System


class RKMK4(Integrator):
    """Parameters of a stage: part of the step at which it stands, weight of its slope, whether it is the last."""

    name: ClassVar[str] = "rkmk4"
    order: ClassVar[int] = 4

    def stages(self) -> Sequence[Stage]:
        return [_stage]

    def schedule(self) -> Sequence[tuple[int, Sequence[float]]]:
        nodes, weights = (0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)
        return [(0, (c, b, float(i == 3))) for i, (c, b) in enumerate(zip(nodes, weights, strict=True))]

    def memory(self, system: System) -> int:
        return 4 * system.nv  # the last slope and the weighted sum of slopes, of w and of v


def _stage(system: System, s: Step) -> list[Any]:
    n = system.nv
    node, weight, last = s.c
    w = times(s.memory[:n], node * s.dt)  # at the first stage the node is 0, whatever was in the memory
    q, v = system.moved(s.q, w), plus(s.v, s.memory[n : 2 * n], node * s.dt)
    slope = [*system.corrected(w, v, RKMK4.order), *system.acceleration(s.t + node * s.dt, q, v, s.u)]
    total = plus(s.memory[2 * n :], slope, weight)
    is_last = less(0.5, last)
    q_next, v_next = system.moved(s.q, times(total[:n], s.dt)), plus(s.v, total[n:], s.dt)
    state = [select(is_last, new, old) for new, old in zip([*q_next, *v_next], [*s.q, *s.v], strict=True)]
    return [*state, *slope, *(select(is_last, 0.0, c) for c in total)]
