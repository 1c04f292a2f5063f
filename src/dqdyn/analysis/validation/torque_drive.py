"""A plant under torques, and what is read from it: configurations, velocities, torques, never accelerations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dqdyn.analysis.validation.plants import STEP, Plant
from dqdyn.arrays import Array
from dqdyn.errors import StateError
from dqdyn.simulate.engine_warnings import first_warning
from dqdyn.simulate.faults import SimulationError
from dqdyn.simulate.loops import alive


@dataclass(frozen=True, eq=False)
class Recording:
    """Samples ``dt`` s apart: ``q`` (n, nq), ``v``, generalized forces ``tau`` (n, nv), slip (n, s) in m/s.

    ``contacts`` (n,) is how many points touched the ground.
    """

    dt: float
    q: Array
    v: Array
    tau: Array
    slip: Array
    contacts: Array

    @property
    def time(self) -> Array:
        return np.asarray(self.dt * np.arange(len(self.q)))


def steps_of(plant: Plant, duration: float, every: int) -> int:
    """How many torques a run takes, with the time to settle; an error where it is too short to compare anything."""
    if not np.isfinite(duration) or duration < 20 * every * STEP:
        wanted = f"20 samples or more, {20 * every * STEP:g} s"
        raise StateError(f"a validation needs {wanted}; found a duration of {duration:g} s.", argument="duration")
    return round(plant.settling / STEP) + round(duration / STEP)


def drive(plant: Plant, duration: float, every: int, at: Callable[[int], None] | None = None) -> Recording:
    """Let the plant follow its motion for ``duration`` s, with a sample every ``every`` torques.

    ``at`` is called with the number of :func:`steps_of` that are done.
    """
    import mujoco

    steps, before = steps_of(plant, duration, every), round(plant.settling / STEP)
    data, rows = plant.start(), []
    for k in range(-before, steps - before + 1):
        q, v = plant.read(data)
        if not alive(np.concatenate([q, v]), plant.robot.nq):
            raise SimulationError(f"the {plant.title} was lost in the engine at t = {k * STEP:.4g} s.", time=k * STEP)
        torques = plant.torques(k * STEP, q, v, data)
        plant.push(data, torques)
        if k >= 0 and k % every == 0:
            rows.append((q, v, torques, plant.slip(data, q, v), data.ncon))
            if at is not None:
                at(before + k)
        for _ in range(plant.substeps):
            mujoco.mj_step(plant.engine, data)
        if warning := first_warning(plant.engine, data):
            text = f"MuJoCo warns at t = {k * STEP:.4g} s of the {plant.title} that {warning.text}."
            raise SimulationError(text, time=k * STEP, joint=warning.joint)
    q, v, torques, slip, contacts = (np.array(column) for column in zip(*rows, strict=True))
    return Recording(every * STEP, q, v, plant.forces(q, torques), slip, contacts)
