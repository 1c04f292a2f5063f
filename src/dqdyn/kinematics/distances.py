"""Jacobians, residuals and their rates of every distance, derived from the distance itself by jets.

For a distance d(a, b) between a thing a on the robot and a thing b in the workspace,

    ḋ = J v + ζ,    J = ∂d/∂a · J_a,    ζ = ∂d/∂b · ḃ,

with J_a the Jacobian of the components of a. One formula serves all pairs; the papers' explicit ones are its instances.
:mod:`dqdyn.kinematics.named_distances` has them under the names of DQ Robotics.
Components are: point (3), line [l, m] (6), plane [n, d] (4), segment [a, b] (6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.jet import derivative, gradient
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.real import scalar_array
from dqdyn.algebra.scalar import Scalar, stack
from dqdyn.algebra.value import Value, vector
from dqdyn.errors import Error
from dqdyn.geometry import distances as geometry
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.geometry.segment import Segment

_VALUES = {"point": Point, "line": Line, "plane": Plane, "segment": Segment}
SIZE = {"point": 3, "line": 6, "plane": 4, "segment": 6}
_RAW: dict[str, Callable[[Sequence[Scalar]], Any]] = {
    "point": lambda c: pure(*c),
    "line": lambda c: DQ.of(pure(*c[:3]), pure(*c[3:])),
    "plane": lambda c: DQ.of(pure(*c[:3]), Quaternion(c[3], 0.0, 0.0, 0.0)),
    "segment": lambda c: (pure(*c[:3]), pure(*c[3:])),
}


class Distance:
    """A distance between a thing ``a`` of the robot and a thing ``b`` of the workspace, with its derivatives.

    Things are values (Point, Line, Plane, Segment), dual quaternions or components of shape (..., k); rates are
    components or dual quaternions. Jacobians of a have shape (..., k, nv); results (...,) or (..., nv).
    """

    def __init__(self, name: str, function: Callable[[Any, Any], Scalar]) -> None:
        self.name, self.function, self.__doc__ = name, function, function.__doc__
        self.a, _, self.b, *_ = name.split("_")

    def __repr__(self) -> str:
        return f"<{self.name}>"

    # --- over any scalar, on components ---

    def of(self, a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
        """The distance for components over any scalar."""
        return self.function(_RAW[self.a](a), _RAW[self.b](b))

    def gradient_a(self, a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        """∂d/∂a."""
        return gradient(lambda c: self.of(c, b), a)

    def gradient_a_rate(
        self, a: Sequence[Scalar], a_rate: Sequence[Scalar], b: Sequence[Scalar], b_rate: Sequence[Scalar]
    ) -> list[Scalar]:
        """d/dt ∂d/∂a, with both things moving."""
        n = len(a)
        return derivative(lambda c: self.gradient_a(c[:n], c[n:]), [*a, *b], [*a_rate, *b_rate])

    def rate_b(self, a: Sequence[Scalar], b: Sequence[Scalar], b_rate: Sequence[Scalar]) -> Scalar:
        """ζ = ∂d/∂b · ḃ."""
        return derivative(lambda c: [self.of(a, c)], b, b_rate)[0]

    # --- on arrays ---

    def __call__(self, a: Any, b: Any) -> Any:
        """The distance."""
        return _plain(self.of(_components(self.a, a), _components(self.b, b)))

    def jacobian(self, jacobian: Any, a: Any, b: Any) -> np.ndarray:
        """J (..., nv) with ḋ = J v where b is at rest [Quiroz, eq. (3.9)]; of two points [Quiroz, eq. (4.21)]."""
        return _row(self.gradient_a(_components(self.a, a), _components(self.b, b)), self._checked(jacobian))

    def residual(self, a: Any, b: Any, b_rate: Any) -> Any:
        """ζ: what the motion of b adds to ḋ [Quiroz, eq. (3.9)]; of two points [Quiroz, eq. (4.21)]."""
        return _plain(self.rate_b(_components(self.a, a), _components(self.b, b), _components(self.b, b_rate)))

    def jacobian_derivative(
        self, jacobian: Any, jacobian_rate: Any, a: Any, a_rate: Any, b: Any, b_rate: Any = None
    ) -> np.ndarray:
        """J̇ (..., nv) along the motion of both things, so that d̈ = J a + J̇ v + ζ̇."""
        ca, cb = _components(self.a, a), _components(self.b, b)
        va, vb = _components(self.a, a_rate), self._rate_or_rest(b_rate)
        first = _row(self.gradient_a_rate(ca, va, cb, vb), self._checked(jacobian))
        return first + _row(self.gradient_a(ca, cb), self._checked(jacobian_rate))

    def residual_derivative(self, a: Any, a_rate: Any, b: Any, b_rate: Any, b_acceleration: Any) -> Any:
        """ζ̇ with b moving by its rate and acceleration."""
        ca, cb, vb = (
            _components(self.a, a),
            _components(self.b, b),
            _components(self.b, b_rate),
        )
        va, wb = _components(self.a, a_rate), _components(self.b, b_acceleration)
        n, m = len(ca), len(cb)
        rate = derivative(lambda c: [self.rate_b(c[:n], c[n : n + m], c[n + m :])], [*ca, *cb, *vb], [*va, *vb, *wb])
        return _plain(rate[0])

    def _rate_or_rest(self, rate: Any) -> list[Scalar]:
        return [0.0] * SIZE[self.b] if rate is None else _components(self.b, rate)

    def _checked(self, jacobian: Any) -> np.ndarray:
        array = scalar_array(jacobian, f"the Jacobian of {self.name}")
        if array.ndim < 2 or array.shape[-2] != SIZE[self.a]:
            raise Error(
                f"{self.name} needs the Jacobian of a {self.a}, numbers of shape (..., {SIZE[self.a]}, nv); "
                f"found the shape {array.shape}.",
                expected=SIZE[self.a],
                found=array.shape,
            )
        return array


def _row(gradient: list[Scalar], jacobian: np.ndarray) -> np.ndarray:
    row = stack(gradient)[..., None, :]
    try:
        return (row @ jacobian)[..., 0, :]
    except ValueError:
        shapes = f"{row.shape[:-2]} of the things and {jacobian.shape[:-2]} of the Jacobian"
        raise Error(f"Batches of shapes {shapes} do not go together: make them equal or 1.", found=shapes) from None


def _plain(x: Scalar) -> Any:
    return float(x) if isinstance(x, np.floating) else x


def _components(kind: str, thing: Any) -> list[Scalar]:
    """Components of a value, a dual quaternion, or an array of shape (..., k)."""
    if not isinstance(thing, (Value, DQ)):
        return vector(thing, SIZE[kind], f"A {kind}, or its rate,")
    if not isinstance(thing, (_VALUES[kind], DQ)) or (kind == "segment" and isinstance(thing, DQ)):
        raise Error(f"A {kind} is needed here, or its {SIZE[kind]} components; found {thing!r}.", expected=kind)
    dq = thing if isinstance(thing, DQ) else thing.dq
    p, d = dq.primary, dq.dual
    return list({"point": p.vector, "plane": (*p.vector, d.w)}.get(kind, (*p.vector, *d.vector)))


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

DISTANCES = {
    distance.name: distance
    for distance in (
        point_to_point,
        point_to_line,
        point_to_plane,
        point_to_segment,
        line_to_point,
        line_to_line,
        line_to_line_angle,
        line_to_line_phi,
        line_to_segment,
        plane_to_point,
        segment_to_segment,
        segment_to_plane,
    )
}
