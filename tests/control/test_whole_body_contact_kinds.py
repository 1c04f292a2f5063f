"""Whole-body control with every kind of contact: equation of motion and motion, by other functions than its own.

A seven-joint arm stands with its base on the ground and touches the ground, or its own base, with the tool. Wrenches
act at the contact's pose, through Jacobians of frames; the acceleration of its origin comes from rates of twists.
"""

from __future__ import annotations

import numpy as np
import pytest
from seeds import generator

import dqdyn as dq
from dqdyn import contacts
from dqdyn import control as ct
from dqdyn.arrays import Array
from dqdyn.contacts import Contact
from dqdyn.control.controllers.whole_body import whole_body_controller

ROBOT = dq.robots.arm7(base="free")
STAND = contacts.face("base", half_length=0.3, half_width=0.2)
ENDS = [(0.03, 0.01, 0.0), (-0.03, 0.0, 0.01)]
SIDE = (0.0, 1.0, 0.0)
SQUARE = {"half_length": 0.03, "half_width": 0.02}
KINDS = {
    "point": contacts.point("tool"),
    "point, torsional": contacts.point("tool", (0.0, 0.0, 0.02), torsional_friction=0.02, edges=6),
    "point, frictionless": contacts.point("tool", friction=0.0),
    "point, sliding": contacts.point("tool", mode="sliding", directions=SIDE),
    "point on the base": contacts.point("tool", partner="base", normal=(0, 1, 0)),
    "edge": contacts.edge("tool", ENDS),
    "edge, sliding": contacts.edge("tool", ENDS, mode="sliding", directions=SIDE),
    "edge, corners": contacts.edge("tool", ENDS, cone="corners", edges=5, torsional_friction=0.01),
    "face": contacts.face("tool", **SQUARE, greatest_normal_force=5.0),
    "face, corners": contacts.face("tool", **SQUARE, cone="corners"),
    "face, frictionless": contacts.face("tool", **SQUARE, friction=0.0),
    "face, sliding": contacts.face("tool", **SQUARE, mode="sliding", directions=(SIDE, (1, 0, 0))),
    "face on the base": contacts.face("tool", **SQUARE, partner="base", normal=(0, 1, 0)),
    "off": contacts.face("tool", **SQUARE, mode="off"),
}


def jacobian(contact: Contact, q: Array) -> Array:
    """From v to [ω, v] (6,) of the body against the partner, at the contact's origin, in the contact frame."""
    x = dq.Pose(contact.pose(ROBOT, q))
    turn = x.rotation_matrix.T

    def of(frame: str) -> Array:
        if frame == "world":
            return np.zeros((6, ROBOT.nv))
        j = ROBOT.twist_jacobian(frame, q, expressed="aligned")
        arm = x.translation - ROBOT.pose(frame, q).translation
        return np.vstack([turn @ j[:3], turn @ (j[3:] + np.cross(j[:3].T, arm).T)])

    return of(contact.frame) - of(contact.partner)


def acceleration(contact: Contact, q: Array, v: Array, a: Array) -> Array:
    """[α, a] (6,) of the body at the contact's origin in the contact frame, against the world."""
    x = dq.Pose(contact.pose(ROBOT, q))
    arm = x.translation - ROBOT.pose(contact.frame, q).translation
    rate = np.asarray(ROBOT.twist_rate(contact.frame, q, v, a, expressed="aligned").vec6())
    turning = np.asarray(ROBOT.twist(contact.frame, q, v, expressed="aligned").vec6())[:3]
    linear = rate[3:] + np.cross(rate[:3], arm) + np.cross(turning, np.cross(turning, arm))
    return np.concatenate([x.rotation_matrix.T @ rate[:3], x.rotation_matrix.T @ linear])


@pytest.mark.long
@pytest.mark.parametrize("case", KINDS)
def test_every_kind_of_contact_holds_and_pushes(case: str) -> None:
    touching, rng = [STAND, KINDS[case]], generator(case)
    touching = [contact for contact in touching if contact.mode != "off"]
    q = ROBOT.integrate(ROBOT.neutral(), np.r_[np.zeros(6), rng.uniform(-1.0, 1.0, 7)], 1.0)
    rows = np.vstack([contact.motion_rows @ jacobian(contact, q) for contact in touching])
    v = rng.normal(size=ROBOT.nv)
    v -= np.linalg.pinv(rows) @ (rows @ v)  # the contacts hold at this velocity
    controller = whole_body_controller(ROBOT, [ct.PostureTask(q, gain=5.0)], contacts=[STAND, KINDS[case]])
    torque = controller(0.0, q, v)
    a = controller.accelerations
    forces = sum(jacobian(c, q).T @ np.roll(controller.contact_wrenches[c.name], 3) for c in touching)
    needed = ROBOT.mass_matrix(q) @ a + ROBOT.bias_forces(q, v)
    assert needed == pytest.approx(torque + forces, abs=1e-9 * np.abs(needed).max())
    assert not torque[:6].any()
    for contact in touching:
        assert contact.holds(controller.contact_wrenches[contact.name], tolerance=1e-6)
        if contact.partner == "world":
            held = contact.motion_rows @ acceleration(contact, q, v, a)
            assert held == pytest.approx(0.0, abs=1e-9 * max(1.0, float(np.abs(a).max())))
