"""Blows in MuJoCo: the pendulum hits a posture that a whole-body controller holds, and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dqdyn import control as ct
from dqdyn.analysis.experiments.pendulum_blow import setting
from dqdyn.analysis.experiments.pendulum_blow.pendulum import PENDULUM, Pendulum, Swing
from dqdyn.analysis.experiments.pendulum_blow.postures import Posture
from dqdyn.analysis.standing.balance import balance_tasks
from dqdyn.analysis.standing.loop import Law, Loop
from dqdyn.analysis.standing.setting import Standing
from dqdyn.arrays import Array
from dqdyn.control.whole_body.controller import WholeBodyController
from dqdyn.scenes.scene import Scene
from dqdyn.simulate import Trajectory, simulate
from dqdyn.simulate.observation import Observation

DT, DURATION, EVERY = 1e-3, 5.0, 5
"""s of a control step and of a run, and steps per sample."""
RESTS = 0.05  # m/s of the center of mass, below which it has come to rest
LOW = 0.6  # of the height of the pelvis, below which the robot has fallen
UPRIGHT = 0.75  # of the height of the center of mass
DAMPED = 20.0  # 1/s, at which joints without motors slow down
_GROWTH = 1.15


class Balance:
    """One controller for all postures: balance on soles and palm, around the posture that it is told."""

    def __init__(self, standing: Standing) -> None:
        self.posture = ct.Measured(standing.q0)
        tasks = balance_tasks(standing, posture=self.posture)
        limits = ct.JointLimits(gain=20.0)
        contacts = setting.supports(standing)
        self.controller: WholeBodyController = ct.whole_body_controller(
            standing.robot, tasks, [limits], contacts=contacts
        )

    def around(self, posture: Posture) -> WholeBodyController:
        """The controller, ready for a run."""
        self.posture.update(posture.q0)
        self.controller.reset()
        return self.controller


class BlowLoop(Loop):
    """The loop of a controller that notes how the pendulum swings and pushes.

    Where the controller finds no command, its motors are switched off for good: contacts that it counts on are gone.
    ``off`` is when, in s. The joints are then damped.
    """

    def __init__(self, standing: Standing, law: Law, swing: Swing) -> None:
        super().__init__(standing, law)
        self.swing = swing
        self.off: float | None = None
        robot = standing.robot
        self._damping = DAMPED * np.diag(robot.mass_matrix(standing.q0)) * robot.actuated

    def observe(self, observation: Observation) -> None:
        """What the plant measures."""
        self.swing.note(observation)

    def step(self, t: float, q: Array, v: Array) -> Array:
        """τ (nv,)."""
        if self.off is None:
            torque = super().step(t, q, v)
            if self.fell is None and self.law.report.status != "held":
                return torque
            self.off = t
        return -self._damping * v


@dataclass(frozen=True, eq=False)
class Blow:
    """A run, with the ``momentum`` in N s that the ball has before it touches; ``off``: when the motors were."""

    posture: Posture
    momentum: float
    substeps: int
    scene: Scene
    trajectory: Trajectory
    swing: Swing = field(repr=False)
    off: float | None = None

    @property
    def standing(self) -> Standing:
        return self.posture.standing

    @cached_property
    def touched(self) -> dict[str, set[str]]:
        """Links other than the feet and the left palm, and what of ground and table they touched."""
        allowed = {*self.standing.links, setting.PALM_LINK}
        touched = {link: set(what) - {PENDULUM} for link, what in self.trajectory.about["touched"].items()}
        return {link: what for link, what in touched.items() if what and link not in allowed}

    @property
    def on_ground(self) -> list[str]:
        """Links other than the feet that touched the ground."""
        return sorted(link for link, what in self.touched.items() if "ground" in what)

    @property
    def fell(self) -> bool:
        """The pelvis sank to 0.6 of its height, or something other than the feet touched the ground."""
        return bool(self.on_ground) or float(self.trajectory.q[:, 6].min()) < LOW * self.posture.q0[6]

    @property
    def survived(self) -> bool:
        """The robot did not fall, and came to rest."""
        return self.trajectory.finished and not self.fell and self.off is None and self.speed < RESTS

    @property
    def stayed(self) -> bool:
        """It survived, and nothing but feet and left palm touched ground or table."""
        return self.survived and not self.touched

    @property
    def speed(self) -> float:
        """Of the center of mass at the end, m/s."""
        q, v = self.trajectory.q[-1], self.trajectory.v[-1]
        return float(np.linalg.norm(self.standing.robot.center_of_mass_velocity(q, v)))

    @cached_property
    def centers(self) -> Array:
        """The center of mass (n, 3) in m."""
        return np.array([self.standing.robot.center_of_mass(q) for q in self.trajectory.q])

    @cached_property
    def room(self) -> Array:
        """m (n,) from the center of mass to the border of the polygon that it started with, negative outside."""
        return np.asarray(self.posture.polygon.distance(self.centers[:, :2]))

    @cached_property
    def upright(self) -> slice:
        """Samples before the center of mass has sunk by a quarter of its height."""
        low = np.flatnonzero(self.centers[:, 2] < UPRIGHT * self.standing.center[2])
        return slice(0, int(low[0]) if len(low) else len(self.centers))

    def moved(self, frame: str) -> float:
        """m that a frame was away from where it stood, at most."""
        robot, q = self.standing.robot, self.trajectory.q
        away = robot.pose(frame, q).translation - robot.pose(frame, self.posture.q0).translation
        return float(np.linalg.norm(away, axis=-1).max())

    @property
    def outcome(self) -> str:
        """In a word or two."""
        if not self.trajectory.finished:
            return self.trajectory.status.partition(":")[0]
        if self.fell:
            return "falls"
        if not self.survived:
            return f"moves at {self.speed:.2f} m/s"
        others = ", ".join(link.replace("_", " ") for link in sorted(self.touched))
        return f"stays; on the table: {others}" if others else "stays"


@dataclass(frozen=True, eq=False)
class Ring:
    """Who is hit by what: ``start`` says where the pendulum hangs, which is the same for all postures."""

    start: Standing
    balance: Balance
    pendulum: Pendulum

    def blow(self, posture: Posture, momentum: float, *, duration: float = DURATION, substeps: int = 1) -> Blow:
        """Let the pendulum hit a posture [Quiroz, fig. 4.9]; ``substeps`` of the engine per control step."""
        scene = setting.scene(self.pendulum.body(self.start, momentum))
        swing = Swing(self.pendulum, scene[PENDULUM], DT)
        loop = BlowLoop(posture.standing, self.balance.around(posture), swing)
        run = simulate(
            posture.standing.robot, loop, duration, DT, q0=posture.q0, plant="mujoco", scene=scene, every=EVERY,
            substeps=substeps, progress=False,
        )  # fmt: skip
        return Blow(posture, momentum, substeps, scene, run, swing, loop.off)


@dataclass(frozen=True, eq=False)
class Search:
    """Blows at one engine step that bracket the greatest that a posture survives."""

    blows: list[Blow]

    @property
    def greatest(self) -> float:
        """N s that is survived, below all that are not."""
        return max((b.momentum for b in self.blows if b.survived and b.momentum < self.least), default=0.0)

    @property
    def least(self) -> float:
        """N s that is not survived."""
        return min((b.momentum for b in self.blows if not b.survived), default=np.inf)

    def at(self, momentum: float) -> Blow:
        """The one with that momentum."""
        return next(b for b in self.blows if b.momentum == momentum)


def searched(ring: Ring, posture: Posture, known: list[Blow], resolution: float, duration: float) -> Iterator[Search]:
    """Stronger blows until the robot falls, weaker ones until it stands, then those between; one blow at a time."""
    found = Search(list(known))
    while found.greatest == 0.0 or found.least > found.greatest * (1.0 + resolution):
        if not np.isfinite(found.least):
            momentum = min(_GROWTH * found.greatest, ring.pendulum.strongest)
        elif found.greatest == 0.0:
            momentum = found.least / _GROWTH
        else:
            momentum = float(np.sqrt(found.least * found.greatest))
        if any(b.momentum == momentum for b in found.blows):
            return  # straight from above is the strongest blow
        found.blows.append(ring.blow(posture, momentum, duration=duration, substeps=known[0].substeps))
        yield found
