"""How a contact moves, and what its forces do, at one state.

Rows are written in the axes of a *home*: the free body without motors that the contact carries or that carries it, such
as the base of a humanoid. Its velocities then have the coefficient 1 in the rows of the first contact, and the forces
of that contact have it in the base's equation of motion, so that both are solved for at no cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.poses import translator
from dqdyn.algebra.quaternion import Columns, I, J, K, Quaternion, cross3, dot3, pure
from dqdyn.algebra.scalar import Scalar, divide, sqrt
from dqdyn.arrays import Array
from dqdyn.constraints.methods.sparse import Sparse, sparse
from dqdyn.constraints.relative_motion import RelativeMotion
from dqdyn.contacts.axes import contact_axes, partner_frame
from dqdyn.contacts.axes import origin as origin_of
from dqdyn.contacts.contact import Contact
from dqdyn.control.core.kinematics import State
from dqdyn.kinematics.tree import frame_pose
from dqdyn.model.model import WORLD_BODY, Frame, Model

ANCHOR_SIZE = 12
"""Where a contact holds: the origin of the contact in the partner, then the columns of the frame's rotation there."""
UNIT = (I, J, K)


def home_of(model: Model, contact: Contact, actuated: Sequence[bool]) -> int | None:
    """The free body in whose axes the contact is written: that of the partner, or of the robot against the world."""
    body, partner = model.frame(contact.frame).body, partner_frame(contact, model).body
    if partner != WORLD_BODY:
        return partner if _is_free(model, partner, actuated) and partner != root_of(model, body) else None
    root = root_of(model, body)
    return root if root is not None and _is_free(model, root, actuated) else None


def root_of(model: Model, body: int) -> int | None:
    """The first body of the chain that ends with ``body``; None for the world."""
    path = model.path(body)
    return path[0] if path else None


def _is_free(model: Model, body: int, actuated: Sequence[bool]) -> bool:
    joint = model.joints[body]
    return joint.kind == "free" and joint.parent == WORLD_BODY and not any(actuated[joint.v])


@dataclass(frozen=True)
class ContactMotion:
    """A contact at a state, at its origin, in the axes of its home.

    ``rows``: [ω, v] of the body against the partner, per unit of each velocity; ``twist``, and ``bias``, its rate at
    zero acceleration. ``error``: [rotation, displacement] from where the contact holds. ``axes``: t₁, t₂, n of the
    contact frame. ``in_world``: the contact frame, by its axes and origin in the world.
    """

    rows: list[Sparse]
    twist: list[Scalar]
    bias: list[Scalar]
    error: list[Scalar]
    axes: Columns
    in_world: Adjoint

    def in_contact_axes(self, vector6: Sequence[Scalar]) -> list[Scalar]:
        """Two vectors, in axes of the home, in those of the contact."""
        first, second = pure(*vector6[:3]), pure(*vector6[3:])
        return [*(dot3(axis, first) for axis in self.axes), *(dot3(axis, second) for axis in self.axes)]


def contact_motion(state: State, contact: Contact, home: int | None, anchor: Sequence[Scalar]) -> ContactMotion:
    """The contact at a state; ``anchor`` (12,) says where it holds."""
    model, world = state.model, state.motion
    body, partner = model.frame(contact.frame), partner_frame(contact, model)
    on_body = world.frame_adjoint(body)
    on_partner = Adjoint(IDENTITY) if partner.body == WORLD_BODY else world.frame_adjoint(partner)
    center = pure(*origin_of(contact).tolist())
    origin = on_body.p + on_body.rotate(center)
    if home is None:
        reference, of_axes = partner, on_partner
    else:
        reference, of_axes = Frame("home", home, IDENTITY), world.adjoint[home]
    point = Frame("contact", body.body, body.placement * translator(center))
    relative = RelativeMotion(model, reference, point, state.q)
    assert state.v is not None
    columns = relative.rows(lambda twist: (*twist.primary.vector, *twist.dual.vector), 6)
    twist, bias = relative.twist(state.v), relative.bias(state.v)
    if home is not None and partner.body == WORLD_BODY:
        columns, twist, bias = _with_home(model, home, relative.x.p, columns, twist, bias, state.v)
    in_world = _world_axes(contact, on_body, on_partner)
    t1, t2, n = (of_axes.rotate_back(axis) for axis in in_world)
    turned = _rotation_error(on_body, on_partner, anchor[3:])
    moved = on_partner.rotate_back(origin - on_partner.p) - pure(*anchor[:3])
    error = [c for part in (turned, moved) for c in of_axes.rotate_back(on_partner.rotate(part)).vector]
    return ContactMotion(
        [sparse(row) for row in columns],
        [*twist.primary.vector, *twist.dual.vector],
        [*bias.primary.vector, *bias.dual.vector],
        error,
        (t1, t2, n),
        Adjoint.of(in_world, origin),
    )


