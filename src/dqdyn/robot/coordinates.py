"""A robot in other coordinates: ``robot.in_coordinates("quaternion")``, where every velocity is q̇."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.caching import cached_property
from dqdyn.coordinates.minimal_form import Contact
from dqdyn.coordinates.names import coordinates_of
from dqdyn.errors import Error
from dqdyn.robot.coordinate_bindings import CoordinateBindings
from dqdyn.robot.coordinate_checks import as_contacts, check_kkt, check_regular, named_joints
from dqdyn.robot.coordinate_functions import FUNCTIONS
from dqdyn.robot.state import as_state

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot


class RobotInCoordinates(CoordinateBindings):
    """A robot whose free and spherical joints have coordinates of your choice; made by ``Robot.in_coordinates``.

    ``nq`` coordinates q have the velocities q̇ (``qd``) and accelerations q̈ (``qdd``), and obey ``nc`` conditions. The
    robot's own q and v are called minimal. Every method takes one state (n,) or a batch (..., n). Coordinates that miss
    their conditions by more than 1e-6 are refused, and so are rates that leave them; :meth:`project` mends both.
    """

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

    def from_minimal(self, q: Any, v: Any = None, a: Any = None, *, check: bool = True) -> Any:
        """q, (q, q̇) or (q, q̇, q̈) from the robot's own q, v and a, as many as are given."""
        own = as_state(self.robot.model, "q", q, check)
        found = self._call("from_minimal", (own,), check)
        if v is None:
            return found
        if check:
            check_regular(self._tree, found)
        rate = self._call("rate", (found, v), check)
        if a is None:
            return found, rate
        return found, rate, self._call("second_rate", (found, rate, v, a), check)

    def to_minimal(self, q: Any, qd: Any = None, qdd: Any = None, *, check: bool = True) -> Any:
        """The robot's own q, (q, v) or (q, v, a) from q, q̇ and q̈, as many as are given."""
        own = self._run("minimal", (q,), check=check)
        if qd is None:
            return own
        v = self._run("velocity", (q, qd), check=check)
        return (own, v) if qdd is None else (own, v, self._run("acceleration", (q, qd, qdd), check=check))

    def velocity_matrix(self, q: Any, *, check: bool = True) -> np.ndarray:
        """E (..., nv, nq) with v = E q̇."""
        return self._run("velocity_matrix", (q,), check=check)

    def rate_matrix(self, q: Any, *, check: bool = True) -> np.ndarray:
        """B (..., nq, nv) with q̇ = B v; E B = 1."""
        return self._run("rate_matrix", (q,), regular=True, check=check)

    def forces(self, q: Any, tau: Any, *, check: bool = True) -> np.ndarray:
        """Eᵀτ (..., nq): forces of the robot's joints, (..., nv), as forces on q̇."""
        return self._run("forces", (q, tau), check=check)

    def minimal_forces(self, q: Any, tau: Any, *, check: bool = True) -> np.ndarray:
        """Bᵀτ (..., nv): forces on q̇, (..., nq), as forces of the robot's joints."""
        return self._run("minimal_forces", (q, tau), regular=True, check=check)

    # --- conditions -----------------------------------------------------------------------------------------------

    def constraint_residual(self, q: Any) -> np.ndarray:
        """C(q) (..., nc): zero for coordinates of rotations and poses."""
        return self._call("constraint_residual", (q,))

    def constraint_matrix(self, q: Any) -> np.ndarray:
        """A (..., nc, nq) with A q̇ = 0."""
        return self._call("constraint_matrix", (q,))

    def constraint_bias(self, q: Any, qd: Any) -> np.ndarray:
        """b (..., nc) with A q̈ = b."""
        return self._call("constraint_bias", (q, qd))

    def project(self, q: Any, qd: Any = None) -> Any:
        """The nearest q that obeys the conditions, by Newton's method; with q̇ also its part along them."""
        q = np.array(self._door("q", q), dtype=float)
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
        rate = np.array(self._door("qd", qd), dtype=float)
        A = self.constraint_matrix(q)
        across = np.einsum("...ij,...jk,...k->...i", np.linalg.pinv(A), A, rate)
        return q, rate - across

    # --- dynamics -------------------------------------------------------------------------------------------------

    def mass_matrix(self, q: Any, *, check: bool = True) -> np.ndarray:
        """M (..., nq, nq), of rank nv: singular where coordinates are redundant."""
        return self._run("mass_matrix", (q,), check=check)

    def coriolis_matrix(self, q: Any, qd: Any, *, check: bool = True) -> np.ndarray:
        """N (..., nq, nq), with Ṁ − 2N skew-symmetric."""
        return self._run("coriolis_matrix", (q, qd), check=check)

    def bias_forces(self, q: Any, qd: Any, *, check: bool = True) -> np.ndarray:
        """N q̇ and gravity, damping and friction (..., nq): the forces at q̈ = 0."""
        return self._run("bias_forces", (q, qd), check=check)

    def gravity_forces(self, q: Any, *, check: bool = True) -> np.ndarray:
        """Forces (..., nq) that hold the robot at rest against gravity."""
        return self._run("gravity_forces", (q,), check=check)

    def inverse_dynamics(
        self, q: Any, qd: Any, qdd: Any, contacts: Mapping[Any, Any] | None = None, *, check: bool = True
    ) -> np.ndarray:
        """Forces (..., nq) that give q̈; ``contacts`` as in :meth:`forward_dynamics`."""
        found, forces = as_contacts(self.robot.model, contacts, check)
        return self._run("inverse_dynamics", (q, qd, qdd, *forces), options=(found,), check=check)

    def forward_dynamics(
        self,
        q: Any,
        qd: Any,
        tau: Any,
        contacts: Mapping[Any, Any] | None = None,
        method: str = "auto",
        *,
        check: bool = True,
    ) -> tuple[np.ndarray, np.ndarray]:
        """(q̈ (..., nq), λ (..., nc)) under forces tau (..., nq) on q̇; :meth:`forces` makes them of joint torques.

        ``contacts`` maps a frame, or (frame, point in its axes), to a force (..., 3) in world axes on the robot.
        ``method`` is "minimal" (through the robot's own v; "auto" takes it) or "kkt" (M q̈ = … + Aᵀλ and A q̈ = b in one
        system, as M is singular). Near gimbal lock "kkt" loses digits twice as fast: its error is estimated there, and
        the state refused where it exceeds 1e-6 of the largest acceleration.
        """
        if method not in ("auto", "minimal", "kkt"):
            raise Error(f"method is 'auto', 'minimal' or 'kkt'; found {method!r}.", method=method)
        self.robot._bindings.require_inertia()
        found, forces = as_contacts(self.robot.model, contacts, check)
        name, given = "forward_dynamics_by_kkt" if method == "kkt" else "forward_dynamics", (q, qd, tau, *forces)
        both = self._run(name, given, options=(found,), regular=True, check=check)
        second = both[..., : self.nq]
        if method == "kkt" and check:
            better = lambda: self._call("forward_dynamics", given, options=(found,))[..., : self.nq]
            check_kkt(self._tree, self._door("q", q), second, better)
        return second, both[..., self.nq :]

    def point_jacobian(self, frame: str, q: Any, point: Any = (0.0, 0.0, 0.0), *, check: bool = True) -> np.ndarray:
        """J_t (..., 3, nq) of a point given in a frame: its velocity in world axes is J_t q̇."""
        at, _ = as_contacts(self.robot.model, {(frame, tuple(point)): np.zeros(3)}, True)
        return self._run("point_jacobian", (q,), options=(at,), check=check)

    def function(self, name: str, contacts: Iterable[Contact] = ()) -> Callable[..., np.ndarray]:
        """A compiled function for loops, such as "mass_matrix" or "forward_dynamics" (which gives q̈ and λ in one row).

        Inputs must be finite and of the right size; conditions of the coordinates are not checked.
        """
        made = self._function(name, (tuple(contacts),) if "contacts" in FUNCTIONS[name].options else ())
        fast: Callable[..., np.ndarray] = made.fast
        return fast

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


def in_coordinates(
    robot: Robot, coordinates: Any = "quaternion", joint: str | Sequence[str] | None = None
) -> RobotInCoordinates:
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
