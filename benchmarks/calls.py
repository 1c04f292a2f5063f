"""Every function of the catalog on the Panda and the Talos: plain methods beyond bound ones, and batches by floors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.floors import floor
from benchmarks.measure import Result, Timed, side_by_side
from benchmarks.robots import panda, talos

ROWS = 1024
LARGEST = 20_000  # operations; longer programs take long to compile
MOST_BEYOND = 100.0  # ns
MOST_OF_FLOOR = 2.0
ROBOTS: dict[str, Callable[[], tuple[Any, Any]]] = {"panda": panda, "talos": talos}
VALUES = ("pose", "poses", "twist", "twist_rate", "point_on", "line_on", "plane_on", "relative_pose", "absolute_pose")
"""Functions whose methods give values instead of arrays."""


def run() -> list[Result]:
    """Worst first, robot by robot."""
    results = []
    for name, make in ROBOTS.items():
        robot, _ = make()
        found = [result for function in robot._functions.variables.functions for result in _measured(robot, function)]
        found.sort(key=lambda result: -(result.measured / (result.target or 1.0)))
        results += [Result(f"{name} {r.name}", r.measured, r.unit, r.target, note=r.note) for r in found]
    return results


def _measured(robot: Any, function: str) -> list[Result]:
    entry = robot._functions.variables.functions[function]
    frames = list(robot.frames)
    options = {"frame": frames[-1], "frame1": frames[-1], "frame2": frames[1]}
    options = {o: f for o, f in options.items() if o in entry.options}
    if entry.divides and robot.nv > 16 and entry.plain == "parts":
        return []
    program = robot.program(function, **options)
    if program.counts.total > LARGEST:
        return []
    bound, given = robot.function(function, **options), _inputs(robot, program, ())
    names: dict[str, object] = {"f": bound, "r": robot, **{f"x{i}": x for i, x in enumerate(given)}}
    names |= {f"y{i}": frame for i, frame in enumerate(options.values())}
    inputs = [f"x{i}" for i in range(len(given))]
    results = []
    if function not in VALUES:
        plain = f"r.{entry.method or function}({', '.join([*(f'y{i}' for i in range(len(options))), *inputs])})"
        once, method = side_by_side(Timed(f"f({', '.join(inputs)})", names), Timed(plain, names), rounds=20)
        results.append(Result(f"{function}, plain beyond bound", method - once, "ns", MOST_BEYOND))
    many: dict[str, object] = {f"x{i}": x for i, x in enumerate(_inputs(robot, program, (ROWS,)))}
    many |= {"f": bound, "out": np.empty((ROWS, *program.shape))}
    time = side_by_side(Timed(f"f({', '.join(inputs)}, out=out)", many, 1, untimed=1), rounds=20)[0] / ROWS
    least = floor(program, ROWS)
    note = f"{time:.1f} ns per state; {least}"
    most = MOST_OF_FLOOR if len(program.outputs) > 3 * robot.nv else None
    results.append(Result(f"{function}, batch of {ROWS} by its floor", time / least.larger, "", most, note=note))
    return results


def _inputs(robot: Any, program: Any, batch: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(0)
    values: list[Any] = []
    for name, size in program.inputs:
        if name in ("q", "q1"):
            states = np.array([robot.random_configuration(rng) for _ in range(int(np.prod(batch)))])
            values.append(states.reshape(*batch, size))
        elif name in ("t", "dt"):
            values.append(0.01)
        elif name == "goal":
            values.append(np.broadcast_to([1.0, *[0.0] * (size - 1)], (*batch, size)).copy())
        else:
            values.append(rng.normal(size=(*batch, size)))
    return values
