"""Simulation: time per step against MuJoCo's ``mj_step`` on the same robots with the same order of integration.

MuJoCo steps in its own native loop (``nstep``), without contacts and limits, from the MJCF that dqdyn writes; one
thread each. Batches are compared with the same MuJoCo time, for it has no other way on one core.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.measure import Result, Timed, side_by_side
from dqdyn.compile.runtime.rollout_runner import Runner
from dqdyn.robot import Robot
from dqdyn.robots.builders import arm7, chain, humanoid, two_link
from dqdyn.simulate.integrators import INTEGRATORS
from dqdyn.simulate.mujoco_plant import engine_model
from dqdyn.simulate.system import System

SINGLE, BATCH = 3.0, 15.0
"""How many times as fast one robot and a batch on one core are to be."""
STEPS, RUNS, DT = 500, 64, 1e-4
PAIRS = (("semi-implicit-euler", "Euler"), ("rkmk4", "RK4"))


def cases() -> list[Robot]:
    """From two to 33 degrees of freedom; the last floats."""
    return [two_link(), arm7(), chain(20), humanoid()]


def run() -> list[Result]:
    """Two results per robot and integrator; none without MuJoCo."""
    try:
        import mujoco
    except ImportError:
        return []
    results = []
    for robot in cases():
        for ours, theirs in PAIRS:
            results += _compared(mujoco, robot, ours, theirs)
    return results


def _compared(mujoco: Any, robot: Robot, ours: str, theirs: str) -> list[Result]:
    model = engine_model(robot, DT, limits=False, method=theirs)
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(model)
    q0 = robot.random_configuration(np.random.default_rng(1))
    layout = robot.to_mujoco(model)
    q, v = layout.q(q0), np.zeros(model.nv)

    def reset() -> None:
        data.qpos[:], data.qvel[:] = q, v

    integrator = INTEGRATORS[ours]()
    system = System(robot)
    rollout = integrator.rollout(system)
    start = np.concatenate([q0, np.zeros(rollout.size - robot.nq)])[None]
    inputs = np.zeros((1, 1, rollout.inputs))

    def single() -> None:
        Runner(rollout, start, 0.0, DT, every=STEPS, batch=False).run(inputs, STEPS)

    many = np.repeat(start, RUNS, axis=0)

    def batch() -> None:
        Runner(rollout, many, 0.0, DT, every=STEPS, batch=True).run(inputs, STEPS)

    def engine() -> None:
        reset()
        mujoco.mj_step(model, data, STEPS)

    single(), batch(), engine()
    names = {"single": single, "batch": batch, "engine": engine}
    times = side_by_side(*(Timed(f"{name}()", {name: f}, 1) for name, f in names.items()), rounds=40)
    one, each, peer = times[0] / STEPS, times[1] / STEPS / RUNS, times[2] / STEPS
    note = " + ".join(str(p.counts.total) for p in rollout.programs) + f" operations × {len(rollout.order)}"
    what = f"{robot.name} ({robot.nv} dof), {ours}"
    common = {"unit": "ns per step", "peer": f"mj_step {theirs}", "peer_measured": peer}
    return [
        Result(f"{what}, one robot", one, at_least=SINGLE, note=note, **common),
        Result(f"{what}, batch of {RUNS}", each, at_least=BATCH, **common),
    ]
