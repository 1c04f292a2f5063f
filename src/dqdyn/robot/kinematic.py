"""The kinematic methods of :class:`dqdyn.Robot`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dqdyn.algebra.any_pose import PoseLike
from dqdyn.algebra.values import Pose, Twist
from dqdyn.arrays import Array, Out, Reals, Times
from dqdyn.compile.runtime.method import compiled_method
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.kinematics.frame_poses import Poses
from dqdyn.kinematics.frames import Expressed
from dqdyn.robot.named_methods import NamedMethods
from dqdyn.robot.options import FrameName, Options

if TYPE_CHECKING:
    from dqdyn.robot.manipulability import Measure


def _constant(numbers: list[float]) -> Array:
    array = np.array(numbers)
    array.setflags(write=False)
    return array


LocalPoint = Point | Reals
LocalLine = Line | Reals
LocalPlane = Plane | Reals
Seed = np.random.Generator | int | None
"""What random numbers are drawn by, as NumPy's ``default_rng`` takes it."""
_ORIGIN, _Z_AXIS, _XY_PLANE = map(_constant, ([0.0] * 3, [0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]))


class KinematicMethods(NamedMethods):
    """Configurations, frames, points, lines and planes fixed to frames, two hands, center of mass."""

    __slots__ = ()

    # --- configurations ---------------------------------------------------------------------------------------

    def random_configuration(self, rng: Seed = None) -> Array:
        """q drawn within the limits, shape (nq,); angles without limits from ±π, lengths from ±1 m."""
        rng = np.random.default_rng(rng)
        own = [joint for joint in self.joints if not joint.is_mimic]
        return np.array([c for j in own for c in j.motion.random(rng, j.lower, j.upper)], dtype=float)

    @compiled_method(inputs=3)
    def integrate(self, q: Reals, v: Reals, dt: Times = 1.0, *, out: Out = None, check: bool = True) -> Array:
        """q (nq) after following the constant v (nv) for the time dt in s; dt may be a batch of times."""
        return self._run("integrate", (q, v, dt), out=out, check=check)

    @compiled_method(inputs=2)
    def difference(self, q0: Reals, q1: Reals, *, out: Out = None, check: bool = True) -> Array:
        """The v (nv) that leads from q0 to q1 in unit time: ``integrate(q0, difference(q0, q1), 1)`` is q1."""
        return self._run("difference", (q0, q1), out=out, check=check)

    @compiled_method(inputs=3)
    def integrate_jacobians(self, q: Reals, v: Reals, dt: Times = 1.0, *, check: bool = True) -> tuple[Array, Array]:
        """∂q'/∂q and ∂q'/∂v, each (..., nv, nv), of q' = ``integrate(q, v, dt)``, in tangent spaces.

        A change of a configuration x is the w (nv) with ``integrate(x, w)``: to first order, q moved by w and v changed
        by u lead to q' moved by ∂q'/∂q w + ∂q'/∂v u. The derivative with respect to dt is v.
        """
        both: tuple[Array, Array] = self._run_plain("integrate_jacobians", (q, v, dt), check=check)
        return both

    @compiled_method(inputs=2)
    def difference_jacobians(self, q0: Reals, q1: Reals, *, check: bool = True) -> tuple[Array, Array]:
        """∂v/∂q0 and ∂v/∂q1, each (..., nv, nv), of v = ``difference(q0, q1)``, in the tangent spaces of q0 and q1.

        Changes of q0 and q1 are as in :meth:`integrate_jacobians`. Where a rotation between them is by π, so that
        ``difference`` jumps, they are those of the side that it takes.
        """
        both: tuple[Array, Array] = self._run_plain("difference_jacobians", (q0, q1), check=check)
        return both

    @compiled_method(inputs=2)
    def configuration_rate(self, q: Reals, v: Reals, *, out: Out = None, check: bool = True) -> Array:
        """q̇ (nq) for the velocity v (nv); they differ where q holds a quaternion."""
        return self._run("configuration_rate", (q, v), out=out, check=check)

    # --- frames -----------------------------------------------------------------------------------------------

    @compiled_method(inputs=1)
    def pose(self, frame: FrameName, q: Reals, *, check: bool = True) -> Pose:
        """Pose of a frame in the world: ``.vec8()``, ``.rotation`` (w x y z), ``.translation`` in m, ``.matrix``."""
        pose: Pose = self._run_plain("pose", (q,), Options(frame=frame), check)
        return pose

    @compiled_method(inputs=1)
    def poses(self, q: Reals, *, check: bool = True) -> Poses:
        """Poses of all frames by name, as in a dictionary; ``.vec8()`` has them in one array (..., frames, 8)."""
        poses: Poses = self._run_plain("poses", (q,), check=check)
        return poses

    @compiled_method(inputs=2)
    def pose_error(self, frame: FrameName, q: Reals, goal: PoseLike, *, out: Out = None, check: bool = True) -> Array:
        """[φ, p] (..., 6) by which a frame is off a goal, in the goal's axes: rotation vector in rad, position in m.

        The rotation goes the shorter way, ‖φ‖ ≤ π. The goal is a pose in any form.
        """
        return self._run("pose_error", (q, goal), Options(frame=frame), out=out, check=check)

    @compiled_method(inputs=2)
    def pose_error_matrix(
        self, frame: FrameName, q: Reals, goal: PoseLike, *, out: Out = None, check: bool = True
    ) -> Array:
        """E (..., 6, nv) with ė = E v for the error e of :meth:`pose_error`."""
        return self._run("pose_error_matrix", (q, goal), Options(frame=frame), out=out, check=check)

    @compiled_method(inputs=2, option="expressed")
    def twist(
        self, frame: FrameName, q: Reals, v: Reals, expressed: Expressed = "body", *, check: bool = True
    ) -> Twist:
        """Twist ω + εv of a frame in rad/s and m/s; ``expressed`` "body", "world" or "aligned"."""
        twist: Twist = self._run_plain("twist", (q, v), Options(frame=frame, expressed=expressed), check)
        return twist

    @compiled_method(inputs=3, option="expressed")
    def twist_rate(
        self, frame: FrameName, q: Reals, v: Reals, a: Reals, expressed: Expressed = "body", *, check: bool = True
    ) -> Twist:
        """Rate of the components of the twist: J a + J̇ v, in rad/s² and m/s²."""
        rate: Twist = self._run_plain("twist_rate", (q, v, a), Options(frame=frame, expressed=expressed), check)
        return rate

    @compiled_method(inputs=2, option="expressed")
    def frame_forces(
        self,
        frame: FrameName,
        q: Reals,
        wrench: Reals,
        expressed: Expressed = "body",
        *,
        out: Out = None,
        check: bool = True,
    ) -> Array:
        """Jᵀw (..., nv) of a wrench w = [f, τ] (..., 6) in N and N m on a frame, without J: τᵀv is its power.

        With ``expressed`` "body" and "aligned" it acts at the frame's origin, in its axes or the world's; with "world"
        at the world's origin in its axes. These are the joint forces of w; −Jᵀw holds the robot against it.
        """
        return self._run("frame_forces", (q, wrench), Options(frame=frame, expressed=expressed), out=out, check=check)

    @compiled_method(inputs=1)
    def pose_jacobian(self, frame: FrameName, q: Reals, *, out: Out = None, check: bool = True) -> Array:
        """J (..., 8, nv) with vec8 ẋ = J v."""
        return self._run("pose_jacobian", (q,), Options(frame=frame), out=out, check=check)

    @compiled_method(inputs=2)
    def pose_jacobian_derivative(
        self, frame: FrameName, q: Reals, v: Reals, *, out: Out = None, check: bool = True
    ) -> Array:
        """J̇ (..., 8, nv) along v, so that vec8 ẍ = J a + J̇ v."""
        return self._run("pose_jacobian_derivative", (q, v), Options(frame=frame), out=out, check=check)

    @compiled_method(inputs=1, option="expressed")
    def twist_jacobian(
        self, frame: FrameName, q: Reals, expressed: Expressed = "body", *, out: Out = None, check: bool = True
    ) -> Array:
        """J (..., 6, nv) with [ω, v] = J v; ``expressed`` "body", "world" or "aligned"."""
        return self._run("twist_jacobian", (q,), Options(frame=frame, expressed=expressed), out=out, check=check)

    @compiled_method(inputs=2, option="expressed")
    def twist_jacobian_derivative(
        self,
        frame: FrameName,
        q: Reals,
        v: Reals,
        expressed: Expressed = "body",
        *,
        out: Out = None,
        check: bool = True,
    ) -> Array:
        """J̇ (..., 6, nv) along v: the rate of the components of J."""
        return self._run(
            "twist_jacobian_derivative", (q, v), Options(frame=frame, expressed=expressed), out=out, check=check
        )

    @compiled_method(inputs=1)
    def translation_jacobian(self, frame: FrameName, q: Reals, *, check: bool = True) -> Array:
        """J (..., 3, nv) with ṗ = J v for the origin of the frame (vec3; DQ Robotics has a zero row above)."""
        return self._run("translation_jacobian", (q,), Options(frame=frame), check=check)

    @compiled_method(inputs=2)
    def translation_jacobian_derivative(self, frame: FrameName, q: Reals, v: Reals, *, check: bool = True) -> Array:
        """J̇ (..., 3, nv) along v, so that p̈ = J a + J̇ v."""
        return self._run("translation_jacobian_derivative", (q, v), Options(frame=frame), check=check)

    @compiled_method(inputs=1)
    def rotation_jacobian(self, frame: FrameName, q: Reals, *, check: bool = True) -> Array:
        """J (..., 4, nv) with vec4 ṙ = J v."""
        return self._run("rotation_jacobian", (q,), Options(frame=frame), check=check)

    @compiled_method(inputs=2)
    def rotation_jacobian_derivative(self, frame: FrameName, q: Reals, v: Reals, *, check: bool = True) -> Array:
        """J̇ (..., 4, nv) along v."""
        return self._run("rotation_jacobian_derivative", (q, v), Options(frame=frame), check=check)

    def manipulability(
        self,
        frame: FrameName,
        q: Reals,
        *,
        measure: Measure = "volume",
        mask: Reals | None = None,
        expressed: Expressed = "body",
        check: bool = True,
    ) -> Array:
        """How well a frame can move at q, (...): Yoshikawa's √det(J Jᵀ) of its twist Jacobian ("volume").

        ``measure`` may also be the "smallest" singular value, or "isotropy", the smallest over the largest. ``mask``
        has six entries, 1 for the rows [ω, v] that count. Rotation and translation have different units: a mask for
        one of them gives a measure that does not depend on the unit of length.
        """
        from dqdyn.robot.manipulability import manipulability

        return manipulability(self, frame, q, measure, mask, expressed, check)

    def manipulability_gradient(
        self,
        frame: FrameName,
        q: Reals,
        *,
        mask: Reals | None = None,
        expressed: Expressed = "body",
        check: bool = True,
    ) -> Array:
        """∂w/∂q (..., nv) of the volume w of :meth:`manipulability`; NaN where J is singular and ``check=False``."""
        from dqdyn.robot.manipulability import manipulability_gradient

        return manipulability_gradient(self, frame, q, mask, expressed, check)

    # --- points, lines and planes fixed to a frame ------------------------------------------------------------

    @compiled_method(inputs=2)
    def point(self, frame: FrameName, q: Reals, point: LocalPoint = _ORIGIN, *, check: bool = True) -> Point:
        """A point given in the frame, seen from the world."""
        seen: Point = self._run_plain("point_on", (q, point), Options(frame=frame), check)
        return seen

    @compiled_method(inputs=2, default=_ORIGIN)
    def point_jacobian(
        self, frame: FrameName, q: Reals, point: LocalPoint = (0.0, 0.0, 0.0), *, check: bool = True
    ) -> Array:
        """J (..., 3, nv) with ṗ = J v for a point given in the frame."""
        return self._run("point_jacobian", (q, point), Options(frame=frame), check=check)

    @compiled_method(inputs=3, default=_ORIGIN)
    def point_jacobian_derivative(
        self, frame: FrameName, q: Reals, v: Reals, point: LocalPoint = (0.0, 0.0, 0.0), *, check: bool = True
    ) -> Array:
        """J̇ (..., 3, nv) along v."""
        return self._run("point_jacobian_derivative", (q, v, point), Options(frame=frame), check=check)

    @compiled_method(inputs=2, default=_Z_AXIS)
    def line(self, frame: FrameName, q: Reals, line: LocalLine | None = None, *, check: bool = True) -> Line:
        """A line given in the frame (default: its z axis), seen from the world [Quiroz, eq. (4.24)]."""
        inputs = (q, _Z_AXIS if line is None else line)
        seen: Line = self._run_plain("line_on", inputs, Options(frame=frame), check)
        return seen

    @compiled_method(inputs=2, default=_Z_AXIS)
    def line_jacobian(self, frame: FrameName, q: Reals, line: LocalLine | None = None, *, check: bool = True) -> Array:
        """J (..., 6, nv) with [l̇, ṁ] = J v for a line given in the frame (default: its z axis)."""
        return self._run("line_jacobian", (q, _Z_AXIS if line is None else line), Options(frame=frame), check=check)

    @compiled_method(inputs=3, default=_Z_AXIS)
    def line_jacobian_derivative(
        self, frame: FrameName, q: Reals, v: Reals, line: LocalLine | None = None, *, check: bool = True
    ) -> Array:
        """J̇ (..., 6, nv) along v."""
        return self._run(
            "line_jacobian_derivative", (q, v, _Z_AXIS if line is None else line), Options(frame=frame), check=check
        )

    @compiled_method(inputs=2, default=_XY_PLANE)
    def plane(self, frame: FrameName, q: Reals, plane: LocalPlane | None = None, *, check: bool = True) -> Plane:
        """A plane given in the frame (default: its xy plane), seen from the world."""
        inputs = (q, _XY_PLANE if plane is None else plane)
        seen: Plane = self._run_plain("plane_on", inputs, Options(frame=frame), check)
        return seen

    @compiled_method(inputs=2, default=_XY_PLANE)
    def plane_jacobian(
        self, frame: FrameName, q: Reals, plane: LocalPlane | None = None, *, check: bool = True
    ) -> Array:
        """J (..., 4, nv) with [ṅ, ḋ] = J v for a plane given in the frame (default: its xy plane)."""
        return self._run(
            "plane_jacobian", (q, _XY_PLANE if plane is None else plane), Options(frame=frame), check=check
        )

    @compiled_method(inputs=3, default=_XY_PLANE)
    def plane_jacobian_derivative(
        self, frame: FrameName, q: Reals, v: Reals, plane: LocalPlane | None = None, *, check: bool = True
    ) -> Array:
        """J̇ (..., 4, nv) along v."""
        return self._run(
            "plane_jacobian_derivative",
            (q, v, _XY_PLANE if plane is None else plane),
            Options(frame=frame),
            check=check,
        )

    # --- two hands --------------------------------------------------------------------------------------------

    @compiled_method(inputs=1)
    def relative_pose(self, frame1: FrameName, frame2: FrameName, q: Reals, *, check: bool = True) -> Pose:
        """x_r = x_2* x_1: frame 1 seen from frame 2 (cooperative dual task space)."""
        pose: Pose = self._run_plain("relative_pose", (q,), _hands(frame1, frame2), check)
        return pose

    @compiled_method(inputs=1)
    def absolute_pose(self, frame1: FrameName, frame2: FrameName, q: Reals, *, check: bool = True) -> Pose:
        """x_a = x_2 x_r^{1/2}: half-way between the frames (cooperative dual task space)."""
        pose: Pose = self._run_plain("absolute_pose", (q,), _hands(frame1, frame2), check)
        return pose

    @compiled_method(inputs=1)
    def relative_pose_jacobian(self, frame1: FrameName, frame2: FrameName, q: Reals, *, check: bool = True) -> Array:
        """J (..., 8, nv) of :meth:`relative_pose`."""
        return self._run("relative_pose_jacobian", (q,), _hands(frame1, frame2), check=check)

    @compiled_method(inputs=1)
    def absolute_pose_jacobian(self, frame1: FrameName, frame2: FrameName, q: Reals, *, check: bool = True) -> Array:
        """J (..., 8, nv) of :meth:`absolute_pose`, exact."""
        return self._run("absolute_pose_jacobian", (q,), _hands(frame1, frame2), check=check)

    @compiled_method(inputs=2)
    def relative_pose_jacobian_derivative(
        self, frame1: FrameName, frame2: FrameName, q: Reals, v: Reals, *, check: bool = True
    ) -> Array:
        """J̇ (..., 8, nv) along v of :meth:`relative_pose`."""
        return self._run("relative_pose_jacobian_derivative", (q, v), _hands(frame1, frame2), check=check)

    @compiled_method(inputs=2)
    def absolute_pose_jacobian_derivative(
        self, frame1: FrameName, frame2: FrameName, q: Reals, v: Reals, *, check: bool = True
    ) -> Array:
        """J̇ (..., 8, nv) along v of :meth:`absolute_pose`."""
        return self._run("absolute_pose_jacobian_derivative", (q, v), _hands(frame1, frame2), check=check)

    # --- mass -------------------------------------------------------------------------------------------------

    @compiled_method(inputs=1)
    def center_of_mass(self, q: Reals, *, out: Out = None, check: bool = True) -> Array:
        """Center of mass of the moving bodies in m, world axes, shape (..., 3)."""
        return self._run("center_of_mass", (q,), out=out, check=check)

    @compiled_method(inputs=2)
    def center_of_mass_velocity(self, q: Reals, v: Reals, *, out: Out = None, check: bool = True) -> Array:
        """ċ in m/s, shape (..., 3)."""
        return self._run("center_of_mass_velocity", (q, v), out=out, check=check)

    @compiled_method(inputs=1)
    def center_of_mass_jacobian(self, q: Reals, *, out: Out = None, check: bool = True) -> Array:
        """J (..., 3, nv) with ċ = J v."""
        return self._run("center_of_mass_jacobian", (q,), out=out, check=check)

    @compiled_method(inputs=2)
    def center_of_mass_jacobian_derivative(self, q: Reals, v: Reals, *, out: Out = None, check: bool = True) -> Array:
        """J̇ (..., 3, nv) along v, so that c̈ = J a + J̇ v."""
        return self._run("center_of_mass_jacobian_derivative", (q, v), out=out, check=check)

    @compiled_method(inputs=2)
    def centroidal_momentum(self, q: Reals, v: Reals, *, out: Out = None, check: bool = True) -> Array:
        """[p, L] (..., 6): linear momentum in kg m/s, angular momentum about the center of mass in kg m²/s."""
        return self._run("centroidal_momentum", (q, v), out=out, check=check)

    @compiled_method(inputs=1)
    def centroidal_momentum_matrix(self, q: Reals, *, out: Out = None, check: bool = True) -> Array:
        """A (..., 6, nv) with [p, L] = A v."""
        return self._run("centroidal_momentum_matrix", (q,), out=out, check=check)

    @compiled_method(inputs=2)
    def centroidal_momentum_matrix_derivative(
        self, q: Reals, v: Reals, *, out: Out = None, check: bool = True
    ) -> Array:
        """Ȧ (..., 6, nv) along v, so that [ṗ, L̇] = A a + Ȧ v."""
        return self._run("centroidal_momentum_matrix_derivative", (q, v), out=out, check=check)


def _hands(frame1: FrameName, frame2: FrameName) -> Options:
    """The options of functions of two frames."""
    return Options(frame1=frame1, frame2=frame2)
