"""Every function of the catalog on a few robots, with states and the results of its program on NumPy batches."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from catalog_cases import INVERTED, NAMES, exists, function_of, options_of
from trees import random_robot, random_unit

import dqdyn as dq
from dqdyn.algebra.scalar import stack, unstack
from dqdyn.compile.trace.interpret import interpret
from dqdyn.compile.trace.program import Program

STATES = 3
ROBOTS: dict[str, Callable[[], dq.Robot]] = {
    "arm7": dq.robots.arm7,
    "free base": lambda: random_robot(31, 1, ("helical",), base="free"),
    "tree": lambda: random_robot(32, 4, ("revolute", "prismatic", "universal", "spherical"), mimics=1),
}
SMALL: dict[str, Callable[[], dq.Robot]] = {
    "two_link": dq.robots.two_link,
    "ball": lambda: random_robot(33, 2, ("spherical", "revolute")),
}


@cache
def robot_named(name: str) -> dq.Robot:
    return (ROBOTS | SMALL)[name]()


@dataclass(frozen=True)
class Case:
    """A function with its options, states (one row each), and expected results of shape (STATES, *shape)."""

    function: str
    options: dict[str, Any]
    program: Program
    inputs: tuple[np.ndarray, ...]
    expected: np.ndarray


def _options(robot: dq.Robot, function: str) -> dict[str, Any]:
    # On another body than the tool, so that nothing is zero but for rounding.
    other = next(f.name for f in robot.frames.values() if f.body not in (-1, robot.frames["tool"].body))
    frames = {"frame": "tool", "frame1": "tool", "frame2": other}
    choices: dict[str, Any] = frames | {"expressed": "world" if robot.base == "fixed" else "aligned"}
    choices["wrench_frames"] = ("tool", frames["frame2"])
    return options_of(function, choices)


def _input(robot: dq.Robot, name: str, size: int, rng: np.random.Generator) -> np.ndarray:
    if name in ("q", "q1"):
        return robot.random_configuration(rng)
    if name == "line":
        direction = np.array(random_unit(rng))
        return np.concatenate([direction, np.cross(rng.normal(size=3), direction)])
    if name == "plane":
        return np.array([*random_unit(rng), rng.normal()])
    if name == "goal":
        turn = rng.normal(size=4)
        return dq.Pose(rotation=turn / np.linalg.norm(turn), translation=rng.normal(size=3)).vec8()
    return rng.normal(size=size)


@cache
def names_of(robot_name: str) -> tuple[str, ...]:
    """The functions that a robot has."""
    robot = robot_named(robot_name)
    return tuple(name for name in NAMES if exists(robot, name, _options(robot, name)))


@cache
def case(robot_name: str, function: str) -> Case:
    robot = robot_named(robot_name)
    options = _options(robot, function)
    program = robot.program(function_of(function).name, **options)
    rng = np.random.default_rng([len(robot_name), *function.encode()])
    rows = [[_input(robot, name, size, rng) for name, size in program.inputs] for _ in range(STATES)]
    inputs = tuple(np.array([row[i] for row in rows]) for i in range(len(program.inputs)))
    entries = interpret(program, [unstack(a, a.shape[1]) for a in inputs])
    return Case(function, options, program, inputs, stack(entries, program.shape, (STATES,)))


def matrix_shape(program: Program) -> tuple[int, int]:
    """Rows and columns that hold the result in languages of matrices: vectors are columns, matrices lie in a stack."""
    shape = program.shape
    return (math.prod(shape[:-1]), shape[-1]) if len(shape) > 1 else (len(program.outputs), 1)


def assert_same(found: Any, expected: np.ndarray, tolerance: float = 1e-12, of: str = "") -> None:
    """Within ``tolerance`` of the largest entry."""
    found = np.asarray(found, dtype=float)
    assert found.shape == expected.shape, of
    if expected.size:
        error, size = np.abs(found - expected).max(), np.abs(expected).max()
        tolerance *= 1e3 if of in INVERTED else 1.0
        assert error <= tolerance * size, f"{of} is off by {error:.3g}, largest entry {size:.3g}"
