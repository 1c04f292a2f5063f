"""The input of a simulation: what to run, checked, as one value."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray
from dqdyn.errors import Error, StateError, one_line, unknown_name
from dqdyn.model.model import Model
from dqdyn.model.motors import said_by
from dqdyn.robot import Robot
from dqdyn.robot.state import as_state

Expressed = Literal["body", "aligned"]
Efforts = Literal["report", "clip", "ignore"]
EFFORTS = ("report", "clip", "ignore")
TOO_FAST = 1e8  # rad/s or m/s: no robot, but a step that was too large
_SHORT = 100  # characters of a value in a message
_MOST_STEPS = 2.0**53  # above, the time of a step is not known to one step


@dataclass(frozen=True)
class Problem:
    """A robot, its state at ``start``, and the steps to take; arrays have a batch axis even for one run.

    ``limits``: whether joints stop at their limits; False also leaves their crossing unsaid, None reports it.
    ``efforts``: what happens to forces beyond those of the motors. ``stiction``: whether Coulomb friction holds joints.
    """

    robot: Robot
    q0: Array
    v0: Array
    batch: bool
    steps: int
    dt: float
    every: int
    frames: tuple[str, ...]
    wrenches: Array
    expressed: Expressed
    start: float = 0.0
    limits: bool | None = None
    efforts: Efforts = "report"
    stiction: bool = False

    @property
    def count(self) -> int:
        """Number of runs."""
        return len(self.q0)

    @property
    def state0(self) -> Array:
        """[q, v] (B, nq + nv) at the start."""
        return np.concatenate([self.q0, self.v0], axis=1)

    @property
    def samples(self) -> int:
        """Number of samples: at the start, after every ``every`` steps, and at the end."""
        return -(-self.steps // self.every) + 1

    @property
    def time(self) -> Array:
        """Times of the samples."""
        return self.start + self.dt * np.minimum(np.arange(self.samples) * self.every, self.steps)

    def is_sample(self, step: int) -> bool:
        """Whether the state after ``step`` steps is a sample."""
        return step % self.every == 0 or step == self.steps

    def as_given(self, array: Array) -> Array:
        """(n, B, …) as returned to the user: without the batch axis for one run."""
        return array if self.batch else array[:, 0]

    def input(self, tau: Array, step: int) -> Array:
        """[τ, wrenches] (B, inputs) of one step from τ (B, nv)."""
        if not self.frames:
            return tau
        wrench = self.wrenches[min(step, len(self.wrenches) - 1)]
        return np.concatenate([tau, np.broadcast_to(wrench, (len(tau), wrench.shape[-1]))], axis=1)

    def inputs(self, tau: Array) -> Array:
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
    q0: RealArray | None,
    v0: RealArray | None,
    every: int,
    wrenches: Mapping[str, RealArray] | None,
    expressed: Expressed,
    start: float = 0.0,
    limits: bool | None = None,
    efforts: Efforts = "report",
    stiction: bool = False,
) -> Problem:
    """The problem, or an error that says what is wrong with it."""
    if not isinstance(robot, Robot):
        raise Error(f"simulate takes a robot first, as dq.load gives it; found {type(robot).__name__}.")
    if robot.nv == 0:
        raise Error(f"{robot.name!r} has no moving joint, so there is nothing to simulate.")
    start, duration, dt = number("start", start), positive("duration", duration), positive("dt", dt)
    if dt > duration:
        raise Error(f"dt = {dt:g} s is longer than the duration {duration:g} s: choose a smaller step.", dt=dt)
    if not is_whole(every):
        raise Error(f"every is how many steps lie between two samples, a whole number from 1; found {shown(every)}.")
    if not isinstance(expressed, str):
        raise Error(f"expressed is 'body' or 'aligned'; found {shown(expressed)}.", argument="expressed")
    if limits is not None and not isinstance(limits, (bool, np.bool_)):
        raise Error(f"limits is True (joints stop there), False or None; found {shown(limits)}.", argument="limits")
    if not isinstance(stiction, (bool, np.bool_)):
        raise Error(f"stiction is True or False; found {shown(stiction)}.", argument="stiction")
    if not isinstance(efforts, str) or efforts not in EFFORTS:
        raise unknown_name("treatment of efforts", efforts if isinstance(efforts, str) else shown(efforts), EFFORTS)
    model = robot.model
    q = as_state(model, "q", robot.neutral() if q0 is None else q0)
    v = as_state(model, "v", np.zeros(model.nv) if v0 is None else v0)
    for name, shape in (("q0", q.shape), ("v0", v.shape)):
        if len(shape) > 2:
            text = f"{name} is one state or a batch of shape (B, n); found {shape}."
            raise StateError(text, argument=name, found=shape)
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
    q, v = (np.ascontiguousarray(np.broadcast_to(x, (count, x.shape[-1]))) for x in (q, v))
    return Problem(
        robot, q, v, batch, steps, dt, every, frames, forces, expressed, start, limits, efforts, bool(stiction)
    )


def shown(value: Any) -> str:
    """A value for messages, short and in one line."""
    return one_line(" ".join(repr(value).split()), _SHORT)


def number(name: str, value: Any, what: str = "a finite time in s") -> float:
    """A finite number."""
    given = _float(value)
    if not math.isfinite(given):
        raise Error(f"{name} is {what}; found {shown(value)}.", argument=name)
    return given


def positive(name: str, value: Any, what: str = "time", unit: str = " s") -> float:
    """A finite number above 0."""
    given = _float(value)
    if not 0.0 < given < math.inf:
        raise Error(f"{name} must be a finite {what} above 0{unit}; found {shown(value)}.", argument=name)
    return given


def _float(value: Any) -> float:
    """The value as a float, NaN for what is not a number."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def is_whole(value: Any, most: float = math.inf) -> bool:
    """Whether the value is an integer from 1 to ``most``, not a flag."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(1 <= value <= most)


def _bounded(robot: Robot, v: Array) -> None:
    """An error where the run would count as diverged from the start."""
    bad = np.argwhere(~(np.abs(v) < TOO_FAST))
    if len(bad):
        at = tuple(bad[0])
        what = f"v0 of joint {joint_of(robot.model, int(at[-1]))!r} is {v[at]:g} rad/s or m/s"
        text = f"{what}: a simulation takes speeds below {TOO_FAST:g}."
        raise StateError(text, argument="v0", found=float(v[at]))


def _steps(duration: float, dt: float) -> int:
    ratio = duration / dt * (1.0 - 1e-12)
    if not ratio < _MOST_STEPS:
        span = f"{duration:g} s in steps of {dt:g} s"
        raise Error(f"{span} are more steps than can be counted: choose a larger dt.", dt=dt)
    return math.ceil(ratio)


def _storable(samples: int, count: int, model: Model) -> None:
    """An error before hours of work whose result no memory can hold."""
    needed = 8.0 * samples * count * (model.nq + 3 * model.nv)
    if needed > (available := memory()):
        sizes = f"the samples need {needed / 1e9:.3g} GB, and this machine has {available / 1e9:.3g} GB"
        raise Error(f"{sizes}: sample less often by a larger every.", samples=samples)


def memory() -> float:
    """Bytes that this machine has; a guess where it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 1e12


