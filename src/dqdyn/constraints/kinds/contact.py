"""Points and faces that hold on to the world where they are, with friction data for those who check the forces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dqdyn.algebra.scalar import Scalar
from dqdyn.constraints.between import Between
from dqdyn.constraints.constraint import Constraint, Rows, row
from dqdyn.errors import ModelError
from dqdyn.model.model import WORLD_FRAME, Model


@dataclass(frozen=True)
class PointContact(Constraint):
    """The origin of ``frame`` does not move: v = 0 in the frame's axes. Multipliers are the force in N on the robot.

    It binds velocities, so the point stays wherever the contact began. ``mu`` is the coefficient of friction, with the
    frame's z as normal; :meth:`holds` is for those who check. Forces are not limited here.
    """

    frame: str
    mu: float = 0.7
    name: str = ""
    holonomic: ClassVar[bool] = False
    first_row: ClassVar[int] = 3  # of the twist [ω, v]

    def __post_init__(self) -> None:
        self._named(f"contact {self.frame}")
        if not self.mu >= 0.0:
            raise ModelError(
                f"the friction of the constraint {self.name!r} must not be negative; found {self.mu}.",
                constraint=self.name,
            )

    def rows(self, model: Model) -> int:
        return 6 - self.first_row

    def residual(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> None:
        return None

    def velocity(self, model: Model, q: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        return self._rows(model, self._seen(model, q)), [0.0] * self.rows(model)

    def acceleration(self, model: Model, q: Sequence[Scalar], v: Sequence[Scalar], t: Scalar = 0.0) -> Rows:
        seen = self._seen(model, q)
        bias = seen.bias(v)  # of the world against the frame: opposite to what is wanted, hence no minus
        return self._rows(model, seen), [*bias.primary.vector, *bias.dual.vector][self.first_row :]

    def _seen(self, model: Model, q: Sequence[Scalar]) -> Between:
        """The world as seen from the frame, at the frame's origin: minus the body twist, whose axes need no world."""
        return Between(model, self.frame, WORLD_FRAME, q, at_second=False)

    def _rows(self, model: Model, seen: Between) -> list[list[Scalar]]:
        columns = {k: (*s.primary.vector, *s.dual.vector) for k, s in seen.columns.items()}
        return [row(model, {k: -c[i] for k, c in columns.items()}) for i in range(self.first_row, 6)]

    def check(self, model: Model) -> None:
        model.frame(self.frame)

    def holds(self, multipliers: Sequence[float]) -> bool:
        """Whether the force pushes and stays in the friction cone: f_z ≥ 0 and ‖(f_x, f_y)‖ ≤ μ f_z."""
        x, y, z = multipliers[3 - self.first_row :][:3]
        return bool(z >= 0.0 and x * x + y * y <= (self.mu * z) ** 2)


@dataclass(frozen=True)
class FaceContact(PointContact):
    """A face that neither moves nor turns: the twist [ω, v] of ``frame`` vanishes. Multipliers are [τ, f] in its axes.

    ``half_length`` along x and ``half_width`` along y in m bound where the pressure can act; 0 means not given.
    """

    half_length: float = 0.0
    half_width: float = 0.0
    first_row: ClassVar[int] = 0

    def holds(self, multipliers: Sequence[float]) -> bool:
        """Whether the force is in the cone and the center of pressure on the face (where its size is given)."""
        torque_x, torque_y, _, x, y, z = multipliers
        inside_cone = z >= 0.0 and x * x + y * y <= (self.mu * z) ** 2
        inside_x = not self.half_length or abs(torque_y) <= self.half_length * z
        inside_y = not self.half_width or abs(torque_x) <= self.half_width * z
        return bool(inside_cone and inside_x and inside_y)
