"""A robot's equations of motion in quasi-velocities u, v = B(q) u, by Kane's equations and with what its joints add."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.scalar import Scalar, divide, sqrt
from dqdyn.constraints.assembled import velocity as constraint_rows
from dqdyn.constraints.methods.sparse import is_zero
from dqdyn.dynamics.arguments import Matrix, Wrenches
from dqdyn.dynamics.fast.sparse_solve import factored, solve
from dqdyn.dynamics.formulations import kane
from dqdyn.dynamics.formulations.mass_centers import row_times
from dqdyn.dynamics.formulations.speeds import Speeds, orthogonal, speeds_from, velocities
from dqdyn.dynamics.joint_forces import armature, state_forces
from dqdyn.dynamics.massless_joints import moved_inertia
from dqdyn.kinematics import frames
from dqdyn.model.model import Frame, Model

Vector = Sequence[Scalar]


@dataclass(frozen=True)
class QuasiVelocities:
    """``size`` quasi-velocities u of a model, by B(q) with v = B u, and by Y(q) with u = Y v where that was given.

    Where B is tall, v = B u are the only motions, and whatever keeps the robot to them does no work along them.
    """

    model: Model
    b: Speeds
    size: int
    y: Speeds | None = None

    def velocity(self, q: Vector, u: Vector) -> list[Scalar]:
        """v = B u [Parsa, eq. (8)]."""
        return [row_times(row, u) for row in self.b(q)]

    def acceleration(self, q: Vector, u: Vector, u_rate: Vector) -> list[Scalar]:
        """a = B u̇ + Ḃ u."""
        return velocities(self.b, self.model, q, u, u_rate)[1]

    def speeds(self, q: Vector, v: Vector) -> list[Scalar]:
        """u = Y v, or the u with B u = v; of a v that a tall B does not have, that of the nearest one."""
        inverse = speeds_from(self.b) if self.y is None else self.y
        return [row_times(row, v) for row in inverse(q)]

    def forces(self, q: Vector, tau: Vector) -> list[Scalar]:
        """Bᵀτ (m) [Parsa, eq. (11)]."""
        return [row_times(column, tau) for column in zip(*self.b(q), strict=True)]

    def inverse_dynamics(
        self, q: Vector, u: Vector, u_rate: Vector, wrenches: Wrenches = None, on: Model | None = None
    ) -> list[Scalar]:
        """Bᵀτ (m) that gives u̇; ``on`` is the same robot in other frames, to which the wrenches then belong."""
        v, a = velocities(self.b, self.model, q, u, u_rate)
        rotor, own = armature(self.model), state_forces(self.model, q, v)
        joints = self.forces(q, [f + (ak * r if r else 0.0) for f, ak, r in zip(own, a, rotor, strict=True)])
        bodies = kane.inverse_dynamics(on or self.model, q, u, u_rate, wrenches, self.b)
        return [f + g for f, g in zip(bodies, joints, strict=True)]

    def mass_matrix(self, q: Vector, on: Model | None = None) -> Matrix:
        """BᵀMB (m×m) with armature."""
        matrix = kane.mass_matrix(on or self.model, q, self.b)
        for row, r in zip(self.b(q), armature(self.model), strict=True):
            for i, left in enumerate(row) if r else ():
                for j, right in enumerate(row):
                    if not (is_zero(left) or is_zero(right)):
                        matrix[i][j] = matrix[i][j] + left * right * r
        return matrix

    def forward_dynamics(
        self, q: Vector, u: Vector, forces: Vector, wrenches: Wrenches = None, on: Model | None = None
    ) -> list[Scalar]:
        """u̇ under the forces Bᵀτ (m) [Parsa, eq. (46)]."""
        bias = self.inverse_dynamics(q, u, [0.0] * self.size, wrenches, on)
        return solve(self.mass_matrix(q, on), [f - b for f, b in zip(forces, bias, strict=True)])

    def partial_velocities(self, q: Vector) -> list[Matrix]:
        """∂ν/∂u (6×m) of every body: rows ω, v of its center of mass, in its axes [Parsa, eq. (44)]."""
        return [
            [list(row) for row in zip(*(_six(body.get(k)) for k in range(self.size)), strict=True)]
            for body in kane.partial_velocities(self.model, q, self.b)
        ]

    def frame_velocities(self, frame: Frame, expressed: frames.Expressed, q: Vector) -> Matrix:
        """∂ξ/∂u (6×m) of a frame's twist."""
        return [self.forces(q, row) for row in frames.twist_jacobian(self.model, frame, q, expressed)]

    # --- conditions for a solution ------------------------------------------------------------------------------------

    def independence(self, q: Vector) -> list[Scalar]:
        """Per column of Y, else of B, the part across the columns before it, relative to its length: 0 if dependent."""
        columns = [list(c) for c in zip(*(self.b if self.y is None else self.y)(q), strict=True)]
        _, r = orthogonal(columns)
        return [divide(r[j][j], sqrt(row_times(c, c))) for j, c in enumerate(columns)]

    def pivots(self, q: Vector) -> list[Scalar]:
        """1/D of BᵀMB = LᵀDL, the diagonal of BᵀMB and the inertia that each u moves, concatenated (3m)."""
        matrix, moved = self.mass_matrix(q), moved_inertia(self.model, q)
        of_speeds = [row_times([b * b for b in column], moved) for column in zip(*self.b(q), strict=True)]
        return [*factored(matrix)[1], *(row[k] for k, row in enumerate(matrix)), *of_speeds]

    def drift(self, q: Vector) -> Matrix:
        """A B and b (rows × (m + 1)) of the robot's own constraints A v = b: zero where every B u obeys them."""
        a, b = constraint_rows(self.model, q, 0.0)
        return [[*self.forces(q, row), e] for row, e in zip(a, b, strict=True)]

    def missed(self, q: Vector, v: Vector) -> list[Scalar]:
        """v − B u (nv) with the nearest u: what a tall B does not have of v."""
        return [x - y for x, y in zip(v, self.velocity(q, self.speeds(q, v)), strict=True)]


def _six(twist: DQ | None) -> list[Scalar]:
    return [0.0] * 6 if twist is None else [*twist.primary.vector, *twist.dual.vector]
