"""Control by joint torques: accelerations, turned into torques by the robot's dynamics."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import Array, RealArray, RealNumber
from dqdyn.compile.trace.program import Program
from dqdyn.constraints import assembled
from dqdyn.control.core.build import Constraints, Damping, Infeasible, SolverName, Tasks, build
from dqdyn.control.core.command_constraint import MassAndBias
from dqdyn.control.core.composition import Dynamics
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.coordinates import AnyRobot, own_robot
from dqdyn.control.core.design import as_list
from dqdyn.control.core.errors import ControlError, refused
from dqdyn.control.core.settings import positive
from dqdyn.control.features.signals import SignalLike
from dqdyn.control.features.target_motion import target_motion
from dqdyn.control.limits.per_axis import TorqueLimits
from dqdyn.dynamics import methods
from dqdyn.dynamics.joint_forces import coulomb_forces
from dqdyn.model.model import Model
from dqdyn.model.motors import said_by
from dqdyn.references.computed_torque import ComputedTorque, Reference
from dqdyn.robot import Robot
from dqdyn.robot.control_law import ControlLaw
from dqdyn.robot.coordinates import RobotInCoordinates
from dqdyn.robot.options import InverseMethod

AxisGain = RealNumber | RealArray
"""One number, one per velocity (nv), or a matrix (nv, nv)."""
_NOT_YET = "cannot be controlled by torque alone, as"
_PULLS = 1e-9  # N or N m, from which on gravity counts


def torque_controller(
    robot: AnyRobot,
    tasks: Tasks,
    constraints: Constraints = (),
    *,
    damping: Damping = 1e-3,
    infeasible: Infeasible = "relax",
    solver: SolverName = "daqp",
    method: InverseMethod = "auto",
) -> Controller:
    """A function (t, q, v) → τ = M v̇ + n with the v̇ of :func:`acceleration_controller` [Quiroz, eq. (3.7)].

    ``method`` names the formulation of the dynamics: "newton-euler", "gauss", "kane", …. Takes :class:`TorqueLimits`.

    The robot says which axes have motors, see ``robot.with_motors``: τ is exactly 0 on the others, which move as the
    dynamics lets them. Robots with contacts, loops or wheels, and those that fall because their base has no motors,
    are refused, since forces that do not come from motors would be left out: :func:`whole_body_controller` has them.
    Of a robot in coordinates it is a function (t, q, q̇) → τ (nv).
    """
    own = own_robot(robot)
    _require_motors(own)
    constraints = [*as_list(constraints), *_no_motors(own)]
    dynamics, command_map = mass_and_bias(own), _ThroughDynamics(own, method)
    return build(robot, "torque", tasks, constraints, damping, infeasible, solver, dynamics, command_map)


def computed_torque(
    robot: AnyRobot,
    target: SignalLike | Reference,
    *,
    gain: float = 1.0,
    gains: tuple[AxisGain, AxisGain] | None = None,
    wrenches: Mapping[str, RealArray] | None = None,
    method: InverseMethod = "auto",
) -> ComputedTorque:
    """A function (t, q, v) → τ that drives q to a target, constant or moving: see :class:`ComputedTorque`.

    ``target``: q (nq), a function of time that gives q, or q, v and a, a path of :mod:`dqdyn.references`, a
    :class:`Moving` or a :class:`Measured`. ``gains`` (K_D, K_P) in 1/s and 1/s², each a number, one per velocity (nv)
    or a matrix (nv, nv); or ``gain`` η as for tasks, the poles −η and −2η. ``wrenches`` maps frames to the [f, τ] that
    act from outside. ``.law()`` is the same, compiled into a simulation's step. Robots with constraints are refused as
    by :func:`torque_controller`, and so are those with an axis that has no motor. Of a robot in coordinates it is a
    function (t, q, q̇) → τ (nv); the target is the robot's own q.
    """
    own = own_robot(robot)
    _require_motors(own, everywhere=True)
    kd, kp = _pair(gain, gains)
    follow = target_motion(own, target)
    if isinstance(robot, RobotInCoordinates):
        return ComputedTorqueInCoordinates(robot, follow, kp, kd, wrenches, method=method)
    return ComputedTorque(own, follow, kp, kd, wrenches, method=method)


class ComputedTorqueInCoordinates(ComputedTorque):
    """Computed torque of a robot in other coordinates: a function (t, q, q̇) → τ (nv)."""

    def __init__(self, robot: RobotInCoordinates, *arguments: Any, **options: Any) -> None:
        super().__init__(robot.robot, *arguments, **options)
        self.floating = robot

    def __call__(self, t: float, q: RealArray, v: RealArray) -> Array:
        """τ (nv) at q and q̇ (nq)."""
        return super().__call__(t, *self.floating.to_minimal(q, v))

    def law(self) -> ControlLaw:
        raise ControlError("computed torque in coordinates has no compiled law: use the controller itself.")


def _pair(gain: Any, gains: Any) -> tuple[Any, Any]:
    """(K_D, K_P)."""
    if gains is None:
        eta = positive(gain, "gain of computed torque")
        return 3.0 * eta, 2.0 * eta**2
    try:
        kd, kp = gains
    except (TypeError, ValueError):
        raise refused("gains of computed torque are a pair (K_D, K_P)", gains) from None
    return kd, kp


class _ThroughDynamics:
    """τ = M v̇ + n, and where the robot is some time later."""

    def __init__(self, robot: Robot, method: InverseMethod) -> None:
        self._inverse, self._robot = robot.function("inverse_dynamics", method=method), robot
        self._method = method

    def __call__(self, q: Array, v: Array, u: Array) -> Array:
        return np.asarray(self._inverse(q, v, u))

    def later(self, q: Array, v: Array, dt: float) -> Array:
        """q after dt (s) at v."""
        return np.asarray(self._robot.integrate(q, v, dt, check=False))

    def programs(self) -> dict[str, Program]:
        """Both as programs."""
        inverse = self._robot.program("inverse_dynamics", method=self._method)
        return {"inverse_dynamics": inverse, "integrate": self._robot.program("integrate")}


def mass_and_bias(robot: Robot, coulomb: bool = True) -> Dynamics:
    """M and n over any scalar; ``coulomb``: whether n has the joints' Coulomb friction."""

    def call(q: list[Scalar], v: list[Scalar]) -> MassAndBias:
        form, model = methods.MASS_MATRIX.candidates(robot.model, "auto")[0]
        bias, on = methods.INVERSE.candidates(robot.model, "auto")[0]
        n = bias(on, q, v, [0.0] * robot.nv, None)
        if not coulomb:
            n = [b - c for b, c in zip(n, coulomb_forces(robot.model, v), strict=True)]
        return form(model, q), n

    return call


