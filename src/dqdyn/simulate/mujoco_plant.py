"""MuJoCo as plant: the controller of a simulation runs against the physics engine, with contacts."""

from __future__ import annotations

import warnings
import xml.etree.ElementTree as ET
from dataclasses import fields, replace
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error, ModelWarning, missing_extra
from dqdyn.formats.mjcf.writer import write_mjcf
from dqdyn.model.layouts import mujoco_layout
from dqdyn.progress import Progress
from dqdyn.robot import Robot
from dqdyn.scenes.scene import Scene
from dqdyn.simulate.assembly import assembled
from dqdyn.simulate.engine_contacts import ContactReader, contact_series
from dqdyn.simulate.engine_options import EngineOptions
from dqdyn.simulate.engine_scene import add_to
from dqdyn.simulate.engine_scene_state import SceneState
from dqdyn.simulate.engine_state import EngineState
from dqdyn.simulate.engine_warnings import first_warning
from dqdyn.simulate.loops import alive, surely_alive
from dqdyn.simulate.observation import LinkContact, Observation
from dqdyn.simulate.problem import TOO_FAST, Problem, is_whole, joint_of, shown
from dqdyn.simulate.record import Record, completed
from dqdyn.simulate.system import law_forces
from dqdyn.simulate.trajectory import Trajectory

_MOST_SUBSTEPS = 10**9
_SCENE_IMPRATIO = 100.0


def imported_engine(what: str) -> Any:
    """The module ``mujoco``; an error that says how to install it for ``what``."""
    try:
        import mujoco
    except ImportError:
        raise missing_extra("mujoco", "mjcf", what) from None
    return mujoco


def engine_model(robot: Robot, timestep: float, *, q0: Array | None = None, **options: Any) -> Any:
    """A ``mujoco.MjModel`` of the robot, and of the scene around it.

    ``options`` are those of :class:`dqdyn.simulate.engine_options.EngineOptions`. ``q0`` (nq,), by default neutral, is
    the configuration at which ``welds`` and ``connects`` are made.
    """
    mujoco = imported_engine("plant='mujoco'")
    chosen = EngineOptions.of(robot, timestep, options)
    if robot.constraints:
        name = robot.constraints[0].name
        what = f"plant='mujoco' does not simulate our constraints, and {robot.name!r} has {name!r}"
        remedy = "describe what holds the robot by shapes in contact, or run robot.without_constraints()"
        raise Error(f"{what}: {remedy}.", constraint=name)
    root = ET.fromstring(write_mjcf(robot.model))
    for keyframe in root.findall("keyframe"):  # bodies of the scene may add coordinates that it lacks
        root.remove(keyframe)
    add_to(root, robot, chosen, timestep, robot.neutral() if q0 is None else q0)
    model = mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))
    model.opt.timestep = timestep
    _set_options(mujoco, model, chosen)
    return model


def _set_options(mujoco: Any, model: Any, chosen: EngineOptions) -> None:
    opt, scene = model.opt, chosen.scene is not None
    opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{chosen.method.upper()}")
    cone = chosen.cone or ("elliptic" if scene else "pyramidal")
    opt.cone = getattr(mujoco.mjtCone, f"mjCONE_{cone.upper()}")
    opt.impratio = chosen.impratio or (_SCENE_IMPRATIO if scene else 1.0)
    opt.solver = getattr(mujoco.mjtSolver, f"mjSOL_{chosen.solver.upper()}")
    opt.iterations, opt.tolerance = chosen.iterations, chosen.tolerance
    opt.noslip_iterations = chosen.noslip_iterations
    # When MuJoCo detects an unstable state, it would reset the robot to its neutral state and continue.
    opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    if not chosen.limits:
        opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    plain = model.geom_solmix <= 1.0  # what bounces is as hard as that takes
    if chosen.solref is not None:
        model.geom_solref[plain] = model.pair_solref[:] = chosen.solref
    if chosen.solimp is not None:
        size = len(chosen.solimp)
        model.geom_solimp[plain, :size] = model.pair_solimp[:, :size] = chosen.solimp


