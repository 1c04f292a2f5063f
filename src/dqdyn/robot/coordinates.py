"""A robot in other coordinates: ``robot.in_coordinates("quaternion")``, where every velocity is q̇."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, Reals, Times
from dqdyn.caching import cached_property
from dqdyn.coordinates.joint_coordinates import JointCoordinates
from dqdyn.coordinates.names import CoordinateChoice, coordinates_of
from dqdyn.errors import Error, StateError
from dqdyn.kinematics.frames import Expressed
from dqdyn.robot import coordinate_checks as checks
from dqdyn.robot.base import Inputs, WithFunctions
from dqdyn.robot.compiled_functions import CompiledFunctions
from dqdyn.robot.coordinate_checks import Contacts, as_contacts, named_joints
from dqdyn.robot.coordinate_variables import CoordinateVariables
from dqdyn.robot.options import DEFAULTS, Options
from dqdyn.robot.state import as_input, as_state

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot


class RobotInCoordinates(WithFunctions):
    """A robot whose free and spherical joints have coordinates of your choice; made by ``Robot.in_coordinates``.

    ``nq`` coordinates q have the velocities q̇ (``qd``) and accelerations q̈ (``qdd``), and obey ``nc`` conditions. The
    robot's own q and v are called minimal. Two kinds of equations bind q: the *conditions* of the coordinates
    (``constraint_matrix``, …, named by ``condition_rows``) and the robot's own *constraints*, such as loops, contacts
    and rolling (``robot_constraint_matrix``, …, named by ``robot_constraint_rows``).

    Every method takes one state (n,) or a batch (..., n). Coordinates that miss
    their conditions by more than 1e-6 are refused, and so are rates that leave them; :meth:`project` mends both.

    :meth:`function` gives compiled functions for loops, such as "mass_matrix" or "forward_dynamics" (which gives q̈ and
    λ in one row). With ``contacts``, a list of (frame, point), the contact forces are the last input, one after the
    other. Inputs must be finite and of the right size; conditions of the coordinates are not checked.
    """

    def __init__(self, robot: Robot, choices: Mapping[str, JointCoordinates]) -> None:
        self.robot, self.coordinates = robot, dict(choices)
        self._variables = CoordinateVariables(robot.model, choices)
        self._tree = self._variables.tree
        self._set_functions(CompiledFunctions(self._variables, RobotInCoordinates))

    @property
    def nq(self) -> int:
        """Number of coordinates, and of rates."""
        return self._tree.n

    @property
    def nv(self) -> int:
        """Degrees of freedom: nq − nc."""
        return self.robot.nv

    @property
    def nc(self) -> int:
        """Number of conditions that the coordinates obey."""
        return self._tree.conditions

    @property
    def labels(self) -> tuple[str, ...]:
        """A name per coordinate, such as "root_joint.w"."""
        return self._tree.labels

    @cached_property
    def condition_rows(self) -> tuple[str, ...]:
        """The joint and its coordinates behind each condition, such as "root_joint: quaternion"."""
        names = [(f"{part.joint.name}: {part.by.name}", part.conditions) for part in self._tree.parts if part.by]
        return tuple(name for name, rows in names for _ in range(rows.stop - rows.start))

    @property
    def robot_constraint_rows(self) -> tuple[str, ...]:
        """The name of the constraint behind each row of the robot's own; none without constraints."""
        return self.robot.constraint_rows

    @cached_property
    def slices(self) -> dict[str, slice]:
        """Where the coordinates of each joint are in q."""
        return {part.joint.name: part.q for part in self._tree.parts}

    # --- to and from the minimal state ----------------------------------------------------------------------------

    def from_minimal(self, q: Reals, v: Reals | None = None, a: Reals | None = None, *, check: bool = True) -> Any:
        """q, (q, q̇) or (q, q̇, q̈) from the robot's own q, v and a, as many as are given."""
        own = as_state(self.robot.model, "q", q, check)
        here = self._run("from_minimal", (own,), check=check)
        if v is None:
            return here
        if check:
            checks.check_regular(self._tree, here)
        rate = self._run("rate", (here, v), check=check)
        if a is None:
            return here, rate
        return here, rate, self._run("second_rate", (here, rate, v, a), check=check)

    def to_minimal(self, q: Reals, qd: Reals | None = None, qdd: Reals | None = None, *, check: bool = True) -> Any:
        """The robot's own q, (q, v) or (q, v, a) from q, q̇ and q̈, as many as are given."""
        own = self._at_state("minimal", (q,), check=check)
        if qd is None:
            return own
        v = self._at_state("velocity", (q, qd), check=check)
        return (own, v) if qdd is None else (own, v, self._at_state("acceleration", (q, qd, qdd), check=check))

    def velocity_matrix(self, q: Reals, *, check: bool = True) -> Array:
        """E (..., nv, nq) with v = E q̇."""
        return self._at_state("velocity_matrix", (q,), check=check)

    def rate_matrix(self, q: Reals, *, check: bool = True) -> Array:
        """B (..., nq, nv) with q̇ = B v; E B = 1."""
        return self._at_state("rate_matrix", (q,), regular=True, check=check)

    def forces(self, q: Reals, tau: Reals, *, check: bool = True) -> Array:
        """Eᵀτ (..., nq): forces of the robot's joints, (..., nv), as forces on q̇."""
        return self._at_state("forces", (q, tau), check=check)

    def minimal_forces(self, q: Reals, tau: Reals, *, check: bool = True) -> Array:
        """Bᵀτ (..., nv): forces on q̇, (..., nq), as forces of the robot's joints."""
        return self._at_state("minimal_forces", (q, tau), regular=True, check=check)

    # --- conditions of the coordinates, and constraints of the robot ----------------------------------------------

    def constraint_residual(self, q: Reals) -> Array:
        """C(q) (..., nc) of the conditions of the coordinates: zero for coordinates of rotations and poses."""
        return self._run("constraint_residual", (q,))

    def constraint_matrix(self, q: Reals) -> Array:
        """A (..., nc, nq) with A q̇ = 0, of the conditions of the coordinates."""
        return self._run("constraint_matrix", (q,))

    def constraint_bias(self, q: Reals, qd: Reals) -> Array:
        """b (..., nc) with A q̈ = b, of the conditions of the coordinates."""
        return self._run("constraint_bias", (q, qd))

    def robot_constraint_residual(self, q: Reals, t: Times = 0.0, *, check: bool = True) -> Array:
        """What the robot's holonomic constraints ask to vanish at q, in m and rad (..., mh)."""
        return self._of_robot("robot_constraint_residual", (q,), t, (0,), check)

    def robot_constraint_matrix(self, q: Reals, t: Times = 0.0, *, check: bool = True) -> Array:
        """A E (..., m, nq) of the robot's constraints, A v = b: rows as in :attr:`robot_constraint_rows`."""
        return self._of_robot("robot_constraint_matrix", (q,), t, (0, self.nq), check)

    def robot_constraint_bias(self, q: Reals, qd: Reals, t: Times = 0.0, *, check: bool = True) -> Array:
        """b − A Ė q̇ (..., m), which A E q̈ equals; with what moving constraints and the robot's stabilisation add."""
        return self._of_robot("robot_constraint_bias", (q, qd), t, (0,), check)

    def robot_constraint_velocity(self, q: Reals, qd: Reals, t: Times = 0.0, *, check: bool = True) -> Array:
        """A E q̇ − b (..., m) of the robot's constraints, which must vanish."""
        return self._of_robot("robot_constraint_velocity", (q, qd), t, (0,), check)

    def require_consistent(self, q: Reals, qd: Reals | None = None, t: Times = 0.0, *, tolerance: float = 1e-6) -> None:
        """A :class:`StateError` unless q (and q̇) obey conditions and constraints: which, how far off, the remedy."""
        own, v = (self.to_minimal(q), None) if qd is None else self.to_minimal(q, qd)
        self.robot.require_consistent(own, v, t, tolerance=tolerance)

    def project(self, q: Reals, qd: Reals | None = None, t: Times = 0.0) -> Any:
        """A q that obeys conditions and constraints; with q̇ also its part along both.

        First to the nearest q that obeys the conditions of the coordinates, by Newton's method; then along them onto
        the robot's constraints as ``Robot.project`` goes there, by steps that are shortest in the metric of M.
        """
        from dqdyn.robot.coordinate_projection import project

        return project(self, q, qd, t)

    # --- dynamics -------------------------------------------------------------------------------------------------

    def mass_matrix(self, q: Reals, *, check: bool = True) -> Array:
        """M (..., nq, nq), of rank nv: singular where coordinates are redundant."""
        return self._at_state("mass_matrix", (q,), check=check)

    def coriolis_matrix(self, q: Reals, qd: Reals, *, check: bool = True) -> Array:
        """N (..., nq, nq), with Ṁ − 2N skew-symmetric."""
        return self._at_state("coriolis_matrix", (q, qd), check=check)

    def bias_forces(self, q: Reals, qd: Reals, *, check: bool = True) -> Array:
        """N q̇ and gravity, damping and friction (..., nq): the forces at q̈ = 0."""
        return self._at_state("bias_forces", (q, qd), check=check)

    def gravity_forces(self, q: Reals, *, check: bool = True) -> Array:
        """Forces (..., nq) that hold the robot at rest against gravity."""
        return self._at_state("gravity_forces", (q,), check=check)

    def inverse_dynamics(
        self,
        q: Reals,
        qd: Reals,
        qdd: Reals,
        contacts: Contacts | None = None,
        *,
        actuated: str | Sequence[str] | None = None,
        t: Times = 0.0,
        check: bool = True,
    ) -> Array:
        """Forces (..., nq) on q̇ that give q̈; ``contacts`` as in :meth:`forward_dynamics`.

        The robot's constraints need not carry anything in them. With ``actuated``, names of joints or "all", they carry
        what they can, and the result is Eᵀτ of the smallest τ of those joints, as in ``Robot.inverse_dynamics``.
        """
        points, forces = as_contacts(self.robot.model, contacts, check)
        needed = self._at_state("inverse_dynamics", (q, qd, qdd, *forces), Options(contacts=points), check=check)
        if actuated is None:
            return needed
        from dqdyn.robot.actuation import least_torques

        own, v, a = self.to_minimal(q, qd, qdd, check=check)
        tau = least_torques(self.robot, own, v, a, self.minimal_forces(q, needed, check=check), actuated, t)
        return self.forces(q, tau, check=check)

    def forward_dynamics(
        self,
        q: Reals,
        qd: Reals,
        tau: Reals,
        contacts: Contacts | None = None,
        method: Literal["auto", "minimal", "kkt"] = "auto",
        *,
        t: Times = 0.0,
        check: bool = True,
    ) -> tuple[Array, Array]:
        """(q̈ (..., nq), λ (..., nc + m)) under forces tau (..., nq) on q̇; :meth:`forces` makes them of joint torques.

        λ holds the multipliers of the nc conditions of the coordinates, then those of the m rows of the robot's
        constraints, which q̈ obeys too (0 for rows that depend on earlier ones): M q̈ + … = tau + Aᵀλ[:nc] + A_rᵀλ[nc:].
        ``t`` in s matters to constraints that depend on the time.

        ``contacts`` maps a frame, or (frame, point in its axes), to a force (..., 3) in world axes on the robot.
        ``method`` is "minimal" (through the robot's own v; "auto" takes it) or "kkt" (M q̈ = … + Aᵀλ and A q̈ = b in one
        system, as M is singular). Near gimbal lock "kkt" loses digits twice as fast: its error is estimated there, and
        the state refused where it exceeds 1e-6 of the largest acceleration.
        """
        self.robot._functions.variables.inertia.require_inertia()
        points, forces = as_contacts(self.robot.model, contacts, check)
        timed = any(c.timed for c in self.robot.constraints)
        given = (q, qd, tau, *forces, t) if timed else (q, qd, tau, *forces)
        options = Options(method=method, contacts=points, time=timed)
        both = self._at_state("forward_dynamics", given, options, regular=True, check=check)
        second = both[..., : self.nq]
        if method == "kkt" and check:
            better = lambda: self._run("forward_dynamics", given, options._replace(method="auto"))[..., : self.nq]
            checks.check_kkt(self._tree, self._variables.state("q", q), second, better)
        return second, both[..., self.nq :]

    # --- points and frames ----------------------------------------------------------------------------------------

    def point_jacobian(self, frame: str, q: Reals, point: Reals = (0.0, 0.0, 0.0), *, check: bool = True) -> Array:
        """J_t (..., 3, nq) of a point given in a frame: its velocity in world axes is J_t q̇."""
        return self._at_state("point_jacobian", (q,), self._at_point(frame, point), check=check)

    def point_jacobian_rate(
        self, frame: str, q: Reals, qd: Reals, point: Reals = (0.0, 0.0, 0.0), *, check: bool = True
    ) -> Array:
        """J̇_t (..., 3, nq) along q̇: the acceleration of the point in world axes is J_t q̈ + J̇_t q̇."""
        return self._at_state("point_jacobian_rate", (q, qd), self._at_point(frame, point), check=check)

    def point_bias(
        self, frame: str, q: Reals, qd: Reals, point: Reals = (0.0, 0.0, 0.0), *, check: bool = True
    ) -> Array:
        """J̇_t q̇ (..., 3) in m/s², world axes: what the acceleration of the point is at q̈ = 0, with fewer operations."""
        return self._at_state("point_bias", (q, qd), self._at_point(frame, point), check=check)

    def twist_jacobian(self, frame: str, q: Reals, expressed: Expressed = "body", *, check: bool = True) -> Array:
        """J (..., 6, nq) with [ω, v] = J q̇ of a frame; ``expressed`` as in ``Robot.twist_jacobian``."""
        return self._at_state("twist_jacobian", (q,), Options(frame=frame, expressed=expressed), check=check)

    def twist_jacobian_rate(
        self, frame: str, q: Reals, qd: Reals, expressed: Expressed = "body", *, check: bool = True
    ) -> Array:
        """J̇ (..., 6, nq) along q̇: the rate of the twist's components is J q̈ + J̇ q̇."""
        return self._at_state("twist_jacobian_rate", (q, qd), Options(frame=frame, expressed=expressed), check=check)

    def twist_bias(
        self, frame: str, q: Reals, qd: Reals, expressed: Expressed = "body", *, check: bool = True
    ) -> Array:
        """J̇ q̇ (..., 6) of the twist of a frame."""
        return self._at_state("twist_bias", (q, qd), Options(frame=frame, expressed=expressed), check=check)

    # --- inside ---------------------------------------------------------------------------------------------------

    def _at_point(self, frame: str, point: Reals) -> Options:
        what, data = f"the point of frame {frame!r}", {"argument": "point", "frame": frame}
        place = real_array(point, what, StateError, **data)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise StateError(f"{what} has three finite components, in m; found {point!r}.", **data)
        x, y, z = place.tolist()
        return Options(frame=frame, point=(x, y, z))

    def _of_robot(self, name: str, state: Inputs, t: Times, empty: tuple[int, ...], check: bool) -> Array:
        """A function of the robot's constraints; of shape ``empty`` and zero where there are none."""
        if self.robot.constraints:
            return self._at_state(name, (*state, t), check=check)
        arrays = [self._variables.state(kind, x, check) for kind, x in zip(("q", "qd"), state, strict=False)]
        arrays.append(as_input(self.robot.model, "t", 1, t, check))
        return np.zeros((*np.broadcast_shapes(*(x.shape[:-1] for x in arrays)), *empty))

    def _at_state(
        self, name: str, inputs: Inputs, options: Options = DEFAULTS, *, regular: bool = False, check: bool = True
    ) -> Array:
        """A function of the state, q first and q̇ second where it is wanted, whose coordinates are checked."""
        if check:
            with_rates = len(inputs) > 1 and self._variables.functions[name].inputs[1] == "qd"
            self._check(inputs[: 2 if with_rates else 1], regular)
        return self._run(name, inputs, options, check=check)

    def _check(self, state: Inputs, regular: bool) -> None:
        health = self._run("health" if len(state) == 1 else "health_with_rates", state)
        if health.dtype == object or checks.is_healthy(self._tree, health):
            return
        q = self._variables.state("q", state[0])
        checks.check_state(self._tree, q)
        if regular:
            checks.check_regular(self._tree, q)
        if len(state) > 1:
            checks.check_rates(self._tree, self._run("constraint_matrix", (q,)), self._variables.state("qd", state[1]))

    def __reduce__(self) -> Any:
        return RobotInCoordinates, (self.robot, self.coordinates)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RobotInCoordinates):
            return NotImplemented
        return self.robot == other.robot and self.coordinates == other.coordinates

    def __hash__(self) -> int:
        return hash((self.robot, tuple(self.coordinates)))

    def __repr__(self) -> str:
        chosen = ", ".join(f"{joint}: {by.name}" for joint, by in self.coordinates.items())
        return f"RobotInCoordinates({self.robot.name!r}, nq={self.nq}, nv={self.nv}, nc={self.nc}, {chosen})"


Choices = CoordinateChoice | Mapping[str, CoordinateChoice]
"""Coordinates for all joints that can have them, or by the names of joints."""


def in_coordinates(robot: Robot, coordinates: Choices, joint: str | Sequence[str] | None) -> RobotInCoordinates:
    """The robot in the coordinates of that name; see :meth:`dqdyn.Robot.in_coordinates`."""
    model = robot.model
    able = [j for j in model.joints if j.motion.group is not None]
    if not able:
        raise Error(
            f"{robot.name!r} has neither a free nor a spherical joint whose coordinates could be chosen: load it with "
            "base='free', or use the robot itself."
        )
    if isinstance(coordinates, Mapping):
        if joint is not None:
            raise Error("give coordinates as a mapping from joints, or one choice with joint=; not both.")
        wanted = dict(coordinates)
    else:
        wanted = dict.fromkeys(named_joints(model, coordinates, joint), coordinates)
    for name in wanted:
        coordinates_of(model.joint(name), wanted[name])
    return RobotInCoordinates(robot, {j.name: coordinates_of(j, wanted.get(j.name, "quaternion")) for j in able})
