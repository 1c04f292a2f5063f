"""Base parameters: the combinations of parameters that torques depend on, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dqdyn.arrays import Array, Reals
from dqdyn.errors import Error
from dqdyn.identify.columns import TERMS, Columns
from dqdyn.identify.grouping import grouped
from dqdyn.robot import Robot

Method = Literal["grouping", "numerical"]
_DEPENDENT = 1e-8  # of a column of unit length: what rounding leaves beside those before it
_SHOWN = 1e-9  # of a coefficient, relative to the largest of its label


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """β = ``matrix`` π (b,), of which torques are Y_b β with the columns ``independent`` of the whole regressor."""

    columns: Columns
    matrix: Array
    """(b, p)."""
    independent: tuple[int, ...]

    def __len__(self) -> int:
        return len(self.independent)

    @property
    def labels(self) -> tuple[str, ...]:
        """Each as a sum of parameters, such as ``mcx2 + 0.4 m3 + mcx3``."""
        own = self.columns.labels
        return tuple(_label(row, first, own) for row, first in zip(self.matrix, self.independent, strict=True))

    @property
    def hidden(self) -> tuple[str, ...]:
        """Parameters on which no torque depends."""
        unused = np.flatnonzero(~self.matrix.any(axis=0))
        return tuple(self.columns.labels[k] for k in unused)

    @property
    def merged(self) -> tuple[str, ...]:
        """Parameters that are seen in sums with others alone."""
        alone = {int(np.flatnonzero(row)[0]) for row in self.matrix if np.count_nonzero(row) == 1}
        used = {int(k) for k in np.flatnonzero(self.matrix.any(axis=0))}
        return tuple(self.columns.labels[k] for k in sorted(used - alone))

    def regressor(self, q: Reals, v: Reals, a: Reals, *, check: bool = True) -> Array:
        """Y_b (..., nv, b)."""
        return self.columns.regressor(q, v, a, check=check)[..., list(self.independent)]

    def values(self) -> Array:
        """β (b,) of the robot as it is described."""
        return np.asarray(self.matrix @ self.columns.values())

    def __repr__(self) -> str:
        return f"BaseParameters({self.columns.robot.name!r}, {len(self)} of {self.matrix.shape[1]} parameters)"


def base_parameters(
    robot: Robot, terms: Iterable[str] = TERMS, *, method: Method = "grouping", samples: int = 0, seed: int = 0
) -> BaseParameters:
    """The base parameters of a robot with any tree of joints; ``terms`` are what the axes add, of ``TERMS``.

    "grouping" hands parameters on from body to parent by the rule of the joint between them, and drops what bodies near
    the world never show, which depends on how they can move; "numerical" takes the rank of the regressor at random
    states alone. Both span the same torques.
    """
    columns = Columns.of(robot, terms)
    p = len(columns.labels)
    if method not in ("grouping", "numerical"):
        raise Error(f"the method of base parameters is 'grouping' or 'numerical'; found {method!r}.", method=method)
    to_grouped, left = grouped(columns) if method == "grouping" else (np.eye(p), list(range(p)))
    stacked = _random_regressor(columns, samples or 10 + 3 * p // max(robot.nv, 1), seed)[:, left]
    independent, combination = _independent(stacked)
    matrix = combination @ to_grouped[left]
    matrix[np.abs(matrix) < 1e-11 * np.abs(matrix).max(initial=0.0)] = 0.0
    return BaseParameters(columns, matrix, tuple(left[k] for k in independent))


def _random_regressor(columns: Columns, samples: int, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    robot = columns.robot
    if not robot.nv:
        return np.zeros((0, len(columns.labels)))
    q = np.array([robot.random_configuration(rng) for _ in range(samples)])
    v, a = 2.0 * rng.normal(size=(2, samples, robot.nv))
    # A few states are sooner interpreted than compiled for.
    interpreted = replace(columns, robot=Robot(robot.model, native=False))
    return interpreted.regressor(q, v, a).reshape(samples * robot.nv, -1)


def _independent(stacked: Array) -> tuple[list[int], Array]:
    """Columns that do not depend on those before them, and the combination of all columns that each stands for."""
    size = np.linalg.norm(stacked, axis=0)
    seen = np.flatnonzero(size > _DEPENDENT * size.max(initial=0.0))
    found: list[int] = []
    rest = stacked[:, seen] / size[seen]
    for k in range(len(seen)):  # a Gram-Schmidt elimination, in which a column is dropped with what follows from it
        left = np.linalg.norm(rest[:, k])
        if left > _DEPENDENT:
            direction = rest[:, k] / left
            for _ in range(2):
                rest[:, k + 1 :] -= np.outer(direction, direction @ rest[:, k + 1 :])
            found.append(int(seen[k]))
    combination = np.zeros((len(found), stacked.shape[1]))
    scaled = stacked[:, found] / size[found]
    dependent = [int(k) for k in seen if int(k) not in set(found)]
    combination[np.arange(len(found)), found] = 1.0
    if dependent:
        share = np.linalg.lstsq(scaled, stacked[:, dependent] / size[dependent], rcond=None)[0]
        share[np.abs(share) < 1e-9] = 0.0
        combination[:, dependent] = share * size[dependent] / size[found][:, None]
    return found, combination


def _label(row: Array, first: int, names: tuple[str, ...]) -> str:
    """A sum in which the parameter that names the column comes first."""
    used = [first, *(int(k) for k in np.flatnonzero(np.abs(row) > _SHOWN * np.abs(row).max()) if k != first)]
    text = ""
    for k in used:
        c = float(row[k])
        size = "" if abs(abs(c) - 1.0) < 1e-9 else f"{abs(c):.4g} "
        sign = ("−" if c < 0.0 else "") if not text else (" − " if c < 0.0 else " + ")
        text += f"{sign}{size}{names[k]}"
    return text
