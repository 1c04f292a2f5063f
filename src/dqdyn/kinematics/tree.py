"""The recursions over the tree, written once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ, zero_twist
from dqdyn.algebra.poses import pose, position
from dqdyn.algebra.products import cross
from dqdyn.algebra.quaternion import ONE, ZERO, I, J, K, Quaternion, rotate
from dqdyn.algebra.scalar import Scalars
from dqdyn.caching import cached_property
from dqdyn.model.model import WORLD_BODY, Frame, Model, TreeJoint

T = TypeVar("T")
AxisTwists = list[tuple[int, DQ]]
"""(index into v, twist per unit of that velocity)."""
Apart = tuple[Quaternion, Quaternion]
"""Rotation r and translation p of a pose r + ½ε p r."""


def forward(
    model: Model, at_world: T, step: Callable[[TreeJoint, T], T], bodies: Iterable[int] | None = None
) -> dict[int, T]:
    """A value per body from the value of its parent; the world (−1) has ``at_world``. Parents come first."""
    values = {WORLD_BODY: at_world}
    for i in range(len(model.joints)) if bodies is None else bodies:
        joint = model.joints[i]
        values[i] = step(joint, values[joint.parent])
    return values


def backward(model: Model, own: Sequence[T], join: Callable[[T, T], T]) -> list[T]:
    """A value per subtree: each body's own joined with those of its children. Children come first."""
    values = list(own)
    for i in reversed(range(len(values))):
        parent = model.joints[i].parent
        if parent != WORLD_BODY:
            values[parent] = join(values[parent], values[i])
    return values


def closing(model: Model) -> list[list[int]]:
    """For each body those whose subtrees are complete with it, children first.

    A recursion that goes back over a branch as soon as it is done keeps fewer values than one that goes out to all
    leaves first, which matters once it is compiled.
    """
    last = backward(model, list(range(len(model.joints))), max)
    result: list[list[int]] = [[] for _ in last]
    for i in reversed(range(len(last))):
        result[last[i]].append(i)
    return result


def frame_pose(model: Model, frame: Frame, q: Scalars) -> DQ:
    """x_0f of one frame: the chain of its poses."""
    r, p = chained(poses_apart(model, q, model.path(frame.body))[frame.body], frame.placement)
    return pose(r, p)


def poses(model: Model, q: Scalars, bodies: Iterable[int] | None = None) -> dict[int, DQ]:
    """x_0i = x_0p · x_pi of the bodies, with x_pi = placement · x_joint(q) and p the parent."""
    return {i: pose(r, p) for i, (r, p) in poses_apart(model, q, bodies).items()}


def poses_apart(model: Model, q: Scalars, bodies: Iterable[int] | None = None) -> dict[int, Apart]:
    """(r, p) of x_0i = r + ½ε p r: rotations multiply and positions add up, cheaper than products of poses."""

    def step(joint: TreeJoint, x_0p: Apart) -> Apart:
        return chained(chained(x_0p, joint.placement), joint.motion.pose(joint.coordinates(q)))

    return forward(model, (ONE, ZERO), step, bodies)


def chained(x_ab: Apart, x_bc: DQ) -> Apart:
    """(r, p) of x_ac = x_ab · x_bc."""
    r, p = x_ab
    return r * x_bc.primary, p + rotate(r, position(x_bc))


def adjoints(model: Model, q: Scalars, bodies: Iterable[int] | None = None) -> dict[int, Adjoint]:
    """Ad(x_0i) of the bodies, chained without going through the poses."""
    return forward(model, Adjoint.of((I, J, K)), lambda joint, ad_0p: ad_0p @ joint.adjoint(q), bodies)


def joint_columns(joint: TreeJoint, ad: Adjoint, q: Scalars) -> AxisTwists:
    """Ad(x) S: the motion subspace of a joint, seen from where ``ad`` leads."""
    return joint.columns([ad(s) for s in joint.motion.subspace(joint.coordinates(q))])


def joint_column_rates(
    joint: TreeJoint, ad: Adjoint, columns: AxisTwists, twist: DQ, q: Scalars, v: Scalars
) -> AxisTwists:
    """d/dt (Ad(x) S) = Ad(x) Ṡ + ξ × Ad(x) S with ẋ = ½ ξ x [Silva, eq. (9)]."""
    rates = [(k, cross(twist, column)) for k, column in columns]
    if joint.motion.constant_subspace:
        return rates
    own = joint.motion.subspace_rate(joint.coordinates(q), joint.rates(v))
    return [(k, rate + ad(s)) for (k, rate), s in zip(rates, own, strict=True)]


class WorldMotion:
    """World twists and world columns of bodies at a state; what every Jacobian in the world is made of.

    ``bodies`` limits the work to those bodies (parents first). Without v only columns are computed.
    """

    def __init__(self, model: Model, q: Scalars, v: Scalars | None = None, bodies: Sequence[int] | None = None) -> None:
        self.model, self.q = model, q
        self.bodies = range(len(model.joints)) if bodies is None else bodies
        self.adjoint = adjoints(model, q, self.bodies)
        joints = model.joints
        self.columns = {i: joint_columns(joints[i], self.adjoint[i], q) for i in self.bodies}
        self.twist: dict[int, DQ] = {}
        self.rates: dict[int, AxisTwists] = {}
        if v is None:
            return
        # [Silva, eq. (19)] in world coordinates: the twist of the parent plus that of the joint.
        self.twist = forward(
            model, zero_twist(), lambda joint, twist: twist + apply(self.columns[joint.index], v), self.bodies
        )
        self.rates = {
            i: joint_column_rates(joints[i], self.adjoint[i], self.columns[i], self.twist[i], q, v) for i in self.bodies
        }

    @cached_property
    def pose(self) -> dict[int, DQ]:
        """x_0i of the bodies."""
        return poses(self.model, self.q, self.bodies)

    def frame_adjoint(self, frame: Frame) -> Adjoint:
        """Ad(x_0f)."""
        return self.adjoint[frame.body] @ frame.adjoint

    def twist_rates(self, v: Scalars, a: Scalars) -> dict[int, DQ]:
        """ξ̇_i in world coordinates: Σ (S a + Ṡ v) over the path [Silva, eq. (20)]."""

        def step(joint: TreeJoint, rate: DQ) -> DQ:
            i = joint.index
            return rate + (apply(self.columns[i], a) + apply(self.rates[i], v))

        return forward(self.model, zero_twist(), step, self.bodies)

    def path_columns(self, body: int, rates: bool = False) -> dict[int, DQ]:
        """World columns (or their rates) of all axes that move a body, by index into v; mimic joints add up."""
        source = self.rates if rates else self.columns
        return added(column for i in self.model.path(body) for column in source[i])


def added(columns: Iterable[tuple[int, DQ]]) -> dict[int, DQ]:
    """AxisTwists by index into v; those of one index add up."""
    result: dict[int, DQ] = {}
    for k, column in columns:
        result[k] = result[k] + column if k in result else column
    return result


def apply(columns: AxisTwists, v: Scalars) -> DQ:
    """Σ columnₖ vₖ."""
    result: DQ | None = None
    for k, column in columns:
        term = column * v[k]
        result = term if result is None else result + term
    return zero_twist() if result is None else result
