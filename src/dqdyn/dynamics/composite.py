"""Mass matrix by composite bodies: each axis moves all that hangs on it as one rigid body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.functions import Adjoint
from dqdyn.algebra.quaternion import I, J, K, Quaternion, cross3, dot3
from dqdyn.algebra.scalar import Scalar
from dqdyn.algebra.tensor import Symmetric, shifted
from dqdyn.kinematics.tree import backward
from dqdyn.model.model import WORLD_BODY, Model

Matrix = list[list[Scalar]]


@dataclass(frozen=True)
class Composite:
    """Mass, first moment and tensor about the origin of a frame; the mass is a plain number."""

    mass: float
    first: Quaternion
    tensor: Symmetric

    @classmethod
    def of(cls, inertia: Any) -> Composite:
        """An inertia about the origin of its frame."""
        s = inertia.second_moments
        trace = s[0][0] + s[1][1] + s[2][2]
        tensor = Symmetric(trace - s[0][0], trace - s[1][1], trace - s[2][2], -s[0][1], -s[0][2], -s[1][2])
        return cls(inertia.mass, inertia.first_moment, tensor)

    def __add__(self, other: Composite) -> Composite:
        return Composite(self.mass + other.mass, self.first + other.first, self.tensor + other.tensor)

    def seen_through(self, x: Adjoint) -> Composite:
        """The same in the parent's frame, for Ad(x_parent,child)."""
        first = x.rotate(self.first)
        # p (h + ½ m p) covers both the first moment and the mass moved by p.
        tensor = self.tensor.rotated(x.columns) + shifted(x.p, first + x.p * (0.5 * self.mass))
        return Composite(self.mass, first + x.p * self.mass, tensor)

    def momentum(self, twist: DQ) -> DQ:
        """p + εL about the origin, of the body moving with that twist."""
        omega, velocity = twist.primary, twist.dual
        linear = velocity * self.mass + cross3(omega, self.first)
        return DQ.of(linear, self.tensor(omega) + cross3(self.first, velocity))


def mass_matrix(model: Model, q: Sequence[Scalar]) -> Matrix:
    """M (nv×nv), symmetric; without armature."""
    relative = [joint.transform(q) for joint in model.joints]
    composite = [Composite.of(body.inertia) for body in model.bodies]
    for i in reversed(range(len(composite))):
        parent = model.joints[i].parent
        if parent != WORLD_BODY:
            composite[parent] = composite[parent] + composite[i].seen_through(relative[i].second).seen_through(
                relative[i].first
            )
    columns = [joint.columns(joint.motion.subspace(joint.coordinates(q))) for joint in model.joints]
    matrix: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    for i, own in enumerate(columns):
        momenta = [(k, composite[i].momentum(s)) for k, s in own]
        _add_block(matrix, own, momenta, diagonal=True)
        j = i
        while model.joints[j].parent != WORLD_BODY:
            momenta = [(k, relative[j](h)) for k, h in momenta]
            j = model.joints[j].parent
            _add_block(matrix, columns[j], momenta, diagonal=False)
    return matrix


def _add_block(matrix: Matrix, left: list[tuple[int, DQ]], right: list[tuple[int, DQ]], diagonal: bool) -> None:
    """Power of each motion on each momentum, on both sides of the diagonal; mimic joints may share an index."""
    for a, (r, s) in enumerate(left):
        for b, (c, h) in enumerate(right):
            if diagonal and b < a:
                continue
            value = dot3(s.primary, h.dual) + dot3(s.dual, h.primary)
            matrix[r][c] = matrix[r][c] + value
            if not (diagonal and a == b):
                matrix[c][r] = matrix[c][r] + value


def mass_matrix_from_root(model: Model, q: Sequence[Scalar]) -> Matrix:
    """M (nv×nv) with everything expressed in the frame of the root body: cheaper for long chains.

    Motions need no transport from body to body there, at the price of turning every inertia.
    """
    seen: list[Adjoint] = []
    for joint in model.joints:
        at_root = joint.parent == WORLD_BODY
        seen.append(Adjoint.of((I, J, K)) if at_root else seen[joint.parent] @ joint.adjoint(q))
    composite = [Composite.of(b.inertia).seen_through(x) for b, x in zip(model.bodies, seen, strict=True)]
    composite = backward(model, composite, lambda a, b: a + b)
    columns = [
        joint.columns([x(s) for s in joint.motion.subspace(joint.coordinates(q))])
        for joint, x in zip(model.joints, seen, strict=True)
    ]
    matrix: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    for i, own in enumerate(columns):
        momenta = [(k, composite[i].momentum(s)) for k, s in own]
        _add_block(matrix, own, momenta, diagonal=True)
        for j in model.path(i)[:-1]:
            _add_block(matrix, columns[j], momenta, diagonal=False)
    return matrix
