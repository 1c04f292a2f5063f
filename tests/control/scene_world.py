"""What random scenes are made of: arms, primitives, obstacles that move, zones, and a controller for all of them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from trees import random_placement, random_unit

import dqdyn as dq
from dqdyn import control as ct
from dqdyn.algebra.scalar import cos, sin
from dqdyn.control.core.kinematics import State
from dqdyn.kinematics.distances import DISTANCES
from dqdyn.model.description import Description, Joint, Link, NamedFrame
from dqdyn.robot import Robot

PAIRS = [
    ("point", "point"),
    ("point", "line"),
    ("point", "plane"),
    ("point", "segment"),
    ("line", "point"),
    ("line", "line"),
    ("plane", "point"),
    ("segment", "segment"),
    ("segment", "plane"),
]


@dataclass
class Scene:
    """A robot at its start, its zones, and the controller that is to keep out of them."""

    seed: int
    level: str
    robot: Robot
    q0: np.ndarray
    v0: np.ndarray
    zones: list[ct.Inequality]
    controller: ct.Controller

    def owner(self, row: int) -> ct.Inequality:
        """The zone that row ``row`` of h belongs to."""
        return [zone for zone in self.zones for _ in zone.row_names()][row]


def scene(seed: int, reach: float | None = None) -> Scene:
    """One scene, compiled once: by velocity for even seeds, by acceleration for odd ones; one to three zones.

    With ``reach`` in m, lines of the robot that keep away from lines count so far to both sides.
    """
    rng = np.random.default_rng(seed)
    robot = arm(rng)
    q0 = rng.uniform(-1.5, 1.5, robot.nv)
    zones: list[ct.Inequality] = []
    while len(zones) < 1 + seed % 3:
        found = zone(robot, q0, rng, f"zone {len(zones) + 1}", reach)
        if found is not None:
            zones.append(found)
    task = ct.TranslationTask("tool", _temptation(robot, q0, zones[0], rng), gain=float(rng.uniform(1.0, 4.0)))
    level = "velocity" if seed % 2 == 0 else "acceleration"
    v0 = np.zeros(robot.nv) if level == "velocity" else 0.3 * rng.normal(size=robot.nv)
    common: Any = {"damping": 0.02, "infeasible": "hold"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ct.ControlWarning)  # targets in a zone are part of the game
        if level == "velocity":
            controller = ct.velocity_controller(robot, [task], [*zones, ct.VelocityLimits(8.0)], **common)
        else:
            levels = [[task], [ct.RestTask(gain=2.0)]]
            controller = ct.acceleration_controller(robot, levels, [*zones, ct.AccelerationLimits(300.0)], **common)
    return Scene(seed, level, robot, q0, v0, zones, controller)


def arm(rng: np.random.Generator) -> Robot:
    """A chain of six to eight revolute joints about any axes, links of 10 to 40 cm."""
    n = int(rng.integers(6, 9))
    links, joints = [Link("link_0")], []
    for i in range(1, n + 1):
        origin = random_placement(rng, 0.25)
        joints.append(
            Joint(f"joint_{i}", "revolute", f"link_{i - 1}", f"link_{i}", origin=origin, axis=random_unit(rng))
        )
        links.append(Link(f"link_{i}"))
    tool = NamedFrame("tool", f"link_{n}", random_placement(rng, 0.2))
    return Robot.from_description(Description("arm", tuple(links), tuple(joints), (tool,)))


def wandering(rng: np.random.Generator, center: np.ndarray) -> Callable[[Any], list[Any]]:
    """A position that swings about a center by up to 0.3 m."""
    size, speed, phase = rng.uniform(0.0, 0.3, 3), rng.uniform(0.2, 2.0, 3), rng.uniform(0, 6, 3)
    terms = list(zip(center.tolist(), size.tolist(), speed.tolist(), phase.tolist(), strict=True))
    return lambda t: [c + a * sin(w * t + f) for c, a, w, f in terms]


def turning(rng: np.random.Generator) -> Callable[[Any], list[Any]]:
    """A direction that turns about an axis."""
    axis, other = np.array(random_unit(rng)), np.array(random_unit(rng))
    e1 = np.cross(axis, other)
    e1 = e1 / np.linalg.norm(e1)
    e2, tilt, speed = np.cross(axis, e1), rng.uniform(0.3, 1.2), rng.uniform(-0.6, 0.6)

    def direction(t: Any) -> list[Any]:
        c, s = np.cos(tilt) * cos(speed * t), np.cos(tilt) * sin(speed * t)
        return [float(a) * c + float(b) * s + float(np.sin(tilt) * d) for a, b, d in zip(e1, e2, axis, strict=True)]

    return direction


def obstacle(kind: str, rng: np.random.Generator, near: np.ndarray) -> Any:
    """Something that moves, some 10 to 50 cm away."""
    center = near + np.array(random_unit(rng)) * rng.uniform(0.1, 0.5)
    p, l = wandering(rng, center), turning(rng)
    if kind == "point":
        return p
    if kind == "line":
        return lambda t: dq.Line.from_plucker(l(t), _cross(p(t), l(t)))
    if kind == "plane":
        return lambda t: [*l(t), sum(a * b for a, b in zip(l(t), p(t), strict=True))]
    return lambda t: dq.Segment(p(t), [a + 0.4 * b for a, b in zip(p(t), l(t), strict=True)])


def _cross(a: list[Any], b: list[Any]) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def thing(kind: str, frame: str, rng: np.random.Generator) -> Any:
    at = rng.uniform(-0.1, 0.1, 3)
    if kind == "segment":
        return ct.segment(ct.point(frame, at), ct.point(frame, at + 0.2 * np.array(random_unit(rng))))
    if kind == "point":
        return ct.point(frame, at)
    return (ct.line if kind == "line" else ct.plane)(frame, random_unit(rng), at)


def at_start(robot: Robot, inequality: ct.Inequality, q: np.ndarray) -> float:
    """The least h at t = 0, on plain numbers."""
    state = State(robot.model, q.tolist())
    seen = [part.kinematics(state).value for part in inequality.features]
    return float(min(inequality.value(seen, [signal.at(0.0).value for signal in inequality.signals])))


def zone(
    robot: Robot, q: np.ndarray, rng: np.random.Generator, name: str, reach: float | None = None
) -> ct.Inequality | None:
    """An inequality that holds at the start with some room, or None where this try has none."""
    bodies = [body.name for body in robot.bodies][2:]
    frame = str(rng.choice(bodies)) if rng.uniform() < 0.4 else "tool"
    near = robot.pose(frame, q).translation
    gain = float(rng.uniform(2.0, 12.0))
    kind = rng.uniform()
    if kind < 0.12:
        axis = turning(rng)
        start = at_start(robot, ct.Cone("tool", lambda t: dq.Line(axis(t), [0.0, 0.0, 0.0]), 3.0), q)
        angle = float(np.arccos(np.clip(1 - (2 - 2 * np.cos(3.0) - start) / 2, -1, 1))) + rng.uniform(0.15, 0.5)
        if angle > 3.0:
            return None
        return ct.Cone("tool", lambda t: dq.Line(axis(t), [0.0, 0.0, 0.0]), angle, gain=gain, name=name)
    if kind < 0.24:
        center = wandering(rng, near)
        safe = float(np.linalg.norm(near - [float(c) for c in center(0.0)]) + rng.uniform(0.2, 0.5))
        return ct.KeepIn(frame, center, safe, gain=gain, name=name)
    a, b = PAIRS[int(rng.integers(len(PAIRS)))]
    on_robot, other = thing(a, frame, rng), obstacle(b, rng, near)
    if kind > 0.85 and (b, a) != ("plane", "plane"):  # against another part of the robot
        other = thing(b, "link_1", rng)
    part: Any = {"reach": reach} if a == b == "line" and reach is not None else {}
    h = at_start(robot, ct.KeepOut(on_robot, other, 0.0, **part), q)
    if f"{a}_to_{b}" in ("point_to_plane", "plane_to_point", "segment_to_plane"):
        safe = h - float(rng.uniform(0.05, 0.3))
    else:
        safe = float(rng.uniform(0.3, 0.8)) * float(np.sqrt(max(h, 0.0)))
        if safe < 0.03:
            return None
    assert f"{a}_to_{b}" in DISTANCES
    return ct.KeepOut(on_robot, other, safe, gain=gain, name=name, **part)


def _temptation(robot: Robot, q: np.ndarray, first: ct.Inequality, rng: np.random.Generator) -> Any:
    """A target in the middle of the first obstacle, if that is a point, or else anywhere within half a meter."""
    given = first.signals[0]
    if given.kind == "point" and rng.uniform() < 0.7:
        return [c + 0.02 for c in given.at(0.0).value]
    return robot.pose("tool", q).translation + rng.uniform(-0.5, 0.5, 3)
