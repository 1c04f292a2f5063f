"""Computed torque: inverse dynamics cancels the dynamics, which leaves a double integrator per joint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array, RealArray, RealNumber
from dqdyn.compile.trace.interpret import interpret
from dqdyn.errors import Error
from dqdyn.model.motors import said_by
from dqdyn.robot import Robot
from dqdyn.simulate.controllers import ControlLaw
from dqdyn.simulate.reference import Reference


class ComputedTorque:
    """τ = M a_c + c + g + JᵀF [Farias, eq. (73)] with a_c of :meth:`acceleration`; a controller for ``dq.simulate``.

    ``reference(t)`` gives (q, v, a). ``kp`` in 1/s² and ``kd`` in 1/s are numbers or one per velocity (nv); the default
    is critically damped. ``wrenches`` maps frames to the [f, τ] that act from outside. With it the robot obeys q̈ = a_c
    [Farias, eq. (74)], so the error e decays as ë + K_D ė + K_P e = 0. The printed law holds F on the side of the
    forces to be given; here wrenches act on the robot, so they are subtracted. Robots with an axis without a motor are
    refused, because nothing would move them there; thrusters or omnidirectional wheels are given to a base by
    ``robot.with_motors``.
    """

    level = "torque"

    def __init__(
        self,
        robot: Robot,
        reference: Reference,
        kp: RealNumber | RealArray = 100.0,
        kd: RealNumber | RealArray = 20.0,
        wrenches: Mapping[str, RealArray] | None = None,
    ) -> None:
        _require_motors(robot)
        self.robot, self.reference, self.wrenches = robot, reference, wrenches
        self.kp, self.kd = _gains(robot, "kp", kp), _gains(robot, "kd", kd)
        self.error = np.zeros(robot.nv)

    def __call__(self, t: float, q: RealArray, v: RealArray) -> Array:
        """τ (nv) at the state."""
        return self.robot.inverse_dynamics(q, v, self.acceleration(t, q, v), self.wrenches)

    def acceleration(self, t: float, q: RealArray, v: RealArray) -> Array:
        """a_c = K_P e + K_D ė + q̈_d [Farias, eq. (77)] [Farias, eq. (78)], e being the way from q to q_d."""
        q_d, v_d, a_d = self.reference(t)
        self.error = self.robot.difference(q, q_d)
        return np.asarray(self.kp * self.error + self.kd * (np.asarray(v_d) - v) + a_d)

    def input(self, t: float) -> Array:
        """r(t) = q̈_d + K_P q_d + K_D q̇_d, for robots with nq = nv [Farias, eq. (76)].

        a_c = −K_P q − K_D q̇ + r(t) [Farias, eq. (75)] is the same as :meth:`acceleration`.
        """
        q_d, v_d, a_d = self.reference(t)
        return np.asarray(a_d + self.kp * q_d + self.kd * v_d)

    def record(self) -> dict[str, Array]:
        """The error (nv) at the last call, in rad or m."""
        return {"error": self.error}

    def law(self) -> ControlLaw:
        """The same as a law that is compiled into the step; the reference must then be written over any scalar."""
        if self.wrenches:
            raise Error("a compiled law takes no wrenches: pass them to simulate, or use the controller itself.")
        inverse, difference = self.robot.program("inverse_dynamics"), self.robot.program("difference")
        kp, kd = self.kp.tolist(), self.kd.tolist()

        def law(t: Any, q: Any, v: Any) -> list[Any]:
            q_d, v_d, a_d = self.reference(t)
            error = interpret(difference, [list(q), list(q_d)])
            terms = zip(kp, error, kd, v_d, v, a_d, strict=True)
            command = [p * e + d * (w - x) + a for p, e, d, w, x, a in terms]
            return interpret(inverse, [list(q), list(v), command])

        return ControlLaw(law)


computed_torque = ComputedTorque
"""The name of the controller in examples: ``computed_torque(robot, reference, kp=100.0, kd=20.0)``."""


def _require_motors(robot: Robot) -> None:
    for joint in robot.model.joints:
        if None in joint.motors:
            lack = f"its {joint.kind} joint {joint.name!r} has no motor"
            what = f"{robot.name!r} cannot follow a reference by computed torque, as {lack}"
            whole = "use dqdyn.control.whole_body_controller, which finds the motors that can"
            motors = f"if the joint has a motor, thrusters or driven wheels, say so by {said_by(joint.name)}"
            raise Error(f"{what}: {whole}, or, {motors}.", robot=robot.name, joint=joint.name)


def _gains(robot: Robot, name: str, value: Any) -> Array:
    try:
        array = real_array(value, name)
        gains = np.array(np.broadcast_to(array, (robot.nv,)))
    except (TypeError, ValueError):
        raise Error(f"{name} is one number or {robot.nv}, one per velocity; found {value!r}.", argument=name) from None
    if not (np.isfinite(gains).all() and (gains >= 0.0).all()):
        raise Error(f"{name} must be finite and not negative; found {value!r}.", argument=name)
    return gains
