"""``Robot``: what users load, ask and change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dqdyn.algebra.counter import Tally
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.values import Pose, Twist
from dqdyn.compile.program import Counts, Program
from dqdyn.geometry.primitives import Line, Plane, Point
from dqdyn.model.build import build
from dqdyn.model.description import Description
from dqdyn.model.layouts import Layout, mujoco_layout, pinocchio_layout
from dqdyn.model.model import Body, Frame, Model, TreeJoint
from dqdyn.robot import edit
from dqdyn.robot.bound import Bindings
from dqdyn.robot.inverse import InverseKinematics, solve
from dqdyn.robot.shortcuts import Shortcuts


@dataclass(frozen=True, eq=False)
class Limits:
    """Limits per coordinate; ±inf where there is none."""

    lower: np.ndarray
    """(nq,) in rad or m."""
    upper: np.ndarray
    """(nq,) in rad or m."""
    velocity: np.ndarray
    """(nv,) in rad/s or m/s."""
    effort: np.ndarray
    """(nv,) in N m or N."""


class Robot:
    """A robot: load one with :func:`dqdyn.load` or take one of :mod:`dqdyn.robots`.

    Every numeric method takes one state of shape (n,) or a batch (..., n) and returns the same leading shape. NaN,
    infinity and non-unit quaternions are refused unless ``check=False``, which lets them propagate. ``out=`` receives
    the result. A robot never changes: :meth:`lock`, :meth:`with_payload`, … give a new one.
    """

    model: Model

    def __init__(self, model: Model) -> None:
        object.__setattr__(self, "model", model)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"A robot never changes; {name!r} cannot be set: use lock, with_payload or with_gravity.")

    # --- what it is -------------------------------------------------------------------------------------------

    @classmethod
    def from_description(
        cls, description: Description, *, base: str | None = None, mimic: bool = True, strict: bool = False
    ) -> Robot:
        """The robot of a description; see :func:`dqdyn.load` for the options."""
        return cls(build(description, base=base, mimic=mimic, strict=strict))

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """Number of velocities: degrees of freedom of the tree."""
        return self.model.nv

    @property
    def joints(self) -> tuple[TreeJoint, ...]:
        """Moving joints in the order of q: ``.name``, ``.kind``, ``.q`` and ``.v`` (slices), limits, damping, …"""
        return self.model.joints

    @property
    def bodies(self) -> tuple[Body, ...]:
        """Moving bodies, ``bodies[i]`` on ``joints[i]``: ``.name`` and ``.inertia``."""
        return self.model.bodies

    @property
    def frames(self) -> Mapping[str, Frame]:
        """Frames by name: every link, every joint (its child side), and those added."""
        return self.model.frames

    @property
    def description(self) -> Description:
        """Links and joints by name, as written."""
        return self.model.description

    @property
    def gravity(self) -> np.ndarray:
        """Gravitational acceleration in m/s², world axes, shape (3,)."""
        return np.array(self.model.gravity)

    @property
    def mass(self) -> float:
        """Total mass of the moving bodies in kg."""
        return self.model.mass

    @property
    def base(self) -> str:
        """ "fixed", "free", "planar" or "differential"."""
        return self.model.base

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is doubtful in the robot's description."""
        return self.model.warnings

    @cached_property
    def limits(self) -> Limits:
        """Limits of all joints that have coordinates of their own."""
        own = [joint for joint in self.joints if not joint.is_mimic]
        arrays = [
            np.array([c for j in own for c in getattr(j, name)]) for name in ("lower", "upper", "velocity", "effort")
        ]
        for array in arrays:
            array.setflags(write=False)
        return Limits(*arrays)

    def __eq__(self, other: object) -> bool:
        return self.model == other.model if isinstance(other, Robot) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.model)

    def __reduce__(self) -> Any:
        return Robot, (self.model,)

    def __repr__(self) -> str:
        return f"Robot({self.name!r}, nq={self.nq}, nv={self.nv}, base={self.base!r}, mass={self.mass:.4g} kg)"

    # --- configurations ---------------------------------------------------------------------------------------

    def neutral(self) -> np.ndarray:
        """q at which every joint is at its origin, shape (nq,)."""
        return np.array([c for joint in self.joints if not joint.is_mimic for c in joint.motion.neutral()], dtype=float)

    def random_configuration(self, rng: np.random.Generator | int | None = None) -> np.ndarray:
        """q drawn within the limits, shape (nq,); angles without limits from ±π, lengths from ±1 m."""
        rng = np.random.default_rng(rng)
        own = [joint for joint in self.joints if not joint.is_mimic]
        return np.array([c for j in own for c in j.motion.random(rng, j.lower, j.upper)], dtype=float)

    def integrate(
        self, q: Any, v: Any, dt: Any = 1.0, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """q (nq) after following the constant v (nv) for the time dt in s; dt may be a batch of times."""
        return self._run(("integrate",), (q, v, dt), out, check)

    def difference(self, q0: Any, q1: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """The v (nv) that leads from q0 to q1 in unit time: ``integrate(q0, difference(q0, q1), 1)`` is q1."""
        return self._run(("difference",), (q0, q1), out, check)

    def configuration_rate(self, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """q̇ (nq) for the velocity v (nv); they differ where q holds a quaternion."""
        return self._run(("configuration_rate",), (q, v), out, check)

    # --- frames -----------------------------------------------------------------------------------------------

    def pose(self, frame: str | Frame, q: Any, *, check: bool = True) -> Pose:
        """Pose of a frame in the world: ``.vec8()``, ``.rotation`` (w x y z), ``.translation`` in m, ``.matrix``."""
        return Pose.of_array(self._pose(frame, q) if check else self._pose(frame, q, check=False))

    def _pose(self, frame: str | Frame, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """vec8 of :meth:`pose`."""
        return self._run(("pose", frame), (q,), out, check)

    def poses(self, q: Any, *, check: bool = True) -> dict[str, Pose]:
        """Poses of all frames by name."""
        return {name: self.pose(frame, q, check=check) for name, frame in self.frames.items()}

    def twist(self, frame: str | Frame, q: Any, v: Any, expressed: str = "body", *, check: bool = True) -> Twist:
        """Twist ω + εv of a frame in rad/s and m/s; ``expressed`` "body", "world" or "aligned"."""
        return _twist(self._run(("twist", frame, expressed), (q, v), None, check))

    def twist_rate(
        self, frame: str | Frame, q: Any, v: Any, a: Any, expressed: str = "body", *, check: bool = True
    ) -> Twist:
        """Rate of the components of the twist: J a + J̇ v, in rad/s² and m/s²."""
        return _twist(self._run(("twist_rate", frame, expressed), (q, v, a), None, check))

    def pose_jacobian(
        self, frame: str | Frame, q: Any, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """J (..., 8, nv) with vec8 ẋ = J v."""
        return self._run(("pose_jacobian", frame), (q,), out, check)

    def pose_jacobian_derivative(
        self, frame: str | Frame, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """J̇ (..., 8, nv) along v, so that vec8 ẍ = J a + J̇ v."""
        return self._run(("pose_jacobian_derivative", frame), (q, v), out, check)

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

    def translation_jacobian(self, frame: str | Frame, q: Any, *, check: bool = True) -> np.ndarray:
        """J (..., 3, nv) with ṗ = J v for the origin of the frame (vec3; DQ Robotics has a zero row above)."""
        return self._run(("translation_jacobian", frame), (q,), None, check)

    def translation_jacobian_derivative(self, frame: str | Frame, q: Any, v: Any, *, check: bool = True) -> np.ndarray:
        """J̇ (..., 3, nv) along v, so that p̈ = J a + J̇ v."""
        return self._run(("translation_jacobian_derivative", frame), (q, v), None, check)

    def rotation_jacobian(self, frame: str | Frame, q: Any, *, check: bool = True) -> np.ndarray:
        """J (..., 4, nv) with vec4 ṙ = J v."""
        return self._run(("rotation_jacobian", frame), (q,), None, check)

    def rotation_jacobian_derivative(self, frame: str | Frame, q: Any, v: Any, *, check: bool = True) -> np.ndarray:
        """J̇ (..., 4, nv) along v."""
        return self._run(("rotation_jacobian_derivative", frame), (q, v), None, check)

    # --- points, lines and planes fixed to a frame ------------------------------------------------------------

    def point(self, frame: str | Frame, q: Any, point: Any = (0.0, 0.0, 0.0), *, check: bool = True) -> Point:
        """A point given in the frame, seen from the world."""
        return Point(self._run(("point_on", frame), (q, point), None, check))

    def point_jacobian(
        self, frame: str | Frame, q: Any, point: Any = (0.0, 0.0, 0.0), *, check: bool = True
    ) -> np.ndarray:
        """J (..., 3, nv) with ṗ = J v for a point given in the frame."""
        return self._run(("point_jacobian", frame), (q, point), None, check)

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
        return Pose.of_array(self._run(("relative_pose", frame1, frame2), (q,), None, check))

    def absolute_pose(self, frame1: str | Frame, frame2: str | Frame, q: Any, *, check: bool = True) -> Pose:
        """x_a = x_2 x_r^{1/2}: half-way between the frames (cooperative dual task space)."""
        return Pose.of_array(self._run(("absolute_pose", frame1, frame2), (q,), None, check))

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

    def center_of_mass(self, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """Center of mass of the moving bodies in m, world axes, shape (..., 3)."""
        return self._run(("center_of_mass",), (q,), out, check)

    def center_of_mass_velocity(
        self, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """ċ in m/s, shape (..., 3)."""
        return self._run(("center_of_mass_velocity",), (q, v), out, check)

    def center_of_mass_jacobian(self, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """J (..., 3, nv) with ċ = J v."""
        return self._run(("center_of_mass_jacobian",), (q,), out, check)

    def center_of_mass_jacobian_derivative(
        self, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True
    ) -> np.ndarray:
        """J̇ (..., 3, nv) along v, so that c̈ = J a + J̇ v."""
        return self._run(("center_of_mass_jacobian_derivative",), (q, v), out, check)

    def centroidal_momentum(self, q: Any, v: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """[p, L] (..., 6): linear momentum in kg m/s, angular momentum about the center of mass in kg m²/s."""
        return self._run(("centroidal_momentum",), (q, v), out, check)

    def centroidal_momentum_matrix(self, q: Any, *, out: np.ndarray | None = None, check: bool = True) -> np.ndarray:
        """A (..., 6, nv) with [p, L] = A v."""
        return self._run(("centroidal_momentum_matrix",), (q,), out, check)

    # --- inverse kinematics and functions ---------------------------------------------------------------------

    def inverse_kinematics(self, frame: str | Frame, pose: Any, q0: Any = None, **options: Any) -> InverseKinematics:
        """A configuration within the limits at which the frame has the pose; the result says why where it failed.

        See :func:`dqdyn.robot.inverse.solve` for the options (tolerance, iterations, restarts, …).
        """
        return solve(self, self.model.frame(frame), edit.as_pose(pose), q0, **options)

    def function(self, name: str, **options: Any) -> Callable[..., np.ndarray]:
        """The compiled function ``name`` bound to this robot, for loops; it has a signature and a docstring.

        ``f = robot.function("twist_jacobian", frame="hand"); f(q, out=J)``. ``f.__self__.program`` is its program.
        """
        return self._bindings.function(name, options).fast

    def program(self, name: str, **options: Any) -> Program:
        """The straight-line program behind a function; ``print`` it, count it, export it."""
        return self._bindings.function(name, options).program

    def count(self, name: str, simplify: bool = True, **options: Any) -> Counts | Tally:
        """Operations of a function: ``.mul``, ``.add``, ``.sincos``, ``.total``, ….

        ``simplify=True`` counts the compiled program; ``False`` the algorithm as written, as the papers count.
        """
        if simplify:
            return self.program(name, **options).counts
        return self._bindings.count(name, options)

    @cached_property
    def _bindings(self) -> Bindings:
        return Bindings(self.model)

    @cached_property
    def _shortcuts(self) -> Shortcuts:
        return Shortcuts(self)

    def _run(self, key: tuple[Any, ...], inputs: tuple[Any, ...], out: np.ndarray | None, check: bool) -> np.ndarray:
        """The function of a key (name, *options) on inputs; the next call like it takes a shortcut to machine code."""
        function = self._shortcuts.function(key, inputs)
        if check:
            return function(*inputs) if out is None else function(*inputs, out=out)
        return function(*inputs, out=out, check=False)

    # --- changes ----------------------------------------------------------------------------------------------

    def lock(self, values: Mapping[str, Any]) -> Robot:
        """Joints held at values: ``robot.lock({"finger": 0.0})``. Joints that mimic them are held too."""
        description, base = edit.lock(self.model, values)
        return self._rebuilt(description, base)

    def with_payload(
        self, frame: str, mass: float, com: Any = (0.0, 0.0, 0.0), inertia: Any = (0.0, 0.0, 0.0)
    ) -> Robot:
        """A body fixed to a frame: mass in kg, center of mass in m and tensor (or moments) in kg m², in its axes."""
        return self._rebuilt(edit.with_payload(self.model, frame, mass, com, inertia))

    def with_gravity(self, gravity: Any) -> Robot:
        """The same robot under another gravitational acceleration, (3,) in m/s²."""
        return self._rebuilt(edit.with_gravity(self.model, gravity))

    def with_base(self, base: str) -> Robot:
        """The same robot on another base: "fixed", "free", "planar" or "differential"."""
        return self._rebuilt(self.description, base)

    def add_frame(self, name: str, on: str, pose: Any) -> Robot:
        """A named frame fixed to the frame ``on`` at a pose (Pose, vec8 or 4×4)."""
        return self._rebuilt(edit.add_frame(self.model, name, on, pose))

    # --- other libraries and files --------------------------------------------------------------------------------

    def to_pinocchio(self, model: Any) -> Layout:
        """Converter of q, v, a, τ, M and Jacobians to and from a ``pinocchio.Model`` with the same joint names."""
        return pinocchio_layout(self.model, model)

    def to_mujoco(self, model: Any) -> Layout:
        """Converter of q, v, a, τ, M and Jacobians to and from a ``mujoco.MjModel`` with the same joint names."""
        return mujoco_layout(self.model, model)

    def write(self, path: str | Path) -> Path:
        """Write the robot as .urdf, .xml (MJCF) or .json, by the ending; an existing file is replaced whole."""
        from dqdyn.model.writers.save import save

        return save(self.model, path)

    def _rebuilt(self, description: Description, base: str | None = None) -> Robot:
        base = self.base if base is None else base
        return Robot(build(description, base=base, mimic=self.model.mimic, quiet=True))


def _twist(vec6: np.ndarray) -> Twist:
    return Twist.of(DQ(np.insert(vec6, [0, 3], 0.0, axis=-1)))


def _local_line(line: Any) -> Any:
    return (0.0, 0.0, 1.0, 0.0, 0.0, 0.0) if line is None else line


def _local_plane(plane: Any) -> Any:
    return (0.0, 0.0, 1.0, 0.0) if plane is None else plane
