"""What all builders of controllers share: from parts as users give them to a controller."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal

from dqdyn.control.core.braking import CommandMap
from dqdyn.control.core.composition import Composition, Dynamics
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.coordinates import AnyRobot, in_coordinates, own_robot
from dqdyn.control.core.coordinates import require_robot as require_robot
from dqdyn.control.core.design import Design
from dqdyn.control.core.errors import ControlWarning
from dqdyn.control.core.optimum import Optimum, StrictLevels
from dqdyn.control.core.task import Task
from dqdyn.control.core.term import ControlPart
from dqdyn.model.model import Model

Tasks = Task | Sequence[Task] | Sequence[Sequence[Task] | Task]
"""One, a list, or a list of lists for strict priorities."""
Constraints = ControlPart | Sequence[ControlPart]
"""Constraints, and tasks that must be met exactly."""
Damping = float | Sequence[float]
"""One number, or one per level of the tasks."""
Infeasible = Literal["raise", "relax", "hold", "rest"]
SolverName = Literal["daqp", "piqp"]
_ROUNDING = 1e-9  # of how far a target lies in a zone


def build(
    robot: AnyRobot,
    level: str,
    tasks: Tasks,
    constraints: Constraints,
    damping: Damping,
    infeasible: Infeasible,
    solver: SolverName,
    dynamics: Dynamics | None = None,
    command_map: CommandMap | None = None,
) -> Controller:
    """The controller of a level; by torque it composes accelerations, and ``command_map`` gives the torques."""
    model = own_robot(robot).model
    design = Design.of(model, level, tasks, constraints, damping)
    warn_of_forbidden_targets(design, model)
    composition = Composition(model, "velocity" if level == "velocity" else "acceleration", design, dynamics)
    levels = len(design.tasks)
    optimum = Optimum(composition.size, solver) if levels == 1 else StrictLevels(composition.size, solver, levels)
    return in_coordinates(robot, Controller(level, composition, optimum, infeasible, command_map))


def warn_of_forbidden_targets(design: Design, model: Model) -> None:
    """A warning for every target and constraint that cannot both be met at t = 0, as far as the target alone tells.

    The task says where features are once it is met, the constraint how far from its boundary they are there.
    """
    for task in (task for task in design.all_tasks if task.mask is None):  # a mask leaves open where features are
        for constraint in design.constraints:
            for name, h in constraint.clearances_at_target(task, model):
                if h < -_ROUNDING:
                    text = f"The target of {task.name!r} lies in the zone that {name!r} forbids, by {-h:.4g}."
                    warnings.warn(text, ControlWarning, stacklevel=4)  # where the controller is made
