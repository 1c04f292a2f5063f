"""Constraints on a robot: rolling, loop closures, contacts, and those that users write.

``robot.with_constraints(PointClosure("coupler_end", "ground_end"))``. Kinds are imported when they are first used:
loading a robot stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dqdyn.constraints.constraint import Constraint, Place
    from dqdyn.constraints.kinds.axis import AxisClosure
    from dqdyn.constraints.kinds.contact import FaceContact, PointContact
    from dqdyn.constraints.kinds.coupling import JointCoupling
    from dqdyn.constraints.kinds.distance import DistanceClosure
    from dqdyn.constraints.kinds.holonomic import Holonomic
    from dqdyn.constraints.kinds.knife_edge import KnifeEdge
    from dqdyn.constraints.kinds.pfaffian import Pfaffian
    from dqdyn.constraints.kinds.point import PointClosure
    from dqdyn.constraints.kinds.pose import PoseClosure
    from dqdyn.constraints.kinds.rolling import Rolling, RollingWheels
    from dqdyn.constraints.stabilisation import Baumgarte, Projection

_WHERE = {
    "AxisClosure": "kinds.axis",
    "Baumgarte": "stabilisation",
    "Constraint": "constraint",
    "DistanceClosure": "kinds.distance",
    "FaceContact": "kinds.contact",
    "Holonomic": "kinds.holonomic",
    "JointCoupling": "kinds.coupling",
    "KnifeEdge": "kinds.knife_edge",
    "Pfaffian": "kinds.pfaffian",
    "Place": "constraint",
    "PointClosure": "kinds.point",
    "PointContact": "kinds.contact",
    "PoseClosure": "kinds.pose",
    "Projection": "stabilisation",
    "Rolling": "kinds.rolling",
    "RollingWheels": "kinds.rolling",
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
