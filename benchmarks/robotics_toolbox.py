"""Torques of an arm with seven joints against the Robotics Toolbox for Python, from one Denavit-Hartenberg table.

The errors are those of Quiroz, fig. 6.20, each named by the method that was run.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.measure import Result, least, per_call

STATES = 10_000
QUARTER = np.pi / 2
TABLE = np.array(
    [  # θ, d, a, α
        [0.0, 0.36, 0.0, -QUARTER],
        [0.1, 0.0, 0.02, QUARTER],
        [0.0, 0.42, -0.05, QUARTER],
        [-0.3, 0.0, 0.04, -QUARTER],
        [0.0, 0.40, 0.0, -QUARTER],
        [0.2, 0.0, 0.03, QUARTER],
        [0.0, 0.13, 0.0, 0.4],
    ]
)
ERROR_TARGET = 1e-9
"""In percent."""
METHODS = {
    "auto": "our recursion over regrouped parameters",
    "newton-euler": "of Quiroz, fig. 6.20",
    "gauss": "of Quiroz, fig. 6.20",
}
"""Whose torques are compared, and what they are: Quiroz, fig. 6.20 is about the last two, "auto" is what users get."""


def bodies(seed: int = 1) -> list[tuple[float, np.ndarray, np.ndarray]]:
    """Mass in kg, center of mass in m and tensor about it in kg m² of each link, in its frame; no symmetry."""
    rng = np.random.default_rng(seed)
    result = []
    for mass in (4.0, 4.0, 3.0, 2.7, 1.7, 1.8, 0.3):
        cloud = rng.normal(size=(3, 5)) * 0.06
        spread = cloud @ cloud.T * mass
        result.append((mass, rng.uniform(-0.1, 0.1, 3), np.trace(spread) * np.eye(3) - spread))
    return result


def arms() -> tuple[Any, Any]:
    """The same arm here and there, without friction and rotors."""
    import roboticstoolbox

    import dqdyn as dq

    links = [
        roboticstoolbox.RevoluteDH(d=d, a=a, alpha=alpha, offset=theta, m=m, r=c, I=tensor, Jm=0.0, G=1.0, B=0.0)
        for (theta, d, a, alpha), (m, c, tensor) in zip(TABLE, bodies(), strict=True)
    ]
    ours = dq.from_dh(TABLE, inertias=bodies(), name="seven joints", strict=True)
    return ours, roboticstoolbox.DHRobot(links, name="seven joints")


def percentage_error(found: np.ndarray, expected: np.ndarray) -> float:
    """Mean over states and joints of |found − expected| / |expected|, in percent."""
    return float((np.abs(found - expected) / np.abs(expected)).mean() * 100.0)


def run() -> list[Result]:
    """Mean percentage error of the torque over random states, and the time per call of both; none without the peer."""
    try:
        ours, theirs = arms()
    except ImportError as problem:
        print(f"skipped: pip install roboticstoolbox-python first ({problem})", file=sys.stderr)
        return []
    rng = np.random.default_rng(2)
    q = rng.uniform(-np.pi, np.pi, (STATES, 7))
    v, a = rng.uniform(-2.0, 2.0, (STATES, 7)), rng.uniform(-5.0, 5.0, (STATES, 7))
    gravity = ours.gravity
    expected = np.array(theirs.rne(q, v, a, gravity=gravity))
    errors = {method: percentage_error(ours.inverse_dynamics(q, v, a, method=method), expected) for method in METHODS}
    peer, peer_time = (
        "roboticstoolbox rne",
        per_call("r.rne(q, v, a, g)", 5, 200, r=theirs, q=q[0], v=v[0], a=a[0], g=gravity),
    )
    function, out = ours.function("inverse_dynamics"), np.zeros(7)
    single = per_call("f(q, v, a, out=o)", f=function, q=q[0], v=v[0], a=a[0], o=out)
    batch = least(lambda: ours.inverse_dynamics(q, v, a), 20) / STATES * 1e9
    batch_peer = least(lambda: theirs.rne(q, v, a, gravity=gravity), 2) / STATES * 1e9
    counts = str(ours.count("inverse_dynamics"))
    return [
        *(
            Result(f"torque by {method} ({what}), mean error over {STATES} states", errors[method], "%", ERROR_TARGET)
            for method, what in METHODS.items()
        ),
        Result("inverse_dynamics by auto, bound", single, "ns", None, peer, peer_time, note=counts),
        Result(f"inverse_dynamics by auto, per state of {STATES}", batch, "ns", None, peer, batch_peer),
    ]
