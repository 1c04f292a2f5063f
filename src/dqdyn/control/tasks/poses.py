"""Tasks on the pose of a frame: all of it, its translation, its rotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Unpack

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import log
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.scalar import Scalar, less, select, total
from dqdyn.control.core.task import Settings, Task
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import Thing
from dqdyn.control.features.on_robot import Frame, point, pose, required
from dqdyn.control.features.signals import as_signal
from dqdyn.errors import unknown_name

ERRORS = ("log", "difference")
INSTEAD_OF_EQUALITY = {"log": "", "difference": "use error='log', whose six rows are independent"}


def pose_error(x: Sequence[Scalar], target: Sequence[Scalar], error: str) -> list[Scalar]:
    """The error of a pose: "log" gives [φn, p] of x_d* x, seen from the target (6); "difference" vec8(x − x_d).

    x and −x are one pose: the nearer of them is meant, so that the way is the shorter one. "log" has no derivative at
    a rotation by π, where there is no shorter way.
    """
    sign = _nearer(x[:4], target[:4])
    if error == "difference":
        return [a - sign * b for a, b in zip(x, target, strict=True)]
    g = log(_dq(target).conj() * _dq(x) * sign)
    return [2.0 * c for c in (*g.primary.vector, *g.dual.vector)]


def _nearer(r: Sequence[Scalar], target: Sequence[Scalar]) -> Scalar:
    return select(less(total(a * b for a, b in zip(r, target, strict=True)), 0.0), -1.0, 1.0)


def _dq(c: Sequence[Scalar]) -> DQ:
    return DQ.of(Quaternion(*c[:4]), Quaternion(*c[4:]))


class PoseTask(Task):
    """A frame at a pose: ``PoseTask("tool", target)`` with a Pose, vec8, or a function of time.

    ``error="log"`` has six components, [φn, p] of the frame seen from the target, in rad and m; ``"difference"`` has
    the eight of vec8(x − x_d), whose Jacobian is the pose Jacobian.
    """

    def __init__(self, frame: Frame, target: Any, *, error: str = "log", **settings: Unpack[Settings]) -> None:
        if error not in ERRORS:
            raise unknown_name("error of a pose", error, ERRORS)
        thing, self.kind_of_error = required(pose, frame, "The frame of a PoseTask"), error
        self.instead_of_equality = INSTEAD_OF_EQUALITY[error]
        target = as_signal("pose", target, f"the target of the pose of {thing.place!r}")
        super().__init__(f"pose of {thing.place}", (thing,), (target,), **settings)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return pose_error(robot[0], given[0], self.kind_of_error)


class TranslationTask(Task):
    """A point of the robot at a position: the origin of a frame, or any :func:`~dqdyn.control.point`; error p − p_d."""

    def __init__(self, frame: Frame | Thing, target: Any, **settings: Unpack[Settings]) -> None:
        thing = required(point, frame, "What a TranslationTask moves")
        target = as_signal("point", target, f"the target of the translation of {thing.place!r}")
        super().__init__(f"translation of {thing.place}", (thing,), (target,), **settings)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [a - b for a, b in zip(robot[0], given[0], strict=True)]


class RotationTask(Task):
    """A frame at an orientation (w, x, y, z) or that of a Pose; error φn of r_d* r in rad, seen from the target."""

    def __init__(self, frame: Frame, target: Any, **settings: Unpack[Settings]) -> None:
        thing = required(pose, frame, "The frame of a RotationTask")
        target = as_signal("rotation", target, f"the target of the rotation of {thing.place!r}")
        super().__init__(f"rotation of {thing.place}", (thing,), (target,), **settings)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        r, target = robot[0][:4], given[0]
        zero = [0.0] * 4
        return pose_error([*r, *zero], [*target, *zero], "log")[:3]
