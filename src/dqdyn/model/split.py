"""The same robot with joints of several axes as chains of single axes: equal coordinates, constant subspaces."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dqdyn.algebra.dual import IDENTITY
from dqdyn.model.description import PER_AXIS
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import WORLD_BODY, Body, Frame, Model, TreeJoint


def split(model: Model) -> Model:
    """A model in which every motion subspace is constant that can be; itself where all are already."""
    if all(joint.motion.constant_subspace for joint in model.joints):
        return model
    joints: list[TreeJoint] = []
    bodies: list[Body] = []
    place: dict[int, int] = {WORLD_BODY: WORLD_BODY}
    for joint, body in zip(model.joints, model.bodies, strict=True):
        chain = [joint] if joint.motion.constant_subspace else single_axes(joint)
        for k, part in enumerate(chain):
            first, last = k == 0, k == len(chain) - 1
            parent, placement = (place[joint.parent], joint.placement) if first else (len(joints) - 1, IDENTITY)
            name = joint.name if last else f"{joint.name} ({k + 1} of {len(chain)})"
            joints.append(replace(part, index=len(joints), name=name, parent=parent, placement=placement))
            bodies.append(body if last else Body(name, Inertia()))
        place[joint.index] = len(joints) - 1
    frames = {n: Frame(n, place[f.body], f.placement, f.kind) for n, f in model.frames.items()}
    return replace(model, joints=tuple(joints), bodies=tuple(bodies), frames=frames)


def single_axes(joint: TreeJoint) -> list[TreeJoint]:
    """One joint per coordinate, each named ``<joint>_<part>``; the joint itself where it has no such expansion."""
    chain = []
    for k, part in enumerate(joint.motion.single_axes()):
        q, v = (slice(own.start + k, own.start + k + 1) for own in (joint.q, joint.v))
        own: dict[str, Any] = {field: (getattr(joint, field)[k],) for field in (*PER_AXIS, "motors")}
        chain.append(replace(joint, name=f"{joint.name}_{part.suffix}", motion=part.motion, q=q, v=v, **own))
    return chain or [joint]
