"""Curves on the manifold of a joint: q(t) = q₀ ⊞ w(t), with w in the tangent space at q₀, over any scalar.

⊞ is ``integrate`` for unit time: q₀ + w for angles and lengths, q₀ exp(w) for quaternions and poses.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.poses import pose
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.arrays import Array
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.model.joints.joint_kind import JointKind

Components = Callable[[Scalars], list[Scalar]]
"""How q is given to others: as it is, or a pose as vec8."""


def is_flat(kind: JointKind) -> bool:
    """Whether ⊞ is the plain sum."""
    own = type(kind)
    return own.integrate is JointKind.integrate and own.difference is JointKind.difference


def as_it_is(q: Scalars) -> list[Scalar]:
    """q itself."""
    return list(q)


def as_vec8(q: Scalars) -> list[Scalar]:
    """vec8 of the q of a free joint."""
    return list(pose(Quaternion(*q[:4]), pure(*q[4:])).components)


def chart_motion(
    kind: JointKind, components: Components, q0: Scalars, w: Scalars, rate: Scalars, second: Scalars
) -> tuple[list[Scalar], ...]:
    """Components of q = q₀ ⊞ w, their first and second rates, and v and its rate, for w with those rates.

    As seen from q, the way to a moment later is τ v + ½ τ² v̇ + O(τ³), whatever the curve.
    """

    def place(c: list[Scalar]) -> list[Scalar]:
        later = [a + c[0] * (b + 0.5 * c[0] * d) for a, b, d in zip(w, rate, second, strict=True)]
        return kind.integrate(q0, later, 1.0)

    here = place([0.0])
    shown = lambda c: components(place(c))
    leaving = lambda c: kind.difference(here, place(c))
    return (
        components(here),
        *(_first(shown), _second(shown)),
        *(_first(leaving), _second(leaving)),
    )


def _first(function: Callable[[list[Scalar]], list[Scalar]]) -> list[Scalar]:
    return derivative(function, [0.0], [1.0])


def _second(function: Callable[[list[Scalar]], list[Scalar]]) -> list[Scalar]:
    return derivative(lambda c: derivative(function, c, [1.0]), [0.0], [1.0])


@cache
def compiled_chart(kind: JointKind, components: Components) -> Callable[..., Array]:
    """:func:`chart_motion` of one kind, compiled: (q₀, w, ẇ, ẅ) → all its results in one row."""
    inputs = [("q0", kind.nq), ("w", kind.nv), ("rate", kind.nv), ("second", kind.nv)]

    def algorithm(*arguments: list[Scalar]) -> tuple[list[Scalar], tuple[int, ...]]:
        row = [c for part in chart_motion(kind, components, *arguments) for c in part]
        return row, (len(row),)

    return Function(trace(f"curve of a {kind.name} joint", inputs, algorithm)).fast


@cache
def compiled_difference(kind: JointKind) -> Callable[..., Array]:
    """The way from one q to another, compiled."""
    inputs = [("q0", kind.nq), ("q1", kind.nq)]
    way = lambda q0, q1: (kind.difference(q0, q1), (kind.nv,))
    return Function(trace(f"way of a {kind.name} joint", inputs, way)).fast
