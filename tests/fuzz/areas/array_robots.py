"""Small robots, functions of theirs, and the answers for every combination of a few states, by interpretation."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from trees import random_robot

from dqdyn.compile.runtime.function import Function
from dqdyn.model.description import Description, Link
from dqdyn.robot import Robot

ROBOTS: dict[str, tuple[int, tuple[str, ...], int, str]] = {
    # joints, kinds, mimic joints, base
    "hinge": (1, ("revolute",), 0, "fixed"),
    "arm": (3, ("revolute", "prismatic", "helical"), 0, "fixed"),
    "mimic": (3, ("revolute", "prismatic"), 1, "fixed"),
    "ball": (2, ("spherical", "revolute"), 0, "fixed"),
    "table": (2, ("planar", "universal"), 0, "fixed"),
    "free": (1, ("prismatic",), 0, "free"),
    "still": (0, (), 0, "fixed"),
}
FUNCTIONS: dict[str, dict[str, Any]] = {
    "mass_matrix": {},
    "inverse_dynamics": {},
    "forward_dynamics": {},
    "bias_forces": {},
    "gravity_forces": {},
    "coriolis_matrix": {},
    "inverse_dynamics_derivatives": {},
    "kinetic_energy": {},
    "pose": {"frame": "tool"},
    "twist": {"frame": "tool", "expressed": "world"},
    "twist_jacobian": {"frame": "tool"},
    "center_of_mass": {},
    "integrate": {},
    "difference": {},
    "joint_wrenches": {"wrench_frames": ("tool",)},
}
EVERYWHERE = ("mass_matrix", "inverse_dynamics")
METHODS = ("mass_matrix", "inverse_dynamics", "forward_dynamics", "bias_forces", "gravity_forces", "coriolis_matrix")
"""Methods of a robot that take and give the same arrays as the bound functions."""


def functions_of(name: str) -> tuple[str, ...]:
    """Half of the functions, for compiling takes its time; every function on some robots.

    Where nothing moves there is no center of mass.
    """
    parity = list(ROBOTS).index(name) % 2
    chosen = [which for i, which in enumerate(FUNCTIONS) if i % 2 == parity or which in EVERYWHERE]
    return tuple(which for which in chosen if ROBOTS[name][0] or which != "center_of_mass")


ZERO, WHOLE, PLAIN, LARGE, NAN, INFINITE = 0, 1, (2, 3, 4), 5, 6, 7
"""Entries of a pool: zeros, small whole numbers, three of float32, coordinates of 1e5, one NaN, one infinity."""
ENTRIES = 8


@cache
def robot(name: str) -> Robot:
    joints, kinds, mimics, base = ROBOTS[name]
    if not joints:
        return Robot.from_description(Description(name, (Link("base"), Link("tool")), _glue()))
    return random_robot(11, joints, kinds, mimics=mimics, base=base)


def _glue() -> tuple[Any, ...]:
    from dqdyn.model.description import Joint

    return (Joint("glue", "fixed", "base", "tool"),)


@cache
def function(name: str, which: str) -> Any:
    """The bound function of a robot."""
    return robot(name).function(which, **FUNCTIONS[which])


@cache
def reference(name: str, which: str) -> Function:
    """The same program without native code."""
    return Robot(robot(name).model, native=False).function(which, **FUNCTIONS[which])


@cache
def pools(name: str, which: str) -> list[np.ndarray]:
    """Values of every input, shape (ENTRIES, size)."""
    return [_pool(robot(name), what, size, i) for i, (what, size) in enumerate(reference(name, which).program.inputs)]


def _pool(of: Robot, what: str, size: int, salt: int) -> np.ndarray:
    rng = np.random.default_rng(100 + salt)
    values = rng.uniform(-2.0, 2.0, (ENTRIES, size)).astype(np.float32).astype(float)
    values[ZERO] = 0.0
    values[WHOLE] = rng.integers(0, 4, size)
    values[LARGE] = (1e5 * values[LARGE]).astype(np.float32)
    for joint in of.joints if what in ("q", "q1") else ():
        if joint.motion.quaternion is not None:
            part = slice(joint.q.start + joint.motion.quaternion.start, joint.q.start + joint.motion.quaternion.stop)
            r = rng.normal(size=(ENTRIES, 4))
            values[:, part] = (r / np.linalg.norm(r, axis=1, keepdims=True)).astype(np.float32)
            values[ZERO, part], values[WHOLE, part] = (1.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0)
    if size:
        values[NAN, -1], values[INFINITE, 0] = np.nan, np.inf
    return values


@cache
def answers(name: str, which: str) -> np.ndarray:
    """Results for every combination of entries: one axis per input, then the shape of the result."""
    given = pools(name, which)
    shapes = [[ENTRIES if i == k else 1 for i in range(len(given))] for k in range(len(given))]
    spread = [values.reshape(*shape, -1) for values, shape in zip(given, shapes, strict=True)]
    inputs = [_input(x, what) for x, (what, _) in zip(spread, reference(name, which).program.inputs, strict=True)]
    return reference(name, which)(*inputs, check=False)


def _input(values: np.ndarray, what: str) -> np.ndarray:
    return values[..., 0] if what == "dt" else values
