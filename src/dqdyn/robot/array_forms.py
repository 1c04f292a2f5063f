"""The array forms of methods that give poses, twists, points, lines and planes, as machine code."""

from __future__ import annotations

from dqdyn.arrays import Array, Out, Reals
from dqdyn.compile.runtime.method import compiled_method
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.kinematics.frames import Expressed
from dqdyn.robot.named_methods import NamedMethods
from dqdyn.robot.options import FrameName, Options

LocalPoint = Point | Reals
LocalLine = Line | Reals
LocalPlane = Plane | Reals


def hands(frame1: FrameName, frame2: FrameName) -> Options:
    """The options of functions of two frames."""
    return Options(frame1=frame1, frame2=frame2)


class ArrayForms(NamedMethods):
    """Arrays of numbers behind the values that methods of a robot give."""

    __slots__ = ()

    @compiled_method(inputs=1)
    def _pose(self, frame: FrameName, q: Reals, *, out: Out = None, check: bool = True) -> Array:
        """vec8 of :meth:`pose`."""
        return self._run("pose", (q,), Options(frame=frame), out=out, check=check)

    @compiled_method(inputs=1)
    def _poses(self, q: Reals, *, out: Out = None, check: bool = True) -> Array:
        """vec8 of all frames (..., frames, 8)."""
        return self._run("poses", (q,), out=out, check=check)

    @compiled_method(inputs=2, option="expressed")
    def _twist(
        self,
        frame: FrameName,
        q: Reals,
        v: Reals,
        expressed: Expressed = "body",
        *,
        out: Out = None,
        check: bool = True,
    ) -> Array:
        """[ω, v] of :meth:`twist`."""
        return self._run("twist", (q, v), Options(frame=frame, expressed=expressed), out=out, check=check)

    @compiled_method(inputs=3, option="expressed")
    def _twist_rate(
        self,
        frame: FrameName,
        q: Reals,
        v: Reals,
        a: Reals,
        expressed: Expressed = "body",
        *,
        out: Out = None,
        check: bool = True,
    ) -> Array:
        """Components of :meth:`twist_rate`."""
        return self._run("twist_rate", (q, v, a), Options(frame=frame, expressed=expressed), out=out, check=check)

    @compiled_method(inputs=2)
    def _point_on(self, frame: FrameName, q: Reals, point: LocalPoint, *, check: bool = True) -> Array:
        """Coordinates of :meth:`point`."""
        return self._run("point_on", (q, point), Options(frame=frame), check=check)

    @compiled_method(inputs=2)
    def _line_on(self, frame: FrameName, q: Reals, line: LocalLine, *, check: bool = True) -> Array:
        """[l, m] of :meth:`line`."""
        return self._run("line_on", (q, line), Options(frame=frame), check=check)

    @compiled_method(inputs=2)
    def _plane_on(self, frame: FrameName, q: Reals, plane: LocalPlane, *, check: bool = True) -> Array:
        """[n, d] of :meth:`plane`."""
        return self._run("plane_on", (q, plane), Options(frame=frame), check=check)

    @compiled_method(inputs=1)
    def _relative_pose(self, frame1: FrameName, frame2: FrameName, q: Reals, *, check: bool = True) -> Array:
        """vec8 of :meth:`relative_pose`."""
        return self._run("relative_pose", (q,), hands(frame1, frame2), check=check)

    @compiled_method(inputs=1)
    def _absolute_pose(self, frame1: FrameName, frame2: FrameName, q: Reals, *, check: bool = True) -> Array:
        """vec8 of :meth:`absolute_pose`."""
        return self._run("absolute_pose", (q,), hands(frame1, frame2), check=check)
