"""Running a controller on our own dynamics or on MuJoCo, whatever its level."""

from __future__ import annotations

from typing import Any

from dqdyn.arrays import Array
from dqdyn.control import Controller
from dqdyn.robot import Robot
from dqdyn.simulate import Trajectory, simulate

SERVO = 50.0  # 1/s, the rate at which a commanded velocity is reached


class Servo:
    """Torques that bring a robot to the velocities commanded by a controller: τ = M k (v_wanted − v) + n."""

    level = "torque"

    def __init__(self, robot: Robot, controller: Controller) -> None:
        self.robot, self.controller = robot, controller

    def step(self, t: float, q: Array, v: Array) -> Array:
        """τ (nv)."""
        return self.robot.inverse_dynamics(q, v, SERVO * (self.controller(t, q) - v))

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
) -> Trajectory:
    """A run from rest, of a :class:`Controller` or of what has its ``level`` and ``step``.

    On MuJoCo the joints have no stops, so that it shows who obeys their limits.

    ``substeps``: steps of the engine per command.
    """
    if plant is None:
        return simulate(robot, controller, duration, dt, q0=q0, every=every)
    law = Servo(robot, controller) if getattr(controller, "level", "") == "velocity" else controller
    options: dict[str, Any] = {"plant": plant, "limits": False, "method": "implicitfast", "substeps": substeps}
    return simulate(robot, law, duration, dt, q0=q0, every=every, **options)
