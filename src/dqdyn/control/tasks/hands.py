"""Cooperative dual task space: tasks on the relative and the absolute pose of two hands."""

from __future__ import annotations

from typing import Any, ClassVar, Unpack

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.scalar import Scalar
from dqdyn.control.quantity import Parts
from dqdyn.control.signals import as_signal
from dqdyn.control.task import Settings, Task
from dqdyn.control.tasks.poses import ERRORS, pose_error
from dqdyn.control.things import FramePose
from dqdyn.errors import unknown_name
from dqdyn.kinematics import cooperative


class _HandsTask(Task):
    pair: ClassVar[Any]
    word: ClassVar[str]

    def __init__(
        self, hand1: str, hand2: str, target: Any, *, error: str = "log", **settings: Unpack[Settings]
    ) -> None:
        if error not in ERRORS:
            raise unknown_name("error of a pose", error, ERRORS)
        self.kind_of_error = error
        target = as_signal("pose", target, f"the target of the {self.word} pose of {hand1!r} and {hand2!r}")
        hands = (FramePose(hand1), FramePose(hand2))
        super().__init__(f"{self.word} pose of {hand1} and {hand2}", hands, (target,), **settings)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        x1, x2 = (DQ.of(Quaternion(*c[:4]), Quaternion(*c[4:])) for c in robot)
        return pose_error(type(self).pair(x1, x2).components, given[0], self.kind_of_error)


class RelativePoseTask(_HandsTask):
    """``hand1`` seen from ``hand2`` at a pose: x_r = x_2* x_1; errors as those of :class:`PoseTask`."""

    pair = staticmethod(cooperative.relative)
    word = "relative"


class AbsolutePoseTask(_HandsTask):
    """The frame half-way between the hands at a pose: x_a = x_2 x_r^{1/2}; its Jacobian is the exact one."""

    pair = staticmethod(cooperative.absolute)
    word = "absolute"
