"""Control under constraints: tasks, vector field inequalities, limits, and controllers made of them.

from dqdyn import control as ct
controller = ct.velocity_controller(robot, [ct.PoseTask("tool", target)], [ct.KeepAbove("tool", table)])
v = controller(t, q)
"""

from __future__ import annotations

import warnings
from typing import Any

from dqdyn.control.controllers.motion import acceleration_controller, velocity_controller
from dqdyn.control.controllers.torque import computed_torque, torque_controller
from dqdyn.control.controllers.whole_body import whole_body_controller
from dqdyn.control.core.answers import ActiveConstraint, BlockedTask
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.errors import ControlError, ControlWarning, InfeasibleError
from dqdyn.control.core.inequality import Inequality
from dqdyn.control.core.lemma import Activation, automatic_gains
from dqdyn.control.core.linearise import Linear, linearise
from dqdyn.control.core.policy import StepReport
from dqdyn.control.core.task import Task
from dqdyn.control.features.features import CenterOfMass, Configuration
from dqdyn.control.features.hands import absolute_frame, relative_frame
from dqdyn.control.features.on_robot import line, plane, point, pose, segment
from dqdyn.control.features.signals import Measured, Moving
from dqdyn.control.features.solids import Solid, solids_of
from dqdyn.control.features.support_area import SupportArea, support_area
from dqdyn.control.inequalities.center_of_mass_region import CenterOfMassRegion
from dqdyn.control.inequalities.clearance import KeepClear
from dqdyn.control.inequalities.cone import Cone
from dqdyn.control.inequalities.contact_region import ContactRegion
from dqdyn.control.inequalities.scene_zones import obstacle_of, scene_zones
from dqdyn.control.inequalities.torso_arm import TorsoArm
from dqdyn.control.inequalities.zones import KeepAbove, KeepIn, KeepOut, Region
from dqdyn.control.limits.per_axis import AccelerationLimits, TorqueLimits, VelocityLimits
from dqdyn.control.limits.position import ConeJointLimits, JointLimits
from dqdyn.control.limits.stopping import StoppingBounds
from dqdyn.control.machine import guards
from dqdyn.control.machine.log import Event
from dqdyn.control.machine.machine import StateMachine
from dqdyn.control.machine.moment import Moment
from dqdyn.control.machine.reachable import PostureSearch, reachable
from dqdyn.control.machine.stall import Stall
from dqdyn.control.machine.state import State, Transition
from dqdyn.control.qp.solve import solve_quadratic_program
from dqdyn.control.tasks.distance import DistanceTask
from dqdyn.control.tasks.divergent import DivergentComponentTask
from dqdyn.control.tasks.forces import (
    CenterOfPressureTask,
    ContactWrenchTask,
    ForceRegularisation,
    LoadSharingTask,
    ZeroMomentPointTask,
)
from dqdyn.control.tasks.function import FunctionTask
from dqdyn.control.tasks.hands import AbsolutePoseTask, RelativePoseTask
from dqdyn.control.tasks.impedance import ImpedanceTask
from dqdyn.control.tasks.momentum import MomentumTask
from dqdyn.control.tasks.robot import PostureTask, RestTask
from dqdyn.control.tasks.support_area import SupportAreaTask
from dqdyn.control.tasks.surface import SurfaceTask
from dqdyn.control.tasks.target import CenterOfMassTask, LineTask, PlaneTask, PoseTask, RotationTask, TranslationTask
from dqdyn.control.whole_body.controller import WholeBodyController
from dqdyn.control.whole_body.touch_down import TouchDown

__all__ = [
    "AbsolutePoseTask",
    "AccelerationLimits",
    "Activation",
    "ActiveConstraint",
    "BlockedTask",
    "CenterOfMass",
    "CenterOfMassRegion",
    "CenterOfMassTask",
    "CenterOfPressureTask",
    "Cone",
    "ConeJointLimits",
    "Configuration",
    "ContactRegion",
    "ContactWrenchTask",
    "ControlError",
    "ControlWarning",
    "Controller",
    "DistanceTask",
    "DivergentComponentTask",
    "Event",
    "ForceRegularisation",
    "FunctionTask",
    "ImpedanceTask",
    "Inequality",
    "InfeasibleError",
    "JointLimits",
    "KeepAbove",
    "KeepClear",
    "KeepIn",
    "KeepOut",
    "LineTask",
    "Linear",
    "LoadSharingTask",
    "Measured",
    "Moment",
    "MomentumTask",
    "Moving",
    "PlaneTask",
    "PoseTask",
    "PostureSearch",
    "PostureTask",
    "Region",
    "RelativePoseTask",
    "RestTask",
    "RotationTask",
    "Solid",
    "Stall",
    "State",
    "StateMachine",
    "StepReport",
    "StoppingBounds",
    "SupportArea",
    "SupportAreaTask",
    "SurfaceTask",
    "Task",
    "TorqueLimits",
    "TorsoArm",
    "TouchDown",
    "Transition",
    "TranslationTask",
    "VelocityLimits",
    "WholeBodyController",
    "ZeroMomentPointTask",
    "absolute_frame",
    "acceleration_controller",
    "automatic_gains",
    "computed_torque",
    "guards",
    "line",
    "linearise",
    "obstacle_of",
    "plane",
    "point",
    "pose",
    "reachable",
    "relative_frame",
    "scene_zones",
    "segment",
    "solids_of",
    "solve_quadratic_program",
    "support_area",
    "torque_controller",
    "velocity_controller",
    "whole_body_controller",
]


def __getattr__(name: str) -> Any:
    """Former names, for one release."""
    if name == "Report":
        warnings.warn("dqdyn.control.Report is now called StepReport.", DeprecationWarning, stacklevel=2)
        return StepReport
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
