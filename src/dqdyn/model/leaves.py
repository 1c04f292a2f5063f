"""Frames at the ends of branches, turned about their joints for inertias that cost fewer operations.

A body that carries nothing may have its frame turned about the axis of its revolute joint by any angle φ: the joint
turns by q + φ, one sum. Brought into a coordinate plane, the center of mass has a zero that every lever to it shares,
six products and six sums in a Newton-Euler recursion. A named frame would turn against its body, and cost what this
saves, so functions drop the frames that they do not use first (:meth:`~dqdyn.model.model.Model.with_frames`).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace

import numpy as np

from dqdyn.model.inertia import Inertia, as_tensor, as_vector
from dqdyn.model.joints.revolute import Revolute
from dqdyn.model.model import Body, Model


def with_turned_leaves(model: Model) -> Model:
    """The model with other frames for the bodies without children and named frames; itself if none is better."""
    held = {joint.parent for joint in model.joints} | {frame.body for frame in model.frames.values()}
    sharing = Counter(joint.q.start for joint in model.joints)  # a mimic joint uses the sine of its master
    joints, bodies = list(model.joints), list(model.bodies)
    for i, (joint, body) in enumerate(zip(model.joints, model.bodies, strict=True)):
        if (
            type(body.inertia) is not Inertia
            or i in held
            or type(joint.motion) is not Revolute
            or sharing[joint.q.start] > 1
        ):
            continue
        axis = joint.motion.axis
        if axis.count(0.0) != 2:  # turning about a skew axis makes no zeros
            continue
        along = next(k for k in range(3) if axis[k])
        angle, inertia = _sparsest(body.inertia, along)
        if angle:
            joints[i] = replace(joint, offset=joint.offset + axis[along] * angle)
            bodies[i] = Body(body.name, inertia)
    same = all(a is b for a, b in zip(bodies, model.bodies, strict=True))
    return model if same else replace(model, joints=tuple(joints), bodies=tuple(bodies))


def _sparsest(inertia: Inertia, axis: int) -> tuple[float, Inertia]:
    """How far to turn about a coordinate axis for more zeros, and the inertia seen so; 0 if that brings none.

    The center of mass comes to lie in a coordinate plane, or, where it is on the axis, a principal axis of the tensor.
    """
    i, j = (axis + 1) % 3, (axis + 2) % 3
    before = _seen_turned(inertia, axis, 0.0)
    c, t = before.com, before.tensor
    angle = math.atan2(c[j], c[i]) if c[i] or c[j] else 0.5 * math.atan2(2.0 * t[i][j], t[i][i] - t[j][j])
    after = _seen_turned(inertia, axis, angle)
    return (angle, after) if _factors(after) < _factors(before) else (0.0, inertia)


def _seen_turned(inertia: Inertia, axis: int, angle: float) -> Inertia:
    """The inertia in axes turned about one of them, with exact zeros where only rounding is left."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    rotation = np.eye(3)
    rotation[i, i] = rotation[j, j] = math.cos(angle)
    rotation[i, j], rotation[j, i] = math.sin(angle), -math.sin(angle)
    com, tensor = rotation @ np.array(inertia.com), rotation @ np.array(inertia.tensor) @ rotation.T
    com, tensor = (np.where(np.abs(e) < 1e-14 * np.abs(e).max(), 0.0, e) for e in (com, tensor))
    return Inertia(inertia.mass, as_vector(com), as_tensor(tensor))


def _factors(inertia: Inertia) -> int:
    """Components of the center of mass and products of inertia, each of which costs operations unless it is zero."""
    return int(np.count_nonzero(inertia.com) + np.count_nonzero(np.triu(inertia.tensor, 1)))
