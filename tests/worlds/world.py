"""A random world: a robot with all its options, and one state of it; made of one integer, and of nothing else."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from trees import ONE_AXIS, random_unit

from dqdyn.dynamics.gravity.fields import Central, Potential, Uniform
from dqdyn.errors import ModelWarning
from dqdyn.robot import Robot

from .binding import constraints
from .parts import Rng, pick, yes
from .tree import BASES, Manner, description, manner, size

GRAVITIES = ("down", "none", "any direction", "uniform field", "central field", "potential")


@dataclass(frozen=True)
class Payload:
    """A body fixed to the frame "tool"."""

    mass: float
    com: np.ndarray
    moments: np.ndarray


@dataclass(frozen=True)
class World:
    """``tree`` is the robot as described; ``robot`` has payload, locked joints, gravity and constraints as well."""

    seed: int
    how: Manner
    gravity: str
    tree: Robot
    robot: Robot
    payload: Payload | None
    locked: dict[str, Any]
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    frames: tuple[str, ...] = ()
    wrenches: np.ndarray = field(default_factory=lambda: np.zeros(0))
    expressed: str = "body"

    @cached_property
    def free(self) -> Robot:
        """Without constraints."""
        return self.robot.without_constraints() if self.robot.constraints else self.robot

    @property
    def under(self) -> dict[str, Any]:
        """Options of functions with wrenches."""
        return {"wrench_frames": self.frames, "wrench_expressed": self.expressed}

    @property
    def has_mimics(self) -> bool:
        return any(joint.is_mimic for joint in self.robot.joints)

    @property
    def options(self) -> list[str]:
        """What was drawn, by name."""
        found = [self.robot.base, f"gravity {self.gravity}", *self.how.options]
        for name, there in (
            ("mimic", self.has_mimics),
            ("payload", self.payload is not None),
            ("locked", bool(self.locked)),
            ("wrenches", bool(self.frames)),
        ):
            found += [name] if there else []
        return found + [type(c).__name__ for c in self.robot.constraints]

    def __str__(self) -> str:
        lines = [f"world {self.seed}: {len(self.robot.joints)} joints, nq {self.robot.nq}, nv {self.robot.nv}"]
        lines += [f"  {', '.join(self.options)}", f"  {self.how}"]
        for joint, body in zip(self.robot.joints, self.robot.bodies, strict=True):
            parent = "world" if joint.parent < 0 else self.robot.joints[joint.parent].name
            rest = f" armature {joint.armature}" if any(joint.armature) else ""
            rest += f" follows joint {joint.master.joint}" if joint.master else ""
            lines.append(f"  {joint.name} on {parent}: {joint.motion}{rest}; {body.inertia}")
        lines += [f"  {c}" for c in self.robot.constraints]
        return "\n".join([*lines, f"  q = {self.q}", f"  v = {self.v}", f"  a = {self.a}"])


def world(seed: int) -> World:
    """The world of that seed."""
    rng = np.random.default_rng(seed)
    how, base = manner(rng), pick(rng, BASES, (4, 2, 2, 1))
    mimics = int(rng.integers(1, 4)) if yes(rng, 0.3) else 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ModelWarning)  # of links without mass, which are wanted here
        tree = Robot.from_description(description(rng, f"world_{seed}", size(rng), base, how, mimics), strict=True)
        load = _payload(rng) if yes(rng, 0.3) else None
        robot = tree.with_payload("tool", load.mass, load.com, load.moments) if load else tree
        locked = _locked(rng, robot) if yes(rng, 0.3) else {}
        robot = robot.lock(locked) if locked else robot
        kind = pick(rng, GRAVITIES, (6, 2, 3, 1, 2, 1))
        robot = robot if kind == "down" else robot.with_gravity(_gravity(rng, kind))
        q = robot.neutral() if yes(rng, 0.15) else robot.random_configuration(rng)
        v = rng.normal(size=robot.nv) * rng.choice([0.0, 1.0, 1.0, 30.0])
        a = rng.normal(size=robot.nv) * rng.choice([0.0, 1.0, 1.0, 100.0])
        if yes(rng, 0.3) and robot.nv:
            robot, v = constraints(rng, robot, q, v)
    frames: tuple[str, ...] = ()
    if yes(rng, 0.4):
        frames = tuple(str(f) for f in rng.choice(list(robot.frames), size=int(rng.integers(1, 4))))
    wrenches = rng.normal(size=6 * len(frames)) * rng.choice([1.0, 100.0])
    expressed = "body" if yes(rng) else "aligned"
    return World(seed, how, kind, tree, robot, load, locked, q, v, a, frames, wrenches, expressed)


def _payload(rng: Rng) -> Payload:
    extent = rng.uniform(0.0, 0.1, 3) * (0.0 if yes(rng, 0.3) else 1.0)
    mass = float(rng.uniform(0.1, 5.0))
    moments = mass * (np.sum(extent**2) - extent**2)
    return Payload(mass, rng.uniform(-0.2, 0.2, 3) * (0.0 if yes(rng, 0.3) else 1.0), moments)


def _locked(rng: Rng, robot: Robot) -> dict[str, Any]:
    """Some joints with one axis at values within their limits; those that follow others go with them."""
    able = [joint for joint in robot.joints if joint.kind in ONE_AXIS and not joint.is_mimic]
    q = robot.random_configuration(rng)
    return {joint.name: float(q[joint.q][0]) for joint in able if yes(rng, 0.3)}


def _gravity(rng: Rng, kind: str) -> Any:
    direction = np.array(random_unit(rng))
    if kind == "none":
        return (0.0, 0.0, 0.0)
    if kind == "central field":  # far enough that no body meets its center
        return Central(25000.0, tuple(60.0 * direction), gradient=yes(rng))
    if kind == "potential":
        return Potential(_hilly)
    g = tuple(float(c) for c in 9.81 * direction)
    return Uniform(g) if kind == "uniform field" else g


def _hilly(p: list[Any]) -> Any:
    return 9.81 * p[2] + 0.3 * (p[0] * p[0]) - 0.2 * (p[1] * p[2])
