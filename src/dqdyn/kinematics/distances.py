"""Jacobians, residuals and their rates of every distance, derived from the distance itself by jets.

For a distance d(a, b) between a primitive a on the robot and a primitive b in the workspace,

    ḋ = J v + ζ,    J = ∂d/∂a · J_a,    ζ = ∂d/∂b · ḃ,

with J_a the Jacobian of the components of a. One formula serves all pairs; the papers' explicit ones are its instances.
:mod:`dqdyn.kinematics.named_distances` has them under the names of DQ Robotics.
Components are: point (3), line [l, m] (6), plane [n, d] (4), segment [a, b] (6).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative, gradient
from dqdyn.algebra.quaternion import pure, real
from dqdyn.algebra.real import scalar_array
from dqdyn.algebra.scalar import Scalar, Scalars, stack
from dqdyn.algebra.value import Value, vector
from dqdyn.arrays import Array, RealArray, Reals
from dqdyn.errors import Error
from dqdyn.geometry import distances as geometry
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.geometry.segment import Segment

Argument: TypeAlias = Value | DQ | Reals
"""A primitive, or its rate, as users give it."""

_VALUES = {"point": Point, "line": Line, "plane": Plane, "segment": Segment}
SIZE = {"point": 3, "line": 6, "plane": 4, "segment": 6}
_RAW: dict[str, Callable[[Scalars], Any]] = {
    "point": lambda c: pure(*c),
    "line": DQ.of6,
    "plane": lambda c: DQ.of(pure(*c[:3]), real(c[3])),
    "segment": lambda c: (pure(*c[:3]), pure(*c[3:])),
}


class Distance:
    """A distance between a primitive ``a`` of the robot and a primitive ``b`` of the workspace, with its derivatives.

    Primitives are values (Point, Line, Plane, Segment), dual quaternions or components of shape (..., k); rates are
    components or dual quaternions. Jacobians of a have shape (..., k, nv); results (...,) or (..., nv).
    """

    def __init__(self, name: str, function: Callable[[Any, Any], Scalar]) -> None:
        self.name, self.function, self.__doc__ = name, function, function.__doc__
        self.a, _, self.b, *_ = name.split("_")

    def __repr__(self) -> str:
        return f"<{self.name}>"

    # --- over any scalar, on components ---

    def of(self, a: Scalars, b: Scalars) -> Scalar:
        """The distance for components over any scalar."""
        return self.function(_RAW[self.a](a), _RAW[self.b](b))

    def gradient_a(self, a: Scalars, b: Scalars) -> list[Scalar]:
        """∂d/∂a."""
        return gradient(lambda c: self.of(c, b), a)

    def gradient_a_rate(self, a: Scalars, a_rate: Scalars, b: Scalars, b_rate: Scalars) -> list[Scalar]:
        """d/dt ∂d/∂a, with both primitives moving."""
        n = len(a)
        return derivative(lambda c: self.gradient_a(c[:n], c[n:]), [*a, *b], [*a_rate, *b_rate])

    def rate_b(self, a: Scalars, b: Scalars, b_rate: Scalars) -> Scalar:
        """ζ = ∂d/∂b · ḃ."""
        return derivative(lambda c: [self.of(a, c)], b, b_rate)[0]

    # --- on arrays ---

    def __call__(self, a: Argument, b: Argument) -> Any:
        """The distance."""
        return _plain(self.of(_components(self.a, a), _components(self.b, b)))

    def jacobian(self, jacobian: RealArray, a: Argument, b: Argument) -> Array:
        """J (..., nv) with ḋ = J v where b is at rest [Quiroz, eq. (3.9)]; of two points [Quiroz, eq. (4.21)]."""
        return _row(self.gradient_a(_components(self.a, a), _components(self.b, b)), self._checked(jacobian))

    def residual(self, a: Argument, b: Argument, b_rate: Argument) -> Any:
        """ζ: what the motion of b adds to ḋ [Quiroz, eq. (3.9)]; of two points [Quiroz, eq. (4.21)]."""
        return _plain(self.rate_b(_components(self.a, a), _components(self.b, b), _components(self.b, b_rate)))

    def jacobian_derivative(
        self,
        jacobian: RealArray,
        jacobian_rate: RealArray,
        a: Argument,
        a_rate: Argument,
        b: Argument,
        b_rate: Argument | None = None,
    ) -> Array:
        """J̇ (..., nv) along the motion of both primitives, so that d̈ = J a + J̇ v + ζ̇."""
        ca, cb = _components(self.a, a), _components(self.b, b)
        va = _components(self.a, a_rate)
        vb = [0.0] * SIZE[self.b] if b_rate is None else _components(self.b, b_rate)
        first = _row(self.gradient_a_rate(ca, va, cb, vb), self._checked(jacobian))
        return first + _row(self.gradient_a(ca, cb), self._checked(jacobian_rate))

    def residual_derivative(
        self, a: Argument, a_rate: Argument, b: Argument, b_rate: Argument, b_acceleration: Argument
    ) -> Any:
        """ζ̇ with b moving by its rate and acceleration."""
        ca, va = _components(self.a, a), _components(self.a, a_rate)
        cb, vb, wb = (_components(self.b, given) for given in (b, b_rate, b_acceleration))
        n, m = len(ca), len(cb)
        rate = derivative(lambda c: [self.rate_b(c[:n], c[n : n + m], c[n + m :])], [*ca, *cb, *vb], [*va, *vb, *wb])
        return _plain(rate[0])

    def _checked(self, jacobian: RealArray) -> Array:
        array = scalar_array(jacobian, f"the Jacobian of {self.name}")
        if array.ndim < 2 or array.shape[-2] != SIZE[self.a]:
            raise Error(
                f"{self.name} needs the Jacobian of a {self.a}, numbers of shape (..., {SIZE[self.a]}, nv); "
                f"found the shape {array.shape}.",
                expected=SIZE[self.a],
                found=array.shape,
            )
        return array


def _row(gradient: list[Scalar], jacobian: Array) -> Array:
    row = stack(gradient)[..., None, :]
    try:
        product: Array = row @ jacobian
        return product[..., 0, :]
    except ValueError:
        shapes = f"{row.shape[:-2]} of the primitives and {jacobian.shape[:-2]} of the Jacobian"
        raise Error(f"Batches of shapes {shapes} cannot be combined: make them equal or 1.", found=shapes) from None


def _plain(x: Scalar) -> Any:
    return float(x) if isinstance(x, np.floating) else x


def _components(kind: str, given: Argument) -> list[Scalar]:
    """Components of a value, a dual quaternion, or an array of shape (..., k)."""
    if not isinstance(given, (Value, DQ)):
        return vector(given, SIZE[kind], f"A {kind}, or its rate,")
    if not isinstance(given, (_VALUES[kind], DQ)) or (kind == "segment" and isinstance(given, DQ)):
        raise Error(f"A {kind} is needed here, or its {SIZE[kind]} components; found {given!r}.", expected=kind)
    dq = given if isinstance(given, DQ) else given.dq
    p = dq.primary.vector
    return list({"point": p, "plane": (*p, dq.dual.w)}.get(kind, dq.vector))


point_to_point = Distance("point_to_point", geometry.point_to_point_squared_distance)
point_to_line = Distance("point_to_line", geometry.point_to_line_squared_distance)
point_to_plane = Distance("point_to_plane", geometry.point_to_plane_distance)
point_to_segment = Distance("point_to_segment", geometry.point_to_segment_squared_distance)
line_to_point = Distance("line_to_point", lambda l, p: geometry.point_to_line_squared_distance(p, l))
line_to_line = Distance("line_to_line", geometry.line_to_line_squared_distance)
line_to_line_angle = Distance("line_to_line_angle", geometry.line_to_line_angle_function)
line_to_line_phi = Distance("line_to_line_phi", geometry.line_to_line_angle)
line_to_segment = Distance("line_to_segment", geometry.line_to_segment_squared_distance)
plane_to_point = Distance("plane_to_point", lambda n, p: geometry.point_to_plane_distance(p, n))
segment_to_segment = Distance("segment_to_segment", geometry.segment_to_segment_squared_distance)
segment_to_plane = Distance("segment_to_plane", geometry.segment_to_plane_distance)

DISTANCES = {value.name: value for value in list(globals().values()) if isinstance(value, Distance)}
"""All of the above by name."""
