"""What a plant measures besides q and v, for controllers that want it.

A controller with a method ``observe(observation)`` gets an :class:`Observation` before each ``step(t, q, v)``, as it
would from force sensors: contact forces are those of the step before. At the start they are those of the robot at its
first state without motor torques.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from dqdyn.arrays import Array
from dqdyn.errors import unknown_name


@dataclass(frozen=True, eq=False)
class LinkContact:
    """Contacts of one link with all it touches.

    ``force`` (3,) in N is their sum on the link, in world axes; ``normal`` in N the sum of their normal parts, from 0
    on; ``center`` (3,) in m the mean of the touching points, weighted by normal force; ``partners`` what it touches:
    bodies of the scene, "ground", or links of the robot.
    """

    force: Array
    normal: float
    center: Array
    partners: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Observation:
    """Measured at ``time`` in s: ``contacts`` by link, of links that touch something; ``scene`` by body that moves.

    ``scene`` has poses (7,) in the world, [w, x, y, z | px, py, pz] in m, as the free joint has them. ``bodies`` are
    the moving bodies that carry the frames of the robot, by index: forces are asked for by any frame.
    """

    time: float
    contacts: Mapping[str, LinkContact] = field(default_factory=dict)
    scene: Mapping[str, Array] = field(default_factory=dict)
    bodies: Mapping[str, int] = field(default_factory=dict)

    def normal_force(self, frame: str) -> float:
        """N with which the body that carries a frame is pressed, 0 where it touches nothing."""
        return sum((contact.normal for contact in self._of(frame)), 0.0)

    def force(self, frame: str) -> Array:
        """Contact forces (3,) in N on the body that carries a frame, in world axes."""
        return sum((contact.force for contact in self._of(frame)), np.zeros(3))

    def _of(self, frame: str) -> list[LinkContact]:
        """Contacts of all links that move as one with the frame."""
        body = self.bodies.get(frame)
        if body is None:
            raise unknown_name("frame of the robot", frame, self.bodies)
        return [contact for link, contact in self.contacts.items() if self.bodies.get(link) == body]


class Observing(Protocol):
    """A controller that wants measurements."""

    def observe(self, observation: Observation) -> None:
        """Called before each step."""
