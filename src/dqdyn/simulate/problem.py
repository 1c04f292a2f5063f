"""The door of a simulation: what is to be run, checked, as one value."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.errors import Error, StateError, one_line
from dqdyn.model.model import Model
from dqdyn.robot import Robot
from dqdyn.robot.state import as_state

TOO_FAST = 1e8  # rad/s or m/s: no robot, but a step that was too large
_SHORT = 100  # characters of a value in a message
_MOST_STEPS = 2.0**53  # above, the time of a step is not known to one step


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
    start, duration, dt = number("start", start), positive("duration", duration), positive("dt", dt)
    if dt > duration:
        raise Error(f"dt = {dt:g} s is longer than the duration {duration:g} s: choose a smaller step.", dt=dt)
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)) or every < 1:
        raise Error(f"every is how many steps lie between two samples, a whole number from 1; found {shown(every)}.")
    if not isinstance(expressed, str):
        raise Error(f"expressed is 'body' or 'aligned'; found {shown(expressed)}.", argument="expressed")
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
    _bounded(robot, v)
    steps = _steps(duration, dt)
    every = min(int(every), steps)
    _storable(steps // every, count, model)
    frames, forces = _wrenches(robot, wrenches, steps, count)
    return Problem(
        robot,
        np.ascontiguousarray(np.broadcast_to(q, (count, model.nq))),
        np.ascontiguousarray(np.broadcast_to(v, (count, model.nv))),
        batch,
        steps,
        dt,
        every,
        frames,
        forces,
        expressed,
        start,
    )


def shown(value: Any) -> str:
    """What somebody gave, short and in one line."""
    return one_line(" ".join(repr(value).split()), _SHORT)


def number(name: str, value: Any, what: str = "a time in s") -> float:
    """A finite number."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise Error(f"{name} is {what}; found {shown(value)}.", argument=name) from None
    if not math.isfinite(found):
        raise Error(f"{name} must be finite; found {found:g}.", argument=name)
    return found


def positive(name: str, value: Any, what: str = "time", unit: str = " s") -> float:
    """A finite number above 0."""
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not math.isfinite(found) or found <= 0.0:
        raise Error(f"{name} must be a finite {what} above 0{unit}; found {shown(value)}.", argument=name)
    return found


def _bounded(robot: Robot, v: np.ndarray) -> None:
    """No run starts where it would count as diverged."""
    bad = np.argwhere(~(np.abs(v) < TOO_FAST))
    if len(bad):
        at = tuple(bad[0])
        raise StateError(
            f"v0 of joint {joint_of(robot.model, int(at[-1]))!r} is {v[at]:g} rad/s or m/s: a simulation takes speeds "
            f"below {TOO_FAST:g}.",
            argument="v0",
            found=float(v[at]),
        )


def _steps(duration: float, dt: float) -> int:
    ratio = duration / dt * (1.0 - 1e-12)
    if not ratio < _MOST_STEPS:
        raise Error(
            f"{duration:g} s in steps of {dt:g} s are more steps than can be counted: choose a larger dt.", dt=dt
        )
    return math.ceil(ratio)


def _storable(samples: int, count: int, model: Model) -> None:
    """An error before hours of work whose result no memory can hold."""
    needed = 8.0 * samples * count * (model.nq + 3 * model.nv)
    if needed > (available := memory()):
        raise Error(
            f"the samples need {needed / 1e9:.3g} GB, and this machine has {available / 1e9:.3g} GB: sample less often "
            "by a larger every.",
            samples=samples,
        )


def memory() -> float:
    """Bytes that this machine has; a guess where it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 1e12


def joint_of(model: Model, k: int) -> str:
    """The name of the joint that has the component k of the velocity."""
    return next(joint.name for joint in model.joints if joint.master is None and joint.v.start <= k < joint.v.stop)


def _wrenches(
    robot: Robot, wrenches: Mapping[str, Any] | None, steps: int, count: int
) -> tuple[tuple[str, ...], np.ndarray]:
    """Frames, and their wrenches as (steps or 1, B or 1, 6 per frame)."""
    if wrenches is None:
        wrenches = {}
    if not isinstance(wrenches, Mapping):
        raise StateError(f"wrenches maps frames to [f, τ]; found {type(wrenches).__name__}.", argument="wrenches")
    if not wrenches:
        return (), np.zeros((1, 1, 0))
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
