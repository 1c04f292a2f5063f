"""Check the installed project on the Python that runs this: import, calls, batches, threads, pickling, the demo.

Prints what it did, and fails loudly: a wrong result, a warning, or Python code inside a call that should be one jump
into machine code. With --fallback, for interpreters without that fast path, one warning is accepted, and shown.
"""

from __future__ import annotations

import argparse
import copy
import functools
import inspect
import multiprocessing
import os
import pickle
import platform
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

FUNCTIONS = {"mass_matrix": 1, "gravity_forces": 1, "inverse_dynamics": 3, "forward_dynamics": 3}  # name: inputs
THREADS, STATES, LIMIT = 8, 1000, 120.0  # LIMIT in s: what takes longer hangs

WARNED: list[str] = []  # what was warned of since the start


def check(holds: bool, claim: str) -> None:
    """Fails even under ``python -O``."""
    if not holds:
        raise SystemExit(f"FAILED: {claim}")


def close(a: Any, b: Any, claim: str) -> None:
    check(np.shape(a) == np.shape(b) and bool(np.allclose(a, b, rtol=1e-10, atol=1e-10)), claim)


def states(robot: Any, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    q = np.array([robot.random_configuration(rng) for _ in range(n)])
    return q, rng.normal(size=(n, robot.nv)), rng.normal(size=(n, robot.nv))


def python_calls(function: Callable[[], object]) -> int:
    """How many functions written in Python a call runs."""
    count = 0

    def seen(_frame: Any, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(seen)
    try:
        function()
    finally:
        sys.setprofile(None)
    return count


# --- the checks: each returns what it did ----------------------------------------------------------------------------
def importing(_: bool) -> str:
    import dqdyn

    where = Path(dqdyn.__file__)
    check("site-packages" in where.parts, f"the installed package is checked, not {where}")
    check(all(hasattr(dqdyn, name) for name in dqdyn.__all__), "every public name is there")
    return f"{len(dqdyn.__all__)} public names"


def single_calls(fallback: bool) -> str:
    """M a + h = τ, forward ∘ inverse = identity, bound = plain, and no Python code between caller and machine code."""
    import dqdyn as dq

    robot = dq.robots.arm7()
    q, v, a = (x[0] for x in states(robot, 1))
    bound = {name: robot.function(name) for name in FUNCTIONS}
    torque = robot.inverse_dynamics(q, v, a)
    close(bound["inverse_dynamics"](q, v, a), torque, "a bound function equals the method")
    inertia = bound["mass_matrix"](q) @ a + robot.inverse_dynamics(q, v, 0 * a)
    close(inertia, torque, "M(q) a + h(q, v) is the torque")
    close(bound["forward_dynamics"](q, v, torque), a, "forward dynamics inverts inverse dynamics")
    out = np.empty((robot.nv, robot.nv))
    check(bound["mass_matrix"](q, out=out) is out, "out= is filled and returned")
    for _ in range(10_000):  # references that are lost or kept show here
        bound["mass_matrix"](q, out=out)
        robot.mass_matrix(q)
    close(out, robot.mass_matrix(q), "the last of many calls is as good as the first")
    for bad in (q[:-1], q * np.nan, "q", None, [q]):
        try:
            bound["mass_matrix"](bad)
        except dq.Error:
            continue
        check(np.shape(bad) == (1, robot.nv), f"{bad!r} is refused")
    calls = {}
    for name, n in FUNCTIONS.items():
        bound[name](*(q, v, a)[:n])
        calls[name] = python_calls(functools.partial(bound[name], *(q, v, a)[:n]))
    slow = any(calls.values())
    check(fallback or not slow, f"bound calls run no Python code: {calls}")
    check(not slow or bool(WARNED), f"a slower path says so: {calls}")
    return f"{len(FUNCTIONS)} functions of arm7; Python functions within a bound call: {sum(calls.values())}"


def batches(_: bool) -> str:
    import dqdyn as dq

    robot = dq.robots.arm7()
    inputs = states(robot, STATES)
    for name, n in FUNCTIONS.items():
        f = robot.function(name)
        rows = np.array([f(*row) for row in zip(*inputs[:n], strict=True)])
        for count in (1, 2, 3):
            close(f(*inputs[:n], threads=count), rows, f"{name} on {count} threads equals one state after the other")
    return f"{STATES} states of {robot.name} on 1, 2 and 3 threads"


def threads(_: bool) -> str:
    """Threads that meet at the first use of a robot, then call together."""
    import dqdyn as dq

    robot, reference = dq.robots.arm7(), dq.robots.arm7()
    inputs = states(robot, 50)
    expected = {name: reference.function(name)(*inputs[:n]) for name, n in FUNCTIONS.items()}
    start = threading.Barrier(THREADS)
    wrong: list[str] = []

    def work() -> None:
        start.wait(LIMIT)
        for name, n in FUNCTIONS.items():
            for _ in range(20):
                one = getattr(robot, name)(*(x[7] for x in inputs[:n]))
                many = robot.function(name)(*inputs[:n], threads=2)
                if not (np.allclose(one, expected[name][7]) and np.allclose(many, expected[name])):
                    wrong.append(f"{name} differs")

    def noted() -> None:
        try:
            work()
        except BaseException as error:
            wrong.append(repr(error))

    workers = [threading.Thread(target=noted, daemon=True) for _ in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(LIMIT)
    check(not any(worker.is_alive() for worker in workers), "threads come to an end")
    check(not wrong, f"threads compute the same: {sorted(set(wrong))}")
    return f"{THREADS} threads"


def pickling(_: bool) -> str:
    """Robots and their methods are the same things before and after the first call, here and in other processes."""
    import dqdyn as dq

    robot = dq.robots.arm7()
    q = states(robot, 4)[0]
    before = str(inspect.signature(robot.mass_matrix))
    expected = np.array([robot.mass_matrix(row) for row in q])
    check(str(inspect.signature(robot.mass_matrix)) == before, "a method keeps its signature")
    check(functools.wraps(robot.mass_matrix)(lambda: None).__name__ == "mass_matrix", "a method can be wrapped")
    for other in (copy.copy(robot), copy.deepcopy(robot), pickle.loads(pickle.dumps(robot))):
        close(other.mass_matrix(q[0]), expected[0], "a copied robot computes the same")
    close(pickle.loads(pickle.dumps(robot.mass_matrix))(q[0]), expected[0], "a method survives pickling")
    methods = [m for m in ("spawn", "forkserver") if m in multiprocessing.get_all_start_methods()]
    for method in methods:
        with multiprocessing.get_context(method).Pool(2) as pool:
            masses = pool.map_async(robot.mass_matrix, list(q)).get(LIMIT)
        close(np.array(masses), expected, f"Pool.map by {method}")
    return f"copy, pickle, Pool.map by {' and '.join(methods)}"


def second_process(fallback: bool) -> str:
    """Another process takes the code from the cache that this one wrote; no address of this process may be in there."""
    command = [sys.executable, __file__, "--calls-only", *(["--fallback"] if fallback else [])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    check(done.returncode == 0, f"a second process fails:\n{done.stdout}\n{done.stderr}")
    return "calls with code from the cache"


def demo(_: bool) -> str:
    with tempfile.TemporaryDirectory() as folder:
        command = [str(Path(sys.executable).with_name("dqdyn")), "demo", "--output", folder]
        done = subprocess.run(command, capture_output=True, text=True, timeout=5 * LIMIT)
        check(done.returncode == 0, f"dqdyn demo fails:\n{done.stdout}\n{done.stderr}")
        pages = sorted(path.name for path in Path(folder).iterdir())
    return f"dqdyn demo wrote {', '.join(pages)}"


CHECKS = (importing, single_calls, batches, threads, pickling, second_process, demo)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fallback", action="store_true", help="accept one warning and slower calls")
    parser.add_argument("--calls-only", action="store_true", help="check single calls, nothing else")
    options = parser.parse_args()
    fallback = options.fallback
    lock = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, the global lock is {'on' if lock else 'off'}")
    with warnings.catch_warnings():
        warnings.simplefilter("always" if fallback else "error")
        warnings.showwarning = lambda message, *_, **__: WARNED.append(str(message))
        for one in (single_calls,) if options.calls_only else CHECKS:
            begin = time.perf_counter()
            did = one(fallback)
            print(f"  {one.__name__.replace('_', ' '):15} {did} ({time.perf_counter() - begin:.1f} s)", flush=True)
    for warning in WARNED:
        print(f"  warned: {warning}")
    check(len(WARNED) <= 1, "at most one warning")
    if not lock:
        check(not sys._is_gil_enabled(), "nothing that was imported has switched the global lock on")  # type: ignore
    print("All of it works.")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("DQDYN_CACHE_DIR", tempfile.mkdtemp())
    sys.exit(main())
