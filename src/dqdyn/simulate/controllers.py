"""What may stand as controller of a simulation, and the check of what it returns."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray
from dqdyn.constraints.methods import torques
from dqdyn.errors import Error
from dqdyn.robot.control_law import ControlLaw
from dqdyn.simulate.faults import SimulationError
from dqdyn.simulate.limits import clipped_forces, clipped_law
from dqdyn.simulate.observation import Observation
from dqdyn.simulate.problem import Problem, joint_of, per_step, require_driven, shown, undriven


class Stepping(Protocol):
    """A controller as an object."""

    def step(self, t: float, q: Array, v: Array) -> RealArray:
        """Its command at a state."""


Controller: TypeAlias = ControlLaw | Stepping | Callable[[float, Array, Array], RealArray] | RealArray | None
"""What may stand as controller of a simulation."""


def _require_three(ask: Callable[..., Any]) -> None:
    """An error for a function that cannot be called with t, q and v; one without a signature is tried."""
    try:
        signature = inspect.signature(ask)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(0.0, None, None)
    except TypeError:
        name = getattr(ask, "__name__", type(ask).__name__)
        text = f"a controller is called with the time t, q and v, but {name}{signature} takes other arguments"
        raise SimulationError(f"{text}: write it as a function of (t, q, v).", signature=str(signature)) from None


class Sampled:
    """A Python controller, asked once per step; what it returns holds until the next one.

    A controller with a method ``reset`` forgets its past at the start of a run; one with a method ``observe`` gets what
    the plant measures before each step (:mod:`dqdyn.simulate.observation`).
    """

    def __init__(self, controller: Any, problem: Problem) -> None:
        self.problem = problem
        reset = getattr(controller, "reset", None)
        if callable(reset):
            reset()
        step = getattr(controller, "step", None)
        self.ask: Callable[..., Any] = step if callable(step) else controller
        _require_three(self.ask)
        self.record = getattr(controller, "record", None)
        observe = getattr(controller, "observe", None)
        self.observe: Callable[[Observation], None] | None = observe if callable(observe) else None
        level = getattr(controller, "level", "torque")
        self.records: list[dict[str, Any]] = []
        if not isinstance(level, str) or level not in ("torque", "acceleration", "velocity"):
            known = "'torque', 'acceleration' or 'velocity'"
            raise Error(f"a controller's level is {known}; found {shown(level)}.", level=level)
        self.by_acceleration = level == "acceleration"
        self.level = "torque" if self.by_acceleration else level  # what the plant is given
        self.undriven = undriven(problem.robot.model)

    def __call__(self, t: float, q: Array, v: Array, living: npt.NDArray[np.bool_] | None = None) -> Array:
        """Forces (or velocities) (B, nv) at the states q (B, nq), v (B, nv); diverged runs are not checked."""
        problem = self.problem
        if not problem.batch:
            q, v = q[0], v[0]
        try:
            given = self.ask(t, q, v)
        except Exception as problem_inside:
            problem_inside.add_note(f"raised by the controller at t = {t:.9g} s of the simulation")
            raise
        array = self._sized(given, t)
        if living is not None and not living.all():
            array = np.where(living[:, None], array, 0.0)
        array = self._finite(array, t)
        if self.by_acceleration:
            return self._within(self._forces(t, np.atleast_2d(q), np.atleast_2d(v), array))
        if self.level == "torque" and len(self.undriven) and array[:, self.undriven].any():
            given = f"at t = {t:.9g} s the controller commands"
            require_driven(problem.robot.model, array, given, SimulationError, time=t)
        return self._within(array)

    def _within(self, tau: Array) -> Array:
        """Forces that the motors can give, where they are to be clipped."""
        if self.level != "torque" or self.problem.efforts != "clip":
            return tau
        return clipped_forces(self.problem.robot, tau)

    def _forces(self, t: float, q: Array, v: Array, a: Array) -> Array:
        """The forces that give an acceleration: of the tree, or, where axes have no motor, of those that have one."""
        robot = self.problem.robot
        tau = robot.inverse_dynamics(q, v, a, check=False)
        if not len(self.undriven):  # constraints bear what is theirs
            return tau
        rows = robot.constraint_matrix(q, None, t, check=False)
        tau, left = torques.least_torques(tau, rows, np.flatnonzero(robot.actuated))
        if (left > torques.TOLERANCE).any():
            what = f"the motors of {robot.name!r} cannot give the acceleration that the controller commands"
            text = f"{what} at t = {t:.9g} s: {left.max():.3g} of the needed forces lie on axes without a motor."
            raise SimulationError(text, time=t, residual=float(left.max()))
        return tau

    def tell(self, observation: Observation) -> None:
        """Give the controller what the plant measured."""
        if self.observe is None:
            return
        try:
            self.observe(observation)
        except Exception as problem_inside:
            problem_inside.add_note(f"raised by observe of the controller at t = {observation.time:.9g} s")
            raise

    def note(self) -> None:
        """Keep what the controller says about itself at this sample."""
        if callable(self.record):
            given = self.record()
            if not isinstance(given, Mapping):
                raise SimulationError(f"a controller's record() gives a dictionary; found {shown(given)}.")
            self.records.append(dict(given))

    def _sized(self, given: Any, t: float) -> Array:
        model = self.problem.robot.model
        when = f"at t = {t:.9g} s"
        try:
            array = real_array(given, "a command")
        except (TypeError, ValueError):
            text = f"the controller returned {shown(given)} {when}, but {model.nv} numbers are needed."
            raise SimulationError(text, time=t) from None
        count = self.problem.count
        good = ((model.nv,), (count, model.nv)) if self.problem.batch else ((model.nv,),)
        if array.shape not in good:
            text = f"the controller returned shape {array.shape} {when}; {model.name!r} needs {good[-1]}."
            raise SimulationError(text, time=t, found=array.shape, expected=good[-1])
        return array[None] if not self.problem.batch else np.broadcast_to(array, (count, model.nv))

    def _finite(self, array: Array, t: float) -> Array:
        flat = array.ravel()
        with np.errstate(over="ignore", invalid="ignore"):
            if math.isfinite(np.dot(flat, flat)) or np.isfinite(array).all():
                return array
        row, k = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        joint, run = joint_of(self.problem.robot.model, k), row if self.problem.batch else None
        where = "" if run is None else f" of run {run}"
        text = f"the controller returned {array[row, k]} for joint {joint!r}{where} at t = {t:.9g} s."
        raise SimulationError(text, time=t, joint=joint, row=run)

    def extra(self, samples: int) -> dict[str, Array]:
        """The notes as arrays (samples, …); a name that is missing in some sample is left out."""
        notes = self.records[:samples]
        notes += notes[-1:] * (samples - len(notes))  # where an event ended the run, the last one holds at its end
        names = [name for name in notes[0] if all(name in note for note in notes)] if notes else []
        return {str(name): _column(name, [note[name] for note in notes]) for name in names}


def _column(name: str, values: list[Any]) -> Array:
    try:
        return np.array(values)
    except (ValueError, TypeError, OverflowError):
        what = f"the controller recorded {shown(name)} as {shown(values[-1])}, which is not an array"
        remedy = "record the same kind at every sample"
        raise SimulationError(f"{what}, or has another shape in other samples: {remedy}.") from None


@dataclass(frozen=True)
class Actuation:
    """What acts on the joints during a run: a compiled law, a Python controller that is asked, or given torques.

    ``tau`` is (steps or 1, B or 1, nv), and zero with a law or a controller.
    """

    law: ControlLaw | None
    asked: Sampled | None
    tau: Array

    @classmethod
    def of(cls, controller: Any, problem: Problem) -> Actuation:
        """Sorts what a user gave as controller."""
        nv = problem.robot.nv
        law = controller if isinstance(controller, ControlLaw) else None
        in_python = law is None and (callable(controller) or callable(getattr(controller, "step", None)))
        asked = Sampled(controller, problem) if in_python else None
        clips = problem.efforts == "clip"
        if law is not None and clips:
            law = clipped_law(law, problem.robot)
        if controller is None or law or asked:
            return cls(law, asked, np.zeros((1, 1, nv)))
        tau = per_step("tau, given as controller,", controller, nv, problem.steps, problem.count)
        require_driven(problem.robot.model, tau, "tau, given as controller, has")
        return cls(None, None, clipped_forces(problem.robot, tau) if clips else tau)

    @property
    def level(self) -> str:
        """What is commanded: "torque" or "velocity"."""
        return self.asked.level if self.asked is not None else "torque"
