"""Robots of one body that touch: a block, a ball, a tripod."""

from __future__ import annotations

from functools import cache

import numpy as np

import dqdyn as dq
from dqdyn import contacts
from dqdyn.contacts import Contact
from dqdyn.model.description import Shape, placement
from dqdyn.model.inertia import Inertia, box, sphere
from dqdyn.robot import Robot
from dqdyn.simulate import RoundContact

G = 9.81
FOOT = 0.02
FEET = ((0.15, 0.0, -0.05), (-0.1, 0.12, -0.05), (-0.1, -0.12, -0.05))


def body(name: str, inertia: Inertia, *shapes: Shape) -> Robot:
    """One free body."""
    link = dq.Link(name, inertia, (), shapes)
    return Robot.from_description(dq.Description(name, (link,), (), (), "free"))


@cache
def block(size: tuple[float, float, float], mass: float = 2.0) -> Robot:
    return body("block", box(mass, size), Shape("box", size))


def base_of(size: tuple[float, float, float], friction: float) -> Contact:
    """The lower face of a block."""
    half = {"half_length": size[0] / 2, "half_width": size[1] / 2}
    return contacts.face("block", **half, center=(0.0, 0.0, -size[2] / 2), friction=friction, name="base")


def corners_of(size: tuple[float, float, float]) -> list[Contact]:
    """All eight corners of a block as points."""
    half = 0.5 * np.array(size)
    signs = [(x, y, z) for x in (1, -1) for y in (1, -1) for z in (1, -1)]
    return [contacts.point("block", half * s, name=f"corner {i}") for i, s in enumerate(signs)]


@cache
def ball(radius: float = 0.1, mass: float = 1.5) -> Robot:
    return body("ball", sphere(mass, radius), Shape("sphere", (radius,)))


@cache
def tripod(mass: float = 2.0) -> Robot:
    """A box on three balls: its normal forces are determined."""
    shapes = (Shape("sphere", (FOOT,), placement(foot)) for foot in FEET)
    return body("tripod", box(mass, (0.3, 0.2, 0.1)), *shapes)


def feet() -> list[RoundContact]:
    return [RoundContact("tripod", FOOT, foot, name=f"foot {i}") for i, foot in enumerate(FEET)]


def raised(robot: Robot, height: float) -> np.ndarray:
    """Neutral, with the origin of the body at a height in m."""
    q = robot.neutral()
    q[6] = height
    return q
