"""Runs a quantity on arrays: one state on Python floats, a batch on NumPy arrays, symbols on symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import stack, unstack
from dqdyn.errors import StateError
from dqdyn.model.model import Model
from dqdyn.robot.catalog import Quantity
from dqdyn.robot.state import as_state, common_batch

_LIKE = {"q1": "q"}  # inputs checked as another one


def evaluate(
    quantity: Quantity,
    model: Model,
    options: Sequence[Any],
    inputs: Sequence[Any],
    check: bool = True,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """The quantity for inputs of shape (..., n); the result has their common leading shape."""
    arrays = {}
    for name, value in zip(quantity.inputs, inputs, strict=True):
        if name == "dt":
            value = np.asarray(value, dtype=None if isinstance(value, np.ndarray) else float)[..., None]
            arrays[name] = as_state(model, name, value, check, size=1)
        else:
            arrays[name] = as_state(model, _LIKE.get(name, name), value, check)
    batch = common_batch(model, arrays)
    scalars = [unstack(a, a.shape[-1]) for a in arrays.values()]
    with np.errstate(invalid="ignore" if not check else "warn"):
        entries, shape = quantity.run(model, options, scalars)
    result = stack(entries, shape, batch)
    if out is None:
        return result
    if not isinstance(out, np.ndarray) or out.shape != result.shape or out.dtype != result.dtype:
        found = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise StateError(f"out of {quantity.name} must be a float64 array of shape {result.shape}; found {found}.")
    out[...] = result
    return out
