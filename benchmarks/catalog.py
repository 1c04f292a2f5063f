"""Every function that Pinocchio has too, on three robots: bound, plain and in batches on one core, worst first.

Beside each time is the floor of this processor: the operations of the program at its vector throughput, and, in
batches, the bytes of inputs and results at its bandwidth, both measured here (:mod:`benchmarks.floors`). Results are
compared with Pinocchio's before anything is timed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.floors import Floors, measured_floors
from benchmarks.measure import Result, Timed, side_by_side
from benchmarks.pinocchio_peers import PEERS, Pair, Peer
from benchmarks.robots import chain50, panda, talos

BATCH = 4096
ROBOTS = {"panda": panda, "talos": talos, "chain50": chain50}
LONG_CHAIN = {"inverse_dynamics_derivatives": 5.0}
"""Ratios asked for on the chain of 50 joints."""
ABOVE_FLOOR = 2.0
"""How much longer than the higher floor a batch of large results may take."""
BEYOND_BOUND = 100.0
"""ns that a plain method may take longer than a bound function."""
VALUES = {"poses", "twist", "twist_rate"}
"""Functions whose methods give values; here their arrays are compared."""


def run() -> list[Result]:
    """One line per function, robot and way to call it, those farthest from what is asked for first."""
    floors = measured_floors()
    results = [result for name, make in ROBOTS.items() for result in of_robot(name, Pair(*make()), floors)]
    return sorted(results, key=_reached)


def of_robot(name: str, pair: Pair, floors: Floors) -> list[Result]:
    """All functions of one robot."""
    results = []
    for peer in PEERS:
        f = pair.robot.function(peer.function, **pair.options(peer))
        _same(f"{name} {peer.title}", f(*pair.inputs(peer)), pair.expected(peer))
        theirs = Timed(peer.statement, pair.names, 100)
        results += [*_calls(name, pair, peer, f, theirs, floors), *_batch(name, pair, peer, f, theirs, floors)]
    return results


def _asked(name: str, peer: Peer) -> float | None:
    if name == "chain50":
        return LONG_CHAIN.get(peer.function)
    return peer.at_least[0 if name == "panda" else 1]


def _calls(name: str, pair: Pair, peer: Peer, f: Any, theirs: Timed, floors: Floors) -> list[Result]:
    program = pair.robot.program(peer.function, **pair.options(peer))
    names = {**dict(zip("abc", pair.inputs(peer), strict=False)), "f": f, "o": np.zeros(program.shape)}
    given = ", ".join("abc"[: len(peer.inputs)])
    timed = [theirs, Timed(f"f({given}, out=o)", names, 200), Timed(f"f({given})", names, 200)]
    if has_method := peer.function not in VALUES:
        options = ", ".join(f"{key}={value!r}" for key, value in peer.options.items())
        call = ", ".join(filter(None, ["frame" if peer.of_frame else "", given, options]))
        timed.append(Timed(f"r.{peer.function}({call})", {**names, "r": pair.robot, "frame": pair.frame}, 200))
    found = side_by_side(*timed)
    title, asked = f"{name} {peer.title}", _asked(name, peer)
    floor = f"floor {floors.operations(program.counts.total):.0f} ns, {program.counts}"
    than = peer.statement.split("(")[0].removeprefix("pin.")
    results = [Result(f"{title}, bound", found[1], "ns", None, than, found[0], asked, floor)]
    if has_method:
        beyond = found[3] - found[2]
        results.append(Result(f"{title}, plain", found[3], "ns", None, than, found[0], asked))
        results.append(Result(f"{title}, plain beyond bound", beyond, "ns", BEYOND_BOUND))
    return results


def _batch(name: str, pair: Pair, peer: Peer, f: Any, theirs: Timed, floors: Floors) -> list[Result]:
    program = pair.robot.program(peer.function, **pair.options(peer))
    states = {key: np.tile(np.atleast_1d(value), (BATCH, 1)) for key, value in pair.state.items()}
    out = np.zeros((BATCH, *program.shape))
    given = [states[key] for key in peer.inputs]
    names = {**dict(zip("abc", given, strict=False)), "f": f, "o": out}
    call = f"f({', '.join('abc'[: len(given)])}, out=o)"
    peer_time, time = side_by_side(theirs, Timed(call, names, 1, untimed=1), rounds=40)
    count, size = program.counts.total, sum(x.nbytes for x in given) + out.nbytes
    by_operations, by_bytes = floors.operations(count), floors.bytes(size) / BATCH
    note = f"floors: {by_operations:.1f} ns of operations, {by_bytes:.1f} ns of bytes"
    title, than = f"{name} {peer.title}, per state of {BATCH}", peer.statement.split("(")[0].removeprefix("pin.")
    if peer.batch is not None:
        asked = None if name == "chain50" else peer.batch[0 if name == "panda" else 1]
        return [Result(title, time / BATCH, "ns", None, than, peer_time, asked, note)]
    limit = None if name == "chain50" else ABOVE_FLOOR * max(by_operations, by_bytes)
    return [Result(title, time / BATCH, "ns", limit, than, peer_time, None, note)]


def _reached(result: Result) -> float:
    """How much of what is asked for is reached; 1 is all of it."""
    if result.at_least is not None and result.speedup is not None:
        return result.speedup / result.at_least
    return float("inf") if result.target is None else result.target / max(result.measured, 1e-9)


def _same(title: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    off = np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
    if not off < 1e-9:
        raise SystemExit(f"{title} is off by {off:.3g}: this would compare different things")
