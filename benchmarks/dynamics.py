"""Dynamics of the Panda, the Talos on a free base and a random chain of 50 joints, against Pinocchio in one process."""

from __future__ import annotations

import os
import timeit
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.measure import Result, Timed, least, side_by_side
from benchmarks.robots import chain50, panda, talos

BATCH = 4096
LARGE = 100_000
ROBOTS: dict[str, Callable[[], tuple[Any, Any]]] = {"panda": panda, "talos": talos, "chain50": chain50}
TARGETS = {  # times faster than Pinocchio: per call, per state of a batch
    "inverse_dynamics": {"panda": (10, 40), "talos": (7, 33), "chain50": (7, 25)},
    "forward_dynamics": {"panda": (10, 45), "talos": (7, 28), "chain50": (6, 22)},
    "mass_matrix": {"panda": (9, None), "talos": (7, None), "chain50": (5, None)},
    "inverse_dynamics_derivatives": {"panda": (6, None), "talos": (4.5, None), "chain50": (2.4, None)},
    "newton-euler": {"panda": (6, None), "talos": (4, None), "chain50": (4, None)},
}


@dataclass
class Case:
    """One robot here and in Pinocchio, at the same random state."""

    name: str
    robot: Any
    model: Any

    def __post_init__(self) -> None:
        rng = np.random.default_rng(0)
        robot, n = self.robot, self.robot.nv
        self.q, self.v, self.a = robot.random_configuration(rng), rng.normal(size=n), rng.normal(size=n)
        self.layout, self.data = robot.to_pinocchio(self.model), self.model.createData()
        self.theirs = self.layout.q(self.q), self.layout.v(self.q, self.v), self.layout.a(self.q, self.v, self.a)
        states = np.array([robot.random_configuration(rng) for _ in range(BATCH)])
        self.batch = states, rng.normal(size=(BATCH, n)), rng.normal(size=(BATCH, n))


def run() -> list[Result]:
    """Bound functions with ``out=``; Pinocchio in a Python loop with its ``Data`` reused; results compared first."""
    results: list[Result] = []
    for name, make in ROBOTS.items():
        case = Case(name, *make())
        results += [inverse(case, "auto"), inverse(case, "newton-euler"), *others(case), *threads(case)]
    return results + per_joint() + compiling()


def inverse(case: Case, method: str) -> Result:
    """Inverse dynamics by one method."""
    import pinocchio as pin

    f, out = case.robot.function("inverse_dynamics", method=method), np.zeros(case.robot.nv)
    expected = case.layout.tau_from(case.q, pin.rnea(case.model, case.data, *case.theirs))
    _same(f(case.q, case.v, case.a), expected)
    ours = Timed("f(q, v, a, out=o)", {"f": f, "q": case.q, "v": case.v, "a": case.a, "o": out}, 200)
    time, peer = side_by_side(ours, _peer(case, pin.rnea, 3))
    key = "inverse_dynamics" if method == "auto" else method
    counts = str(case.robot.count("inverse_dynamics", method=method))
    return Result(f"{case.name} {key}", time, "ns", None, "rnea", peer, TARGETS[key][case.name][0], counts)


def others(case: Case) -> list[Result]:
    """Batches, plain method, forward dynamics, mass matrix, derivatives."""
    import pinocchio as pin

    robot, n = case.robot, case.robot.nv
    results = []
    for function, their_function, inputs in (
        ("inverse_dynamics", pin.rnea, 3),
        ("forward_dynamics", pin.aba, 3),
        ("mass_matrix", pin.crba, 1),
        ("inverse_dynamics_derivatives", pin.computeRNEADerivatives, 3),
    ):
        f = robot.function(function)
        single, batch = TARGETS[function][case.name]
        names = {"f": f, "q": case.q, "v": case.v, "a": case.a, "o": np.zeros(robot.program(function).shape)}
        call = "f(q, v, a, out=o)" if inputs == 3 else "f(q, out=o)"
        title, theirs = f"{case.name} {function}", their_function.__name__
        peer, time = side_by_side(_peer(case, their_function, inputs), Timed(call, names, 200))
        if function != "inverse_dynamics":
            results.append(Result(title, time, "ns", None, theirs, peer, single, str(robot.count(function))))
        if batch is not None:
            q, v, a = case.batch
            names = {"f": f, "q": q, "v": v, "a": a, "o": np.zeros((BATCH, n))}
            # 512-bit vectors lower the clock for a while, also for whoever comes next: the peer gets its best time.
            slowed, awake, _, asleep = side_by_side(
                _peer(case, their_function, inputs),
                Timed(call, names, 2, untimed=1),
                Timed("sum(range(100000))", {}, 1),
                Timed(call, names, 1),
            )
            peer, what = min(peer, slowed), f"{title}, per state of {BATCH}"
            results.append(Result(what, awake / BATCH, "ns", None, theirs, peer, batch))
            results.append(Result(f"{what}, after a pause", asleep / BATCH, "ns", None, theirs, peer))
    state = {"q": case.q, "v": case.v, "a": case.a}
    bound, plain = side_by_side(
        Timed("f(q, v, a)", {"f": robot.function("inverse_dynamics"), **state}),
        Timed("r.inverse_dynamics(q, v, a)", {"r": robot, **state}),
    )
    results.append(Result(f"{case.name} plain method beyond bound", plain - bound, "ns", target=60.0))
    return results


