"""A controller: a composition, an optimum, a policy, and what turns the optimum into a command."""

from __future__ import annotations

import logging
import math
from dataclasses import replace
from typing import Any

import numpy as np

from dqdyn.algebra.checks import UNIT_TOLERANCE
from dqdyn.algebra.real import real_number
from dqdyn.arrays import Array, RealArray
from dqdyn.compile.export.c_library import CLibrary
from dqdyn.compile.runtime.array_memory import check_out
from dqdyn.compile.trace.program import Program
from dqdyn.control.core.answers import ActiveConstraint, BlockedTask, active, blocked, stall
from dqdyn.control.core.braking import Brake, CommandMap
from dqdyn.control.core.composition import Composition
from dqdyn.control.core.errors import SignalError
from dqdyn.control.core.lemma import Activation
from dqdyn.control.core.optimum import Optimise
from dqdyn.control.core.policy import POLICIES, StepReport, rest, unusable
from dqdyn.control.core.progress import Progress
from dqdyn.control.core.speed import SpeedWatch
from dqdyn.control.core.supervision import Supervisor
from dqdyn.control.core.task import Task
from dqdyn.control.features.components import is_finite
from dqdyn.control.features.signals import not_finite
from dqdyn.errors import Error, StateError, unknown_name
from dqdyn.robot.state import as_state

_LOG = logging.getLogger(__name__)
# rounding errors of v × v above all
_TOO_FAST = "the torques are not finite, or beyond their limits by rounding, with |v| up to"


