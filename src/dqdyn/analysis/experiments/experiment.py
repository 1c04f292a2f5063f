"""What an experiment gives: claims with what was measured, figures, tables, and runs with what to draw around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dqdyn.simulate import Trajectory

_POINTS = 1500  # of a figure's common time axis


@dataclass(frozen=True)
class Claim:
    """A sentence, what was measured, and whether the one supports the other."""

    text: str
    measured: str
    holds: bool


@dataclass(frozen=True, eq=False)
class Figure:
    """Curves (n,) of several runs over one time axis (n,) in s."""

    title: str
    unit: str
    time: np.ndarray
    curves: Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Table:
    """Rows of text below a title."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Drawing:
    """Something to draw besides the robot: a method of :class:`dqdyn.view.Scene` and its arguments."""

    kind: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Case:
    """One run, and what to draw around the robot."""

    name: str
    trajectory: Trajectory
    drawings: tuple[Drawing, ...] = ()


@dataclass(frozen=True, eq=False)
class Result:
    """All that an experiment has to say."""

    name: str
    title: str
    source: str
    text: tuple[str, ...]
    claims: tuple[Claim, ...]
    cases: tuple[Case, ...]
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...] = field(default=())

    @property
    def holds(self) -> bool:
        """Whether all claims do."""
        return all(bool(claim.holds) for claim in self.claims)

    def as_data(self) -> dict[str, Any]:
        """Claims and tables as plain data."""
        return {
            "experiment": self.name,
            "source": self.source,
            "holds": self.holds,
            "claims": [{"claim": c.text, "measured": c.measured, "holds": bool(c.holds)} for c in self.claims],
            "tables": [
                {"title": t.title, "rows": [dict(zip(t.columns, r, strict=True)) for r in t.rows]} for t in self.tables
            ],
            "runs": {c.name: {"status": c.trajectory.status, **dict(c.trajectory.about)} for c in self.cases},
        }


def draw(kind: str, **arguments: Any) -> Drawing:
    """``draw("sphere", center=…, radius=…)``: one call of a scene's method."""
    return Drawing(kind, arguments)


def figure(
    title: str,
    unit: str,
    curves: Mapping[str, tuple[Trajectory, np.ndarray]],
    limits: Mapping[str, float] | None = None,
) -> Figure:
    """Curves (n,) of runs that may have different steps, and constant lines, over one time axis."""
    end = max(float(run.time[-1]) for run, _ in curves.values())
    time = np.linspace(0.0, end, _POINTS)
    found = {
        name: np.interp(time, run.time, values, right=np.nan)  # a run that ended earlier has no curve there
        for name, (run, values) in curves.items()
    }
    lines = {name: np.full(len(time), value) for name, value in (limits or {}).items()}
    return Figure(title, unit, time, {**found, **lines})


def joint_figures(title: str, runs: Mapping[str, Trajectory], joints: Sequence[str]) -> list[Figure]:
    """The room that the joints have to their limits, and the positions of the named ones, a figure per run."""
    room = {name: (run, room_to_limits(run)) for name, run in runs.items()}
    result = [figure(f"{title}: room to the nearest limit", "rad", room, {"limit": 0.0})]
    for name, run in runs.items():
        places = {joint.name: joint.q.start for joint in run.robot.joints}
        result.append(figure(f"{title}: {name}", "rad", {j: (run, run.q[:, places[j]]) for j in joints}))
    return result


def room_to_limits(run: Trajectory) -> np.ndarray:
    """The least distance (n,) of a joint from its limits, negative beyond them."""
    limits = run.robot.limits
    return np.asarray(np.minimum(run.q - limits.lower, limits.upper - run.q).min(axis=1))


def norm(values: np.ndarray) -> np.ndarray:
    """Lengths (n,) of rows (n, k)."""
    return np.asarray(np.linalg.norm(values, axis=-1))


def effort(time: np.ndarray, values: np.ndarray) -> float:
    """√∫‖u‖² dt by the trapezoidal rule."""
    squares = np.sum(values * values, axis=1)
    return float(np.sqrt(np.sum(0.5 * (squares[1:] + squares[:-1]) * np.diff(time))))
