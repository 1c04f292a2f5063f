"""Runs with steps of any size, sampled by dense output at the times that were asked for."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dqdyn.errors import Error
from dqdyn.simulate.adaptive_run import Run
from dqdyn.simulate.assembly import assembled
from dqdyn.simulate.controllers import ControlLaw, Sampled, given_torques, is_python
from dqdyn.simulate.events import Events
from dqdyn.simulate.faults import Interrupted, SimulationError, SimulationWarning
from dqdyn.simulate.loops import Seen
from dqdyn.simulate.problem import Problem, positive
from dqdyn.simulate.progress import Progress
from dqdyn.simulate.system import System
from dqdyn.simulate.trajectory import Trajectory


def run_adaptive(
    problem: Problem,
    controller: Any,
    events: Sequence[Callable[..., float]],
    rtol: float,
    atol: float,
    progress: bool | None,
) -> Trajectory:
    """Dormand-Prince with error control: per step at most ``atol`` + ``rtol`` (rad or m; of velocities relative).

    Samples lie ``dt`` · ``every`` apart. A controller in Python is asked every ``dt`` and its forces hold in between;
    steps then end at these times. Runs of a batch have their own steps.
    """
    rtol, atol = positive("rtol", rtol, "number", ""), positive("atol", atol, "number", "")
    law = controller if isinstance(controller, ControlLaw) else None
    asked = Sampled(controller, problem) if law is None and is_python(controller) else None
    if problem.batch and (asked is not None or events):
        what = "events" if events else "a controller in Python"
        raise Error(f"the integrator 'adaptive' takes a batch without {what}: run the states one by one.")
    if asked is not None and asked.level == "velocity":
        raise Error("a controller at velocity level needs no adaptive steps: use a fixed step.")
    tau = given_torques(None if law or asked else controller, problem)
    system = System(problem.robot, problem.frames, problem.expressed, law)
    runs = []
    with Progress(problem.steps * problem.count, f"simulating {problem.robot.name}", progress) as bar:
        for member in range(problem.count):
            run = Run(problem, system, member, tau, asked, Events(events), (rtol, atol), bar)
            runs.append(run)
            _guarded(run, runs)
    trajectory = _joined(runs)
    if trajectory.status not in ("finished",) and not trajectory.status.startswith("event"):
        warnings.warn(trajectory.status, SimulationWarning, stacklevel=3)
    return trajectory


def _guarded(run: Run, runs: list[Run]) -> None:
    try:
        run.all_steps()
    except KeyboardInterrupt:
        run.status = "interrupted"
        raise Interrupted(_joined(runs)) from None
    except SimulationError as error:
        run.status = f"stopped: {error}"
        error.data["trajectory"] = _joined(runs)
        raise


def _joined(runs: list[Run]) -> Trajectory:
    """The runs as one trajectory; those that ended early are continued by NaN."""
    first = runs[0]
    problem = first.problem
    about = {
        "integrator": "adaptive",
        "dt": problem.dt,
        "every": problem.every,
        "rtol": first.rtol,
        "atol": first.atol,
        "steps": sum(run.accepted for run in runs),
        "rejected": sum(run.rejected for run in runs),
        "evaluations": sum(run.method.evaluations for run in runs),
    }
    seen = [run.seen() for run in runs]
    n = max(len(s.states[0]) for s in seen)
    states = np.full((n, problem.count, first.system.nq + first.system.nv), np.nan)
    for run, s in zip(runs, seen, strict=True):
        states[: len(s.states[0]), run.member] = s.states[0][:, 0]
    merged = Seen([states], seen[0].tau)
    times = next(run.times for run, s in zip(runs, seen, strict=True) if len(s.states[0]) == n)
    trajectory = assembled(
        problem, first.system, merged, about, first.asked, None if first.asked else first.tau, np.array(times)
    )
    worst = next((run.status for run in runs if run.status != "finished"), "finished")
    return replace(trajectory, status=worst, events={k: np.array(t) for k, t in first.events.times.items()})
