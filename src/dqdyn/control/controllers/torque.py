"""Control by joint torques: accelerations, turned into torques by the robot's dynamics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dqdyn.control.core.command_bound import Constraint
from dqdyn.control.core.composition import Composition
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.design import Design
from dqdyn.control.core.motors import require_motors
from dqdyn.control.core.parts import composed, model_of, parts
from dqdyn.control.tasks.robot import PostureTask
from dqdyn.dynamics import methods
from dqdyn.robot import Robot


def torque_controller(
    robot: Robot,
    tasks: Sequence[Any],
    constraints: Sequence[Any] = (),
    *,
    damping: float = 1e-3,
    infeasible: str = "relax",
    solver: str = "daqp",
    method: str = "auto",
) -> Controller:
    """A function (t, q, v) → τ = M v̇ + n with the v̇ of :func:`acceleration_controller` [Quiroz, eq. (3.7)].

    ``method`` names the formulation of the dynamics: "newton-euler", "gauss", "kane", …. Takes :class:`TorqueLimits`.

    Every axis is taken to have a motor; where a joint has none, say so by :class:`TorqueLimits` with 0 for that axis.
    Robots with contacts, loops or wheels, and those on a free or planar base without motors, are refused: forces that
    do not come from motors would be left out.
    """
    model_of(robot)
    given = [constraints] if isinstance(constraints, Constraint) else constraints
    require_motors(robot, [c for c in given if isinstance(c, Constraint)] if isinstance(given, Iterable) else ())
    found = parts(robot, "torque", tasks, constraints, damping)
    composition, optimum = composed(robot.model, "acceleration", found, solver, _mass_and_bias(robot))
    return Controller(robot.model, "torque", composition, optimum, infeasible, _ThroughDynamics(robot, method))


def computed_torque(
    robot: Robot, target: Any, *, gain: float = 1.0, gains: tuple[float, float] | None = None, method: str = "auto"
) -> Callable[..., np.ndarray]:
    """A function (t, q, v) → τ that drives q to a target, constant or moving: τ = M a_c + c + g [Farias, eq. (73)].

    Then v̇ = a_c [Farias, eq. (74)] with a_c = −K_P θ − K_D θ̇ + r [Farias, eq. (75)], where r = θ̈_d + K_P θ_d + K_D θ̇_d
    [Farias, eq. (76)]; that is a_c = K_P (θ_d − θ) + K_D (θ̇_d − θ̇) + θ̈_d [Farias, eq. (77)] = K_P e + K_D ė + θ̈_d
    [Farias, eq. (78)]; (75) is printed without the dot of θ̇. Here e is the difference of configurations, which is
    θ_d − θ but for joints with quaternions. ``gains`` (K_D, K_P), or ``gain`` as for tasks. Robots without
    motors on their base, and with constraints, are refused as by :func:`torque_controller`.
    """
    model_of(robot)
    require_motors(robot)
    task = PostureTask(target, gain=gain, gains=gains).bound(robot.model)
    composition = Composition(robot.model, "acceleration", Design(((task,),), (), (), 0.0))
    finish = _ThroughDynamics(robot, method)
    simple = all(joint.motion.quaternion is None for joint in robot.joints)
    views = composition.views

    def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        composition.evaluate(t, np.asarray(q, dtype=float), np.asarray(v, dtype=float))
        # f = Jᵀr, so J v̇ = −r; without quaternions J is the identity
        a = -views["f0"] if simple else -np.linalg.solve(views["J0"].T @ views["J0"], views["f0"])
        return finish(q, v, a)

    return controller


class _ThroughDynamics:
    """τ = M v̇ + n, and where the robot is some time later."""

    def __init__(self, robot: Robot, method: str) -> None:
        self._inverse, self._robot = robot.function("inverse_dynamics", method=method), robot

    def __call__(self, q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        return np.asarray(self._inverse(q, v, u))

    def later(self, q: np.ndarray, v: np.ndarray, dt: float) -> np.ndarray:
        """q after dt (s) at v."""
        return np.asarray(self._robot.integrate(q, v, dt, check=False))


def _mass_and_bias(robot: Robot) -> Any:
    """M and n over any scalar, for bounds on torques."""

    def call(q: Any, v: Any) -> Any:
        form, model = methods.MASS_MATRIX.candidates(robot.model, "auto")[0]
        bias, on = methods.INVERSE.candidates(robot.model, "auto")[0]
        return form(model, q), bias(on, q, v, [0.0] * robot.nv, None)

    return call
