"""Cooperative dual task space: tasks on the relative and the absolute pose of two hands."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.task import Settings, Task
from dqdyn.control.core.term import Parts
from dqdyn.control.features.hands import HandsPose
from dqdyn.control.features.signals import as_signal
from dqdyn.control.tasks.poses import ERRORS, INSTEAD_OF_EQUALITY, pose_error
from dqdyn.errors import unknown_name


class _HandsTask(Task):
    word: ClassVar[str]

    def __init__(
        self, hand1: str, hand2: str, target: Any, *, error: str = "log", **settings: Unpack[Settings]
    ) -> None:
        if error not in ERRORS:
            raise unknown_name("error of a pose", error, ERRORS)
        self.kind_of_error, self.instead_of_equality = error, INSTEAD_OF_EQUALITY[error]
        target = as_signal("pose", target, f"the target of the {self.word} pose of {hand1!r} and {hand2!r}")
        frame = HandsPose(self.word, hand1, hand2)
        super().__init__(f"{self.word} pose of {hand1} and {hand2}", (frame,), (target,), **settings)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return pose_error(robot[0], given[0], self.kind_of_error)


class RelativePoseTask(_HandsTask):
    """``hand1`` seen from ``hand2`` at a pose: x_r = x_2* x_1; errors as those of :class:`PoseTask`."""

    word = "relative"


class AbsolutePoseTask(_HandsTask):
    """The frame half-way between the hands at a pose: x_a = x_2 x_r^{1/2}; its Jacobian is the exact one."""

    word = "absolute"
