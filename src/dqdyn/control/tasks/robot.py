"""Tasks on the robot as a whole: posture and rest."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Self, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.caching import cached_property
from dqdyn.control.core.errors import refused
from dqdyn.control.core.kinematics import Rows, SignalMotion, State
from dqdyn.control.core.task import Task, TaskOptions
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import Configuration, Feature
from dqdyn.control.features.signals import SignalLike, as_signal
from dqdyn.kinematics.configuration import difference
from dqdyn.model.model import Model


class PostureTask(Task):
    """The robot at a configuration: error q ⊖ q_d (nv), the velocity that leads from the target to q in unit time.

    ``target`` (nq,) has all coordinates. ``joints``: names of the joints that matter, or "motors" for those that have
    one, such as all but the base of a humanoid; the others are left alone.
    """

    model: Model
    _axes: list[int]

    def __init__(
        self, target: SignalLike, *, joints: str | Sequence[str] | None = None, **options: Unpack[TaskOptions]
    ) -> None:
        self.target, self.joints = target, joints
        super().__init__("posture", (Configuration(),), (), **options)

    def bound_to(self, model: Model) -> Self:
        result = copy.copy(super().bound_to(model))
        result.model, result._axes = model, self._chosen(model)
        result.signals = (as_signal("vector", self.target, "the target of the posture", model.nq),)
        return result

    def _chosen(self, model: Model) -> list[int]:
        """Axes of the joints that matter."""
        if self.joints is None:
            return list(range(model.nv))
        if self.joints == "motors":
            return [k for k, motor in enumerate(model.motors) if motor is not None]
        names = [self.joints] if isinstance(self.joints, str) else self.joints
        if not isinstance(names, Sequence) or not names or not all(isinstance(name, str) for name in names):
            raise refused(f"joints of {self.name} are names of joints, or 'motors'", self.joints, task=self.name)
        return sorted({k for name in names for k in range(*model.joint(name).v.indices(model.nv))})

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        e = difference(self.model, given[0], robot[0])
        return [e[k] for k in self._axes]

    @cached_property
    def _state_at_target(self) -> State:
        return State(self.model, self.signals[0].at(0.0).value)

    def components_at_target(self, feature: Feature) -> list[Scalar] | None:
        whole = len(self._axes) == self.model.nv
        return feature.kinematics(self._state_at_target).value if whole else None


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
        return self.chosen_rows(Rows(zero, unit, zero, None if state.v is None else list(state.v), zero))
