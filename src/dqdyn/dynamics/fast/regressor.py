"""Inverse dynamics as a linear function of the inertial parameters: τ = Y(q, v, a) π.

Ten parameters per moving body, about the origin of its frame and in its axes, in the order of Pinocchio: m; m c_x,
m c_y, m c_z; I_xx, I_xy, I_yy, I_xz, I_yz, I_zz. Damping, friction and armature are not among them.
"""

from __future__ import annotations

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import ZERO, I, J, K, cross3
from dqdyn.algebra.scalar import Scalar
from dqdyn.algebra.tensor import Symmetric
from dqdyn.dynamics.arguments import Scalars
from dqdyn.dynamics.fast.point_accelerations import PointMotion
from dqdyn.dynamics.fast.recursive import point_motions
from dqdyn.dynamics.wrenches import power
from dqdyn.model.model import WORLD_BODY, Model

PARAMETERS = ("m", "mcx", "mcy", "mcz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
_UNITS = [[1.0 if i == entry else 0.0 for i in range(6)] for entry in (0, 3, 1, 4, 5, 2)]
"""Tensors (xx, yy, zz, xy, xz, yz) in the order of the parameters."""


def torque_regressor(model: Model, q: Scalars, v: Scalars, a: Scalars) -> list[list[Scalar]]:
    """Y (nv × 10 per moving body)."""
    motion, relative = point_motions(model, q, v, a)
    subspace = [joint.columns(joint.motion.subspace(joint.coordinates(q))) for joint in model.joints]
    width = len(PARAMETERS)
    matrix: list[list[Scalar]] = [[0.0] * (width * len(model.bodies)) for _ in range(model.nv)]
    for i in range(len(model.bodies)):
        wrenches = _unit_wrenches(motion[i])
        j = i
        while j != WORLD_BODY:
            for k, s in subspace[j]:
                for column, zeta in enumerate(wrenches, start=width * i):
                    matrix[k][column] = matrix[k][column] + power(s, zeta)
            wrenches = [relative[j](zeta) for zeta in wrenches]
            j = model.joints[j].parent
    return matrix


def _unit_wrenches(motion: PointMotion) -> list[DQ]:
    """The wrench f + ετ that the motion needs per unit of each parameter."""
    result = [DQ.of(motion.acceleration, ZERO)]
    for axis, column in zip((I, J, K), motion.u, strict=True):
        result.append(DQ.of(column, cross3(axis, motion.acceleration)))
    for unit in _UNITS:
        tensor = Symmetric(*unit)
        result.append(DQ.of(ZERO, tensor(motion.alpha) + cross3(motion.omega, tensor(motion.omega))))
    return result


def inertial_parameters(model: Model) -> np.ndarray:
    """π: the ten parameters of every moving body, concatenated."""
    result = []
    for body in model.bodies:
        s, h = np.array(body.inertia.second_moments), body.inertia.first_moment
        tensor = np.trace(s) * np.eye(3) - s
        entries = (tensor[0, 0], tensor[0, 1], tensor[1, 1], tensor[0, 2], tensor[1, 2], tensor[2, 2])
        result += [body.inertia.mass, *h.vector, *(float(e) for e in entries)]
    return np.array(result)
