"""``simulate``: a robot, a controller and a time give a trajectory."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.compile.runtime.threads import whole
from dqdyn.errors import Error, unknown_name
from dqdyn.robot import Robot
from dqdyn.simulate.assembly import assembled
from dqdyn.simulate.controllers import ControlLaw, Sampled, given_torques, is_python
from dqdyn.simulate.events import event_functions
from dqdyn.simulate.faults import Interrupted, SimulationError, SimulationWarning
from dqdyn.simulate.integrators import INTEGRATORS
from dqdyn.simulate.integrators.integrator import Integrator
from dqdyn.simulate.loops import Seen, kinematic_loop, native_loop, sampled_loop
from dqdyn.simulate.problem import Problem, posed, shown
from dqdyn.simulate.progress import Progress
from dqdyn.simulate.system import System
from dqdyn.simulate.trajectory import Trajectory

ADAPTIVE = "adaptive"


def simulate(
    robot: Robot,
    controller: Any = None,
    duration: float = 1.0,
    dt: float = 1e-3,
    *,
    q0: Any = None,
    v0: Any = None,
    start: float = 0.0,
    integrator: str | Integrator = "rkmk4",
    plant: str | None = None,
    wrenches: Mapping[str, Any] | None = None,
    expressed: str = "body",
    every: int = 1,
    events: Sequence[Callable[..., float]] = (),
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
    ``integrator``: "semi-implicit-euler", "rkmk4", "variational" or "adaptive"; the last takes ``rtol``, ``atol`` and
    ``events``, functions (t, q, v) → float whose zeros are found. ``plant="mujoco"`` runs the controller against MuJoCo
    instead; its ``options`` are those of :func:`dqdyn.simulate.mujoco_plant.run`. ``wrenches``: frame → [f, τ],
    constant or one per step, in the axes of the frame or, ``expressed="aligned"``, of the world. There is a sample at
    the start, after every ``every`` steps, and at the end. ``threads`` share the runs of a batch. ``progress``: a
    bar; by default on a terminal.
    """
    problem = posed(robot, duration, dt, q0, v0, every, wrenches, expressed, start)
    method, threads = _method(integrator), whole(threads)
    robot.require_consistent(problem.q0, problem.v0, problem.start)
    if progress is not None and not isinstance(progress, (bool, np.bool_)):
        raise Error(f"progress is True, False or None; found {shown(progress)}.", argument="progress")
    events = event_functions(events)
    if events and method is not None:
        raise Error("events need the integrator 'adaptive', which finds their times on its dense output.")
    if plant is not None:
        if not isinstance(plant, str) or plant != "mujoco":
            raise unknown_name("plant", plant if isinstance(plant, str) else shown(plant), ["mujoco"])
        from dqdyn.simulate.mujoco_plant import run

        return run(problem, controller, progress, **options)
    if options:
        raise Error(f"simulate has no option {sorted(options)[0]!r} without plant='mujoco'.", option=sorted(options)[0])
    if method is None:
        from dqdyn.simulate.adaptive import run_adaptive

        robot.require_regular(problem.q0)
        return run_adaptive(problem, controller, events, rtol, atol, progress)
    return _fixed(problem, method, controller, progress, threads)


def _method(integrator: str | Integrator) -> Integrator | None:
    """The integrator of a name; None for the adaptive one, which is no fixed step."""
    if isinstance(integrator, Integrator):
        return integrator
    if not isinstance(integrator, str):
        raise unknown_name("integrator", shown(integrator), [*INTEGRATORS, ADAPTIVE])
    if integrator == ADAPTIVE:
        return None
    if integrator not in INTEGRATORS:
        raise unknown_name("integrator", integrator, [*INTEGRATORS, ADAPTIVE])
    return INTEGRATORS[integrator]()


def _fixed(problem: Problem, method: Integrator, controller: Any, progress: bool | None, threads: int) -> Trajectory:
    law = controller if isinstance(controller, ControlLaw) else None
    system = System(problem.robot, problem.frames, problem.expressed, law)
    asked = Sampled(controller, problem) if law is None and is_python(controller) else None
    if asked is None or asked.level != "velocity":
        problem.robot.require_regular(problem.q0)
    tau = given_torques(None, problem) if law or asked else given_torques(controller, problem)
    records = np.zeros((problem.count, method.records(system)))
    seen = Seen([np.concatenate([problem.q0, problem.v0, records], axis=1)[None]])
    about = {"integrator": method.name, "dt": problem.dt, "every": problem.every}

    def result() -> Trajectory:
        return assembled(problem, system, seen, about, asked, None if asked else tau, method=method)

    try:
        with Progress(problem.steps, f"simulating {problem.robot.name}", progress) as bar:
            if asked is None:
                native_loop(problem, method, system, tau, seen, bar, threads)
            elif asked.level == "velocity":
                about["integrator"] = "kinematic"
                kinematic_loop(problem, asked, seen, bar)
            else:
                sampled_loop(problem, method, system, asked, seen, bar)
    except KeyboardInterrupt:
        seen.stopped = "interrupted"
        raise Interrupted(result()) from None
    except SimulationError as error:
        seen.stopped = f"stopped: {error}"
        error.data["trajectory"] = result()
        raise
    trajectory = result()
    if trajectory.status != "finished":
        warnings.warn(trajectory.status, SimulationWarning, stacklevel=3)
    return trajectory
