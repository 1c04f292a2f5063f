"""What the first call of each function costs on Talos with a free base: cold, from the cache, and phase by phase.

Every function is compiled in this process with the cache off, so that modules are imported and LLVM is awake, and is
then loaded from a cache in a fresh process. The notes have the phases in ms: tracing with its passes, emission of
IR, LLVM's parser and verifier, code generation (the sum over all cores), loading.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.measure import Result
from benchmarks.robots import talos

HANDS = {"frame": "gripper_left_joint", "frame1": "gripper_left_joint", "frame2": "gripper_right_joint"}
DYNAMICS = ("inverse_dynamics", "forward_dynamics")
COLD, COLD_DYNAMICS, CACHED = 1.5, 0.25, 0.05
PHASES = ("trace", "emit", "parse", "verify", "generate", "load")
LENGTHS = {200: (None, None), 1000: (4.0, 4.0)}
"""Joints of chains whose dynamics are traced, and the s that may take."""


def run() -> list[Result]:
    """Seconds of the first call of every function: cold, then from the cache; and to trace long chains."""
    return [*cold(), *cached(), *chains()]


def functions(robot: Any) -> dict[str, dict[str, str]]:
    """Every function of the catalog with the frames that it needs."""
    table = robot._functions.variables.functions
    return {name: {o: f for o, f in HANDS.items() if o in function.options} for name, function in table.items()}


def cold() -> list[Result]:
    """Without a cache."""
    with mock.patch.dict(os.environ, DQDYN_CACHE="0"), _measured() as seconds:
        robot = talos()[0]
        robot.function("center_of_mass")
        robot = talos()[0]  # nothing traced yet, but all modules imported
        results = []
        for name, options in functions(robot).items():
            seconds.clear()
            start = time.perf_counter()
            robot.function(name, **options)
            total = time.perf_counter() - start
            count = len(robot.program(name, **options).instructions)
            note = ", ".join(f"{phase} {1e3 * seconds[phase]:.0f}" for phase in PHASES)
            note += f"; {1e6 * seconds['trace'] / count:.0f} and {1e6 * seconds['generate'] / count:.0f} µs a line"
            target = COLD_DYNAMICS if name in DYNAMICS else COLD
            results.append(Result(f"{name}, cold", total, "s", target=target, note=note))
    return sorted(results, key=lambda result: -result.measured)


@contextmanager
def _measured() -> Iterator[dict[str, float]]:
    """Seconds of each phase since the dictionary was cleared."""
    import llvmlite.binding as llvm

    from dqdyn.compile.codegen import kernels
    from dqdyn.compile.runtime import compiler, native
    from dqdyn.robot.compiled_functions import CompiledFunctions

    seconds: dict[str, float] = defaultdict(float)

    def timed(phase: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            start = time.thread_time()
            try:
                return function(*given, **named)
            finally:
                seconds[phase] += time.thread_time() - start

        return call

    with (
        mock.patch.object(CompiledFunctions, "program", timed("trace", CompiledFunctions.program)),
        mock.patch.object(kernels, "scalar_kernel", timed("emit", kernels.scalar_kernel)),
        mock.patch.object(llvm, "parse_assembly", timed("parse", llvm.parse_assembly)),
        mock.patch.object(llvm.ModuleRef, "verify", timed("verify", llvm.ModuleRef.verify)),
        mock.patch.object(compiler, "_emitted", timed("generate", compiler._emitted)),
        mock.patch.object(native.Library, "_loaded", timed("load", native.Library._loaded)),
    ):
        yield seconds


_CACHED = """
import json, time
from benchmarks.first_call import functions
from benchmarks.robots import talos
robot = talos()[0]
seconds = {}
for name, options in functions(robot).items():
    start = time.perf_counter()
    robot.function(name, **options)
    seconds[name] = time.perf_counter() - start
print(json.dumps(seconds))
"""


def cached() -> list[Result]:
    """From the cache, in a fresh process; the first function of all pays for the imports."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "DQDYN_CACHE": "1", "DQDYN_CACHE_DIR": folder}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode

        def seconds() -> dict[str, float]:
            command, here = [sys.executable, "-c", _CACHED], Path(__file__).parents[1]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, cwd=here)
            found: dict[str, float] = json.loads(done.stdout)
            return found

        seconds()
        rounds = [seconds() for _ in range(3)]
    least = {name: min(found[name] for found in rounds) for name in rounds[0]}
    worst = sorted(least.items(), key=lambda item: -item[1])
    return [Result(f"{name}, from the cache", s, "s", target=CACHED) for name, s in worst]


def chains() -> list[Result]:
    """To trace the dynamics of long chains, in s of processor time."""
    import dqdyn as dq

    results = []
    for joints, targets in LENGTHS.items():
        robot = dq.robots.chain(joints, seed=1)
        compiled = robot._functions
        for name, target in zip(DYNAMICS, targets, strict=True):
            start = time.thread_time()
            program = compiled.program(*compiled.named(name, {}))
            seconds = time.thread_time() - start
            note = f"{1e6 * seconds / len(program.instructions):.1f} µs a line"
            results.append(Result(f"chain of {joints}: trace {name}", seconds, "s", target=target, note=note))
    return results
