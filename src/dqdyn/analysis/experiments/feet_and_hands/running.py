"""Runs of the machine on our own dynamics with unilateral contacts, or in MuJoCo, with the time of every step."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dqdyn import control as ct
from dqdyn.analysis.experiments.experiment import Picture, Span
from dqdyn.analysis.experiments.feet_and_hands.setting import LINKS, SURFACES, ground, near_pairs
from dqdyn.analysis.experiments.feet_and_hands.targets import Targets
from dqdyn.analysis.experiments.machine_figures import history_of, spans_of
from dqdyn.arrays import Array
from dqdyn.simulate import Trajectory, simulate
from dqdyn.simulate.observation import Observation

DT = 1e-3
EVERY = 10
"""s of a control step, as Bouyarmane's, and steps per sample."""


class Timed:
    """A machine in its loop, with the state and the time of each step, by the clock and without other processes."""

    level = "torque"

    def __init__(self, machine: ct.StateMachine, targets: Targets) -> None:
        self.machine, self.targets = machine, targets
        self.seconds: list[float] = []
        self.computing: list[float] = []
        self.states: list[str] = []
        self.unsolved = 0

    def reset(self) -> None:
        """Back to the start."""
        self.targets.reset()
        self.machine.reset()
        self.seconds.clear()
        self.computing.clear()
        self.states.clear()
        self.unsolved = 0

    def observe(self, observation: Observation) -> None:
        """What the plant measures."""
        self.machine.observe(observation)

    def step(self, t: float, q: Array, v: Array) -> Array:
        """τ (nv,)."""
        self.states.append(self.machine.state)
        begin, thread = time.perf_counter(), time.thread_time()
        tau = self.machine.step(t, q, v)
        self.computing.append(time.thread_time() - thread)
        self.seconds.append(time.perf_counter() - begin)
        self.unsolved += self.machine.report.status != "solved"
        return tau


@dataclass(frozen=True, eq=False)
class Run:
    """What came of a loop.

    ``seconds`` of each control step by the clock, ``computing`` of its thread alone; ``unsolved``: steps in which a
    command did not obey all constraints.
    """

    name: str
    trajectory: Trajectory
    seconds: Array
    computing: Array
    states: tuple[str, ...]
    log: tuple[ct.Event, ...]
    ended: str
    unsolved: int
    spans: tuple[Span, ...]
    history: Picture

    def normal_forces(self, limb: str) -> Array:
        """N (n,) with which the plant pressed a limb."""
        none = np.zeros(len(self.trajectory))
        return np.asarray(self.trajectory.extra.get(f"normal_force/{LINKS[limb]}", none))

    def forces(self, limb: str) -> Array:
        """N (n, 3) of the plant on a limb, in world axes."""
        none = np.zeros((len(self.trajectory), 3))
        return np.asarray(self.trajectory.extra.get(f"contact_force/{LINKS[limb]}", none))

    @cached_property
    def states_of_samples(self) -> list[str]:
        """The state of the machine at every sample."""
        steps = np.minimum(np.arange(len(self.trajectory)) * EVERY, len(self.states) - 1)
        return [self.states[k] for k in steps]

    @cached_property
    def centers(self) -> Array:
        """The center of mass (n, 3) in m."""
        return np.asarray(self.trajectory.robot.center_of_mass(self.trajectory.q))


def follow(
    name: str, law: Timed, duration: float, plant: str | None = None, *, substeps: int = 1, progress: bool | None = None
) -> Run:
    """``duration`` s from rest in the first posture."""
    options: dict[str, Any] = {"contacts": SURFACES, "ground": 0.0}
    if plant is not None:
        # without stops, so that it shows who obeys the limits of the joints
        options = {
            "plant": plant,
            "scene": ground(),
            "limits": False,
            "substeps": substeps,
            "self_contact": near_pairs(),
        }
    start = law.targets.start.q
    law.reset()
    law.step(0.0, start, np.zeros(law.machine.robot.nv))  # the first step touches memory for the first time
    law.reset()
    run = simulate(law.machine.robot, law, duration, DT, q0=start, every=EVERY, progress=progress, **options)
    machine = law.machine
    return Run(
        name,
        run,
        np.array(law.seconds),
        np.array(law.computing),
        tuple(law.states),
        machine.log,
        machine.ended,
        law.unsolved,
        spans_of(machine),
        history_of(machine, f"{name}: what the machine did"),
    )


def replayed(law: Timed, run: Run) -> Array:
    """s (n,) that control steps take at the states of a run, one after the other.

    In a run the plant empties the processor's caches between two steps; a computer that controls alone does not.
    """
    law.reset()
    forces = {limb: run.normal_forces(limb) for limb in LINKS}
    for k, (t, q, v) in enumerate(zip(run.trajectory.time, run.trajectory.q, run.trajectory.v, strict=True)):
        law.machine.observe(Replayed({limb: float(force[k]) for limb, force in forces.items()}))
        law.step(float(t), q, v)
    return np.array(law.computing)


@dataclass(frozen=True)
class Replayed:
    """What a plant measured at a sample: normal forces in N by limb."""

    forces: Mapping[str, float]

    def normal_force(self, frame: str) -> float:
        """N with which a limb was pressed."""
        return self.forces[frame]
