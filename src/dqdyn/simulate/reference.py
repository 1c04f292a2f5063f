"""Former names of reference motions, for one release: they are in :mod:`dqdyn.references`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.references.computed_torque import Reference
from dqdyn.splines import Piecewise, quintic_coefficients

_MOVED = {"Reference": "dqdyn.references", "waves": "dqdyn.references"}


def between(start: Sequence[float], end: Sequence[float], duration: float) -> Reference:
    """From ``start`` to ``end`` in ``duration`` s, number by number, which breaks quaternions.

    Deprecated: :func:`dqdyn.references.between` takes the robot, and with it the manifold of q, into account.
    """
    text = "between(start, end, duration) knows no joints: use dqdyn.references.between(robot, start, end, duration)."
    warnings.warn(text, DeprecationWarning, stacklevel=2)
    first, last = np.array(start, dtype=float), np.array(end, dtype=float)
    return Piecewise.of_one(0.0, duration, quintic_coefficients(duration, (first, 0.0, 0.0), (last, 0.0, 0.0))).over


def __getattr__(name: str) -> Any:
    if name in _MOVED:
        import dqdyn.references as references

        warnings.warn(f"{__name__}.{name} is now {_MOVED[name]}.{name}.", DeprecationWarning, stacklevel=2)
        return getattr(references, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
