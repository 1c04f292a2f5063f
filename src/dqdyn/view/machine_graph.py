"""The graph of a state machine: a box per state, a row in it per guard, and arrows to the states that they lead to.

Arrows run in lanes to the right of the boxes: those that lead to one state for one kind of reason share a lane.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from dqdyn.view.svg_shapes import (
    CARD,
    INK,
    RULE,
    SOFT,
    SvgPicture,
    arrow_left,
    box,
    lines_of,
    path,
    svg,
    text,
    width_of,
)

GREEN, RED, GREY, BLUE = "#2a9d5c", "#e4572e", "#76808f", "#3b7dd8"
COLORS = {"success": GREEN, "failure": RED, "": GREY, "time limit": RED}
END_COLORS = {"done": GREEN, "failed": RED}
_DASH = "5 4"
_MARGIN, _LINE, _HEADER, _GAP, _LANE = 16.0, 17.0, 30.0, 18.0, 13.0
_MOST = 60  # characters of a line


@dataclass
class _Arrow:
    """A guard of a state: what it says, where it leads to, and how often it was taken."""

    to: str
    kind: str
    words: list[str]
    taken: int
    y: float = 0.0

    @property
    def lane(self) -> tuple[str, str]:
        return self.to, self.kind


@dataclass
class _Box:
    """A state: its place and its rows."""

    name: str
    ends: str
    arrows: list[_Arrow]
    visits: int
    is_present: bool
    y: float = 0.0
    height: float = 0.0
    ports: list[tuple[str, str]] = field(default_factory=list)


def graph(machine: Any) -> SvgPicture:
    """The picture of a machine's states and guards; what was visited and taken is drawn strong."""
    boxes = _boxes(machine)
    y = _MARGIN + 22.0
    for each in boxes:
        each.y, row = y, y + _HEADER + 0.5 * _LINE
        for arrow in each.arrows:
            arrow.y, row = row, row + _LINE * len(arrow.words)
        each.height = _HEADER + _LINE * sum(len(a.words) for a in each.arrows) + (8.0 if each.arrows else 0.0)
        y += each.height + _GAP
    lanes = _lanes(boxes)
    for lane in lanes:
        next(each for each in boxes if each.name == lane[0]).ports.append(lane)
    longest = max([width_of(line, 12.4) for b in boxes for a in b.arrows for line in a.words], default=0.0)
    right = _MARGIN + max(longest + 34.0, *(width_of(_title(b), 13.5) + 60.0 for b in boxes), 180.0)
    width, height = right + 22.0 + _LANE * len(lanes) + _MARGIN, y + 16.0
    x_of = {lane: right + 22.0 + _LANE * i for i, lane in enumerate(lanes)}
    ran = bool(machine.log)
    parts = [_legend(width)]
    parts += [_lane(boxes, lane, x, right, ran) for lane, x in x_of.items()]
    parts += [_state(each, right, x_of, machine, ran) for each in boxes]
    title = f"States of a machine for {machine.robot.name}"
    return SvgPicture(title, svg(max(width, 420.0), height, title, parts), _summary(machine))


def _boxes(machine: Any) -> list[_Box]:
    taken = Counter((event.source, event.to, event.kind, event.guard) for event in machine.log)
    late = Counter((event.source, event.to) for event in machine.log if event.kind == "time limit")
    visits = Counter(event.to for event in machine.log)
    boxes = []
    for name, state in machine.states.items():
        arrows = []
        for transition in state.transitions:
            kind, words = machine.kind_of(transition), transition.words
            arrows.append(_Arrow(transition.to, kind, lines_of(words, _MOST), taken[name, transition.to, kind, words]))
        if not state.ends:
            to = machine.time_limit_targets[name]
            words = f"time limit of {state.time_limit:g} s"
            arrows.append(_Arrow(to, "time limit", [words], late[name, to]))
        boxes.append(_Box(name, state.ends, arrows, visits[name], bool(machine.log) and name == machine.state))
    return boxes


def _lanes(boxes: list[_Box]) -> list[tuple[str, str]]:
    """Lanes from the left, the short ones first, so that few arrows cross."""
    order = {each.name: i for i, each in enumerate(boxes)}
    reach: dict[tuple[str, str], int] = {}
    for each in boxes:
        for arrow in each.arrows:
            away = abs(order[arrow.to] - order[each.name])
            reach[arrow.lane] = max(reach.get(arrow.lane, 0), away)
    return sorted(reach, key=lambda lane: (lane[1] == "time limit", reach[lane], order[lane[0]]))


def _title(each: _Box) -> str:
    return f"{each.name}  ×{each.visits}" if each.visits > 1 else each.name


def _port(each: _Box, lane: tuple[str, str]) -> float:
    """Where an arrow of a lane enters a state."""
    step = min(9.0, (_HEADER - 8.0) / max(len(each.ports), 1))
    return each.y + 0.5 * _HEADER + step * (each.ports.index(lane) - 0.5 * (len(each.ports) - 1))