class Controller:
    """A function (t, q, v) → command: velocities, accelerations or torques, as ``level`` says.

    ``report`` describes the last step, ``activations`` what Lemma 4.1 says of each second-order inequality when it
    last became active: at the first step, where time goes back, and where the state or an obstacle jumps so that what
    the lemma promised is lost. :meth:`reset` forgets the past: the next step activates all inequalities again.
    """

    def __init__(
        self, level: str, composition: Composition, optimum: Optimise, infeasible: str, command_map: CommandMap | None
    ) -> None:
        if not isinstance(infeasible, str) or infeasible not in POLICIES:
            raise unknown_name("policy for infeasible problems", infeasible, POLICIES)
        model = composition.model
        self.model, self.level, self.composition, self.optimum = model, level, composition, optimum
        self.policy, self._command_map = POLICIES[infeasible], command_map
        self._supervisor = Supervisor(composition)
        self._brake = self._make_brake()
        self.progress = Progress()
        self._speed = None if level == "velocity" else SpeedWatch(model)
        self._shapes = (model.nq,), (model.nv,)
        self._turns = [
            (joint.name, slice(joint.q.start + part.start, joint.q.start + part.stop))
            for joint in model.joints
            if (part := joint.motion.quaternion) is not None and joint.master is None
        ]
        self.reset()

    def _make_brake(self) -> Brake:
        """What commands where there is no solution."""
        return Brake(self.model, self.level, self.composition.design.constraints, self._command_map)

    def _begin(self, t: float, q: Array, v: Array) -> str:
        """What comes before the program is evaluated at a sound state; what is wrong there, in words, or ""."""
        return ""

    def _watch(self, t: float) -> str:
        """What is wrong after the program was evaluated, in words, or ""."""
        return ""

    def _without_solution(self, t: float) -> tuple[Array | None, StepReport]:
        """The command of a step that has no solution, None to brake, and the report."""
        return self.policy(self, t)

    def reset(self) -> None:
        """Forget the last command and the activations, as before a run from another state."""
        self.optimum.forget()
        self._supervisor.reset()
        self._brake.reset()
        if self._speed is not None:
            self._speed.reset()
        self._t = 0.0
        self._resting: StepReport | None = None
        self._report: StepReport | None = StepReport(0.0, "not started")
        self._last = np.zeros(self.model.nv)

    def take_over(self, other: Controller) -> None:
        """Go on where another controller of the same robot and level stopped.

        Its last command is this one's, limits of change hold across the two, and inequalities that both have, by name,
        stay active as they were; the next step activates the others.
        """
        if other is self:
            return
        if (other.level, other.model) != (self.level, self.model):
            found = f"that of {other.model.name!r} by {other.level}"
            raise Error(f"a controller takes over from one of its own robot and level; found {found}.", found=other)
        self.reset()
        self._supervisor.take_over(other._supervisor)
        self._brake.take_over(other._brake)
        self._t, self._last = other._t, other._last.copy()
        self._report, self._resting = other._report, other._resting

    @property
    def report(self) -> StepReport:
        """What the controller says about its last step."""
        if self._report is None:
            self._report = StepReport(self._t)
        return self._report

    @property
    def activations(self) -> tuple[Activation, ...]:
        """What Lemma 4.1 says of each second-order inequality, when it last became active."""
        return self._supervisor.activations

    def __call__(self, t: float, q: RealArray, v: RealArray | None = None, *, out: Array | None = None) -> Array:
        """The command at time t (s) for q (nq,) and v (nv,); at the level of velocities v is the last command.

        ``out`` (nv,), if given, gets the command and is returned, so that a loop makes no new array for it.
        """
        if out is None:
            return self._step(t, q, v).copy()  # the caller may write into it
        check_out("a controller", out, self._shapes[1])
        np.copyto(out, self._step(t, q, v))
        return out

    step = __call__

    def _step(self, t: float, q: RealArray, v: RealArray | None) -> Array:
        """The command, in memory of the controller."""
        if not isinstance(t, float):
            t = real_number(t, "the time t of a controller", StateError, argument="t")
        q = self._vector("q", q, self._shapes[0])
        if v is None and self.level != "velocity":
            raise Error(f"A controller by {self.level} needs v: call it with (t, q, v).", level=self.level)
        v = self._last if v is None else self._vector("v", v, self._shapes[1])
        if self._turns or not (is_finite(q) and is_finite(v) and math.isfinite(t)):
            problem = self._bad_state(t, q, v)
            if problem:
                return self._hold(t, q, v, unusable(self, t, problem))
        if self._resting is not None:
            return self._hold(t, q, v, replace(self._resting, t=t))
        if self._speed is not None:
            problem = self._speed.problem(t, v)
            if problem:
                return self._hold(t, q, v, unusable(self, t, problem))
        problem = self._begin(t, q, v)
        if problem:
            return self._hold(t, q, v, unusable(self, t, problem))
        composition = self.composition
        try:
            composition.evaluate(t, q, v)
            if not is_finite(composition.out):
                return self._hold(t, q, v, unusable(self, t, self._culprit(t)))
            problem = self._watch(t)
            if problem:
                return self._hold(t, q, v, unusable(self, t, problem))
            excused = () if self._report is None else self._report.excused
            if self._supervisor.changes(t, v, excused):
                composition.evaluate(t, q, v)
        except SignalError as missing:
            reason = f"{composition.design.called(missing.signal)} {missing.why}"
            return self._hold(t, q, v, unusable(self, t, reason))
        if composition.progress_gains:
            self.progress.update(self, t, q, v)
        report: StepReport | None = None
        u = self.optimum(composition.views)
        if u is None:
            u, report = self._without_solution(t)
            if u is None:
                return self._hold(t, q, v, report)
        command = u
        if self._command_map is not None:
            command = self._command_map(q, v, u)
            if not self._brake.accepts(command):
                return self._hold(t, q, v, unusable(self, t, f"{_TOO_FAST} {np.abs(v).max():.3g}"))
        self._t, self._report, self._last = t, report, u
        self._brake.remember(t, q, v, u)
        return command

    def _vector(self, name: str, given: Any, expected: tuple[int]) -> Array:
        """q or v as numbers; NaN is left to the policy."""
        if type(given) is np.ndarray and given.shape == expected and given.dtype == np.float64:
            return given
        state = as_state(self.model, name, given, check=False)
        if state.shape != expected or state.dtype != np.float64:
            raise StateError(
                f"A controller takes one state of numbers at a time: {name} of {self.model.name!r} has shape "
                f"{expected}; found {state.shape if state.dtype == np.float64 else given!r}.",
                argument=name,
                expected=expected,
                found=state.shape,
            )
        return state

    def _bad_state(self, t: float, q: Array, v: Array) -> str:
        """What is wrong with a state, in words, or ""."""
        if not math.isfinite(t):
            return f"the time is not finite: {t}"
        for name, state in (("q", q), ("v", v)):
            if not is_finite(state):
                return f"{name} of the robot is not finite: {state}"
        return self._bad_turn(q)

    def _bad_turn(self, q: Array) -> str:
        for joint, part in self._turns:
            norm = math.hypot(*q[part].tolist())
            if abs(norm - 1.0) > UNIT_TOLERANCE:
                return f"the quaternion of joint {joint!r} has norm {norm:.9g}: divide it by its norm"
        return ""

    def _hold(self, t: float, q: Array, v: Array, report: StepReport) -> Array:
        """The command of a step without a solution: brake, then hold still."""
        known = q if is_finite(q) and not self._bad_turn(q) else None
        command, is_still = self._brake(t, known, v if is_finite(v) else None)
        if self._report is None or self._report.status != report.status:  # once, where it begins
            told = self.model.name, self.level, report.status, t, report.reason
            _LOG.warning("control of %s by %s is %s from t = %.6g s on: %s", *told)
        if self.level == "velocity":
            self._last = command.copy()
        self._report = replace(report, motion="still" if is_still else "braking")
        if self.policy is rest:
            self._resting = self._resting or report
        return command

    # --- in C ---------------------------------------------------------------------------------------------------------

    def c_library(self, name: str | None = None) -> CLibrary:
        """One step of this controller as C, to be linked to a DAQP of your own: ``c_library("arm").write("arm_c")``.

        For controllers by velocity, acceleration and torque with any number of levels of tasks, and ``infeasible``
        "relax", "hold" or "rest". Targets and obstacles that are functions of the algebra are part of the code; others
        are set from C.
        """
        from dqdyn.control.export.c_controller import controller_library

        return controller_library(self, name)

    def dynamics_programs(self) -> dict[str, Program]:
        """The programs that turn accelerations into torques, by name; none of controllers by velocity."""
        programs: dict[str, Program] = getattr(self._command_map, "programs", dict)()
        return programs

    @property
    def unit_quaternions(self) -> list[int]:
        """Where the unit quaternions start in q."""
        return [part.start for _, part in self._turns]

    @property
    def initial_gains(self) -> Array:
        """(k_d, k_p) of tasks and constraints (..., 2) before anything was activated."""
        return self._supervisor.given_gains

    @property
    def brake_limits(self) -> tuple[Array, Array]:
        """Limits (nv,) of the command, and of what braking may change; infinite where there is none."""
        return self._brake.limit, self._brake.slow

    # --- what it knows ------------------------------------------------------------------------------------------------

    @property
    def errors(self) -> dict[str, Array]:
        """Errors of the tasks at the last step, by name."""
        return self._by_task("error")

    @property
    def distances(self) -> dict[str, float]:
        """h of the inequalities and position limits at the last step, by name; positive is safe."""
        return dict(zip(self.composition.guards, self.composition.views["h"].tolist(), strict=True))

    @property
    def active(self) -> tuple[ActiveConstraint, ...]:
        """Bounds that the last command uses up, by name, with their multipliers, those that pull most first."""
        return active(self)

    @property
    def blocked(self) -> tuple[BlockedTask, ...]:
        """Tasks that the last command does not meet, and what holds each back."""
        return blocked(self)

    @property
    def stall(self) -> str:
        """Which tasks the last command does not meet, and why, in words; "" where it meets all."""
        return stall(self)

    @property
    def jacobians(self) -> dict[str, Array]:
        """Jacobians (rows, nv) of the tasks at the last step, by name."""
        return self._by_task("jacobian")

    @property
    def unknowns(self) -> Array:
        """What the solver found at the last step: v, or v̇."""
        return self._last

    def at_rest(self, task: Task, residual: Array, r: Array) -> Array:
        """What is left to do of a task without any velocity or acceleration, for J u + r, the ``residual``, and r."""
        return r

    def record(self) -> dict[str, Array]:
        """What a simulation keeps of a step."""
        kept: dict[str, Array] = {f"error: {name}": error for name, error in self.errors.items()}
        kept |= {f"h: {name}": np.array(h) for name, h in self.distances.items()}
        return kept | {"solved": np.array(float(self.report.status == "solved"))}

    def _by_task(self, block: str) -> dict[str, Array]:
        composition, start, rows = self.composition, 0, {}
        for task in composition.design.all_tasks:
            size = composition.task_sizes[id(task)]
            rows[task.name] = composition.views[block][start : start + size].copy()
            start += size
        return rows

    def _culprit(self, t: float) -> str:
        """Where NaN or infinity came from, in words."""
        composition = self.composition
        for signal in composition.design.signals:
            problem = not_finite(signal, t)
            if problem:
                return f"{composition.design.called(signal)} {problem}"
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
