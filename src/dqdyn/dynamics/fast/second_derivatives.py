"""Second derivatives of inverse dynamics, as the derivative of the gradient of λᵀτ along one direction.

λ is a virtual velocity of the joints, with the twist η of each body, and λᵀτ is the power of the forces on it. Moving
along an axis S carries the subtree behind the joint as one rigid body and leaves the power as it is, but for what the
parent does not share: with the sums over that subtree of the forces F, of the momenta h = I η, and of

    c = ε 2 (Σ(ω × P(η)) − u × (m c × P(η)) + p × D(η)),    ξ = ω + εu,

and ξ̂, ξ̂̇, η̂ of the parent,

    ∂(λᵀτ)/∂q = −⟨S, η̂ × F + ξ̂̇ × h + ξ̂ × (C − ξ̂ × h)⟩,   ∂(λᵀτ)/∂v = ⟨S, C − (ξ̂ + ξ) × h⟩,   ∂(λᵀτ)/∂a = ⟨S, h⟩.

(The tensors are those of Singh, Russell and Wensing, Efficient analytical derivatives of rigid-body dynamics, IEEE
Robotics and Automation Letters 2022, and their second-order sequel of 2023.) In the frames of the bodies inertias and
axes are constant, so the derivative along a direction takes jets of the sums, and of a map from frame to frame no
derivatives of sines: with the joint moving along ``step``, a twist seen from the child changes by −step × y.

One such derivative takes O(nv) operations; the compiled program of it serves all directions and weights in a batch.
"""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.algebra.adjoint import Factored
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.jet import Jet, derivative
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ZERO, cross3, pure
from dqdyn.algebra.scalar import Scalar, total
from dqdyn.algebra.tensor import Symmetric
from dqdyn.dynamics.arguments import Matrix, Scalars
from dqdyn.dynamics.fast.composite import Composite
from dqdyn.dynamics.fast.jet_derivatives import differentiated
from dqdyn.dynamics.fast.point_accelerations import squares, wrench
from dqdyn.dynamics.joint_forces import turning_derivative
from dqdyn.dynamics.wrenches import power
from dqdyn.kinematics.configuration import configuration_rate
from dqdyn.model.model import WORLD_BODY, Model
from dqdyn.model.split import split


def inverse_dynamics_hessian_product(
    model: Model, q: Scalars, v: Scalars, a: Scalars, weights: Scalars, dq: Scalars, dv: Scalars, da: Scalars
) -> Matrix:
    """The derivatives of ∂(λᵀτ)/∂q, ∂(λᵀτ)/∂v and ∂(λᵀτ)/∂a along a direction, each nv by rows."""
    model, n = split(model), model.nv
    if all(joint.motion.constant_subspace for joint in model.joints):
        flat = derivative(lambda x: _gradient_of_bodies(model, q, dq, x[:n], x[n:], weights), [*v, *a], [*dv, *da])
    else:  # of joints that neither have constant axes nor are chains of such
        along = [*configuration_rate(model, q, dq), *dv, *da]
        flat = derivative(lambda x: _by_jets(model, x, weights), [*q, *v, *a], along)
    rows = [flat[:n], flat[n : 2 * n], flat[2 * n :]]
    for row, column, change in turning_derivative(model, dv):  # linear in v
        rows[1][column] = rows[1][column] + change * weights[row]
    return rows


def inverse_dynamics_hessian(
    model: Model, q: Scalars, v: Scalars, a: Scalars, weights: Scalars
) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """∂²(λᵀτ)/∂q∂q, ∂q∂v, ∂v∂v and ∂q∂a, each nv×nv by rows: the products with all unit vectors in one program.

    Its size grows with the square of nv, so it is for robots with few joints.
    """
    n, none = model.nv, [0.0] * model.nv
    units = [[1.0 if i == k else 0.0 for i in range(n)] for k in range(n)]
    by_q = [inverse_dynamics_hessian_product(model, q, v, a, weights, e, none, none) for e in units]
    by_v = [inverse_dynamics_hessian_product(model, q, v, a, weights, none, e, none) for e in units]
    joint_of = {k: joint.index for joint in model.joints if joint.master is None for k in range(n)[joint.v]}

    def both(rows: Sequence[Matrix], part: int, j: int, k: int) -> Scalar:
        """The derivative with respect to a pair of coordinates of the same sort."""
        first, last = min(j, k), max(j, k)
        one = rows[last][part][first]  # moving the joint farther out changes less
        if part or joint_of[j] != joint_of[k] or first == last:
            return one
        return (one + rows[first][part][last]) * 0.5  # axes of one joint need not commute

    return (
        [[both(by_q, 0, j, k) for k in range(n)] for j in range(n)],
        [rows[1] for rows in by_q],
        [[both(by_v, 1, j, k) for k in range(n)] for j in range(n)],
        [rows[2] for rows in by_q],
    )


