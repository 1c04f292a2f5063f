"""The same functions by other libraries, where they are installed and know the robot; results are compared first."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.cli.timing import Call, side_by_side
from dqdyn.errors import Error, MissingExtraError, ModelWarning
from dqdyn.formats.urdf.writer import write_urdf
from dqdyn.robot import Robot

STEP, STEPS, RUNS = 1e-4, 100, 64


@dataclass
class Peer:
    """Another library: calls by the name of our function, and why some or all are missing."""

    calls: dict[str, Call] = field(default_factory=dict)
    reason: str = ""


def pinocchio(robot: Robot, q: Array, v: Array, a: Array, ours: dict[str, Any]) -> Peer:
    """rnea, aba and crba of Pinocchio on a URDF that we write; only those that give what ``ours`` holds by name."""
    try:
        import pinocchio as pin

        model = _pinocchio_model(pin, robot)
        layout = robot.to_pinocchio(model)
    except ImportError:
        return Peer(reason="not installed")
    except (Error, ValueError) as problem:
        return Peer(reason=str(problem))
    data, tau = model.createData(), np.asarray(ours["inverse_dynamics"])
    state = layout.q(q), layout.v(q, v)
    their_a, their_tau = layout.a(q, v, a), layout.tau(q, tau)

    def mass(upper: Array) -> Array:  # crba fills the upper triangle
        return layout.mass_matrix_from(q, np.triu(upper) + np.triu(upper, 1).T)

    candidates: dict[str, tuple[Any, tuple[Any, ...], Callable[[Any], Array]]] = {
        "inverse_dynamics": (pin.rnea, (*state, their_a), lambda x: layout.tau_from(q, x)),
        "forward_dynamics": (pin.aba, (*state, their_tau), lambda x: layout.a_from(q, v, x)),
        "mass_matrix": (pin.crba, state[:1], mass),
    }
    peer = Peer()
    for name, (function, inputs, back) in candidates.items():
        expected, theirs = np.asarray(ours[name]), back(function(model, data, *inputs))
        if np.abs(theirs - expected).max(initial=0.0) <= 1e-6 * max(1.0, np.abs(expected).max(initial=0.0)):
            peer.calls[name] = Call(function, model, data, *inputs)
    if len(peer.calls) < len(candidates):
        missing = ", ".join(sorted(set(candidates) - set(peer.calls)))
        peer.reason = f"results differ for {missing} (friction, or constraints)"
    return peer


def _pinocchio_model(pin: Any, robot: Robot) -> Any:
    roots = {"free": pin.JointModelFreeFlyer, "planar": pin.JointModelPlanar, "differential": pin.JointModelPlanar}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        path = Path(folder) / "robot.urdf"
        fixed = Robot.from_description(robot.description, base="fixed", mimic=robot.model.mimic)
        path.write_text(write_urdf(fixed.model), encoding="utf-8")
        root = () if robot.base == "fixed" else (roots[robot.base](),)
        return pin.buildModelFromUrdf(str(path), *root)


def simulation(robot: Robot, seconds: float) -> dict[str, Any]:
    """Seconds per step of Runge-Kutta 4 without controller: one robot, one of a batch, and MuJoCo's ``mj_step``."""
    from dqdyn.compile.runtime.rollout_runner import Runner
    from dqdyn.simulate.integrators import INTEGRATORS
    from dqdyn.simulate.system import System

    q0, v0 = robot.project(robot.neutral()) if robot.constraints else (robot.neutral(), np.zeros(robot.nv))
    rollout = INTEGRATORS["rkmk4"]().rollout(System(robot))
    state = np.concatenate([q0, v0])
    start = np.concatenate([state, np.zeros(rollout.size - len(state))])[None]
    inputs, many = np.zeros((1, 1, rollout.inputs)), np.repeat(start, RUNS, axis=0)

    def run(states: Array, batch: bool) -> None:
        Runner(rollout, states, 0.0, STEP, every=STEPS, batch=batch).run(inputs, STEPS)

    calls = {"one": Call(run, start, False), "batch": Call(run, many, True)}
    reason = ""
    try:
        calls["mujoco"] = _engine(robot, q0)
    except MissingExtraError:
        reason = "not installed"
    except Error as problem:
        reason = str(problem)
    times = {name: seconds / STEPS for name, seconds in side_by_side(calls, seconds).items()}
    data = {"one": times["one"], "each_of_batch": times["batch"] / RUNS, "batch": RUNS}
    return {**data, "mujoco": times.get("mujoco"), "mujoco_reason": reason}


def _engine(robot: Robot, q0: Array) -> Call:
    from dqdyn.simulate.mujoco_plant import engine_model

    if robot.constraints:
        raise Error("the engine does not know the constraints")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)
        model = engine_model(robot, STEP, limits=False, method="RK4")
    import mujoco

    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data, q = mujoco.MjData(model), robot.to_mujoco(model).q(q0)

    def steps() -> None:
        data.qpos[:], data.qvel[:] = q, 0.0
        mujoco.mj_step(model, data, STEPS)

    return Call(steps)
