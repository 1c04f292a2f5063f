"""Sines and cosines of coordinates, which a program needs first and can compute many at a time.

Most arguments of sines are inputs, scaled or shifted by constants: joint angles, half angles, angles with an offset.
Those next to each other in memory make one vector, so that the code for one state computes them all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.compile.trace.program import Program


@dataclass(frozen=True)
class Angle:
    """The argument of a sine: ``scale · input + offset``; without effect are 1.0 and −0.0."""

    operand: int
    argument: int
    component: int
    scale: float
    offset: float


@dataclass(frozen=True)
class Window:
    """Angles whose components lie in ``start … start + width`` of one input; several may share a component."""

    argument: int
    start: int
    lanes: tuple[tuple[int, Angle], ...]


def angles(program: Program) -> list[Angle]:
    """All arguments of sines and cosines that come straight from an input, in the order of inputs."""
    operands = {ks[0]: None for op, ks, _ in program.instructions if op in ("sin", "cos")}
    direct = [angle for k in operands if (angle := _angle(program, k)) is not None]
    return sorted(direct, key=lambda angle: (angle.argument, angle.component, angle.operand))


def windows(program: Program, width: int) -> list[Window]:
    """The angles gathered in as few windows as possible; a single one stays where it is."""
    waiting, result = angles(program), []
    while waiting:
        first = waiting[0]
        lanes: dict[int, Angle] = {}
        for angle in waiting:
            lane = angle.component - first.component
            if angle.argument == first.argument and lane < width and lane not in lanes:
                lanes[lane] = angle
        taken = {angle.operand for angle in lanes.values()}
        waiting = [angle for angle in waiting if angle.operand not in taken]
        if len(lanes) > 1:
            result.append(Window(first.argument, first.component, tuple(lanes.items())))
    return result


def _angle(program: Program, operand: int) -> Angle | None:
    scale, offset = 1.0, -0.0
    op, ks, _ = program.instructions[operand]
    if op in ("add", "sub"):
        known, other = _constant_first(program, ks) if op == "add" else (ks[1], ks[0])
        if program.instructions[known][0] == "const":
            shift = program.instructions[known][2]
            offset = shift if op == "add" else -shift
            op, ks, _ = program.instructions[other]
    if op == "mul":
        known, other = _constant_first(program, ks)
        if program.instructions[known][0] == "const":
            scale = program.instructions[known][2]
            op, ks, _ = program.instructions[other]
    return Angle(operand, ks[0], ks[1], scale, offset) if op == "input" else None


def _constant_first(program: Program, operands: tuple[int, ...]) -> tuple[int, int]:
    a, b = operands
    return (a, b) if program.instructions[a][0] == "const" else (b, a)


def padded(window: Window, values: Sequence[float], width: int, neutral: float) -> list[float]:
    """One number per lane; ``neutral`` where a lane has no angle."""
    result = [neutral] * width
    for (lane, _), value in zip(window.lanes, values, strict=True):
        result[lane] = value
    return result
