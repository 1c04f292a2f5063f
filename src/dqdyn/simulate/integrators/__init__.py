"""Integrators on the manifold of configurations, one file each."""

from __future__ import annotations

from dqdyn.simulate.integrators.implicit import Implicit
from dqdyn.simulate.integrators.integrator import Integrator
from dqdyn.simulate.integrators.rkmk4 import RKMK4
from dqdyn.simulate.integrators.semi_implicit_euler import SemiImplicitEuler
from dqdyn.simulate.integrators.variational import Variational

_KINDS = (SemiImplicitEuler, RKMK4, Variational, Implicit)
INTEGRATORS: dict[str, type[Integrator]] = {kind.name: kind for kind in _KINDS}