def _lane(boxes: list[_Box], lane: tuple[str, str], x: float, right: float, ran: bool) -> str:
    to, kind = lane
    target = next(each for each in boxes if each.name == to)
    end, color = _port(target, lane), COLORS[kind]
    dash = _DASH if kind == "time limit" else ""
    arrows = [arrow for each in boxes for arrow in each.arrows if arrow.lane == lane]
    parts = []
    for arrow in sorted(arrows, key=lambda a: a.taken > 0):  # what was taken is drawn on top
        strong, faint = (2.6, 1.0) if arrow.taken else (1.4, 0.4 if ran else 0.9)
        points = [(right, arrow.y), (x, arrow.y), (x, end), (right + 6.0, end)]
        parts.append(path(points, color, strong, dash=dash, opacity=faint, round=6.0))
    is_taken = any(arrow.taken for arrow in arrows)
    return "".join([*parts, arrow_left(right, end, color, 1.0 if is_taken or not ran else 0.45)])


def _state(each: _Box, right: float, x_of: dict[tuple[str, str], float], machine: Any, ran: bool) -> str:
    edge = END_COLORS.get(each.ends, INK if each.visits or not ran else RULE)
    strong = 2.6 if each.is_present else 1.3
    width = right - _MARGIN
    parts = [box(_MARGIN, each.y, width, each.height, CARD, edge, round=8.0, line=strong)]
    shade = END_COLORS.get(each.ends, BLUE)
    if each.visits:
        parts.append(box(_MARGIN + 1.0, each.y + 1.0, width - 2.0, _HEADER - 2.0, shade, round=7.0, opacity=0.16))
    x = _MARGIN + 12.0
    if each.name == machine.start:
        parts.append(f'<circle cx="{x + 4:.1f}" cy="{each.y + 15:.1f}" r="4.5" style="fill: {INK}"/>')
        x += 18.0
    ink = INK if each.visits or not ran else SOFT
    parts.append(text(x, each.y + 19.5, _title(each), 13.5, ink, weight="600"))
    if each.ends:
        parts.append(text(right - 14.0, each.y + 19.5, each.ends, 11.5, END_COLORS[each.ends], anchor="end"))
    for arrow in each.arrows:
        color = COLORS[arrow.kind]
        parts.append(f'<circle cx="{_MARGIN + 15:.1f}" cy="{arrow.y:.1f}" r="3.2" style="fill: {color}"/>')
        for k, line in enumerate(arrow.words):
            fill = INK if arrow.taken or not ran else SOFT
            weight = {"weight": "600"} if arrow.taken else {}
            parts.append(text(_MARGIN + 25.0, arrow.y + 4.0 + _LINE * k, line, 11.5, fill, **weight))
        if arrow.taken > 1:
            x_mid = x_of[arrow.lane]
            parts.append(text(x_mid + 3.0, arrow.y - 3.0, f"×{arrow.taken}", 10.0, color))
    return "".join(parts)


def _legend(width: float) -> str:
    parts, x = [], _MARGIN
    kinds = (("success", GREEN, ""), ("failure", RED, ""), ("other", GREY, ""), ("time limit", RED, _DASH))
    for words, color, dash in kinds:
        parts.append(path([(x, _MARGIN), (x + 22.0, _MARGIN)], color, 2.0, dash=dash))
        parts.append(text(x + 27.0, _MARGIN + 4.0, words, 11.0, SOFT))
        x += 40.0 + width_of(words, 11.0)
    return "".join(parts)


def _summary(machine: Any) -> str:
    visited = [event.to for event in machine.log]
    return f"Visited: {' → '.join(visited)}." if visited else "It has not run yet."


def _quoted(words: str) -> str:
    """As a name or a label of Graphviz."""
    return '"' + words.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def to_dot(machine: Any) -> str:
    """The graph as text for Graphviz."""
    lines = ["digraph machine {", "  rankdir=LR; node [shape=box, style=rounded];"]
    for each in _boxes(machine):
        color = f", color={_quoted(END_COLORS[each.ends])}" if each.ends else ""
        strong = ", penwidth=2" if each.visits else ""
        lines.append(f"  {_quoted(each.name)} [label={_quoted(each.name)}{color}{strong}];")
        for arrow in each.arrows:
            style = ", style=dashed" if arrow.kind == "time limit" else ""
            look = f"color={_quoted(COLORS[arrow.kind])}{style}{', penwidth=2.5' if arrow.taken else ''}"
            label = _quoted(" ".join(arrow.words))
            lines.append(f"  {_quoted(each.name)} -> {_quoted(arrow.to)} [label={label}, {look}];")
    return "\n".join([*lines, "}"]) + "\n"