def run(
    problem: Problem, controller: Any, progress: bool | None = None, *, substeps: int = 1, **options: Any
) -> Trajectory:
    """The trajectory of the engine: ``substeps`` of it per ``dt``.

    ``options`` are those of :class:`dqdyn.simulate.engine_options.EngineOptions`: ``scene``, ``ground``, friction,
    contacts of the robot with itself, joints with bodies of the scene, and MuJoCo's solver.

    ``a`` is the engine's acceleration, contacts included. ``extra`` has at each sample: the number of "contacts"; the
    generalized "contact_forces" (n, nv) of contacts, limits and joints with the scene; for links that touch something
    at a sample, "contact_force/<link>" (n, 3) in N, world axes, "normal_force/<link>" (n,) in N and
    "contact_center/<link>" (n, 3) in m, the center of pressure, NaN without contact; and "scene_pose/<body>" (n, 7) =
    [w, x, y, z, px, py, pz] of bodies of the scene that move. ``about["touched"]`` maps links to what they touched at
    any step, and since when: ``{"left_foot": {"ground": 0.012}}``. A controller with a method ``observe`` gets contact
    forces at every step: see :mod:`dqdyn.simulate.observation`.
    """
    if problem.batch:
        raise Error("plant='mujoco' runs one state at a time: pass q0 of shape (nq,).")
    if not is_whole(substeps, _MOST_SUBSTEPS):
        whole = f"a whole number from 1 to {_MOST_SUBSTEPS:g}"
        raise Error(f"substeps is how many steps of MuJoCo make one dt, {whole}; found {shown(substeps)}.")
    chosen = EngineOptions.of(problem.robot, problem.dt / substeps, options)
    about = {"plant": "mujoco", "substeps": substeps, **_settings(chosen)}
    record = Record.begin(problem, controller, **about)
    if record.actuation.level == "velocity":
        raise Error("plant='mujoco' takes forces, but the controller gives velocities: wrap it in a torque controller.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # what is left out has no part in the dynamics
        model = engine_model(problem.robot, problem.dt / substeps, q0=problem.q0[0], **options)
    plant = _Plant(record, model, substeps, chosen.scene)

    def steps() -> None:
        with Progress(problem.steps, f"simulating {problem.robot.name} in MuJoCo", progress) as bar:
            plant.all_steps(bar)

    return completed(steps, record.stop, plant.trajectory)


def _settings(chosen: EngineOptions) -> dict[str, Any]:
    """What was chosen, as a trajectory keeps it: plain values that differ from the defaults, and the first three."""
    given = {f.name: getattr(chosen, f.name) for f in fields(chosen)}
    kept = {f.name: given[f.name] for f in fields(chosen) if given[f.name] != f.default}
    if chosen.scene is not None:
        kept["scene"] = list(chosen.scene.names)
    for name in ("self_contact", "welds", "connects"):
        if name in kept:
            kept[name] = [list(pair) for pair in kept[name]]
    for name in ("solref", "solimp", "joint_solref", "joint_solimp"):
        if name in kept:
            kept[name] = list(kept[name])
    return {name: given[name] for name in ("method", "ground", "limits")} | kept


class _Plant:
    """MuJoCo's state, and what was seen of it."""

    def __init__(self, record: Record, model: Any, substeps: int, scene: Scene | None) -> None:
        import mujoco

        self.record, self.problem, self.actuation = record, record.problem, record.actuation
        self.model, self.substeps, self.engine = model, substeps, mujoco
        # After a step of one stage the acceleration is that at its start; after four it is that of the last.
        self.asks_first = int(model.opt.integrator) == int(mujoco.mjtIntegrator.mjINT_RK4)
        self.data = mujoco.MjData(model)
        self.scene = SceneState(model, self.data, scene, self.problem.start, self.problem.dt)
        self.layout = mujoco_layout(self.problem.robot.model, model, self.scene.joints)
        self.own = slice(0, self.layout.nv)
        self.state = EngineState(mujoco, self.layout)
        self.contacts = ContactReader(mujoco, model)
        self.q, self.v = self.problem.q0[0], self.problem.v0[0]
        self.data.qpos[: self.layout.nq] = self.layout.q(self.q)
        self.data.qvel[: self.layout.nv] = self.layout.v(self.q, self.v)
        record.states.append(self.problem.state0[None])
        frames, expressed = self.problem.frames, self.problem.expressed
        function = self.problem.robot.function
        self.jacobians = [function("twist_jacobian", frame=frame, expressed=expressed) for frame in frames]
        self.bodies = {name: frame.body for name, frame in self.problem.robot.frames.items()}
        self.doubt = ""
        self.a: list[Array] = []
        self.extra: dict[str, list[Any]] = {"contacts": [], "contact_forces": []}
        self.extra |= {f"scene_pose/{name}": [] for name in self.scene.names}
        self.touching: list[dict[str, LinkContact]] = []

    def all_steps(self, bar: Progress) -> None:
        """Ask, act, record."""
        p, asked, data = self.problem, self.actuation.asked, self.data
        observes = asked is not None and asked.observe is not None
        for k in range(p.steps + 1):
            t = p.start + k * p.dt
            if k:
                self.q, self.v = self.state.read(data)
            if not surely_alive(self.v) and not alive(np.concatenate([self.q, self.v]), p.robot.nq):
                fastest = joint_of(p.robot.model, int(np.argmax(np.nan_to_num(np.abs(self.v), nan=np.inf))))
                self._diverged(t - p.dt, f"joint {fastest!r} moves faster than {TOO_FAST:g} rad/s or m/s")
                return
            if observes and asked is not None:
                if not k:
                    self.engine.mj_forward(self.model, data)
                asked.tell(Observation(t, self.contacts.read(data), self.scene.poses(), self.bodies))
            force = self._force(k, t)
            recorded = p.is_sample(k)
            if recorded:
                if k:
                    self.record.states.append(np.concatenate([self.q, self.v])[None, None])
                if asked is not None:
                    self.record.tau.append(np.array(force)[None, None])
                    asked.note()
                bar.at(k)
            self.state.apply(data, self.q, force + self._outside(k) if self.jacobians else force)
            self.scene.drive(t)
            self._advance(t, recorded, last=k == p.steps)
            warning = first_warning(self.model, data)
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
        self.record.about["touched"] = self.contacts.touched
        trajectory = assembled(self.record)
        status = self.doubt if trajectory.finished and self.doubt else trajectory.status
        extra = {name: np.array(values)[: len(trajectory)] for name, values in self.extra.items()}
        extra |= contact_series(self.touching[: len(trajectory)])
        return replace(trajectory, extra={**trajectory.extra, **extra}, status=status)

    def _diverged(self, t: float, why: str) -> None:
        cause = f"the step of {self.model.opt.timestep:g} s is too large for these forces"
        remedy = "take a smaller step, more substeps or another method"
        self.record.stop(f"diverged after t = {t:.6g} s: {why}; {cause}: {remedy}.")

    def _advance(self, t: float, recorded: bool, last: bool) -> None:
        if recorded and (last or self.asks_first):
            self.engine.mj_forward(self.model, self.data)
            self.engine.mj_checkAcc(self.model, self.data)
            self._record()
        for i in range(0 if last else self.substeps):
            self.engine.mj_step(self.model, self.data)
            self.contacts.note(self.data, t)
            if recorded and i == 0 and not self.asks_first:
                self._record()

    def _record(self) -> None:
        """What the engine computed at the state from which it stepped."""
        data = self.data
        self.a.append(self.layout.a_from(self.q, self.v, data.qacc[self.own]))
        self.extra["contacts"].append(int(data.ncon))
        self.extra["contact_forces"].append(self.layout.tau_from(self.q, data.qfrc_constraint[self.own]))
        for name, pose in self.scene.recorded().items():
            self.extra[f"scene_pose/{name}"].append(pose)
        self.touching.append(self.contacts.read(data))

    def _force(self, k: int, t: float) -> Array:
        law, asked, tau = self.actuation.law, self.actuation.asked, self.actuation.tau
        if asked is not None:
            return np.asarray(asked(t, self.q[None], self.v[None])[0])
        if law is not None:
            forces = law_forces(law, self.problem.robot.model, t, self.q.tolist(), self.v.tolist())
            return np.array([float(x) for x in forces])
        return np.asarray(tau[min(k, len(tau) - 1), 0])

    def _outside(self, k: int) -> Array:
        """Wrenches as generalized forces, by our Jacobians."""
        p, total = self.problem, np.zeros(self.problem.robot.nv)
        row = p.wrenches[min(k, len(p.wrenches) - 1), 0]
        for i, jacobian in enumerate(self.jacobians):
            f = row[6 * i : 6 * i + 6]
            if f.any():
                total += jacobian(self.q).T @ np.concatenate([f[3:], f[:3]])  # twists are [ω, v], wrenches [f, τ]
        return total
