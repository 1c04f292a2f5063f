"""``Robot``: what users load, ask and change."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dqdyn.algebra.any_pose import PoseLike
from dqdyn.arrays import Array, RealArray, RealNumber, Reals
from dqdyn.errors import ModelWarning
from dqdyn.model.build import build
from dqdyn.model.description import Description, Shape
from dqdyn.model.gravity_field import FieldGravity
from dqdyn.model.layouts import Layout, mujoco_layout, pinocchio_layout
from dqdyn.model.model import Body, Model
from dqdyn.model.motors import AxisMotors
from dqdyn.robot import edit
from dqdyn.robot.base import Limits, limits_of
from dqdyn.robot.catalog import functions_of
from dqdyn.robot.compiled_functions import CompiledFunctions
from dqdyn.robot.constrained import ConstrainedMethods, with_described_constraints, with_kept_constraints
from dqdyn.robot.inverse import InverseKinematics, solve
from dqdyn.robot.inverse_search import GoalAxes
from dqdyn.robot.kinematic import Seed
from dqdyn.robot.options import Base, FrameName, Option
from dqdyn.robot.variables import Variables

if TYPE_CHECKING:
    from dqdyn.compile.export.c_library import CLibrary
    from dqdyn.dynamics.formulations.speeds import Speeds
    from dqdyn.dynamics.gravity.fields import Field
    from dqdyn.robot.coordinates import Choices, RobotInCoordinates
    from dqdyn.robot.export import LibraryFunction
    from dqdyn.robot.motors import Motors
    from dqdyn.robot.speeds import RobotInSpeeds
    from dqdyn.robot.springs import Springs

_FILM, _NOTEBOOK = "dqdyn.view.film", "dqdyn.view.notebook"  # what draws stands above a robot: imported when needed


class Robot(ConstrainedMethods):
    """A robot: load one with :func:`dqdyn.load` or take one of :mod:`dqdyn.robots`.

    Every numeric method takes one state of shape (n,) or a batch (..., n) and returns the same leading shape. NaN,
    infinity and non-unit quaternions are refused unless ``check=False``, which lets them propagate. ``out=`` receives
    the result. A robot never changes: :meth:`lock`, :meth:`with_payload`, … give a new one.
    """

    __slots__ = ()

    def __init__(self, model: Model, *, native: bool | None = None) -> None:
        """The robot of a model; ``native=False`` interprets its functions instead of compiling them."""
        object.__setattr__(self, "model", model)
        object.__setattr__(self, "_limits", limits_of(model))
        self._set_functions(CompiledFunctions(Variables(model, functions_of(model), native), Robot))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"A robot never changes; {name!r} cannot be set: use lock, with_payload or with_gravity.")

    # --- what it is -------------------------------------------------------------------------------------------

    @classmethod
    def from_description(
        cls,
        description: Description,
        *,
        base: Base | None = None,
        mimic: bool = True,
        strict: bool = False,
        constrained: bool = True,
    ) -> Robot:
        """The robot of a description; see :func:`dqdyn.load` for the options."""
        on: str | None = base
        if not constrained:
            description, on = edit.bare(description, base)
        return cls(with_described_constraints(build(description, base=on, mimic=mimic, strict=strict)))

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
    def bodies(self) -> tuple[Body, ...]:
        """Moving bodies, ``bodies[i]`` on ``joints[i]``: ``.name`` and ``.inertia``."""
        return self.model.bodies

    @property
    def description(self) -> Description:
        """Links and joints by name, as written."""
        return self.model.description

    @property
    def postures(self) -> dict[str, Array]:
        """Named configurations q (nq,), such as keyframes of MJCF and group states of SRDF; see :meth:`with_postures`.

        Joints of which a file says nothing are neutral.
        """
        from dqdyn.robot.postures import configurations

        return configurations(self)

    @property
    def groups(self) -> dict[str, tuple[str, ...]]:
        """Names of joints by the name of their group, as SRDF has them."""
        return {group.name: group.joints for group in self.description.groups}

    @property
    def disabled_pairs(self) -> tuple[tuple[str, str], ...]:
        """Pairs of links whose contact with each other does not count, as SRDF and MJCF say."""
        return self.description.disabled_pairs

    @property
    def gravity(self) -> Array | Field:
        """Gravitational acceleration in m/s², world axes, shape (3,); or the field that the robot was given."""
        own = self.model.gravity
        return own.field if isinstance(own, FieldGravity) else np.array(own)

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

    @property
    def limits(self) -> Limits:
        """Limits of all joints that have coordinates of their own."""
        return self._limits

    @property
    def motors(self) -> AxisMotors:
        """The motor of each velocity axis (nv), within the limits of its joint; None where there is none."""
        return self.model.motors

    @property
    def actuated(self) -> npt.NDArray[np.bool_]:
        """Which velocity axes have a motor (nv,), read-only."""
        driven = np.array([motor is not None for motor in self.model.motors], dtype=bool)
        driven.setflags(write=False)
        return driven

    def __eq__(self, other: object) -> bool:
        return self.model == other.model if isinstance(other, Robot) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.model)

    def __reduce__(self) -> tuple[type[Robot], tuple[Model]]:
        return type(self), (self.model,)

    def __repr__(self) -> str:
        field = f", gravity={self.gravity!r}" if isinstance(self.model.gravity, FieldGravity) else ""
        return f"Robot({self.name!r}, nq={self.nq}, nv={self.nv}, base={self.base!r}, mass={self.mass:.4g} kg{field})"

    # --- inverse kinematics and functions ---------------------------------------------------------------------

    def inverse_kinematics(
        self,
        frame: FrameName,
        pose: PoseLike,
        q0: Reals | None = None,
        *,
        mask: Reals | None = None,
        mask_expressed: GoalAxes = "body",
        posture: Reals | None = None,
        starts: int = 1,
        restarts: int = 20,
        tolerance: float = 1e-9,
        iterations: int = 200,
        rng: Seed = 0,
        position_only: bool = False,
    ) -> InverseKinematics:
        """A configuration within the limits at which the frame has the pose; the result says why where it failed.

        The search starts at q0 (default: the posture, else neutral) and at ``starts`` − 1 more configurations: the
        posture, then random ones drawn by ``rng``. Of several solutions the nearest to the posture, else to q0, is
        taken, and all are in ``solutions``. Where none is found, it is tried ``restarts`` times more. ``tolerance``
        bounds the errors of rotation in rad and of translation in m.

        ``mask`` has six entries, 1 where the error [φ, p] must vanish and 0 where it is free, in the axes of the goal
        ("body") or of the world (``mask_expressed="aligned"``); ``position_only`` is [0, 0, 0, 1, 1, 1]. ``posture`` is
        a configuration to be near to, as far as the goal leaves joints free. Loops of the robot stay closed. Batches
        of poses, q0 and postures are searched together, and give an ``InverseKinematicsBatch``.
        """
        return solve(
            self,
            self.model.frame(frame),
            pose,
            q0,
            tolerance=tolerance,
            iterations=iterations,
            starts=starts,
            restarts=restarts,
            rng=rng,
            mask=mask,
            axes=mask_expressed,
            posture=posture,
            position_only=position_only,
        )

    def export(self, language: Literal["c", "casadi", "jax", "sympy"], name: str, **options: Option) -> Any:
        """The function ``name`` in another language: "c" (source text), "casadi" (``casadi.Function``), "jax", "sympy".

        ``robot.export("c", "twist_jacobian", frame="hand", symbol="hand_jacobian")``. Options beside those of the
        function: ``symbol`` and ``header`` for C, ``symbol`` and ``sparse`` for CasADi, ``constants`` for SymPy.
        "jax" gives a pure function of JAX arrays, ``block`` states at a time.
        """
        from dqdyn.robot.export import export

        return export(self._functions, language, name, options)

    def c_library(
        self,
        functions: Iterable[LibraryFunction] | Mapping[str, LibraryFunction],
        name: str | None = None,
        *,
        precision: Literal["float64", "float32"] = "float64",
    ) -> CLibrary:
        """Several functions as one C library with a header and a CMake file.

        ``robot.c_library({"hand": ("pose", {"frame": "tool"}), "tau": "inverse_dynamics"}, "arm").write("arm_c")``.
        ``functions``: names, or pairs of a name and options; in a dict by the names that they get in C.
        ``precision``: "float64", or "float32" for processors without doubles.
        """
        from dqdyn.robot.export import library

        return library(self._functions, functions, name, precision)

    # --- changes ----------------------------------------------------------------------------------------------

    def lock(self, values: Mapping[str, RealNumber | RealArray]) -> Robot:
        """Joints held at values: ``robot.lock({"finger": 0.0})``. Joints that mimic them are held too."""
        return self._rebuilt(*edit.lock(self.model, values))

    def with_payload(
        self, frame: str, mass: float, com: Reals = (0.0, 0.0, 0.0), inertia: RealArray = (0.0, 0.0, 0.0)
    ) -> Robot:
        """A body fixed to a frame: mass in kg, center of mass in m and tensor (or moments) in kg m², in its axes."""
        return self._rebuilt(edit.with_payload(self.model, frame, mass, com, inertia))

    def with_collisions(self, shapes: Mapping[str, Iterable[Shape]]) -> Robot:
        """Links that touch with other shapes: ``robot.with_collisions({"foot": [dq.Shape("box", (0.2, 0.1, 0.02))]})``.

        The shapes replace those of the link; an empty list leaves it without any. Masses and visuals stay.
        """
        return self._rebuilt(edit.with_collisions(self.model, shapes))

    def with_gravity(self, gravity: Reals | Field) -> Robot:
        """The same robot under another gravitational acceleration, (3,) in m/s², or in a gravity field.

        Fields are those of :mod:`dqdyn.dynamics.gravity`, as ``Central(mu)``, or any object with their two methods. All
        dynamics, energies and simulations are then in the field; only ``torque_regressor`` needs uniform gravity. MJCF
        and JSON cannot hold a field and refuse it; URDF holds no gravity at all, which is a loss like others.
        """
        return self._rebuilt(edit.with_gravity(self.model, gravity))

    def without_friction(self) -> Robot:
        """The same robot with joints that have neither damping nor Coulomb friction; armature stays."""
        return self._rebuilt(edit.without_friction(self.model))

    def with_motors(self, motors: Motors) -> Robot:
        """The same robot with other motors: ``robot.with_motors({"elbow": 80.0, "wrist": None})``.

        A dictionary changes the joints that it names: to a :class:`Motor`, a largest effort in N m or N, None for no
        motor, or a sequence of these, one per axis. A list of names says which joints have motors, and all others have
        none. The base is the joint "root_joint". Motors without an effort or velocity of their own have that of the
        limits of their joint, and none may exceed them.
        """
        from dqdyn.robot.motors import with_motors

        return self._rebuilt(with_motors(self.model, motors))

    def with_springs(self, springs: Springs) -> Robot:
        """The same robot with springs in its joints: ``robot.with_springs({"ankle": (120.0, 0.1), "toe": 4.0})``.

        Each is its stiffness in N m/rad or N/m, or (stiffness, rest) with the coordinate at which it is relaxed, 0
        unless given; a tuple in either place has one number per axis; None takes a spring away. A spring is part of all
        dynamics: inverse dynamics needs stiffness · (q − rest) more, and ½ stiffness · (q − rest)² is potential
        energy. Joints with a quaternion have no spring.
        """
        from dqdyn.robot.springs import with_springs

        return self._rebuilt(with_springs(self.model, springs))

    def with_postures(self, postures: Mapping[str, Reals | None]) -> Robot:
        """The same robot with more named postures: ``robot.with_postures({"home": q})``; None takes one away."""
        from dqdyn.robot.postures import with_postures

        return self._rebuilt(with_postures(self, postures))

    def with_base(self, base: Base) -> Robot:
        """The same robot on another base: "fixed", "free", "planar" or "differential"."""
        return self._rebuilt(self.description, base)

    def add_frame(self, name: str, on: str, pose: PoseLike) -> Robot:
        """A named frame fixed to the frame ``on`` at a pose (Pose, vec8 or 4×4)."""
        return self._rebuilt(edit.add_frame(self.model, name, on, pose))

    def in_coordinates(
        self, coordinates: Choices = "quaternion", joint: str | Sequence[str] | None = None
    ) -> RobotInCoordinates:
        """The robot with other coordinates for its free and spherical joints, in which every velocity is q̇.

        ``coordinates`` is "euler-zyx" (or any of the twelve sequences, about moved axes), "quaternion",
        "rotation-matrix", "dual-quaternion" (free joints), a ``Parameterisation`` of your own, or a mapping from joints
        to any of these. ``joint`` names the joints that get them, by default all that can have them; the others get
        "quaternion".
        """
        from dqdyn.robot.coordinates import in_coordinates

        return in_coordinates(self, coordinates, joint)

    def in_speeds(self, B: Speeds | None = None, *, Y: Speeds | None = None) -> RobotInSpeeds:
        """The robot in quasi-velocities u of your choice, by Kane's equations: v = B(q) u, or u = Y(q) v.

        ``B`` and ``Y`` are functions over scalars that take q as a list and give rows, as ``lambda q: [[1.0, 0.0],
        [1.0, 1.0]]``; they are traced, so they use +, -, * and functions of ``dqdyn.algebra.scalar``. Y is square. B
        may have fewer columns than rows: u then spans the possible motions, which must obey the robot's constraints.
        """
        from dqdyn.robot.speeds import RobotInSpeeds

        return RobotInSpeeds(self, B, Y)

    # --- other libraries and files --------------------------------------------------------------------------------

    def to_pinocchio(self, model: Any) -> Layout:
        """Converter of q, v, a, τ, M and Jacobians to and from a ``pinocchio.Model`` with the same joint names."""
        return pinocchio_layout(self.model, model)

    def to_mujoco(self, model: Any) -> Layout:
        """Converter of q, v, a, τ, M and Jacobians to and from a ``mujoco.MjModel`` with the same joint names."""
        return mujoco_layout(self.model, model)

    def write(self, path: str | Path, *, lossy: bool = False) -> Path:
        """Write the robot as .urdf, .xml (MJCF) or .json, by the ending; an existing file is replaced whole.

        What the format cannot hold is an error that lists all of it, also as ``error.losses``; ``lossy=True`` leaves it
        out with one warning.
        """
        from dqdyn.formats.save import save

        return save(self.model, path, lossy=lossy)

    def to_png(
        self,
        path: str | Path,
        q: Reals | None = None,
        *,
        size: tuple[int, int] | None = None,
        azimuth: RealNumber | None = None,
        elevation: RealNumber | None = None,
        zoom: RealNumber | None = None,
    ) -> Path:
        """Write a picture of the robot at q (nq,), default: neutral within its limits; no browser is needed.

        ``size`` (width, height) in pixels; ``azimuth`` and ``elevation`` of the camera in rad; ``zoom`` 2 shows all
        twice as large. With a scene or markers: :func:`dqdyn.view.write_robot_png`.
        """
        given = {"size": size, "azimuth": azimuth, "elevation": elevation, "zoom": zoom}
        look = {name: value for name, value in given.items() if value is not None}
        return Path(import_module(_FILM).write_robot_png(self, path, q, **look))

    def _repr_html_(self) -> str | None:
        """Facts, joints, tree and 3-D view in a notebook."""
        html: str | None = import_module(_NOTEBOOK).robot_html(self)
        return html

    def _rebuilt(self, description: Description, base: str | None = None) -> Robot:
        base = self.base if base is None else base
        model = build(description, base=base, mimic=self.model.mimic, quiet=True)
        for text in model.warnings:
            if text not in self.warnings:  # the old ones have been given
                warnings.warn(text, ModelWarning, stacklevel=3)
        return Robot(with_kept_constraints(self.model, model))
