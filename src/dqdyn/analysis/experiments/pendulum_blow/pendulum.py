"""The pendulum: from momentum to the angle of release and back, and what it did in a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dqdyn import scenes
from dqdyn.analysis.standing.setting import G, Standing
from dqdyn.arrays import Array
from dqdyn.errors import Error
from dqdyn.scenes.body import SceneBody
from dqdyn.simulate.observation import Observation

PENDULUM = "pendulum"
HALF_TRUNK = 0.09
"""m from the middle of the trunk to its back."""
APART = 0.05  # s without contact, after which the next touch is another blow


@dataclass(frozen=True)
class Pendulum:
    """A ball on a rod without mass that touches the trunk's back when it hangs down.

    ``mass`` in kg; ``length`` from the pivot to the ball's center and ``radius`` in m; ``direction`` of the blow in rad
    from x, ahead, to y, the robot's left; ``height`` of the ball's center above the trunk's lowest point in m.
    """

    mass: float = 25.0
    length: float = 1.5
    radius: float = 0.1
    direction: float = 0.35
    height: float = 0.24
    friction: float = 0.3

    @cached_property
    def along(self) -> Array:
        """The unit vector (3,) of the blow."""
        return np.array([math.cos(self.direction), math.sin(self.direction), 0.0])

    @property
    def inertia(self) -> float:
        """kg m² about the pivot: m l² + 2/5 m r²."""
        return self.mass * (self.length**2 + 0.4 * self.radius**2)

    @property
    def strongest(self) -> float:
        """N s of the ball that comes from straight above."""
        return self.momentum(math.pi)

    def momentum(self, angle: float) -> float:
        """m v in N s at the bottom, released at rest at an angle in rad: ½ J (v/l)² = m g l (1 − cos φ)."""
        speed = math.sqrt(2.0 * self.mass * G * self.length * (1.0 - math.cos(angle)) / self.inertia)
        return self.mass * self.length * speed

    def angle(self, momentum: float) -> float:
        """rad from hanging down at which it is released to have the momentum m v in N s at the bottom."""
        if not 0.0 < momentum <= self.strongest:
            limit = f"from 0 to {self.strongest:.4g} N s, when it falls from straight above"
            raise Error(f"the pendulum's blow is {limit}; found {momentum:.4g}.", found=momentum)
        return 2.0 * math.asin(min(momentum / self.strongest, 1.0))

    def energy(self, angle: float, rate: float = 0.0) -> float:
        """J at an angle in rad that changes at a rate in rad/s; 0 where it hangs at rest."""
        return 0.5 * self.inertia * rate**2 + self.mass * G * self.length * (1.0 - math.cos(angle))

    def body(self, standing: Standing, momentum: float) -> SceneBody:
        """Released such that it comes to the trunk, as it stands at q0, with a momentum in N s."""
        middle = standing.robot.pose(standing.chest, standing.q0).translation + [0.0, 0.0, self.height]
        away = (HALF_TRUNK + self.radius) / math.cos(self.direction)
        pivot = middle - away * self.along + [0.0, 0.0, self.length]
        axis = np.cross([0.0, 0.0, 1.0], self.along)  # a positive angle is behind the robot
        return scenes.pendulum(
            self.length, self.mass, pivot, angle=self.angle(momentum), axis=axis, radius=self.radius,
            friction=self.friction, name=PENDULUM,
        )  # fmt: skip


class Swing:
    """What the pendulum did: at every step of ``dt`` s its angle in rad, ahead positive, and its force on the robot."""

    def __init__(self, pendulum: Pendulum, body: SceneBody, dt: float) -> None:
        assert body.hinge is not None
        self.pendulum, self.dt = pendulum, dt
        self._pivot, self._axis = np.array(body.hinge.point), np.cross(pendulum.along, [0.0, 0.0, 1.0])
        self._angles: list[float] = []
        self._forces: list[Array] = []
        self._moments: list[float] = []

    def note(self, observation: Observation) -> None:
        """A step."""
        arm = observation.scene[PENDULUM][4:] - self._pivot
        self._angles.append(math.atan2(float(arm @ self.pendulum.along), float(-arm[2])))
        force, moment = np.zeros(3), 0.0
        for contact in observation.contacts.values():
            if contact.partners == (PENDULUM,):
                force = force + contact.force
                moment -= float(self._axis @ np.cross(contact.center - self._pivot, contact.force))
        self._forces.append(force)
        self._moments.append(moment)

    @cached_property
    def angles(self) -> Array:
        """rad (n,) from hanging down, positive ahead."""
        return np.array(self._angles)

    @cached_property
    def forces(self) -> Array:
        """N (n, 3) on the robot, those of the step before."""
        return np.array(self._forces)

    @cached_property
    def blow(self) -> slice:
        """Steps of the first touch."""
        steps = np.flatnonzero(np.abs(self.forces).max(axis=1) > 0.0)
        if not len(steps):
            return slice(0, 0)
        apart = np.flatnonzero(np.diff(steps) > APART / self.dt)
        return slice(int(steps[0]), int(steps[apart[0]] if len(apart) else steps[-1]) + 1)

    @property
    def impulse(self) -> float:
        """N s of the first touch along its direction, by the engine's contact forces."""
        return float((self.forces[self.blow] @ self.pendulum.along).sum() * self.dt)

    @property
    def peak(self) -> float:
        """N of the first touch."""
        return float(np.linalg.norm(self.forces[self.blow], axis=1).max(initial=0.0))

    def rate(self, step: int) -> float:
        """rad/s over the step before."""
        return float(self.angles[step] - self.angles[step - 1]) / self.dt

    @property
    def arrival(self) -> tuple[float, float]:
        """J just before it touches, and J at its release."""
        before = max(self.blow.start - 1, 1)
        middle = 0.5 * float(self.angles[before] + self.angles[before - 1])
        return self.pendulum.energy(middle, self.rate(before)), self.pendulum.energy(float(self.angles[0]))

    @property
    def angular_impulse(self) -> tuple[float, float]:
        """N m s about the pivot, over the first touch: what contact forces gave, and what the ball's motion shows."""
        p, begin, end = self.pendulum, self.blow.start - 1, min(self.blow.stop, len(self.angles) - 1)
        gravity = -p.mass * G * p.length * float(np.sin(self.angles[begin:end]).sum()) * self.dt
        change = p.inertia * (self.rate(end) - self.rate(begin))
        return float(np.sum(self._moments[self.blow])) * self.dt, change - gravity
