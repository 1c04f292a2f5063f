"""Forces of the joints that balance or transmit a wrench at a frame: Jᵀ times the wrench, without J."""

from __future__ import annotations

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import dot3, pure
from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.kinematics.frames import Expressed, Path
from dqdyn.model.model import Frame, Model


def frame_forces(
    model: Model, frame: Frame, q: Scalars, wrench: Scalars, expressed: Expressed = "body"
) -> list[Scalar]:
    """τ = Jᵀw of the wrench w = [f, τ] on a frame: the power w·(J v) of its twist is τ·v for every v."""
    given = DQ.of(pure(*wrench[:3]), pure(*wrench[3:]))
    terms: list[list[Scalar]] = [[] for _ in range(model.nv)]
    for part in Path(model, frame, q, expressed).columns:
        for k, twist in part:
            terms[k].append(dot3(twist.primary, given.dual) + dot3(twist.dual, given.primary))
    return [total(own) if own else 0.0 for own in terms]
