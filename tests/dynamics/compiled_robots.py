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
SMALL = 20
"""Up to this nv the compiler takes little time for the Coriolis matrix and for derivatives."""


@dataclass(frozen=True)
class Outcome:
    """Largest deviations from Pinocchio by function, relative to the largest entry (absolute below one)."""

    name: str
    nv: int
    deviations: dict[str, float]
    seconds: float

    @property
    def worst(self) -> float:
        return max(self.deviations.values())


def compare(name: str, base: str, small: int = SMALL) -> Outcome:
    """One state and a small batch of inverse dynamics, mass matrix and, where M is regular, forward dynamics.

    Of robots with nv up to ``small`` also gravity, bias, Coriolis matrix and derivatives.
    """
    start = time.perf_counter()
    ours, theirs = robot(name, base), plain(name, base)
    layout = ours.to_pinocchio(theirs)
    q, v, a = random_state(ours, np.random.default_rng(3), (BATCH,))
    rows = [(Oracle(layout, theirs, *state), x) for *state, x in zip(q, v, a, strict=True)]
    masses = np.array([oracle.mass_matrix() for oracle, _ in rows])
    expected = {"mass_matrix": masses, "inverse_dynamics": [oracle.inverse_dynamics(x) for oracle, x in rows]}
    if name not in SINGULAR:
        expected["forward_dynamics"] = [oracle.forward_dynamics(x) for oracle, x in rows]
    if ours.nv <= small:
        expected["bias_forces"] = [oracle.inverse_dynamics(0.0 * x) for oracle, x in rows]
        expected["gravity_forces"] = [oracle.gravity_forces() for oracle, _ in rows]
        expected["coriolis_matrix"] = [oracle.coriolis_matrix() for oracle, _ in rows]
        pairs = [oracle.derivatives(x) for oracle, x in rows]
        expected["inverse_dynamics_derivatives"] = [(*pair, m) for pair, m in zip(pairs, masses, strict=True)]
    inputs = {"mass_matrix": (q,), "gravity_forces": (q,), "bias_forces": (q, v), "coriolis_matrix": (q, v)}
    deviations = {f: _deviation(ours, f, inputs.get(f, (q, v, a)), np.array(x)) for f, x in expected.items()}
    return Outcome(f"{name}, {base} base", ours.nv, deviations, time.perf_counter() - start)


def _deviation(ours: Robot, name: str, inputs: tuple[np.ndarray, ...], expected: np.ndarray) -> float:
    """Of the batch, and of each of its states alone."""
    function = ours.function(name)
    batch = function(*inputs)
    alone = np.array([function(*(x[i] for x in inputs)) for i in range(BATCH)])
    scale = max(1.0, float(np.abs(expected).max()))
    return float(max(np.abs(found - expected).max() for found in (batch, alone)) / scale)
