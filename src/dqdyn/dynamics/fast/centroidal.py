"""Centroidal momentum, its matrix and the rate of that, from composite bodies.

Each axis moves the subtree behind it as one rigid body. Its momentum is cheapest in the frame of that body, where the
axis is constant; it is turned to the world and shifted to the center of mass once. For rates, a composite changes
against the frame of its body only by the joints behind it.

Regrouped inertias have the momentum of the real ones: what is handed on lies on the axis of a joint and moves with
both of its sides. What ends in the world has none, but counts for the center of mass
(:class:`Whole`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from dqdyn.algebra.adjoint import Adjoint, Factored
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ZERO, Quaternion, cross3
from dqdyn.algebra.scalar import Scalar, divide, is_known_zero
from dqdyn.algebra.tensor import Symmetric, shifted, turning
from dqdyn.dynamics.arguments import Matrix, Scalars
from dqdyn.dynamics.choice import Candidate, Form
from dqdyn.dynamics.fast.composite import Composite, composites
from dqdyn.dynamics.fast.regroup import Moments, regrouped_apart
from dqdyn.kinematics.mass import without_mass
from dqdyn.kinematics.tree import adjoints
from dqdyn.model.model import WORLD_BODY, Model

_NO_TENSOR = Symmetric(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Whole:
    """The mass of all that moves, and of it the mass and the first moment (world axes) that ended in the world.

    A robot without moving mass has the center of mass of what is fixed to the world.
    """

    mass: Scalar
    mass_at_rest: Scalar = 0.0
    at_rest: Quaternion = ZERO

    @classmethod
    def of(cls, model: Model) -> Whole:
        """A robot as it is; :exc:`ModelError` where it has no mass."""
        if not is_known_zero(model.mass):
            return cls(model.mass)
        fixed = model.fixed_inertia
        if not fixed.mass:
            raise without_mass(model)
        return cls(fixed.mass, fixed.mass, fixed.first_moment)

    def with_at_rest(self, parts: Sequence[Moments]) -> Whole:
        """The same with more that ended in the world."""
        mass, moment = self.mass_at_rest, self.at_rest
        for part in parts:
            mass, moment = mass + part.mass, moment + part.first_moment
        return Whole(self.mass, mass, moment)

    def center(self, moment: Quaternion) -> Quaternion:
        """Σ mᵢ cᵢ over the mass, or the same of rates."""
        result: Quaternion = moment * divide(1.0, self.mass)
        return result

    def is_carried_by(self, model: Model, body: int) -> bool:
        """Whether the joint of that index carries all of it."""
        return _roots(model) == [body] and is_known_zero(self.mass_at_rest)


def candidates(form: Form, model: Model) -> list[Candidate]:
    """A function of this module on the robot with regrouped inertias, and on the robot itself."""
    light, at_rest = regrouped_apart(model)
    return [(partial(form, whole=Whole.of(model).with_at_rest(at_rest)), light), (form, model)]


def centroidal_momentum(model: Model, q: Scalars, v: Scalars, whole: Whole | None = None) -> DQ:
    """p + εL: linear momentum in kg m/s, angular momentum about the center of mass in kg m²/s, world axes."""
    whole = whole or Whole.of(model)
    relative = [joint.transform(q) for joint in model.joints]
    own = [Composite.of(body.inertia) for body in model.bodies]
    momenta = [body.momentum(twist) for body, twist in zip(own, _twists(model, relative, q, v), strict=True)]
    masses, moments = [body.mass for body in own], [body.first for body in own]
    total, moment = zero_twist(), whole.at_rest
    for i in reversed(range(len(own))):
        parent, x = model.joints[i].parent, relative[i]
        carried, moved = x(momenta[i]), x.rotate(moments[i]) + x.p * masses[i]
        if parent == WORLD_BODY:
            total, moment = total + carried, moment + moved
        else:
            momenta[parent], moments[parent] = momenta[parent] + carried, moments[parent] + moved
            masses[parent] += masses[i]
    return DQ.of(total.primary, total.dual - cross3(whole.center(moment), total.primary))


def centroidal_momentum_matrix(model: Model, q: Scalars, whole: Whole | None = None) -> Matrix:
    """A (6×nv) with [p, L] = A v; see :func:`centroidal_momentum`."""
    whole = whole or Whole.of(model)
    seen, bodies = adjoints(model, q), composites(model, [joint.transform(q) for joint in model.joints])
    center = _center(model, seen, bodies, whole)
    result = [zero_twist()] * model.nv
    for i, joint in enumerate(model.joints):
        body = Carried(bodies[i], whole.is_carried_by(model, i))
        arm = ZERO if body.is_whole else seen[i].p - center
        for k, s in joint.columns(joint.motion.subspace(joint.coordinates(q))):
            h = body.momentum(s)
            linear = seen[i].rotate(h.primary)
            result[k] = result[k] + DQ.of(linear, seen[i].rotate(h.dual) + cross3(arm, linear))
    return _rows(result)


def centroidal_momentum_matrix_derivative(model: Model, q: Scalars, v: Scalars, whole: Whole | None = None) -> Matrix:
    """Ȧ (6×nv) along v, so that [ṗ, L̇] = A a + Ȧ v: the external forces and their moment about the center of mass."""
    whole = whole or Whole.of(model)
    seen, relative = adjoints(model, q), [joint.transform(q) for joint in model.joints]
    bodies, twists = composites(model, relative), _twists(model, relative, q, v)
    rates = _rates(model, relative, bodies, q, v)
    center, velocity = _center(model, seen, bodies, whole), _center_velocity(model, seen, bodies, rates, twists, whole)
    result = [zero_twist()] * model.nv
    for i, joint in enumerate(model.joints):
        body = Carried(bodies[i], whole.is_carried_by(model, i), rates[i])
        arm, drift = (ZERO, ZERO) if body.is_whole else (seen[i].p - center, velocity)
        # About the center of mass the origin of the body is not what moves with it.
        twist = DQ.of(twists[i].primary, ZERO) if body.is_whole else twists[i]
        own = joint.coordinates(q)
        columns = joint.columns(joint.motion.subspace(own))
        changes = joint.columns(joint.motion.subspace_rate(own, joint.rates(v)))
        for (k, s), (_, change) in zip(columns, changes, strict=True):
            h, h_rate = body.momentum(s), body.momentum_rate(s)
            if not joint.motion.constant_subspace:
                h_rate = h_rate + body.momentum(change)
            h_rate = h_rate + cross(twist, h)
            linear, rate = seen[i].rotate(h.primary), seen[i].rotate(h_rate.primary)
            turned = seen[i].rotate(h_rate.dual) + cross3(arm, rate) - cross3(drift, linear)
            result[k] = result[k] + DQ.of(rate, turned)
    return _rows(result)


class Carried:
    """What a joint carries, as one body in the frame of that joint, and how it changes against that frame.

    Where that is the whole robot, its angular momentum is taken about its own center of mass: moving the robot without
    turning it gives an exact zero then. Else it is about the origin of the frame.
    """

    def __init__(self, body: Composite, is_whole: bool, rate: Composite | None = None) -> None:
        self.body, self.rate, self.is_whole = body, rate, is_whole
        if not is_whole:
            return
        center = body.first * (1.0 / body.mass)
        self.tensor = body.moved(-center).tensor
        if rate is not None:
            self.tensor_rate = rate.tensor + shifted(-body.first, rate.first * (1.0 / body.mass))

    def momentum(self, s: DQ) -> DQ:
        """p + εL of the axis s."""
        h = self.body.momentum(s)
        return DQ.of(h.primary, self.tensor(s.primary)) if self.is_whole else h

    def momentum_rate(self, s: DQ) -> DQ:
        """Its rate against the frame, in which s is constant."""
        assert self.rate is not None
        h = self.rate.momentum(s)
        return DQ.of(h.primary, self.tensor_rate(s.primary)) if self.is_whole else h


def _twists(model: Model, relative: Sequence[Factored], q: Scalars, v: Scalars) -> list[DQ]:
    """ξ of the bodies, each in its own frame."""
    result: list[DQ] = []
    for joint, x in zip(model.joints, relative, strict=True):
        own = joint.motion.twist(joint.coordinates(q), joint.rates(v))
        result.append(own if joint.parent == WORLD_BODY else x.back(result[joint.parent]) + own)
    return result


def _rates(
    model: Model, relative: Sequence[Factored], bodies: Sequence[Composite], q: Scalars, v: Scalars
) -> list[Composite]:
    """How the composite bodies change against the frames of their joints: composites without mass."""
    result = [Composite(0.0, ZERO, _NO_TENSOR) for _ in bodies]
    for i in reversed(range(len(bodies))):
        joint, x, body = model.joints[i], relative[i], bodies[i]
        if joint.parent == WORLD_BODY:
            continue
        moved = joint.motion.twist(joint.coordinates(q), joint.rates(v))
        tensor = turning(body.tensor, moved.primary) + shifted(moved.dual, body.first)
        change = result[i] + Composite(0.0, body.momentum(moved).primary, tensor)
        result[joint.parent] = result[joint.parent] + change.seen_through(x.second).seen_through(x.first)
    return result


def _center(model: Model, seen: Mapping[int, Adjoint], bodies: Sequence[Composite], whole: Whole) -> Quaternion:
    """The center of mass in the world."""
    moment = whole.at_rest
    for i in _roots(model):
        moment = moment + (seen[i].rotate(bodies[i].first) + seen[i].p * bodies[i].mass)
    return whole.center(moment)


def _center_velocity(
    model: Model,
    seen: Mapping[int, Adjoint],
    bodies: Sequence[Composite],
    rates: Sequence[Composite],
    twists: Sequence[DQ],
    whole: Whole,
) -> Quaternion:
    """ċ in the world: linear momentum over mass."""
    momentum = ZERO
    for i in _roots(model):
        momentum = momentum + seen[i].rotate(bodies[i].momentum(twists[i]).primary + rates[i].first)
    return whole.center(momentum)


def _roots(model: Model) -> list[int]:
    return [joint.index for joint in model.joints if joint.parent == WORLD_BODY]


def _rows(columns: Sequence[DQ]) -> Matrix:
    return [[c.vector[row] for c in columns] for row in range(6)]
