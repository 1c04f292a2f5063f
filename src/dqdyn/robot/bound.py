"""Functions of the catalog bound to a robot, its frames and choices: ``f(q, out=J)``."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Any

import numpy as np

from dqdyn.algebra.dual import DQ
from dqdyn.algebra.values import Value, vector
from dqdyn.errors import Error, unknown_name
from dqdyn.kinematics.frames import EXPRESSIONS
from dqdyn.model.model import Model
from dqdyn.robot.catalog import CATALOG, Quantity
from dqdyn.robot.evaluate import evaluate

DEFAULTS: dict[str, Any] = {"expressed": "body"}
_LOCAL_SIZE = {"point": 3, "line": 6, "plane": 4}


class BoundFunction:
    """A numeric function of a robot's state with frames and choices fixed.

    Call it with its inputs in order, each (n,) or (..., n). ``out`` receives the result; ``check=False`` lets NaN and
    infinity propagate instead of raising.
    """

    def __init__(self, model: Model, quantity: Quantity, options: tuple[Any, ...]) -> None:
        self.model, self.quantity, self.options = model, quantity, options
        self.__name__ = quantity.name
        self.__doc__ = f"{quantity.summary}\n\nInputs: {', '.join(quantity.inputs)}."
        positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
        keyword = inspect.Parameter.KEYWORD_ONLY
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(name, positional) for name in quantity.inputs]
            + [inspect.Parameter("out", keyword, default=None), inspect.Parameter("check", keyword, default=True)]
        )

    def __call__(self, *inputs: Any, out: np.ndarray | None = None, check: bool = True, **named: Any) -> np.ndarray:
        if named or len(inputs) != len(self.quantity.inputs):
            inputs = self._arguments(inputs, named)
        return evaluate(self.quantity, self.model, self.options, inputs, check, out)

    def _arguments(self, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
        try:
            bound = self.__signature__.bind(*inputs, **named)
        except TypeError as problem:
            raise Error(f"{self.__name__} takes {', '.join(self.quantity.inputs)}: {problem}.") from None
        return tuple(bound.arguments[name] for name in self.quantity.inputs)

    def __repr__(self) -> str:
        return f"<{self.__name__}({', '.join(self.quantity.inputs)}) of {self.model.name!r}>"


def bind(model: Model, name: str, options: dict[str, Any]) -> BoundFunction:
    """The function ``name`` of the catalog for a model, its options checked."""
    if name not in CATALOG:
        raise unknown_name("function", name, CATALOG)
    quantity = CATALOG[name]
    unknown = set(options) - set(quantity.options)
    if unknown:
        raise unknown_name(f"option of {name}", sorted(unknown)[0], quantity.options)
    values = []
    for option in quantity.options:
        if option not in options and option not in DEFAULTS:
            raise Error(f"{name} needs the option {option!r}: pass {option}=...", option=option)
        values.append(_option(model, quantity, option, options.get(option, DEFAULTS.get(option))))
    return _cached(model, name, tuple(values))


@lru_cache(maxsize=4096)
def _cached(model: Model, name: str, options: tuple[Any, ...]) -> BoundFunction:
    return BoundFunction(model, CATALOG[name], options)


def _option(model: Model, quantity: Quantity, option: str, value: Any) -> Any:
    if option.startswith("frame"):
        return model.frame(value)
    if option == "expressed":
        if value not in EXPRESSIONS:
            raise unknown_name("expression", value, EXPRESSIONS)
        return value
    kind = quantity.name.partition("_")[0]
    return _components(kind, value)


def _components(kind: str, value: Any) -> tuple[float, ...]:
    """A primitive given in a frame, as raw components."""
    if isinstance(value, (Value, DQ)):
        dq = value.dq if isinstance(value, Value) else value
        p, d = dq.primary, dq.dual
        parts = {"point": p.vector, "line": (*p.vector, *d.vector), "plane": (*p.vector, d.w)}[kind]
        return tuple(float(c) for c in parts)
    return tuple(vector(value, _LOCAL_SIZE[kind], f"A {kind} in a frame"))
