"""Whether the answers of a joint kind agree with one another.

Asked of kinds that are defined outside this package when a robot is loaded, of those inside by the tests.
"""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache, reduce
from operator import mul

import numpy as np

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.jet import derivative
from dqdyn.algebra.quaternion import shortest_rotation
from dqdyn.model.description import Joint
from dqdyn.model.joints.axis_joint import AxisJoint, Z
from dqdyn.model.joints.joint_kind import JointKind, leader

_TOLERANCE = 1e-9
_PARAMETERS = {field.name for field in fields(Joint)}


def unknown_parameters(kind: type[JointKind]) -> list[str]:
    """Fields of a kind that no described joint has."""
    return [field.name for field in fields(kind) if field.name not in _PARAMETERS]


@cache
def contradiction(motion: JointKind) -> str | None:
    """What the kind says of itself that is not so, as the end of a sentence; None where all agrees."""
    try:
        return _contradiction(motion)
    except Exception as problem:  # the kind may be the user's own: whatever it raises is a fault of it
        return f"raises {type(problem).__name__} when it is evaluated ({str(problem).rstrip('.')})"


def _contradiction(motion: JointKind) -> str | None:
    rng = np.random.default_rng(0)
    unlimited = [np.inf] * motion.nq
    q, v = motion.random(rng, [-c for c in unlimited], unlimited), rng.normal(size=motion.nv).tolist()
    x = motion.pose(q)
    rate = derivative(lambda c: motion.pose(c).components, q, motion.rate(q, v))
    if not _close(rate, (x * motion.twist(q, v) * 0.5).components):
        return "has a subspace that does not belong to its pose, for ẋ = ½ x Σ Sᵢ vᵢ does not hold"
    if not _same(motion.pose(motion.neutral()), IDENTITY):
        return "has a pose that is not the identity at the neutral q"
    if isinstance(motion, AxisJoint):
        turned = DQ.of(shortest_rotation(Z, motion.axis))
        if not _same(x, turned * replace(motion, axis=Z).pose(q) * turned.conj()):
            return "is an AxisJoint, but does not turn with its axis: derive it from JointKind"
    return _contradiction_of_chain(motion, q)


def _contradiction_of_chain(motion: JointKind, q: list[float]) -> str | None:
    parts = motion.expansion()
    first = leader(parts)
    if first is None and any(part.ratio is not None for part in parts):
        return "has an expansion with a ratio, but without a coordinate that it multiplies"
    if first is None or any(part.q is None and part.ratio is None for part in parts):  # none, or other coordinates
        return None
    followed = q[parts[first].q or slice(0)][0]
    own = (q[part.q or slice(0)] if part.ratio is None else [part.ratio * followed] for part in parts)
    if not _same(motion.pose(q), reduce(mul, (part.motion.pose(c) for part, c in zip(parts, own, strict=True)))):
        return "has an expansion with another pose"
    return None


def _same(x: DQ, y: DQ) -> bool:
    return _close(x.components, y.components) or _close(x.components, (-y).components)


def _close(a: object, b: object) -> bool:
    return bool(np.allclose(np.array(a, dtype=float), np.array(b, dtype=float), rtol=_TOLERANCE, atol=_TOLERANCE))
