"""One joint of every kind, and some with special axes, with coordinates on every stratum of angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from trees import MOVING as MOVING_KINDS
from trees import random_unit

from dqdyn.model.description import Joint
from dqdyn.model.joints import JointKind, joint_kind
from dqdyn.model.joints.planar import Planar
from dqdyn.model.joints.revolute import Revolute
from dqdyn.model.joints.universal import Universal

_rng = np.random.default_rng(11)
L, L2 = random_unit(_rng), random_unit(_rng)
"""Two axes that are neither aligned nor at right angles."""

JOINTS: dict[str, JointKind] = {
    **{
        kind: joint_kind(Joint(kind, kind, "parent", "child", axis=L, second_axis=L2, pitch=-0.37))
        for kind in (*MOVING_KINDS, "fixed")
    },
    "revolute about z": Revolute(),
    "universal z x": Universal(),
    "planar in xy": Planar(),
    "planar upside down": Planar((0.0, 0.0, -1.0)),
}
MOVING = [name for name in JOINTS if name != "fixed"]

ANGLES = {
    "zero": 0.0,
    "1e-12": 1e-12,
    "1e-8": 1e-8,
    "1e-4": 1e-4,
    "generic": 1.9,
    "near pi": math.pi - 1e-6,
    "pi": math.pi,
    "beyond pi": 4.2,
    "negative": -2.3,
    "three turns": 19.0,
}


def coordinates(joint: JointKind, angle: float, rng: np.random.Generator) -> list[float]:
    """q whose angles, or whose rotation, are ``angle``, with lengths of about 1 m."""
    if joint.quaternion is not None:
        axis = random_unit(rng)
        r = [math.cos(angle / 2), *(math.sin(angle / 2) * c for c in axis)]
        return r + [float(c) for c in rng.normal(size=joint.nq - 4)]
    return [angle if is_angle else float(rng.normal()) for is_angle in joint.angular]


def components(elements: Any) -> list[Any]:
    """All coefficients of some dual quaternions."""
    return [c for x in elements for c in x.components]
