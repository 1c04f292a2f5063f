"""A part of the experiment: what it adds to the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.analysis.experiments.experiment import AnyFigure, Case, Claim, Result, Table


@dataclass(frozen=True, eq=False)
class Part:
    """As in :class:`~dqdyn.analysis.experiments.experiment.Result`."""

    text: tuple[str, ...]
    claims: tuple[Claim, ...]
    cases: tuple[Case, ...]
    figures: tuple[AnyFigure, ...] = ()
    tables: tuple[Table, ...] = ()


def together(name: str, title: str, source: str, parts: Sequence[Part]) -> Result:
    """The result of all parts."""
    return Result(
        name,
        title,
        source,
        tuple(text for part in parts for text in part.text),
        tuple(claim for part in parts for claim in part.claims),
        tuple(case for part in parts for case in part.cases),
        tuple(figure for part in parts for figure in part.figures),
        tuple(table for part in parts for table in part.tables),
    )
