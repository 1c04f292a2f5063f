"""Control by joint accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dqdyn.control.core.controller import Controller
from dqdyn.control.core.parts import composed, parts
from dqdyn.robot import Robot


def acceleration_controller(
    robot: Robot,
    tasks: Sequence[Any],
    constraints: Sequence[Any] = (),
    *,
    damping: float = 1e-3,
    infeasible: str = "relax",
    solver: str = "daqp",
) -> Controller:
    """A function (t, q, v) → v̇ that minimises Σ w‖J v̇ + drift + k_d ė + k_p e‖² + λ²‖v̇‖² under the constraints.

    [Quiroz, eq. (3.2)] in the form [Quiroz, eq. (3.3)]; :class:`StoppingBounds` adds [Quiroz, eq. (3.4)], and several
    levels of tasks give [Quiroz, eq. (3.5)] and [Quiroz, eq. (3.6)]. Options as :func:`velocity_controller`.
    """
    found = parts(robot, "acceleration", tasks, constraints, damping)
    composition, optimum = composed(robot.model, "acceleration", found, solver)
    return Controller(robot.model, "acceleration", composition, optimum, infeasible)
