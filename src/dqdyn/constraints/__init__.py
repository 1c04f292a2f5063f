"""Constraints on a robot: rolling, loop closures, contacts, and those that users write.

``robot.with_constraints(PointClosure("coupler_end", "ground_end"))``. Kinds are imported when they are first used:
loading a robot stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dqdyn.constraints.constraint import Constraint as Constraint
    from dqdyn.constraints.constraint import Place as Place
    from dqdyn.constraints.kinds.axis import AxisClosure as AxisClosure
    from dqdyn.constraints.kinds.contact import FaceContact as FaceContact
    from dqdyn.constraints.kinds.contact import PointContact as PointContact
    from dqdyn.constraints.kinds.coupling import JointCoupling as JointCoupling
    from dqdyn.constraints.kinds.distance import DistanceClosure as DistanceClosure
    from dqdyn.constraints.kinds.holonomic import Holonomic as Holonomic
    from dqdyn.constraints.kinds.knife_edge import KnifeEdge as KnifeEdge
    from dqdyn.constraints.kinds.pfaffian import Pfaffian as Pfaffian
    from dqdyn.constraints.kinds.point import PointClosure as PointClosure
    from dqdyn.constraints.kinds.pose import PoseClosure as PoseClosure
    from dqdyn.constraints.kinds.rolling import Rolling as Rolling
    from dqdyn.constraints.kinds.rolling import RollingWheels as RollingWheels
    from dqdyn.constraints.stabilisation import Baumgarte as Baumgarte
    from dqdyn.constraints.stabilisation import Projection as Projection


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

__all__ = sorted(_WHERE)


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
