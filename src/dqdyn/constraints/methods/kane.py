"""Kane's equations under constraints, straight-line, over any scalar: no multiplier, and M may be singular.

The quasi-velocities are v = P u + A⁺b, P = I − NᵀN the projector onto the motions that the rows of A leave free, N
orthonormal rows. Its columns are the partial velocities: however many are independent, no choice among coordinates is
needed. Projected on them the laws of motion are P M P u̇ = P(Q − M A⁺b). They say nothing along N, where any positive
inertia may be added; with nᵀM n of M itself, the sum is M with the coupling between n and the rest cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.algebra.scalar import Scalar, Scalars, divide
from dqdyn.constraints.methods.orthogonal import coordinates, orthonormal, placed
from dqdyn.constraints.methods.sparse import Sparse, dot, is_zero, sparse
from dqdyn.constraints.methods.terms import Terms, held_mass, of_state
from dqdyn.dynamics.fast.sparse_solve import Matrix, solve
from dqdyn.model.model import Model


@of_state
def forward(model: Model, terms: Terms, singular: bool) -> list[Scalar]:
    """The acceleration (nv) that obeys the constraints; ``singular`` says that M is."""
    return acceleration(*terms, held_mass(model) if singular else 0.0)


def acceleration(mass: Matrix, force: Scalars, a: Matrix, b: Scalars, held: float = 0.0) -> list[Scalar]:
    """a = P u̇ + A⁺b with P M (P u̇ + A⁺b) = P Q: the laws of motion projected on partial velocities.

    [Parsa, eq. (39)] in matrix form [Parsa, eq. (46)]. M may be singular where P M P is regular on the motions that A
    leaves free: ``held`` kg are then added along the rows of A. Rows that depend on others change nothing.
    """
    rows = [sparse(row) for row in a]
    bound = sorted(set().union(*rows))
    place = {k: i for i, k in enumerate(bound)}
    rest = Eliminated(mass, force, [k for k in range(len(mass)) if k not in place])
    block = [[rest.matrix[i][j] for j in bound[: place[i] + 1]] for i in bound]
    right = [rest.right[i] for i in bound]
    basis = orthonormal([{place[k]: c for k, c in row.items()} for row in rows])
    alpha = coordinates(basis, b)
    for normal, wanted in zip(basis.normals, alpha, strict=True):
        along = _times(block, normal)
        right = [f - wanted * c for f, c in zip(right, along, strict=True)]
        _cut(block, normal, along, held)
    # Along the normals this solves for an arbitrary Q, which A⁺b replaces.
    x = placed(basis, alpha, dict(enumerate(solve(block, right))))
    return rest.completed({k: x[i] for k, i in place.items()})


class Eliminated:
    """M x = Q without the coordinates that no row of A touches: each is its own partial velocity."""

    def __init__(self, mass: Matrix, force: Scalars, free: Sequence[int]) -> None:
        self.matrix: Matrix = [list(row) for row in mass]
        self.right = list(force)
        self._steps: list[tuple[int, Scalar, Sparse]] = []
        remaining = set(range(len(mass)))
        for k in reversed(free):  # from the leaves, so that branches keep their zeros
            remaining.remove(k)
            inverse = divide(1.0, self.matrix[k][k])
            column = {i: self.matrix[k][i] for i in sorted(remaining) if not is_zero(self.matrix[k][i])}
            shares = {i: c * inverse for i, c in column.items()}
            for i, share in shares.items():
                self.right[i] = self.right[i] - share * self.right[k]
                for j, c in column.items():
                    if j <= i:
                        self.matrix[i][j] = self.matrix[j][i] = self.matrix[i][j] - share * c
            self._steps.append((k, inverse, shares))

    def completed(self, x: Sparse) -> list[Scalar]:
        """All of x, given the coordinates that remained."""
        x = dict(x)
        for k, inverse, shares in reversed(self._steps):
            x[k] = self.right[k] * inverse - dot(shares, x)
        return [x[k] for k in range(len(x))]


def _times(block: Matrix, normal: Sparse) -> list[Scalar]:
    """S n for a symmetric S given by its lower half."""
    return [dot(normal, {j: c for j in normal if not is_zero(c := _entry(block, i, j))}) for i in range(len(block))]


def _entry(block: Matrix, i: int, j: int) -> Scalar:
    return block[i][j] if j <= i else block[j][i]


def _cut(block: Matrix, normal: Sparse, along: Scalars, held: float) -> None:
    """S to P S P + (nᵀS n + held) n nᵀ, P = I − n nᵀ: S less n wᵀ + w nᵀ with w = S n − (nᵀS n + held/2) n."""
    own = dot(normal, dict(enumerate(along))) + 0.5 * held
    pull = [c - own * normal[i] if i in normal else c for i, c in enumerate(along)]
    for i, row in enumerate(block):
        for j in range(i + 1):
            for n, w in ((i, j), (j, i)):
                if n in normal and not is_zero(pull[w]):
                    row[j] = row[j] - normal[n] * pull[w]
