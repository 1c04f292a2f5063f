"""Motors in MJCF: the actuators of MuJoCo that act on a hinge or a slide.

Where a file has an actuator, the joints that they act on have motors and all others have none; a file without any
leaves motors to the joint kinds. What MJCF has no place for, such as motors of joints with several axes and their
largest speeds, stands in ``<custom>``: presence (0 or 1), effort, velocity and gear of each axis.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from typing import Any

from dqdyn.errors import ModelError
from dqdyn.formats.joint_rewriter import Names
from dqdyn.formats.xml_text import element, name_text, numbers
from dqdyn.model.description import Joint
from dqdyn.model.motors import AxisMotors, Motor
from dqdyn.model.per_axis import axis_motors, axis_values

_KEPT = 4  # numbers per axis

Omissions = dict[str, list[str]]
"""What is left out, by its kind: names."""


Range = tuple[float, float]
"""The least and the largest force on an axis, in N m or N."""


def effort_limits(mujoco: Any, m: Any) -> dict[int, float]:
    """Largest force per joint (N m or N) where it is limited evenly to both sides."""
    return {joint: high for joint, (low, high) in _effort_ranges(mujoco, m).items() if low == -high and high < math.inf}


def uneven_limits(mujoco: Any, m: Any, joints: Sequence[str]) -> list[str]:
    """The joints whose force is limited, but not evenly to both sides."""
    return [joints[joint] for joint, (low, high) in _effort_ranges(mujoco, m).items() if low != -high]


def _effort_ranges(mujoco: Any, m: Any) -> dict[int, Range]:
    """What the joint itself bears and what its actuators give together, whichever is less to either side."""
    driven, _ = _by_joint(mujoco, m)
    result = {}
    for joint in _scalar_joints(mujoco, m):
        own = m.jnt_actfrcrange[joint] if m.jnt_actfrclimited[joint] else (-math.inf, math.inf)
        given = _together(mujoco, m, driven.get(joint, []))
        result[joint] = (max(float(own[0]), given[0]), min(float(own[1]), given[1]))
    return result


def read_motors(mujoco: Any, m: Any, joints: Sequence[str]) -> tuple[dict[int, Motor] | None, Omissions]:
    """The motors by the index of their joint, None where the file has no actuator, and what is left out."""
    count = len(m.actuator_trntype)
    if count == 0:
        return None, {}
    driven, other = _by_joint(mujoco, m)
    names = [m.actuator(i).name or f"actuator{i}" for i in range(count)]
    motors, uneven = {}, []
    for joint, acting in driven.items():
        gears = {float(m.actuator_gear[i, 0]) for i in acting}
        if len(gears) > 1:
            uneven.append(joints[joint])
        low, high = _together(mujoco, m, acting)
        gear, named = gears.pop() if len(gears) == 1 else 1.0, " and ".join(m.actuator(i).name for i in acting)
        motors[joint] = Motor(high if low == -high else math.inf, gear=gear, name=named)
    lost: Omissions = {}
    if other:
        what = "actuators that do not act on one hinge or slide, and the motors of what they drive,"
        lost[what] = [names[i] for i in other]
    if uneven:
        lost["gears of joints with several actuators"] = uneven
    return motors, lost


def ignored_of_actuators(mujoco: Any, m: Any, joints: Sequence[str]) -> Omissions:
    """What is left out of actuators without a warning: how their controls become forces."""
    numbered = range(len(m.actuator_trntype))
    names = [m.actuator(i).name or f"actuator{i}" for i in numbered]
    motors = [i for i in numbered if is_motor(mujoco, m, i)]
    driven, other = _by_joint(mujoco, m)
    acting = {i for several in driven.values() for i in several}
    return {
        "separate actuators of one joint, which are one motor here,": [
            joints[joint] for joint, several in driven.items() if len(several) > 1
        ],
        "control laws of actuators, which are motors here,": [names[i] for i in numbered if i not in motors],
        "gains of actuators, whose control is their force here,": [
            names[i] for i in motors if m.actuator_gainprm[i, 0] != 1.0
        ],
        "actuators with a gear of 0, which have no effect,": [
            names[i] for i in numbered if i not in acting and i not in other
        ],
    }


def kept_motors(values: tuple[float, ...], axes: int) -> AxisMotors:
    """The motors in a text that :func:`write_motors` kept."""
    if len(values) != _KEPT * axes:
        raise ModelError(f"motors are {_KEPT} numbers per axis, {_KEPT * axes} in all; found {len(values)}.")
    rows = zip(*(iter(values),) * _KEPT, strict=True)
    return tuple(Motor(effort, velocity, gear) if present else None for present, effort, velocity, gear in rows)


def write_motors(root: ET.Element, joints: Sequence[Joint], custom: dict[str, str], prefix: str) -> None:
    """Actuators of the joints that have motors, unless these are the ones that joints have without any."""
    moving = [joint for joint in joints if joint.kind != "fixed" and (joint.mimic is None or joint.motors)]
    if all(joint.motors is None for joint in moving):
        return
    motors = {joint.name: axis_motors(joint) for joint in moving}
    driven = {name: axes[0] for name, axes in motors.items() if len(axes) == 1 and axes[0] is not None}
    actuator, used = element(root, "actuator") if driven else root, Names(())
    for joint in moving:
        limited = any(motor and min(motor.effort, motor.velocity) < math.inf for motor in joint.motors or ())
        several = len(motors[joint.name]) > 1 and any(motors[joint.name])
        if motor := driven.get(joint.name):
            name, on = name_text(used.new(motor.name or f"{joint.name}_motor"), "MJCF"), name_text(joint.name, "MJCF")
            most = motor.effort / abs(motor.gear) if limited and 0.0 < motor.effort < math.inf else None
            control = None if most is None else numbers((-most, most))
            element(actuator, "motor", name=name, joint=on, gear=numbers(motor.gear), ctrlrange=control)
        if limited or several or not driven:
            none = (0.0, math.inf, math.inf, 1.0)
            rows = [(1.0, motor.effort, motor.velocity, motor.gear) if motor else none for motor in motors[joint.name]]
            custom[f"{prefix}:motors:{joint.name}"] = numbers(x for row in rows for x in row)
            custom[f"{prefix}:effort:{joint.name}"] = numbers(axis_values(joint, "effort"))


def _scalar_joints(mujoco: Any, m: Any) -> list[int]:
    kinds = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
    return [joint for joint in range(m.njnt) if int(m.jnt_type[joint]) in kinds]


def _by_joint(mujoco: Any, m: Any) -> tuple[dict[int, list[int]], list[int]]:
    """The actuators of each hinge and slide that has some, and those that act on something else."""
    scalar, acting, other = set(_scalar_joints(mujoco, m)), dict[int, list[int]](), list[int]()
    ways = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    for i in range(len(m.actuator_trntype)):
        joint = int(m.actuator_trnid[i, 0]) if int(m.actuator_trntype[i]) in ways else -1
        if joint not in scalar:
            other.append(i)
        elif m.actuator_gear[i, 0] != 0.0:  # without a gear it has no effect
            acting.setdefault(joint, []).append(i)
    return acting, other


def _together(mujoco: Any, m: Any, actuators: Sequence[int]) -> Range:
    """The forces that all actuators of a joint can give it; without any, no limit."""
    ranges = [_actuator_range(mujoco, m, i) for i in actuators] or [(-math.inf, math.inf)]
    lows, highs = zip(*ranges, strict=True)
    return sum(lows), sum(highs)


def _actuator_range(mujoco: Any, m: Any, i: int) -> Range:
    """The forces of one actuator at its joint: within its ``forcerange``, and those of a motor within its control."""
    gear, low, high = float(m.actuator_gear[i, 0]), -math.inf, math.inf
    if m.actuator_forcelimited[i]:
        low, high = (float(c) for c in m.actuator_forcerange[i])
    if is_motor(mujoco, m, i) and m.actuator_ctrllimited[i] and len(m.actuator_ctrlrange) == len(m.actuator_trntype):
        ends = sorted(float(m.actuator_gainprm[i, 0]) * float(c) for c in m.actuator_ctrlrange[i])
        low, high = max(low, ends[0]), min(high, ends[1])
    return (gear * low, gear * high) if gear > 0.0 else (gear * high, gear * low)


def is_motor(mujoco: Any, m: Any, i: int) -> bool:
    """Whether the force of an actuator is its control, times a constant."""
    return bool(
        m.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED
        and m.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_NONE
        and m.actuator_dyntype[i] == mujoco.mjtDyn.mjDYN_NONE
    )
