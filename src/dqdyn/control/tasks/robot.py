"""Tasks on the robot as a whole: posture, center of mass, rest."""

from __future__ import annotations

import copy
from typing import Any, Self, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.differentiate import Rows
from dqdyn.control.core.state import State
from dqdyn.control.core.task import Settings, Task
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import CenterOfMass, Configuration
from dqdyn.control.features.signals import as_signal
from dqdyn.model.model import Model


class PostureTask(Task):
    """The robot at a configuration: error q ⊖ q_d (nv), the velocity that leads from the target to q in unit time."""

    model: Model

    def __init__(self, target: Any, **settings: Unpack[Settings]) -> None:
        self.target = target
        super().__init__("posture", (Configuration(),), (), **settings)

    def bound(self, model: Model) -> Self:
        result = copy.copy(super().bound(model))
        result.model = model
        result.signals = (as_signal("vector", self.target, "the target of the posture", model.nq),)
        return result

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        q, target = robot[0], given[0]
        own = [joint for joint in self.model.joints if joint.master is None]
        return [c for joint in own for c in joint.motion.difference(target[joint.q], q[joint.q])]


class CenterOfMassTask(Task):
    """The center of mass at a position in m."""

    def __init__(self, target: Any, **settings: Unpack[Settings]) -> None:
        target = as_signal("point", target, "the target of the center of mass")
        super().__init__("center of mass", (CenterOfMass(),), (target,), **settings)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [a - b for a, b in zip(robot[0], given[0], strict=True)]


class RestTask(Task):
    """All joints at rest: the lower level of [Quiroz, eq. (3.6)], ‖v̇ + α v‖² with α = ``gain``; ‖v‖² for velocities."""

    def __init__(self, **settings: Unpack[Settings]) -> None:
        super().__init__("rest", (), (), **settings)
        self.gains = (self.gain, 0.0)  # ë = −α ė for e with ė = v: the error itself has no place

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return []

    def rows(self, state: State, given: Any) -> Rows:
        n = state.model.nv
        zero, unit = [0.0] * n, [[1.0 if i == k else 0.0 for k in range(n)] for i in range(n)]
        return Rows(zero, unit, zero, None if state.v is None else list(state.v), zero)
