"""The loop at 1 kHz: MuJoCo and a controller in one process, with the time of every control step."""

from __future__ import annotations

import gc
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.analysis.standing.setting import Standing
from dqdyn.arrays import Array

DT = 1e-3
_FALLEN = 0.6  # of the height of the base


def _interruptions() -> int:
    """How often the system took the core from this thread; 0 where only Linux would tell."""
    if sys.platform != "linux":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_THREAD).ru_nivcsw


class Law(Protocol):
    """A controller, or what wraps one."""

    @property
    def report(self) -> ct.StepReport: ...
    def reset(self) -> None: ...
    def __call__(self, t: float, q: Array, v: Array) -> Array: ...


class Loop:
    """A controller in its loop, and what it took.

    ``seconds`` has the time of every step by the clock, ``computing`` that of the thread alone, without what other
    processes took; ``collected`` maps steps in which Python collected garbage to the s that this took, and
    ``interrupted`` are steps in which the system gave the core to another process. ``jump`` is the largest change of a
    torque in N m from one step to the next. After a fall there are no torques.
    """

    level = "torque"

    def __init__(self, standing: Standing, law: Law) -> None:
        self.lowest, self.law = _FALLEN * standing.q0[6], law
        self.seconds: list[float] = []
        self.computing: list[float] = []
        self.collected: dict[int, float] = {}
        self.interrupted: set[int] = set()
        self._is_computing, self._began = False, 0.0
        self.status: Counter[str] = Counter()
        self.fell: float | None = None
        self.jump = 0.0
        self._torque: Array | None = None

    def step(self, t: float, q: Array, v: Array) -> Array:
        """τ (nv,)."""
        if self.fell is not None or q[6] < self.lowest:
            self.fell = t if self.fell is None else self.fell
            return np.zeros(len(v))
        self._is_computing, interruptions = True, _interruptions()
        start, thread = time.perf_counter(), time.thread_time()
        torque = self.law(t, q, v)
        self.computing.append(time.thread_time() - thread)
        self.seconds.append(time.perf_counter() - start)
        self._is_computing = False
        if _interruptions() > interruptions:
            self.interrupted.add(len(self.seconds) - 1)
        self.status[self.law.report.status] += 1
        if self._torque is not None:
            self.jump = max(self.jump, float(np.abs(torque - self._torque).max()))
        self._torque = torque
        return torque

    @contextmanager
    def watching_garbage(self) -> Iterator[None]:
        """Note the collections of garbage in control steps."""

        def note(phase: str, info: dict[str, int]) -> None:
            if phase == "start":
                self._began = time.perf_counter()
            elif self._is_computing:
                self.collected[len(self.seconds)] = time.perf_counter() - self._began

        gc.callbacks.append(note)
        try:
            yield
        finally:
            gc.callbacks.remove(note)


@dataclass(frozen=True, eq=False)
class Run:
    """What came of a loop."""

    standing: Standing
    loop: Loop
    trajectory: dq.Trajectory

    @property
    def stood(self) -> bool:
        """Nothing but the feet touched anything, and the simulation did not diverge."""
        done = self.trajectory.finished and self.loop.fell is None
        return done and not self.standing.others(self.trajectory.about["touched"])

    @property
    def speed(self) -> float:
        """Of the center of mass at the end, m/s."""
        q, v = self.trajectory.q[-1], self.trajectory.v[-1]
        return float(np.linalg.norm(self.standing.robot.center_of_mass_velocity(q, v)))

    @property
    def centers(self) -> Array:
        """The center of mass (n, 3) in m."""
        return np.array([self.standing.robot.center_of_mass(q) for q in self.trajectory.q])


def run(
    standing: Standing, law: Law, duration: float, *, every: int = 20, q0: Array | None = None, **options: Any
) -> Run:
    """``duration`` s in MuJoCo, from rest at q0, after one step to warm up; ``options`` are those of ``simulate``."""
    loop = Loop(standing, law)
    settings: dict[str, Any] = {"plant": "mujoco", "scene": standing.scene, "every": every, "progress": False}
    start = standing.q0 if q0 is None else q0
    law.reset()
    law(0.0, start, np.zeros(standing.robot.nv))  # the first step of all is slow: memory is touched for the first time
    law.reset()
    with loop.watching_garbage():
        trajectory = dq.simulate(standing.plant, loop, duration, DT, q0=start, **settings | options)
    return Run(standing, loop, trajectory)
