"""Control by joint torques: accelerations, turned into torques by the robot's dynamics."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dqdyn.algebra.scalar import Scalar
from dqdyn.arrays import Array, RealArray
from dqdyn.constraints import assembled
from dqdyn.control.core.build import Constraints, Infeasible, SolverName, Tasks, build, require_robot
from dqdyn.control.core.command_constraint import MassAndBias
from dqdyn.control.core.composition import Composition, Dynamics
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.design import Design, as_list
from dqdyn.control.core.errors import ControlError
from dqdyn.control.core.settings import GainPair
from dqdyn.control.features.signals import SignalLike
from dqdyn.control.limits.per_axis import TorqueLimits
from dqdyn.control.tasks.robot import PostureTask
from dqdyn.dynamics import methods
from dqdyn.model.model import Model
from dqdyn.robot import Robot

_NOT_YET = "cannot be controlled by torque yet, as"
_PULLS = 1e-9  # N or N m, from which on gravity counts


def torque_controller(
    robot: Robot,
    tasks: Tasks,
    constraints: Constraints = (),
    *,
    damping: float = 1e-3,
    infeasible: Infeasible = "relax",
    solver: SolverName = "daqp",
    method: str = "auto",
) -> Controller:
    """A function (t, q, v) → τ = M v̇ + n with the v̇ of :func:`acceleration_controller` [Quiroz, eq. (3.7)].

    ``method`` names the formulation of the dynamics: "newton-euler", "gauss", "kane", …. Takes :class:`TorqueLimits`.

    Every axis is taken to have a motor; where a joint has none, say so by :class:`TorqueLimits` with 0 for that axis.
    Robots with contacts, loops or wheels, and those on a free or planar base without motors, are refused: forces that
    do not come from motors would be left out.
    """
    require_robot(robot)
    _require_motors(robot, as_list(constraints))
    dynamics, command_map = mass_and_bias(robot), _ThroughDynamics(robot, method)
    return build(robot, "torque", tasks, constraints, damping, infeasible, solver, dynamics, command_map)


def computed_torque(
    robot: Robot, target: SignalLike, *, gain: float = 1.0, gains: GainPair | None = None, method: str = "auto"
) -> Callable[[float, RealArray, RealArray], Array]:
    """A function (t, q, v) → τ that drives q to a target, constant or moving: τ = M a_c + c + g [Farias, eq. (73)].

    Then v̇ = a_c [Farias, eq. (74)] with a_c = −K_P θ − K_D θ̇ + r [Farias, eq. (75)], where r = θ̈_d + K_P θ_d + K_D θ̇_d
    [Farias, eq. (76)]; that is a_c = K_P (θ_d − θ) + K_D (θ̇_d − θ̇) + θ̈_d [Farias, eq. (77)] = K_P e + K_D ė + θ̈_d
    [Farias, eq. (78)]; (75) is printed without the dot of θ̇. Here e is the difference of configurations, which is
    θ_d − θ but for joints with quaternions. ``gains`` (K_D, K_P), or ``gain`` as for tasks. Robots without
    motors on their base, and with constraints, are refused as by :func:`torque_controller`.
    """
    require_robot(robot)
    _require_motors(robot)
    task = PostureTask(target, gain=gain, gains=gains).bound_to(robot.model)
    composition = Composition(robot.model, "acceleration", Design(((task,),), (), (), 0.0))
    torques = _ThroughDynamics(robot, method)
    simple = all(joint.motion.quaternion is None for joint in robot.joints)
    views = composition.views

    def controller(t: float, q: RealArray, v: RealArray) -> Array:
        state: tuple[Array, Array] = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
        composition.evaluate(t, *state)
        # f = Jᵀr, so J v̇ = −r; without quaternions J is the identity
        a = views["f0"] if simple else np.asarray(np.linalg.solve(views["J0"].T @ views["J0"], views["f0"]))
        return torques(*state, -a)

    return controller


class _ThroughDynamics:
    """τ = M v̇ + n, and where the robot is some time later."""

    def __init__(self, robot: Robot, method: str) -> None:
        self._inverse, self._robot = robot.function("inverse_dynamics", method=method), robot

    def __call__(self, q: Array, v: Array, u: Array) -> Array:
        return np.asarray(self._inverse(q, v, u))

    def later(self, q: Array, v: Array, dt: float) -> Array:
        """q after dt (s) at v."""
        return np.asarray(self._robot.integrate(q, v, dt, check=False))


def mass_and_bias(robot: Robot) -> Dynamics:
    """M and n over any scalar, for bounds on torques."""

    def call(q: list[Scalar], v: list[Scalar]) -> MassAndBias:
        form, model = methods.MASS_MATRIX.candidates(robot.model, "auto")[0]
        bias, on = methods.INVERSE.candidates(robot.model, "auto")[0]
        return form(model, q), bias(on, q, v, [0.0] * robot.nv, None)

    return call


def _require_motors(robot: Robot, constraints: Sequence[object] = ()) -> None:
    """An error where τ = M v̇ + n leaves out physics: forces of contacts and loops, and bases without motors.

    The axes of a free or planar joint have motors only if :class:`TorqueLimits` say so, with one limit per axis: above
    0 for a motor, such as thrusters or omnidirectional wheels, 0 for none, which gravity then must not pull at.
    """
    model = robot.model
    if model.constraints:
        names = assembled.names(model)
        shown = ", ".join(repr(name) for name in dict.fromkeys(names))
        what = f"{_NOT_YET} the forces of its constraints ({shown}) would be left out"
        raise _refused(model, what, constraints=tuple(names))
    limits = [c for c in constraints if isinstance(c, TorqueLimits) and np.asarray(c.given).ndim == 1]
    least = np.minimum.reduce([np.full(model.nv, np.inf), *(c.bound_to(model).limit for c in limits)])
    for joint in model.joints:
        if joint.motion.actuated:
            continue
        if not (least[joint.v] < np.inf).all():
            which = f"its {joint.kind} joint {joint.name!r} has no motor"
            what = f"{_NOT_YET} {which}, and what carries it would be left out"
            way = "if the joint has thrusters or omnidirectional wheels, say so by TorqueLimits with one limit per axis"
            raise _refused(model, what, f", or, {way}", joint=joint.name)
        pull = np.abs(np.where(least[joint.v] == 0.0, robot.gravity_forces(robot.neutral())[joint.v], 0.0)).max()
        if pull > _PULLS:
            pulls = f"gravity pulls at it by {pull:.6g} N, and forces of contact are left out"
            what = f"would fall: its joint {joint.name!r} has no motor, {pulls}"
            raise _refused(model, what, ", or with_gravity([0, 0, 0]) for a robot that floats", joint=joint.name)


def _refused(model: Model, what: str, way: str = "", **data: object) -> ControlError:
    remedy = f"that takes whole-body control; use velocity_controller or acceleration_controller{way}"
    return ControlError(f"{model.name!r} {what}: {remedy}.", robot=model.name, **data)
