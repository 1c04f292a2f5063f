"""What happened in a state machine: a bar per visit of a state, the errors of tasks, and why each state ended."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.view.machine_graph import COLORS, END_COLORS, GREY
from dqdyn.view.svg import COLORS as CURVES
from dqdyn.view.svg import ticks
from dqdyn.view.svg_shapes import INK, RULE, SOFT, SvgPicture, box, lines_of, path, svg, text, width_of

_WIDTH, _RIGHT, _TOP = 920.0, 20.0, 34.0
_ROW, _PANEL, _GAP = 22.0, 120.0, 30.0
_MOST = 132  # characters of a line
_MANY = 14  # events beyond which they are listed in two columns
_APART = 17.0  # of badges at least; others are left out
_DECADES = 2.0  # of an error, from which on its axis is logarithmic
_LEAST = 1e-9  # of errors that a logarithmic axis shows
_SHOWN = 1e-6  # of errors that are drawn at all


def history(machine: Any) -> SvgPicture:
    """The picture of a run: states, guards and errors over time."""
    visits, log = machine.visits, machine.log
    names = list(dict.fromkeys(visit.state for visit in visits)) or [machine.start]
    sizes = _sizes(machine.samples.errors)
    tasks = [name for name, values in sizes.items() if np.nan_to_num(values).max(initial=0.0) >= _SHOWN]
    unseen = [name for name in sizes if name not in tasks]
    left = max([width_of(name, 12.0) for name in names] + [70.0]) + 26.0
    start, end = (visits[0].start, max(visits[-1].end, visits[0].start + 1e-9)) if visits else (0.0, 1.0)
    scale = (_WIDTH - left - _RIGHT) / (end - start)

    def at(t: float) -> float:
        return left + (t - start) * scale

    colors = {name: _color(machine, name, i) for i, name in enumerate(names)}
    bottom = _TOP + _ROW * len(names)
    panels = [(name, bottom + _GAP + (_PANEL + _GAP) * i) for i, name in enumerate(tasks)]
    floor = panels[-1][1] + _PANEL if panels else bottom
    parts = _grid(start, end, at, floor)
    for visit in visits:
        y = _TOP + _ROW * names.index(visit.state)
        wide = max(at(visit.end) - at(visit.start), 1.5)
        parts.append(box(at(visit.start), y + 3.0, wide, _ROW - 6.0, colors[visit.state], round=3.0))
        for _, top in panels:
            parts.append(box(at(visit.start), top, wide, _PANEL, colors[visit.state], opacity=0.08))
    for i, name in enumerate(names):
        parts.append(text(left - 10.0, _TOP + _ROW * (i + 0.5) + 4.0, name, 12.0, INK, anchor="end"))
    badge = -_WIDTH
    for number, event in enumerate(log[1:], 1):
        color, x = COLORS.get(event.kind, GREY), at(event.t)
        dash = "5 4" if event.kind == "time limit" else ""
        parts.append(path([(x, _TOP - 6.0), (x, floor)], color, 1.2, dash=dash, opacity=0.8))
        if x - badge >= _APART:
            parts.append(_badge(x, _TOP - 14.0, number, color))
            badge = x
    times = np.array(machine.samples.times)
    for i, (name, top) in enumerate(panels):
        parts += _panel(name, times, sizes[name], (left, top), at, CURVES[i % len(CURVES)])
    listed, height = _events(log, floor + 40.0)
    title = f"What a machine of {machine.robot.name} did"
    return SvgPicture(title, svg(_WIDTH, height, title, [*parts, *listed]), _ending(machine, unseen))


def _sizes(samples: Sequence[dict[str, float]]) -> dict[str, Array]:
    """‖e‖ (samples,) by task, NaN where there is none."""
    names = dict.fromkeys(name for errors in samples for name in errors)
    return {name: np.array([errors.get(name, math.nan) for errors in samples]) for name in names}


def _color(machine: Any, name: str, index: int) -> str:
    return END_COLORS.get(machine.states[name].ends) or CURVES[(0, 3, 4, 5, 6, 8, 7)[index % 7]]


def _grid(start: float, end: float, at: Callable[[float], float], floor: float) -> list[str]:
    parts = []
    for t in ticks(start, end, 8):
        parts.append(path([(at(t), _TOP), (at(t), floor)], RULE, 1.0))
        parts.append(text(at(t), floor + 15.0, f"{t:.6g}".replace("-", "−"), 11.0, SOFT, anchor="middle"))
    parts.append(text(at(end), floor + 29.0, "time (s)", 11.0, SOFT, anchor="end"))
    return parts


def _badge(x: float, y: float, number: int, color: str) -> str:
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="8" style="fill: {color}"/>'
    return circle + text(x, y + 3.6, str(number), 10.0, "#ffffff", anchor="middle", weight="600")


def _panel(
    name: str, times: Array, sizes: Array, corner: tuple[float, float], at: Callable[[float], float], color: str
) -> list[str]:
    """‖e‖ of a task over time; logarithmic where it spans decades."""
    left, top = corner
    finite = sizes[np.isfinite(sizes)]
    parts = [text(left, top - 6.0, f"‖error‖ of {name}", 12.0, INK, weight="600")]
    if not len(finite):
        return parts
    largest = float(finite.max())
    positive = finite[finite > _LEAST]
    is_log = len(positive) > 0 and math.log10(largest / float(positive.min())) > _DECADES
    if is_log:
        first, last = math.floor(math.log10(float(positive.min()))), math.ceil(math.log10(largest) + 1e-9)
        rows = [(float(k), f"10{_power(k)}") for k in range(first, last + 1, max(1, -(-(last - first) // 5)))]
        low, high = float(first), float(last)
        shown = np.log10(np.maximum(np.where(np.isfinite(sizes), sizes, np.nan), 10.0**low))
    else:
        low, high = 0.0, 1.06 * largest or 1.0
        rows = [(y, f"{y:.4g}") for y in ticks(low, high, 3)]
        shown = sizes

    def y_of(value: float) -> float:
        return top + _PANEL * (high - value) / (high - low)

    for value, words in rows:
        parts.append(path([(at(times[0]), y_of(value)), (at(times[-1]), y_of(value))], RULE, 1.0))
        parts.append(text(left - 8.0, y_of(value) + 4.0, words, 11.0, SOFT, anchor="end"))
    piece: list[tuple[float, float]] = []
    for t, value in [*zip(times.tolist(), shown.tolist(), strict=True), (0.0, math.nan)]:
        if math.isfinite(value):
            piece.append((at(t), y_of(value)))
        elif piece:
            parts.append(path([*piece, (piece[-1][0] + 0.5, piece[-1][1])], color, 1.8))
            piece = []
    return parts


def _power(k: int) -> str:
    return str(k).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _events(log: Any, y: float) -> tuple[list[str], float]:
    """Numbered, with their reasons; many of them in two columns, without errors."""
    events = list(enumerate(log[1:], 1))
    columns = [events]
    if len(events) > _MANY:
        half = -(-len(events) // 2)
        columns = [events[:half], events[half:]]
    parts, lowest = [], y
    for i, column in enumerate(columns):
        x, below = 24.0 + 0.5 * _WIDTH * i, y
        for number, event in column:
            parts.append(_badge(x, below, number, COLORS.get(event.kind, GREY)))
            words = str(event) if len(columns) == 1 else str(replace(event, errors={}))
            for line in lines_of(words, _MOST // len(columns)):
                parts.append(text(x + 16.0, below + 4.0, line, 12.0, INK))
                below += 17.0
            below += 4.0
        lowest = max(lowest, below)
    return parts, lowest + 6.0


def _ending(machine: Any, unseen: Sequence[str]) -> str:
    if not machine.log:
        return "It has not run yet."
    last, count = machine.log[-1], len(machine.log) - 1
    end = f"ended in {last.to!r} ({machine.ended}) at {last.t:.4g} s" if machine.ended else f"was last in {last.to!r}"
    still = f" Errors below {_SHOWN:g} throughout are not drawn: {', '.join(unseen)}." if unseen else ""
    return f"The machine {end}, after {count} transition{'' if count == 1 else 's'}.{still}"
