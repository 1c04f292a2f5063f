"""What comes from outside: targets, obstacles and safe distances that stand still or move.

A signal is given as a constant, as a function of time, by :class:`Moving`, by :class:`Measured`, or as a path of
:mod:`dqdyn.references`. Functions that use
``sin``, ``cos``, … of :mod:`dqdyn.algebra.scalar` become part of the compiled program, derivatives included.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar
from dqdyn.algebra.value import Value
from dqdyn.arrays import RealArray, RealNumber
from dqdyn.compile.trace.tracer import Graph, Traced
from dqdyn.control.core.errors import in_words, no_value, refused
from dqdyn.control.core.kinematics import SignalMotion
from dqdyn.control.features.components import SIZE, check, check_shape, components, sentence
from dqdyn.errors import Error
from dqdyn.model.model import Model
from dqdyn.references.path import TimedPath

ValueLike: TypeAlias = RealArray | RealNumber | Value | DQ
Sample: TypeAlias = ValueLike | None
"""A measured value, or None."""

_LATER = (0.1, 1.0)  # s: times at which a function of the algebra that gives no unit vectors shows it


@dataclass(frozen=True, eq=False)
class Moving:
    """An element of the workspace whose motion is given by functions of time t in s.

    Without ``velocity`` and ``acceleration`` they are derived from ``position``, which must then be a function of the
    algebra. ``known=False`` declares the motion unknown: the controller sees where it is and takes it to be at rest
    (case II of Quiroz, section 4.1).
    """

    position: Callable[[Any], Any]
    velocity: Callable[[float], Any] | None = None
    acceleration: Callable[[float], Any] | None = None
    known: bool = True


class Measured:
    """An element of the workspace that is set from outside.

    ``ball = Measured(p)``, then ``ball.update(p, velocity, acceleration)`` whenever there is a new measurement.
    ``known=False`` ignores the velocities that are set. ``ball.update(None)`` says that it is not seen: controllers
    then act as on a measurement that failed.
    """

    def __init__(
        self, position: Sample, velocity: Sample = None, acceleration: Sample = None, *, known: bool = True
    ) -> None:
        self.known = known
        self.update(position, velocity, acceleration)

    def update(self, position: Sample, velocity: Sample = None, acceleration: Sample = None) -> None:
        """Where it is now; a velocity or acceleration that is not given is zero."""
        self.position, self.velocity, self.acceleration = position, velocity, acceleration


class Signal(ABC):
    """Components at time t of what is given from outside: ``what``, in words."""

    inside = False  # whether the compiled program computes it from t
    moves = True  # whether it must be evaluated at every step

    def __init__(self, kind: str, size: int, what: str) -> None:
        self.kind, self.size, self.what = kind, size, what

    @abstractmethod
    def at(self, t: float) -> SignalMotion:
        """Value, rate and acceleration at time t."""

    @property
    def comparison_key(self) -> tuple[str, list[float]]:
        """Kind and components at t = 0, by which signals are compared."""
        return self.kind, self.at(0.0).value


class Constant(Signal):
    """A value at rest."""

    moves = False

    def __init__(self, kind: str, value: list[float], what: str) -> None:
        super().__init__(kind, len(value), what)
        check(kind, value, what)
        self.value = value

    def at(self, t: float) -> SignalMotion:
        return SignalMotion(self.value, [0.0] * self.size, [0.0] * self.size)


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

    def at(self, t: Scalar) -> SignalMotion:
        def value(c: list[Scalar]) -> list[Scalar]:
            return components(self.kind, self.function(c[0]), self.what, self.size)

        def rate(c: list[Scalar]) -> list[Scalar]:
            return derivative(value, c, [1.0])

        if not self.known:
            return SignalMotion(value([t]), [0.0] * self.size, [0.0] * self.size)
        return SignalMotion(value([t]), rate([t]), derivative(rate, [t], [1.0]))


class SampledSignal(Signal):
    """What plain Python functions of time, or a :class:`Measured`, say at every step."""

    def __init__(self, kind: str, size: int, what: str, source: Moving | Measured) -> None:
        super().__init__(kind, size, what)
        self.source = source
        when = " at t = 0" if isinstance(source, Moving) else ""
        check(kind, at_start(self.at, what).value, what + when)

    def at(self, t: float) -> SignalMotion:
        source = self.source
        if source.position is None:
            raise Error(f"{sentence(self.what)} is not measured: update it with a position.")
        position = self._components(source.position, t)
        check_shape(self.kind, position, self.what)
        rates = (source.velocity, source.acceleration) if source.known else (None, None)
        return SignalMotion(position, *(self._components(rate, t) for rate in rates))

    def _components(self, given: Any, t: float) -> list[float]:
        if given is None:
            return [0.0] * self.size
        return components(self.kind, given(t) if isinstance(self.source, Moving) else given, self.what, self.size)


class FollowedPath(Signal):
    """A path of :mod:`dqdyn.references`; it stays outside of the program, which thus serves any path."""

    def __init__(self, kind: str, size: int, what: str, path: TimedPath) -> None:
        super().__init__(kind, size, what)
        self.path = path
        given, space = path.space.size, path.space
        own = "vector" if space.model is not None else space.name
        if given != size or (own != kind and kind in SIZE and own in SIZE):
            of = f"configurations of {space.name}" if space.model is not None else f"a {space.name}"
            found = f"a path of {of} with {given} components"
            raise refused(f"{sentence(what)} is a {kind} with {size} components", found, expected=size)

    def at(self, t: float) -> SignalMotion:
        return SignalMotion(*(x.tolist() for x in self.path.motion(t)[:3]))


SignalLike: TypeAlias = ValueLike | Callable[[Any], Any] | Moving | Measured | Signal | TimedPath
"""What users give as a target, an obstacle or a distance: a constant, a function of time, a path, or what moves."""


def as_signal(kind: str, given: SignalLike, what: str, size: int | None = None) -> Signal:
    """The signal of a constant, a function of time, a :class:`Moving` or a :class:`Measured`; ``what`` names it."""
    size = SIZE[kind] if size is None else size
    if isinstance(given, Signal):
        return given
    if isinstance(given, TimedPath):
        return FollowedPath(kind, size, what, given)
    if isinstance(given, Measured):
        return SampledSignal(kind, size, what, given)
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
    return SampledSignal(kind, size, what, moving)


def _takes_symbols(function: Callable[[Any], Any]) -> bool:
    """Whether a function of time can be traced, found by trying."""
    graph = Graph()
    try:
        function(Traced(graph, graph.node("input", 0, 0)))
    except Exception:  # whatever a function of the user may raise on a symbol
        return False
    return True


def at_start(function: Callable[[float], Any], what: str) -> Any:
    """The value of a function of time at t = 0, where every signal is first evaluated."""
    try:
        return function(0.0)
    except Error:
        raise
    except Exception as problem:
        raise Error(f"{sentence(what)} has no value at t = 0: {in_words(problem)}.", what=what) from problem


def value_at_start(given: Any, what: str) -> Any:
    """What is given, as it is at t = 0 if it moves."""
    if isinstance(given, TimedPath):
        return given(0.0)[0]
    now = given.position if isinstance(given, (Moving, Measured)) else given
    return at_start(now, what) if callable(now) else now


def not_finite(signal: Signal, t: float) -> str:
    """What is wrong with a signal at time t, in words; "" for one that has finite values."""
    try:
        given = signal.at(t)
        is_finite = np.isfinite([*given.value, *given.rate, *given.acceleration]).all()
    except Exception as problem:
        return str(no_value(signal.what, problem).why)
    return "" if is_finite else "is not finite"


class SignalBuffer:
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

    def inputs(self, model: Model) -> list[tuple[str, int]]:
        """Names and sizes of what programs take: time, state, and the three arrays."""
        p = self.size
        return [("t", 1), ("q", model.nq), ("v", model.nv), ("signals", p), ("rates", p), ("accelerations", p)]

    def motion(self, signal: Signal, t: Scalar, *arrays: list[Scalar]) -> SignalMotion:
        """A signal in a program: out of the three arrays, or computed from the time."""
        if signal.inside:
            return signal.at(t)
        value, *rates = (array[self.where[id(signal)]] for array in arrays)
        # At rest its rates are zero whatever its value: nothing to compute.
        return SignalMotion(value, *(rate if signal.moves else [0.0] * signal.size for rate in rates))

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
