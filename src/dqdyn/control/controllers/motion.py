"""Control by joint velocities, and by joint accelerations."""

from __future__ import annotations

from dqdyn.control.core.build import Constraints, Damping, Infeasible, SolverName, Tasks, build
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.coordinates import AnyRobot


def velocity_controller(
    robot: AnyRobot,
    tasks: Tasks,
    constraints: Constraints = (),
    *,
    damping: Damping = 1e-3,
    infeasible: Infeasible = "relax",
    solver: SolverName = "daqp",
) -> Controller:
    """A function (t, q) → v that minimises Σ w‖J v + ζ + η e‖² + λ²‖v‖² under the constraints [Quiroz, eq. (3.1)].

    ``tasks``: a list, or a list of lists for strict priorities, the highest first. ``constraints``: inequalities,
    limits, and tasks that must be met exactly. ``damping`` λ: one number damps the first level, and those below it by
    1e-3 at most, so that it does not slow what they do in its null space; or one per level. ``infeasible``: "raise",
    "relax" or "hold". ``solver``: "daqp" or "piqp". What constrains the robot itself, such as a base that does not
    slip, is obeyed too.
    Of a robot in coordinates it is a function (t, q) → q̇ (nq).
    """
    return build(robot, "velocity", tasks, constraints, damping, infeasible, solver)


def acceleration_controller(
    robot: AnyRobot,
    tasks: Tasks,
    constraints: Constraints = (),
    *,
    damping: Damping = 1e-3,
    infeasible: Infeasible = "relax",
    solver: SolverName = "daqp",
) -> Controller:
    """A function (t, q, v) → v̇ that minimises Σ w‖J v̇ + drift + k_d ė + k_p e‖² + λ²‖v̇‖² under the constraints.

    [Quiroz, eq. (3.2)] in the form [Quiroz, eq. (3.3)]; :class:`StoppingBounds` adds [Quiroz, eq. (3.4)], and several
    levels of tasks give [Quiroz, eq. (3.5)] and [Quiroz, eq. (3.6)]. Options as :func:`velocity_controller`.
    Of a robot in coordinates it is a function (t, q, q̇) → q̈ (nq).
    """
    return build(robot, "acceleration", tasks, constraints, damping, infeasible, solver)
