"""Which robots can be controlled by torque: those whose motors bear all there is to bear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dqdyn.constraints import assembled
from dqdyn.control.core.errors import ControlError
from dqdyn.control.limits.torque import TorqueLimits
from dqdyn.robot import Robot

_PULLS = 1e-9  # N or N m, from which on gravity counts


def require_motors(robot: Robot, constraints: Sequence[Any] = ()) -> None:
    """An error where τ = M v̇ + n leaves out physics: forces of contacts and loops, and bases without motors.

    The axes of a free or planar joint have motors only if :class:`TorqueLimits` say so, with one limit per axis: above
    0 for a motor, such as thrusters or omnidirectional wheels, 0 for none, which gravity then must not pull at.
    """
    model = robot.model
    if model.constraints:
        names = ", ".join(repr(name) for name in dict.fromkeys(assembled.names(model)))
        raise ControlError(
            f"{model.name!r} cannot be controlled by torque yet, as the forces of its constraints ({names}) would be "
            "left out: that takes whole-body control; use velocity_controller or acceleration_controller.",
            robot=model.name,
            constraints=tuple(assembled.names(model)),
        )
    limits = [c for c in constraints if isinstance(c, TorqueLimits) and np.ndim(c.given) == 1]
    least = np.minimum.reduce([np.full(model.nv, np.inf), *(c.bound(model).limit for c in limits)])
    for joint in model.joints:
        if joint.motion.actuated:
            continue
        if not (least[joint.v] < np.inf).all():
            raise ControlError(
                f"{model.name!r} cannot be controlled by torque yet, as its {joint.kind} joint {joint.name!r} has no "
                "motor, and what carries it would be left out: that takes whole-body control; use velocity_controller "
                "or acceleration_controller, or, if the joint has thrusters or omnidirectional wheels, say so by "
                "TorqueLimits with one limit per axis.",
                robot=model.name,
                joint=joint.name,
            )
        pull = np.where(least[joint.v] == 0.0, robot.gravity_forces(robot.neutral())[joint.v], 0.0)
        if np.abs(pull).max() > _PULLS:
            raise ControlError(
                f"{model.name!r} would fall: its joint {joint.name!r} has no motor, gravity pulls at it by "
                f"{np.abs(pull).max():.6g} N, and forces of contact are left out: that takes whole-body control; use "
                "velocity_controller or acceleration_controller, or with_gravity([0, 0, 0]) for a robot that floats.",
                robot=model.name,
                joint=joint.name,
            )
