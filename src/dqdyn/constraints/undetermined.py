"""Motions that the constraints leave free and that move no inertia: there the acceleration is not determined."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dqdyn.constraints.assembled import velocity
from dqdyn.constraints.methods.terms import ROUNDING, complete
from dqdyn.dynamics.massless_joints import joint_without_inertia, moved_inertia
from dqdyn.model.model import Model

_TOLERANCE = 1e-12


@lru_cache(maxsize=32)
def mass_is_singular(model: Model) -> bool:
    """Whether M is singular in every configuration."""
    return joint_without_inertia(model) is not None


def free_without_inertia(model: Model, samples: int = 3) -> str | None:
    """A joint that takes most part in a motion without inertia which A v = b admits: [M; A] has not full rank."""
    rng = np.random.default_rng(0)
    name = None
    for _ in range(samples):
        q = [c for j in model.joints if j.master is None for c in j.motion.random(rng, j.lower, j.upper)]
        mass = np.array(complete(model, q), dtype=float).reshape(model.nv, model.nv)
        a = np.array(velocity(model, q, 0.0)[0], dtype=float).reshape(-1, model.nv)
        moved = np.array(moved_inertia(model, q), dtype=float)
        size = 1.0 / np.sqrt(np.where(moved > 0.0, moved, 1.0))  # light joints beside heavy ones count as much
        rows = np.where(np.sum(a * a, axis=1, keepdims=True) > ROUNDING, a * size, 0.0)
        rows = rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0.0), 1e-300)
        _, s, vt = np.linalg.svd(np.vstack([mass * np.outer(size, size), rows]))
        if s.min(initial=1.0) > _TOLERANCE:
            return None
        k = int(np.argmax(np.abs(vt[-1])))
        name = next(j.name for j in model.joints if j.master is None and j.v.start <= k < j.v.stop)
    return name
