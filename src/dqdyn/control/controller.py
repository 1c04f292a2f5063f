"""A controller: a composition, an optimum, a policy, and what turns the optimum into a command."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from dqdyn.control.composition import Composition
from dqdyn.control.errors import ControlWarning, SignalError
from dqdyn.control.lemma import Activation, automatic_gains
from dqdyn.control.optimum import Views
from dqdyn.control.policy import POLICIES, no_number
from dqdyn.control.report import Report
from dqdyn.control.signals import not_finite
from dqdyn.errors import Error, unknown_name
from dqdyn.model.model import Model
from dqdyn.robot.state import as_state

Finish = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
"""The command of (q, v, u)."""


class Controller:
    """A function (t, q, v) → command: velocities, accelerations or torques, as ``level`` says.

    ``report`` tells about the last step, ``activations`` what Lemma 4.1 says of each second-order inequality.
    :meth:`reset` forgets the past: the next step activates all inequalities anew.
    """

    def __init__(
        self,
        model: Model,
        level: str,
        composition: Composition,
        optimum: Callable[[Views], np.ndarray | None],
        infeasible: str = "relax",
        finish: Finish | None = None,
    ) -> None:
        if infeasible not in POLICIES:
            raise unknown_name("policy for infeasible problems", infeasible, POLICIES)
        self.model, self.level, self.composition, self.optimum = model, level, composition, optimum
        self.policy, self._finish = POLICIES[infeasible], finish
        self._initial_gains = composition.gains.copy()
        self.reset()

    def reset(self) -> None:
        """Forget the last command and the activations."""
        self.composition.gains[:] = self._initial_gains
        self.activations: tuple[Activation, ...] = ()
        self._command: np.ndarray | None = None
        self.report = Report(0.0, "not started")
        self._last = np.zeros(self.model.nv)
        self._is_new = True

    def __call__(self, t: float, q: Any, v: Any = None) -> np.ndarray:
        """The command at time t (s) for q (nq,) and v (nv,); at the level of velocities v is the last command."""
        if type(q) is not np.ndarray or (v is not None and type(v) is not np.ndarray):
            q, v = as_state(self.model, "q", q), v if v is None else as_state(self.model, "v", v)
        if v is None:
            v = self._without_velocities()
        composition = self.composition
        try:
            composition.evaluate(t, q, v)
        except SignalError as problem:
            return self._hold(q, v, no_number(self, t, problem.reason))
        out = composition.out
        if not math.isfinite(out.dot(out)):
            return self._hold(q, v, no_number(self, t, self._culprit(t, q, v)))
        if self._is_new:
            self._activate(t, q, v)
        u = self.optimum(composition.views)
        report = Report(t)
        if u is None or not math.isfinite(u.dot(u)):
            u, report = self.policy(self, t)
            if u is None:
                return self._hold(q, v, report)
        self.report, self._last = report, u
        self._command = command = u if self._finish is None else self._finish(q, v, u)
        return command

    step = __call__

    def _without_velocities(self) -> np.ndarray:
        if self.level != "velocity":
            raise Error(f"A controller by {self.level} needs v: call it with (t, q, v).", level=self.level)
        return self._last

    def _hold(self, q: np.ndarray, v: np.ndarray, report: Report) -> np.ndarray:
        """The last command of a step with a solution; before the first, the one of rest."""
        self.report = report
        if self._command is not None:
            return self._command.copy()
        rest = np.zeros(self.model.nv)
        return rest if self._finish is None else self._finish(q, v, rest)

    def _activate(self, t: float, q: np.ndarray, v: np.ndarray) -> None:
        """At the first step: choose automatic gains, ask the lemma, tell where the start is outside of a zone."""
        self._is_new = False
        composition = self.composition
        h = composition.views["h"].copy()
        for name, value in zip(composition.guards, h, strict=True):
            if value < 0.0:
                text = f"{name!r} is violated at the start by {-value:.4g}; the robot first has to get back."
                warnings.warn(text, ControlWarning, stacklevel=3)
        if composition.level == "velocity":
            return
        rates, found = composition.views["h_rate"].copy(), []
        first = composition.first_gain
        for name, value, rate, index in zip(composition.guards, h, rates, composition.guard_gains, strict=True):
            if index is None:
                continue
            owner = composition.owners[index - first]
            pair = tuple(composition.gains[index])
            if owner.automatic():
                composition.gains[index] = automatic_gains((pair[0], pair[1]), float(value), float(rate))
            activation = Activation(name, float(value), float(rate), *(float(g) for g in composition.gains[index]))
            found.append(activation)
            if not activation.holds and activation.starts_inside:
                failing = " and ".join(activation.failing)
                warnings.warn(f"Lemma 4.1 does not hold for {name!r}: {failing}.", ControlWarning, stacklevel=3)
        self.activations = tuple(found)
        composition.evaluate(t, q, v)

    # --- what it knows ------------------------------------------------------------------------------------------------

    @property
    def errors(self) -> dict[str, np.ndarray]:
        """Errors of the tasks at the last step, by name."""
        return self._by_task("error")

    @property
    def distances(self) -> dict[str, float]:
        """h of the inequalities and position limits at the last step, by name; positive is safe."""
        return dict(zip(self.composition.guards, self.composition.views["h"].tolist(), strict=True))

    def record(self) -> dict[str, Any]:
        """What a simulation keeps of a step."""
        kept: dict[str, Any] = {f"error: {name}": error for name, error in self.errors.items()}
        kept |= {f"h: {name}": np.array(h) for name, h in self.distances.items()}
        return kept | {"solved": np.array(float(self.report.status == "solved"))}

    def _by_task(self, block: str) -> dict[str, np.ndarray]:
        composition, start, found = self.composition, 0, {}
        for task in composition.design.all_tasks:
            size = composition.task_sizes[id(task)]
            found[task.name] = composition.views[block][start : start + size].copy()
            start += size
        return found

    def _culprit(self, t: float, q: np.ndarray, v: np.ndarray) -> str:
        """Where NaN or infinity came from, in words."""
        for name, state in (("q", q), ("v", v)):
            if not np.isfinite(state).all():
                return f"{name} of the robot is not finite: {state}"
        composition = self.composition
        for signal in composition.design.signals:
            problem = not_finite(signal, t)
            if problem:
                return problem
        for block in ("error", "jacobian", "error_rate"):
            if len(composition.views[block]):
                for name, rows in self._by_task(block).items():
                    if not np.isfinite(rows).all():
                        return f"the task {name!r} gives {rows[~np.isfinite(rows)][0]}"
        for name, h in self.distances.items():
            if not math.isfinite(h):
                return f"the constraint {name!r} is not finite"
        named = composition.rows()
        bad = ~(np.isfinite(named.a).all(axis=1) & np.isfinite(named.b))
        return f"the constraint {named.names[int(np.argmax(bad))]!r} is not finite" if bad.any() else "it is not finite"
