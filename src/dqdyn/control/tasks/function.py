"""A task on any function of the algebra."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Unpack

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion
from dqdyn.algebra.scalar import Scalar, is_scalar
from dqdyn.control.core.errors import refused
from dqdyn.control.core.task import Task, TaskOptions
from dqdyn.control.core.term import Parts
from dqdyn.control.features.components import SIZE, as_dual_quaternion
from dqdyn.control.features.features import Feature
from dqdyn.control.features.signals import SignalLike, as_signal
from dqdyn.errors import Error, unknown_name


class FunctionTask(Task):
    """``function(*features, *signals)`` at zero: any function of the algebra, of scalars, lists or dual quaternions.

    Features come as dual quaternions (pose, line, plane), pure ones (point), or lists (segment, configuration); so do
    the ``signals``, given as pairs (kind, value) such as ("point", [0, 0, 1]). The function gives a scalar, a list of
    them, or a dual quaternion. It is traced with all its derivatives: no ``if`` on values, and ``sin``, ``sqrt``, … of
    :mod:`dqdyn.algebra.scalar`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        features: Feature | Sequence[Feature] = (),
        signals: Sequence[tuple[str, SignalLike]] = (),
        *,
        things: Feature | Sequence[Feature] = (),
        **options: Unpack[TaskOptions],
    ) -> None:
        if things:
            warnings.warn("FunctionTask(things=…) is now called features=….", DeprecationWarning, stacklevel=2)
            features = things
        if not callable(function):
            raise refused("A FunctionTask takes a function of features of the robot", function)
        self.function = function
        name = getattr(function, "__name__", type(function).__name__)
        given = tuple(as_signal(*_kind_and_value(pair, name), f"the {pair[0]} given to {name}") for pair in signals)
        if not features:
            raise Error(f"The task {name!r} needs features of the robot to be a function of.", task=name)
        of = (features,) if isinstance(features, Feature) else tuple(features)
        for feature in of:
            if not isinstance(feature, Feature):
                wanted = f"The task {name!r} is a function of features such as ct.point(frame) and ct.pose(frame)"
                raise refused(wanted, feature, task=name)
        super().__init__(f"function {name}", of, given, **options)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        kinds = [*(feature.kind for feature in self.features), *(signal.kind for signal in self.signals)]
        try:
            result = self.function(*(as_dual_quaternion(k, c) for k, c in zip(kinds, [*robot, *given], strict=True)))
        except Exception as problem:  # the function is the user's: whatever it raises, it is to be found
            raise Error(
                f"{self.name} cannot be traced: {type(problem).__name__}: {str(problem).rstrip('.')}; use +, -, * and "
                "what dqdyn.algebra.scalar has, select(less(a, b), x, y) instead of if.",
                task=self.name,
            ) from problem
        scalars = _scalars(result)
        if scalars is None:
            raise Error(
                f"{self.name} gives {type(result).__name__}: return a scalar, a list of scalars or a dual quaternion.",
                task=self.name,
            )
        return scalars


def _kind_and_value(pair: Any, task: str) -> tuple[str, Any]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], str):
        raise refused(f"signals of {task!r} are pairs (kind, value)", pair, task=task)
    if pair[0] not in SIZE:
        raise unknown_name("kind of signal", pair[0], SIZE)
    return pair[0], pair[1]


def _scalars(result: Any) -> list[Scalar] | None:
    if isinstance(result, (DQ, Quaternion)):
        return list(result.components)
    if is_scalar(result) and not hasattr(result, "__len__"):
        return [result]
    try:
        scalars = list(result)
    except TypeError:
        return None
    return scalars if scalars and all(is_scalar(c) for c in scalars) else None
