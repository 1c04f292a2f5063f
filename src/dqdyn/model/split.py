"""The same robot with planar and universal joints as chains of single axes: equal coordinates, constant subspaces."""

from __future__ import annotations

from dataclasses import replace

from dqdyn.algebra.dual import IDENTITY
from dqdyn.model.inertia import Inertia, as_vector
from dqdyn.model.joints.joint_kind import JointKind
from dqdyn.model.joints.planar import Planar
from dqdyn.model.joints.prismatic import Prismatic
from dqdyn.model.joints.revolute import Revolute
from dqdyn.model.joints.universal import Universal
from dqdyn.model.model import WORLD_BODY, Body, Frame, Model, TreeJoint

_PER_AXIS = ("lower", "upper", "velocity", "effort", "damping", "friction", "armature")


def split(model: Model) -> Model:
    """A model in which every motion subspace is constant; itself where that is so already."""
    if all(joint.motion.constant_subspace for joint in model.joints):
        return model
    joints: list[TreeJoint] = []
    bodies: list[Body] = []
    place: dict[int, int] = {WORLD_BODY: WORLD_BODY}
    for joint, body in zip(model.joints, model.bodies, strict=True):
        parts = _axes(joint)
        for k, motion in enumerate(parts):
            last, first = k == len(parts) - 1, k == 0
            name = joint.name if last else f"{joint.name} ({k + 1} of {len(parts)})"
            changes: dict[str, object] = {}
            if len(parts) > 1:
                changes = {n: (getattr(joint, n)[k],) for n in _PER_AXIS}
                changes["q"] = slice(joint.q.start + k, joint.q.start + k + 1)
                changes["v"] = slice(joint.v.start + k, joint.v.start + k + 1)
            joints.append(
                replace(
                    joint,
                    index=len(joints),
                    name=name,
                    motion=motion,
                    parent=place[joint.parent] if first else len(joints) - 1,
                    placement=joint.placement if first else IDENTITY,
                    **changes,  # type: ignore[arg-type]
                )
            )
            bodies.append(body if last else Body(name, Inertia()))
        place[joint.index] = len(joints) - 1
    frames = {n: Frame(n, place[f.body], f.placement, f.kind) for n, f in model.frames.items()}
    return replace(model, joints=tuple(joints), bodies=tuple(bodies), frames=frames)


def _axes(joint: TreeJoint) -> list[JointKind]:
    motion = joint.motion
    if isinstance(motion, Universal):
        return [Revolute(motion.axis), Revolute(motion.second_axis)]
    if isinstance(motion, Planar):
        e1, e2 = (as_vector(e.vector) for e in motion.in_plane())
        return [Prismatic(e1), Prismatic(e2), Revolute(motion.axis)]
    return [motion]
