"""A footstep: which foot, and where its sole is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.footsteps.checks import number, one_pose


@dataclass(frozen=True)
class Sole:
    """A rectangle around the frame of a foot: ``half_length`` along x, ``half_width`` along y, in m."""

    half_length: float = 0.11
    half_width: float = 0.055

    def __post_init__(self) -> None:
        for name in ("half_length", "half_width"):
            object.__setattr__(self, name, number(getattr(self, name), f"{name} of a sole in m", 0.0, above=True))

    def corners(self, pose: Pose) -> Array:
        """(4, 3) in m in the world, counter-clockwise from above."""
        x, y = self.half_length, self.half_width
        own = np.array([[x, y, 0.0], [-x, y, 0.0], [-x, -y, 0.0], [x, -y, 0.0]])
        return np.asarray(pose.translation + own @ pose.rotation_matrix.T)


@dataclass(frozen=True, eq=False)
class Footstep:
    """The ``foot``, by the name of its frame, with its sole at a ``pose`` in the world: x to the toes, z up."""

    foot: str
    pose: Pose

    def __post_init__(self) -> None:
        if not isinstance(self.foot, str) or not self.foot:
            raise Error(f"the foot of a footstep is the name of a frame; found {self.foot!r}.", found=self.foot)
        one_pose(self.pose, f"the pose of {self.foot!r}")

    @cached_property
    def position(self) -> Array:
        """Of the middle of the sole (3,) in m; not to be changed."""
        return _constant(self.pose.translation)

    @cached_property
    def axes(self) -> Array:
        """Of the sole in the world, the columns of (3, 3); not to be changed."""
        return _constant(self.pose.rotation_matrix)

    @property
    def heading(self) -> float:
        """Of the toes in rad from x to y of the world."""
        x, y, _ = self.axes[:, 0]
        return float(np.arctan2(y, x))

    def point(self, ahead: float = 0.0, left: float = 0.0) -> Array:
        """A point of the sole (3,) in m in the world, ``ahead`` and to the ``left`` of its middle."""
        return np.asarray(self.position + ahead * self.axes[:, 0] + left * self.axes[:, 1])

    def moved(self, way: Any) -> Footstep:
        """The same footstep farther by ``way`` (3,) in m in the world."""
        return Footstep(self.foot, Pose(rotation=self.pose.rotation, translation=self.position + np.asarray(way)))


def _constant(array: Array) -> Array:
    array.flags.writeable = False
    return array


def as_footstep(value: Any, what: str) -> Footstep:
    """The footstep; an error where it is something else."""
    if not isinstance(value, Footstep):
        raise Error(f"{what} is a Footstep(foot, pose); found {value!r}.", found=value)
    return value
