"""What happened in a machine: transitions with their reasons, and errors over time."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Event:
    """A state that began at ``t`` in s, after ``source`` ("" at the start), because of ``guard``, in words.

    ``kind``: "start", "success", "failure", "time limit" or "". ``errors``: norms of the errors of the tasks of the
    state before, at the end. ``pending``: of a time limit, the guards that had not been true by then. ``at_bounds``: of
    failures and time limits, the constraints whose bounds the last command used up. ``stall``: of these and of stalls,
    which tasks the last command did not meet and what held them back, as ``controller.stall`` says it.
    """

    t: float
    source: str
    to: str
    guard: str
    kind: str = ""
    errors: dict[str, float] = field(default_factory=dict)
    pending: tuple[str, ...] = ()
    at_bounds: tuple[str, ...] = ()
    stall: str = ""

    def __str__(self) -> str:
        way = f"{self.source} → {self.to}" if self.source else f"begins in {self.to}"
        errors = ", ".join(f"{name} {size:.4g}" for name, size in self.errors.items())
        reason = f": {self.guard}" if self.guard else ""
        held = f", at the bounds of {', '.join(map(repr, self.at_bounds))}" if self.at_bounds else ""
        why = f"; {self.stall}" if self.stall else ""
        return f"t = {self.t:.4g} s: {way}{reason}{held}{f' [errors: {errors}]' if errors else ''}{why}"


@dataclass(frozen=True)
class Visit:
    """A stay in a ``state``, from ``start`` to ``end`` in s."""

    state: str
    start: float
    end: float


class History:
    """Norms of the errors of tasks over time, thinned out as it grows: at most ``most`` samples."""

    def __init__(self, spacing: float = 0.01, most: int = 4000) -> None:
        self.spacing, self.most = spacing, most
        self.times: list[float] = []
        self.states: list[str] = []
        self.errors: list[dict[str, float]] = []
        self.next = -float("inf")

    def add(self, t: float, state: str, errors: dict[str, float]) -> None:
        """A sample; the next one is due at ``next`` in s."""
        self.times.append(t)
        self.states.append(state)
        self.errors.append(errors)
        if len(self.times) >= self.most:
            self.spacing *= 2.0
            for kept in (self.times, self.states, self.errors):
                del kept[1::2]
        self.next = t + self.spacing - 1e-9
