"""The kinematic methods of :class:`dqdyn.Robot`."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.scalar import unstack
from dqdyn.algebra.values import Pose, Twist
from dqdyn.compile.runtime.method import compiled_method
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.kinematics.frames import expression_frame
from dqdyn.model.description import WORLD
from dqdyn.model.model import Frame
from dqdyn.robot.base import RobotBase


class KinematicMethods(RobotBase):
    """Configurations, frames, things fixed to frames, two hands, center of mass."""

    # --- configurations ---------------------------------------------------------------------------------------

    def neutral(self) -> np.ndarray:
        """q at which every joint is at its origin, shape (nq,)."""
        return np.array([c for joint in self.joints if not joint.is_mimic for c in joint.motion.neutral()], dtype=float)

    def random_configuration(self, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """q drawn within the limits, shape (nq,); angles without limits from ±π, lengths from ±1 m."""
        rng = np.random.default_rng(rng)
        own = [joint for joint in self.joints if not joint.is_mimic]
        return np.array([c for j in own for c in j.motion.random(rng, j.lower, j.upper)], dtype=float)

    @compiled_method(inputs=3)
    def integrate(
        self, q: Any, v: Any, dt: Any = 1.0, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """q (nq) after following the constant v (nv) for the time dt in s; dt may be a batch of times."""
        return self._run(("integrate",), (q, v, dt), out, check)

    @compiled_method(inputs=2)
    def difference(self, q0: Any, q1: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """The v (nv) that leads from q0 to q1 in unit time: ``integrate(q0, difference(q0, q1), 1)`` is q1."""
        return self._run(("difference",), (q0, q1), out, check)

    @compiled_method(inputs=2)
    def configuration_rate(self, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """q̇ (nq) for the velocity v (nv); they differ where q holds a quaternion."""
        return self._run(("configuration_rate",), (q, v), out, check)

    # --- frames -----------------------------------------------------------------------------------------------

    def pose(self, frame: str | Frame, q: Any, *, check: bool = True) -> Pose:
        """Pose of a frame in the world: ``.vec8()``, ``.rotation`` (w x y z), ``.translation`` in m, ``.matrix``."""
        vec8 = self._pose(frame, q) if check else self._pose(frame, q, check=False)
        return Pose.of_array(vec8, frame if isinstance(frame, str) else frame.name, WORLD)

    @compiled_method(inputs=1)
    def _pose(self, frame: str | Frame, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """vec8 of :meth:`pose`."""
        return self._run(("pose", frame), (q,), out, check)

    def poses(self, q: Any, *, check: bool = True) -> dict[str, Pose]:
        """Poses of all frames by name."""
        rows = self._run(("poses",), (q,), None, check)
        return {name: Pose.of_array(rows[..., i, :], name, WORLD) for i, name in enumerate(self.frames)}

    def twist(self, frame: str | Frame, q: Any, v: Any, expressed: str = "body", *, check: bool = True) -> Twist:
        """Twist ω + εv of a frame in rad/s and m/s; ``expressed`` "body", "world" or "aligned"."""
        return _twist(self._run(("twist", frame, expressed), (q, v), None, check), frame, expressed)

    def twist_rate(
        self, frame: str | Frame, q: Any, v: Any, a: Any, expressed: str = "body", *, check: bool = True
    ) -> Twist:
        """Rate of the components of the twist: J a + J̇ v, in rad/s² and m/s²."""
        return _twist(self._run(("twist_rate", frame, expressed), (q, v, a), None, check), frame, expressed)

    @compiled_method(inputs=1)
    def pose_jacobian(
        self, frame: str | Frame, q: Any, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """J (..., 8, nv) with vec8 ẋ = J v."""
        return self._run(("pose_jacobian", frame), (q,), out, check)

    @compiled_method(inputs=2)
    def pose_jacobian_derivative(
        self, frame: str | Frame, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """J̇ (..., 8, nv) along v, so that vec8 ẍ = J a + J̇ v."""
        return self._run(("pose_jacobian_derivative", frame), (q, v), out, check)

    @compiled_method(inputs=1)
    def twist_jacobian(
        self,
        frame: str | Frame,
        q: Any,
        expressed: str = "body",
        *,
        out: np.ndarray | None = None,
        check: bool = True,
    ) -> np.ndarray:
        """J (..., 6, nv) with [ω, v] = J v; ``expressed`` "body", "world" or "aligned"."""
        return self._run(("twist_jacobian", frame, expressed), (q,), out, check)

    @compiled_method(inputs=2)
    def twist_jacobian_derivative(
        self,
        frame: str | Frame,
        q: Any,
        v: Any,
        expressed: str = "body",
        *,
        out: np.ndarray | None = None,
        check: bool = True,
    ) -> np.ndarray:
        """J̇ (..., 6, nv) along v: the rate of the components of J."""
        return self._run(("twist_jacobian_derivative", frame, expressed), (q, v), out, check)

    @compiled_method(inputs=1)
    def translation_jacobian(self, frame: str | Frame, q: Any, *, check: bool = True) -> np.ndarray:
        """J (..., 3, nv) with ṗ = J v for the origin of the frame (vec3; DQ Robotics has a zero row above)."""
        return self._run(("translation_jacobian", frame), (q,), None, check)

    @compiled_method(inputs=2)
    def translation_jacobian_derivative(self, frame: str | Frame, q: Any, v: Any, *, check: bool = True) -> np.ndarray:
        """J̇ (..., 3, nv) along v, so that p̈ = J a + J̇ v."""
        return self._run(("translation_jacobian_derivative", frame), (q, v), None, check)

    @compiled_method(inputs=1)
    def rotation_jacobian(self, frame: str | Frame, q: Any, *, check: bool = True) -> np.ndarray:
        """J (..., 4, nv) with vec4 ṙ = J v."""
        return self._run(("rotation_jacobian", frame), (q,), None, check)

    @compiled_method(inputs=2)
    def rotation_jacobian_derivative(self, frame: str | Frame, q: Any, v: Any, *, check: bool = True) -> np.ndarray:
        """J̇ (..., 4, nv) along v."""
        return self._run(("rotation_jacobian_derivative", frame), (q, v), None, check)

    # --- points, lines and planes fixed to a frame ------------------------------------------------------------

    def point(self, frame: str | Frame, q: Any, point: Any = (0.0, 0.0, 0.0), *, check: bool = True) -> Point:
        """A point given in the frame, seen from the world."""
        return Point.of(DQ(self._run(("point_on", frame), (q, point), None, check)))

    @compiled_method(inputs=2)
    def point_jacobian(
        self, frame: str | Frame, q: Any, point: Any = (0.0, 0.0, 0.0), *, check: bool = True
    ) -> np.ndarray:
        """J (..., 3, nv) with ṗ = J v for a point given in the frame."""
        return self._run(("point_jacobian", frame), (q, point), None, check)

    @compiled_method(inputs=3)
    def point_jacobian_derivative(
        self, frame: str | Frame, q: Any, v: Any, point: Any = (0.0, 0.0, 0.0), *, check: bool = True
    ) -> np.ndarray:
        """J̇ (..., 3, nv) along v."""
        return self._run(("point_jacobian_derivative", frame), (q, v, point), None, check)

    def line(self, frame: str | Frame, q: Any, line: Any = None, *, check: bool = True) -> Line:
        """A line given in the frame (default: its z axis), seen from the world [Quiroz, eq. (4.24)]."""
        lm = self._run(("line_on", frame), (q, _local_line(line)), None, check)
        return Line.of(DQ(np.insert(lm, [0, 3], 0.0, axis=-1)))

    def line_jacobian(self, frame: str | Frame, q: Any, line: Any = None, *, check: bool = True) -> np.ndarray:
        """J (..., 6, nv) with [l̇, ṁ] = J v for a line given in the frame (default: its z axis)."""
        return self._run(("line_jacobian", frame), (q, _local_line(line)), None, check)

    def line_jacobian_derivative(
        self, frame: str | Frame, q: Any, v: Any, line: Any = None, *, check: bool = True
    ) -> np.ndarray:
        """J̇ (..., 6, nv) along v."""
        return self._run(("line_jacobian_derivative", frame), (q, v, _local_line(line)), None, check)

    def plane(self, frame: str | Frame, q: Any, plane: Any = None, *, check: bool = True) -> Plane:
        """A plane given in the frame (default: its xy plane), seen from the world."""
        nd = self._run(("plane_on", frame), (q, _local_plane(plane)), None, check)
        return Plane.of(DQ(np.insert(nd, [0, 4, 4, 4], 0.0, axis=-1)))

    def plane_jacobian(self, frame: str | Frame, q: Any, plane: Any = None, *, check: bool = True) -> np.ndarray:
        """J (..., 4, nv) with [ṅ, ḋ] = J v for a plane given in the frame (default: its xy plane)."""
        return self._run(("plane_jacobian", frame), (q, _local_plane(plane)), None, check)

    def plane_jacobian_derivative(
        self, frame: str | Frame, q: Any, v: Any, plane: Any = None, *, check: bool = True
    ) -> np.ndarray:
        """J̇ (..., 4, nv) along v."""
        return self._run(("plane_jacobian_derivative", frame), (q, v, _local_plane(plane)), None, check)

    # --- two hands --------------------------------------------------------------------------------------------

    def relative_pose(self, frame1: str | Frame, frame2: str | Frame, q: Any, *, check: bool = True) -> Pose:
        """x_r = x_2* x_1: frame 1 seen from frame 2 (cooperative dual task space)."""
        vec8 = self._run(("relative_pose", frame1, frame2), (q,), None, check)
        return Pose.of_array(vec8, *(f if isinstance(f, str) else f.name for f in (frame1, frame2)))

    def absolute_pose(self, frame1: str | Frame, frame2: str | Frame, q: Any, *, check: bool = True) -> Pose:
        """x_a = x_2 x_r^{1/2}: half-way between the frames (cooperative dual task space)."""
        return Pose.of_array(self._run(("absolute_pose", frame1, frame2), (q,), None, check), None, WORLD)

    def relative_pose_jacobian(
        self, frame1: str | Frame, frame2: str | Frame, q: Any, *, check: bool = True
    ) -> np.ndarray:
        """J (..., 8, nv) of :meth:`relative_pose`."""
        return self._run(("relative_pose_jacobian", frame1, frame2), (q,), None, check)

    def absolute_pose_jacobian(
        self, frame1: str | Frame, frame2: str | Frame, q: Any, *, check: bool = True
    ) -> np.ndarray:
        """J (..., 8, nv) of :meth:`absolute_pose`, exact."""
        return self._run(("absolute_pose_jacobian", frame1, frame2), (q,), None, check)

    def relative_pose_jacobian_derivative(
        self, frame1: str | Frame, frame2: str | Frame, q: Any, v: Any, *, check: bool = True
    ) -> np.ndarray:
        """J̇ (..., 8, nv) along v of :meth:`relative_pose`."""
        return self._run(("relative_pose_jacobian_derivative", frame1, frame2), (q, v), None, check)

    def absolute_pose_jacobian_derivative(
        self, frame1: str | Frame, frame2: str | Frame, q: Any, v: Any, *, check: bool = True
    ) -> np.ndarray:
        """J̇ (..., 8, nv) along v of :meth:`absolute_pose`."""
        return self._run(("absolute_pose_jacobian_derivative", frame1, frame2), (q, v), None, check)

    # --- mass -------------------------------------------------------------------------------------------------

    @compiled_method(inputs=1)
    def center_of_mass(self, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """Center of mass of the moving bodies in m, world axes, shape (..., 3)."""
        return self._run(("center_of_mass",), (q,), out, check)

    @compiled_method(inputs=2)
    def center_of_mass_velocity(
        self, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """ċ in m/s, shape (..., 3)."""
        return self._run(("center_of_mass_velocity",), (q, v), out, check)

    @compiled_method(inputs=1)
    def center_of_mass_jacobian(self, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """J (..., 3, nv) with ċ = J v."""
        return self._run(("center_of_mass_jacobian",), (q,), out, check)

    @compiled_method(inputs=2)
    def center_of_mass_jacobian_derivative(
        self, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """J̇ (..., 3, nv) along v, so that c̈ = J a + J̇ v."""
        return self._run(("center_of_mass_jacobian_derivative",), (q, v), out, check)

    @compiled_method(inputs=2)
    def centroidal_momentum(self, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """[p, L] (..., 6): linear momentum in kg m/s, angular momentum about the center of mass in kg m²/s."""
        return self._run(("centroidal_momentum",), (q, v), out, check)

    @compiled_method(inputs=1)
    def centroidal_momentum_matrix(self, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """A (..., 6, nv) with [p, L] = A v."""
        return self._run(("centroidal_momentum_matrix",), (q,), out, check)

    @compiled_method(inputs=2)
    def centroidal_momentum_matrix_derivative(
        self, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """Ȧ (..., 6, nv) along v, so that [ṗ, L̇] = A a + Ȧ v."""
        return self._run(("centroidal_momentum_matrix_derivative",), (q, v), out, check)


def _twist(vec6: np.ndarray, frame: str | Frame, expressed: str) -> Twist:
    body = frame if isinstance(frame, str) else frame.name
    return Twist.of(DQ.of6(unstack(vec6, 6)), body, WORLD, expression_frame(body, expressed))


def _local_line(line: Any) -> Any:
    return (0.0, 0.0, 1.0, 0.0, 0.0, 0.0) if line is None else line


def _local_plane(plane: Any) -> Any:
    return (0.0, 0.0, 1.0, 0.0) if plane is None else plane
