"""State machines in reports: their states as spans, their transitions as events, and their pictures."""

from __future__ import annotations

from dqdyn.analysis.experiments.figure_kinds import Event, Picture, Span
from dqdyn.control import StateMachine


def spans_of(machine: StateMachine) -> tuple[Span, ...]:
    """A span per visit of a state."""
    return tuple(Span(visit.start, visit.end, visit.state) for visit in machine.visits)


def events_of(machine: StateMachine) -> tuple[Event, ...]:
    """A mark per transition, with the guard that led to it."""
    return tuple(Event(event.t, f"{event.to}: {event.guard}") for event in machine.log[1:])


def history_of(machine: StateMachine, title: str) -> Picture:
    """What the machine did: states, errors and guards over time."""
    drawn = machine.history()
    return Picture(title, drawn.svg, drawn.text)


def graph_of(machine: StateMachine, title: str) -> Picture:
    """States and guards of the machine, with what was visited."""
    drawn = machine.graph()
    return Picture(title, drawn.svg, drawn.text)
