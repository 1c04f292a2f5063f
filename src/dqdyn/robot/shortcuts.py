"""Plain methods as fast as bound functions: at first use a built-in with an inline cache shadows the method."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.compile.dispatch import Dispatcher, available
from dqdyn.compile.function import Function
from dqdyn.robot.bound import DEFAULTS
from dqdyn.robot.catalog import CATALOG

if TYPE_CHECKING:
    from dqdyn.robot.robot import Robot


class Shortcuts:
    """The functions that a robot's methods have used, and the built-ins that shadow those methods."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._ready: dict[tuple[Any, ...], Any] = {}
        self._dispatchers: dict[str, Dispatcher | None] = {}

    def function(self, key: tuple[Any, ...], inputs: tuple[Any, ...]) -> Any:
        """The function of a key (name, *options). Code for one state is made when one state comes."""
        found = self._ready.get(key)
        if found is None:
            name, *values = key
            function = self.robot._bindings.function(name, dict(zip(CATALOG[name].options, values, strict=True)))
            if np.ndim(inputs[0]) > 1:
                return function
            found = self._ready[key] = function.fast
        self._remember(key, found)
        return found

    def _remember(self, key: tuple[Any, ...], function: Any) -> None:
        """Let the method jump to this function next time, if the method's own arguments are its key and inputs."""
        name, *values = key
        if isinstance(function, Function):
            return  # no machine code
        if name not in self._dispatchers:
            self._dispatchers[name] = self._shadow(name)
        dispatcher = self._dispatchers[name]
        if dispatcher is None:
            return
        options = CATALOG[name].options
        if all(
            option not in DEFAULTS or DEFAULTS[option] == value for option, value in zip(options, values, strict=True)
        ):
            dispatcher.remember(values[0] if values else None, function)

    def _shadow(self, name: str) -> Dispatcher | None:
        """A built-in in place of a method that only passes (key, inputs…) on to the function of the same name.

        Methods that wrap the result in a value have an inner method ``_name`` for it, which is shadowed instead.
        """
        quantity, kind = CATALOG[name], type(self.robot)
        attribute = f"_{name}" if hasattr(kind, f"_{name}") else name
        method = getattr(kind, attribute, None)
        keys = [option for option in quantity.options if option not in DEFAULTS]
        if method is None or len(keys) > 1 or not available():
            return None
        signature = inspect.signature(method)
        count = len(keys) + len(quantity.inputs)
        required = [p for p in signature.parameters.values() if p.default is p.empty]
        if signature.return_annotation != "np.ndarray" or len(required) != 1 + count:
            return None
        shown = signature.replace(parameters=list(signature.parameters.values())[1:])
        doc = f"{attribute}{_plain(shown)}\n--\n\n{inspect.getdoc(method)}"
        dispatcher = Dispatcher(method.__get__(self.robot), len(keys), len(quantity.inputs), attribute, doc)
        if dispatcher.fast is not None:
            self.robot.__dict__[attribute] = dispatcher.fast
        return dispatcher


def _plain(signature: inspect.Signature) -> str:
    """The signature without annotations, as built-ins state theirs."""
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))
