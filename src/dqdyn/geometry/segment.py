"""The segment between two points, as a value."""

from __future__ import annotations

from typing import Any

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import pure
from dqdyn.algebra.scalar import sqrt
from dqdyn.algebra.value import batch_shape, require_broadcast, vector
from dqdyn.arrays import Reals
from dqdyn.geometry.primitives import Line, Point, Primitive


class Segment(Primitive):
    """The points between a and b: ``Segment(a, b)`` with points or arrays of shape (..., 3) in m.

    Equal ends are allowed: the segment is then that point. Its ``dq`` only stores the ends, as ``a + εb``.
    """

    __slots__ = ()

    def __init__(self, a: Reals | Point, b: Reals | Point) -> None:
        start, end = vector(a, 3, "An end of a segment"), vector(b, 3, "An end of a segment")
        require_broadcast(batch_shape(start[0]), batch_shape(end[0]))
        super().__init__(DQ.of(pure(*start), pure(*end)))

    @property
    def a(self) -> Point:
        """The first end."""
        return Point(self._array(self.dq.primary))

    @property
    def b(self) -> Point:
        """The last end."""
        return Point(self._array(self.dq.dual))

    @property
    def line(self) -> Line:
        """The line of the segment, directed from a to b; an error where the ends are equal."""
        return Line.from_points(self.a, self.b)

    @property
    def length(self) -> Any:
        """‖b − a‖ in m, a float, or shape (...) for a batch."""
        return sqrt((self.dq.dual - self.dq.primary).norm_squared())

    def _moved(self, motion: Adjoint) -> DQ:
        a, b = self.dq.primary, self.dq.dual
        return DQ.of(motion.rotate(a) + motion.p, motion.rotate(b) + motion.p)

    def __repr__(self) -> str:
        return self._show(a=self.a.position, b=self.b.position)
