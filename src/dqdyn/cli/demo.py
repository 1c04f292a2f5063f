"""``dqdyn demo``: what the library does, in a second."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.markup import escape

from dqdyn.algebra.functions import rotation_angle, sclerp
from dqdyn.cli.facts import facts_of
from dqdyn.cli.info import headline, tree
from dqdyn.cli.robot_argument import robot_of
from dqdyn.cli.screen import JsonOption, emit, indented, table
from dqdyn.robot import Robot

ROBOT, FRAME = "arm7", "tool"
START = (0.0, 0.5, 0.0, 1.4, 0.0, 0.8, 0.0)
END = (1.2, 0.9, 0.0, 0.8, 0.3, 0.9, 1.0)
STEPS = 41
_BARS = "▁▂▃▄▅▆▇█"


def demo(as_json: JsonOption = False) -> None:
    """Load an arm, move its hand along one screw, and follow it with the joints.

    [dim]Examples:[/]

    \b
      dqdyn demo
      dqdyn demo --json
    """
    robot = robot_of(ROBOT)
    data = motion(robot)
    emit(data, lambda: draw(robot, data), as_json)


def motion(robot: Robot) -> dict[str, Any]:
    """The hand's way from one pose to another along the screw between them, and the joints that follow."""
    first, last = (robot.pose(FRAME, np.array(q)).dq for q in (START, END))
    q = np.array(START)
    steps = []
    for t in np.linspace(0.0, 1.0, STEPS):
        target = sclerp(first, last, float(t))
        found = robot.inverse_kinematics(FRAME, target, q, tolerance=1e-12)
        q = found.q
        pose = robot.pose(FRAME, q)
        steps.append(
            {
                "t": float(t),
                "position": pose.translation.tolist(),
                "rotation": pose.rotation.tolist(),
                "turn": float(rotation_angle(first.conj() * pose.dq)),
                "q": q.tolist(),
                "error": max(found.rotation_error, found.translation_error),
            }
        )
    return {"robot": robot.name, "frame": FRAME, "steps": steps}


def draw(robot: Robot, data: dict[str, Any]) -> Iterator[RenderableType]:
    """The robot, the motion as numbers, and the motion as curves."""
    facts, steps = facts_of(robot), data["steps"]
    yield headline(facts)
    yield indented(tree(facts, depth=20))
    yield (
        "The hand moves from one pose to another along [bold]one screw[/], "
        "x(t) = x₀ (x₀* x₁)ᵗ, and inverse kinematics follows:\n"
    )
    yield indented(_poses(steps))
    yield indented(table("", ("", "along the way", "from", "to"), list(_curves(steps)), right=("from", "to")))
    worst = max(step["error"] for step in steps)
    yield f"[green]✓[/] {len(steps)} poses followed, the worst within [bold]{worst:.1e}[/] rad or m."
    yield f"\nNext: [bold]dqdyn info {escape(robot.name)}[/], [bold]dqdyn robots[/], [bold]dqdyn --help[/]."


def _poses(steps: Sequence[dict[str, Any]]) -> RenderableType:
    columns = ("t", "x", "y", "z", "turned", "error")
    rows = [
        (
            f"{step['t']:.3g} s",
            *(f"{c:.4f} m" for c in step["position"]),
            f"{np.degrees(step['turn']):.1f}°",
            f"{step['error']:.0e}",
        )
        for step in steps[:: (STEPS - 1) // 8]
    ]
    return table("", columns, rows, right=columns)


def _curves(steps: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str, str, str]]:
    for axis, name in enumerate("xyz"):
        values = [step["position"][axis] for step in steps]
        yield name, sparkline(values), f"{values[0]:.3f}", f"{values[-1]:.3f} m"
    for i in range(len(steps[0]["q"])):
        values = [step["q"][i] for step in steps]
        yield f"q{i + 1}", sparkline(values), f"{values[0]:.3f}", f"{values[-1]:.3f} rad"


def sparkline(values: Sequence[float]) -> str:
    """A row of bars between the smallest and the largest value."""
    low, high = min(values), max(values)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((value - low) * scale)] for value in values)
