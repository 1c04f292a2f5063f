"""Limits of a robot's joints, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn.arrays import Array
from dqdyn.model.model import Model


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits per coordinate; ±inf where there is none."""

    lower: Array
    """(nq,) in rad or m."""
    upper: Array
    """(nq,) in rad or m."""
    velocity: Array
    """(nv,) in rad/s or m/s."""
    effort: Array
    """(nv,) in N m or N."""


def limits_of(model: Model) -> Limits:
    """Limits of all joints that have coordinates of their own."""
    own = [joint for joint in model.joints if not joint.is_mimic]
    arrays = [np.array([c for j in own for c in getattr(j, name)]) for name in ("lower", "upper", "velocity", "effort")]
    for array in arrays:
        array.setflags(write=False)
    return Limits(*arrays)
