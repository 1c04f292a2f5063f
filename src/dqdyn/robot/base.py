"""What all groups of a robot's methods share: the model, and the way from a name to a compiled function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dqdyn.compile.runtime.process_lock import SharedProperty
from dqdyn.model.model import Frame, Model, TreeJoint
from dqdyn.robot.bound import Bindings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dqdyn.robot.shortcuts import Shortcuts


class RobotBase:
    """A model and its functions."""

    __slots__ = ("_direct",)  # compiled functions by the names of methods, where these look for them

    model: Model
    _direct: dict[str, Any]

    @property
    def joints(self) -> tuple[TreeJoint, ...]:
        """Moving joints in the order of q: ``.name``, ``.kind``, ``.q`` and ``.v`` (slices), limits, damping, …"""
        return self.model.joints

    @property
    def frames(self) -> Mapping[str, Frame]:
        """Frames by name: every link, every joint (its child side), and those added."""
        return self.model.frames

    @SharedProperty
    def _bindings(self) -> Bindings:
        return Bindings(self.model)

    @SharedProperty
    def _shortcuts(self) -> Shortcuts:
        from dqdyn.robot.shortcuts import Shortcuts

        object.__setattr__(self, "_direct", {})
        return Shortcuts(self, self._direct)

    def _run(self, key: tuple[Any, ...], inputs: tuple[Any, ...], out: np.ndarray | None, check: bool) -> np.ndarray:
        """The function of a key (name, *options) on inputs; the next call like it takes a shortcut to machine code."""
        function = self._shortcuts.function(key, inputs)
        if check:
            return function(*inputs) if out is None else function(*inputs, out=out)
        return function(*inputs, out=out, check=False)
