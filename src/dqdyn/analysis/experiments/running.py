"""Running a controller on our own dynamics or on MuJoCo, whatever its level."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control import Controller
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory, simulate

SERVO = 50.0  # 1/s, the rate at which a commanded velocity is reached
ENGINE_STEPS = (1, 4)  # of MuJoCo per torque: what is claimed holds for each


def engine_steps(plant: str | None) -> tuple[int, ...]:
    """Steps of the engine per torque that runs are made with; (1,) on our own dynamics."""
    return (1,) if plant is None else ENGINE_STEPS


def of_steps(steps: int, runs: Collection[int]) -> str:
    """Of which runs a claim is, where there are some for several numbers of engine steps; else nothing."""
    return f", {steps} engine step{'s' * (steps > 1)} per torque" if len(runs) > 1 else ""


class Servo:
    """Torques that bring a robot to the velocities commanded by a controller: τ = M k (v_wanted − v) + n.

    A command is held for ``hold`` steps of the servo, as on a robot whose drives are quicker than its computer.
    """

    level = "torque"

    def __init__(self, robot: Robot, controller: Controller, hold: int = 1) -> None:
        self.robot, self.controller, self.hold = robot, controller, hold
        self.reset()

    def reset(self) -> None:
        """The next step asks for a command."""
        self.steps, self.wanted = 0, np.zeros(self.robot.nv)

    def step(self, t: float, q: Array, v: Array) -> Array:
        """τ (nv)."""
        if self.steps % self.hold == 0:
            self.wanted = self.controller(t, q)
        self.steps += 1
        return self.robot.inverse_dynamics(q, v, SERVO * (self.wanted - v))

    def record(self) -> dict[str, Array]:
        """What the controller records."""
        return self.controller.record()


def follow(
    robot: Robot,
    controller: Any,
    duration: float,
    dt: float,
    q0: Array,
    plant: str | None = None,
    *,
    every: int = 1,
    substeps: int = 1,
    hold: int = 1,
) -> Trajectory:
    """A run from rest, of a :class:`Controller` or of what has its ``level`` and ``step``.

    Joints have no stops, so that it shows who obeys their limits: experiments claim that, and no warning repeats it.

    ``substeps``: steps of the engine per command; ``hold``: steps of the servo per commanded velocity, on the engine.
    """
    if plant is None:
        return simulate(robot, controller, duration, dt, q0=q0, every=every, limits=False)
    law = Servo(robot, controller, hold) if getattr(controller, "level", "") == "velocity" else controller
    options: dict[str, Any] = {"plant": plant, "limits": False, "method": "implicitfast", "substeps": substeps}
    return simulate(robot, law, duration, dt, q0=q0, every=every, **options)
