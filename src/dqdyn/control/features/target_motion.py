"""A target of all coordinates as a reference: q, v and v̇ at every time, whatever it was given as."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalar, is_numeric
from dqdyn.arrays import Array
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.control.core.kinematics import SignalMotion
from dqdyn.control.features.signals import Signal, SignalLike, as_signal
from dqdyn.errors import Error
from dqdyn.references.computed_torque import Reference
from dqdyn.references.path import TimedPath
from dqdyn.references.space import Space
from dqdyn.references.tracking import compiled_velocities, velocities_of_rates
from dqdyn.robot import Robot

_WHAT = "the target of computed torque"


def target_motion(robot: Robot, target: SignalLike | Reference) -> Reference:
    """A function of time that gives q (nq), v (nv) and v̇ (nv)."""
    if isinstance(target, TimedPath):
        as_signal("vector", target, _WHAT, robot.nq)  # refuses a path of something else
        return target
    if callable(target) and _is_reference(target):
        return target
    signal = as_signal("vector", target, _WHAT, robot.nq)
    return SignalReference(robot, signal)


def _is_reference(function: Any) -> bool:
    """Whether a function of time gives three vectors rather than one."""
    try:
        given = function(0.0)
        return len(given) == 3 and all(np.ndim(part) == 1 for part in given)
    except Exception:  # whatever a function of the user may raise: the signal says it better
        return False


class SignalReference:
    """q, v and v̇ out of the components of a signal and their rates."""

    def __init__(self, robot: Robot, signal: Signal) -> None:
        self.space, self.signal = Space.of(robot), signal
        self._compiled = None
        if signal.inside:
            program = trace("target of computed torque", [("t", 1)], lambda t: (self._row(t[0]), (self._size,)))
            self._compiled = Function(program).fast

    @property
    def _size(self) -> int:
        return self.space.nq + 2 * self.space.nv

    def __call__(self, t: Scalar) -> tuple[Any, Any, Any]:
        q, v = self.space.nq, self.space.nv
        row: Any
        if is_numeric(t):
            row = self._numbers(float(t)) if self._compiled is None else self._compiled(np.array([float(t)]))
        elif self.signal.moves and not self.signal.inside:
            raise Error(f"{_WHAT} is no function of the algebra: use the controller itself, not its compiled law.")
        else:
            row = self._row(t)
        return row[:q], row[q : q + v], row[q + v :]

    def _numbers(self, t: float) -> Array:
        given = self.signal.at(t)
        value, rate, second = (np.array(x, dtype=float) for x in (given.value, given.rate, given.acceleration))
        v, a = np.zeros(self.space.nv), np.zeros(self.space.nv)
        for i, k in self.space.flat:
            v[k], a[k] = rate[i], second[i]
        for part in self.space.parts:
            found = compiled_velocities(part.kind)(*(x[part.q].copy() for x in (value, rate, second)))
            v[part.v], a[part.v] = np.split(found, 2)
        return np.concatenate([value, v, a])

    def _row(self, t: Scalar) -> list[Scalar]:
        given: SignalMotion = self.signal.at(t)
        v: list[Scalar] = [0.0] * self.space.nv
        a: list[Scalar] = [0.0] * self.space.nv
        for i, k in self.space.flat:
            v[k], a[k] = given.rate[i], given.acceleration[i]
        for part in self.space.parts:
            along = (given.value[part.q], given.rate[part.q], given.acceleration[part.q])
            v[part.v], a[part.v] = velocities_of_rates(part.kind, *along)
        return [*given.value, *v, *a]
