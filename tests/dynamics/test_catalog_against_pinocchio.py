"""Every function that Pinocchio has too, on every real robot; on plain numbers, so that no compiler is between."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.pinocchio_peers import PEERS, Pair, Peer
from example_robots import BASES, ROBOTS, SINGULAR, plain, robot
from trees import assert_close, run

from dqdyn.robot.catalog import CATALOG

DIVIDE = ("forward_dynamics", "inverse_mass_matrix", "forward_dynamics_derivatives")
"""Functions that need a mass matrix with an inverse."""


def _fits(peer: Peer, name: str) -> bool:
    return not (peer.function in DIVIDE and name in SINGULAR)


def test_every_peer_is_a_function_of_the_catalog() -> None:
    assert {peer.function for peer in PEERS} <= set(CATALOG)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("name", ROBOTS)
def test_functions(name: str, base: str) -> None:
    ours = robot(name, base)
    if ours.nv == 0:
        pytest.skip("Pinocchio's matrices of models without joints end the process")
    pair = Pair(ours, plain(name, base), seed=7)
    # What the rounding of M alone changes in its inverse; 5e8 is the condition of iCub's on a free base.
    rounding = float(np.finfo(float).eps * np.linalg.cond(run(ours, "mass_matrix", pair.state["q"])))
    for peer in PEERS:
        if not _fits(peer, name):
            continue
        found = run(ours, peer.function, *pair.inputs(peer), **pair.options(peer))
        tolerance = max(1e-9, rounding) if peer.function in DIVIDE else 1e-9
        try:
            assert_close(found, pair.expected(peer), tolerance)
        except AssertionError as problem:
            raise AssertionError(f"{peer.title}: {problem}") from None
