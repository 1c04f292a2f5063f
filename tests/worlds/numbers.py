"""Functions of robots on plain numbers, and derivatives of them by complex steps, without a compiler."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from trees import rate

from dqdyn.algebra.scalar import stack, unstack
from dqdyn.model.model import Model
from dqdyn.robot import Robot

STEP = 1e-100
"""So small that its square is nothing: f(x + ih) has f′ h as its imaginary part, without a difference."""


def evaluate(robot: Robot, name: str, *inputs: Any, **options: Any) -> np.ndarray:
    """A function of the catalog as written, on one state or a batch, of real or complex numbers."""
    function, chosen = robot._functions.named(name, options)
    return on_arrays(lambda *given: function.run(robot.model, chosen, *given), *inputs)


def on_arrays(function: Callable[..., Any], *inputs: Any) -> np.ndarray:
    """A function of lists of scalars, giving scalars and their shape, on arrays (..., n)."""
    arrays = [np.asarray(x) for x in inputs]
    arrays = [x if np.iscomplexobj(x) else x.astype(float) for x in arrays]
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in arrays))
    entries, shape = function(*(_components(x) for x in arrays))
    if any(np.iscomplexobj(x) for x in arrays):
        full = [np.broadcast_to(np.asarray(e, dtype=complex), batch) for e in entries]
        return np.stack(full, axis=-1).reshape(*batch, *shape) if full else np.zeros((*batch, *shape), dtype=complex)
    return stack(entries, shape, batch)


def _components(x: np.ndarray) -> list[Any]:
    if np.iscomplexobj(x):
        return [np.ascontiguousarray(x[..., i]) for i in range(x.shape[-1])]
    return unstack(x, x.shape[-1])


def bound(form: Callable[..., Any], model: Model, shape: tuple[int, ...]) -> Callable[..., Any]:
    """A form of the dynamics as a function for :func:`on_arrays`."""

    def call(*inputs: Sequence[Any]) -> Any:
        found = form(model, *inputs)
        flat = [e for row in found for e in row] if len(shape) == 2 else list(found)
        return flat, shape

    return call


def directions(robot: Robot, q: np.ndarray) -> np.ndarray:
    """q̇ (nv, nq) for each unit velocity."""
    return evaluate(robot, "configuration_rate", np.broadcast_to(q, (robot.nv, robot.nq)), np.eye(robot.nv))


def along(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """d/dt function(x) for x moving with each of the rates (k, n): (k, *shape), exact but for rounding."""
    size = float(np.abs(rates).max(initial=0.0)) or 1.0
    found = function(x + (1j * STEP / size) * rates)
    return np.imag(found) * (size / STEP)


def by_differences(function: Callable[[np.ndarray], np.ndarray], robot: Robot, q: np.ndarray) -> np.ndarray:
    """The same (nv, *shape) for each unit velocity, by differences of order 8: for functions with logarithms."""
    points = lambda h: evaluate(robot, "integrate", np.broadcast_to(q, (robot.nv, robot.nq)), np.eye(robot.nv), [h])
    return rate(lambda h: function(points(h)))
