"""Zeros of functions of the state along a run, as in SciPy: attributes ``terminal`` and ``direction`` are optional."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dqdyn.errors import Error
from dqdyn.simulate.faults import SimulationError
from dqdyn.simulate.integrators.dormand_prince import Span
from dqdyn.simulate.problem import shown

_HALVINGS = 60
Event = Callable[..., float]
"""A function (t, q, v) → float."""


def event_functions(given: Any) -> list[Event]:
    """The functions of a list, or an error."""
    listed = isinstance(given, Iterable) and not isinstance(given, (str, bytes, np.ndarray))
    functions: list[Any] = list(given) if listed else [None]
    if not all(map(callable, functions)):
        raise Error(f"events is a list of functions (t, q, v) -> float; found {shown(given)}.", argument="events")
    return functions


class Events:
    """Watches functions (t, q, v) → float from step to step and keeps the times of their zeros by name.

    ``terminal=True`` on a function ends the run there; ``direction`` > 0 counts zeros on the way up only, < 0 on
    the way down. Two zeros within one step are not seen.
    """

    def __init__(self, functions: Sequence[Event]) -> None:
        self.functions = list(functions)
        self.names = [getattr(f, "__name__", f"event {k}") for k, f in enumerate(self.functions)]
        if len(set(self.names)) < len(self.names):
            self.names = [f"{name} {k}" for k, name in enumerate(self.names)]
        self.times: dict[str, list[float]] = {name: [] for name in self.names}
        self.before: list[float] = []

    def begin(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """The values at the start."""
        self.before = [self._value(k, t, q, v) for k in range(len(self.functions))]

    def in_span(self, span: Span, q: np.ndarray, v: np.ndarray) -> tuple[float, str] | None:
        """Find the zeros in a step that ends in (q, v); time and name of a terminal one."""
        zeros = []
        end = span.t + span.h
        after = [self._value(k, end, q, v) for k in range(len(self.functions))]
        for k, (a, b) in enumerate(zip(self.before, after, strict=True)):
            direction = getattr(self.functions[k], "direction", 0)
            up, down = a < 0.0 <= b, a > 0.0 >= b
            if (up and direction >= 0) or (down and direction <= 0):
                zeros.append((self._zero(k, span, a), k))
        self.before = after
        for t, k in sorted(zeros):
            self.times[self.names[k]].append(t)
            if getattr(self.functions[k], "terminal", False):
                return t, self.names[k]
        return None

    def _zero(self, k: int, span: Span, value: float) -> float:
        """By bisection on the dense output: it cannot fail, and 60 halvings reach rounding."""
        low, high = span.t, span.t + span.h
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            (q,), (v,) = span.at(np.array([middle]))
            if (self._value(k, middle, q, v) < 0.0) == (value < 0.0):
                low = middle
            else:
                high = middle
        return high

    def _value(self, k: int, t: float, q: np.ndarray, v: np.ndarray) -> float:
        given: Any = self.functions[k](t, q, v)
        try:
            value = float(given)
        except (TypeError, ValueError, OverflowError):
            text = f"the event {self.names[k]!r} gave {shown(given)} at t = {t:.9g} s; it gives one number."
            raise SimulationError(text, time=t) from None
        if not np.isfinite(value):
            raise SimulationError(f"the event {self.names[k]!r} gave {value} at t = {t:.9g} s.", time=t)
        return value
