"""Plain methods as fast as bound functions: the compiled functions that a robot's methods have used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.compile.runtime.function import Function
from dqdyn.compile.runtime.method import load_methods
from dqdyn.errors import Error
from dqdyn.robot.bound import DEFAULTS
from dqdyn.robot.catalog import quantities

if TYPE_CHECKING:
    from dqdyn.robot.base import RobotBase


class Shortcuts:
    """The functions that a robot's methods have used, by name and options.

    Those with default options are in ``direct`` as well, where :mod:`~dqdyn.compile.runtime.method` finds them.
    """

    def __init__(self, robot: RobotBase, direct: dict[str, Any]) -> None:
        self.robot, self.direct = robot, direct
        self._ready: dict[tuple[Any, ...], Any] = {}

    def function(self, key: tuple[Any, ...], inputs: tuple[Any, ...]) -> Any:
        """The function of a key (name, *options). Code for one state is made when one state comes."""
        try:
            ready = self._ready.get(key)
        except TypeError:  # an option that cannot be a key, such as a list of methods
            raise Error(f"options of {key[0]} are names, such as method='auto'; found {key[1:]!r}.") from None
        if ready is None:
            name, *values = key
            options = dict(zip(quantities(self.robot.model)[name].options, values, strict=True))
            function = self.robot._bindings.function(name, options)
            if _is_batch(inputs[0]):
                return function
            ready = function.fast
            self._remember(name, options, ready)
            self._ready[key] = ready
        return ready

    def _remember(self, name: str, options: dict[str, Any], function: Any) -> None:
        """Let the method of that name find the function where its options, but for one frame, have their defaults."""
        from dqdyn.robot.base import RobotBase

        keys = [value for option, value in options.items() if option not in DEFAULTS]
        usual = all(value == DEFAULTS[option] for option, value in options.items() if option in DEFAULTS)
        if isinstance(function, Function) or not usual or len(keys) > 1:
            return
        load_methods(RobotBase)
        if keys:
            self.direct.setdefault(name, {})[keys[0]] = function
        else:
            self.direct[name] = function


def _is_batch(value: Any) -> bool:
    """Whether a vector is many; asked of the value itself, for NumPy's functions warn on some symbols."""
    if isinstance(value, (list, tuple)):
        return len(value) > 0 and isinstance(value[0], (list, tuple, np.ndarray))
    return isinstance(value, np.ndarray) and value.ndim > 1
