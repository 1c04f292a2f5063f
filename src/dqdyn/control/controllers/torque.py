"""Control by joint torques: accelerations, turned into torques by the robot's dynamics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dqdyn.control.build import composed, parts
from dqdyn.control.composition import Composition
from dqdyn.control.controller import Controller
from dqdyn.control.design import Design
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

    Every axis is taken to have a motor: τ has a wrench on a free base, a force sideways on wheels, torques on the
    passive joints of a loop. Where there is none, say so by ``TorqueLimits(limit, relaxable=False)`` with 0 for that
    axis.
    """
    found = parts(robot, "torque", tasks, constraints, damping)
    composition, optimum = composed(robot.model, "acceleration", found, solver, _mass_and_bias(robot))
    return Controller(robot.model, "torque", composition, optimum, infeasible, _through_dynamics(robot, method))


def computed_torque(
    robot: Robot, target: Any, *, gain: float = 1.0, gains: tuple[float, float] | None = None, method: str = "auto"
) -> Callable[..., np.ndarray]:
    """A function (t, q, v) → τ that drives q to a target, constant or moving: τ = M a_c + c + g [Farias, eq. (73)].

    Then v̇ = a_c [Farias, eq. (74)] with a_c = −K_P θ − K_D θ̇ + r [Farias, eq. (75)], where r = θ̈_d + K_P θ_d + K_D θ̇_d
    [Farias, eq. (76)]; that is a_c = K_P (θ_d − θ) + K_D (θ̇_d − θ̇) + θ̈_d [Farias, eq. (77)] = K_P e + K_D ė + θ̈_d
    [Farias, eq. (78)]; (75) is printed without the dot of θ̇. Here e is the difference of configurations, which is
    θ_d − θ but for joints with quaternions. ``gains`` (K_D, K_P), or ``gain`` as for tasks.
    """
    task = PostureTask(target, gain=gain, gains=gains).bound(robot.model)
    composition = Composition(robot.model, "acceleration", Design(((task,),), (), (), 0.0))
    finish = _through_dynamics(robot, method)
    simple = all(joint.motion.quaternion is None for joint in robot.joints)
    views = composition.views

    def controller(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        composition.evaluate(t, np.asarray(q, dtype=float), np.asarray(v, dtype=float))
        # f = Jᵀr, so J v̇ = −r; without quaternions J is the identity
        a = -views["f0"] if simple else -np.linalg.solve(views["J0"].T @ views["J0"], views["f0"])
        return finish(q, v, a)

    return controller


def _through_dynamics(robot: Robot, method: str) -> Callable[..., np.ndarray]:
    inverse = robot.function("inverse_dynamics", method=method)
    return lambda q, v, u: inverse(q, v, u)


def _mass_and_bias(robot: Robot) -> Any:
    """M and n over any scalar, for bounds on torques."""

    def call(q: Any, v: Any) -> Any:
        form, model = methods.mass_matrix_candidates(robot.model)[0]
        bias, on = methods.inverse_candidates(robot.model)[0]
        return form(model, q), bias(on, q, v, [0.0] * robot.nv, None)

    return call
