"""What comes from outside: targets, obstacles and safe distances that stand still or move.

A signal is given as a constant, as a function of time, by :class:`Moving` or by :class:`Measured`. Functions that use
``sin``, ``cos``, … of :mod:`dqdyn.algebra.scalar` become part of the compiled program, derivatives included.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar
from dqdyn.compile.trace.tracer import Graph, Traced
from dqdyn.control.core.differentiate import Given
from dqdyn.control.core.errors import in_words, no_value
from dqdyn.control.features.components import SIZE, check, check_shape, components, sentence
from dqdyn.errors import Error

_LATER = (0.1, 1.0)  # s: times at which a function of the algebra that gives no unit vectors shows it


@dataclass(frozen=True, eq=False)
class Moving:
    """A thing whose motion is given by functions of time t in s.

    Without ``velocity`` and ``acceleration`` they are derived from ``position``, which must then be a function of the
    algebra. ``known=False`` declares the motion unknown: the controller sees where the thing is and takes it to be at
    rest (case II of Quiroz, section 4.1).
    """

    position: Callable[[Any], Any]
    velocity: Callable[[float], Any] | None = None
    acceleration: Callable[[float], Any] | None = None
    known: bool = True


class Measured:
    """A thing that is set from outside: ``ball = Measured(p)``, then ``ball.update(p, velocity, acceleration)``.

    ``known=False`` ignores the velocities that are set. ``ball.update(None)`` says that it is not seen: controllers
    then act as on a measurement that failed.
    """

    def __init__(self, position: Any, velocity: Any = None, acceleration: Any = None, *, known: bool = True) -> None:
        self.known = known
        self.update(position, velocity, acceleration)

    def update(self, position: Any, velocity: Any = None, acceleration: Any = None) -> None:
        """Where it is now; a velocity or acceleration that is not given is zero."""
        self.position, self.velocity, self.acceleration = position, velocity, acceleration


class Signal(ABC):
    """Components of one given thing at time t."""

    inside = False  # whether the compiled program computes it from t

    def __init__(self, kind: str, size: int, what: str) -> None:
        self.kind, self.size, self.what = kind, size, what

    @abstractmethod
    def at(self, t: float) -> Given:
        """Value, rate and acceleration at time t."""

    @property
    def moves(self) -> bool:
        """Whether it must be evaluated at every step."""
        return True


class Constant(Signal):
    """A thing at rest."""

    def __init__(self, kind: str, found: list[float], what: str) -> None:
        super().__init__(kind, len(found), what)
        check(kind, found, what)
        self.found = found

    @property
    def moves(self) -> bool:
        return False

    def at(self, t: float) -> Given:
        return Given(self.found, [0.0] * self.size, [0.0] * self.size)


class Timed(Signal):
    """A function of the algebra of t, traced into the program."""

    inside = True

    def __init__(self, kind: str, size: int, what: str, function: Callable[[Any], Any], known: bool) -> None:
        super().__init__(kind, size, what)
        self.function, self.known = function, known
        check(kind, [float(c) for c in at_start(self.at, what).value], f"{what} at t = 0")
        for t in _LATER:
            check_shape(kind, self._value(t), f"{what} at t = {t:g} s")

    def _value(self, t: float) -> list[float]:
        """Components at a time; NaN where the function does not reach."""
        try:
            return [float(c) for c in components(self.kind, self.function(t), self.what, self.size)]
        except Exception:
            return [math.nan] * self.size

    def at(self, t: Scalar) -> Given:
        f = lambda c: components(self.kind, self.function(c[0]), self.what, self.size)
        zero = [0.0] * self.size
        if not self.known:
            return Given(f([t]), zero, zero)
        first = lambda c: derivative(f, c, [1.0])
        return Given(f([t]), first([t]), derivative(first, [t], [1.0]))


class Called(Signal):
    """Plain Python functions of time, called at every step."""

    def __init__(self, kind: str, size: int, what: str, moving: Moving) -> None:
        super().__init__(kind, size, what)
        self.moving = moving
        check(kind, at_start(self.at, what).value, f"{what} at t = 0")

    def at(self, t: float) -> Given:
        zero = [0.0] * self.size

        def part(function: Callable[[float], Any] | None) -> list[float]:
            if function is None or (not self.moving.known and function is not self.moving.position):
                return zero
            return components(self.kind, function(t), self.what, self.size)

        position = part(self.moving.position)
        check_shape(self.kind, position, self.what)
        return Given(position, part(self.moving.velocity), part(self.moving.acceleration))


class FromMeasured(Signal):
    """What a :class:`Measured` says."""

    def __init__(self, kind: str, size: int, what: str, measured: Measured) -> None:
        super().__init__(kind, size, what)
        self.measured = measured
        check(kind, self.at(0.0).value, what)

    def at(self, t: float) -> Given:
        m = self.measured
        if m.position is None:
            raise Error(f"{sentence(self.what)} is not measured: update it with a position.")

        def part(value: Any) -> list[float]:
            given = value is not None and (m.known or value is m.position)
            return components(self.kind, value, self.what, self.size) if given else [0.0] * self.size

        position = part(m.position)
        check_shape(self.kind, position, self.what)
        return Given(position, part(m.velocity), part(m.acceleration))


def as_signal(kind: str, given: Any, what: str, size: int | None = None) -> Signal:
    """The signal of a constant, a function of time, a :class:`Moving` or a :class:`Measured`; ``what`` names it."""
    size = SIZE[kind] if size is None else size
    if isinstance(given, Signal):
        return given
    if isinstance(given, Measured):
        return FromMeasured(kind, size, what, given)
    if isinstance(given, Moving) or callable(given):
        moving = given if isinstance(given, Moving) else Moving(given)
        return _moving(kind, size, what, moving)
    return Constant(kind, components(kind, given, what, size), what)


def _moving(kind: str, size: int, what: str, moving: Moving) -> Signal:
    if moving.velocity is None and moving.acceleration is None and _takes_symbols(moving.position):
        return Timed(kind, size, what, moving.position, moving.known)
    if moving.known and (moving.velocity is None or moving.acceleration is None):
        at_start(moving.position, what)
        missing = "acceleration" if moving.velocity else "velocity" if moving.acceleration else ""
        raise Error(
            f"{sentence(what)} moves, but its {missing or 'velocity or acceleration'} is not given: use sin, cos, … of "
            "dqdyn.algebra.scalar in its function, pass Moving(position, velocity, acceleration), or declare them "
            "unknown by known=False.",
            what=what,
        )
    return Called(kind, size, what, moving)


def _takes_symbols(function: Callable[[Any], Any]) -> bool:
    """Whether a function of time can be traced; what it uses tells only by trying."""
    graph = Graph()
    try:
        function(Traced(graph, graph.node("input", 0, 0)))
    except Exception:  # whatever a function of the user may raise on what is no number
        return False
    return True


def at_start(function: Callable[[float], Any], what: str) -> Any:
    """The value of a function of time at t = 0, where every signal is looked at first."""
    try:
        return function(0.0)
    except Error:
        raise
    except Exception as problem:
        raise Error(f"{sentence(what)} has no value at t = 0: {in_words(problem)}.", what=what) from problem


def not_finite(signal: Signal, t: float) -> str:
    """What is wrong with a signal at time t, in words; "" for one that has finite values."""
    try:
        given = signal.at(t)
        is_finite = np.isfinite([*given.value, *given.rate, *given.acceleration]).all()
    except Exception as problem:
        return str(no_value(signal.what, problem).why)
    return "" if is_finite else "is not finite"


class Board:
    """All signals of a controller in three arrays: values, rates, accelerations; those at rest are written once."""

    def __init__(self, signals: list[Signal]) -> None:
        self.outside = [s for s in signals if not s.inside]
        starts = np.cumsum([0, *(s.size for s in self.outside)])
        self.where = {id(s): slice(int(a), int(a) + s.size) for s, a in zip(self.outside, starts, strict=False)}
        self.size = max(1, int(starts[-1]))  # a program takes no empty input
        self.value, self.rate, self.acceleration = (np.zeros(self.size) for _ in range(3))
        self._moving = [(s, self.where[id(s)]) for s in self.outside if s.moves]
        for signal in self.outside:
            self._write(signal, self.where[id(signal)], 0.0)

    def update(self, t: float) -> None:
        """Write what moves."""
        for signal, part in self._moving:
            self._write(signal, part, t)

    def _write(self, signal: Signal, part: slice, t: float) -> None:
        try:
            given = signal.at(t)
        except Exception as problem:  # of the user's function, whatever it is: the policy decides
            raise no_value(signal.what, problem, signal) from problem
        self.value[part], self.rate[part], self.acceleration[part] = given.value, given.rate, given.acceleration
