"""MuJoCo as plant: the controller of a simulation runs against the physics engine, with contacts."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error, ModelWarning, missing_extra, unknown_name
from dqdyn.formats.mjcf.writer import write_mjcf
from dqdyn.model.layouts import Layout
from dqdyn.robot import Robot
from dqdyn.simulate.assembly import assembled
from dqdyn.simulate.engine_warnings import first_warning
from dqdyn.simulate.loops import alive
from dqdyn.simulate.problem import TOO_FAST, Problem, is_whole, joint_of, number, shown
from dqdyn.simulate.progress import Progress
from dqdyn.simulate.record import Record, completed
from dqdyn.simulate.system import law_forces
from dqdyn.simulate.trajectory import Trajectory

_MOST_SUBSTEPS = 10**9
METHODS = ("Euler", "RK4", "implicit", "implicitfast")


def imported_engine(what: str) -> Any:
    """The module ``mujoco``; an error that says how to install it for ``what``."""
    try:
        import mujoco
    except ImportError:
        raise missing_extra("mujoco", "mjcf", what) from None
    return mujoco


def engine_model(
    robot: Robot, timestep: float, *, ground: float | None = None, limits: bool = True, method: str = "Euler"
) -> Any:
    """A ``mujoco.MjModel`` of the robot.

    ``ground`` is the height in m of a horizontal plane that collision shapes touch; None leaves it out. ``limits``:
    whether joints stop at their limits. ``method`` is MuJoCo's integrator.
    """
    mujoco = imported_engine("plant='mujoco'")
    if not isinstance(method, str) or method not in METHODS:
        raise Error(f"MuJoCo's integrators are {', '.join(METHODS)}; found {shown(method)}.", method=method)
    if not isinstance(limits, (bool, np.bool_)):
        raise Error(f"limits is True or False; found {shown(limits)}.", argument="limits")
    if ground is not None:
        ground = number("ground", ground, "a finite height in m")
    if robot.constraints:
        name = robot.constraints[0].name
        what = f"plant='mujoco' does not simulate our constraints, and {robot.name!r} has {name!r}"
        remedy = "describe what holds the robot by shapes in contact, or run robot.without_constraints()"
        raise Error(f"{what}: {remedy}.", constraint=name)
    root = ET.fromstring(write_mjcf(robot.model))
    if ground is not None:
        place = {"name": "dqdyn:ground", "type": "plane", "size": "0 0 1", "pos": f"0 0 {ground!r}"}
        ET.SubElement(next(root.iter("worldbody")), "geom", place)
    model = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    model.opt.timestep = timestep
    model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{method.upper()}")
    # When MuJoCo detects an unstable state, it would reset the robot to its neutral state and continue.
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    if not limits:
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    return model


def run(
    problem: Problem,
    controller: Any,
    progress: bool | None = None,
    *,
    substeps: int = 1,
    ground: float | None = None,
    limits: bool = True,
    method: str = "Euler",
    **unknown: Any,
) -> Trajectory:
    """The trajectory of the engine: ``substeps`` of it per ``dt``, and :func:`engine_model`'s options.

    ``a`` is the engine's acceleration, contacts included. ``extra`` has the number of "contacts" and the generalized
    "contact_forces" (n, nv) of contacts and limits at each sample.
    """
    if unknown:
        raise unknown_name("option of plant='mujoco'", next(iter(unknown)), ("substeps", "ground", "limits", "method"))
    if problem.batch:
        raise Error("plant='mujoco' runs one state at a time: pass q0 of shape (nq,).")
    if not is_whole(substeps, _MOST_SUBSTEPS):
        whole = f"a whole number from 1 to {_MOST_SUBSTEPS:g}"
        raise Error(f"substeps is how many steps of MuJoCo make one dt, {whole}; found {shown(substeps)}.")
    about = {"plant": "mujoco", "method": method, "substeps": substeps, "ground": ground, "limits": limits}
    record = Record.begin(problem, controller, **about)
    if record.actuation.level == "velocity":
        raise Error("plant='mujoco' takes forces, but the controller gives velocities: wrap it in a torque controller.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # what is left out has no part in the dynamics
        model = engine_model(problem.robot, problem.dt / substeps, ground=ground, limits=limits, method=method)
    plant = _Plant(record, model, problem.robot.to_mujoco(model), substeps)

    def steps() -> None:
        with Progress(problem.steps, f"simulating {problem.robot.name} in MuJoCo", progress) as bar:
            plant.all_steps(bar)

    return completed(steps, record.stop, plant.trajectory)


class _Plant:
    """MuJoCo's state, and what was seen of it."""

    def __init__(self, record: Record, model: Any, layout: Layout, substeps: int) -> None:
        import mujoco

        self.record, self.problem, self.actuation = record, record.problem, record.actuation
        self.model, self.layout, self.substeps = model, layout, substeps
        self.engine = mujoco
        # After a step of one stage the acceleration is that at its start; after four it is that of the last.
        self.asks_first = int(model.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4)
        self.data = mujoco.MjData(model)
        self.q, self.v = self.problem.q0[0], self.problem.v0[0]
        self.data.qpos[:], self.data.qvel[:] = layout.q(self.q), layout.v(self.q, self.v)
        record.states.append(self.problem.state0[None])
        self.doubt = ""
        self.a: list[Array] = []
        self.extra: dict[str, list[Any]] = {"contacts": [], "contact_forces": []}

    def all_steps(self, bar: Progress) -> None:
        """Ask, act, record."""
        p, asked = self.problem, self.actuation.asked
        for k in range(p.steps + 1):
            t = p.start + k * p.dt
            if k:
                self.q = self.layout.q_from(self.data.qpos)
                self.v = self.layout.v_from(self.q, self.data.qvel)
            if not alive(np.concatenate([self.q, self.v]), p.robot.nq):
                fastest = joint_of(p.robot.model, int(np.argmax(np.nan_to_num(np.abs(self.v), nan=np.inf))))
                self._diverged(t - p.dt, f"joint {fastest!r} moves faster than {TOO_FAST:g} rad/s or m/s")
                return
            force = self._force(k, t)
            recorded = p.is_sample(k)
            if recorded:
                if k:
                    self.record.states.append(np.concatenate([self.q, self.v])[None, None])
                if asked is not None:
                    self.record.tau.append(np.array(force)[None, None])
                    asked.note()
                bar.at(k)
            self.data.qfrc_applied[:] = self.layout.tau(self.q, force + self._outside(k))
            self._advance(recorded, last=k == p.steps)
            warning = first_warning(self.model, self.data)
            if warning is None:
                continue
            if warning.unstable:
                self._diverged(t, f"MuJoCo warns that {warning.text}")
                return
            self.doubt = self.doubt or f"doubtful: MuJoCo warns at t = {t:.6g} s that {warning.text}."

    def trajectory(self) -> Trajectory:
        """What was recorded; a sample that was begun gets its acceleration."""
        while len(self.a) < len(self.record.states):
            self.engine.mj_forward(self.model, self.data)
            self._record()
        self.record.measured = np.array(self.a)[:, None]
        trajectory = assembled(self.record)
        status = self.doubt if trajectory.status == "finished" and self.doubt else trajectory.status
        extra = {name: np.array(values)[: len(trajectory)] for name, values in self.extra.items()}
        return replace(trajectory, extra={**trajectory.extra, **extra}, status=status)

    def _diverged(self, t: float, why: str) -> None:
        cause = f"the step of {self.model.opt.timestep:g} s is too large for these forces"
        remedy = "take a smaller step, more substeps or another method"
        self.record.stop(f"diverged after t = {t:.6g} s: {why}; {cause}: {remedy}.")

    def _advance(self, recorded: bool, last: bool) -> None:
        if recorded and (last or self.asks_first):
            self.engine.mj_forward(self.model, self.data)
            self.engine.mj_checkAcc(self.model, self.data)
            self._record()
        for i in range(0 if last else self.substeps):
            self.engine.mj_step(self.model, self.data)
            if recorded and i == 0 and not self.asks_first:
                self._record()

    def _record(self) -> None:
        """What the engine computed at the state from which it stepped."""
        self.a.append(self.layout.a_from(self.q, self.v, self.data.qacc))
        self.extra["contacts"].append(int(self.data.ncon))
        self.extra["contact_forces"].append(self.layout.tau_from(self.q, self.data.qfrc_constraint))

    def _force(self, k: int, t: float) -> Array:
        law, asked, tau = self.actuation.law, self.actuation.asked, self.actuation.tau
        if asked is not None:
            return np.asarray(asked(t, self.q[None], self.v[None])[0])
        if law is not None:
            forces = law_forces(law, self.problem.robot.model, t, self.q.tolist(), self.v.tolist())
            return np.array([float(x) for x in forces])
        return np.asarray(tau[min(k, len(tau) - 1), 0])

    def _outside(self, k: int) -> Array | float:
        """Wrenches as generalized forces, by our Jacobians."""
        p, total = self.problem, np.zeros(self.problem.robot.nv)
        for i, frame in enumerate(p.frames):
            f = p.wrenches[min(k, len(p.wrenches) - 1), 0, 6 * i : 6 * i + 6]
            jacobian = p.robot.function("twist_jacobian", frame=frame, expressed=p.expressed)(self.q)
            total += jacobian.T @ np.concatenate([f[3:], f[:3]])  # twists are [ω, v], wrenches [f, τ]
        return total
