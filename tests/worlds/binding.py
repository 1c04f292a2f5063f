"""Constraints of random worlds: every kind, so placed that the world's configuration obeys them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from trees import ONE_AXIS, random_unit

from dqdyn import constraints as kinds
from dqdyn.algebra.scalar import sin
from dqdyn.constraints import Place
from dqdyn.model.inertia import as_vector
from dqdyn.model.model import WORLD_BODY
from dqdyn.robot import Robot

from .numbers import evaluate
from .parts import Rng, yes

CLOSURES = ("point", "axis", "hinge", "pose", "distance")
OTHERS = ("coupling", "knife edge", "point contact", "face contact", "holonomic", "pfaffian", "wheels", "twice")


def constraints(rng: Rng, robot: Robot, q: np.ndarray, v: np.ndarray) -> tuple[Robot, np.ndarray]:
    """The robot with one to three constraints, and the velocity nearest to v that they admit."""
    for n in range(int(rng.integers(1, 4))):
        kind = str(rng.choice([*CLOSURES, *OTHERS]))
        robot, found = _made(rng, robot, q, kind, f"{kind} {n}")
        if found is not None:
            robot = robot.with_constraints(found, check=False)
    if not robot.constraints:
        return robot, v
    rows = evaluate(robot, "constraint_matrix", q, [0.0])
    return robot, v - np.linalg.pinv(rows, rcond=1e-9) @ (rows @ v)


def _made(rng: Rng, robot: Robot, q: np.ndarray, kind: str, name: str) -> tuple[Robot, Any]:
    """The robot, perhaps with another frame, and the constraint; None where the robot has no place for it."""
    frames = [f.name for f in robot.frames.values() if f.body != WORLD_BODY]
    if kind in CLOSURES:
        return _closure(rng, robot, q, kind, name, frames)
    frame = str(rng.choice(frames))
    if kind == "knife edge":
        return robot, kinds.KnifeEdge(frame, random_unit(rng), name)
    if kind == "point contact":
        return robot, kinds.PointContact(frame, name=name)
    if kind == "face contact":
        return robot, kinds.FaceContact(frame, name=name)
    if kind == "holonomic":
        return robot, kinds.Holonomic(_Bowl(frame, _position(robot, q, frame)), name=name)
    if kind == "pfaffian":
        return robot, kinds.Pfaffian(_Mixed(tuple(rng.normal(size=robot.nv)), robot.nq), 1, name=name)
    if kind == "twice" and robot.constraints:  # one that adds nothing
        first = robot.constraints[0]
        return robot, replace(first, name=name) if hasattr(first, "loop") else None
    single = [j for j in robot.joints if j.kind in ONE_AXIS]
    if kind == "coupling" and single:
        chosen = [single[int(i)] for i in rng.choice(len(single), size=min(3, len(single)), replace=False)]
        ratios = tuple(float(r) for r in rng.choice([1.0, -2.0, 0.5, 0.3], size=len(chosen)))
        own = [
            q[j.q][0] * (j.master.ratio if j.master else 1.0) + (j.master.offset if j.master else 0.0) for j in chosen
        ]
        return robot, kinds.JointCoupling(tuple(j.name for j in chosen), ratios, float(np.dot(ratios, own)), name)
    platforms = [j.name for j in robot.joints if j.kind == "planar"]
    if kind == "wheels" and platforms and len(single) > 1:
        left, right = (single[int(i)].name for i in rng.choice(len(single), size=2, replace=False))
        return robot, kinds.RollingWheels(left, right, 0.1, 0.5, str(rng.choice(platforms)), name)
    return robot, None


def _closure(rng: Rng, robot: Robot, q: np.ndarray, kind: str, name: str, frames: list[str]) -> tuple[Robot, Any]:
    """Between a frame, or the world, and a new frame that coincides with it at q, on any body."""
    first, second = str(rng.choice([*frames, "world"])), str(rng.choice(frames))
    if kind == "distance":
        apart = float(np.linalg.norm(_position(robot, q, first) - _position(robot, q, second)))
        return robot, kinds.DistanceClosure(first, second, apart, name) if apart > 0.01 else None
    from dqdyn import DQ

    there, here = (DQ(evaluate(robot, "pose", q, frame=f)) for f in (second, first))
    robot = robot.add_frame(name, second, there.conj() * here)
    if kind == "point":
        return robot, kinds.PointClosure(first, name, name)
    if kind == "pose":
        return robot, kinds.PoseClosure(first, name, name=name)
    axis = as_vector(np.eye(3)[int(rng.integers(3))]) if yes(rng) else random_unit(rng)
    return robot, kinds.AxisClosure(first, name, axis, slide=kind == "axis", name=name)


def _position(robot: Robot, q: np.ndarray, frame: str) -> np.ndarray:
    return evaluate(robot, "point_on", q, np.zeros(3), frame=frame)


class _Bowl:
    """A frame keeps its distance from a point, by a function as users write it."""

    def __init__(self, frame: str, at: np.ndarray) -> None:
        self.frame, self.at = frame, [float(c) for c in at]

    def __call__(self, at: Place) -> list[Any]:
        from dqdyn.algebra.poses import position

        p = position(at.pose(self.frame))
        offset = [(c - c0 + 0.3) for c, c0 in zip(p.vector, self.at, strict=True)]
        return [sum(c * c for c in offset) - 3 * 0.3**2]


class _Mixed:
    """One row that depends on q and needs no position."""

    def __init__(self, weights: tuple[float, ...], nq: int) -> None:
        self.weights, self.nq = [float(w) for w in weights], nq

    def __call__(self, at: Place) -> Any:
        row = [w + 0.3 * sin(at.q[k % self.nq]) for k, w in enumerate(self.weights)]
        return [row], [0.0]
