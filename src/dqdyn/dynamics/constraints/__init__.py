"""Constraints on a robot: rolling, loop closures, contacts, and those that users write.

``robot.with_constraints(PointClosure("coupler_end", "ground_end"))``. Kinds are imported when they are first used:
loading a robot stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dqdyn.dynamics.constraints.axis import AxisClosure
    from dqdyn.dynamics.constraints.base import Constraint, Place
    from dqdyn.dynamics.constraints.contact import FaceContact, PointContact
    from dqdyn.dynamics.constraints.coupling import JointCoupling
    from dqdyn.dynamics.constraints.distance import DistanceClosure
    from dqdyn.dynamics.constraints.holonomic import Holonomic
    from dqdyn.dynamics.constraints.knife_edge import KnifeEdge
    from dqdyn.dynamics.constraints.pfaffian import Pfaffian
    from dqdyn.dynamics.constraints.point import PointClosure
    from dqdyn.dynamics.constraints.pose import PoseClosure
    from dqdyn.dynamics.constraints.rolling import Rolling, RollingWheels
    from dqdyn.dynamics.constraints.stabilisation import Baumgarte, Projection

_WHERE = {
    "AxisClosure": "axis",
    "Baumgarte": "stabilisation",
    "Constraint": "base",
    "DistanceClosure": "distance",
    "FaceContact": "contact",
    "Holonomic": "holonomic",
    "JointCoupling": "coupling",
    "KnifeEdge": "knife_edge",
    "Pfaffian": "pfaffian",
    "Place": "base",
    "PointClosure": "point",
    "PointContact": "contact",
    "PoseClosure": "pose",
    "Projection": "stabilisation",
    "Rolling": "rolling",
    "RollingWheels": "rolling",
}

__all__ = [
    "AxisClosure",
    "Baumgarte",
    "Constraint",
    "DistanceClosure",
    "FaceContact",
    "Holonomic",
    "JointCoupling",
    "KnifeEdge",
    "Pfaffian",
    "Place",
    "PointClosure",
    "PointContact",
    "PoseClosure",
    "Projection",
    "Rolling",
    "RollingWheels",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