def threads(case: Case) -> list[Result]:
    """A large batch on two threads against one."""
    if (os.cpu_count() or 1) < 2:
        return []
    states = [np.tile(x, (-(-LARGE // BATCH), 1))[:LARGE].copy() for x in case.batch]
    results = []
    for function in ("inverse_dynamics", "forward_dynamics"):
        names: dict[str, object] = dict(zip("qva", states, strict=True), o=np.zeros((LARGE, case.robot.nv)))
        names["f"] = case.robot.function(function)
        times = {1: float("inf"), 2: float("inf")}
        for _ in range(25):
            for k in times:  # some in a row: workers sleep when they have had nothing to do for a while
                run = timeit.Timer(f"f(q, v, a, out=o, threads={k})", globals=names)
                times[k] = min(times[k], *run.repeat(6 + int(0.1 / run.timeit(1)), 1))
        one, two = times[1] * 1e9, times[2] * 1e9
        title = f"{case.name} {function}, per state of {LARGE}, on 2 threads"
        results.append(Result(title, two / LARGE, "ns", None, "1 thread", one / LARGE, 1.7))
    return results


def per_joint() -> list[Result]:
    """Time per joint of random chains, one state and batches: the longest against the others, which should be alike."""
    import dqdyn as dq

    results = []
    for function in ("inverse_dynamics", "forward_dynamics"):
        single, batch = {}, {}
        for n in (10, 50, 100, 200, 500, 1000):
            rng, rows = np.random.default_rng(n), max(64, 20_000 // n)
            f = dq.robots.chain(n, seed=1).function(function)
            for times, shape, repeats in ((single, (3, n), 200), (batch, (3, rows, n), 2)):
                names: dict[str, object] = dict(
                    zip("qva", rng.normal(size=shape), strict=True), f=f, o=np.zeros(shape[1:])
                )
                states = 1 if times is single else rows
                times[n] = side_by_side(Timed("f(q, v, a, out=o)", names, repeats))[0] / (n * states)
        for times, what in ((single, ""), (batch, " in batches")):
            note = ", ".join(f"{n} joints {time:.1f} ns" for n, time in times.items())
            spread = max(times.values()) / min(times.values())
            results.append(Result(f"{function}{what}, time per joint, most by least", spread, "", 1.5, note=note))
    return results


FIRST_CALLS = {
    200: {"inverse_dynamics": 1.0, "forward_dynamics": 2.0},
    1000: {"inverse_dynamics": 10.0, "forward_dynamics": 10.0},
}
"""Seconds that the first call on a chain of so many joints may take."""


def compiling() -> list[Result]:
    """Seconds from a long chain to the first result, with nothing cached."""
    import dqdyn as dq

    results = []
    before, os.environ["DQDYN_CACHE"] = os.environ.get("DQDYN_CACHE", "1"), "0"
    for n, targets in FIRST_CALLS.items():
        model, state = dq.robots.chain(n, seed=1).model, np.random.default_rng(0).normal(size=(3, n))
        for function, target in targets.items():

            def first(model: Any = model, state: Any = state, function: str = function) -> Any:
                return dq.Robot(model).function(function)(*state)

            title = f"compile {function} of a chain of {n} joints"
            results.append(Result(title, least(first, 2), "s", target=target))
    os.environ["DQDYN_CACHE"] = before
    return results


def _peer(case: Case, function: Any, inputs: int) -> Timed:
    names = {"f": function, "m": case.model, "d": case.data}
    names |= dict(zip("qva", case.theirs[:inputs], strict=False))
    return Timed(f"f(m, d, {', '.join('qva'[:inputs])})", names, 200)


def _same(a: np.ndarray, b: np.ndarray) -> None:
    if np.abs(a - b).max() > 1e-9 * np.abs(b).max():
        raise SystemExit(f"the results differ by {np.abs(a - b).max():.3g}: this would compare different things")
