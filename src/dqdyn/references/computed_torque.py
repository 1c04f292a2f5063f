"""Computed torque: inverse dynamics cancels the dynamics, which leaves a double integrator per joint."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import Array, RealArray, RealNumber
from dqdyn.compile.trace.interpret import interpret
from dqdyn.errors import Error
from dqdyn.model.motors import said_by
from dqdyn.references.gains import gain_matrix, require_decay
from dqdyn.references.path import TimedPath
from dqdyn.references.space import Part, Space
from dqdyn.references.tracking import acceleration_of, compiled_acceleration, compiled_error, error_motion
from dqdyn.robot import Robot
from dqdyn.robot.control_law import ControlLaw
from dqdyn.robot.options import InverseMethod

Vector = Sequence[Scalar] | Array
Reference = Callable[[Scalar], tuple[Vector, Vector, Vector]]
"""``reference(t)`` gives the wanted q (nq), v (nv) and a (nv)."""


class ComputedTorque:
    """τ = M a_c + c + g + JᵀF [Farias, eq. (73)] with a_c of :meth:`acceleration`; a controller for ``dq.simulate``.

    ``reference(t)`` gives (q, v, a). ``kp`` in 1/s² and ``kd`` in 1/s are numbers, one per velocity (nv), or matrices
    (nv, nv); the default is critically damped. ``wrenches`` maps frames to the [f, τ] that act from outside. With it
    the robot obeys v̇ = a_c [Farias, eq. (74)], so the error e decays as ë + K_D ė + K_P e = 0, on joints with
    quaternions too. The printed law holds F on the side of the forces to be given; here wrenches act on the robot, so
    they are subtracted. Robots with an axis without a motor are refused, because nothing would move them there;
    thrusters or omnidirectional wheels are given to a base by ``robot.with_motors``.
    """

    level = "torque"

    def __init__(
        self,
        robot: Robot,
        reference: Reference | TimedPath,
        kp: RealNumber | RealArray = 100.0,
        kd: RealNumber | RealArray = 20.0,
        wrenches: Mapping[str, RealArray] | None = None,
        *,
        method: InverseMethod = "auto",
    ) -> None:
        _require_motors(robot)
        self.robot, self.reference, self.wrenches, self.method = robot, reference, wrenches, method
        self.kp, self.kd = gain_matrix("kp", kp, robot.nv), gain_matrix("kd", kd, robot.nv)
        require_decay(self.kp, self.kd)
        self.space = Space.of(robot)
        _require_groups(robot, self.space.parts)
        _require_fitting(robot, reference)
        self.error = np.zeros(robot.nv)

    def __call__(self, t: float, q: RealArray, v: RealArray) -> Array:
        """τ (nv) at the state."""
        a = self.acceleration(t, q, v)
        return self.robot.inverse_dynamics(q, v, a, self.wrenches, method=self.method)

    def acceleration(self, t: float, q: RealArray, v: RealArray) -> Array:
        """a_c = K_P e + K_D ė + q̈_d [Farias, eq. (77)] [Farias, eq. (78)], e being the way from q to q_d.

        On joints with quaternions ė and q̈_d are the rates of e and of its motion: see :mod:`.tracking`.
        """
        q_d, v_d, a_d = (np.asarray(x, dtype=float) for x in self.reference(t))
        self.error = self.robot.difference(q, q_d)
        own_q, own_v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        rate, second = v_d - own_v, np.array(np.broadcast_to(a_d, self.error.shape))
        for part in self.space.parts:
            given = (own_q[..., part.q], own_v[..., part.v], q_d[part.q], v_d[part.v], a_d[part.v])
            row = compiled_error(part.kind)(*(np.ascontiguousarray(x) for x in given))
            _, rate[..., part.v], second[..., part.v] = np.split(row, 3, axis=-1)
        command = self.error @ self.kp.T + rate @ self.kd.T + second
        for part in self.space.parts:
            pair = (np.ascontiguousarray(x[..., part.v]) for x in (self.error, command))
            command[..., part.v] = compiled_acceleration(part.kind)(*pair)
        return np.asarray(command)

    def input(self, t: float) -> Array:
        """r(t) = q̈_d + K_P q_d + K_D q̇_d, for robots with nq = nv [Farias, eq. (76)].

        a_c = −K_P q − K_D q̇ + r(t) [Farias, eq. (75)] is the same as :meth:`acceleration`.
        """
        q_d, v_d, a_d = (np.asarray(x, dtype=float) for x in self.reference(t))
        return np.asarray(a_d + self.kp @ q_d + self.kd @ v_d)

    def record(self) -> dict[str, Array]:
        """The error (nv) at the last call, in rad or m."""
        return {"error": self.error}

    def law(self) -> ControlLaw:
        """The same as a law that is compiled into the step; the reference must then be written over any scalar."""
        if self.wrenches:
            raise Error("a compiled law takes no wrenches: pass them to simulate, or use the controller itself.")
        inverse = self.robot.program("inverse_dynamics", method=self.method)
        difference = self.robot.program("difference")
        kp, kd = self.kp.tolist(), self.kd.tolist()

        def law(t: Any, q: Any, v: Any) -> list[Any]:
            q_d, v_d, a_d = (list(x) for x in self.reference(t))
            error = interpret(difference, [list(q), q_d])
            rate, second = [w - x for w, x in zip(v_d, v, strict=True)], list(a_d)
            for part in self.space.parts:
                given = (list(q)[part.q], list(v)[part.v], q_d[part.q], v_d[part.v], a_d[part.v])
                _, rate[part.v], second[part.v] = error_motion(part.kind, *given)
            command = list(map(_sum, zip(second, _times(kp, error), _times(kd, rate), strict=True)))
            for part in self.space.parts:
                command[part.v] = acceleration_of(part.kind, error[part.v], command[part.v])
            return interpret(inverse, [list(q), list(v), command])

        return ControlLaw(law)


def _times(matrix: list[list[float]], x: Sequence[Scalar]) -> list[Scalar]:
    """A matrix of numbers times a vector, without the products with zero."""
    return [_sum(m * c for m, c in zip(row, x, strict=True) if m) for row in matrix]


def _sum(terms: Any) -> Scalar:
    result: Scalar = 0.0
    for term in terms:
        result = term if isinstance(result, float) and result == 0.0 else result + term
    return result


def _require_motors(robot: Any) -> None:
    if not isinstance(robot, Robot):
        raise Error(f"computed torque is for a Robot, as dq.load(…) gives one; found {robot!r}.", found=robot)
    for joint in robot.model.joints:
        if None in joint.motors:
            lack = f"its {joint.kind} joint {joint.name!r} has no motor"
            what = f"{robot.name!r} cannot follow a reference by computed torque, as {lack}"
            whole = "use dqdyn.control.whole_body_controller, which finds the motors that can"
            motors = f"if the joint has a motor, thrusters or driven wheels, say so by {said_by(joint.name)}"
            raise Error(f"{what}: {whole}, or, {motors}.", robot=robot.name, joint=joint.name)


def _require_groups(robot: Robot, parts: Sequence[Part]) -> None:
    for part in parts:
        if part.kind.group is None:
            what = f"{robot.name!r} cannot follow a reference by computed torque"
            why = f"the q of its {part.kind.name} joint {part.name!r} is neither plain nor an element of a group"
            raise Error(f"{what}, as {why}: use dqdyn.control.torque_controller with a PostureTask.", joint=part.name)


def _require_fitting(robot: Robot, reference: Any) -> None:
    """An error for a reference that is not one, or is that of another robot."""
    wanted = f"q ({robot.nq},), v ({robot.nv},) and a ({robot.nv},)"
    if not callable(reference):
        raise Error(f"a reference is a function of time t that gives {wanted}; found {reference!r}.", found=reference)
    given = reference(0.0)
    try:
        sizes = [len(x) for x in given]
    except TypeError:
        sizes = []
    if sizes != [robot.nq, robot.nv, robot.nv]:
        raise Error(f"a reference of {robot.name!r} gives {wanted} at every time; found {given!r}.", found=given)
