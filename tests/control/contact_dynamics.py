"""Pinocchio's constraint dynamics with our contacts: an outside answer to what torques do where nothing slips.

A face is held by a constraint of six rows, a point by one of three, an edge by one of three at either end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from pinocchio_tools import pinocchio_model

import dqdyn as dq
from dqdyn.arrays import Array
from dqdyn.contacts import Contact

ROWS = {"point": 3, "edge": 3, "face": 6}
STIFFNESS = 100.0  # 1/s²: makes errors of placement small
KINDS = {3: pin.ContactType.CONTACT_3D, 6: pin.ContactType.CONTACT_6D}


@dataclass(frozen=True)
class Held:
    """Accelerations (nv,) in our order, and per contact its wrench (6,) in the contact frame; an edge has none."""

    accelerations: Array
    wrenches: dict[str, Array]


def constraint_dynamics(
    robot: dq.Robot,
    touching: Sequence[Contact],
    state: tuple[Array, Array],
    tau: Array,
    wanted: dict[str, Array] | None = None,
    model: pin.Model | None = None,
) -> Held:
    """What the robot does under ``tau`` with its contacts held.

    ``wanted``: accelerations [ω̇, v̇] (6,) of contacts with the world, in the contact frame at the origin; 0 by default.
    """
    q, v = state
    model = pinocchio_model(robot.without_constraints()) if model is None else model
    model.gravity.linear = robot.gravity
    layout, data = robot.to_pinocchio(model), model.createData()
    pin.forwardKinematics(model, data, layout.q(q), layout.v(q, v))
    ends = [(c, place) for c in touching for place in _places(robot, c, q)]
    none = np.zeros(6)
    constraints = [_constraint(robot, model, data, c, place, (wanted or {}).get(c.name, none)) for c, place in ends]
    models = pin.StdVec_RigidConstraintModel(constraints)
    datas = pin.StdVec_RigidConstraintData([m.createData() for m in models])
    pin.initConstraintDynamics(model, data, models, datas)
    settings = pin.ProximalSettings(1e-15, 1e-10, 500)  # its damping is taken away by the iterations
    a = pin.constraintDynamics(model, data, layout.q(q), layout.v(q, v), layout.tau(q, tau), models, datas, settings)
    forces = [d.contact_force.vector.copy() for d in datas]
    wrenches = {c.name: force for (c, _), force in zip(ends, forces, strict=True) if c.kind != "edge"}
    return Held(layout.a_from(q, v, a.copy()), wrenches)


def _places(robot: dq.Robot, contact: Contact, q: Array) -> list[pin.SE3]:
    """Where a contact is held in the world: at its origin, or at both ends of an edge, in the axes of the contact."""
    x = dq.Pose(contact.pose(robot, q))
    at = [c.vector for c in contact.corner_positions(robot, q)] if contact.kind == "edge" else [x.translation]
    return [pin.SE3(np.array(x.rotation_matrix), np.array(p, dtype=float)) for p in at]


def _body(robot: dq.Robot, model: pin.Model, frame: str) -> int:
    """The joint of Pinocchio that carries one of our frames; 0 for the world."""
    body = -1 if frame == "world" else robot.frames[frame].body
    return 0 if body < 0 else int(model.getJointId(robot.joints[body].name))


def _constraint(
    robot: dq.Robot, model: pin.Model, data: pin.Data, contact: Contact, place: pin.SE3, wanted: Array
) -> pin.RigidConstraintModel:
    """Its corrector, STIFFNESS times the error of placement, is all that gives Pinocchio an acceleration to reach."""
    joint, partner = (_body(robot, model, frame) for frame in (contact.frame, contact.partner))
    at = data.oMi[joint].actInv(place)
    if contact.kind == "face":  # six rows: Pinocchio accelerates the field of velocities, not the point
        twist = at.actInv(data.v[joint])
        aim = pin.exp6(pin.Motion(wanted[3:] - np.cross(twist.angular, twist.linear), wanted[:3]) * (1.0 / STIFFNESS))
    else:
        aim = pin.SE3(np.eye(3), wanted[3:] / STIFFNESS)
    ends = (joint, at, partner, data.oMi[partner].actInv(place * aim))
    result = pin.RigidConstraintModel(KINDS[ROWS[contact.kind]], model, *ends, pin.ReferenceFrame.LOCAL)
    if wanted.any():
        result.m_baumgarte_parameters.Kp = STIFFNESS
    return result
