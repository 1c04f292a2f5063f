"""Tasks on the robot as a whole: posture and rest."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Self, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.caching import cached_property
from dqdyn.control.core.kinematics import Rows, SignalMotion, State
from dqdyn.control.core.task import Task, TaskOptions
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import Configuration, Feature
from dqdyn.control.features.signals import SignalLike, as_signal
from dqdyn.kinematics.configuration import difference
from dqdyn.model.model import Model


class PostureTask(Task):
    """The robot at a configuration: error q ⊖ q_d (nv), the velocity that leads from the target to q in unit time."""

    model: Model

    def __init__(self, target: SignalLike, **options: Unpack[TaskOptions]) -> None:
        self.target = target
        super().__init__("posture", (Configuration(),), (), **options)

    def bound_to(self, model: Model) -> Self:
        result = copy.copy(super().bound_to(model))
        result.model = model
        result.signals = (as_signal("vector", self.target, "the target of the posture", model.nq),)
        return result

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return difference(self.model, given[0], robot[0])

    @cached_property
    def _state_at_target(self) -> State:
        return State(self.model, self.signals[0].at(0.0).value)

    def components_at_target(self, feature: Feature) -> list[Scalar] | None:
        return feature.kinematics(self._state_at_target).value


class RestTask(Task):
    """All joints at rest: the lower level of [Quiroz, eq. (3.6)], ‖v̇ + α v‖² with α = ``gain``; ‖v‖² for velocities."""

    def __init__(self, **options: Unpack[TaskOptions]) -> None:
        super().__init__("rest", (), (), **options)
        self.gains = (self.gain, 0.0)  # ë = −α ė for e with ė = v: the error itself has no place

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return []

    def rows(self, state: State, given: Sequence[SignalMotion]) -> Rows:
        n = state.model.nv
        zero, unit = [0.0] * n, [[1.0 if i == k else 0.0 for k in range(n)] for i in range(n)]
        return self.with_gain_factors(Rows(zero, unit, zero, None if state.v is None else list(state.v), zero))
