"""The same robot in frames that cost fewer operations: joint axes along z, and Denavit-Hartenberg-like placements.

Body i gets the frame i·A_i, where A_i takes z to the axis of its joint. Turning about and moving along that axis
commute with the joint, so A_i is free up to Rz(φ) Tz(d). A revolute joint uses this freedom to put x along the common
normal with the axis of its first child, whose placement becomes Tx(a) Rx(α); φ ends in the joint's angle as an
offset, d in its own placement. Placements, inertias and frames are re-expressed; q, v and all results that refer to
named frames stay. What is left of the freedom, at the ends of branches, is in
:mod:`dqdyn.model.leaves`.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import Quaternion, pure, shortest_rotation
from dqdyn.model.joints.axis_joint import AxisJoint, Z
from dqdyn.model.leaves import with_turned_leaves
from dqdyn.model.model import WORLD_BODY, Body, Frame, Model, TreeJoint

_PARALLEL = 1e-13  # sine of an angle that is rounding only
_FAR = 10.0
"""Nearly parallel axes have their common normal far away, where inertias would lose their digits: frames stay within
this many times the distances between the joints, or as they are."""


def canonical(model: Model) -> Model:
    """The model with every axis along z, and normal placements where the given ones are not sparse already."""
    turns = [_turn(joint) for joint in model.joints]
    offsets = [0.0] * len(turns)
    if any(joint.is_open for joint in model.joints):
        pass  # where the frames stand is not known: the axes alone are turned
    elif not _is_sparse(model, turns):
        turns, offsets = _normal_frames(model, turns)
    if all(turn == IDENTITY for turn in turns):
        return with_turned_leaves(model)

    def of(body: int) -> DQ:
        return IDENTITY if body == WORLD_BODY else turns[body]

    joints = tuple(
        replace(
            # The offset φ belongs to the angle, so the placement must not contain it: x(q) = placement · Rz(q + φ).
            joint.between(of(joint.parent).conj(), turns[i], _about_z(-offsets[i])),
            motion=replace(joint.motion, axis=Z) if isinstance(joint.motion, AxisJoint) else joint.motion,
            offset=joint.offset if joint.is_open else offsets[i],
        )
        for i, joint in enumerate(model.joints)
    )
    bodies = tuple(
        Body(body.name, body.inertia if turn == IDENTITY else body.inertia.moved_by(turn.conj()))
        for body, turn in zip(model.bodies, turns, strict=True)
    )
    frames = {
        name: Frame(name, frame.body, of(frame.body).conj() * frame.placement, frame.kind)
        for name, frame in model.frames.items()
    }
    return with_turned_leaves(replace(model, joints=joints, bodies=bodies, frames=frames))


def in_cheap_frames(model: Model) -> Model:
    """The model as it is but for turned leaves where its placements are sparse already, else the canonical one."""
    sparse = _is_sparse(model, [_turn(joint) for joint in model.joints])
    return with_turned_leaves(model) if sparse else canonical(model)


def _turn(joint: TreeJoint) -> DQ:
    if not isinstance(joint.motion, AxisJoint) or joint.motion.axis == Z:
        return IDENTITY
    return DQ.of(shortest_rotation(Z, joint.motion.axis))


def _is_sparse(model: Model, turns: list[DQ]) -> bool:
    """Whether most placements have rotations with zeros already, as in files written by hand."""
    dense = 0
    for i, joint in enumerate(model.joints):
        parent = IDENTITY if joint.parent == WORLD_BODY else turns[joint.parent]
        columns = Adjoint(parent.conj() * joint.placement * turns[i]).columns
        dense += sum(abs(e) > 1e-12 for column in columns for e in column.vector) > 5
    return dense * 4 <= len(model.joints)


def _normal_frames(model: Model, turns: list[DQ]) -> tuple[list[DQ], list[float]]:
    turns, offsets = list(turns), [0.0] * len(turns)
    following: dict[int, int] = {}
    for i, joint in enumerate(model.joints):
        if isinstance(joint.motion, AxisJoint) and joint.motion.commutes:
            following.setdefault(joint.parent, i)
    for i, joint in enumerate(model.joints):
        child = following.get(i)
        if joint.kind != "revolute" or child is None:
            continue
        relative = turns[i].conj() * model.joints[child].placement * turns[child]
        phi, d = _common_normal(relative)
        own = turns[i] * _about_z(phi) * pose(Quaternion(1.0, 0.0, 0.0, 0.0), pure(0.0, 0.0, d))
        # The child's frame now stands at Tx(a) Rx(α) but for a turn about and a shift along its own axis.
        relative = own.conj() * model.joints[child].placement * turns[child]
        childs = turns[child] * relative.conj() * _placed(relative)
        reach = _FAR * (_distance(joint.placement) + _distance(model.joints[child].placement))
        if max(_distance(own), _distance(childs)) <= reach:
            turns[i], turns[child], offsets[i] = own, childs, phi
    return turns, offsets


def _distance(x: DQ) -> float:
    return float(np.linalg.norm(Adjoint(x).p.vector))


def _common_normal(x: DQ) -> tuple[float, float]:
    """φ and d such that Rz(φ) Tz(d) leads to the foot of the common normal of the z axes, with x along it."""
    z, p = _axis_and_point(x)
    across = np.array([-z[1], z[0], 0.0])  # e_z × z
    if np.linalg.norm(across) < _PARALLEL:  # parallel: any normal will do; take the one through the child's origin
        phi = math.atan2(p[1], p[0]) if math.hypot(p[0], p[1]) > 1e-12 else 0.0
        return phi, float(p[2])
    normal = across / np.linalg.norm(across)
    # Foot on e_z: solve p + s z − a n = d e_z.
    _, _, d = np.linalg.solve(np.column_stack([-z, normal, [0.0, 0.0, 1.0]]), p)
    return math.atan2(normal[1], normal[0]), float(d)


def _placed(x: DQ) -> DQ:
    """Tx(a) Rx(α) with the z axis of x, whose common normal with e_z is along x already."""
    z, p = _axis_and_point(x)
    alpha = math.atan2(-z[1], z[2])
    turn = Quaternion(math.cos(alpha / 2), math.sin(alpha / 2), 0.0, 0.0)
    return pose(turn, pure(float(p[0] - (z[0] * (z @ p) if abs(z[2]) > 1 - 1e-15 else 0.0)), 0.0, 0.0))


def _axis_and_point(x: DQ) -> tuple[np.ndarray, np.ndarray]:
    ad = Adjoint(x)
    return np.array(ad.columns[2].vector), np.array(ad.p.vector)


def _about_z(angle: float) -> DQ:
    return IDENTITY if angle == 0.0 else DQ.of(Quaternion(math.cos(angle / 2), 0.0, 0.0, math.sin(angle / 2)))
