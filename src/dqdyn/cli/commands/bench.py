"""``dqdyn bench``: how fast the functions of a robot are on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import numpy as np
from rich.console import RenderableType

from dqdyn.arrays import Array
from dqdyn.cli import bench_peers
from dqdyn.cli.command import Answer, command
from dqdyn.cli.options import option, state_of
from dqdyn.cli.screen import Steps, TextTable, escape, indented, table
from dqdyn.cli.timing import Call, duration, machine, side_by_side
from dqdyn.compile.runtime.function import Function
from dqdyn.robot import Robot

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix")
BATCH = 1000


@command("Compare and measure", robot="arm7")
def bench(
    robot: Robot, seconds: Annotated[float, option("Time for each comparison.", min=0.01)] = 0.5
) -> Iterator[Answer]:
    """Time a robot's dynamics: compiled, on NumPy, and in other libraries where they are installed.

    NumPy runs the same program as the compiled code. Pinocchio runs its own algorithms and MuJoCo its own simulation,
    after a check that their results equal ours. Each time is the minimum over many rounds in which all take turns.

    [dim]Examples:[/]

    \b
      dqdyn bench
      dqdyn bench humanoid --seconds 2
      dqdyn bench robot.urdf --base free --json
    """
    with Steps(len(FUNCTIONS) + 2) as steps:
        data = bench_of(robot, seconds, steps)
    yield data, _drawn(data)


def bench_of(robot: Robot, seconds: float, steps: Steps) -> dict[str, Any]:
    """Everything that is measured, as plain data; times in s."""
    steps.at("compiling")
    state = random_state(robot)
    ours = {name: robot.function(name)(*_inputs(name, robot, *state)) for name in FUNCTIONS[:3]}
    peer = bench_peers.pinocchio(robot, *state, ours)
    rows = []
    for name in FUNCTIONS:
        steps.at(f"timing {name}")
        rows.append(function_speed(robot, name, state, seconds, peer.calls.get(name)))
    steps.at("timing the simulation")
    data = {"robot": robot.name, "nv": robot.nv, "batch": BATCH, "functions": rows, "pinocchio_reason": peer.reason}
    simulation = bench_peers.simulation(robot, seconds) if robot.nv else None
    return {**data, "simulation": simulation, "machine": machine()}


def random_state(robot: Robot) -> tuple[Array, Array, Array]:
    """q, v and a, always the same ones."""
    q, v, a = state_of(robot, 0, q=None, v=None, a=None)
    return q, v, a


def function_speed(
    robot: Robot, name: str, state: Sequence[Array], seconds: float, peer: Call | None = None
) -> dict[str, Any]:
    """Seconds per state of a function, compiled and on NumPy: for one state, and for each of a batch."""
    compiled, program = robot.function(name), robot.program(name)
    on_numpy = Function(program, native=False)
    one = _inputs(name, robot, *state)
    many = [np.tile(x, (BATCH, 1)) for x in one]
    out, outs = np.zeros(program.shape), np.zeros((BATCH, *program.shape))
    calls: dict[str, Call] = {
        "native": Call(compiled, *one, out=out),
        "numpy": Call(on_numpy, *one, out=out),
        "native_batch": Call(compiled, *many, out=outs),
        "numpy_batch": Call(on_numpy, *many, out=outs),
    }
    if peer is not None:
        calls["pinocchio"] = peer
    times = side_by_side(calls, seconds)
    times |= {key: times[key] / BATCH for key in ("native_batch", "numpy_batch")}
    return {"function": name, **times, "pinocchio": times.get("pinocchio"), "operations": program.counts.total}


def _inputs(name: str, robot: Robot, q: Array, v: Array, a: Array) -> list[Array]:
    """What the function takes; forward dynamics gets the forces that belong to the acceleration."""
    values = {"q": q, "v": v, "a": a}
    if name == "forward_dynamics":
        values["tau"] = robot.inverse_dynamics(q, v, a)
    return [values[name] for name, _ in robot.program(name).inputs]


# --- for people -------------------------------------------------------------------------------------------------------


def _drawn(data: dict[str, Any]) -> Iterator[RenderableType]:
    yield f"[bold]{escape(data['robot'])}[/]: nv = {data['nv']}\n"
    yield indented(speed_table(data["functions"], data["batch"]))
    if data["pinocchio_reason"]:
        yield f"  Pinocchio: {escape(data['pinocchio_reason'])}\n"
    if data["simulation"] is not None:
        yield indented(_simulation(data["simulation"]))
    yield "  " + escape(", ".join(f"{fact}: {value}" for fact, value in data["machine"].items()))


def speed_table(rows: Sequence[dict[str, Any]], batch: int) -> TextTable:
    """Times and how many times as fast the compiled code is."""
    single, batched = ("compiled", "NumPy", "times"), (f"in a batch of {batch}", "NumPy, batch", "times ")
    columns = ("function", "operations", *single, *batched, "Pinocchio")
    drawn = []
    for row in rows:
        peer = row["pinocchio"]
        theirs = "" if peer is None else f"{duration(peer)} ({ratio(peer, row['native'])})"
        drawn.append((row["function"], str(row["operations"]), *speed_cells(row), theirs))
    return table("Time per state", columns, drawn, right=columns[1:])


def speed_cells(row: dict[str, Any]) -> list[str]:
    """Time of the compiled code, on NumPy, and their ratio: for one state, and for each of a batch."""
    pairs = [(row[f"native{which}"], row[f"numpy{which}"]) for which in ("", "_batch")]
    return [cell for fast, slow in pairs for cell in (duration(fast), duration(slow), ratio(slow, fast))]


def ratio(slow: float, fast: float) -> str:
    """How many times as long the slower one takes."""
    times = slow / fast
    return f"{times:.0f} ×" if times >= 100 else f"{times:.3g} ×"


def _simulation(data: dict[str, Any]) -> RenderableType:
    one, each, engine = data["one"], data["each_of_batch"], data["mujoco"]
    rows = [("one robot", duration(one)), (f"in a batch of {data['batch']}", duration(each))]
    if engine is not None:
        times = f"{ratio(engine, one)}, {ratio(engine, each)} in a batch"
        rows.append(("MuJoCo's mj_step", f"{duration(engine)} ({times})"))
    else:
        rows.append(("MuJoCo", data["mujoco_reason"]))
    return table("Time per step of a simulation, Runge-Kutta 4", ("what", "time"), rows)
