"""Torques of an arm with seven joints against the Robotics Toolbox for Python, from one Denavit-Hartenberg table.

Arm, states and errors are those of ``dqdyn experiment torque-error``; here are the means and the least times.
"""

from __future__ import annotations

import sys

import numpy as np

from benchmarks.measure import Result, least, per_call
from dqdyn.analysis.experiments.torque_error import (
    ALLOWED,
    METHODS,
    STATES,
    arm_for_peers,
    percentage_errors,
    random_states,
    seven_joints,
)
from dqdyn.analysis.peers import robotics_toolbox


def run() -> list[Result]:
    """Mean percentage error of the torque over random states, and the time per call of both; none without the peer."""
    try:
        theirs = robotics_toolbox(arm_for_peers())
    except ImportError as problem:
        print(f"skipped: pip install roboticstoolbox-python first ({problem})", file=sys.stderr)
        return []
    ours, states = seven_joints(), random_states()
    expected = theirs.torques(*states)
    errors = {
        method: float(percentage_errors(ours.inverse_dynamics(*states, method=method), expected).mean())
        for method in METHODS
    }
    q, v, a = (x[0] for x in states)
    peer, peer_time = "roboticstoolbox rne", per_call("f(q, v, a)", 5, 200, f=theirs.call, q=q, v=v, a=a)
    function, out = ours.function("inverse_dynamics"), np.zeros(7)
    single = per_call("f(q, v, a, out=o)", f=function, q=q, v=v, a=a, o=out)
    batch = least(lambda: ours.inverse_dynamics(*states), 20) / STATES * 1e9
    batch_peer = least(lambda: theirs.torques(*states), 2) / STATES * 1e9
    counts = str(ours.count("inverse_dynamics"))
    return [
        *(
            Result(f"torque by {method} ({what}), mean error over {STATES} states", errors[method], "%", ALLOWED)
            for method, what in METHODS.items()
        ),
        Result("inverse_dynamics by auto, bound", single, "ns", None, peer, peer_time, note=counts),
        Result(f"inverse_dynamics by auto, per state of {STATES}", batch, "ns", None, peer, batch_peer),
    ]
