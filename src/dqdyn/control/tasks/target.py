"""Tasks that bring a feature of the robot to a target of its kind: poses, points, rotations, lines, planes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.exponential import log
from dqdyn.algebra.scalar import Scalar, less, select, total
from dqdyn.control.core.task import Task, TaskOptions
from dqdyn.control.core.term import Parts
from dqdyn.control.features.features import CenterOfMass, Feature
from dqdyn.control.features.on_robot import FrameLike, PointLike, line, plane, point, pose, required
from dqdyn.control.features.signals import SignalLike, as_signal
from dqdyn.errors import unknown_name

PoseError = Literal["log", "difference"]
_INSTEAD_OF_EQUALITY = {"log": "", "difference": "use error='log', whose six rows are independent"}
_FIRST = "make it the first level of the tasks, [[line or plane], [others]]"


class TargetTask(Task):
    """A feature at a target, which is of the feature's kind unless ``kind`` says otherwise; error: the difference."""

    def __init__(
        self, default_name: str, feature: Feature, target: SignalLike, kind: str = "", **options: Unpack[TaskOptions]
    ) -> None:
        signal = as_signal(kind or feature.kind, target, f"the target of the {default_name}")
        super().__init__(default_name, (feature,), (signal,), **options)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return [a - b for a, b in zip(robot[0], given[0], strict=True)]

    def components_at_target(self, feature: Feature) -> list[Scalar] | None:
        return self.features[0].implied(self.signals[0].at(0.0).value, feature)


class PoseTask(TargetTask):
    """A frame at a pose: ``PoseTask("tool", target)`` with a Pose, vec8, or a function of time.

    ``error="log"`` has six components, [φn, p] of the frame seen from the target, in rad and m; ``"difference"`` has
    the eight of vec8(x − x_d), whose Jacobian is the pose Jacobian. Among the constraints, by "log", it holds a foot or
    a hand where it is: J_c q̇ = 0 [Quiroz, eq. (4.60)], and what has drifted comes back.
    """

    def __init__(
        self, frame: FrameLike, target: SignalLike, *, error: PoseError = "log", **options: Unpack[TaskOptions]
    ) -> None:
        if error not in _INSTEAD_OF_EQUALITY:
            raise unknown_name("error of a pose", error, _INSTEAD_OF_EQUALITY)
        self.kind_of_error, self.instead_of_equality = error, _INSTEAD_OF_EQUALITY[error]
        feature = required(pose, frame, "The frame of a PoseTask")
        super().__init__(f"pose of {feature.place}", feature, target, **options)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        return pose_error(robot[0], given[0], self.kind_of_error)


class RotationTask(TargetTask):
    """A frame at an orientation (w, x, y, z) or that of a Pose; error φn of r_d* r in rad, seen from the target.

    With :func:`~dqdyn.control.absolute_frame` of two feet among the constraints: J_Pabs q̇ = 0 [Quiroz, eq. (4.59)].
    """

    def __init__(self, frame: FrameLike, target: SignalLike, **options: Unpack[TaskOptions]) -> None:
        feature = required(pose, frame, "The frame of a RotationTask")
        super().__init__(f"rotation of {feature.place}", feature, target, "rotation", **options)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        zero = [0.0] * 4
        return pose_error([*robot[0][:4], *zero], [*given[0], *zero], "log")[:3]


class TranslationTask(TargetTask):
    """A point of the robot at a position: the origin of a frame, or any :func:`~dqdyn.control.point`; error p − p_d."""

    def __init__(self, frame: PointLike, target: SignalLike, **options: Unpack[TaskOptions]) -> None:
        feature = required(point, frame, "What a TranslationTask moves")
        super().__init__(f"translation of {feature.place}", feature, target, **options)


class LineTask(TargetTask):
    """A line of the robot on a line in the workspace: error [l − l_d, m − m_d]; a frame's name: its z axis."""

    instead_of_equality = _FIRST

    def __init__(self, robot: PointLike, target: SignalLike, **options: Unpack[TaskOptions]) -> None:
        feature = required(line, robot, "What a LineTask moves")
        super().__init__(f"line on {feature.place}", feature, target, **options)


class PlaneTask(TargetTask):
    """A plane of the robot on a plane in the workspace: error [n − n_d, d − d_d]; a frame's name: its xy plane."""

    instead_of_equality = _FIRST

    def __init__(self, robot: PointLike, target: SignalLike, **options: Unpack[TaskOptions]) -> None:
        feature = required(plane, robot, "What a PlaneTask moves")
        super().__init__(f"plane on {feature.place}", feature, target, **options)


class CenterOfMassTask(TargetTask):
    """The center of mass at a position in m."""

    def __init__(self, target: SignalLike, **options: Unpack[TaskOptions]) -> None:
        super().__init__("center of mass", CenterOfMass(), target, **options)


def pose_error(x: Sequence[Scalar], target: Sequence[Scalar], error: PoseError) -> list[Scalar]:
    """The error of a pose: "log" gives [φn, p] of x_d* x, seen from the target (6); "difference" vec8(x − x_d).

    x and −x are one pose: the nearer of them is meant, so that the way is the shorter one. "log" has no derivative at
    a rotation by π, where there is no shorter way.
    """
    along = total(a * b for a, b in zip(x[:4], target[:4], strict=True))
    sign = select(less(along, 0.0), -1.0, 1.0)
    if error == "difference":
        return [a - sign * b for a, b in zip(x, target, strict=True)]
    g = log(DQ.of8(target).conj() * DQ.of8(x) * sign)
    return [2.0 * c for c in (*g.primary.vector, *g.dual.vector)]