def _with_home(
    model: Model, home: int, arm: Quaternion, columns: list[list[Scalar]], relative: DQ, bias: DQ, v: Sequence[Scalar]
) -> tuple[list[list[Scalar]], DQ, DQ]:
    """The motion against the world: that against the home, and that of the home itself."""
    own = model.joints[home].v
    turn, move = pure(*v[own][:3]), pure(*v[own][3:])
    rows = [list(row) for row in columns]
    for i, axis in enumerate(UNIT):
        carried = cross3(axis, arm).vector  # of the origin, per unit of the home's rotation
        for k in range(3):
            rows[k][own.start + i] = 1.0 if i == k else 0.0
            rows[3 + k][own.start + i] = carried[k]
            rows[3 + k][own.start + 3 + i] = 1.0 if i == k else 0.0
    twist = DQ.of(turn + relative.primary, move + cross3(turn, arm) + relative.dual)
    # Euler, centripetal and Coriolis terms: the home's axes turn.
    angular = bias.primary + cross3(turn, relative.primary)
    linear = bias.dual + cross3(turn, move + cross3(turn, arm) + relative.dual * 2.0)
    return rows, twist, DQ.of(angular, linear)


def _world_axes(contact: Contact, on_body: Adjoint, on_partner: Adjoint) -> Columns:
    """t₁, t₂ and n in the world."""
    t1, t2, n = (pure(*axis) for axis in contact_axes(contact.normal).T.tolist())
    if contact.kind != "edge":
        carrier = on_body if contact.kind == "face" else on_partner
        return carrier.rotate(t1), carrier.rotate(t2), carrier.rotate(n)
    normal = on_partner.rotate(n)
    first, second = (pure(*corner) for corner in contact.corners)
    along = on_body.rotate(second - first)
    along = along - normal * dot3(normal, along)
    along = along * divide(1.0, sqrt(dot3(along, along)))
    return along, cross3(normal, along), normal


def _rotation_error(on_body: Adjoint, on_partner: Adjoint, anchored: Sequence[Scalar]) -> Quaternion:
    """sin θ n of the rotation from the anchor to the frame, in axes of the partner."""
    total: Quaternion | None = None
    for i, column in enumerate(on_body.columns):
        part = cross3(pure(*anchored[3 * i : 3 * i + 3]), on_partner.rotate_back(column))
        total = part if total is None else total + part
    assert total is not None
    return total * 0.5


def anchor_of(model: Model, contact: Contact, q: Array) -> Array:
    """(12,) where a contact is at q: its origin and the axes of its frame, as seen from the partner."""
    frames = model.frame(contact.frame), partner_frame(contact, model)
    return anchor_between(contact, *(frame_pose(model, frame, q.tolist()) for frame in frames))


def anchor_between(contact: Contact, frame: DQ, other: DQ) -> Array:
    """(12,) where a contact is, by the poses of its frame and of its partner."""
    body, partner = Adjoint(frame), Adjoint(other)
    at = body.p + body.rotate(pure(*origin_of(contact).tolist()))
    columns = [c for column in body.columns for c in partner.rotate_back(column).vector]
    return np.array([*partner.rotate_back(at - partner.p).vector, *columns])


def anchored_corners(contact: Contact, anchor: Array) -> Array:
    """The corners (n, 3) in m as seen from the partner, of a contact that is where its anchor says."""
    arms = np.array(contact.corners) - origin_of(contact)
    return np.asarray(anchor[:3] + arms @ anchor[3:].reshape(3, 3))
