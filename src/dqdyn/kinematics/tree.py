"""The recursions over the tree, written once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from dqdyn.algebra.dual import DQ, IDENTITY
from dqdyn.algebra.functions import Adjoint, cross, zero_twist
from dqdyn.algebra.scalar import Scalar
from dqdyn.model.model import WORLD_BODY, Model, TreeJoint

T = TypeVar("T")
Columns = list[tuple[int, DQ]]
"""(index into v, twist per unit of that velocity)."""


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


def poses(model: Model, q: Sequence[Scalar], bodies: Iterable[int] | None = None) -> dict[int, DQ]:
    """x_0i of the bodies: x_0i = x_0p · placement · x_joint(q)."""
    return forward(
        model, IDENTITY, lambda joint, x: x * (joint.placement * joint.motion.pose(joint.coordinates(q))), bodies
    )


def world_columns(joint: TreeJoint, ad: Adjoint, q: Sequence[Scalar]) -> Columns:
    """Ad(x_0i) S_i: what each axis of joint i adds to the world twist of its body, per unit of velocity."""
    return joint.columns([ad(s) for s in joint.motion.subspace(joint.coordinates(q))])


def world_column_rates(
    joint: TreeJoint, ad: Adjoint, columns: Columns, twist: DQ, q: Sequence[Scalar], v: Sequence[Scalar]
) -> Columns:
    """d/dt (Ad(x_0i) S_i) = Ad(x_0i) Ṡ_i + ξ_i × Ad(x_0i) S_i [Silva, eq. (9)], ξ_i the world twist of body i."""
    rates = [(k, cross(twist, column)) for k, column in columns]
    if joint.motion.constant_subspace:
        return rates
    own = joint.motion.subspace_rate(joint.coordinates(q), joint.rates(v))
    return [(k, rate + ad(s)) for (k, rate), s in zip(rates, own, strict=True)]


class Motion:
    """Poses, world twists and world columns of bodies at a state; what every Jacobian is made of.

    ``bodies`` limits the work to those bodies (parents first). Without v only poses and columns are computed.
    """

    def __init__(
        self, model: Model, q: Sequence[Scalar], v: Sequence[Scalar] | None = None, bodies: Sequence[int] | None = None
    ) -> None:
        self.model, self.bodies = model, range(len(model.joints)) if bodies is None else bodies
        self.pose = poses(model, q, self.bodies)
        adjoints = {i: Adjoint(self.pose[i]) for i in self.bodies}
        joints = model.joints
        self.columns = {i: world_columns(joints[i], adjoints[i], q) for i in self.bodies}
        self.twist: dict[int, DQ] = {}
        self.rates: dict[int, Columns] = {}
        if v is None:
            return
        # [Silva, eq. (19)] in world coordinates: the twist of the parent plus that of the joint.
        self.twist = forward(
            model, zero_twist(), lambda joint, twist: twist + apply(self.columns[joint.index], v), self.bodies
        )
        self.rates = {
            i: world_column_rates(joints[i], adjoints[i], self.columns[i], self.twist[i], q, v) for i in self.bodies
        }

    def twist_rates(self, v: Sequence[Scalar], a: Sequence[Scalar]) -> dict[int, DQ]:
        """ξ̇_i in world coordinates: Σ (S a + Ṡ v) over the path [Silva, eq. (20)]."""

        def step(joint: TreeJoint, rate: DQ) -> DQ:
            i = joint.index
            return rate + (apply(self.columns[i], a) + apply(self.rates[i], v))

        return forward(self.model, zero_twist(), step, self.bodies)

    def path_columns(self, body: int, rates: bool = False) -> dict[int, DQ]:
        """World columns (or their rates) of all axes that move a body, by index into v; mimic joints add up."""
        source = self.rates if rates else self.columns
        result: dict[int, DQ] = {}
        for i in self.model.path(body):
            for k, column in source[i]:
                result[k] = result[k] + column if k in result else column
        return result


def apply(columns: Columns, v: Sequence[Scalar]) -> DQ:
    """Σ columnₖ vₖ."""
    result: DQ | None = None
    for k, column in columns:
        term = column * v[k]
        result = term if result is None else result + term
    return zero_twist() if result is None else result
