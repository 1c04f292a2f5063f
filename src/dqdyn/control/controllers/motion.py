"""Control by joint velocities."""

from __future__ import annotations

from dqdyn.control.core.build import Constraints, Infeasible, SolverName, Tasks, build
from dqdyn.control.core.controller import Controller
from dqdyn.robot import Robot


def velocity_controller(
    robot: Robot,
    tasks: Tasks,
    constraints: Constraints = (),
    *,
    damping: float = 1e-3,
    infeasible: Infeasible = "relax",
    solver: SolverName = "daqp",
) -> Controller:
    """A function (t, q) → v that minimises Σ w‖J v + ζ + η e‖² + λ²‖v‖² under the constraints [Quiroz, eq. (3.1)].

    ``tasks``: a list, or a list of lists for strict priorities, the highest first. ``constraints``: inequalities,
    limits, and tasks that must be met exactly. ``damping`` λ. ``infeasible``: "raise", "relax" or "hold".
    ``solver``: "daqp" or "piqp". What constrains the robot itself, such as a base that does not slip, is obeyed too.
    """
    return build(robot, "velocity", tasks, constraints, damping, infeasible, solver)
