"""Wheels that roll without slipping under a platform with the coordinates x, y, φ of a planar joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dqdyn.algebra.scalar import Scalar, Scalars, cos, sin
from dqdyn.constraints.constraint import Constraint, Rows, row
from dqdyn.model.description import ROOT_JOINT
from dqdyn.model.model import Model


class OnPlane(Constraint):
    """A constraint on a platform that a planar ``joint`` moves."""

    joint: str
    holonomic: ClassVar[bool] = False

    def heading(self, model: Model, q: Scalars) -> tuple[int, Scalar, Scalar]:
        """Index of ẋ in v, sin φ and cos φ of the joint."""
        joint = model.joint(self.joint)
        phi = q[joint.q][2]
        return joint.v.start, sin(phi), cos(phi)

    def check(self, model: Model) -> None:
        kind = model.joint(self.joint).kind
        if kind != "planar":
            needs = f"the constraint {self.name!r} needs a planar joint with the coordinates x, y, φ"
            found = f'joint {self.joint!r} is {kind}: load the robot with base="planar" or "differential".'
            raise self._error(f"{needs}; {found}", joint=self.joint)


@dataclass(frozen=True)
class Rolling(OnPlane):
    """A differential drive does not slip sideways: [−sin φ, cos φ, 0] (ẋ, ẏ, φ̇) = 0.

    It is [Silva, eq. (61)] [Quiroz, eq. (5.48)]. A robot with ``base="differential"`` has it. Radius and distance of
    the wheels in m are data for drive models.
    """

    joint: str = ROOT_JOINT
    wheel_radius: float = 0.1
    wheel_distance: float = 0.4
    name: str = "rolling"
    count = 1

    def velocity(self, model: Model, q: Scalars, t: Scalar = 0.0) -> Rows:
        k, s, c = self.heading(model, q)
        return [row(model, {k: -s, k + 1: c})], [0.0]

    def acceleration(self, model: Model, q: Scalars, v: Scalars, t: Scalar = 0.0) -> Rows:
        """b = −Ȧ v = φ̇ (cos φ ẋ + sin φ ẏ)."""
        k, s, c = self.heading(model, q)
        x_rate, y_rate, turn = v[k : k + 3]
        return self.velocity(model, q)[0], [turn * (c * x_rate + s * y_rate)]

    def of_base(self, base: str) -> bool:
        return base == "differential" and self.joint == ROOT_JOINT


@dataclass(frozen=True)
class RollingWheels(OnPlane):
    """The same drive with the angles of its wheels as coordinates: three rows, two of them rolling without slip.

    Beside no sideways slip, cos φ ẋ + sin φ ẏ ∓ (d/2) φ̇ = r θ̇ for the left and the right wheel: ``left`` and ``right``
    are joints whose positive rate drives the platform forward; radius r and distance d in m.
    """

    left: str
    right: str
    wheel_radius: float
    wheel_distance: float
    joint: str = ROOT_JOINT
    name: str = "rolling wheels"
    count = 3

    def velocity(self, model: Model, q: Scalars, t: Scalar = 0.0) -> Rows:
        k, s, c = self.heading(model, q)
        half = 0.5 * self.wheel_distance
        rows = [row(model, {k: -s, k + 1: c})]
        for wheel, arm in ((self.left, -half), (self.right, half)):
            rows.append(row(model, {k: c, k + 1: s, k + 2: arm, model.joint(wheel).v.start: -self.wheel_radius}))
        return rows, [0.0] * 3

    def acceleration(self, model: Model, q: Scalars, v: Scalars, t: Scalar = 0.0) -> Rows:
        k, s, c = self.heading(model, q)
        x_rate, y_rate, turn = v[k : k + 3]
        forward = turn * (s * x_rate - c * y_rate)
        return self.velocity(model, q)[0], [turn * (c * x_rate + s * y_rate), forward, forward]

    def check(self, model: Model) -> None:
        super().check(model)
        self._require_one_axis(model, self.left, self.right)
        if not self.wheel_radius > 0.0 or not self.wheel_distance > 0.0:
            needs = f"the constraint {self.name!r} needs a radius and a distance of the wheels above 0 m"
            raise self._error(f"{needs}; found {self.wheel_radius} and {self.wheel_distance}.")
