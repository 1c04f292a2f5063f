"""How far a frame is from a goal, as the goal sees it: rotation vector and position, and the matrix of their rates."""

from __future__ import annotations

from dqdyn.algebra import removable
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.poses import position
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3, pure, rotate
from dqdyn.algebra.scalar import Scalar, Scalars, less, select
from dqdyn.kinematics import frames
from dqdyn.kinematics.frames import Matrix
from dqdyn.kinematics.tree import frame_pose
from dqdyn.model.model import Frame, Model

GOAL_SIZE = 8
"""vec8 of a goal."""


def pose_error(model: Model, frame: Frame, q: Scalars, goal: Scalars) -> list[Scalar]:
    """e = [φ, p]: the frame as the goal sees it, turned by the vector φ, ‖φ‖ ≤ π, and off by p."""
    relative = _relative(model, frame, q, DQ.of8(goal))
    return [*_rotation_vector(relative.primary).vector, *position(relative).vector]


def pose_error_matrix(model: Model, frame: Frame, q: Scalars, goal: Scalars) -> Matrix:
    """E (6×nv) with ė = E v.

    With r the quaternion of the rotation φ, of half angle α: φ̇ = ω + (α/sin α) r × ω + (1/sin² α − α cos α/sin³ α)
    r × (r × ω), the inverse of the right Jacobian of the exponential, for ω in the axes of the frame; ṗ = r v r*.
    """
    r = _relative(model, frame, q, DQ.of8(goal)).primary
    s = dot3(r, r)
    first, second = removable.angle_over_sine(r.w, s), removable.log_slope(r.w, s)
    across = pure(*r.vector)
    columns = []
    for column in zip(*frames.twist_jacobian(model, frame, q, "body"), strict=True):
        if all(type(c) is float and c == 0.0 for c in column):  # of a joint that does not move the frame
            columns.append([0.0] * 6)
            continue
        w, v = pure(*column[:3]), pure(*column[3:])
        turned = cross3(across, w)
        rate = w + turned * first - cross3(across, turned) * second
        columns.append([*rate.vector, *rotate(r, v).vector])
    return [[column[i] for column in columns] for i in range(6)]


def _relative(model: Model, frame: Frame, q: Scalars, goal: DQ) -> DQ:
    """The pose of the frame in the goal, with a rotation by at most π."""
    relative = goal.conj() * frame_pose(model, frame, q)
    shorter: DQ = relative * select(less(relative.primary.w, 0.0), -1.0, 1.0)
    return shorter


def _rotation_vector(r: Quaternion) -> Quaternion:
    angle_over_sine = removable.angle_over_sine(r.w, dot3(r, r))
    return pure(*(2.0 * angle_over_sine * c for c in r.vector))
