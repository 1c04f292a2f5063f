"""What a robot, a hand or a number is to follow in time: splines through way points, and the fastest within limits.

>>> import dqdyn as dq
>>> from dqdyn import references as ref
>>> robot = dq.robots.arm7()
>>> path = ref.between(robot, robot.neutral(), robot.neutral() + 0.5, 2.0)
>>> q, v, a = path(1.0)
>>> round(float(q[0]), 12)
0.25

All move on the manifold: quaternions keep their norm, free joints and poses move along screws. A path is the target of
any task and of computed torque.
"""

from __future__ import annotations

from dqdyn.references.computed_torque import ComputedTorque, Reference
from dqdyn.references.make import between, cubic, quintic, time_optimal, trapezoids
from dqdyn.references.path import TimedPath
from dqdyn.references.space import Motion
from dqdyn.references.waves import waves

__all__ = [
    "ComputedTorque",
    "Motion",
    "Reference",
    "TimedPath",
    "between",
    "cubic",
    "quintic",
    "time_optimal",
    "trapezoids",
    "waves",
]
