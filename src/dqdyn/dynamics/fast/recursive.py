"""Inverse dynamics with the fewest operations: Newton-Euler on accelerations of points, in the frames of the bodies.

Against the recursion of [Silva, section 3] it carries the acceleration of the body's origin instead of the dual parts
of twist and rate; see :mod:`dqdyn.dynamics.fast.point_accelerations`.
"""

from __future__ import annotations

from dqdyn.algebra.adjoint import Factored
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.scalar import Scalar
from dqdyn.dynamics.arguments import Scalars, Wrenches
from dqdyn.dynamics.fast.point_accelerations import PointMotion, at_rest, moved, wrench_on
from dqdyn.dynamics.wrenches import power
from dqdyn.kinematics.tree import closing
from dqdyn.model.model import WORLD_BODY, Model, TreeJoint


def inverse_dynamics(model: Model, q: Scalars, v: Scalars, a: Scalars, wrenches: Wrenches = None) -> list[Scalar]:
    """τ (nv) that gives the acceleration a at (q, v); external wrenches by body, at its origin, in its axes."""
    motion, relative = {WORLD_BODY: at_rest(model)}, {}
    total: dict[int, DQ] = {}
    tau: list[Scalar] = [0.0] * model.nv
    for joint, done in zip(model.joints, closing(model), strict=True):
        i = joint.index
        motion[i], relative[i] = moved(joint, motion[joint.parent], q, v, a)
        wrench = wrench_on(model.bodies[i].inertia, motion[i])
        total[i] = wrench - wrenches[i] if wrenches and i in wrenches else wrench
        for k in done:  # back over the bodies whose subtree is complete
            _pass_on(model.joints[k], total, relative[k], q, tau)
    return tau


def _pass_on(joint: TreeJoint, total: dict[int, DQ], x: Factored, q: Scalars, tau: list[Scalar]) -> None:
    """Project the wrench on a subtree onto the axes of its joint, and pass it on to the parent."""
    wrench = total.pop(joint.index)
    for k, s in joint.columns(joint.motion.subspace(joint.coordinates(q))):
        tau[k] = tau[k] + power(s, wrench)
    if joint.parent != WORLD_BODY:
        total[joint.parent] = total[joint.parent] + x(wrench)


def point_motions(model: Model, q: Scalars, v: Scalars, a: Scalars) -> tuple[dict[int, PointMotion], list[Factored]]:
    """Motion of every body, gravity as an acceleration of the world, and the maps Ad(x_parent,i)."""
    motion, relative = {WORLD_BODY: at_rest(model)}, []
    for joint in model.joints:
        motion[joint.index], x = moved(joint, motion[joint.parent], q, v, a)
        relative.append(x)
    return motion, relative
