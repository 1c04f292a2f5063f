"""The error of a joint that follows a reference on its manifold, and the acceleration that governs it; any scalar.

The error e is the way from q to q_d, e = log(x* x_d) for quaternions and poses. With v̇ = a its second rate is
ë = ë₀ − J⁻¹ a, where ë₀ is that of a motion without acceleration and J = J(−e) the derivative of ⊞ at −e. So

    a = J(−e) (ë₀ + K_D ė + K_P e)    makes    ë + K_D ė + K_P e = 0    exactly;

for angles and lengths J = 1 and ë₀ = q̈_d, and a is the paper's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from dqdyn.algebra.jet import derivative
from dqdyn.algebra.scalar import Scalar, Scalars
from dqdyn.arrays import Array
from dqdyn.compile.runtime.function import Function
from dqdyn.compile.trace.tracer import trace
from dqdyn.model.joints.joint_kind import JointKind


def error_motion(
    kind: JointKind, q: Scalars, v: Scalars, q_d: Scalars, v_d: Scalars, a_d: Scalars
) -> tuple[list[Scalar], list[Scalar], list[Scalar]]:
    """e, ė and ë₀ (nv each) of a joint at q with v, whose reference is at q_d with v_d and a_d."""

    def error(c: list[Scalar]) -> list[Scalar]:
        wanted = [c[0] * (w + 0.5 * c[0] * a) for w, a in zip(v_d, a_d, strict=True)]
        return kind.difference(kind.integrate(q, v, c[0]), kind.integrate(q_d, wanted, 1.0))

    def rate(c: list[Scalar]) -> list[Scalar]:
        return derivative(error, c, [1.0])

    return error([0.0]), rate([0.0]), derivative(rate, [0.0], [1.0])


def acceleration_of(kind: JointKind, error: Scalars, wanted: Scalars) -> list[Scalar]:
    """J(−e) y (nv): the acceleration by which ë is smaller by y, for a joint whose q is an element of a group."""
    back = kind.integrate(kind.neutral(), [-c for c in error], 1.0)

    def aside(c: list[Scalar]) -> list[Scalar]:
        later = [c[0] * y - e for e, y in zip(error, wanted, strict=True)]
        return kind.difference(back, kind.integrate(kind.neutral(), later, 1.0))

    return derivative(aside, [0.0], [1.0])


def velocities_of_rates(
    kind: JointKind, q: Scalars, rate: Scalars, second: Scalars
) -> tuple[list[Scalar], list[Scalar]]:
    """v and v̇ (nv) of a joint whose coordinates (nq) move with q̇ and q̈."""

    def way(c: list[Scalar]) -> list[Scalar]:
        return kind.difference(q, [a + c[0] * (b + 0.5 * c[0] * d) for a, b, d in zip(q, rate, second, strict=True)])

    def first(c: list[Scalar]) -> list[Scalar]:
        return derivative(way, c, [1.0])

    return first([0.0]), derivative(first, [0.0], [1.0])


@cache
def compiled_error(kind: JointKind) -> Callable[..., Array]:
    """:func:`error_motion`, compiled: its results in one row (3 nv)."""
    sizes = [("q", kind.nq), ("v", kind.nv), ("q_d", kind.nq), ("v_d", kind.nv), ("a_d", kind.nv)]
    return _compiled("error", kind, sizes, lambda *given: [c for part in error_motion(kind, *given) for c in part])


@cache
def compiled_acceleration(kind: JointKind) -> Callable[..., Array]:
    """:func:`acceleration_of`, compiled."""
    sizes = [("error", kind.nv), ("wanted", kind.nv)]
    return _compiled("acceleration", kind, sizes, lambda *given: acceleration_of(kind, *given))


@cache
def compiled_velocities(kind: JointKind) -> Callable[..., Array]:
    """:func:`velocities_of_rates`, compiled: its results in one row (2 nv)."""
    sizes = [("q", kind.nq), ("rate", kind.nq), ("second", kind.nq)]
    row = lambda *given: [c for part in velocities_of_rates(kind, *given) for c in part]
    return _compiled("velocities", kind, sizes, row)


def _compiled(
    what: str, kind: JointKind, sizes: list[tuple[str, int]], algorithm: Callable[..., list[Scalar]]
) -> Callable[..., Array]:
    def shaped(*given: list[Scalar]) -> tuple[list[Scalar], tuple[int, ...]]:
        row = algorithm(*given)
        return row, (len(row),)

    return Function(trace(f"{what} of a {kind.name} joint", sizes, shaped)).fast
