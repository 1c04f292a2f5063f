"""What an experiment gives: claims with what was measured, figures, tables, and runs with what to draw around them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dqdyn.arrays import Array
from dqdyn.simulate import Trajectory


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
    time: Array
    curves: Mapping[str, Array]


@dataclass(frozen=True)
class Table:
    """Rows of text below a title."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Drawing:
    """Something to draw besides the robot: a method of :class:`dqdyn.view.Markers` and its arguments."""

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
