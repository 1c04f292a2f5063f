"""A task on any function of the algebra."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.quaternion import Quaternion, pure
from dqdyn.algebra.scalar import Scalar, is_scalar
from dqdyn.control.core.task import Settings, Task
from dqdyn.control.core.term import Parts
from dqdyn.control.features.components import SIZE
from dqdyn.control.features.features import Thing
from dqdyn.control.features.signals import as_signal
from dqdyn.errors import Error, unknown_name


class FunctionTask(Task):
    """``function(*things, *signals)`` at zero: any function of the algebra, of scalars, lists or dual quaternions.

    Things come as dual quaternions (pose, line, plane), pure ones (point), or lists (segment, configuration); so do the
    ``signals``, given as pairs (kind, value) such as ("point", [0, 0, 1]). The function gives a scalar, a list of them,
    or a dual quaternion. It is traced with all its derivatives: no ``if`` on values, and ``sin``, ``sqrt``, … of
    :mod:`dqdyn.algebra.scalar`.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        things: Thing | Sequence[Thing],
        signals: Sequence[tuple[str, Any]] = (),
        **settings: Unpack[Settings],
    ) -> None:
        if not callable(function):
            raise Error(f"A FunctionTask takes a function of things on the robot; found {function!r}.", found=function)
        self.function = function
        name = getattr(function, "__name__", type(function).__name__)
        given = tuple(as_signal(*_kind_and_value(pair, name), f"the {pair[0]} given to {name}") for pair in signals)
        if not things:
            raise Error(f"The task {name!r} needs things on the robot to be a function of.", task=name)
        of = (things,) if isinstance(things, Thing) else tuple(things)
        for thing in of:
            if not isinstance(thing, Thing):
                raise Error(
                    f"The task {name!r} is a function of things such as ct.point(frame) and ct.pose(frame); found "
                    f"{thing!r}.",
                    task=name,
                    found=thing,
                )
        super().__init__(f"function {name}", of, given, **settings)

    def error(self, robot: Parts, given: Parts) -> list[Scalar]:
        kinds = [thing.kind for thing in self.things] + [signal.kind for signal in self.signals]
        try:
            result = self.function(*(_value(k, c) for k, c in zip(kinds, [*robot, *given], strict=True)))
        except Exception as problem:  # the function is the user's: whatever it raises, it is to be found
            raise Error(
                f"{self.name} cannot be traced: {type(problem).__name__}: {str(problem).rstrip('.')}; use +, -, * and "
                "what dqdyn.algebra.scalar has, select(less(a, b), x, y) in place of if.",
                task=self.name,
            ) from problem
        found = _scalars(result)
        if found is None:
            raise Error(
                f"{self.name} gives {type(result).__name__}: return a scalar, a list of scalars or a dual quaternion.",
                task=self.name,
            )
        return found


def _kind_and_value(pair: Any, task: str) -> tuple[str, Any]:
    if not isinstance(pair, (tuple, list)) or len(pair) != 2 or not isinstance(pair[0], str):
        raise Error(f"signals of {task!r} are pairs (kind, value); found {pair!r}.", task=task, found=pair)
    if pair[0] not in SIZE:
        raise unknown_name("kind of signal", pair[0], SIZE)
    return pair[0], pair[1]


def _value(kind: str, c: list[Scalar]) -> Any:
    if kind == "point":
        return DQ.of(pure(*c))
    if kind == "line":
        return DQ.of(pure(*c[:3]), pure(*c[3:]))
    if kind == "plane":
        return DQ.of(pure(*c[:3]), Quaternion(c[3], 0.0, 0.0, 0.0))
    if kind == "pose":
        return DQ.of(Quaternion(*c[:4]), Quaternion(*c[4:]))
    if kind == "rotation":
        return DQ.of(Quaternion(*c))
    return c[0] if kind == "number" else c


def _scalars(result: Any) -> list[Scalar] | None:
    if isinstance(result, DQ):
        return list(result.components)
    if isinstance(result, Quaternion):
        return list(result.components)
    if is_scalar(result) and not hasattr(result, "__len__"):
        return [result]
    try:
        found = list(result)
    except TypeError:
        return None
    return found if found and all(is_scalar(c) for c in found) else None
