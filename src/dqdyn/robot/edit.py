"""Changes to a robot: each gives a new description; the old robot stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.scalar import unstack
from dqdyn.algebra.values import Pose, vector
from dqdyn.errors import ModelError, StateError
from dqdyn.model.description import ROOT_JOINT, WORLD, Description, Joint, Link, NamedFrame
from dqdyn.model.inertia import Inertia, as_tensor, as_vector
from dqdyn.model.joints import joint_kind
from dqdyn.model.model import Model


def locate(model: Model, frame: str) -> tuple[str, DQ]:
    """The link that carries a frame, and the frame's pose on it."""
    model.frame(frame)
    description = model.description
    if any(link.name == frame for link in description.links):
        return frame, IDENTITY
    for named in description.frames:
        if named.name == frame:
            return named.link, named.origin
    for joint in description.joints:
        if joint.name == frame:
            return joint.child, joint.child_origin.conj()
    if frame == ROOT_JOINT:
        return root_link(description), IDENTITY
    raise ModelError(
        f"frame {frame!r} of {model.name!r} is not on a link of the robot: choose one that is.", name=frame
    )


def root_link(description: Description) -> str:
    """The link that no joint moves."""
    moved = {joint.child for joint in description.joints}
    return next(link.name for link in description.links if link.name not in moved)


def add_frame(model: Model, name: str, on: str, pose: Any) -> Description:
    """A new frame fixed to the frame ``on``."""
    if name in model.frames:
        raise ModelError(f"{model.name!r} has a frame {name!r} already: choose another name.", name=name)
    link, origin = locate(model, on)
    placed = NamedFrame(name, link, origin * as_pose(pose))
    return model.description.with_changes(frames=(*model.description.frames, placed))


def with_payload(model: Model, frame: str, mass: float, com: Any, inertia: Any) -> Description:
    """A rigid body fixed to a frame, as a new link."""
    link, origin = locate(model, frame)
    description = model.description
    names = {link.name for link in description.links} | {joint.name for joint in description.joints}
    name = next(n for n in _numbered("payload") if n not in names and n + "_joint" not in names)
    tensor = np.asarray(inertia, dtype=float)
    tensor = np.diag(tensor) if tensor.shape == (3,) else tensor
    if tensor.shape != (3, 3) or not np.allclose(tensor, tensor.T):
        raise ModelError(
            f"the inertia of a payload is a symmetric 3×3 tensor or three moments; found shape {tensor.shape}.",
            name=name,
        )
    body = Inertia(mass, as_vector(vector(com, 3, "The center of mass of a payload")), as_tensor(tensor))
    joint = Joint(name + "_joint", "fixed", link, name, origin=origin)
    return description.with_changes(links=(*description.links, Link(name, body)), joints=(*description.joints, joint))


def with_gravity(model: Model, gravity: Any) -> Description:
    """Another gravitational acceleration, in m/s² and world axes."""
    return model.description.with_changes(gravity=as_vector(vector(gravity, 3, "Gravity")))


def lock(model: Model, values: Mapping[str, Any]) -> tuple[Description, str]:
    """Joints held at values: they become fixed joints, with all that mimics them. Also gives the new base."""
    description, base = model.description, model.base
    fixed: dict[str, list[float]] = {}
    for name, value in values.items():
        joint = model.joint(name)
        coordinates = np.atleast_1d(np.asarray(value, dtype=float))
        if coordinates.shape != (joint.motion.nq,) or not np.isfinite(coordinates).all():
            raise StateError(
                f"joint {name!r} is {joint.kind} and is locked by {joint.motion.nq} finite numbers; found {value!r}.",
                joint=name,
            )
        quaternion = joint.motion.quaternion
        if quaternion is not None and abs(np.linalg.norm(coordinates[quaternion]) - 1.0) > 1e-6:
            raise StateError(
                f"the quaternion that locks joint {name!r} must have norm one; found {value!r}.", joint=name
            )
        fixed[name] = unstack(coordinates, joint.motion.nq)
    if model.mimic:
        for joint in model.joints:
            if joint.master is not None and joint.name not in fixed:
                master = model.joints[joint.master.joint].name
                if master in fixed:
                    fixed[joint.name] = [joint.master.ratio * fixed[master][0] + joint.master.offset]
    joints = tuple(_fix(joint, fixed[joint.name]) if joint.name in fixed else joint for joint in description.joints)
    links = description.links
    if ROOT_JOINT in fixed and base != "fixed":
        at = model.joint(ROOT_JOINT).motion.pose(fixed[ROOT_JOINT])
        if any(link.name == WORLD for link in links):
            raise ModelError(
                f"the base of {model.name!r} cannot be locked: its root link is named {WORLD!r}; rename it."
            )
        joints = (Joint(ROOT_JOINT, "fixed", WORLD, root_link(description), origin=at), *joints)
        links, base = (Link(WORLD), *links), "fixed"
    return description.with_changes(joints=joints, links=links, base=base), base


def _fix(joint: Joint, q: list[float]) -> Joint:
    origin = joint.origin * joint_kind(joint).pose(q) * joint.child_origin
    return Joint(joint.name, "fixed", joint.parent, joint.child, origin=origin)


def as_pose(value: Any) -> DQ:
    """A pose given as Pose, DQ, vec8 or homogeneous matrix."""
    if isinstance(value, Pose):
        return value.dq
    if isinstance(value, DQ):
        return Pose(value).dq
    array = np.asarray(value, dtype=float)
    return Pose.from_matrix(array).dq if array.ndim == 2 else Pose(array).dq


def _numbered(stem: str) -> Any:
    yield stem
    n = 2
    while True:
        yield f"{stem}_{n}"
        n += 1
