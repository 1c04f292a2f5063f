"""Joints coupled by a linear equation: gears, cables, parallelograms."""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.real import real_array
from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.constraints.constraint import Constraint, Rows, row
from dqdyn.model.description import Loop
from dqdyn.model.model import Model


@dataclass(frozen=True)
class JointCoupling(Constraint):
    """Σ ratioᵢ qᵢ = offset over joints with one coordinate each, in rad or m.

    A mimic joint says the same without a constraint, by having no coordinate of its own.
    """

    joints: tuple[str, ...]
    ratios: tuple[float, ...]
    offset: float = 0.0
    name: str = ""
    count = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "joints", tuple(self.joints))
        object.__setattr__(self, "ratios", tuple(real_array(self.ratios, "the ratios of a coupling").tolist()))
        self._named("coupling " + "-".join(self.joints))
        if len(self.joints) != len(self.ratios) or not self.joints or not any(self.ratios):
            found = f"{len(self.joints)} joints and the ratios {self.ratios}"
            raise self._error(f"the constraint {self.name!r} needs one ratio per joint, not all zero; found {found}.")

    def residual(self, model: Model, q: Scalars, t: Scalar = 0.0) -> list[Scalar]:
        own = [r * _coordinate(model, name, q) for name, r in zip(self.joints, self.ratios, strict=True)]
        return [total(own) - self.offset]

    def velocity(self, model: Model, q: Scalars, t: Scalar = 0.0) -> Rows:
        entries: dict[int, Scalar] = {}
        for name, ratio in zip(self.joints, self.ratios, strict=True):
            joint = model.joint(name)
            k, share = joint.v.start, ratio * (joint.master.ratio if joint.master else 1.0)
            entries[k] = entries.get(k, 0.0) + share
        return [row(model, entries)], [0.0]

    def acceleration(self, model: Model, q: Scalars, v: Scalars, t: Scalar = 0.0) -> Rows:
        return self.velocity(model, q)

    def check(self, model: Model) -> None:
        self._require_one_axis(model, *self.joints)

    def loop(self) -> Loop:
        return Loop(self.name, "coupling", self.joints, (*self.ratios, float(self.offset)))


def _coordinate(model: Model, name: str, q: Scalars) -> Scalar:
    """The joint's own coordinate as users know it: without the offset of frames chosen for speed."""
    joint = model.joint(name)
    own = q[joint.q][0]
    return own if joint.master is None else own * joint.master.ratio + joint.master.offset
