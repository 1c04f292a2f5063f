"""Cooperative dual task space: tasks on the relative and the absolute pose of two hands."""

from __future__ import annotations

from typing import ClassVar, Literal, Unpack

from dqdyn.control.core.task import TaskOptions
from dqdyn.control.features.hands import HandsPose
from dqdyn.control.features.signals import SignalLike
from dqdyn.control.tasks.target import PoseError, PoseTask


class _HandsTask(PoseTask):
    which: ClassVar[Literal["absolute", "relative"]]

    def __init__(
        self, hand1: str, hand2: str, target: SignalLike, *, error: PoseError = "log", **options: Unpack[TaskOptions]
    ) -> None:
        options.setdefault("name", f"{self.which} pose of {hand1} and {hand2}")
        super().__init__(HandsPose(self.which, hand1, hand2), target, error=error, **options)


class RelativePoseTask(_HandsTask):
    """``hand1`` seen from ``hand2`` at a pose: x_r = x_2* x_1; errors as those of :class:`PoseTask`.

    Among the constraints, of two feet, it is J_rel q̇ = 0 [Quiroz, eq. (4.58)]. With the rotation of the absolute frame
    held as well [Quiroz, eq. (4.59)] the feet of a robot on a free base still slide together, in any direction: hold
    both by :class:`PoseTask` instead.
    """

    which = "relative"


class AbsolutePoseTask(_HandsTask):
    """The frame half-way between the hands at a pose: x_a = x_2 x_r^{1/2}; its Jacobian is the exact one."""

    which = "absolute"