def joint_of(model: Model, k: int) -> str:
    """The name of the joint that has the component k of the velocity."""
    return next(joint.name for joint in model.joints if joint.master is None and joint.v.start <= k < joint.v.stop)


def require_driven(model: Model, forces: Array, given: str, error: type[Error] = StateError, **data: Any) -> None:
    """An error where forces (..., nv) act on an axis without a motor; ``given`` begins it, as "tau has"."""
    bad = undriven(model)
    if not len(bad) or not forces[..., bad].any():
        return
    largest = np.abs(forces[..., bad]).reshape(-1, len(bad)).max(axis=0)
    k = int(bad[np.argmax(largest)])
    joint, (axis, unit) = joint_of(model, k), axis_of(model, k)
    what = f"{given} {largest.max():.6g} {unit} on {axis!r} of {model.name!r}, which has no motor"
    remedy = f"give 0 there, or, if it has one, say so by {said_by(joint)}"
    raise error(f"{what}: {remedy}.", joint=joint, axis=axis, **data)


def axis_of(model: Model, k: int) -> tuple[str, str]:
    """Name and unit of the component k of τ."""
    from dqdyn.simulate.tables import columns

    return columns(model, "tau")[k]


def without_coulomb_friction(robot: Robot) -> Robot:
    """The robot whose joints have damping alone: what moves it where friction acts by impulses."""
    joints = tuple(replace(joint, friction=0.0) for joint in robot.description.joints)
    return robot._rebuilt(robot.description.with_changes(joints=joints))


def undriven(model: Model) -> npt.NDArray[np.intp]:
    """The velocity axes without a motor."""
    return np.array([k for k, motor in enumerate(model.motors) if motor is None], dtype=np.intp)


def _wrenches(
    robot: Robot, wrenches: Mapping[str, Any] | None, steps: int, count: int
) -> tuple[tuple[str, ...], Array]:
    """Frames, and their wrenches as (steps or 1, B or 1, 6 per frame)."""
    if wrenches is not None and not isinstance(wrenches, Mapping):
        raise StateError(f"wrenches maps frames to [f, τ]; found {type(wrenches).__name__}.", argument="wrenches")
    if not wrenches:
        return (), np.zeros((1, 1, 0))
    parts = [
        per_step(f"the wrench at {robot.model.frame(frame).name!r}", value, 6, steps, count)
        for frame, value in wrenches.items()
    ]
    shape = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return tuple(wrenches), np.concatenate([np.broadcast_to(part, (*shape, 6)) for part in parts], axis=-1)


def per_step(what: str, value: Any, size: int, steps: int, count: int) -> Array:
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
