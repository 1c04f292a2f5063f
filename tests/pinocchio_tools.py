"""Our trees as models of Pinocchio, and its answers in our order; shared by all tests that compare with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio
from trees import ONE_AXIS

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import position, rotation_matrix
from dqdyn.model.description import Description
from dqdyn.model.inertia import Inertia, as_vector
from dqdyn.model.layouts import Layout
from dqdyn.model.model import WORLD_BODY, TreeJoint
from dqdyn.robot import Robot

EXPRESSED = {
    "body": pinocchio.LOCAL,
    "world": pinocchio.WORLD,
    "aligned": pinocchio.LOCAL_WORLD_ALIGNED,
}
SHARED_KINDS = (*ONE_AXIS, "universal", "spherical", "planar", "free")
"""The moving joint kinds that Pinocchio has too."""


def se3(x: DQ) -> pinocchio.SE3:
    """A pose as Pinocchio's."""
    return pinocchio.SE3(np.array(rotation_matrix(x)), np.array(position(x).vector))


def homogeneous(x: DQ) -> np.ndarray:
    """A pose as a 4×4 matrix."""
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = rotation_matrix(x), position(x).vector
    return result


def pin_inertia(inertia: Inertia) -> pinocchio.Inertia:
    """The inertia of a body as Pinocchio's."""
    return pinocchio.Inertia(inertia.mass, np.array(inertia.com), np.array(inertia.tensor))


def comparable(description: Description) -> Description:
    """The same tree with what Pinocchio cannot have changed: planar joints in xy, universal ones with a right angle."""
    joints = []
    for joint in description.joints:
        changes: dict[str, Any] = {}
        if joint.kind == "planar":
            changes["axis"] = (0.0, 0.0, 1.0)
        elif joint.kind == "universal":
            across = np.cross(joint.axis, joint.second_axis)
            changes["second_axis"] = as_vector(across / np.linalg.norm(across))
        joints.append(replace(joint, **changes))
    return description.with_changes(joints=tuple(joints))


def pinocchio_model(robot: Robot) -> pinocchio.Model:
    """Joints, bodies and frames of a robot in a model of Pinocchio, by name; its mimic joints are free."""
    model = pinocchio.Model()
    for joint, body in zip(robot.joints, robot.bodies, strict=True):
        at = model.addJoint(_pin_body(joint.parent), _joint_model(joint), se3(joint.placement), joint.name)
        model.appendBodyToJoint(at, pin_inertia(body.inertia), pinocchio.SE3.Identity())
    for frame in robot.frames.values():
        placed = se3(frame.placement)
        model.addFrame(pinocchio.Frame(frame.name, _pin_body(frame.body), 0, placed, pinocchio.FrameType.OP_FRAME))
    return model


def _pin_body(body: int) -> int:
    return 0 if body == WORLD_BODY else body + 1


def _joint_model(joint: TreeJoint) -> Any:
    axis = np.array(getattr(joint.motion, "axis", (0.0, 0.0, 1.0)))
    return {
        "revolute": lambda: pinocchio.JointModelRevoluteUnaligned(axis),
        "prismatic": lambda: pinocchio.JointModelPrismaticUnaligned(axis),
        "helical": lambda: pinocchio.JointModelHelicalUnaligned(axis, joint.motion.pitch),  # type: ignore[attr-defined]
        "universal": lambda: pinocchio.JointModelUniversal(axis, np.array(joint.motion.second_axis)),  # type: ignore[attr-defined]
        "spherical": pinocchio.JointModelSpherical,
        "planar": pinocchio.JointModelPlanar,
        "free": pinocchio.JointModelFreeFlyer,
    }[joint.kind]()


class PinocchioState:
    """Pinocchio's kinematics at our q and v. What it returns are copies: its own arrays are views that change."""

    def __init__(self, layout: Layout, model: pinocchio.Model, q: np.ndarray, v: np.ndarray) -> None:
        self.layout, self.model, self.q, self.v = layout, model, q, v
        self.data = model.createData()
        self.pin_q, self.pin_v = layout.q(q), layout.v(q, v)
        if model.nv:  # without a moving joint Pinocchio's Jacobians end the process
            pinocchio.computeJointJacobiansTimeVariation(model, self.data, self.pin_q, self.pin_v)
        pinocchio.updateFramePlacements(model, self.data)
        self.t, self.t_rate = layout.transform(q), layout.transform_rate(q, v)

    def pose(self, frame: int) -> np.ndarray:
        """4×4."""
        return self.data.oMf[frame].homogeneous.copy()

    def jacobian(self, frame: int, expressed: str) -> np.ndarray:
        """6×nv with our rows and columns."""
        return self._raw(frame, expressed) @ self.t

    def jacobian_derivative(self, frame: int, expressed: str) -> np.ndarray:
        """J̇ of J = J'T: J̇'T + J'Ṫ."""
        if not self.model.nv:
            return np.zeros((6, 0))
        rate = pinocchio.getFrameJacobianTimeVariation(self.model, self.data, frame, EXPRESSED[expressed])
        return _ours(rate) @ self.t + self._raw(frame, expressed) @ self.t_rate

    def _raw(self, frame: int, expressed: str) -> np.ndarray:
        if not self.model.nv:
            return np.zeros((6, 0))
        return _ours(pinocchio.getFrameJacobian(self.model, self.data, frame, EXPRESSED[expressed]))


def _ours(rows: np.ndarray) -> np.ndarray:
    return np.array(rows)[[3, 4, 5, 0, 1, 2]]


def frames_by_kind(model: pinocchio.Model, robot: Robot) -> Iterator[tuple[str, int]]:
    """(our name, index) of Pinocchio's frames. A joint named like a link has the frame ``name_joint``, one named like
    its own child none, as it would be the child's."""
    links = {link.name for link in robot.description.links}
    children = {joint.name: joint.child for joint in robot.description.joints}
    for i, frame in enumerate(model.frames):
        if frame.name == "universe":
            continue
        if frame.type == pinocchio.FrameType.BODY or frame.name not in links:
            yield frame.name, i
        elif children[frame.name] != frame.name:
            yield f"{frame.name}_joint", i
