"""``sweep``: simulations over parameters × controllers × states × seeds, on one machine or many."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np

from dqdyn.errors import Error
from dqdyn.progress import Progress
from dqdyn.robot import Robot
from dqdyn.scale import disk, zarr_arrays
from dqdyn.scale.axes import States, draws, labelled
from dqdyn.scale.batches import PACKED, Job, pickled, remember
from dqdyn.scale.journal import Journal, checksum
from dqdyn.scale.measures import Measure, checked, evaluated
from dqdyn.scale.result import Failure, Sweep
from dqdyn.scale.runs import Plan, Some
from dqdyn.scale.store import Store
from dqdyn.scale.workers import require_packages, results
from dqdyn.simulate.problem import is_whole, posed, shown

_MEMORY = 64e6
"""Bytes of samples in one batch of runs; a simulation has some copies of them."""
_MOST = 4096
"""Runs in a batch: enough for the vectors of a processor and to pay for a task."""
_TRIED = 16
"""Runs that are tried for a step before a sweep begins."""
_LARGE = 1_000_000
"""Bytes of a plan that is written to the output for workers to read, rather than sent with every task."""


def sweep(
    robot: Robot,
    controllers: Any = None,
    *,
    states: Any = None,
    parameters: Any = None,
    seeds: int = 1,
    seed: int = 0,
    duration: float = 1.0,
    dt: float = 1e-3,
    every: int | None = None,
    measures: Mapping[str, Measure] | None = None,
    output: str | Path | None = None,
    trajectories: bool = False,
    resume: bool = True,
    batch: int | None = None,
    scheduler: str | None = None,
    workers: int | None = None,
    progress: bool | None = None,
    **options: Any,
) -> Sweep:
    """Simulate a robot over parameters × controllers × initial states × seeds; each run as by ``dq.simulate``.

    ``controllers``: one, or several by name: whatever ``dq.simulate`` takes for one run, :func:`batched` or
    :func:`each_run`. ``states``: q (S, nq), a pair of q and v, "random" (within limits, at rest) or a function (rng) →
    (q0, v0); neutral and at rest unless given. ``parameters``: by name robots with the same joints, functions (robot) →
    robot such as ``lambda robot: robot.with_payload("tool", 2.0)``, or functions (robot, rng) → robot, which draw
    another one for every seed. ``seeds``: how many. What a run draws follows from its index among the seeds and from
    ``seed``, and from nothing else; all controllers and parameters meet the same draws.

    Runs with one robot and one controller are native batches of ``batch`` runs; those of controllers in Python, unless
    they are :func:`batched`, are simulated one by one. ``measures``: by name functions of a batch's trajectory that
    give a row for each run; by default the final "q", "v" and "energy", and "beyond_limits". There is a sample after
    every ``every`` steps, by default only at the end. A run that fails is kept as NaN, with its reason in ``failures``.

    ``output``: a folder for Zarr arrays of all measures and, with ``trajectories=True``, of the samples. A sweep that
    was killed computes what is missing when it is called again with the same arguments; functions are then compared by
    their names alone. ``resume=False`` refuses a folder that exists. ``scheduler``: the address of a Dask scheduler.
    Without one, ``workers`` processes are started on this machine, by default one per processor; 0 computes in this
    process. ``options`` are those of ``dq.simulate``.
    """
    plan = _planned(robot, controllers, states, parameters, seeds, seed, measures, trajectories, output)
    first = next(iter(plan.fixed.values()), robot)
    problem = posed(first, duration, dt, None, None, 1, options.get("wrenches"), options.get("expressed", "body"))
    every = problem.steps if every is None else every
    if not is_whole(every):
        raise Error(f"every is how many steps lie between two samples, a whole number from 1; found {shown(every)}.")
    kept = {"duration": duration, "dt": dt, "every": every, **options}
    samples = -(-problem.steps // min(every, problem.steps)) + 1
    plan = replace(plan, options=kept, samples=samples if trajectories else 0)
    plan = replace(plan, sizes=_sizes(plan))
    rows = _batch(plan, samples, batch)
    folder = None if output is None else zarr_arrays.folder_of(output, "output")
    job = _job(plan, rows, folder, resume, local=workers == 0 and scheduler is None)
    stored = None if folder is None else Store(folder)
    done = stored.journal.done() if stored is not None else set()
    tasks = [task for task in range(job.tasks) if task not in done]
    found: dict[int, Some] = {}
    with Progress(job.tasks, f"{job.tasks} batches of {robot.name}", progress) as bar:
        for count, (task, some) in enumerate(results(job, tasks, scheduler, workers), len(done) + 1):
            if stored is None:
                found[task] = some
            bar.at(count)
    return _collected(job, plan, found, stored)


def _planned(
    robot: Any,
    controllers: Any,
    states: Any,
    parameters: Any,
    seeds: Any,
    seed: Any,
    measures: Any,
    trajectories: bool,
    output: Any,
) -> Plan:
    """The axes, checked."""
    if not isinstance(robot, Robot):
        raise Error(f"sweep takes a robot first, as dq.load gives it; found {type(robot).__name__}.")
    if not is_whole(seeds):
        raise Error(f"seeds is how many there are, a whole number from 1; found {shown(seeds)}.", argument="seeds")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise Error(f"seed is a whole number from 0; found {shown(seed)}.", argument="seed")
    if trajectories and output is None:
        raise Error("whole trajectories go to an output: pass output='sweep.zarr'.", argument="output")
    cases = labelled("parameters", robot if parameters is None else parameters, "as given")
    arrays = isinstance(controllers, (list, tuple)) and all(isinstance(x, (int, float)) for x in controllers)
    controls = labelled("controllers", np.asarray(controllers) if arrays else controllers, "controller")
    plan = Plan(robot, cases, controls, States.of(robot, states), int(seeds), int(seed), {}, checked(measures))
    _ = plan.fixed, [draws(case) for case in cases.values()]  # parameters that no robot can have are an error now
    return plan


def _sizes(plan: Plan) -> dict[str, int]:
    """Widths of the measures, from one step of the first run that can be simulated; an error where none of some can."""
    short = replace(plan, options={**plan.options, "duration": plan.options["dt"], "every": 1}, samples=0)
    runs = range(min(_TRIED, len(plan.states) * plan.seeds))
    for run in runs:
        try:
            trajectory = short._simulated(plan.robot, None, *plan._starts(plan.robot, [run] * 3))
        except Error:
            if run == runs[-1]:
                raise
            continue
        break
    return {name: evaluated(name, measure, trajectory).shape[1] for name, measure in plan.measures.items()}


def _batch(plan: Plan, samples: int, batch: int | None) -> int:
    """Runs per batch."""
    runs = len(plan.states) * plan.seeds
    if batch is not None:
        if not is_whole(batch):
            raise Error(f"batch is how many runs are simulated at once, from 1; found {shown(batch)}.")
        return min(int(batch), runs)
    size = 8 * samples * (plan.robot.nq + 3 * plan.robot.nv)
    return max(1, min(_MOST, runs, int(_MEMORY // size)))


def _job(plan: Plan, rows: int, folder: Path | None, resume: bool, local: bool) -> Job:
    """The job of all batches, with its output ready; ``local`` where this process alone computes."""
    if folder is not None:
        require_packages("a sweep with an output", "zarr")
    packed = None if local else pickled(plan)
    digest = uuid4().hex if packed is None else hashlib.sha256(packed).hexdigest()
    remember(digest, plan)
    shape = plan.shape
    job = Job(digest, packed, None if folder is None else str(folder), shape[:2], shape[2] * shape[3], rows)
    if folder is None:
        return job
    if not resume and folder.exists():
        raise Error(f"{str(folder)!r} exists: resume it, or choose another output.", output=str(folder))
    store = Store(folder)
    done = store.journal.done()
    width = 8 * (sum(plan.sizes.values()) + plan.samples * (plan.robot.nq + 2 * plan.robot.nv))
    missing = sum(len(job.place(task)[1]) for task in range(job.tasks) if task not in done)
    disk.require_room(folder, width * missing)
    Journal.begin(store.journal.folder, _identity(plan, rows), str(folder))
    store.create(job, plan)
    if packed is not None and len(packed) > _LARGE:
        (folder / PACKED).write_bytes(packed)
        job = replace(job, packed=None)
    return job


def _identity(plan: Plan, rows: int) -> dict[str, Any]:
    """What must be equal for a sweep to be continued; functions count by their names."""
    return {
        "robot": plan.robot.name,
        "parameters": {name: _digests(plan.fixed[name]) if name in plan.fixed else "drawn" for name in plan.cases},
        "controllers": list(plan.controllers),
        "states": "drawn" if plan.states.draw is not None else [checksum(plan.states.q), checksum(plan.states.v)],
        "seeds": plan.seeds,
        "seed": plan.seed,
        "options": {name: shown(value) for name, value in sorted(plan.options.items())},
        "measures": dict(plan.sizes),
        "samples": plan.samples,
        "batch": rows,
    }


def _digests(robot: Robot) -> list[str]:
    """What differs where the dynamics of two robots do."""
    return [robot.program(name).digest for name in ("mass_matrix", "bias_forces")]


def _collected(job: Job, plan: Plan, found: dict[int, Some], stored: Store | None) -> Sweep:
    """The result, from memory or from the output."""
    shape, measures, failures = plan.shape, {}, []
    for name, size in plan.sizes.items():
        if stored is not None:
            flat = stored.measure(name)
        else:
            flat = np.full((shape[0] * shape[1], job.runs, size), np.nan)
            for task, some in found.items():
                cell, runs = job.place(task)
                flat[cell, runs.start : runs.stop] = some.measures[name]
        measures[name] = flat.reshape(*shape, size) if size > 1 else flat.reshape(shape)
    for task in range(job.tasks):
        cell, runs = job.place(task)
        if stored is not None:
            texts = {int(run): text for run, text in stored.journal.record(task)["failures"].items()}
        else:
            texts = {runs.start + k: text for k, text in found[task].failures.items()}
        case, control = divmod(cell, shape[1])
        for run, text in sorted(texts.items()):
            names = list(plan.cases)[case], list(plan.controllers)[control]
            failures.append(Failure(*names, *divmod(run, plan.seeds), text))
    labels = (tuple(plan.cases), tuple(plan.controllers), tuple(range(shape[2])), tuple(range(shape[3])))
    axes = dict(zip(("parameters", "controllers", "states", "seeds"), labels, strict=True))
    return Sweep(axes, measures, tuple(failures), plan, stored.folder if stored is not None else None)
