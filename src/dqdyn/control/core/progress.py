"""How much of what the tasks ask for can be done at a state, for bounds that close where a task is blocked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dqdyn.arrays import Array
from dqdyn.control.core.composition import Composition
from dqdyn.control.core.optimum import Optimise, Optimum, StrictLevels

if TYPE_CHECKING:
    from dqdyn.control.core.controller import Controller

_OPEN = 1e6  # rad/s or m/s, by which bounds that do not depend on errors are opened while that command is found
_WIDER = 100.0  # times as much of the errors as printed, while it is found


class Progress:
    """Sets σ of the constraints that follow the progress of the tasks, at every step.

    The tasks of the first level ask for J v̇ + r = 0, in which k_p x̃ is what the errors themselves ask for. Of it,
    the best command u without the bounds in question brings about s = J u + r − k_p x̃, which is −k_p x̃ where nothing is
    in the way, and 0 where the tasks are blocked and the robot is at rest. σ is the length of −s along k_p x̃, in parts
    of that, from 0 to 1. "Without" means within bounds that are wider by far: next to a singularity, accelerations that
    no robot has would bring all about, and a stretched arm would swing for ever. ``command`` and ``multipliers``
    (sides,) are those of u at the last step.
    """

    def __init__(self) -> None:
        self._optima: dict[int, tuple[Composition, Optimise]] = {}
        self.command: Array | None = None
        self.multipliers: Array | None = None

    def update(self, controller: Controller, t: float, q: Array, v: Array) -> None:
        """Evaluate the program of a controller with σ as it is at this state."""
        composition = controller.composition
        self._evaluate(composition, t, q, v, _WIDER, _OPEN)
        with np.errstate(all="ignore"):  # of states that are far off, which the solvers refuse
            optimum = self._optimum(controller)
            u = self.command = optimum(composition.views)
            given = optimum.solver.multipliers if u is not None and isinstance(optimum, Optimum) else None
            self.multipliers = None if given is None else np.array(given)
            share = 1.0 if u is None else self._share(composition, u)
        self._evaluate(composition, t, q, v, share if math.isfinite(share) else 1.0, 0.0)

    def _evaluate(self, composition: Composition, t: float, q: Array, v: Array, share: float, opened: float) -> None:
        composition.gains[composition.progress_gains] = share, opened
        composition.evaluate(t, q, v, signals=False)

    def _share(self, composition: Composition, u: Array) -> float:
        views, wanted = composition.views, composition.views["task_pulls"]
        square = float(wanted @ wanted)
        if square == 0.0:
            return 1.0
        done = views["J0"] @ u + views["task_constants"][: len(wanted)] - wanted
        return float(np.clip(-(done @ wanted) / square, 0.0, 1.0))

    def _optimum(self, controller: Controller) -> Optimise:
        """A solver of its own: what is active without the bounds is no guess for the problem with them."""
        composition, optimum = controller.composition, controller.optimum
        key = id(composition)
        if key not in self._optima:
            first = optimum.first if isinstance(optimum, StrictLevels) else optimum
            own = Optimum(composition.size, first.solver.name) if isinstance(first, Optimum) else first
            self._optima[key] = composition, own
        return self._optima[key][1]
