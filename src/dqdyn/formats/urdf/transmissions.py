"""Motors in URDF: the ``<transmission>`` elements of ROS.

Where a file has one or more, the joints that they name have motors and all others have none; a file without any leaves
motors to the joint kinds. Effort and velocity are those of ``<limit>``, and the gear is ``<mechanicalReduction>`` where
one actuator drives one joint. Transmissions of several joints and the older forms of the PR2 are read for the joints
that they drive.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace

from dqdyn.formats.safe_xml import Element
from dqdyn.formats.urdf.values import Values
from dqdyn.formats.xml_text import element, name_text, numbers
from dqdyn.model.description import Joint
from dqdyn.model.joints import KINDS
from dqdyn.model.motors import Motor

_DRIVEN = ("joint", "flexJoint", "rollJoint", "gap_joint")
_ACTUATORS = ("actuator", "leftActuator", "rightActuator")
_REDUCTION = "mechanicalReduction"


def with_transmissions(robot: Element, joints: Sequence[Joint], values: Values) -> tuple[Joint, ...]:
    """The joints with the motors that the file says, as they are where it says nothing."""
    known = {joint.name: joint for joint in joints}
    motors: dict[str, Motor] = {}
    found = False
    for transmission in robot.all("transmission"):
        owner = f"transmission {transmission.attributes.get('name', '')!r}"
        driven = [child for child in transmission.children if child.tag in _DRIVEN]
        actuators = [child for child in transmission.children if child.tag in _ACTUATORS]
        motor = Motor(name=" and ".join(a.attributes.get("name", "") for a in actuators))
        if len(driven) == len(actuators) == 1:
            motor = replace(motor, gear=_gear(actuators[0], transmission, owner, values))
        for name in (child.attributes.get("name", "") for child in driven):
            found = True
            if name not in known:
                values.doubt(owner, "its joint is not in the file, so that it drives nothing; correct the name.")
            motors.setdefault(name, motor)  # a second one on the same joint adds no axis
    if not found:
        return tuple(joints)
    for joint in joints:
        if joint.kind != "fixed" and KINDS[joint.kind].actuated and not (joint.mimic or joint.name in motors):
            without = "without a <transmission>, which other joints have, there is no motor"
            values.doubt(f"joint {joint.name!r}", f"{without}; if there is one, say so by robot.with_motors.")
    return tuple(replace(j, motors=_axes(j, motors.get(j.name))) if j.kind != "fixed" else j for j in joints)


def _axes(joint: Joint, motor: Motor | None) -> tuple[Motor, ...]:
    return () if motor is None else (motor,) * KINDS[joint.kind].nv


def _gear(actuator: Element, transmission: Element, owner: str, values: Values) -> float:
    given = [*actuator.all(_REDUCTION), *transmission.all(_REDUCTION)]
    if not given:
        return 1.0
    try:
        gear = float(given[0].text)
    except ValueError:
        gear = math.nan
    if not math.isfinite(gear) or gear == 0.0:
        values.doubt(owner, f"its <{_REDUCTION}> is not a number other than 0 and is taken as 1; correct it.")
        return 1.0
    return gear


def write_transmission(robot: ET.Element, joint: Joint, motor: Motor) -> None:
    """The transmission of a driven joint."""
    name = name_text(joint.name, "URDF")
    item = element(robot, "transmission", name=f"{name}_transmission")
    element(item, "type").text = "transmission_interface/SimpleTransmission"
    element(element(item, "joint", name=name), "hardwareInterface").text = "hardware_interface/EffortJointInterface"
    actuator = element(item, "actuator", name=name_text(motor.name, "URDF") or f"{name}_motor")
    element(actuator, _REDUCTION).text = numbers(motor.gear)
