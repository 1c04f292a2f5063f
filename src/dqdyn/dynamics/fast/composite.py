"""Mass matrix by composite bodies: each axis moves the subtree behind it as one rigid body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint, Columns, Factored
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import I, J, K, Quaternion, cross3, pure
from dqdyn.algebra.scalar import Scalar
from dqdyn.algebra.tensor import Symmetric, legs, shifted
from dqdyn.dynamics.arguments import Matrix, Scalars
from dqdyn.dynamics.wrenches import power
from dqdyn.model.inertia import Inertia
from dqdyn.model.model import WORLD_BODY, Model


@dataclass(frozen=True)
class Composite:
    """Mass, first moment and tensor about the origin of a frame; the mass is a plain number."""

    mass: float
    first: Quaternion
    tensor: Symmetric

    @classmethod
    def of(cls, inertia: Inertia) -> Composite:
        """An inertia about the origin of its frame."""
        s = inertia.second_moments
        trace = s[0][0] + s[1][1] + s[2][2]
        tensor = Symmetric(trace - s[0][0], trace - s[1][1], trace - s[2][2], -s[0][1], -s[0][2], -s[1][2])
        return cls(inertia.mass, inertia.first_moment, tensor)

    def __add__(self, other: Composite) -> Composite:
        return Composite(self.mass + other.mass, self.first + other.first, self.tensor + other.tensor)

    def seen_through(self, x: Adjoint) -> Composite:
        """The same in the parent's frame, for Ad(x_parent,child)."""
        before, after = legs(x)
        moved = self.moved(before)
        turned = Composite(self.mass, x.rotate(moved.first), moved.tensor.rotated(x.columns))
        return turned.moved(after)

    def moved(self, p: Quaternion) -> Composite:
        """The same with the body moved by p."""
        # p (h + ½ m p) covers both the first moment and the mass moved by p.
        tensor = self.tensor + shifted(p, self.first + p * (0.5 * self.mass))
        return Composite(self.mass, self.first + p * self.mass, tensor)

    def second_moments(self) -> Columns:
        """The columns of Σ = ½ tr(T) − T about the origin."""
        t = self.tensor
        half = (t.xx + t.yy + t.zz) * 0.5
        return pure(half - t.xx, -t.xy, -t.xz), pure(-t.xy, half - t.yy, -t.yz), pure(-t.xz, -t.yz, half - t.zz)

    def momentum(self, twist: DQ) -> DQ:
        """p + εL about the origin, of the body moving with that twist."""
        omega, velocity = twist.primary, twist.dual
        linear = velocity * self.mass + cross3(omega, self.first)
        return DQ.of(linear, self.tensor(omega) + cross3(self.first, velocity))


def mass_matrix(model: Model, q: Scalars) -> Matrix:
    """M (nv×nv), symmetric; without armature."""
    relative = [joint.transform(q) for joint in model.joints]
    composite = composites(model, relative)
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


def diagonal(model: Model, q: Scalars) -> list[Scalar]:
    """The diagonal of M (nv), in linear time unless joints mimic others; without armature."""
    if any(joint.is_mimic for joint in model.joints):  # they move inertia that other joints move, too
        return [row[k] for k, row in enumerate(mass_matrix(model, q))]
    result: list[Scalar] = [0.0] * model.nv
    bodies = composites(model, [joint.transform(q) for joint in model.joints])
    for joint, body in zip(model.joints, bodies, strict=True):
        for k, s in joint.columns(joint.motion.subspace(joint.coordinates(q))):
            result[k] = power(s, body.momentum(s))
    return result


def composites(model: Model, relative: Sequence[Factored]) -> list[Composite]:
    """Each body with its subtree as one rigid body, in its own frame."""
    result = [Composite.of(body.inertia) for body in model.bodies]
    for i in reversed(range(len(result))):
        parent, x = model.joints[i].parent, relative[i]
        if parent != WORLD_BODY:
            result[parent] = result[parent] + result[i].seen_through(x.second).seen_through(x.first)
    return result


def _add_block(matrix: Matrix, left: list[tuple[int, DQ]], right: list[tuple[int, DQ]], diagonal: bool) -> None:
    """Power of each motion on each momentum, on both sides of the diagonal; mimic joints may share an index."""
    for a, (r, s) in enumerate(left):
        for b, (c, h) in enumerate(right):
            if diagonal and b < a:
                continue
            value = power(s, h)
            matrix[r][c] = matrix[r][c] + value
            if not (diagonal and a == b):
                matrix[c][r] = matrix[c][r] + value


def mass_matrix_from_root(model: Model, q: Scalars) -> Matrix:
    """M (nv×nv) from motions and momenta in the frame of the root body: cheaper for long chains.

    There a momentum meets the motions of all joints before it without transport from body to body.
    """
    relative = [joint.transform(q) for joint in model.joints]
    composite = composites(model, relative)
    seen: list[Adjoint] = []
    columns = []
    matrix: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    for i, joint in enumerate(model.joints):
        at_root = joint.parent == WORLD_BODY
        seen.append(Adjoint.of((I, J, K)) if at_root else seen[joint.parent] @ relative[i].first @ relative[i].second)
        own = joint.columns(joint.motion.subspace(joint.coordinates(q)))
        momenta = [(k, composite[i].momentum(s)) for k, s in own]
        _add_block(matrix, own, momenta, diagonal=True)
        columns.append([(k, seen[i](s)) for k, s in own])
        momenta = [(k, seen[i](h)) for k, h in momenta]
        for j in model.path(i)[:-1]:
            _add_block(matrix, columns[j], momenta, diagonal=False)
    return matrix
