"""The door of a simulation: what is to be run, checked, as one value."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.errors import Error, StateError
from dqdyn.robot import Robot
from dqdyn.robot.state import as_state


@dataclass(frozen=True)
class Problem:
    """A robot, its state at ``start``, and the steps to take; arrays have a batch axis even for one run."""

    robot: Robot
    q0: np.ndarray
    v0: np.ndarray
    batch: bool
    steps: int
    dt: float
    every: int
    frames: tuple[str, ...]
    wrenches: np.ndarray
    expressed: str
    start: float = 0.0

    @property
    def count(self) -> int:
        """Runs at once."""
        return len(self.q0)

    @property
    def samples(self) -> int:
        """How many there are: at the start, after every so many steps, and at the end."""
        return -(-self.steps // self.every) + 1

    @property
    def time(self) -> np.ndarray:
        """Times of the samples."""
        return self.start + self.dt * np.minimum(np.arange(self.samples) * self.every, self.steps)

    def is_sample(self, step: int) -> bool:
        """Whether the state after so many steps is one."""
        return step % self.every == 0 or step == self.steps

    def as_given(self, array: np.ndarray) -> np.ndarray:
        """(n, B, …) as the user gets it: without the batch axis for one run."""
        return array if self.batch else array[:, 0]

    def inputs(self, tau: np.ndarray) -> np.ndarray:
        """[τ, wrenches] per step (steps or 1, B or 1, inputs) from τ of that kind of shape."""
        if not self.frames:
            return tau
        shape = np.broadcast_shapes(tau.shape[:-1], self.wrenches.shape[:-1])
        parts = [np.broadcast_to(a, (*shape, a.shape[-1])) for a in (tau, self.wrenches)]
        return np.concatenate(parts, axis=-1)


def posed(
    robot: Robot,
    duration: float,
    dt: float,
    q0: Any,
    v0: Any,
    every: int,
    wrenches: Mapping[str, Any] | None,
    expressed: str,
    start: float = 0.0,
) -> Problem:
    """The problem, or an error that says what is wrong with it."""
    if not isinstance(robot, Robot):
        raise Error(f"simulate takes a robot first, as dq.load gives it; found {type(robot).__name__}.")
    if robot.nv == 0:
        raise Error(f"{robot.name!r} has no moving joint, so there is nothing to simulate.")
    if not math.isfinite(start):
        raise Error(f"start is a time in s; found {start!r}.", argument="start")
    duration, dt = positive("duration", duration), positive("dt", dt)
    if dt > duration:
        raise Error(f"dt = {dt:g} s is longer than the duration {duration:g} s: choose a smaller step.", dt=dt)
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise Error(f"every is how many steps lie between two samples, a whole number from 1; found {every!r}.")
    model = robot.model
    q = as_state(model, "q", robot.neutral() if q0 is None else q0)
    v = as_state(model, "v", np.zeros(model.nv) if v0 is None else v0)
    for name, array in (("q0", q), ("v0", v)):
        if array.ndim > 2:
            raise StateError(
                f"{name} is one state or a batch of shape (B, n); found {array.shape}.",
                argument=name,
                found=array.shape,
            )
    batch = q.ndim == 2 or v.ndim == 2
    try:
        (count,) = np.broadcast_shapes(q.shape[:-1], v.shape[:-1], (1,))
    except ValueError:
        raise StateError(f"q0 {q.shape} and v0 {v.shape} are batches of different size.", argument="v0") from None
    if count == 0:
        raise StateError("q0 and v0 are an empty batch: give one state or more.", argument="q0")
    steps = math.ceil(duration / dt * (1.0 - 1e-12))
    frames, forces = _wrenches(robot, wrenches, steps, count)
    return Problem(
        robot,
        np.ascontiguousarray(np.broadcast_to(q, (count, model.nq))),
        np.ascontiguousarray(np.broadcast_to(v, (count, model.nv))),
        batch,
        steps,
        dt,
        min(int(every), steps),
        frames,
        forces,
        expressed,
        float(start),
    )


def positive(name: str, value: Any) -> float:
    """A time in s that can be."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise Error(f"{name} is a time in s; found {value!r}.", argument=name) from None
    if not math.isfinite(number) or number <= 0.0:
        raise Error(f"{name} must be a finite time above 0 s; found {number:g}.", argument=name)
    return number


def _wrenches(
    robot: Robot, wrenches: Mapping[str, Any] | None, steps: int, count: int
) -> tuple[tuple[str, ...], np.ndarray]:
    """Frames, and their wrenches as (steps or 1, B or 1, 6 per frame)."""
    if not wrenches:
        return (), np.zeros((1, 1, 0))
    if not isinstance(wrenches, Mapping):
        raise StateError(f"wrenches maps frames to [f, τ]; found {type(wrenches).__name__}.", argument="wrenches")
    parts = [
        per_step(f"the wrench at {robot.model.frame(frame).name!r}", value, 6, steps, count)
        for frame, value in wrenches.items()
    ]
    shape = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return tuple(wrenches), np.concatenate([np.broadcast_to(part, (*shape, 6)) for part in parts], axis=-1)


def per_step(what: str, value: Any, size: int, steps: int, count: int) -> np.ndarray:
    """Values given for all steps, or one per step, as (steps or 1, B or 1, size).

    One run takes (size,) or (steps, size); a batch takes (size,), (B, size) or (steps, B, size).
    """
    array = real_array(value, what, StateError)
    given = array.shape
    if count == 1 and array.ndim == 2:
        array = array[:, None, :]
    while array.ndim < 3:
        array = array[None]
    fits = array.ndim == 3 and array.shape[2] == size and array.shape[0] in (1, steps) and array.shape[1] in (1, count)
    if not fits:
        many = f"({size},), ({count}, {size}) or ({steps}, {count}, {size})"
        single = f"({size},) or ({steps}, {size})"
        raise StateError(f"{what} has shape {single if count == 1 else many}; found {given}.", found=given)
    if not np.isfinite(array).all():
        raise StateError(f"{what} is not finite: give finite numbers.")
    return array
