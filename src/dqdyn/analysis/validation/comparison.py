"""Models against a physics engine, as the papers validate theirs: torques in, velocities out, accelerations compared.

The engine's own accelerations are not used: its velocities are filtered and differentiated. The model computes
accelerations from the same states and torques; they go through the same filter [Quiroz, fig. 6.23].
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.analysis.correlation import correlations
from dqdyn.analysis.filtering import LowPass, forward_difference
from dqdyn.analysis.peers import toolbox_is_here
from dqdyn.analysis.validation.accelerations import METHODS, applicable
from dqdyn.analysis.validation.plants import STEP, Plant, holonomic, serial_arm
from dqdyn.analysis.validation.silva_table import Summary
from dqdyn.analysis.validation.torque_drive import Recording, drive, steps_of
from dqdyn.analysis.validation.vehicle import nonholonomic
from dqdyn.arrays import Array
from dqdyn.errors import ModelWarning, StateError, unknown_name
from dqdyn.progress import Progress
from dqdyn.robot import Robot
from dqdyn.simulate.mujoco_plant import imported_engine
from dqdyn.simulate.problem import is_whole
from dqdyn.simulate.tables import columns

PLANTS: dict[str, Callable[[], Plant]] = {"arm": serial_arm, "holonomic": holonomic, "nonholonomic": nonholonomic}
CUTOFF, ORDER = 10.0, 4
EVERY = 2
"""Torques from one sample to the next."""

MASS_ERROR = 0.2
"""Of one body in the negative control."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """A model's filtered accelerations (n, nv), and the CMC with those of the engine for each coordinate (nv,)."""

    accelerations: Array
    cmc: Array

    @property
    def summary(self) -> Summary:
        return Summary.of(self.cmc)


@dataclass(frozen=True, eq=False)
class Validation:
    """One robot in the engine and its model.

    ``measured`` (n, nv) are the engine's accelerations, from its filtered velocities at ``time`` (n,) in s.
    ``models`` has a comparison by the paper's name of each method; ``control`` is one with a body ``control_body``
    that is 20 % too heavy. ``names`` are (coordinate, unit). ``moved`` (nv,) is the range of each coordinate.
    """

    key: str
    title: str
    names: tuple[tuple[str, str], ...]
    recording: Recording
    time: Array
    measured: Array
    models: Mapping[str, Comparison]
    control: Comparison
    control_body: str
    missing: tuple[str, ...]
    seconds: float

    @property
    def moved(self) -> Array:
        return np.asarray(np.ptp(self.recording.q, axis=0))

    def slip(self) -> dict[str, float] | None:
        """How well the wheels rolled, None for robots without: largest slips and speed in m/s, fewest contacts."""
        if not self.recording.slip.shape[1]:
            return None
        largest = np.abs(self.recording.slip).max(axis=0)
        return {
            "sideways": float(largest[0]),
            "rolling": float(largest[1:].max()),
            "speed": float(np.hypot(*self.recording.v[:, :2].T).max()),
            "fewest_contacts": int(self.recording.contacts.min()),
        }


def validate(
    name: str,
    *,
    duration: float = 5.0,
    cutoff: float = CUTOFF,
    order: int = ORDER,
    every: int = EVERY,
    progress: bool | None = False,
) -> Validation:
    """Drive the "arm", the "holonomic" or the "nonholonomic" manipulator in MuJoCo and compare accelerations.

    ``duration`` in s, ``cutoff`` in Hz and ``order`` of the Butterworth filter; a sample is taken every ``every``
    milliseconds. The Robotics Toolbox is compared where it is installed; else ``missing`` names it.
    """
    if name not in PLANTS:
        raise unknown_name("robot to validate", name, PLANTS)
    if not is_whole(every):
        raise StateError(f"every is a whole number of torques from 1 on; found {every!r}.", argument="every")
    low_pass = LowPass(cutoff, 1.0 / (every * STEP), order)
    imported_engine("validation against a physics engine")
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # what MuJoCo's format leaves out has no part in the dynamics
        plant = PLANTS[name]()
    missing = () if toolbox_is_here() else ("rtNE",)
    available = [method for method in applicable(plant) if method not in missing]
    quickest = "dqNE" if "dqNE" in available else "dqGP"
    compared = [(method, plant.robot) for method in available] + [(quickest, too_heavy(plant.robot, plant.control))]
    steps = steps_of(plant, duration, every)
    with Progress(steps * (1 + len(compared)), f"validating the {plant.title}", progress) as bar:
        recording = drive(plant, duration, every, bar.at)
        measured = forward_difference(low_pass(recording.v), recording.dt)
        comparisons = []
        for method, robot in compared:
            # The model's accelerations at the states and forces that were read before each step of the engine.
            own = METHODS[method](robot, recording.q, recording.v, recording.tau)
            model = low_pass(own)[: len(measured)]
            comparisons.append(Comparison(model, correlations(measured, model)))
            bar.at(steps * (1 + len(comparisons)))
    return Validation(
        plant.key,
        plant.title,
        tuple(columns(plant.robot.model, "a")),
        recording,
        recording.time[: len(measured)],
        measured,
        dict(zip(available, comparisons, strict=False)),
        comparisons[-1],
        plant.control,
        tuple(method for method in applicable(plant) if method in missing),
        time.perf_counter() - begin,
    )


def too_heavy(robot: Robot, body: str, part: float = MASS_ERROR) -> Robot:
    """The same robot with the mass of one body wrong by some part; its tensor about the center of mass stays."""
    link: Any = next(item for item in robot.model.description.links if item.name == body)
    return robot.with_payload(body, part * link.inertia.mass, link.inertia.com)