def _no_motors(robot: Robot) -> list[TorqueLimits]:
    """τ = 0 on the axes without a motor, which never gives way; nothing where all have one."""
    limit = np.where(robot.actuated, np.inf, 0.0)
    return [] if robot.actuated.all() else [TorqueLimits(limit, name="no motor", relaxable=False)]


def _require_motors(robot: Robot, everywhere: bool = False) -> None:
    """An error where τ = M v̇ + n leaves out physics: forces of contacts and loops, and those that carry a base.

    ``everywhere`` asks for a motor on every axis.
    """
    model, driven = robot.model, robot.actuated
    if model.constraints:
        names = assembled.names(model)
        shown = ", ".join(repr(name) for name in dict.fromkeys(names))
        what = f"{_NOT_YET} the forces of its constraints ({shown}) would be left out"
        raise _refused(model, what, constraints=tuple(names))
    if not driven.any():
        text = f"{model.name!r} cannot be controlled by torque, as it has no motor: give it some by robot.with_motors."
        raise ControlError(text, robot=model.name)
    for joint in model.joints:
        if joint.is_mimic or driven[joint.v].all():
            continue
        which = f"its {joint.kind} joint {joint.name!r} has no motor"
        way = f", or, if the joint has a motor, thrusters or driven wheels, say so by {said_by(joint.name)}"
        if everywhere:
            raise _refused(model, f"cannot follow every axis of a target, as {which}", way, joint=joint.name)
        if joint.motion.actuated:  # a passive joint of a tree moves as the others let it
            continue
        pull = np.abs(np.where(driven[joint.v], 0.0, robot.gravity_forces(robot.neutral())[joint.v])).max()
        if pull > _PULLS:
            pulls = f"gravity pulls at it by {pull:.6g} N, and forces of contact are left out"
            way += ", or with_gravity([0, 0, 0]) for a robot that floats"
            raise _refused(model, f"would fall: {which}, {pulls}", way, joint=joint.name)


def _refused(model: Model, what: str, way: str = "", **data: object) -> ControlError:
    remedy = (
        f"use whole_body_controller, which finds such forces, or velocity_controller or acceleration_controller{way}"
    )
    return ControlError(f"{model.name!r} {what}: {remedy}.", robot=model.name, **data)
