"""Figures and drawings of runs, and the norms that they show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.analysis.experiments.experiment import Drawing, Figure
from dqdyn.arrays import Array
from dqdyn.simulate import Trajectory

_POINTS = 1500  # of a figure's common time axis
Runs = Mapping[str, Trajectory]
Curves = Mapping[str, tuple[Trajectory, Array]]
"""Values (n,) over the time of a run, by name."""


def draw(kind: str, **arguments: Any) -> Drawing:
    """``draw("sphere", center=…, radius=…)``: one call of a scene's method."""
    return Drawing(kind, arguments)


def curves(runs: Runs, values: Callable[[Trajectory], Array] | Mapping[str, Array]) -> Curves:
    """A curve per run: a function of the run, or values at hand by its name."""
    return {name: (run, values(run) if callable(values) else values[name]) for name, run in runs.items()}


def figure(title: str, unit: str, curves: Curves, limits: Mapping[str, float] | None = None) -> Figure:
    """Curves (n,) of runs that may have different steps, and constant lines, over one time axis."""
    end = max(float(run.time[-1]) for run, _ in curves.values())
    time = np.linspace(0.0, end, _POINTS)
    # a run that ended earlier has no curve there
    drawn = {name: np.interp(time, run.time, values, right=np.nan) for name, (run, values) in curves.items()}
    lines = {name: np.full(len(time), value) for name, value in (limits or {}).items()}
    return Figure(title, unit, time, {**drawn, **lines})


def joint_figures(title: str, runs: Runs, joints: Sequence[str], number: str = "") -> Iterator[Figure]:
    """The room that the joints have to their limits, and the positions of the named ones, a figure per run.

    ``number``: the paper's, such as "fig. 6.3", which shows the positions.
    """
    yield figure(f"{title}: room to the nearest limit", "rad", curves(runs, room_to_limits), {"limit": 0.0})
    for name, run in runs.items():
        places = {joint.name: joint.q.start for joint in run.robot.joints}
        yield figure(
            f"{title}: {name}" + (f" ({number})" if number else ""),
            "rad",
            {j: (run, run.q[:, places[j]]) for j in joints},
        )


def room_to_limits(run: Trajectory) -> Array:
    """The least distance (n,) of a joint from its limits, negative beyond them."""
    limits = run.robot.limits
    return np.asarray(np.minimum(run.q - limits.lower, limits.upper - run.q).min(axis=1))


def norm(values: Array) -> Array:
    """Lengths (n,) of rows (n, k)."""
    return np.asarray(np.linalg.norm(values, axis=-1))


def effort(time: Array, values: Array) -> float:
    """√∫‖u‖² dt by the trapezoidal rule."""
    squares = np.sum(values * values, axis=1)
    return float(np.sqrt(np.sum(0.5 * (squares[1:] + squares[:-1]) * np.diff(time))))
