"""An experiment with attempts to reach a ball: what is to come of them, and the report of what did."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dqdyn.analysis.experiments.experiment import Claim, Result
from dqdyn.analysis.experiments.figure_kinds import GridMap, Picture
from dqdyn.analysis.experiments.multi_contact import report
from dqdyn.analysis.experiments.multi_contact.runs import attempt, grid, maps
from dqdyn.analysis.experiments.multi_contact.setting import Setting
from dqdyn.analysis.experiments.multi_contact.strategy import ATTEMPTS, Strategy
from dqdyn.analysis.experiments.multi_contact.timing import step_times
from dqdyn.control.core.errors import refused
from dqdyn.control.core.settings import is_number

_MOST = 1000  # balls in a row of a map
PRINTED = (
    "The robot has the joints of the paper's, but sizes, masses and limits are ours, and so are all positions, which "
    "are not printed. They are chosen such that the limit on the center of mass decides, not the length of the arms: "
    "attempts that fail because of it are run again without it, and succeed.",
    "The law is (3.1) with the rates, dampings and constraints of table 6.2. Poses of the feet are held, since (4.58) "
    "and (4.59) let both slide together. An attempt has failed where the squared distance to the ball falls by less "
    "than 0.5 % in 0.8 s. As in the paper, the ground projection of the palm counts as support, whatever its friction.",
    "Distances, areas and centers of mass below are computed from the runs, not taken from the controllers.",
)


@dataclass(frozen=True, eq=False)
class Scenario:
    """``wanted``: which attempts are to reach the ball; ``bound``: those that fail by the center of mass alone.

    ``routes``: machines that are run as a whole, and the states that they are to go through. ``numbers``: of the
    paper's figures. ``on_engine``: which attempts are to reach the ball on MuJoCo, without a fall; ``physics``: what
    becomes of the others there. ``span`` in m: half the extent of the map of balls in x and y.
    """

    name: str
    title: str
    source: str
    text: str
    setting: Setting
    wanted: Mapping[str, bool]
    bound: tuple[str, ...]
    routes: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]
    numbers: tuple[str, str]
    on_engine: Mapping[str, bool]
    physics: str
    span: tuple[float, float] = (0.3, 0.45)


def on_kinematics(scenario: Scenario, dt: float, points: float, dt_grid: float) -> Result:
    """Attempts, their like without the planes, the machines as a whole, and a map of ``points`` × ``points`` balls."""
    if not is_number(points) or not 0 <= points <= _MOST or points != int(points):
        raise refused("points is how many balls the map has in a row, a whole number, 0 for no map", points)
    setting = scenario.setting
    strategy, free = Strategy(setting), Strategy(setting, balance=False)
    attempts = {name: attempt(setting, strategy.machine(route), dt) for name, route in ATTEMPTS.items()}
    without = {name: attempt(setting, free.machine(ATTEMPTS[name]), dt) for name in scenario.bound}
    machines = {name: strategy.machine(route) for name, (route, _) in scenario.routes.items()}
    whole = {name: attempt(setting, machine, dt) for name, machine in machines.items()}
    every = {**attempts, **whole}
    pictures = [
        Picture(title, text)
        for name, machine in machines.items()
        for title, text in (
            (f"{name}: states (fig. 4.13)", machine.graph().svg),
            (f"{name}: events", machine.history().svg),
        )
    ]
    return Result(
        scenario.name,
        scenario.title,
        scenario.source,
        (scenario.text, *PRINTED),
        tuple(claims(scenario, attempts, without, whole)),
        tuple(report.case(name, tried) for name, tried in every.items()),
        (*report.figures(attempts, scenario.numbers), *pictures, *_maps(scenario, int(points), dt_grid)),
        (report.table(every), step_times(setting, attempts["maximised"])),
    )


def claims(
    scenario: Scenario, attempts: report.Attempts, without: report.Attempts, whole: report.Attempts
) -> Iterator[Claim]:
    """What the paper says of the attempts, beside what was measured."""
    yield from report.ends(attempts, scenario.wanted)
    yield report.areas_grow(attempts)
    yield report.balanced({**attempts, **whole})
    yield report.decides(attempts, without)
    yield report.held({**attempts, **whole})
    for name, (_, path) in scenario.routes.items():
        yield report.went(name, whole[name], path)


def _maps(scenario: Scenario, points: int, dt: float) -> tuple[GridMap, ...]:
    if points < 2:
        return ()
    (x, y), (dx, dy) = scenario.setting.ball[:2], scenario.span
    xs, ys = np.linspace(x - dx, x + dx, points), np.linspace(y - dy, y + dy, points)
    return maps(scenario.setting, xs, ys, grid(scenario.setting, xs, ys, dt))
