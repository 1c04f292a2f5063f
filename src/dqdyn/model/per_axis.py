"""Limits and constants of a described joint, one number per axis."""

from __future__ import annotations

import math

from dqdyn.algebra.real import real_number
from dqdyn.model.description import DYNAMICS, LIMITS, Joint
from dqdyn.model.joints import KINDS
from dqdyn.model.motors import AxisMotors, Motor


def axis_count(joint: Joint, field: str) -> int:
    """How many numbers a field of ``PER_AXIS`` has: limits of q one per coordinate, all else one per velocity."""
    kind = KINDS[joint.kind]
    return kind.nq if field in LIMITS[:2] else kind.nv


def axis_values(joint: Joint, field: str) -> tuple[float, ...]:
    """One number per axis; infinite limits stand for none."""
    value = getattr(joint, field)
    if isinstance(value, (tuple, list)):
        return tuple(real_number(v, "a value per axis") for v in value)
    if value is None:
        value = 0.0 if field in (*DYNAMICS, "rest") else -math.inf if field == "lower" else math.inf
    return (real_number(value, "a value per axis"),) * axis_count(joint, field)


def axis_motors(joint: Joint) -> AxisMotors:
    """The motor of each axis, within the limits of the joint."""
    kind, given = KINDS[joint.kind], joint.motors
    default = Motor() if given is None and kind.actuated else None
    limits = (axis_values(joint, "effort"), axis_values(joint, "velocity"))
    axes = zip(given or (default,) * kind.nv, *limits, strict=True)
    return tuple(motor and motor.within(effort, velocity) for motor, effort, velocity in axes)
