"""What a run records of its contacts: wrenches in the contact frames, forces, gaps and modes of every corner."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import pure, rotate
from dqdyn.arrays import Array
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.contacts.axes import contact_pose
from dqdyn.contacts.contact import Contact
from dqdyn.robot import Robot
from dqdyn.simulate.engine_contacts import contact_series
from dqdyn.simulate.observation import LinkContact
from dqdyn.simulate.unilateral.coulomb import OPEN
from dqdyn.simulate.unilateral.frame_motion import crossed
from dqdyn.simulate.unilateral.observed import link_contacts
from dqdyn.simulate.unilateral.stepping import Step
from dqdyn.simulate.unilateral.touching import Corners, tangent_axes

_PER_CONTACT = ("wrench", "corner_forces", "gap", "mode")
_AXES = (pure(1.0, 0.0, 0.0), pure(0.0, 1.0, 0.0), pure(0.0, 0.0, 1.0))


class ContactFrame:
    """Origin and axes of the contact frame; a ball has it where it touches, with z along the normal there."""

    def __init__(self, robot: Robot, contact: Contact) -> None:
        model = robot.model

        def algorithm(q: Any) -> Any:
            x = contact_pose(contact, model, q)
            axes = [c for axis in _AXES for c in rotate(x.primary, axis).vector]
            return [*axes, *position(x).vector], (12,)

        self._frame = Function(trace(f"frame of the contact {contact.name}", [("q", model.nq)], algorithm)).fast

    def at(self, q: Array) -> tuple[Array, Array]:
        """Rows t1, t2, n (3, 3), and the origin (3,), in the world."""
        found = self._frame(q)
        return found[:9].reshape(3, 3), found[9:]


class ContactLog:
    """Samples of every contact, as ``trajectory.extra`` shows them.

    By contact: "wrench/<contact>" (n, 6) in N and N m and "corner_forces/<contact>" (n, corners, 3) in N, both in the
    contact frame; "gap/<contact>" (n, corners) in m to the nearest surface; "mode/<contact>" (n, corners): 0 open,
    1 sticking, 2 slipping. As of MuJoCo as plant: "contacts" (n,) counts closed corners, "contact_forces" (n, nv) are
    the generalized forces of contacts and end stops, and "contact_force/<link>" (n, 3) in world axes and
    "normal_force/<link>" (n,) those of each link. Forces are those from a sample to the next, as τ is: means over a
    step, in which an impact shows as its impulse over h.
    """

    def __init__(self, robot: Robot, corners: Corners) -> None:
        self.model, self.corners = robot.model, corners
        self.links: list[dict[str, LinkContact]] = []
        self.frames = [ContactFrame(robot, c) if isinstance(c, Contact) else None for c in corners.contacts]
        self.values: dict[str, list[Any]] = {"contacts": [], "contact_forces": []}
        for contact in corners.contacts:
            self.values |= {f"{what}/{contact.name}": [] for what in _PER_CONTACT}

    def add(self, q: Array, step: Step, h: float) -> None:
        """A sample."""
        count, pairs = len(self.corners.local), step.pairs
        nearest, mode, place = np.full(count, np.inf), np.full(count, OPEN), np.zeros((count, 3))
        force, moment = np.zeros((count, 3)), np.zeros((count, 3))
        normal = np.zeros((count, 3))
        order = np.argsort(-pairs.gap)  # the nearest surface of a corner is written last
        corner = pairs.corner[order]
        nearest[corner], place[corner], normal[corner] = pairs.gap[order], pairs.place[order], pairs.normal[order]
        np.maximum.at(mode, pairs.corner, step.modes)
        np.add.at(force, pairs.corner, step.impulses / h)
        np.add.at(moment, pairs.corner, pairs.normal * (step.spins / h)[:, None])
        self.links.append(link_contacts(self.model, self.corners, step, h))
        self.values["contacts"].append(int((mode != OPEN).sum()))
        self.values["contact_forces"].append(step.forces)
        for contact, frame, at in zip(self.corners.contacts, self.frames, self.corners.of_contact, strict=True):
            axes, origin = (tangent_axes(normal[at])[0], place[at][0]) if frame is None else frame.at(q)
            arms = crossed(place[at] - origin)
            torque = moment[at].sum(axis=0) + (arms @ force[at][:, :, None]).sum(axis=(0, 2))
            self.values[f"wrench/{contact.name}"].append(np.concatenate([axes @ force[at].sum(axis=0), axes @ torque]))
            self.values[f"corner_forces/{contact.name}"].append(force[at] @ axes.T)
            self.values[f"gap/{contact.name}"].append(nearest[at])
            self.values[f"mode/{contact.name}"].append(mode[at])

    def arrays(self, samples: int) -> dict[str, Array]:
        """All values, one row per sample."""
        own = {name: np.array(values)[:samples] for name, values in self.values.items()}
        return own | contact_series(self.links[:samples])
