"""Semi-implicit Euler: the new velocity moves the configuration.

Order 1, one evaluation of the dynamics. Symplectic where the mass matrix is constant (Hairer, Lubich, Wanner,
Geometric Numerical Integration, section I.1.2), robust elsewhere; what physics engines do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from dqdyn.simulate.integrators.integrator import Integrator, Stage, Step, plus, times
from dqdyn.simulate.system import System


class SemiImplicitEuler(Integrator):
    """v ← v + a dt, then q ← q exp(v dt)."""

    name: ClassVar[str] = "semi-implicit-euler"
    order: ClassVar[int] = 1

    def stages(self) -> Sequence[Stage]:
        return [_step]


def _step(system: System, s: Step) -> list[Any]:
    v = plus(s.v, system.acceleration(s.t, s.q, s.v, s.u), s.dt)
    return [*system.moved(s.q, times(v, s.dt)), *v]
