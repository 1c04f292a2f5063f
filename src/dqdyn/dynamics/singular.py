"""Joints that move no inertia, which make the mass matrix singular in every configuration."""

from __future__ import annotations

import numpy as np

from dqdyn.dynamics import composite
from dqdyn.dynamics.methods import mass_matrix
from dqdyn.dynamics.solve import factored
from dqdyn.model.model import Model

_TOLERANCE = 1e-12  # pivot relative to the diagonal entry that it came from


def joint_without_inertia(model: Model, samples: int = 3) -> str | None:
    """The name of a joint along which the robot can accelerate without force, or None.

    Eliminating M from the leaves, the pivot of a velocity is the inertia that it moves with all joints behind it free.
    """
    rng = np.random.default_rng(0)
    form = mass_matrix(composite.mass_matrix)
    suspects: set[int] | None = None
    for _ in range(samples):
        q = [c for j in model.joints if j.master is None for c in j.motion.random(rng, j.lower, j.upper)]
        matrix = form(model, q)
        scale = max((abs(float(matrix[k][k])) for k in range(model.nv)), default=0.0)
        with np.errstate(all="ignore"):
            pivots = _pivots(matrix, scale)
        found = {k for k, small in enumerate(pivots) if small}
        suspects = found if suspects is None else suspects & found
        if not suspects:
            return None
    first = max(suspects or ())
    return next(j.name for j in model.joints if j.master is None and j.v.start <= first < j.v.stop)


def _pivots(matrix: list[list[float]], scale: float) -> list[bool]:
    """Which pivots vanish; the elimination stops at the first, since what follows would be noise."""
    _, inverse = factored(matrix)
    result = []
    for k, row in enumerate(matrix):
        size = max(abs(float(row[k])), 1e-9 * scale)
        pivot = 1.0 / inverse[k] if inverse[k] not in (0.0, float("inf")) else 0.0
        result.append(not np.isfinite(pivot) or abs(pivot) <= _TOLERANCE * size)
    return result
