"""Every function of the catalog on three robots: bound, plain and in batches on one core, worst first.

Where Pinocchio has the function too, the peer is Pinocchio, and results are compared before anything is timed. Beside
each time are the floors of this processor (:mod:`benchmarks.floors`): the operations of the program at its vector
throughput and, in batches, the bytes of inputs and results at its bandwidth.

``python -m benchmarks catalog``, or ``python -m benchmarks.catalog ROBOT [FUNCTION]`` for some of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.floors import floor
from benchmarks.measure import Result, Timed, longer, side_by_side
from benchmarks.pinocchio_peers import PEERS, Pair, Peer
from benchmarks.robots import chain50, panda, talos

BATCH = 1024
ROBOTS = {"panda": panda, "talos": talos, "chain50": chain50}
LONG_CHAIN = {"inverse_dynamics_derivatives": 5.0, "forward_dynamics_derivatives": None}
"""Ratios asked for on the chain of 50 joints, if any; its other functions are not measured unless named."""
ABOVE_FLOOR = 2.0
"""How much longer than the larger floor a batch of large results may take."""
BEYOND_BOUND = 100.0
"""ns that a plain method may take longer than a bound function."""


@dataclass(frozen=True)
class Case:
    """One function of a robot with its options, at the state of a pair; ``peer`` is Pinocchio's, if it has one."""

    robot: str
    pair: Pair
    function: str
    options: dict[str, Any]
    peer: Peer | None = None

    @property
    def title(self) -> str:
        return f"{self.robot} {self.peer.title if self.peer else self.function}"

    @property
    def inputs(self) -> list[Any]:
        """The state in the order of the function's inputs."""
        return self.pair.inputs(self.peer) if self.peer else _drawn(self.pair, self.program)

    @property
    def program(self) -> Any:
        return self.pair.robot.program(self.function, **self.options)

    @property
    def than(self) -> str:
        return self.peer.statement.split("(")[0].removeprefix("pin.") if self.peer else ""

    def asked(self, batch: bool = False) -> float | None:
        """The ratio to Pinocchio that is asked for."""
        if self.peer is None:
            return None
        if self.robot == "chain50":
            return None if batch else LONG_CHAIN.get(self.function)
        ratios = self.peer.batch if batch else self.peer.at_least
        return None if ratios is None else ratios[0 if self.robot == "panda" else 1]


def run(only: str = "", function: str = "") -> list[Result]:
    """One line per function, robot and way to call it, those farthest from what is asked for first."""
    robots = {name: make for name, make in ROBOTS.items() if only in ("", name)}
    found = [
        result
        for name, make in robots.items()
        for case in cases(name, Pair(*make()), function)
        for result in _measured(case)
    ]
    return sorted(found, key=_reached)


def cases(name: str, pair: Pair, function: str = "") -> Iterator[Case]:
    """What is measured of a robot."""
    named = (function,) if function else tuple(LONG_CHAIN) if name == "chain50" else ()
    for entry in pair.robot._functions.variables.functions.values():
        if named and entry.name not in named:
            continue
        peers = [peer for peer in PEERS if peer.function == entry.name]
        yield from (Case(name, pair, entry.name, pair.options(peer), peer) for peer in peers)
        if not peers:
            frames = {"frame": pair.frame, "frame1": pair.frame, "frame2": next(iter(pair.robot.frames))}
            yield Case(name, pair, entry.name, {k: v for k, v in frames.items() if k in entry.options})


def _measured(case: Case) -> list[Result]:
    print(f"  {case.title} …", file=sys.stderr)
    f = case.pair.robot.function(case.function, **case.options)
    if case.peer:
        _same(case.title, f(*case.inputs), case.pair.expected(case.peer))
    return [*_calls(case, f), *_batch(case, f)]


def _calls(case: Case, f: Any) -> list[Result]:
    program, given = case.program, case.inputs
    names: dict[str, Any] = {f"x{i}": x for i, x in enumerate(given)} | {"f": f, "o": np.zeros(program.shape)}
    call = ", ".join(f"x{i}" for i in range(len(given)))
    timed = [Timed(f"f({call}, out=o)", names, 200), Timed(f"f({call})", names, 200)]
    entry = case.pair.robot._functions.variables.functions[case.function]
    frames = [key for key in case.options if key.startswith("frame")]
    words = [f"{key}={value!r}" for key, value in case.options.items() if key not in frames]
    plain = f"r.{entry.method or case.function}({', '.join([*frames, call, *words])})"
    timed.append(Timed(plain, {**names, **case.options, "r": case.pair.robot}, 200))
    if case.peer:
        timed.append(Timed(case.peer.statement, case.pair.names, 100))
    found = side_by_side(*timed)
    theirs, asked = (found[-1], case.asked()) if case.peer else (None, None)
    note = f"floor {floor(program, 1).arithmetic:.0f} ns; {program.counts}"
    return [
        Result(f"{case.title}, bound", found[0], "ns", None, case.than, theirs, asked, note),
        Result(f"{case.title}, plain", found[2], "ns", None, case.than, theirs, asked),
        Result(f"{case.title}, plain beyond bound", longer(timed[2], timed[1]), "ns", BEYOND_BOUND),
    ]


def _batch(case: Case, f: Any) -> list[Result]:
    program = case.program
    given = [np.tile(x, (BATCH, 1)) if np.ndim(x) else x for x in case.inputs]
    names: dict[str, Any] = {f"x{i}": x for i, x in enumerate(given)} | {"f": f, "o": np.zeros((BATCH, *program.shape))}
    timed = [Timed(f"f({', '.join(f'x{i}' for i in range(len(given)))}, out=o)", names, 1, untimed=1)]
    if case.peer:
        timed.append(Timed(case.peer.statement, case.pair.names, 100))
    found = side_by_side(*timed, rounds=40)
    least, time = floor(program, BATCH), found[0] / BATCH
    large = len(program.outputs) > 3 * case.pair.robot.nv
    limit = ABOVE_FLOOR * least.larger if large and case.robot != "chain50" else None
    theirs, asked = (found[-1], case.asked(batch=True)) if case.peer else (None, None)
    title = f"{case.title}, per state of {BATCH}"
    return [Result(title, time, "ns", limit, case.than, theirs, asked, str(least))]


def _drawn(pair: Pair, program: Any) -> list[Any]:
    """Inputs that are not part of the state are drawn at random."""
    rng = np.random.default_rng(0)
    goal = pair.robot.pose(pair.frame, pair.state["q"]).vec8()
    known = {**pair.state, "goal": goal}
    return [known[name] if name in known else rng.normal(size=size) for name, size in program.inputs]


def _reached(result: Result) -> float:
    """How much of what is asked for is reached; 1 is all of it."""
    if result.at_least is not None and result.speedup is not None:
        return result.speedup / result.at_least
    return float("inf") if result.target is None else result.target / max(result.measured, 1e-9)


def _same(title: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    off = np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max())
    if not off < 1e-9:
        raise SystemExit(f"{title} is off by {off:.3g}: this would compare different things")


if __name__ == "__main__":
    from benchmarks.__main__ import show

    sys.exit(show({"catalog": run(*sys.argv[1:])}))
