"""Targets that cannot be reached since a constraint forbids them, told when a controller is built, as of t = 0."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

from dqdyn.algebra.adjoint import Adjoint
from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.scalar import Scalar
from dqdyn.control.core.command_bound import Constraint, Context
from dqdyn.control.core.design import Design
from dqdyn.control.core.errors import ControlWarning
from dqdyn.control.core.inequality import Inequality
from dqdyn.control.core.state import State
from dqdyn.control.core.task import Task
from dqdyn.control.features.features import Thing
from dqdyn.control.features.pairs import Pair
from dqdyn.control.features.signals import Signal
from dqdyn.control.inequalities.cone import Cone
from dqdyn.control.inequalities.zones import KeepIn, KeepOut
from dqdyn.control.limits.position import JointLimits
from dqdyn.control.tasks.hands import AbsolutePoseTask, RelativePoseTask
from dqdyn.control.tasks.poses import PoseTask, RotationTask, TranslationTask
from dqdyn.control.tasks.primitives import DistanceTask, LineTask, PlaneTask
from dqdyn.control.tasks.robot import CenterOfMassTask, PostureTask
from dqdyn.model.model import Model

Where = Callable[[Thing], list[Scalar] | None]
"""Components of a thing where a task is met; None where the task leaves them open."""

_ROUNDING = 1e-9
_SAME_THING = (TranslationTask, LineTask, PlaneTask, CenterOfMassTask)


def warn_of_forbidden_targets(model: Model, found: Design) -> None:
    """A warning for every target and constraint that cannot both be met, as far as the target alone tells."""
    for task in found.all_tasks:
        where = _where(model, task)
        for constraint in found.constraints:
            for name, h in _at_target(model, task, where, constraint):
                if h < -_ROUNDING:
                    text = f"The target of {task.name!r} lies in the zone that {name!r} forbids, by {-h:.4g}."
                    warnings.warn(text, ControlWarning, stacklevel=4)  # where the controller is built


def _at_target(model: Model, task: Task, where: Where | None, constraint: Constraint) -> Iterator[tuple[str, float]]:
    """(name, h) of what the constraint protects, where the task is met."""
    if isinstance(task, DistanceTask):
        yield from _of_the_same_pair(task, constraint)
    elif isinstance(task, PostureTask) and isinstance(constraint, JointLimits):
        q, gains = task.signals[0].at(0.0).value, constraint.initial_gains(model, "velocity")
        context = Context(model, "velocity", q, [0.0] * model.nv, lambda signal: signal.at(0.0), list(gains))
        yield from ((side.name, float(side.h or 0.0)) for side in constraint.sides(context))
    elif where is not None and isinstance(constraint, Inequality):
        if isinstance(task, RotationTask) and not isinstance(constraint, Cone):  # which alone is about directions
            return
        things = [where(thing) for thing in constraint.things]
        if None not in things:
            h = constraint.value([c or [] for c in things], [s.at(0.0).value for s in constraint.signals])
            yield from zip(constraint.row_names(), map(float, h), strict=True)


def _where(model: Model, task: Task) -> Where | None:
    if not task.signals:
        return None
    target, thing = task.signals[0].at(0.0).value, task.things[0]
    if isinstance(task, (PoseTask, AbsolutePoseTask, RelativePoseTask, RotationTask)):
        dual = target[4:] or [0.0] * 4
        adjoints = {thing.place: Adjoint(DQ.of(Quaternion(*target[:4]), Quaternion(*dual)))}
        return lambda other: other.at(adjoints)
    if isinstance(task, PostureTask):
        state = State(model, target)
        return lambda other: other.seen(state).value
    return (lambda other: target if other == thing else None) if isinstance(task, _SAME_THING) else None


def _of_the_same_pair(task: DistanceTask, constraint: Constraint) -> Iterator[tuple[str, float]]:
    """Two distances, the one that is wanted and the one that is allowed, of the same two things."""
    if isinstance(constraint, Cone):
        pair, sign = constraint.pair_of_lines, -1.0
    elif isinstance(constraint, (KeepOut, KeepIn)):
        pair, sign = constraint.pair_of_things, constraint.sign
    else:
        return
    if _between(pair) in (_between(task.pair), _between(task.pair)[::-1]) and _is_angle(pair) == _is_angle(task.pair):
        wanted, allowed = (part.signals[-1].at(0.0).value[0] for part in (task, constraint))
        yield constraint.name, float(sign * (pair.scale(wanted) - pair.scale(allowed)))


def _between(pair: Pair) -> list[object]:
    return [(s.kind, s.at(0.0).value) if isinstance(s, Signal) else s for s in pair.sides]


def _is_angle(pair: Pair) -> bool:
    return pair.function.name.endswith("_angle")
