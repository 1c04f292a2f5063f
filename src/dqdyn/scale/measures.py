"""What a sweep keeps of each run: numbers of its trajectory, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.simulate.limits import SLACK
from dqdyn.simulate.problem import shown
from dqdyn.simulate.trajectory import Trajectory

Measure = Callable[[Trajectory], Any]
"""``measure(trajectory)`` of a batch of B runs gives (B,) or (B, k); NaN where there is none."""


def beyond_limits(trajectory: Trajectory) -> Array:
    """1 for runs of which a sample is beyond a limit of position or velocity, else 0."""
    limits = trajectory.robot.limits
    with np.errstate(invalid="ignore"):
        outside = (trajectory.q < limits.lower - SLACK) | (trajectory.q > limits.upper + SLACK)
        fast = np.abs(trajectory.v) > limits.velocity * (1.0 + SLACK)
    return (outside.any(axis=(0, -1)) | fast.any(axis=(0, -1))).astype(float)


DEFAULT: Mapping[str, Measure] = {
    "q": lambda trajectory: trajectory.q[-1],
    "v": lambda trajectory: trajectory.v[-1],
    "energy": lambda trajectory: trajectory.energy[-1],
    "beyond_limits": beyond_limits,
}
"""The state and the energy at the end, and whether limits were left."""


def checked(given: Mapping[str, Measure] | None) -> dict[str, Measure]:
    """Measures by name."""
    measures = dict(DEFAULT if given is None else given)
    for name, measure in measures.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise Error(f"measures have names such as 'reach'; found {shown(name)}.", argument="measures")
        if not callable(measure):
            raise Error(f"the measure {name!r} is a function of a trajectory; found {shown(measure)}.")
    return measures


def evaluated(name: str, measure: Measure, trajectory: Trajectory) -> Array:
    """A measure of all runs of a trajectory, (B, k)."""
    (count,) = trajectory.batch
    given = np.array(measure(trajectory), dtype=float)
    if given.ndim not in (1, 2) or len(given) != count:
        text = f"the measure {name!r} gives one row for each of {count} runs; found shape {given.shape}"
        raise Error(f"{text}: trajectory.q has the shape {trajectory.q.shape}, time first.", measure=name)
    return given.reshape(count, -1)
