"""Guards that are constant, found before a machine runs.

A function that reads nothing of its moment and nothing outside of itself, such as ``lambda moment: True``, is constant.
Other functions that only refer to constants and to what has no memory are asked at moments drawn at random: times from
0 to the time limit of the state, configurations within the limits, errors and forces of all sizes. One that is true at
all of them would end its state in the first step, and is refused; one that is true at none may still be true where it
counts, so it is only warned of. Functions that refer to objects of other kinds are not asked: they may have a memory.
"""

from __future__ import annotations

import builtins
import inspect
import warnings
from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.core.errors import ControlError, ControlWarning
from dqdyn.control.machine.guard_kinds import Combined, Guard, IsNot, Scope, When
from dqdyn.robot import Robot

_MOMENTS = 200
_PLAIN = (int, float, complex, str, bytes, type(None), np.ndarray, np.generic, ModuleType, BuiltinFunctionType, type)
_ROWS = 8  # of a drawn error, whose size is not known before the program is


class _Unknown(Exception):
    """Something was asked for that there is not yet."""


class _Drawn:
    """A moment drawn at random, which notes whether it is read."""

    def __init__(self, scope: Scope, draw: np.random.Generator, index: int) -> None:
        self._scope, self._draw, self.is_read = scope, draw, False
        longest = scope.time_limit if np.isfinite(scope.time_limit) else 100.0
        elapsed = (0.0, longest, *draw.uniform(0.0, longest, 1))[min(index, 2)]
        self._values: dict[str, Any] = {
            "elapsed": float(elapsed),
            "t": float(elapsed + (index > 0) * draw.exponential(10.0)),
        }

    def __getattr__(self, name: str) -> Any:
        self.is_read = True
        scope, draw = self._scope, self._draw
        if name not in self._values:
            self._values[name] = self._value(name, scope.robot, draw)
        return self._values[name]

    def _value(self, name: str, robot: Robot, draw: np.random.Generator) -> Any:
        if name == "q":
            return robot.random_configuration(draw)
        if name == "v":
            return draw.normal(size=robot.nv) * 10.0 ** draw.uniform(-4.0, 1.0)
        if name == "errors":
            return {task: self._error(draw) for task in self._scope.tasks}
        if name == "error":
            return lambda task: self.errors[self._scope.task(task).name]
        if name == "error_norm":
            return lambda task: float(np.linalg.norm(self.errors[self._scope.task(task).name]))
        known = {
            "robot": robot,
            "state": self._scope.state,
            "observed": _Forces(draw),
            "is_switching": draw.random() < 0.5,
        }
        if name in known:
            return known[name]
        raise _Unknown(name)

    def _error(self, draw: np.random.Generator) -> Array:
        return draw.normal(size=_ROWS) * (10.0 ** draw.uniform(-9.0, 3.0) if draw.random() < 0.9 else 0.0)


class _Forces:
    def __init__(self, draw: np.random.Generator) -> None:
        self._draw = draw

    def normal_force(self, frame: str) -> float:
        return float(self._draw.exponential(200.0)) * (self._draw.random() < 0.5)

    def force(self, frame: str) -> Array:
        return self._draw.normal(size=3) * 200.0


def check_constant(guard: Guard, scope: Scope, to: str) -> None:
    """An error where a guard is constant, a warning where it seems never to be true."""
    where = f"of the transition from {scope.state!r} to {to!r}"
    for function in _functions(guard):
        outside = _outside(function)
        if outside is None:
            continue
        values, is_read = _asked(function, scope)
        if not values:
            continue
        if not is_read and not outside:
            text = f"the guard {where} is always {values.pop()}: it reads nothing of the moment that it is given."
            raise ControlError(text, state=scope.state, to=to)
        if not is_read:
            continue
        if values == {True}:
            text = f"the guard {where} is true at {_MOMENTS} random moments: it would end its state in the first step."
            raise ControlError(text, state=scope.state, to=to)
        if values == {False}:
            text = f"the guard {where} is true at none of {_MOMENTS} random moments: it may be constant."
            warnings.warn(text, ControlWarning, stacklevel=4)


def _functions(guard: Guard) -> Iterator[FunctionType]:
    """The plain functions in a guard; of several together, those that stand alone."""
    if isinstance(guard, When) and isinstance(guard.function, FunctionType):
        yield guard.function
    elif isinstance(guard, Combined):
        for inner in guard.guards:
            yield from _functions(inner)
    elif isinstance(guard, IsNot):
        yield from _functions(guard.guard)


def _outside(function: FunctionType) -> list[Any] | None:
    """What a function refers to outside of itself, None where something of it may have a memory."""
    try:
        found = inspect.getclosurevars(function)
    except (TypeError, ValueError):
        return None
    outside = [*found.nonlocals.values(), *found.globals.values(), *(function.__defaults__ or ())]
    if function.__code__.co_cellvars or not all(_is_plain(value) for value in outside):
        return None
    return outside


def _is_plain(value: Any) -> bool:
    if isinstance(value, (tuple, frozenset)):
        return all(_is_plain(item) for item in value)
    return isinstance(value, _PLAIN) or getattr(builtins, getattr(value, "__name__", ""), None) is value


def _asked(function: Callable[[Any], Any], scope: Scope) -> tuple[set[bool], bool]:
    """What a function says at random moments, nothing where it cannot be asked, and whether it reads any of them."""
    draw, values, is_read = np.random.default_rng(0), set(), False
    for index in range(_MOMENTS):
        moment = _Drawn(scope, draw, index)
        try:
            with np.errstate(all="ignore"):
                values.add(bool(function(moment)))
        except Exception:  # whatever a function of the user may raise on a moment that is drawn
            return set(), True
        is_read = is_read or moment.is_read
    return values, is_read
