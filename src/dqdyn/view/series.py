"""The curves of a trajectory, grouped by quantity and unit, with the names of the joints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn.robot import Robot
from dqdyn.simulate.columns import columns

_QUANTITIES = {"q": "positions", "v": "velocities", "tau": "joint efforts"}


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves of one unit over the same time: ``curves`` maps names to values (n,)."""

    title: str
    unit: str
    curves: Mapping[str, np.ndarray]

    @property
    def label(self) -> str:
        return f"{self.title} ({self.unit})" if self.unit else self.title


def panels_of(trajectory: Any) -> list[Panel]:
    """Positions, velocities, efforts, energies, constraint residuals and a controller's records, where known."""
    panels = [panel for kind in _QUANTITIES for panel in _by_unit(trajectory, kind)]
    panels += [*_energies(trajectory), *_residuals(trajectory)]
    for name, values in (getattr(trajectory, "extra", None) or {}).items():
        array = _array(values)
        if array is not None and array.ndim in (1, 2) and len(array) == len(trajectory.time):
            panels.append(Panel(str(name), "", _numbered(str(name), array)))
    return panels


def _by_unit(trajectory: Any, kind: str) -> Iterator[Panel]:
    """One panel for angles, one for lengths, one for quaternions."""
    array = _array(getattr(trajectory, kind, None))
    if array is None:
        return
    panels: dict[str, dict[str, np.ndarray]] = {}
    for i, (name, unit) in enumerate(columns(trajectory.robot.model, kind)):
        panels.setdefault(unit, {})[name] = array[:, i]
    for unit, curves in panels.items():
        rotation = unit == "1"
        yield Panel("rotation quaternions" if rotation else _QUANTITIES[kind], "" if rotation else unit, curves)


def _energies(trajectory: Any) -> Iterator[Panel]:
    kinetic = _array(getattr(trajectory, "kinetic", None))
    potential = _array(getattr(trajectory, "potential", None))
    if kinetic is not None and potential is not None:
        yield Panel("energy", "J", {"kinetic": kinetic, "potential": potential, "total": kinetic + potential})


def _residuals(trajectory: Any) -> Iterator[Panel]:
    """Positions of the holonomic constraints, then velocities of all; rows may be lengths or angles."""
    values = _array(getattr(trajectory, "residual", None))
    if values is None or values.ndim != 2:
        return
    names, count = _row_names(trajectory.robot)
    if len(names) != values.shape[1]:  # of a trajectory that was made elsewhere
        yield Panel("constraint residuals", "", _numbered("row", values))
        return
    if count:
        yield Panel("constraint residuals", "m or rad", _zipped(names[:count], values[:, :count]))
    yield Panel("constraint velocities", "m/s or rad/s", _zipped(names[count:], values[:, count:]))


def _row_names(robot: Robot) -> tuple[list[str], int]:
    """Names of all rows, and how many of them are at position level."""
    rows = [(constraint, constraint.rows(robot.model)) for constraint in robot.constraints]
    place = [_row(c.name, i, n) for c, n in rows if c.holonomic for i in range(n)]
    return place + [_row(c.name, i, n) for c, n in rows for i in range(n)], len(place)


def _row(name: str, i: int, count: int) -> str:
    return name if count == 1 else f"{name} {i + 1}"


def _zipped(names: list[str], values: np.ndarray) -> dict[str, np.ndarray]:
    return {name: values[:, i] for i, name in enumerate(names)}


def _numbered(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    if values.ndim == 1:
        return {name: values}
    return _zipped([_row(name, i, values.shape[1]) for i in range(values.shape[1])], values)


def _array(values: Any) -> np.ndarray | None:
    if values is None:
        return None
    array = np.asarray(values)
    return array.astype(float) if array.dtype.kind in "fiub" and array.size else None
