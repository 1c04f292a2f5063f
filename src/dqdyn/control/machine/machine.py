"""A state machine: a controller whose tasks, constraints and contacts change by guards."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_number
from dqdyn.arrays import Array, RealArray
from dqdyn.compile.runtime.array_memory import check_out
from dqdyn.contacts.contact import Contact
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.coordinates import AnyRobot, own_robot
from dqdyn.control.core.design import Design
from dqdyn.control.core.errors import ControlWarning, refused
from dqdyn.control.core.policy import StepReport
from dqdyn.control.machine import checks
from dqdyn.control.machine.constant_guards import check_constant
from dqdyn.control.machine.guard_kinds import Scope, Stalled, Watch
from dqdyn.control.machine.in_coordinates import asked_in_coordinates
from dqdyn.control.machine.log import Event, History, Visit
from dqdyn.control.machine.moment import Moment
from dqdyn.control.machine.programs import LEVELS, WHOLE_BODY, Columns, Program, check_options, compiled
from dqdyn.control.machine.reachable import reachable
from dqdyn.control.machine.stall import Stall
from dqdyn.control.machine.state import State, Transition
from dqdyn.control.whole_body.controller import WholeBodyController
from dqdyn.control.whole_body.touch_down import Forces
from dqdyn.errors import Error, StateError, unknown_name
from dqdyn.robot import Robot
from dqdyn.robot.coordinates import RobotInCoordinates

_PICTURES = "dqdyn.view.machine_pictures"
_EARLY = 1e-9  # s by which rounding lets a time limit come early


class StateMachine:
    """A controller (t, q, v) → command that goes from state to state [Quiroz, fig. 4.13].

    ``level``: "velocity", "acceleration" or "torque", with a controller per state, or "whole-body", with a set of
    contacts, tasks and constraints per state of one :class:`~dqdyn.control.WholeBodyController`. ``stall``: when tasks
    count as stalled. ``options`` are those of the controllers, such as ``damping``; states may have their own.

    All is compiled when the machine is made, which ``progress`` shows (None: on a terminal). A step asks the controller
    of the state, then the guards of its transitions in their order; the first that is true leads to the next state,
    which commands from the next step on. Last command, activations and anchors of contacts are kept where they are
    common to both states. ``log`` says what happened, :meth:`graph` and :meth:`history` draw it.
    """

    def __init__(
        self,
        robot: AnyRobot,
        states: Iterable[State],
        start: str | None = None,
        level: str = "velocity",
        stall: Stall | None = None,
        progress: bool | None = None,
        **options: Any,
    ) -> None:
        asked, robot = robot, own_robot(robot)
        if not isinstance(level, str) or level not in LEVELS:
            raise unknown_name("level of state machines", level, LEVELS)
        if stall is not None and not isinstance(stall, Stall):
            raise refused("stall of a machine is a ct.Stall", stall)
        if progress is not None and not isinstance(progress, (bool, np.bool_)):
            raise refused("progress is True, False or None", progress)
        self.robot, self.stall, self.control = robot, stall or Stall(), level
        self.level = "torque" if level == WHOLE_BODY else level  # what a plant is given
        self.states = checks.by_name(states)
        self.time_limit_targets = checks.time_limit_targets(self.states)
        checks.check_graph(self.states, start, self.time_limit_targets)
        assert start is not None
        self.start = start
        check_options(self.states.values(), level, options)
        for state in self.states.values():
            checks.check_contacts(robot, state, level == WHOLE_BODY)
        self._scopes = {state.name: self._scope(state) for state in self.states.values()}
        for name, state in self.states.items():
            for transition, _ in self._watches_of(name):
                check_constant(transition.guard, self._scopes[name], transition.to)
            _warn_of_reach(robot, state)
        self.programs = compiled(robot, tuple(self.states.values()), start, level, options, progress)
        for name, program in self.programs.items():
            sizes = {task: part.stop - part.start for task, part in program.parts.items()}
            self._scopes[name] = replace(self._scopes[name], sizes=sizes)
            self._watches_of(name)
        self._shape = (robot.nv,)
        self._columns = Columns(self.programs.values())
        self._in_coordinates = asked_in_coordinates(self, asked) if isinstance(asked, RobotInCoordinates) else None
        self._index = {name: float(i) for i, name in enumerate(self.states)}
        self.reset()

    def _scope(self, state: State) -> Scope:
        tasks = {}
        if state.tasks:
            design = Design.of(self.robot.model, self.level, state.tasks, state.constraints, 0.0)
            tasks = {task.name: task for task in design.all_tasks}
        contacts: dict[str, Contact] = {c.name: c for s in self.states.values() for c in s.contacts}  # type: ignore[union-attr]
        limit = math.inf if state.time_limit is None else state.time_limit
        return Scope(self.robot, state.name, limit, tasks, contacts, self.stall)

    def _watches_of(self, name: str) -> list[tuple[Transition, Watch]]:
        """The transitions of a state with what watches their guards from now on."""
        transitions: Any = self.states[name].transitions
        return [(transition, transition.guard.watch(self._scopes[name])) for transition in transitions]

    def reset(self) -> None:
        """Go back to the start, and forget the past."""
        for program in self.programs.values():
            program.controller.reset()
            program.composition.forget()
        self.observed: Forces | None = None
        self._log: list[Event] = []
        self.samples = History()
        self._t = self._since = math.nan
        self._last = np.zeros(self.robot.nv)
        self._resting: StepReport | None = None
        if self._in_coordinates is not None:
            self._in_coordinates.reset()
        self._use(self.start)
        self._stepped = self._state, self._program

    # --- a step -------------------------------------------------------------------------------------------------------

    def observe(self, observation: Forces | None) -> None:
        """Take what a plant measures, before each step; None for nothing."""
        if observation is not None and not callable(getattr(observation, "normal_force", None)):
            raise refused("a state machine observes what has normal_force(frame), such as an Observation", observation)
        self.observed = observation

    def __call__(self, t: float, q: RealArray, v: RealArray | None = None, *, out: Array | None = None) -> Array:
        """The command at time t (s) for q (nq,) and v (nv,); at the level of velocities v is the last command.

        ``out`` (nv,), if given, gets the command and is returned. Of a robot in coordinates it is a function of q and
        q̇, as its controllers are.
        """
        if self._in_coordinates is not None:
            return self._in_coordinates(t, q, v, out=out)
        if out is None:
            return self.own_step(t, q, v)
        check_out("a state machine", out, self._shape)
        np.copyto(out, self.own_step(t, q, v))
        return out

    step = __call__

    def own_step(self, t: float, q: RealArray, v: RealArray | None = None) -> Array:
        """The command (nv,) for the robot's own q and v, also of a machine that is asked in coordinates."""
        if not isinstance(t, float):
            t = real_number(t, "the time t of a state machine", StateError, argument="t")
        controller = self._program.controller
        q = controller._vector("q", q, (self.robot.nq,))
        if v is None and self.level != "velocity":
            raise Error(f"A state machine by {self.control} needs v: call it with (t, q, v).", level=self.level)
        v = self._last if v is None else controller._vector("v", v, self._shape)
        return self._step(t, q, v)

    def _step(self, t: float, q: Array, v: Array) -> Array:
        if not math.isfinite(t):  # the controller's policy decides
            return self._program.controller(t, q, v)
        if t < self._t:
            what = f"time went back from {self._t:.9g} s to {t:.9g} s"
            raise StateError(f"{what}: call reset() before another run of a state machine.", time=t)
        if not self._log:
            self._since = t
            self._begin(Event(t, "", self.start, "", "start"), q, v)
        self._t = t
        moment = Moment(self, t, t - self._since, q, v)
        state = self._state
        if state.during is not None:
            self._call(state.during, "during", moment)
        if state.tasks or (self.control == WHOLE_BODY and state.ends):
            command = self._program.controller(t, q, v)
        else:
            command = self._rest(t, q, v)
        self._last, self._stepped = command, (state, self._program)
        if t >= self.samples.next:
            self.samples.add(t, state.name, self._program.norms(t) if state.tasks else {})
        if not state.ends:
            self._decide(moment)
        return command

    def _rest(self, t: float, q: Array, v: Array) -> Array:
        """The command of a final state without tasks: the robot brakes within its limits, then stands still."""
        finite = np.isfinite(q).all(), np.isfinite(v).all()
        brake = self._program.controller._brake
        command, is_still = brake(t, q if finite[0] else None, v if finite[1] else None)
        motion = "still" if is_still else "braking"
        self._resting = StepReport(t, "solved", f"the machine has ended: {self.ended}", motion=motion)
        return command

    def _decide(self, moment: Moment) -> None:
        """Take the first transition whose guard is true, or that of the time limit."""
        taken: Transition | None = None
        for transition, watch in self._watches:  # all are asked: each may have a memory
            try:
                is_true = watch(moment)
                if is_true and taken is None:
                    taken = transition
            except Exception as problem:
                problem.add_note(f"raised by the guard of the transition from {self.state!r} to {transition.to!r}")
                raise
        if taken is not None:
            self._go(moment, taken.to, taken.words, self.kind_of(taken), is_stall=isinstance(taken.guard, Stalled))
            return
        limit = self._state.time_limit
        assert limit is not None
        if moment.elapsed >= limit - _EARLY:
            pending = tuple(transition.words for transition, _ in self._watches)
            words = f"time limit of {limit:g} s: not true by then: {', '.join(pending)}"
            self._go(moment, self.time_limit_targets[self.state], words, "time limit", pending)

    def _go(
        self, moment: Moment, to: str, words: str, kind: str, pending: tuple[str, ...] = (), is_stall: bool = False
    ) -> None:
        t, program = moment.t, self._program
        is_missed = kind in ("failure", "time limit")
        at_bounds = program.at_bounds(t) if is_missed else ()
        why = program.stall(t) if is_missed or is_stall else ""
        event = Event(t, self.state, to, words, kind, program.norms(t), pending, at_bounds, why)
        self._since = moment.t
        self._use(to)
        self._begin(event, moment.q, moment.v)

    def _use(self, name: str) -> None:
        """Let the program of a state command; one without tasks keeps that of the state before."""
        state = self._state = self.states[name]
        self._watches = self._watches_of(name)
        program = self.programs.get(name)
        if program is None:
            return
        before: Program | None = getattr(self, "_program", None) if self._log else None
        self._program = program
        if program is before:
            return
        program.composition.forget()
        if before is None:
            return
        if isinstance(program.controller, WholeBodyController):
            program.controller.switch(program.contact_set.name if program.contact_set else name, state.ramp)
        else:
            program.controller.take_over(before.controller)

    def _begin(self, event: Event, q: Array, v: Array) -> None:
        self._log.append(event)
        if self._state.enter is not None:
            self._call(self._state.enter, "enter", Moment(self, event.t, 0.0, q, v))

    def _call(self, function: Callable[[Moment], None], name: str, moment: Moment) -> None:
        try:
            function(moment)
        except Exception as problem:
            problem.add_note(f"raised by {name!r} of the state {self.state!r} at t = {moment.t:.9g} s")
            raise

    # --- what it knows ------------------------------------------------------------------------------------------------

    @property
    def state(self) -> str:
        """The name of the present state."""
        return self._state.name

    @property
    def ended(self) -> str:
        """ "done" or "failed" in a final state, else ""."""
        return self._state.ends

    @property
    def elapsed(self) -> float:
        """s in the present state at the last step; 0 before the first."""
        return self._t - self._since if self._log else 0.0

    @property
    def log(self) -> tuple[Event, ...]:
        """What happened: the start and every transition, with the reason."""
        return tuple(self._log)

    @property
    def visits(self) -> tuple[Visit, ...]:
        """States in their order, with when each began and ended; the last one at the last step."""
        ends = [*(event.t for event in self._log[1:]), self._t]
        return tuple(Visit(event.to, event.t, end) for event, end in zip(self._log, ends, strict=False))

    @property
    def controller(self) -> Controller:
        """The controller of the present state; of one without tasks that of the state before."""
        return self._program.controller

    @property
    def report(self) -> StepReport:
        """What the controller says about its last step."""
        return self._resting or self._program.controller.report

    @property
    def is_active(self) -> bool:
        """Whether the last command was by the present state's tasks: contacts may have to be let go first."""
        return self._program.is_known(self._t)

    @property
    def task_names(self) -> tuple[str, ...]:
        """Names of the tasks of the present state, those among its constraints too."""
        return tuple(self._program.parts) if self._state.tasks else ()

    def error(self, task: str, t: float | None = None) -> Array:
        """The error of a task of the present state at the last step; NaN where it is not known."""
        return self._program.error(task, self._t if t is None else t)

    @property
    def errors(self) -> dict[str, Array]:
        """Errors of the tasks of the present state at the last step, by name."""
        return {name: self.error(name).copy() for name in self.task_names}

    def kind_of(self, transition: Transition) -> str:
        """ "success", "failure" or "" of a transition."""
        if transition.kind is not None:
            return transition.kind
        return transition.guard.kind or {"failed": "failure", "done": "success"}.get(
            self.states[transition.to].ends, ""
        )

    def record(self) -> dict[str, Array]:
        """What a simulation keeps of a step, the same names at every one.

        That is the index of the state that commanded, and errors and distances of all states as controllers record
        them, NaN where this state has none.
        """
        state, program = self._stepped
        kept = {"state": np.array(self._index[state.name])}
        kept |= self._columns.now(program if state.tasks else None, self._t)
        return kept | {"solved": np.array(float(self.report.status == "solved"))}

    def __repr__(self) -> str:
        return f"<StateMachine of {self.robot.name!r}: {len(self.states)} states, in {self.state!r}>"

    # --- pictures -----------------------------------------------------------------------------------------------------

    def graph(self) -> Any:
        """A picture of the states, the guards between them, and what was visited; see its ``save(path)``."""
        return _drawn("graph", self)

    def history(self) -> Any:
        """A picture of what happened: states, guards and errors of tasks over time; see its ``save(path)``."""
        return _drawn("history", self)

    def to_dot(self) -> str:
        """The graph as text for Graphviz."""
        return str(_drawn("to_dot", self))


def _warn_of_reach(robot: Robot, state: State) -> None:
    """A warning where no posture is found for what a state has to reach."""
    parts: Any = state.reaches
    found = reachable(robot, parts) if parts else None
    if found is not None and not found:
        text = f"no posture of {robot.name!r} was found for what the state {state.name!r} reaches: {found.reason}."
        warnings.warn(text, ControlWarning, stacklevel=3)


def _drawn(name: str, machine: StateMachine) -> Any:
    draw: Callable[[StateMachine], Any] = getattr(import_module(_PICTURES), name)
    return draw(machine)
