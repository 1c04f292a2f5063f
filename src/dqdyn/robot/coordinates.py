"""A robot in other coordinates: ``robot.in_coordinates("quaternion")``, where every velocity is q̇."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dqdyn.arrays import Array, Reals
from dqdyn.caching import cached_property
from dqdyn.coordinates.joint_coordinates import JointCoordinates
from dqdyn.coordinates.names import CoordinateChoice, coordinates_of
from dqdyn.errors import Error
from dqdyn.robot import coordinate_checks as checks
from dqdyn.robot.base import Inputs, WithFunctions
from dqdyn.robot.compiled_functions import CompiledFunctions
from dqdyn.robot.coordinate_checks import Contacts, as_contacts, named_joints
from dqdyn.robot.coordinate_variables import CoordinateVariables
from dqdyn.robot.functions.coordinates import COORDINATES
from dqdyn.robot.options import DEFAULTS, Options
from dqdyn.robot.state import as_state

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot


class RobotInCoordinates(WithFunctions):
    """A robot whose free and spherical joints have coordinates of your choice; made by ``Robot.in_coordinates``.

    ``nq`` coordinates q have the velocities q̇ (``qd``) and accelerations q̈ (``qdd``), and obey ``nc`` conditions. The
    robot's own q and v are called minimal. Every method takes one state (n,) or a batch (..., n). Coordinates that miss
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

    # --- conditions -----------------------------------------------------------------------------------------------

    def constraint_residual(self, q: Reals) -> Array:
        """C(q) (..., nc): zero for coordinates of rotations and poses."""
        return self._run("constraint_residual", (q,))

    def constraint_matrix(self, q: Reals) -> Array:
        """A (..., nc, nq) with A q̇ = 0."""
        return self._run("constraint_matrix", (q,))

    def constraint_bias(self, q: Reals, qd: Reals) -> Array:
        """b (..., nc) with A q̈ = b."""
        return self._run("constraint_bias", (q, qd))

    def project(self, q: Reals, qd: Reals | None = None) -> Any:
        """The nearest q that obeys the conditions, by Newton's method; with q̇ also its part along them."""
        q = np.array(self._variables.state("q", q), dtype=float)
        for _ in range(20):
            residual = self.constraint_residual(q)
            if not residual.size or np.abs(residual).max() < 1e-15:
                break
            inverse = np.linalg.pinv(self.constraint_matrix(q))
            q = q - 0.5 * np.einsum("...ij,...j->...i", inverse, residual)  # rows of A are half gradients
        if self.nc and np.abs(self.constraint_residual(q)).max() > 1e-9:
            raise Error(
                f"coordinates of {self.robot.name!r} are too far from their conditions to be projected: "
                f"{np.abs(self.constraint_residual(q)).max():.3g} is left after 20 steps."
            )
        if qd is None:
            return q
        rate = np.array(self._variables.state("qd", qd), dtype=float)
        A = self.constraint_matrix(q)
        across = np.einsum("...ij,...jk,...k->...i", np.linalg.pinv(A), A, rate)
        return q, rate - across

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
        self, q: Reals, qd: Reals, qdd: Reals, contacts: Contacts | None = None, *, check: bool = True
    ) -> Array:
        """Forces (..., nq) that give q̈; ``contacts`` as in :meth:`forward_dynamics`."""
        points, forces = as_contacts(self.robot.model, contacts, check)
        return self._at_state("inverse_dynamics", (q, qd, qdd, *forces), Options(contacts=points), check=check)

    def forward_dynamics(
        self,
        q: Reals,
        qd: Reals,
        tau: Reals,
        contacts: Contacts | None = None,
        method: Literal["auto", "minimal", "kkt"] = "auto",
        *,
        check: bool = True,
    ) -> tuple[Array, Array]:
        """(q̈ (..., nq), λ (..., nc)) under forces tau (..., nq) on q̇; :meth:`forces` makes them of joint torques.

        ``contacts`` maps a frame, or (frame, point in its axes), to a force (..., 3) in world axes on the robot.
        ``method`` is "minimal" (through the robot's own v; "auto" takes it) or "kkt" (M q̈ = … + Aᵀλ and A q̈ = b in one
        system, as M is singular). Near gimbal lock "kkt" loses digits twice as fast: its error is estimated there, and
        the state refused where it exceeds 1e-6 of the largest acceleration.
        """
        self.robot._functions.variables.inertia.require_inertia()
        points, forces = as_contacts(self.robot.model, contacts, check)
        options, given = Options(method=method, contacts=points), (q, qd, tau, *forces)
        both = self._at_state("forward_dynamics", given, options, regular=True, check=check)
        second = both[..., : self.nq]
        if method == "kkt" and check:
            better = lambda: self._run("forward_dynamics", given, Options(contacts=points))[..., : self.nq]
            checks.check_kkt(self._tree, self._variables.state("q", q), second, better)
        return second, both[..., self.nq :]

    def point_jacobian(self, frame: str, q: Reals, point: Reals = (0.0, 0.0, 0.0), *, check: bool = True) -> Array:
        """J_t (..., 3, nq) of a point given in a frame: its velocity in world axes is J_t q̇."""
        ((name, at),), _ = as_contacts(self.robot.model, {(frame, tuple(point)): np.zeros(3)}, True)
        return self._at_state("point_jacobian", (q,), Options(frame=name, point=at), check=check)

    def _at_state(
        self, name: str, inputs: Inputs, options: Options = DEFAULTS, *, regular: bool = False, check: bool = True
    ) -> Array:
        """A function of the state, q first and q̇ second where it is wanted, whose coordinates are checked."""
        if check:
            with_rates = len(inputs) > 1 and COORDINATES[name].inputs[1] == "qd"
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
    if model.constraints:
        raise Error(
            f"{robot.name!r} has constraints, which other coordinates do not carry: use without_constraints() first."
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
