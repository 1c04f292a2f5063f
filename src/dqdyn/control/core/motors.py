"""Which robots can be controlled by torque: those whose motors bear all there is to bear."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqdyn.constraints import assembled
from dqdyn.control.core.errors import ControlError
from dqdyn.control.limits.per_axis import TorqueLimits
from dqdyn.model.model import Model
from dqdyn.robot import Robot

_PULLS = 1e-9  # N or N m, from which on gravity counts


def require_motors(robot: Robot, constraints: Sequence[object] = ()) -> None:
    """An error where τ = M v̇ + n leaves out physics: forces of contacts and loops, and bases without motors.

    The axes of a free or planar joint have motors only if :class:`TorqueLimits` say so, with one limit per axis: above
    0 for a motor, such as thrusters or omnidirectional wheels, 0 for none, which gravity then must not pull at.
    """
    model = robot.model
    if model.constraints:
        names = assembled.names(model)
        shown = ", ".join(repr(name) for name in dict.fromkeys(names))
        what = f"cannot be controlled by torque yet, as the forces of its constraints ({shown}) would be left out"
        raise _refused(model, what, constraints=tuple(names))
    limits = [c for c in constraints if isinstance(c, TorqueLimits) and np.asarray(c.given).ndim == 1]
    least = np.minimum.reduce([np.full(model.nv, np.inf), *(c.bound_to(model).limit for c in limits)])
    for joint in model.joints:
        if joint.motion.actuated:
            continue
        if not (least[joint.v] < np.inf).all():
            what = (
                f"cannot be controlled by torque yet, as its {joint.kind} joint {joint.name!r} has no motor, and what "
                "carries it would be left out"
            )
            way = "if the joint has thrusters or omnidirectional wheels, say so by TorqueLimits with one limit per axis"
            raise _refused(model, what, f", or, {way}", joint=joint.name)
        pull = np.abs(np.where(least[joint.v] == 0.0, robot.gravity_forces(robot.neutral())[joint.v], 0.0)).max()
        if pull > _PULLS:
            what = (
                f"would fall: its joint {joint.name!r} has no motor, gravity pulls at it by {pull:.6g} N, "
                "and forces of contact are left out"
            )
            raise _refused(model, what, ", or with_gravity([0, 0, 0]) for a robot that floats", joint=joint.name)


def _refused(model: Model, what: str, way: str = "", **data: object) -> ControlError:
    remedy = f"that takes whole-body control; use velocity_controller or acceleration_controller{way}"
    return ControlError(f"{model.name!r} {what}: {remedy}.", robot=model.name, **data)
