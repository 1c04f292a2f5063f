"""Points, lines and planes as values with meaning, for users; algorithms work on ``Quaternion`` and ``DQ``."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.checks import UNIT_TOLERANCE
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, cross3, dot3, pure
from dqdyn.algebra.real import any_array
from dqdyn.algebra.scalar import Scalar, is_numeric, stack
from dqdyn.algebra.value import Value, batch_shape, require_broadcast, vector
from dqdyn.algebra.values import Pose
from dqdyn.arrays import Array, RealNumber, Reals
from dqdyn.errors import Error
from dqdyn.geometry.checks import require_finite, require_unit, unit_between

T = TypeVar("T", bound="Primitive")
COLLINEAR = 1e-12  # sine of the angle at a corner below which three points span no plane


class Primitive(Value):
    """Shared by points, lines, planes and segments. ``x_ab * primitive`` takes it from frame b to a."""

    __slots__ = ()

    def moved_by(self: T, x: Pose) -> T:
        require_broadcast(x.shape, self.shape)
        return type(self).of(self._moved(Adjoint(x.dq)))

    def _moved(self, motion: Adjoint) -> DQ:
        raise NotImplementedError

    def _array(self, q: Quaternion) -> Array:
        return stack(q.vector, batch=self.shape)

    def _show(self, **parts: Any) -> str:
        name = type(self).__name__
        if self.shape:
            return f"<{name} batch of shape {self.shape}>"
        return f"{name}({', '.join(f'{key}={_short(part)}' for key, part in parts.items())})"


class Point(Primitive):
    """The point p, a pure quaternion: ``Point([x, y, z])`` in m, or (..., 3) for a batch."""

    PLACES = (1, 2, 3)
    __slots__ = ()

    def __init__(self, position: Reals | Point) -> None:
        super().__init__(DQ.of(pure(*vector(position, 3, "A point"))))

    @property
    def position(self) -> Array:
        """Coordinates in m, shape (..., 3)."""
        own = self._own(3)
        return self._array(self.dq.primary) if own is None else own

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.position, dtype=dtype)

    def _moved(self, motion: Adjoint) -> DQ:
        return DQ.of(motion.rotate(self.dq.primary) + motion.p)

    def __repr__(self) -> str:
        return f"<Point batch of shape {self.shape}>" if self.shape else f"Point({_short(self.position)})"


class Line(Primitive):
    """The Plücker line l + εm with m = p × l [Quiroz, eq. (4.24)]: ``Line(direction, point)``, direction of length 1.

    A line is directed: ``l + εm`` and ``−l − εm`` are the same set of points, but not equal.
    """

    PLACES = (1, 2, 3, 5, 6, 7)
    __slots__ = ()

    def __init__(self, direction: Reals, point: Reals | Point) -> None:
        l, p = vector(direction, 3, "The direction of a line"), vector(point, 3, "A point of a line")
        require_unit(l, "The direction of a line", "or use Line.from_points(a, b)")
        super().__init__(_line(pure(*l), pure(*p)))

    @classmethod
    def from_points(cls, a: Reals | Point, b: Reals | Point) -> Line:
        """The line through two distinct points, directed from a to b."""
        start, end = vector(a, 3, "A point of a line"), vector(b, 3, "A point of a line")
        return cls.of(_line(unit_between(start, end, "A line needs two distinct points"), pure(*start)))

    @classmethod
    def from_plucker(cls, l: Reals, m: Reals) -> Line:
        """The line of a unit direction l and a moment m in m, which is perpendicular to l."""
        direction, moment = vector(l, 3, "The direction of a line"), vector(m, 3, "The moment of a line")
        require_unit(direction, "The direction of a line", "and the moment too")
        require_broadcast(batch_shape(direction[0]), batch_shape(moment[0]))
        if all(is_numeric(c) for c in (*direction, *moment)):
            mixed = np.abs(dot3(pure(*direction), pure(*moment)))
            if not np.all(mixed <= UNIT_TOLERANCE * np.maximum(1.0, np.abs(stack(moment)).max(-1))):
                raise Error(
                    f"The moment of a line is perpendicular to its direction, found ⟨l, m⟩ = {np.max(mixed):.6g}: "
                    "use m = p × l with a point p of the line.",
                    found=mixed,
                )
        return cls.of(DQ.of(pure(*direction), pure(*moment)))

    @property
    def direction(self) -> Array:
        """l, shape (..., 3)."""
        return self._array(self.dq.primary)

    @property
    def moment(self) -> Array:
        """m = p × l in m, for any point p of the line, shape (..., 3)."""
        return self._array(self.dq.dual)

    @property
    def closest_point_to_origin(self) -> Point:
        """l × m."""
        return Point.of(DQ.of(cross3(self.dq.primary, self.dq.dual)))

    def _moved(self, motion: Adjoint) -> DQ:
        return motion(self.dq)

    def __repr__(self) -> str:
        return self._show(direction=self.direction, point=self.closest_point_to_origin.position)


class Plane(Primitive):
    """The plane n + εd of the points with ⟨p, n⟩ = d: ``Plane(normal, point)`` or ``Plane(normal, distance=d)``.

    The normal has length 1 and points to the positive side; d in m is how far along it the plane is from the origin.
    """

    PLACES = (1, 2, 3, 4)
    __slots__ = ()

    def __init__(
        self, normal: Reals, point: Reals | Point | None = None, *, distance: RealNumber | Reals | None = None
    ) -> None:
        if (point is None) == (distance is None):
            raise Error("A plane needs either a point or distance=..., and not both.")
        n = vector(normal, 3, "The normal of a plane")
        require_unit(n, "The normal of a plane", "or use Plane.from_points(a, b, c)")
        if point is None:
            d = _one_number(distance, "The distance of a plane")
            require_broadcast(batch_shape(n[0]), batch_shape(d))
            dq = _plane(pure(*n), d)
        else:
            dq = _plane_through(pure(*n), pure(*vector(point, 3, "A point of a plane")))
        super().__init__(dq)

    @classmethod
    def from_points(cls, a: Reals | Point, b: Reals | Point, c: Reals | Point) -> Plane:
        """The plane through three points; seen from its positive side they turn counter-clockwise."""
        points = [vector(p, 3, "A point of a plane") for p in (a, b, c)]
        what = "A plane needs three points that are not on one line"
        u, v = (unit_between(points[0], p, what) for p in points[1:])
        require_broadcast(batch_shape(u.x), batch_shape(v.x))
        n = list(cross3(u, v).vector)
        if all(is_numeric(x) for x in n) and np.any(np.abs(stack(n)).max(-1) < COLLINEAR):
            raise Error(f"{what}: move one of them.", found=points)
        return cls.of(_plane_through(unit_between([0.0, 0.0, 0.0], n, what), pure(*points[0])))

    @property
    def normal(self) -> Array:
        """n, shape (..., 3)."""
        return self._array(self.dq.primary)

    @property
    def distance(self) -> Any:
        """d in m, signed, from the origin to the plane along n; a float, or shape (...) for a batch."""
        d = self.dq.dual.w
        return np.broadcast_to(d, self.shape).copy() if self.shape else d

    def side(self, point: Reals | Point) -> Any:
        """1.0 for a point on the side to which the normal points, −1.0 on the other, 0.0 in the plane."""
        p = vector(point, 3, "A point")
        require_broadcast(batch_shape(p[0]), self.shape)
        return np.sign(dot3(pure(*p), self.dq.primary) - self.dq.dual.w)

    def _moved(self, motion: Adjoint) -> DQ:
        # Ad♯(x) without the parts that vanish: the normal turns, and its distance grows by the shift along it.
        n = motion.rotate(self.dq.primary)
        return _plane(n, self.dq.dual.w + dot3(motion.p, n))

    def __repr__(self) -> str:
        return self._show(normal=self.normal, distance=self.distance)


def _line(l: Quaternion, p: Quaternion) -> DQ:
    require_broadcast(batch_shape(l.x), batch_shape(p.x))
    with np.errstate(over="ignore", invalid="ignore"):
        return require_finite(DQ.of(l, cross3(p, l)), "line")


def _plane_through(n: Quaternion, p: Quaternion) -> DQ:
    require_broadcast(batch_shape(n.x), batch_shape(p.x))
    with np.errstate(over="ignore", invalid="ignore"):
        return require_finite(_plane(n, dot3(p, n)), "plane")


def _plane(n: Quaternion, d: Scalar) -> DQ:
    return DQ.of(n, Quaternion(d, 0.0, 0.0, 0.0))


def _one_number(value: Any, what: str) -> Scalar:
    return vector(any_array(value, what)[..., None], 1, what)[0]


def _short(part: Any) -> str:
    array = np.asarray(part)
    if array.dtype == object:
        return str(array.tolist())
    digits = [float(f"{c:.6g}") + 0.0 for c in array.ravel()]
    return str(digits if array.ndim else digits[0])
