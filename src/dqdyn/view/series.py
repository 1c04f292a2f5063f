"""The curves of a trajectory, grouped by quantity and unit, with the names of the joints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.simulate.tables import columns

_QUANTITIES = {"q": "positions", "v": "velocities", "tau": "joint efforts"}


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves of one unit over the same time: ``curves`` maps names to values (n,).

    ``limits``: one number, levels (k,) or curves (n, k) by name; ``spans``: (start, end, name, color), ``events``:
    (time, name) in s.
    """

    title: str
    unit: str
    curves: Mapping[str, Array]
    limits: Mapping[str, Array] = field(default_factory=dict)
    spans: tuple[tuple[float, float, str, str], ...] = ()
    events: tuple[tuple[float, str], ...] = ()

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
            if str(name).startswith("contact_center/"):
                continue  # arrows in the picture show it
            panels.append(_recorded(str(name), array))
    return panels


def _recorded(name: str, array: Array) -> Panel:
    """A record; those of plants have units and axes."""
    kind, _, owner = name.partition("/")
    if kind == "scene_pose" and array.shape[1:] == (7,):
        return Panel(f"position of {owner}", "m", dict(zip("xyz", array[:, 4:].T, strict=True)))
    if kind == "contact_force" and array.shape[1:] == (3,):
        return Panel(f"contact force on {owner}", "N", dict(zip("xyz", array.T, strict=True)))
    if kind == "normal_force" and array.ndim == 1:
        return Panel(f"normal force on {owner}", "N", {owner: array})
    return Panel(name, "", _numbered(name, array))


def _by_unit(trajectory: Any, kind: str) -> Iterator[Panel]:
    """One panel for angles, one for lengths, one for quaternions."""
    array = _values(trajectory, kind)
    if array is None:
        return
    panels: dict[str, dict[str, Array]] = {}
    for i, (name, unit) in enumerate(columns(trajectory.robot.model, kind)):
        panels.setdefault(unit, {})[name] = array[:, i]
    for unit, curves in panels.items():
        rotation = unit == "1"
        yield Panel("rotation quaternions" if rotation else _QUANTITIES[kind], "" if rotation else unit, curves)


def _energies(trajectory: Any) -> Iterator[Panel]:
    kinetic, potential = _values(trajectory, "kinetic"), _values(trajectory, "potential")
    if kinetic is not None and potential is not None:
        yield Panel("energy", "J", {"kinetic": kinetic, "potential": potential, "total": kinetic + potential})


def _residuals(trajectory: Any) -> Iterator[Panel]:
    """Positions of the holonomic constraints, then velocities of all; rows may be lengths or angles."""
    values = _values(trajectory, "residual")
    if values is None or values.ndim != 2:
        return
    robot = trajectory.robot
    named = [(name, c.holonomic) for c in robot.constraints for name in _rows(c.name, c.rows(robot.model))]
    positions, velocities = [name for name, holonomic in named if holonomic], [name for name, _ in named]
    if len(positions) + len(velocities) != values.shape[1]:  # of a trajectory that was made elsewhere
        yield Panel("constraint residuals", "", _numbered("row", values))
        return
    if positions:
        yield Panel("constraint residuals", "m or rad", dict(zip(positions, values.T, strict=False)))
    rates = values.T[len(positions) :]
    yield Panel("constraint velocities", "m/s or rad/s", dict(zip(velocities, rates, strict=True)))


def _rows(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name} {i + 1}" for i in range(count)]


def _numbered(name: str, values: Array) -> dict[str, Array]:
    columns = values.reshape(len(values), -1).T
    return dict(zip(_rows(name, len(columns)), columns, strict=True))


def _values(trajectory: Any, name: str) -> Array | None:
    return _array(getattr(trajectory, name, None))


def _array(values: Any) -> Array | None:
    array = np.asarray(values)
    return array.astype(float) if array.dtype.kind in "fiub" and array.size else None
