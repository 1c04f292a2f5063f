"""Every numeric function of a robot by name: methods, ``robot.function`` and exports go through this table."""

from __future__ import annotations

from collections.abc import Mapping

from dqdyn.model.model import Model
from dqdyn.robot.functions.constraints import CONSTRAINED
from dqdyn.robot.functions.dynamics import DYNAMICS
from dqdyn.robot.functions.kinematics import KINEMATICS
from dqdyn.robot.functions.operational import OPERATIONAL
from dqdyn.robot.functions.second_order import SECOND_ORDER
from dqdyn.robot.robot_function import RobotFunction

CATALOG: Mapping[str, RobotFunction] = {**KINEMATICS, **DYNAMICS, **OPERATIONAL, **SECOND_ORDER}
"""Functions that every robot has."""
_UNDER_CONSTRAINTS = {**CATALOG, **CONSTRAINED}


def functions_of(model: Model) -> Mapping[str, RobotFunction]:
    """The functions of a robot by name."""
    return _UNDER_CONSTRAINTS if model.constraints else CATALOG
