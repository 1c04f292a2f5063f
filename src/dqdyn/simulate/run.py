"""``simulate``: a robot, a controller and a time give a trajectory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from dqdyn.arrays import RealArray
from dqdyn.compile.runtime.threads import whole
from dqdyn.contacts.contact import Contact
from dqdyn.dynamics.joint_forces import coulomb_forces
from dqdyn.errors import Error, unknown_name
from dqdyn.progress import Progress
from dqdyn.robot import Robot
from dqdyn.robot.coordinates import RobotInCoordinates
from dqdyn.simulate import in_coordinates
from dqdyn.simulate.assembly import assembled
from dqdyn.simulate.controllers import Controller
from dqdyn.simulate.events import Event, event_functions
from dqdyn.simulate.integrators import INTEGRATORS
from dqdyn.simulate.integrators.integrator import Integrator
from dqdyn.simulate.integrators.rkmk4 import RKMK4
from dqdyn.simulate.loops import kinematic_loop, native_loop, sampled_loop
from dqdyn.simulate.problem import Efforts, Expressed, Problem, posed, shown
from dqdyn.simulate.record import Record, completed
from dqdyn.simulate.trajectory import Trajectory
from dqdyn.simulate.unilateral.round_contact import RoundContact

ADAPTIVE = "adaptive"
TIME_STEPPING = "time-stepping"
IntegratorName = Literal["semi-implicit-euler", "rkmk4", "variational", "implicit", "adaptive", "time-stepping"]


def simulate(
    robot: Robot | RobotInCoordinates,
    controller: Controller = None,
    duration: float = 1.0,
    dt: float = 1e-3,
    *,
    q0: RealArray | None = None,
    v0: RealArray | None = None,
    start: float = 0.0,
    integrator: IntegratorName | Integrator | None = None,
    plant: Literal["mujoco"] | None = None,
    contacts: Contact | RoundContact | Sequence[Contact | RoundContact] = (),
    wrenches: Mapping[str, RealArray] | None = None,
    expressed: Expressed = "body",
    every: int = 1,
    limits: bool | None = None,
    efforts: Efforts = "report",
    stiction: bool = False,
    events: Sequence[Event] = (),
    rtol: float = 1e-8,
    atol: float = 1e-10,
    threads: int = 1,
    progress: bool | None = None,
    **options: Any,
) -> Trajectory:
    """Let a robot move for ``duration`` s in steps of ``dt`` s; the last step is whole.

    ``controller``: None (no forces); τ (nv,) for all steps or (steps, nv), one per step; a function (t, q, v) → τ or
    an object with ``step(t, q, v)``, asked once per step; or a :class:`ControlLaw`, compiled into the step.
    ``q0``, ``v0``: the state at the time ``start``, one or a batch (B, n); neutral and at rest unless given.
    ``integrator``: "semi-implicit-euler", "rkmk4" (the default), "variational", "implicit" (stiff joints) or
    "adaptive"; the last takes ``rtol``, ``atol`` and ``events``, functions (t, q, v) → float whose zeros are found.
    With ``contacts`` the robot lands, lifts off and slips by "time-stepping", with the ``options`` of
    :func:`dqdyn.simulate.unilateral.plant.run`, such as ``ground=0.0`` or ``scene``. ``plant="mujoco"`` runs the
    controller against MuJoCo instead; its ``options`` are those of :func:`dqdyn.simulate.mujoco_plant.run`.
    ``wrenches``: frame → [f, τ], constant or one per step, in the axes of the frame or, ``expressed="aligned"``, of the
    world. There is a sample at the start, after every ``every`` steps, and at the end. ``threads`` share the runs of a
    batch. ``progress``: a bar; by default on a terminal.

    Joints beyond their limits of position or velocity (rad, m, rad/s, m/s), and forces beyond those of the motors (N m,
    N), are reported by a :class:`LimitWarning`, in ``status`` and in ``about["beyond"]``, as far as samples show them.
    ``limits=True``: joints stop at their limits, inelastically; False: they may be left without a word. ``efforts``:
    "report", "clip" (motors give at most their effort) or "ignore". ``stiction=True``: Coulomb friction holds a joint
    that rests, rather than 0 at rest. End stops and stiction act at the end of each step: order 1.

    A robot in coordinates takes ``q0`` and ``v0`` as q and q̇ of the coordinates, in which controllers and events are
    asked too. They command torques τ (nv) of its joints, or q̇ or q̈ by their level. The trajectory is in the robot's own
    q and v; :meth:`Trajectory.in_coordinates` converts it.
    """
    if isinstance(robot, RobotInCoordinates):
        floating, robot = robot, robot.robot
        q0, v0 = in_coordinates.start(floating, q0, v0)
        controller = in_coordinates.controller_of(floating, controller)
        events = [in_coordinates.event_of(floating, event) for event in event_functions(events)]
    problem = posed(robot, duration, dt, q0, v0, every, wrenches, expressed, start, limits, efforts, stiction)
    stepping = _is_time_stepping(integrator, contacts, plant)
    method, threads = None if stepping else _method(integrator), whole(threads)
    robot.require_consistent(problem.q0, problem.v0, problem.start)
    if progress is not None and not isinstance(progress, (bool, np.bool_)):
        raise Error(f"progress is True, False or None; found {shown(progress)}.", argument="progress")
    events = event_functions(events)
    if events and stepping:
        raise Error("events are not found with contacts: leave them out, and read the run's extra for touch-down.")
    if events and method is not None:
        raise Error("events need the integrator 'adaptive', which finds their times on its dense output.")
    if plant is not None:
        if not isinstance(plant, str) or plant != "mujoco":
            raise unknown_name("plant", plant if isinstance(plant, str) else shown(plant), ["mujoco"])
        from dqdyn.simulate.mujoco_plant import run

        return run(problem, controller, progress, **_given_limits(limits), **options)
    if stepping and stiction:
        raise Error("a simulation with contacts leaves out stiction of joints: use plant='mujoco', which has it.")
    if stepping:
        from dqdyn.simulate.unilateral.plant import run as run_with_contacts

        return run_with_contacts(problem, controller, contacts, progress, **_given_limits(limits), **options)
    if options:
        option = sorted(options)[0]
        raise Error(f"simulate has no option {option!r} without contacts=[...] or plant='mujoco'.", option=option)
    if method is None and (problem.limits or problem.stiction):
        what = "limits=True" if problem.limits else "stiction=True"
        raise Error(f"{what} acts at the end of fixed steps: leave out integrator='adaptive'.", argument="integrator")
    if method is None:
        from dqdyn.simulate.adaptive import run_adaptive

        robot.require_regular(problem.q0)
        return run_adaptive(problem, controller, events, rtol, atol, progress)
    return _fixed(problem, method, controller, progress, threads)


def _given_limits(limits: bool | None) -> dict[str, Any]:
    """The option of a plant; each has its own default."""
    return {} if limits is None else {"limits": bool(limits)}


def _is_time_stepping(integrator: Any, contacts: Any, plant: Any) -> bool:
    """Whether contacts are to be simulated; an error where something else was asked for with them."""
    given = not (contacts is None or (hasattr(contacts, "__len__") and len(contacts) == 0))
    named = isinstance(integrator, str) and integrator == TIME_STEPPING
    if plant is not None and (given or named):
        what = "with a plant, contacts follow from the shapes of the robot and the scene"
        raise Error(f"{what}: leave out contacts=... and {TIME_STEPPING!r}, or plant=...", argument="contacts")
    if given and integrator is not None and not named:
        name = integrator.name if isinstance(integrator, Integrator) else integrator
        what = f"contacts are simulated by the integrator {TIME_STEPPING!r}, found {shown(name)}"
        raise Error(f"{what}: leave out integrator=..., or contacts=...", argument="integrator")
    return given or named


def _method(integrator: str | Integrator | None) -> Integrator | None:
    """The integrator of a name; None for the adaptive one, which has no fixed step."""
    if integrator is None:
        return RKMK4()
    if isinstance(integrator, Integrator):
        return integrator
    name = integrator if isinstance(integrator, str) else shown(integrator)
    if name not in (*INTEGRATORS, ADAPTIVE):
        raise unknown_name("integrator", name, [*INTEGRATORS, ADAPTIVE, TIME_STEPPING])
    return None if name == ADAPTIVE else INTEGRATORS[name]()


def _with_impulses(method: Integrator, record: Record) -> Integrator:
    """The method with end stops and stiction."""
    from dqdyn.simulate.integrators.joint_impulses import with_joint_impulses

    problem = record.problem
    if record.actuation.level == "velocity":
        raise Error("a controller at velocity level is followed exactly: leave out limits=True and stiction=True.")
    record.about |= {"limits": bool(problem.limits), "stiction": problem.stiction}
    return with_joint_impulses(method, problem, coulomb_forces(problem.robot.model, [1.0] * problem.robot.nv))


def _fixed(problem: Problem, method: Integrator, controller: Any, progress: bool | None, threads: int) -> Trajectory:
    record = Record.begin(problem, controller, integrator=method.name)
    if problem.limits or problem.stiction:
        method = _with_impulses(method, record)
    record.method, asked = method, record.actuation.asked
    if record.actuation.level != "velocity":
        problem.robot.require_regular(problem.q0)
    records = np.zeros((problem.count, method.records(record.system)))
    record.states.append(np.concatenate([problem.state0, records], axis=1)[None])

    def steps() -> None:
        with Progress(problem.steps, f"simulating {problem.robot.name}", progress) as bar:
            if asked is None:
                native_loop(record, method, bar, threads)
            elif asked.level == "velocity":
                record.about["integrator"] = "kinematic"
                kinematic_loop(record, asked, bar)
            else:
                sampled_loop(record, method, asked, bar)

    return completed(steps, record.stop, lambda: assembled(record))
