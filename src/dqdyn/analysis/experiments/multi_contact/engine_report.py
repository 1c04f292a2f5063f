"""The attempts on MuJoCo, at two steps of the engine: what physics makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from dqdyn.analysis.experiments.experiment import Claim, Result, Table
from dqdyn.analysis.experiments.figure_kinds import Figure
from dqdyn.analysis.experiments.figures import figure
from dqdyn.analysis.experiments.multi_contact import report
from dqdyn.analysis.experiments.multi_contact.following import DT, Follower, follow
from dqdyn.analysis.experiments.multi_contact.runs import Attempt, attempt
from dqdyn.analysis.experiments.multi_contact.scenario import Scenario
from dqdyn.analysis.experiments.multi_contact.setting import MARGIN, REACH
from dqdyn.analysis.experiments.multi_contact.strategy import ATTEMPTS, Strategy
from dqdyn.progress import Progress

SUBSTEPS = (2, 4)
"""Steps of the engine per command."""
NEARER = 0.003  # m that the law goes on beyond the reach: what follows it is some millimeters behind
_ALLOWED_FEET = 0.02  # m
PHYSICS = (
    "On the engine contacts are real. The law's motion is followed by the torques of a whole-body controller, whose "
    "contacts are the soles and, where the law counts on it, the palm. The law goes on until the hand is "
    f"{100.0 * (REACH - NEARER):g} cm from the ball; what counts is whether that of the engine comes within "
    f"{100.0 * REACH:g} cm.",
)


@dataclass(frozen=True, eq=False)
class Followed:
    """An attempt on the engine."""

    tried: Attempt
    follower: Follower

    @property
    def stands(self) -> bool:
        return self.follower.fell is None and self.tried.run.finished

    @property
    def reached(self) -> bool:
        return self.stands and self.tried.reached

    @property
    def feet_moved(self) -> float:
        """m."""
        return self.tried.setting.standing.feet_moved(self.tried.run.q)

    @property
    def palm_force(self) -> float:
        """N, the greatest normal force on the left palm; 0 where it touches nothing."""
        forces = self.tried.run.extra.get("normal_force/left_palm")
        return 0.0 if forces is None else float(np.max(forces))

    @property
    def others(self) -> str:
        """Links other than soles and left palm that touched something."""
        touched = self.tried.run.about["touched"]
        expected = {"left_foot_link", "right_foot_link", "left_palm"}
        return ", ".join(sorted(link for link in touched if link not in expected))

    @property
    def words(self) -> str:
        if not self.stands:
            return f"fell at {self.follower.fell:.1f} s" if self.follower.fell is not None else self.tried.run.status
        return f"nearest {100.0 * self.tried.to_ball.min():.1f} cm"


Runs = Mapping[str, Mapping[int, Followed]]


def on_the_engine(scenario: Scenario) -> Result:
    """All attempts at both steps of the engine."""
    strategy = Strategy(scenario.setting, reach=REACH - NEARER)
    laws = {name: attempt(scenario.setting, strategy.machine(route), 0.02) for name, route in ATTEMPTS.items()}
    runs: dict[str, dict[int, Followed]] = {name: {} for name in laws}
    with Progress(len(laws) * len(SUBSTEPS), "attempts on the engine") as bar:
        for done, (name, count) in enumerate((name, count) for name in laws for count in SUBSTEPS):
            runs[name][count] = Followed(*follow(laws[name], count))
            bar.at(done + 1)
    first = {name: by_step[SUBSTEPS[0]].tried for name, by_step in runs.items()}
    return Result(
        scenario.name,
        scenario.title,
        scenario.source,
        (scenario.text, *PHYSICS, scenario.physics),
        tuple(claims(scenario, runs)),
        tuple(report.case(name, tried, 4) for name, tried in first.items()),
        (
            figure("right palm to the ball", "m", {n: (a.run, a.to_ball) for n, a in first.items()}, {"target": REACH}),
            figure("center of mass to its nearest plane", "m", {n: (a.run, a.to_planes) for n, a in first.items()}),
            *_forces(first),
            report.from_above(first, ""),
        ),
        (table(runs),),
    )


def claims(scenario: Scenario, runs: Runs) -> Iterator[Claim]:
    """The attempts that physics lets through end as on the law's own kinematics, and the robot stands."""
    for name, succeeds in scenario.on_engine.items():
        text = f"{name[0].upper()}{name[1:]}, the ball is {'reached' if succeeds else 'not reached'}, at both steps"
        measured = ", ".join(f"{run.words} at {1e3 * DT / count:g} ms" for count, run in runs[name].items())
        yield Claim(text, measured, all(run.reached == succeeds for run in runs[name].values()))
    every = [(name, count, run) for name in scenario.on_engine for count, run in runs[name].items()]
    fallen = [f"{name} ({1e3 * DT / count:g} ms): {run.words}" for name, count, run in every if not run.stands]
    yield Claim("The robot does not fall in these attempts", "; ".join(fallen) or f"{len(every)} runs", not fallen)
    least = min(float(run.tried.to_planes.min()) for *_, run in every)
    text = "The center of mass stays over its support"
    yield Claim(text, f"at least {100.0 * least:.1f} cm inside; the law keeps {100.0 * MARGIN:g}", least > 0.0)
    others = [f"{name}: {run.others}" for name, _, run in every if run.others]
    yield Claim("Nothing but soles and left palm touches anything", "; ".join(others) or "nothing", not others)
    moved = max(run.feet_moved for *_, run in every)
    yield Claim("The feet stay where they are", f"moved {1e3 * moved:.1f} mm at most", moved < _ALLOWED_FEET)


def table(runs: Runs) -> Table:
    """All runs in numbers."""
    rows = tuple(
        (
            name,
            f"{1e3 * DT / count:g} ms",
            "yes" if run.reached else "no",
            run.words,
            f"{run.palm_force:.0f} N",
            f"{1e3 * run.feet_moved:.1f} mm",
            f"{100.0 * run.tried.to_planes.min():.1f} cm",
            run.others or "none",
        )
        for name, by_step in runs.items()
        for count, run in by_step.items()
    )
    columns = (
        "attempt",
        "step",
        "reached",
        "how",
        "palm pressed by",
        "feet moved",
        "center to its planes",
        "others touched",
    )
    return Table("On the engine", columns, rows)


def _forces(first: report.Attempts) -> Iterator[Figure]:
    found = {
        n: (a.run, a.run.extra["normal_force/left_palm"])
        for n, a in first.items()
        if "normal_force/left_palm" in a.run.extra
    }
    if found:
        yield figure("normal force on the left palm", "N", found)
