"""``dqdyn bench``: how fast the functions of a robot are, here and now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import RenderableType

from dqdyn.cli import bench_peers
from dqdyn.cli.progress import Steps
from dqdyn.cli.robot_argument import BaseOption, NoMimicOption, RobotArgument, StrictOption, robot_of
from dqdyn.cli.screen import JsonOption, emit, escape, indented, table, warn
from dqdyn.cli.timing import Call, duration, machine, side_by_side
from dqdyn.compile.runtime.function import Function
from dqdyn.robot import Robot

FUNCTIONS = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "coriolis_matrix")
BATCH = 1000


def bench(
    source: RobotArgument = "arm7",
    seconds: Annotated[float, typer.Option("--seconds", min=0.01, help="Time for each comparison.")] = 0.5,
    base: BaseOption = None,
    no_mimic: NoMimicOption = False,
    strict: StrictOption = False,
    as_json: JsonOption = False,
) -> None:
    """Measure the speed of a robot's dynamics, compiled, on NumPy, and by other libraries where they are installed.

    NumPy runs the same program as the compiled code. Pinocchio runs its own algorithms and MuJoCo its own simulation,
    once their results are found to be ours. Times are the least of many rounds in which all take turns.

    [dim]Examples:[/]

    \b
      dqdyn bench
      dqdyn bench humanoid --seconds 2
      dqdyn bench robot.urdf --base free --json
    """
    robot = robot_of(source, base=base, mimic=not no_mimic, strict=strict)
    for text in robot.warnings:
        warn(text)
    with Steps(len(FUNCTIONS) + 2) as steps:
        data = bench_of(robot, seconds, steps)
    emit(data, lambda: _drawn(data), as_json)


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
    return {
        "robot": robot.name,
        "nv": robot.nv,
        "batch": BATCH,
        "functions": rows,
        "pinocchio_reason": peer.reason,
        "simulation": bench_peers.simulation(robot, seconds) if robot.nv else None,
        "machine": machine(),
    }


def random_state(robot: Robot) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v and a, always the same ones."""
    rng = np.random.default_rng(0)
    return robot.random_configuration(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


def function_speed(
    robot: Robot,
    name: str,
    state: Sequence[np.ndarray],
    seconds: float,
    peer: Call | None = None,
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
    found = side_by_side(calls, seconds)
    return {
        "function": name,
        "native": found["native"],
        "numpy": found["numpy"],
        "native_batch": found["native_batch"] / BATCH,
        "numpy_batch": found["numpy_batch"] / BATCH,
        "pinocchio": found.get("pinocchio"),
        "operations": program.counts.total,
    }


def _inputs(name: str, robot: Robot, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> list[np.ndarray]:
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


def speed_table(rows: Sequence[dict[str, Any]], batch: int) -> RenderableType:
    """Times and how many times as fast the compiled code is."""
    columns = (
        "function",
        "compiled",
        "NumPy",
        "times",
        f"in a batch of {batch}",
        "NumPy, batch",
        "times ",
        "Pinocchio",
    )
    drawn = []
    for row in rows:
        peer = row["pinocchio"]
        theirs = "" if peer is None else f"{duration(peer)} ({ratio(peer, row['native'])})"
        single = duration(row["native"]), duration(row["numpy"]), ratio(row["numpy"], row["native"])
        each = row["native_batch"], row["numpy_batch"]
        drawn.append((row["function"], *single, *map(duration, each), ratio(each[1], each[0]), theirs))
    return table("Time per state", columns, drawn, right=columns[1:])


def ratio(slow: float, fast: float) -> str:
    """How many times as long the slower one takes."""
    times = slow / fast
    return f"{times:.0f} ×" if times >= 100 else f"{times:.3g} ×"


def _simulation(found: dict[str, Any]) -> RenderableType:
    rows = [
        ("one robot", duration(found["one"])),
        (f"in a batch of {found['batch']}", duration(found["each_of_batch"])),
    ]
    engine = found["mujoco"]
    if engine is not None:
        times = f"{ratio(engine, found['one'])}, {ratio(engine, found['each_of_batch'])} in a batch"
        rows.append(("MuJoCo's mj_step", f"{duration(engine)} ({times})"))
    else:
        rows.append(("MuJoCo", found["mujoco_reason"]))
    return table("Time per step of a simulation, Runge-Kutta 4", ("what", "time"), rows)
