"""Plain methods as fast as bound functions: at first use a built-in with an inline cache shadows the method."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.compile.function import Function
from dqdyn.errors import Error
from dqdyn.robot.bound import DEFAULTS
from dqdyn.robot.catalog import quantities

if TYPE_CHECKING:
    import inspect

    from dqdyn.compile.dispatch import Dispatcher
    from dqdyn.robot.base import RobotBase
    from dqdyn.robot.catalog import Quantity


class Shortcuts:
    """The functions that a robot's methods have used, and the built-ins that shadow those methods."""

    def __init__(self, robot: RobotBase) -> None:
        self.robot = robot
        self._ready: dict[tuple[Any, ...], Any] = {}
        self._dispatchers: dict[str, Dispatcher | None] = {}
        self._last: dict[str, tuple[Any, ...]] = {}  # what each dispatcher remembers
        self._lock = threading.Lock()

    def function(self, key: tuple[Any, ...], inputs: tuple[Any, ...]) -> Any:
        """The function of a key (name, *options). Code for one state is made when one state comes."""
        try:
            found = self._ready.get(key)
        except TypeError:  # an option that cannot be a key, such as a list of methods
            raise Error(f"options of {key[0]} are names, such as method='auto'; found {key[1:]!r}.") from None
        if found is None:
            name, *values = key
            function = self.robot._bindings.function(name, dict(zip(self._quantity(name).options, values, strict=True)))
            if _is_batch(inputs[0]):
                return function
            found = self._ready[key] = function.fast
        if self._last.get(key[0]) != key:
            self._last[key[0]] = key
            self._remember(key, found)
        return found

    def _quantity(self, name: str) -> Quantity:
        return quantities(self.robot.model)[name]

    def _remember(self, key: tuple[Any, ...], function: Any) -> None:
        """Let the method jump to this function next time, if the method's own arguments are its key and inputs."""
        name, *values = key
        if isinstance(function, Function):
            return  # no machine code
        with self._lock:  # of two made at a time, the method would show one and the other would remember
            if name not in self._dispatchers:
                self._dispatchers[name] = self._shadow(name)
        dispatcher = self._dispatchers[name]
        if dispatcher is None:
            return
        pairs = list(zip(self._quantity(name).options, values, strict=True))
        if all(DEFAULTS.get(option, value) == value for option, value in pairs):
            keys = [value for option, value in pairs if option not in DEFAULTS]
            dispatcher.remember(keys[0] if keys else None, function)

    def _shadow(self, name: str) -> Dispatcher | None:
        """A built-in in place of a method that only passes (key, inputs…) on to the function of the same name.

        Methods that wrap the result in a value have an inner method ``_name`` for it, which is shadowed instead.
        """
        import inspect

        from dqdyn.compile.dispatch import Dispatcher, available
        from dqdyn.robot.robot import Robot

        quantity, kind = self._quantity(name), type(self.robot)
        attribute = f"_{name}" if hasattr(kind, f"_{name}") else name
        method = getattr(kind, attribute, None)
        keys = [option for option in quantity.options if option not in DEFAULTS]
        overridden = method is not getattr(Robot, attribute, None)  # a subclass may do more than pass arguments on
        if method is None or overridden or len(keys) > 1 or not available():
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


def _is_batch(value: Any) -> bool:
    """Whether a vector is many; asked of the value itself, for NumPy's functions warn on some symbols."""
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and isinstance(value[0], (list, tuple, np.ndarray))
    return isinstance(value, np.ndarray) and value.ndim > 1


def _plain(signature: inspect.Signature) -> str:
    """The signature without annotations, as built-ins state theirs."""
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))
