"""Inputs and options for every function of the catalog; a new input or option must be given one here."""

from __future__ import annotations

from typing import Any

import catalog_cases
import numpy as np
from trees import random_q, random_robot, random_v

from dqdyn.algebra.values import Pose
from dqdyn.model.description import Description, Joint, Link, NamedFrame, placement
from dqdyn.model.inertia import Inertia
from dqdyn.robot import Robot
from dqdyn.robot.options import Options

ROBOT: Robot = random_robot(21, 5, ("revolute", "prismatic", "spherical", "universal"), mimics=1)
"""Small, for each function is compiled: quaternion, subspace that moves, mimic joint."""

_BODY = Inertia(1.0, (0.1, 0.0, 0.2), ((0.1, 0.0, 0.0), (0.0, 0.2, 0.0), (0.0, 0.0, 0.2)))
TWO_JOINTS: Robot = Robot.from_description(
    Description(
        "two joints",
        (Link("base"), Link("a", _BODY), Link("b", _BODY)),
        (
            Joint("turn", "revolute", "base", "a", placement((0.0, 0.0, 0.5))),
            Joint("slide", "prismatic", "a", "b", placement((0.5, 0.0, 0.0)), axis=(1.0, 0.0, 0.0)),
        ),
        (
            NamedFrame("tool", "b", placement((0.25, 0.0, 0.5))),
            NamedFrame("camera", "base", placement((0.0, 1.0, 0.0))),
        ),
    )
)
"""Small enough for SymPy."""

FRAMES: dict[str, Any] = {"frame": "tool", "frame1": "tool", "frame2": "camera"}
CHOICES: dict[str, Any] = {
    **FRAMES,
    "expressed": "aligned",
    "method": "auto",
    "wrench_frames": ("tool", "camera"),
    "wrench_expressed": "aligned",
}
"""A choice for every option."""


def size(name: str, robot: Robot = ROBOT) -> int:
    """Length of an input."""
    return robot._functions.variables.size(name, Options(wrench_frames=CHOICES["wrench_frames"]))


def sample(name: str, rng: np.random.Generator, batch: tuple[int, ...] = ()) -> np.ndarray:
    """A good value of an input, with a leading shape."""
    if name in ("q", "q1"):
        return random_q(ROBOT, rng, batch)
    if name in ("v", "a", "tau", "weights", "dq", "dv", "da"):
        return random_v(ROBOT, rng, batch)
    if name == "dt":
        return rng.uniform(0.1, 0.5, batch)
    if name in ("point", "wrench", "wrenches"):
        return rng.normal(size=(*batch, size(name)))
    if name == "goal":
        turn, place = rng.normal(size=(*batch, 4)), rng.normal(size=(*batch, 3))
        return Pose(rotation=turn / np.linalg.norm(turn, axis=-1, keepdims=True), translation=place).vec8()
    direction = rng.normal(size=(*batch, 3))
    direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
    point = rng.normal(size=(*batch, 3))
    if name == "line":
        return np.concatenate([direction, np.cross(point, direction)], axis=-1)
    if name == "plane":
        return np.concatenate([direction, (point * direction).sum(-1, keepdims=True)], axis=-1)
    raise LookupError(f"the input {name!r} has no sample: add one, so that its functions are tested")


def input_names(name: str) -> tuple[str, ...]:
    """The inputs of a case."""
    return catalog_cases.inputs_of(ROBOT, name, options(name))


def inputs(name: str, batch: tuple[int, ...] = (), seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [sample(which, rng, batch) for which in input_names(name)]


def options(name: str) -> dict[str, Any]:
    return catalog_cases.options_of(name, CHOICES)


def rows(arrays: list[np.ndarray], index: tuple[int, ...]) -> list[np.ndarray]:
    """One state out of a batch."""
    return [np.asarray(array[index]) for array in arrays]
