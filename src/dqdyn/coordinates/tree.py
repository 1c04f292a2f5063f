"""The coordinates of a whole robot: those chosen for free and spherical joints, and q of all others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar, Scalars, total
from dqdyn.caching import cached_property
from dqdyn.coordinates.joint_coordinates import JointCoordinates
from dqdyn.coordinates.parameterisation import half_gradient, unit_vector
from dqdyn.model.model import Model, TreeJoint

Matrix = list[list[Scalar]]
Sparse = list[list[tuple[int, Scalar]]]
"""Per column the (row, entry) that are not zero by structure."""


@dataclass(frozen=True)
class JointPart:
    """A joint with the coordinates ``q`` (a slice); ``by`` is None where q and v of the joint serve."""

    joint: TreeJoint
    q: slice
    by: JointCoordinates | None
    conditions: slice


Part = JointPart

Change = Callable[[JointCoordinates, JointPart, list[Scalar]], list[Scalar]]
"""``change(coordinates, part, own)`` of a joint with chosen coordinates and its own part of a vector."""


@dataclass(frozen=True)
class TreeCoordinates:
    """Coordinates q of a model in which every velocity is q̇; "minimal" are the model's own q and v.

    v = E(q) q̇ and q̇ = B(q) v with E B = 1 and A B = 0, where A q̇ = 0 are the conditions of the coordinates. Where these
    are redundant, E is wide: then M = Eᵀ M_v E is singular.
    """

    model: Model
    choices: Mapping[str, JointCoordinates]

    @cached_property
    def parts(self) -> tuple[JointPart, ...]:
        """Per joint that has coordinates of its own, in the order of q."""
        result: list[JointPart] = []
        n = m = 0
        for joint in self.model.joints:
            if joint.is_mimic:
                continue
            by = self.choices.get(joint.name)
            size = joint.motion.nq if by is None else by.n
            conditions = 0 if by is None else len(by.constraint([1.0] * by.n))
            result.append(JointPart(joint, slice(n, n + size), by, slice(m, m + conditions)))
            n, m = n + size, m + conditions
        return tuple(result)

    @cached_property
    def n(self) -> int:
        """Number of coordinates."""
        return max((part.q.stop for part in self.parts), default=0)

    @cached_property
    def conditions(self) -> int:
        """Number of conditions that the coordinates obey."""
        return max((part.conditions.stop for part in self.parts), default=0)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """A name per coordinate: the joint's, and which of its coordinates."""
        result = []
        for part in self.parts:
            own = [str(i) for i in range(part.q.stop - part.q.start)] if part.by is None else part.by.labels
            result += [part.joint.name if len(own) == 1 else f"{part.joint.name}.{label}" for label in own]
        return tuple(result)

    # --- to and from the minimal state ----------------------------------------------------------------------------

    def minimal(self, q: Scalars) -> list[Scalar]:
        """The model's q (nq)."""
        return self._per_joint(q, lambda part: part.q, lambda by, part, own: by.minimal(own))

    def from_minimal(self, own: Scalars) -> list[Scalar]:
        """q (n) from the model's."""
        return self._per_joint(own, lambda part: part.joint.q, lambda by, part, own: by.from_minimal(own))

    def velocity(self, q: Scalars, rate: Scalars) -> list[Scalar]:
        """v = E(q) q̇ (nv)."""
        return self._per_joint(rate, lambda part: part.q, lambda by, part, own: by.velocity(q[part.q], own))

    def acceleration(self, q: Scalars, rate: Scalars, second: Scalars) -> list[Scalar]:
        """v̇ = E q̈ + Ė q̇ (nv)."""
        n = self.n
        return derivative(lambda x: self.velocity(x[:n], x[n:]), [*q, *rate], [*rate, *second])

    def rate(self, q: Scalars, v: Scalars) -> list[Scalar]:
        """q̇ = B(q) v (n)."""
        return self._per_joint(v, lambda part: part.joint.v, lambda by, part, own: by.rate(q[part.q], own))

    def second_rate(self, q: Scalars, rate: Scalars, v: Scalars, a: Scalars) -> list[Scalar]:
        """q̈ = B a + Ḃ v (n)."""
        n = self.n
        return derivative(lambda x: self.rate(x[:n], x[n:]), [*q, *v], [*rate, *a])

    # --- the maps as matrices -------------------------------------------------------------------------------------

    def velocity_columns(self, q: Scalars) -> Sparse:
        """E by columns, one per coordinate."""
        return self._columns(lambda by, part, unit: by.velocity(q[part.q], unit))

    def velocity_rate_columns(self, q: Scalars, rate: Scalars) -> Sparse:
        """Ė by columns."""

        def column(by: JointCoordinates, part: JointPart, unit: list[Scalar]) -> list[Scalar]:
            return derivative(lambda x: by.velocity(x, unit), q[part.q], rate[part.q])

        return self._columns(column, constant=0.0)

    def forces(self, q: Scalars, tau: Scalars) -> list[Scalar]:
        """Eᵀ τ (n): forces on v as forces on q̇, of the same power."""
        return [total(e * tau[k] for k, e in column) for column in self.velocity_columns(q)]

    def minimal_forces(self, q: Scalars, tau: Scalars) -> list[Scalar]:
        """Bᵀ τ (nv): forces on q̇ as forces on v; what acts against the conditions alone is lost."""

        def own_forces(by: JointCoordinates, part: JointPart, own: list[Scalar]) -> list[Scalar]:
            columns = (by.rate(q[part.q], unit_vector(by.nv, k)) for k in range(by.nv))
            return [total(b * t for b, t in zip(column, own, strict=True)) for column in columns]

        return self._per_joint(tau, lambda part: part.q, own_forces)

    def quadratic(self, q: Scalars, matrix: Matrix) -> Matrix:
        """Eᵀ M E (n×n) of a symmetric matrix (nv×nv)."""
        E = self.velocity_columns(q)
        half = [[total(row[k] * e for k, e in column) for column in E] for row in matrix]
        result = [[0.0] * self.n for _ in range(self.n)]
        for i, column in enumerate(E):
            for j in range(i + 1):
                result[i][j] = result[j][i] = total(half[k][j] * e for k, e in column)
        return result

    # --- conditions -----------------------------------------------------------------------------------------------

    def constraint(self, q: Scalars) -> list[Scalar]:
        """C(q) of all joints [Bouyarmane, eq. (27)]."""
        return [c for part in self.parts if part.by is not None for c in part.by.constraint(q[part.q])]

    def constraint_matrix(self, q: Scalars) -> Matrix:
        """A (conditions × n) = ½ ∂C/∂q: the paper's qᵀSᵀS for a quaternion [Bouyarmane, eq. (30)].

        S selects the coordinates of the joint [Bouyarmane, eq. (29)]; here it is the slice of the part. For a dual
        quaternion these are the two rows of P(x) that do not vanish [Quiroz, eq. (5.57)].
        """
        rows = []
        for part in self.parts:
            for own in half_gradient(part.by, q[part.q]) if part.by is not None else ():
                row: list[Scalar] = [0.0] * self.n
                row[part.q] = own
                rows.append(row)
        return rows

    def constraint_bias(self, q: Scalars, rate: Scalars) -> list[Scalar]:
        """b = −Ȧ q̇ with A q̈ = b [Bouyarmane, eq. (30)] [Quiroz, eq. (5.58)] [Quiroz, eq. (5.59)]."""
        result: list[Scalar] = []
        for part in self.parts:
            if part.by is not None:
                result += [-0.5 * c for c in _second_derivative(part.by.constraint, q[part.q], rate[part.q])]
        return result

    # --- steps ----------------------------------------------------------------------------------------------------

    def _per_joint(self, x: Scalars, place: Callable[[JointPart], slice], change: Change) -> list[Scalar]:
        """x joint by joint: changed where coordinates were chosen, as it is elsewhere."""
        own = ((part, list(x[place(part)])) for part in self.parts)
        return [c for part, xs in own for c in (xs if part.by is None else change(part.by, part, xs))]

    def _columns(self, column: Change, constant: float = 1.0) -> Sparse:
        result: Sparse = []
        for part in self.parts:
            n, start = part.q.stop - part.q.start, part.joint.v.start
            for i in range(n):
                entries = [constant] if part.by is None else column(part.by, part, unit_vector(n, i))
                result.append([(start + k, e) for k, e in enumerate(entries, i if part.by is None else 0)])
        return result


def _second_derivative(function: Callable[[Scalars], list[Scalar]], at: Scalars, along: Scalars) -> list[Scalar]:
    """d²/dt² of the function for a constant rate, by jets of jets."""
    return derivative(lambda x: derivative(function, x, along), at, along)
