"""One joint of every kind, and two with special axes, with coordinates on every stratum of angles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from trees import random_unit

from dqdyn.model.joints import KINDS, JointKind
from dqdyn.model.joints.cylindrical import Cylindrical
from dqdyn.model.joints.fixed import Fixed
from dqdyn.model.joints.free import Free
from dqdyn.model.joints.helical import Helical
from dqdyn.model.joints.planar import Planar
from dqdyn.model.joints.prismatic import Prismatic
from dqdyn.model.joints.revolute import Revolute
from dqdyn.model.joints.spherical import Spherical
from dqdyn.model.joints.universal import Universal

_rng = np.random.default_rng(11)
L, L2 = random_unit(_rng), random_unit(_rng)
"""Two axes that are neither aligned nor at right angles."""

JOINTS: dict[str, JointKind] = {
    "revolute": Revolute(L),
    "revolute about z": Revolute(),
    "prismatic": Prismatic(L),
    "helical": Helical(L, -0.37),
    "cylindrical": Cylindrical(L),
    "universal": Universal(L, L2),
    "universal z x": Universal(),
    "spherical": Spherical(),
    "planar": Planar(L),
    "planar in xy": Planar(),
    "planar upside down": Planar((0.0, 0.0, -1.0)),
    "free": Free(),
    "fixed": Fixed(),
}
MOVING = [name for name in JOINTS if name != "fixed"]
_OURS = {name for name, kind in KINDS.items() if kind.__module__.startswith("dqdyn.")}  # other tests define more
assert {joint.name for joint in JOINTS.values()} == _OURS, "a joint kind has no sample here"

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
