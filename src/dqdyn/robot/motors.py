"""A robot with other motors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from dqdyn.arrays import RealNumber
from dqdyn.errors import ModelError
from dqdyn.model.description import ROOT_JOINT, Description
from dqdyn.model.model import Model, TreeJoint
from dqdyn.model.motors import AxisMotors, Motor

AxisMotor: TypeAlias = Motor | RealNumber | None
MotorChoice: TypeAlias = AxisMotor | Sequence[AxisMotor]
"""Of a joint: one for all of its axes or one per axis, a motor, its largest effort, or None."""
Motors: TypeAlias = Mapping[str, MotorChoice] | Sequence[str]
"""Motors by the names of joints, or the joints that have one."""


def with_motors(model: Model, motors: Motors) -> Description:
    """The description with these motors, and with those that the model has where nothing is said of a joint."""
    own = [joint for joint in model.joints if not joint.is_mimic]
    if isinstance(motors, Mapping):
        chosen = {name: _chosen(_own_joint(model, name), given) for name, given in motors.items()}
    elif isinstance(motors, Sequence) and not isinstance(motors, (str, bytes)):
        driven = {_own_joint(model, name).name for name in motors}
        chosen = {j.name: (Motor(),) * j.motion.nv if j.name in driven else () for j in own}
    else:
        what = "a dictionary from joints to motors, or a list of the joints that have one"
        raise ModelError(f"with_motors takes {what}; found {motors!r}.", found=motors)
    for joint in model.joints:  # else a motor of a joint that mimics would act where one was taken away
        if joint.master is not None and model.joints[joint.master.joint].name in chosen:
            chosen[joint.name] = ()
    description = model.description.on_base(model.base)
    joints = tuple(replace(j, motors=chosen[j.name]) if j.name in chosen else j for j in description.joints)
    base = chosen[ROOT_JOINT] if model.base != "fixed" and ROOT_JOINT in chosen else description.base_motors
    return description.with_changes(joints=joints, base_motors=base)


def _own_joint(model: Model, name: Any) -> TreeJoint:
    joint = model.joint(name)
    if joint.master is not None:
        master = model.joints[joint.master.joint].name
        raise ModelError(f"joint {name!r} follows {master!r}: give the motor to that one.", joint=name)
    return joint


def _chosen(joint: TreeJoint, given: Any) -> AxisMotors:
    count = joint.motion.nv
    several = isinstance(given, (Sequence, np.ndarray)) and not isinstance(given, (str, bytes))
    entries = list(given) if several else [given] * count
    if len(entries) != count:
        needed = f"joint {joint.name!r} takes one motor per axis, {count} in all"
        raise ModelError(f"{needed}; found {len(entries)}.", joint=joint.name, found=given)
    return tuple(_motor(joint, entry) for entry in entries)


def _motor(joint: TreeJoint, given: Any) -> Motor | None:
    if given is None or isinstance(given, Motor):
        return given
    if isinstance(given, (bool, str, bytes)):
        what = "a Motor, its largest effort in N m or N, or None"
        raise ModelError(f"the motor of joint {joint.name!r} is {what}; found {given!r}.", joint=joint.name)
    try:
        return Motor(given)
    except ModelError as problem:
        raise ModelError(f"the motor of joint {joint.name!r}: {problem}", joint=joint.name, found=given) from None