def _gradient_of_bodies(
    model: Model, q: Scalars, dq: Scalars, v: Scalars, a: Scalars, weights: Scalars
) -> list[Scalar]:
    """The gradient (3 nv) of λᵀτ without what the joints themselves contribute, for v and a of jets."""
    level = v[0].level if model.nv else 0
    still = zero_twist()
    motion = {WORLD_BODY: (still, DQ.of(ZERO, -pure(*model.gravity)), still)}
    sums: list[Sums] = []
    parents, relative = [], []
    for joint, body in zip(model.joints, model.bodies, strict=True):
        own = joint.coordinates(q)
        x = MovingMap(joint.transform(q), joint.motion.twist(own, joint.rates(dq)), level)
        twist, rate, virtual = (x.back(y) for y in motion[joint.parent])
        parents.append((twist, rate, virtual))
        moved = joint.motion.twist(own, joint.rates(v))
        rate = rate + joint.motion.twist(own, joint.rates(a)) + cross(twist, moved)
        motion[joint.index] = (twist + moved, rate, virtual + joint.motion.twist(own, joint.rates(weights)))
        sums.append(Sums.of(Composite.of(body.inertia), *motion[joint.index]))
        relative.append(x)
    result: list[Scalar] = [0.0] * (3 * model.nv)
    for i in reversed(range(len(sums))):
        joint, sub = model.joints[i], sums[i]
        twist, rate, virtual = parents[i]
        by_q = cross(virtual, sub.force) + cross(rate, sub.h) + cross(twist, sub.c - cross(twist, sub.h))
        by_v = sub.c - cross(twist + motion[i][0], sub.h)
        for k, s in joint.columns(joint.motion.subspace(joint.coordinates(q))):
            for at, entry in (
                (k, -power(s, by_q)),
                (model.nv + k, power(s, by_v)),
                (2 * model.nv + k, power(s, sub.h)),
            ):
                result[at] = result[at] + entry
        if joint.parent != WORLD_BODY:
            sums[joint.parent] = sums[joint.parent] + sub.seen_through(relative[i])
    return result


class Sums:
    """F, h = I η and c over a subtree."""

    def __init__(self, force: DQ, h: DQ, c: DQ) -> None:
        self.force, self.h, self.c = force, h, c

    @classmethod
    def of(cls, inertia: Composite, twist: DQ, rate: DQ, virtual: DQ) -> Sums:
        """Of one body, in its frame."""
        omega, u, turn = twist.primary, twist.dual, virtual.primary
        first, t = inertia.first, inertia.tensor
        half = (t.xx + t.yy + t.zz) * 0.5
        sigma = Symmetric(half - t.xx, half - t.yy, half - t.zz, -t.xy, -t.xz, -t.yz)
        acceleration = rate.dual + cross3(omega, u)
        force = wrench(inertia.mass, first, sigma.matrix, acceleration, omega, squares(omega, rate.primary))
        momentum = u * inertia.mass + cross3(omega, first)
        c = sigma(cross3(omega, turn)) - cross3(u, cross3(first, turn)) + cross3(momentum, virtual.dual)
        return cls(force, inertia.momentum(virtual), DQ.of(ZERO, c * 2.0))

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.force + other.force, self.h + other.h, self.c + other.c)

    def seen_through(self, x: MovingMap) -> Sums:
        """The same in the parent's frame."""
        return Sums(x(self.force), x(self.h), x(self.c))


class MovingMap:
    """Ad(x) from a child to its parent on jets, while the child moves along ``step``, in its own axes."""

    def __init__(self, x: Factored, step: DQ, level: int) -> None:
        self.x, self.step, self.level = x, step, level

    def __call__(self, y: DQ) -> DQ:
        value, slope = self._apart(y)
        return self._jets(self.x(value), self.x(slope + cross(self.step, value)))

    def back(self, y: DQ) -> DQ:
        """Ad(x*) y."""
        value, slope = self._apart(y)
        seen = self.x.back(value)
        return self._jets(seen, self.x.back(slope) - cross(self.step, seen))

    def _apart(self, y: DQ) -> tuple[DQ, DQ]:
        values, slopes = [], []
        for c in _components(y):
            own = isinstance(c, Jet) and c.level == self.level
            values.append(c.value if own else c)
            slopes.append(c.slope if own else 0.0)
        return _pure(values), _pure(slopes)

    def _jets(self, value: DQ, slope: DQ) -> DQ:
        pairs = zip(
            (*value.primary.vector, *value.dual.vector), (*slope.primary.vector, *slope.dual.vector), strict=True
        )
        return _pure([Jet(a, b, self.level) for a, b in pairs])


def _components(y: DQ) -> tuple[Scalar, ...]:
    return (*y.primary.vector, *y.dual.vector)


def _pure(c: Sequence[Scalar]) -> DQ:
    return DQ.of(pure(*c[:3]), pure(*c[3:]))


def _by_jets(model: Model, x: Scalars, weights: Scalars) -> list[Scalar]:
    """The gradient (3 nv) of λᵀτ of bodies on joints of any kind."""
    q, v, a = x[: model.nq], x[model.nq : model.nq + model.nv], x[model.nq + model.nv :]
    matrices = differentiated(model, q, v, a)
    return [total(w * row[k] for w, row in zip(weights, m, strict=True)) for m in matrices for k in range(model.nv)]
