"""What a sweep found: measures of all runs, their reductions, and the runs that failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error, unknown_name
from dqdyn.scale.axes import AXES
from dqdyn.scale.runs import Plan
from dqdyn.simulate.trajectory import Trajectory


@dataclass(frozen=True)
class Failure:
    """A run without a result, and why. ``sweep.run(...)`` with these names simulates it again, alone."""

    parameters: str
    controller: str
    state: int
    seed: int
    status: str

    def __str__(self) -> str:
        where = f"parameters {self.parameters!r}, controller {self.controller!r}, state {self.state}"
        return f"seed {self.seed} ({where}): {self.status}"


@dataclass(frozen=True, eq=False)
class Sweep:
    """The runs of a sweep, each with an index on the axes parameters, controllers, states and seeds.

    ``axes`` has the labels of each axis. ``measures`` has arrays (P, C, S, N, …) by name, NaN for runs that failed,
    which are listed in ``failures``. ``output`` is the folder in which everything was stored, if any.
    """

    axes: Mapping[str, tuple[Any, ...]]
    measures: Mapping[str, Array]
    failures: tuple[Failure, ...]
    plan: Plan
    output: Path | None = None

    @property
    def runs(self) -> int:
        """The number of runs."""
        return int(np.prod([len(labels) for labels in self.axes.values()]))

    @property
    def failed(self) -> int:
        """The number of runs that failed."""
        return len(self.failures)

    def mean(self, measure: str, over: Sequence[str] = ("states", "seeds")) -> Array:
        """The mean of a measure over some axes, without runs that failed; NaN where all did."""
        return self._reduced(np.nanmean, measure, over)

    def deviation(self, measure: str, over: Sequence[str] = ("states", "seeds")) -> Array:
        """The standard deviation of a measure over some axes, without runs that failed."""
        return self._reduced(np.nanstd, measure, over)

    def quantiles(
        self, measure: str, levels: Sequence[float] = (0.05, 0.5, 0.95), over: Sequence[str] = ("states", "seeds")
    ) -> Array:
        """Quantiles of a measure over some axes, (levels, …), without runs that failed."""
        return self._reduced(np.nanquantile, measure, over, q=np.asarray(levels, dtype=float))

    def failed_by(self, axis: str) -> dict[Any, int]:
        """How many runs failed, by the labels of an axis."""
        if axis not in AXES:
            raise unknown_name("axis of a sweep", axis, AXES)
        attribute = {"parameters": "parameters", "controllers": "controller", "states": "state", "seeds": "seed"}[axis]
        found = [getattr(failure, attribute) for failure in self.failures]
        return {label: found.count(label) for label in self.axes[axis]}

    def run(
        self, parameters: str | None = None, controller: str | None = None, state: int = 0, seed: int = 0
    ) -> Trajectory:
        """One run again, alone: its trajectory is bit for bit that of the sweep. By default the first of each axis."""
        chosen = {"parameters": parameters, "controllers": controller, "states": state, "seeds": seed}
        index = {}
        for axis, label in chosen.items():
            labels = list(self.axes[axis])
            if label is not None and label not in labels:
                what = "seed" if axis == "seeds" else axis
                raise unknown_name(f"entry of the axis {what!r}", str(label), map(str, labels[:12]))
            index[axis] = 0 if label is None else labels.index(label)
        run = index["states"] * self.plan.seeds + index["seeds"]
        return self.plan.one(index["parameters"], index["controllers"], run)

    def trajectories(self) -> Any:
        """The Zarr group of whole trajectories: q, v and tau of shape (P · C, S · N, samples, n), and time."""
        if self.output is None or not self.plan.samples:
            raise Error("this sweep kept no trajectories: pass trajectories=True and an output.")
        import zarr

        return zarr.open_group(str(self.output / "trajectories"), mode="r")

    def _reduced(self, reduction: Any, measure: str, over: Sequence[str], **options: Any) -> Array:
        if measure not in self.measures:
            raise unknown_name("measure", measure, self.measures)
        names = (over,) if isinstance(over, str) else tuple(over)
        for name in names:
            if name not in AXES:
                raise unknown_name("axis of a sweep", name, AXES)
        import warnings

        with warnings.catch_warnings():  # where all runs failed there is no mean, and NaN says so
            warnings.simplefilter("ignore", RuntimeWarning)
            axes = tuple(AXES.index(name) for name in names)
            return np.asarray(reduction(self.measures[measure], axis=axes, **options))

    def __repr__(self) -> str:
        sizes = " × ".join(f"{len(labels)} {axis}" for axis, labels in self.axes.items())
        return f"<Sweep of {self.plan.robot.name!r}: {sizes} = {self.runs} runs, {self.failed} failed>"
