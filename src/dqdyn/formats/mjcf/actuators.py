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
from dqdyn.formats.mjcf.extras import Omissions
from dqdyn.formats.xml_text import element, name_text, numbers
from dqdyn.model.description import Joint
from dqdyn.model.motors import AxisMotors, Motor
from dqdyn.model.per_axis import axis_motors, axis_values

_KEPT = 4  # numbers per axis


def effort_limits(mujoco: Any, m: Any) -> dict[int, float]:
    """Largest force per joint (N m or N) where it is limited evenly to both sides.

    The limit of the joint itself, or the sum over its actuators where each has one, whichever is smaller.
    """
    driven, _ = _by_joint(mujoco, m)
    result = {}
    for joint in _scalar_joints(mujoco, m):
        limits = [_even(m.jnt_actfrcrange[joint])] if m.jnt_actfrclimited[joint] else []
        limits.append(_together(mujoco, m, driven.get(joint, [])))
        known = [limit for limit in limits if limit is not None]
        if known:
            result[joint] = min(known)
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
        effort = _together(mujoco, m, acting)
        gear, named = gears.pop() if len(gears) == 1 else 1.0, " and ".join(m.actuator(i).name for i in acting)
        motors[joint] = Motor(math.inf if effort is None else effort, gear=gear, name=named)
    lost: Omissions = {}
    if other:
        what = "actuators that do not act on one hinge or slide, and the motors of what they drive,"
        lost[what] = [names[i] for i in other]
    if uneven:
        lost["gears of joints with several actuators"] = uneven
    return motors, lost


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


def _together(mujoco: Any, m: Any, actuators: Sequence[int]) -> float | None:
    """The largest force of all actuators of a joint, at the joint; None where one has no even limit."""
    limits = [_actuator_limit(mujoco, m, i) for i in actuators]
    return sum(limit for limit in limits if limit is not None) if limits and None not in limits else None


def _actuator_limit(mujoco: Any, m: Any, i: int) -> float | None:
    gear = abs(float(m.actuator_gear[i, 0]))
    force = _even(m.actuator_forcerange[i]) if m.actuator_forcelimited[i] else None
    motor = (
        m.actuator_gaintype[i] == mujoco.mjtGain.mjGAIN_FIXED
        and m.actuator_biastype[i] == mujoco.mjtBias.mjBIAS_NONE
        and m.actuator_dyntype[i] == mujoco.mjtDyn.mjDYN_NONE
        and len(m.actuator_ctrlrange) == len(m.actuator_trntype)
    )
    if force is None and motor and m.actuator_ctrllimited[i]:
        control = _even(m.actuator_ctrlrange[i])
        force = None if control is None else control * abs(float(m.actuator_gainprm[i, 0]))
    return None if force is None else force * gear


def _even(interval: Any) -> float | None:
    low, high = (float(c) for c in interval)
    return high if low == -high else None
