"""Where joints stand as inputs: their poses in the parent's frame, or Denavit-Hartenberg constants.

Denavit-Hartenberg frames stay sparse: body i gets the frame behind Rz(θ) Tz(d), with which the joint commutes, so θ
adds to the angle of a revolute joint, d to the displacement of a prismatic one, and the placement is Tx(a) Rx(α) Tz(d).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.open_pose import OpenPose
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import ZERO, I, J, K, Quaternion, pure
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.dynamics.open_inertia import OpenMoments
from dqdyn.errors import Error
from dqdyn.formats.serial.dh import row_poses
from dqdyn.model.description import DHTable
from dqdyn.model.joints.axis_joint import X, Z, turn, turn_columns
from dqdyn.model.model import Body, Frame, Model, TreeJoint, constant_adjoint

POSE = 7
"""Numbers of a pose: the unit quaternion w, x, y, z, then the translation in m."""
ROW = 4
"""Numbers of a row of a Denavit-Hartenberg table: θ, d, a, α."""


def joint_pose(joint: TreeJoint) -> list[float]:
    """The constant pose of a joint in the frame of its parent."""
    ad = Adjoint(joint.placement)
    return [*map(float, joint.placement.primary.components), *map(float, ad.p.vector)]


def with_joint_poses(model: Model, entries: Scalars) -> Model:
    """The model whose joints stand at these poses, seven numbers each."""
    rows = [entries[POSE * i : POSE * (i + 1)] for i in range(len(model.joints))]
    placed = [OpenPose(Quaternion(*row[:4]), pure(*row[4:])) for row in rows]
    joints = [replace(joint, placement=x) for joint, x in zip(model.joints, placed, strict=True)]
    return replace(_opened(model), joints=tuple(joints))


def table(model: Model) -> DHTable:
    """The Denavit-Hartenberg constants of a robot that was made from them, and has kept them."""
    found = model.description.dh
    why = "was not made by dq.from_dh"
    if found is not None:
        if _is_kept(model, found):
            return found
        why = "was changed since dq.from_dh made it, or stands on another base"
    raise Error(f"{model.name!r} {why}, so it has no 'dh' as input: use 'joint_poses'.", option="parameters")


def _is_kept(model: Model, found: DHTable) -> bool:
    """Whether the joints still stand as the table says."""
    joints = model.description.joints[: len(found.rows)]
    if model.base != "fixed" or len(model.joints) != len(found.rows) or len(joints) != len(found.rows):
        return False
    if [joint.name for joint in joints] != [joint.name for joint in model.joints]:
        return False
    for joint, row in list(zip(joints, found.rows, strict=True))[1 if found.modified else 0 :]:
        origin, child = row_poses(row, IDENTITY, found.modified)
        if joint.child_origin != child or (joint is not joints[0] and joint.origin != origin):
            return False
    return True


def with_dh(model: Model, entries: Scalars) -> Model:
    """The model with these Denavit-Hartenberg constants; inertias and frames stay where they are on their links."""
    found = table(model)
    rows = [entries[ROW * i : ROW * (i + 1)] for i in range(len(model.joints))]
    described = model.description.joints
    first = described[0].origin
    if found.modified:  # the base stands before the first row
        first = first * row_poses(found.rows[0], IDENTITY, True)[0].conj()
    steps = [_along_x(row) for row in rows]
    joints, bodies, moved = [], [], dict[int, tuple[DQ, DQ]]()
    for i, joint in enumerate(model.joints):
        theta, d = rows[i][0], rows[i][1]
        step = steps[i] if found.modified else (steps[i - 1] if i else _none())
        joints.append(_placed(joint, first if i == 0 else IDENTITY, step, theta, d))
        own = described[i].child_origin.conj()  # of the body's frame on its link
        after = IDENTITY if found.modified else _as_pose(steps[i])
        inertia = OpenMoments.opened(model.bodies[i].inertia.moved_by(own))
        bodies.append(Body(model.bodies[i].name, inertia if found.modified else inertia.moved_by(after)))  # type: ignore[arg-type]
        moved[i] = own, after
    frames = {f.name: _frame(f, moved, entries, model) for f in model.frames.values()}
    return replace(model, joints=tuple(joints), bodies=tuple(bodies), frames=frames)


def joint_frame(model: Model, body: int, entries: Scalars) -> OpenPose | None:
    """The frame of a joint in that of its body, where the model with these constants has it; None where they agree."""
    if table(model).modified:
        return None
    theta, d = entries[ROW * body], entries[ROW * body + 1]
    return OpenPose(turn(Z, -theta), pure(0.0, 0.0, -d), columns=turn_columns(Z, -theta))


Step = tuple[Quaternion, tuple[Quaternion, Quaternion, Quaternion], Quaternion]
"""The rotation Rx(α) as a quaternion and by its columns, and the translation a along x."""


def _along_x(row: Scalars) -> Step:
    _, _, a, alpha = row
    return turn(X, alpha), turn_columns(X, alpha), pure(a, 0.0, 0.0)


def _none() -> Step:
    return Quaternion(1.0, 0.0, 0.0, 0.0), (I, J, K), ZERO


def _as_pose(step: Step) -> OpenPose:
    return OpenPose(step[0], step[2], columns=step[1])


def _placed(joint: TreeJoint, first: DQ, step: Step, theta: Scalar, d: Scalar) -> TreeJoint:
    """A joint behind Tx(a) Rx(α), with what commutes with it in its coordinate."""
    r, columns, shift = step
    if joint.kind == "revolute":
        after, offset = pure(0.0, 0.0, d), theta
    else:
        ad = Adjoint.of(columns) @ Adjoint.of(turn_columns(Z, theta))
        r, columns, after, offset = r * turn(Z, theta), ad.columns, ZERO, d
    if first != IDENTITY:
        ad = constant_adjoint(first) @ Adjoint.of(columns, shift)
        r, columns, shift = first.primary * r, ad.columns, ad.p
    return replace(joint, placement=OpenPose(r, shift, after, columns), offset=offset)


def _frame(frame: Frame, moved: dict[int, tuple[DQ, DQ]], entries: Scalars, model: Model) -> Frame:
    """A frame on its link, or, of a joint, before the constants that stand behind it."""
    of_joint = joint_frame(model, frame.body, entries) if frame.body in moved else None
    if of_joint is None:
        return frame
    if frame.kind == "joint" and frame.placement == IDENTITY and frame.name not in _fixed(model):
        return replace(frame, placement=of_joint)
    own, after = moved[frame.body]
    on_link = own * frame.placement
    if on_link == IDENTITY:
        return replace(frame, placement=after)
    ad = constant_adjoint(after) @ constant_adjoint(on_link)
    return replace(frame, placement=OpenPose(after.primary * on_link.primary, ad.p, columns=ad.columns))


def _fixed(model: Model) -> Iterator[str]:
    return (joint.name for joint in model.description.joints if joint.kind == "fixed")


def _opened(model: Model) -> Model:
    bodies = [Body(b.name, OpenMoments.opened(b.inertia)) for b in model.bodies]  # type: ignore[arg-type]
    return replace(model, bodies=tuple(bodies))


def as_placement(row: Scalars) -> DQ:
    """A pose of seven numbers."""
    return pose(Quaternion(*map(float, row[:4])), pure(*map(float, row[4:])))
