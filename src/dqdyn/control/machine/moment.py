"""What guards and the functions of states see: the machine at one step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dqdyn.arrays import Array
from dqdyn.control.core.controller import Controller
from dqdyn.control.whole_body.touch_down import Forces
from dqdyn.robot import Robot

if TYPE_CHECKING:
    from dqdyn.control.machine.machine import StateMachine


class Moment:
    """A step of a machine: ``t`` in s, ``elapsed`` s in the present state, the robot's ``q`` (nq,) and ``v`` (nv,).

    ``observed`` is what the plant measures, such as contact forces (:mod:`dqdyn.simulate.observation`), None where
    nothing does.
    """

    __slots__ = ("_norms", "elapsed", "machine", "observed", "q", "t", "v")

    def __init__(self, machine: StateMachine, t: float, elapsed: float, q: Array, v: Array) -> None:
        self.machine, self.t, self.elapsed, self.q, self.v = machine, t, elapsed, q, v
        self.observed: Forces | None = machine.observed
        self._norms: dict[str, float] = {}  # several guards may ask for one

    @property
    def robot(self) -> Robot:
        return self.machine.robot

    @property
    def state(self) -> str:
        """The name of the present state."""
        return self.machine.state

    @property
    def controller(self) -> Controller:
        """The controller of the present state."""
        return self.machine.controller

    @property
    def errors(self) -> dict[str, Array]:
        """Errors of the present state's tasks by name, NaN where they are not known yet; see :meth:`error`."""
        return {name: self.error(name) for name in self.machine.task_names}

    def error(self, task: str) -> Array:
        """The error of a task of the present state at this step.

        NaN where it is not known: before the first step of the state, unless the one before had the same parts, while
        contacts of that one are being let go, and where the controller had nothing to go by.
        """
        return self.machine.error(task, self.t).copy()

    def error_norm(self, task: str) -> float:
        """‖e‖ of a task of the present state; NaN as in :meth:`error`."""
        size = self._norms.get(task)
        if size is None:
            size = self._norms[task] = math.hypot(*self.machine.error(task, self.t).tolist())
        return size

    @property
    def is_switching(self) -> bool:
        """Whether contacts are being let go or loaded, in whole-body control."""
        return bool(getattr(self.controller, "switching", ""))
