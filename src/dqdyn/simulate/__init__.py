"""Motion in time: integrators on the manifold, trajectories, and a physics engine as plant.

The package is also its main function: ``dq.simulate(robot, duration=2.0)`` is :func:`dqdyn.simulate.run.simulate`.
"""

from __future__ import annotations

import inspect
import sys
from types import ModuleType

from dqdyn.robot.control_law import ControlLaw
from dqdyn.simulate.base_estimator import BaseEstimator, Estimate
from dqdyn.simulate.estimated_base import EstimatedBase, SensorNoise
from dqdyn.simulate.faults import Interrupted, LimitWarning, SimulationError, SimulationWarning
from dqdyn.simulate.inertial_sensor import inertial_reading
from dqdyn.simulate.observation import LinkContact, Observation
from dqdyn.simulate.run import simulate
from dqdyn.simulate.trajectory import Trajectory
from dqdyn.simulate.unilateral.round_contact import RoundContact

__all__ = [
    "BaseEstimator",
    "ControlLaw",
    "Estimate",
    "EstimatedBase",
    "Interrupted",
    "LimitWarning",
    "LinkContact",
    "Observation",
    "RoundContact",
    "SensorNoise",
    "SimulationError",
    "SimulationWarning",
    "Trajectory",
    "inertial_reading",
    "simulate",
]


class _Callable(ModuleType):
    """Python binds a package to the name that the function has in ``dqdyn``, so the package itself can be called."""

    __call__ = staticmethod(simulate)
    __signature__ = property(lambda self: inspect.signature(simulate))


sys.modules[__name__].__class__ = _Callable
# help(dq.simulate) starts with the function: its first line, how to call it, and the rest of what it says.
_first, _, _rest = (inspect.getdoc(simulate) or "").partition("\n")
_called = inspect.signature(simulate)
_called = _called.replace(
    parameters=[p.replace(annotation=inspect.Parameter.empty) for p in _called.parameters.values()],
    return_annotation=inspect.Parameter.empty,
)
__doc__ = f"{_first}\n\nsimulate{_called}\n{_rest}\n\nThe package of the same name holds what else belongs to it."
