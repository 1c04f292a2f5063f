"""What an experiment gives: claims with what was measured, figures, tables, and runs with what to draw around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from dqdyn.analysis.experiments.figure_kinds import (
    AnyFigure,
    Bars,
    Event,
    Figure,
    GridMap,
    Multiples,
    Picture,
    PlaneFigure,
    Span,
)
from dqdyn.scenes.scene import Scene
from dqdyn.simulate import Trajectory

__all__ = [
    "AnyFigure",
    "Bars",
    "Case",
    "Claim",
    "Drawing",
    "Event",
    "Figure",
    "GridMap",
    "Multiples",
    "Picture",
    "PlaneFigure",
    "Result",
    "Span",
    "Table",
    "Truths",
]


Truths: TypeAlias = npt.NDArray[np.bool_] | Sequence[bool]
"""Whether something is so at each sample of a run, (n,)."""


@dataclass(frozen=True)
class Claim:
    """A sentence, what was measured, and whether the one supports the other."""

    text: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class Table:
    """Rows of text below a title."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False)
class Drawing:
    """Something to draw besides the robot: a method of :class:`dqdyn.view.Markers` and its arguments.

    ``violated`` (n,) of the run's samples: it is red where true.
    """

    kind: str
    arguments: Mapping[str, Any]
    violated: Truths | None = None


@dataclass(frozen=True, eq=False)
class Case:
    """One run, and what to draw around the robot: drawings, and the scene that it can touch.

    ``spans`` and ``events``: phases or states of the run, shown along the time slider.
    """

    name: str
    trajectory: Trajectory
    drawings: tuple[Drawing, ...] = ()
    scene: Scene | None = None
    spans: tuple[Span, ...] = ()
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, eq=False)
class Result:
    """All that an experiment has to say."""

    name: str
    title: str
    source: str
    text: tuple[str, ...]
    claims: tuple[Claim, ...]
    cases: tuple[Case, ...]
    figures: tuple[AnyFigure, ...]
    tables: tuple[Table, ...] = field(default=())

    @property
    def holds(self) -> bool:
        """Whether all claims do."""
        return all(bool(claim.holds) for claim in self.claims)

    def as_data(self) -> dict[str, Any]:
        """Claims, tables, and what the figures show, as plain data."""
        return {
            "experiment": self.name,
            "source": self.source,
            "holds": self.holds,
            "claims": [{"claim": c.text, "measured": c.measured, "holds": bool(c.holds)} for c in self.claims],
            "tables": [
                {"title": t.title, "rows": [dict(zip(t.columns, r, strict=True)) for r in t.rows]} for t in self.tables
            ],
            "figures": [figure.as_data() for figure in self.figures],
            "runs": {c.name: {"status": c.trajectory.status, **dict(c.trajectory.about)} for c in self.cases},
        }
