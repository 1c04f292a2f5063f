"""``python -m benchmarks.standing [EXPERIMENT...]``: run experiments with standing robots, print what was measured."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from benchmarks.measure import machine
from benchmarks.standing import foot_lift, sway, wheel
from benchmarks.standing.robots import ROBOTS
from dqdyn.analysis.standing import pushes
from dqdyn.analysis.standing.balance import balance
from dqdyn.analysis.standing.loop import Run
from dqdyn.analysis.standing.setting import Standing

LEAST = 0.7
"""Of the impulse that the linear pendulum survives."""
_WITHIN = 1e-3  # s, of every control step


@dataclass(frozen=True)
class Row:
    """One line: what was measured, and whether it is as wanted; None where nothing is."""

    robot: str
    experiment: str
    what: str
    measured: str
    wanted: str = ""
    holds: bool | None = None


Draw = Callable[[str, Run, Any], None]


def times(robot: str, run: Run) -> Iterator[Row]:
    """The distribution of the control step; the thread's own time leaves out what other processes took."""
    for name, seconds in (("by the clock", run.loop.seconds), ("of the thread", run.loop.computing)):
        x = 1e6 * np.array(seconds)
        parts = ", ".join(
            f"{p:g} %: {v:.0f}" for p, v in zip((50, 99, 99.9), np.percentile(x, (50, 99, 99.9)), strict=True)
        )
        text = f"{parts}, most {x[1:].max():.0f} µs, first {x[0]:.0f} µs; {int((x > 1e6 * _WITHIN).sum())} above 1 ms"
        holds = bool(x.max() < 1e6 * _WITHIN)
        yield Row(robot, "step", f"control step {name}, {len(x)} steps", text, "all < 1 ms", holds)
    late = {i for i, seconds in enumerate(run.loop.seconds) if seconds > _WITHIN}
    text = f"{len(late & run.loop.interrupted)} of the {len(late)} above 1 ms by the clock"
    yield Row(robot, "step", "steps from which the system took the core", text)
    spent = 1e6 * np.array([*run.loop.collected.values(), 0.0])
    text = f"{len(run.loop.collected)} collections, up to {spent.max():.0f} µs"
    yield Row(robot, "step", "garbage collected in control steps", text)


def swaying(name: str, standing: Standing, draw: Draw) -> Iterator[Row]:
    done = sway.sway(standing)
    draw(f"{name}-sway", done.run, standing.scene)
    moved, holds = standing.feet_moved(done.run.trajectory.q), done.run.stood and done.error < 0.1 * sway.AMPLITUDE
    text = f"{100 * done.amplitude:.2f} cm, off by ≤ {1000 * done.error:.2f} mm, feet {1000 * moved:.1f} mm"
    yield Row(name, "sway", f"3 cm at 0.5 Hz for {done.run.trajectory.time[-1]:.0f} s", text, "stands, 3 cm", holds)
    yield from times(name, done.run)


def lifting(name: str, standing: Standing, draw: Draw) -> Iterator[Row]:
    done = foot_lift.foot_lift(standing)
    draw(f"{name}-foot", done.run, standing.scene)
    text = (
        f"{100 * done.lowest:.2f} to {100 * done.highest:.2f} cm, stance foot {1000 * done.moved:.1f} mm, "
        f"landed {1000 * done.landed:.1f} mm off, torques change by ≤ {done.run.loop.jump:.2f} N m per step"
    )
    holds = done.run.stood and abs(done.lowest - foot_lift.HEIGHT) < 0.005 and done.run.speed < pushes.RESTS
    yield Row(name, "foot", "foot up 10 cm for 5 s, and down", text, "stands, 10 cm ± 5 mm", holds)


def turning(name: str, standing: Standing, draw: Draw) -> Iterator[Row]:
    done = wheel.turn_wheel(standing)
    draw(f"{name}-wheel", done.run, done.scene)
    moved = done.run.standing.feet_moved(done.run.trajectory.q)
    text = (
        f"± {done.amplitude:.3f} rad, off by ≤ {done.error:.3f} rad, grip {1000 * done.grip:.2f} mm, "
        f"feet {1000 * moved:.1f} mm"
    )
    holds = done.run.stood and done.error < 0.1 * wheel.ANGLE
    what = f"wheel turned by ± {wheel.ANGLE} rad at {wheel.FREQUENCY} Hz against {wheel.DAMPING} N m s/rad"
    yield Row(name, "wheel", what, text, "stands, off < 10 %", holds)


def pushing(name: str, standing: Standing, draw: Draw) -> Iterator[Row]:
    law = balance(standing)
    for angle in pushes.DIRECTIONS:
        tried = list(pushes.growing(standing, law, angle))
        survived = max((p for p in tried if p.survived), key=lambda p: p.ratio, default=None)
        failed = min((p for p in tried if not p.survived), key=lambda p: p.ratio, default=None)
        ratio = 0.0 if survived is None else survived.ratio
        bound = pushes.greatest_force(standing, angle) * pushes.PUSH
        text = f"{ratio:.2f} of {bound:.1f} N s" + (f"; at {failed.ratio:.2f}: {failed.why}" if failed else "")
        if survived is not None:
            draw(f"{name}-push-{math.degrees(angle):.0f}", survived.run, standing.scene)
        yield Row(name, "push", f"push towards {math.degrees(angle):.0f}°", text, f"≥ {LEAST:g}", ratio >= LEAST)


EXPERIMENTS: dict[str, Callable[[str, Standing, Draw], Iterator[Row]]] = {
    "sway": swaying,
    "foot": lifting,
    "wheel": turning,
    "push": pushing,
}


def table(rows: list[Row]) -> Table:
    """One line per row."""
    drawn = Table(box=SIMPLE_HEAD)
    for title in ("robot", "what", "measured", "wanted"):
        drawn.add_column(title)
    for row in rows:
        mark = {None: "", True: " [green]✓[/]", False: " [red]✗[/]"}[row.holds]
        drawn.add_row(row.robot, row.what, row.measured, row.wanted + mark)
    return drawn


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.standing", description="Robots that stand, in MuJoCo.")
    parser.add_argument("names", nargs="*", metavar="EXPERIMENT", help=f"default: all of {', '.join(EXPERIMENTS)}")
    parser.add_argument("--robot", choices=ROBOTS, help="default: all")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the results to a file")
    parser.add_argument("--draw", type=Path, metavar="FOLDER", help="write every run as a page to watch")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(EXPERIMENTS):
        parser.error(f"there is no experiment {sorted(unknown)[0]!r}: known are {', '.join(EXPERIMENTS)}")

    def draw(name: str, run: Run, scene: Any) -> None:
        if options.draw:
            options.draw.mkdir(parents=True, exist_ok=True)
            run.trajectory.to_html(options.draw / f"{name}.html", scene=scene)

    rows = []
    for name in [options.robot] if options.robot else ROBOTS:
        standing = ROBOTS[name]()
        for experiment in options.names or EXPERIMENTS:
            for row in EXPERIMENTS[experiment](name, standing, draw):
                print(f"{row.robot}: {row.what}: {row.measured}", file=sys.stderr, flush=True)
                rows.append(row)
    console = Console(highlight=False)
    console.print(table(rows))
    facts = machine()
    console.print("  " + ", ".join(f"{fact}: {value}" for fact, value in facts.items()))
    if options.json:
        data = {"machine": facts, "results": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0 if all(row.holds is not False for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
