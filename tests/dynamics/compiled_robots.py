"""Machine code for real robots against Pinocchio; ``python -m tests.dynamics.all_compiled`` takes all of them."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from example_robots import SINGULAR, Oracle, plain, robot
from trees import random_state

from dqdyn.robot import Robot

BATCH = 5
"""More than a vector of the machine holds, and no multiple of it."""


@dataclass(frozen=True)
class Outcome:
    """Largest deviations from Pinocchio, relative to the largest entry (absolute below one), and the time taken."""

    name: str
    nv: int
    inverse_dynamics: float
    mass_matrix: float
    forward_dynamics: float
    seconds: float

    @property
    def worst(self) -> float:
        return max(self.inverse_dynamics, self.mass_matrix, self.forward_dynamics)


def compare(name: str, base: str) -> Outcome:
    """One state and a small batch of inverse dynamics, mass matrix and, where M is regular, forward dynamics."""
    start = time.perf_counter()
    ours, theirs = robot(name, base), plain(name, base)
    layout = ours.to_pinocchio(theirs)
    q, v, a = random_state(ours, np.random.default_rng(3), (BATCH,))
    oracles = [Oracle(layout, theirs, *row) for row in zip(q, v, strict=True)]
    forces = np.array([oracle.inverse_dynamics(row) for oracle, row in zip(oracles, a, strict=True)])
    masses = np.array([oracle.mass_matrix() for oracle in oracles])
    accelerations = 0.0
    if name not in SINGULAR:
        expected = np.array([oracle.forward_dynamics(row) for oracle, row in zip(oracles, a, strict=True)])
        accelerations = _deviation(ours, "forward_dynamics", (q, v, a), expected)
    return Outcome(
        f"{name}, {base} base",
        ours.nv,
        _deviation(ours, "inverse_dynamics", (q, v, a), forces),
        _deviation(ours, "mass_matrix", (q,), masses),
        accelerations,
        time.perf_counter() - start,
    )


def _deviation(ours: Robot, name: str, inputs: tuple[np.ndarray, ...], expected: np.ndarray) -> float:
    """Of the batch, and of each of its states alone."""
    function = getattr(ours, name)
    batch = function(*inputs)
    alone = np.array([function(*(x[i] for x in inputs)) for i in range(BATCH)])
    scale = max(1.0, float(np.abs(expected).max()))
    return float(max(np.abs(found - expected).max() for found in (batch, alone)) / scale)
