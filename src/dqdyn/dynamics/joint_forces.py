"""What the joints themselves contribute: damping, Coulomb friction and armature, in every formulation alike."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.algebra.scalar import Scalar, less, select
from dqdyn.model.model import Model


def armature(model: Model) -> list[float]:
    """Rotor inertia per velocity (nv) in kg m² or kg; a mimic joint adds ratio² times its own to its master."""
    return _collected(model, "armature", power=2)


def damping(model: Model) -> list[float]:
    """Viscous damping per velocity (nv) in N m s/rad or N s/m."""
    return _collected(model, "damping", power=2)


def resisting_forces(model: Model, v: Sequence[Scalar]) -> list[Scalar]:
    """Forces (nv) that hold against the motion: damping · v + friction · sign(v), with sign(0) = 0."""
    friction = _collected(model, "friction", power=1)
    result: list[Scalar] = []
    for d, f, vk in zip(damping(model), friction, v, strict=True):
        total: Scalar = vk * d if d else 0.0
        if f:
            total = total + select(less(vk, 0.0), -f, select(less(0.0, vk), f, 0.0))
        result.append(total)
    return result


def _collected(model: Model, name: str, power: int) -> list[float]:
    result = [0.0] * model.nv
    for joint in model.joints:
        ratio = abs(joint.master.ratio) ** power if joint.master else 1.0
        for k, value in zip(range(joint.v.start, joint.v.stop), getattr(joint, name), strict=True):
            result[k] += ratio * value
    return result
