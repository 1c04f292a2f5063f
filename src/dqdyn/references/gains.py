"""Gains of computed torque: one number, one per velocity, or a matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array
from dqdyn.errors import Error


def gain_matrix(name: str, value: Any, nv: int) -> Array:
    """K (nv, nv) of a number, of nv of them on its diagonal, or as it is; finite, and not negative but in a matrix."""
    wanted = f"{name} is one number or {nv}, one per velocity, or a matrix ({nv}, {nv})"
    try:
        array = real_array(value, name)
    except (TypeError, ValueError):
        raise Error(f"{wanted}; found {value!r}.", argument=name) from None
    if array.shape not in ((), (nv,), (nv, nv)):
        raise Error(f"{wanted}; found {value!r}.", argument=name)
    if not np.isfinite(array).all() or (array.ndim < 2 and (array < 0.0).any()):
        raise Error(f"{name} must be finite and not negative; found {value!r}.", argument=name)
    return np.array(array) if array.ndim == 2 else np.diag(np.broadcast_to(array, (nv,)))


def require_decay(kp: Array, kd: Array) -> None:
    """An error where ë + K_D ė + K_P e = 0 has a solution that grows; gains of 0 and diagonal ones cannot."""
    if not _is_diagonal(kp) or not _is_diagonal(kd):
        n = len(kp)
        poles = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-kp, -kd]]))
        worst = poles[poles.real.argmax()]
        if worst.real > 1e-9 * max(1.0, float(np.abs(poles).max())):
            remedy = "take symmetric positive definite matrices"
            raise Error(f"the error would grow with e^({worst.real:.6g} t) for these gains: {remedy}.", pole=worst)


def _is_diagonal(matrix: Array) -> bool:
    return not np.any(matrix - np.diag(np.diag(matrix)))
