"""The Coriolis matrix of Christoffel symbols, in one recursion over the bodies.

C is not unique. Silva's [Silva, eq. (44)] and Parsa's [Parsa, eq. (36)] differ by tr(I) J_ωᵀ[ω]×J_ω for each body,
since [ω]×I + I[ω]× = tr(I)[ω]× − [I ω]×. The mean of the two is the matrix of Christoffel symbols: per unit of each
velocity a body needs the force I Ṡ + B S, with the map B of :mod:`dqdyn.dynamics.fast.velocity_map`. A joint carries
its subtree as one rigid body; with the inertia I and the map B of the subtree of a joint i, and a joint j on its path
to the root,

    C_ji = ⟨S_j, B_i S_i + I_i Ṡ_i⟩,        C_ij = ⟨S_i, B_i S_j + I_i Ṡ_j⟩

(Echeandia and Wensing 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.quaternion import dot3
from dqdyn.dynamics.arguments import Matrix, Scalars
from dqdyn.dynamics.fast.body_frames import BodyFrames
from dqdyn.dynamics.fast.composite import Composite
from dqdyn.dynamics.fast.velocity_map import VelocityMap
from dqdyn.dynamics.wrenches import power
from dqdyn.kinematics.tree import apply, closing, joint_column_rates, joint_columns
from dqdyn.model.model import WORLD_BODY, Model

Axes = list[tuple[int, DQ, DQ]]
"""Index into v, S and Ṡ of each axis of a joint."""


@dataclass(frozen=True)
class MovingBody:
    """The inertia and the map B of a body, or of a subtree as one."""

    inertia: Composite
    velocity: VelocityMap

    def __add__(self, other: MovingBody) -> MovingBody:
        return MovingBody(self.inertia + other.inertia, self.velocity + other.velocity)

    def seen_through(self, x: Adjoint) -> MovingBody:
        """The same in the parent's frame."""
        return MovingBody(self.inertia.seen_through(x), self.velocity.seen_through(x))


def coriolis_matrix(model: Model, q: Scalars, v: Scalars, from_root: bool = False) -> Matrix:
    """C (nv×nv) with C v = bias − g and Ṁ − 2C skew-symmetric; C x is linear in v, and C(q, v) x = C(q, x) v if v = q̇.

    The mean of Silva's matrix of Gauss's principle and Parsa's of Lagrange's equations.
    """
    matrix: Matrix = [[0.0] * model.nv for _ in range(model.nv)]
    frames = BodyFrames(model, q, from_root)
    twists = {WORLD_BODY: zero_twist()}
    axes: list[Axes] = []
    subtrees: list[MovingBody] = []
    for (i, joint), done in zip(enumerate(model.joints), closing(model), strict=True):
        seen = frames.enter(joint)
        columns = joint_columns(joint, seen, q)
        twists[i] = frames.down(i, twists[joint.parent]) + apply(columns, v)
        rates = joint_column_rates(joint, seen, columns, twists[i], q, v)
        axes.append([(k, s, rate) for (k, s), (_, rate) in zip(columns, rates, strict=True)])
        inertia = Composite.of(model.bodies[i].inertia).seen_through(seen)
        subtrees.append(MovingBody(inertia, VelocityMap.of(inertia, twists[i])))
        for k in done:
            _fill(matrix, frames, axes, k, subtrees[k])
            parent = model.joints[k].parent
            if parent != WORLD_BODY:
                subtrees[parent] = subtrees[parent] + frames.seen_from_parent(k, subtrees[k])
    return matrix


def coriolis_matrix_from_root(model: Model, q: Scalars, v: Scalars) -> Matrix:
    """The same, computed in the frame of the root body: cheaper for long chains."""
    return coriolis_matrix(model, q, v, from_root=True)


def _fill(matrix: Matrix, frames: BodyFrames, axes: list[Axes], i: int, subtree: MovingBody) -> None:
    """The entries of a joint with itself and with all joints on its path to the root; mimic joints share an index."""
    joints = frames.model.joints
    for row, s, rate in axes[i]:
        back, momentum = subtree.velocity.transposed(s), subtree.inertia.momentum(s)
        force = subtree.velocity(s) + subtree.inertia.momentum(rate)
        j = i
        while True:
            for column, other, other_rate in axes[j]:
                entry = dot3(back, other.primary) + power(other_rate, momentum)
                matrix[row][column] = matrix[row][column] + entry
                if j != i:  # the axes of one joint carry the same subtree, so the formula above holds both ways
                    matrix[column][row] = matrix[column][row] + power(other, force)
            if joints[j].parent == WORLD_BODY:
                break
            back, momentum, force = frames.rotated_up(j, back), frames.up(j, momentum), frames.up(j, force)
            j = joints[j].parent
