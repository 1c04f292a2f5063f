"""A whole-body controller: the controller of a composition with contacts, whose command are torques of motors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.contacts.contact import Contact
from dqdyn.contacts.margins import Margin
from dqdyn.control.core.braking import Brake
from dqdyn.control.core.controller import Controller
from dqdyn.control.core.errors import ControlError, refused
from dqdyn.control.core.optimum import Optimise
from dqdyn.control.core.policy import StepReport, give_up, relax_rows
from dqdyn.control.core.settings import number
from dqdyn.control.core.supervision import Supervisor
from dqdyn.control.core.task import Task
from dqdyn.control.qp.solver import INFINITE
from dqdyn.control.whole_body.answers import margins, singular
from dqdyn.control.whole_body.brake import WholeBodyBrake as WholeBodyBrake
from dqdyn.control.whole_body.composition import RAMP, RATE, WholeBodyComposition
from dqdyn.control.whole_body.contact_motion import anchor_of as anchor_of
from dqdyn.control.whole_body.contact_sets import (
    ContactSet,
    Make,
    asked_of,
    found,
    kept_anchor,
    name_of,
    named_sets,
    place,
)
from dqdyn.control.whole_body.contact_sets import prepared as prepared_sets
from dqdyn.control.whole_body.falling import FallWatch
from dqdyn.control.whole_body.force_task import ForceTask
from dqdyn.control.whole_body.ground import HasSurfaces, in_the_air
from dqdyn.control.whole_body.ramps import Change, Loading, Unloading, end_of_ramp, least_force
from dqdyn.control.whole_body.torques import Torques as Torques
from dqdyn.geometry.primitives import Plane

ContactsLike = Contact | Sequence[Contact]
_TOUCHES = 0.01  # m from the ground up to which a contact counts as touching


class WholeBodyController(Controller):
    """A function (t, q, v) → τ (nv,), zero on axes without a motor.

    ``accelerations`` (nv,) and ``contact_wrenches`` by name are those that the last command gives. Contacts hold where
    they were at the first step, and again after :meth:`reset`.

    Contacts change while a loop runs by :meth:`switch`, among sets that :meth:`prepare` compiled ahead.
    """

    composition: WholeBodyComposition

    def __init__(
        self,
        composition: WholeBodyComposition,
        optimum: Optimise,
        infeasible: str,
        make: Make | None = None,
        torque_rate: Array | None = None,
        ground: Plane | HasSurfaces | None = None,
        fall_margin: float | None = None,
    ) -> None:
        """``make`` gives the programs of further sets of contacts; ``torque_rate`` (nv,) in N m/s or N/s."""
        self.ground = ground
        self._falls = None if fall_margin is None else FallWatch(composition.model, fall_margin)
        self._torques = Torques(composition)
        self._make, self.torque_rate = make, torque_rate
        self._sets: dict[str, ContactSet] = {}
        super().__init__("torque", composition, optimum, infeasible, self._torques)
        contacts = composition.contacts.contacts
        self._first = self._set = self._set_of(name_of(contacts), composition, optimum, self._supervisor, self._brake)
        self._sets[self._set.name] = self._set

    def _set_of(
        self,
        name: str,
        composition: WholeBodyComposition,
        optimum: Optimise,
        supervisor: Supervisor | None = None,
        brake: Brake | None = None,
    ) -> ContactSet:
        torques = self._torques if brake is not None else Torques(composition)
        return ContactSet(
            name,
            composition,
            optimum,
            torques,
            supervisor or Supervisor(composition),
            brake or WholeBodyBrake(composition, torques),
        )

    def reset(self) -> None:
        """Forget the past, and go back to the contacts that the controller was made with."""
        if self._sets:
            self._use(self._first)
        for prepared in self._sets.values():
            prepared.optimum.forget()
        super().reset()
        self._has_anchors = False
        self._started = False
        self._target: tuple[ContactSet, float | None] | None = None
        self._unloading: Unloading | None = None
        self._loading: Loading | None = None
        self._last_torques, self._t_of_torques = np.zeros(self.model.nv), 0.0
        self._waiting = ""
        if self._falls is not None:
            self._falls.reset()
        self.composition.pressing[:] = INFINITE

    def _make_brake(self) -> Brake:
        return WholeBodyBrake(self.composition, self._torques)

    # --- contacts that change -----------------------------------------------------------------------------------------

    def prepare(
        self,
        contacts: Mapping[str, ContactsLike] | Sequence[ContactsLike] | ContactsLike,
        tasks: Mapping[str, Any] | None = None,
        constraints: Mapping[str, Any] | None = None,
        *,
        damping: Mapping[str, float] | None = None,
        progress: bool | None = None,
    ) -> tuple[str, ...]:
        """Compile the programs of sets of contacts, so that :meth:`switch` needs none; gives their names.

        ``contacts``: sets by name, or a list of them, each then named after its contacts, as "left_foot + right_foot".
        ``tasks``, ``constraints`` and ``damping`` by name of the set: what it has instead of those of the controller.
        Inequalities that two sets share, by name, stay active where they are switched. ``progress``: a bar on stderr;
        None shows it on a terminal.
        """
        if self._make is None:
            raise ControlError("this form of the controller has the contacts that it was made with alone.")
        if progress is not None and not isinstance(progress, (bool, np.bool_)):
            raise refused("progress is True, False or None", progress)
        sets = named_sets(contacts)
        asked = asked_of(sets, tasks=tasks, constraints=constraints, damping=damping)
        for done in prepared_sets(self._make, asked, self._set_of, progress):
            self._sets[done.name] = done
        return tuple(sets)

    def name_first_set(self, name: str) -> None:
        """Call the set that the controller was made with by this name instead of those of its contacts."""
        is_present = self._set is self._first
        self._sets = {known: given for known, given in self._sets.items() if given is not self._first}
        self._first = self._sets[name] = replace(self._first, name=name)
        if is_present:
            self._set = self._first

    def switch(self, contacts: str | ContactsLike, duration: float | None = None) -> None:
        """Go over to a prepared set of contacts, by its name or by its contacts, from the next step on.

        The normal force of contacts that go is first ramped down, then they are let go, and that of contacts that come
        is ramped up; ``duration`` in s of each ramp: from ``torque_rate`` of the controller unless given, 0.2 s without
        such a rate, and 0 for no ramp. New contacts hold where they are when they come. Contacts of a frame that stays
        in contact pass the load on without a ramp.
        """
        target = found(self._sets, contacts)
        given = None if duration is None else number(duration, "the duration of a ramp in s", 0.0)
        self._target, self._unloading = (target, given), None
        if not self._started:
            return
        kept = {place(contact) for contact in target.contacts}
        leaving = [i for i, contact in enumerate(self._set.contacts) if place(contact) not in kept]
        self._let_grow([i for i in range(len(self._set.contacts)) if i not in leaving], given)
        if leaving:
            limits = self.composition.pressing.copy()
            limits[leaving] = least_force(self.composition)
            seconds, _ = end_of_ramp(self.composition, limits, self._change(given))
            self._unloading = Unloading(self._t_of_torques, leaving, self._normal_forces(), seconds)

    def _let_grow(self, contacts: Sequence[int], duration: float | None) -> None:
        """Ramps of these contacts of the present set, as far as there are any, go up."""
        ramped = [i for i in contacts if self.composition.pressing[i] < INFINITE]
        self._loading = Loading(self._t_of_torques, ramped, duration) if ramped else None

    def _change(self, duration: float | None) -> Change:
        return Change(duration, self.torque_rate, self._last_torques)

    @property
    def contact_set(self) -> str:
        """The name of the set of contacts of the last step."""
        return self._set.name

    @property
    def contact_sets(self) -> tuple[str, ...]:
        """Names of all sets that are prepared."""
        return tuple(self._sets)

    @property
    def sets(self) -> Mapping[str, ContactSet]:
        """All sets that are prepared, by name."""
        return self._sets

    @property
    def switching(self) -> str:
        """ "unloading", "waiting: …" or "loading" while contacts change, else "".

        Where the ground is known, a switch waits until the contacts that come touch it.
        """
        if self._target is not None:
            return f"waiting: {self._waiting}" if self._waiting else "unloading"
        return "loading" if self._loading is not None else ""

    def _use(self, chosen: ContactSet) -> None:
        self._set = chosen
        self.composition, self.optimum = chosen.composition, chosen.optimum
        self._torques = self._command_map = chosen.torques
        self._supervisor, self._brake = chosen.supervisor, chosen.brake

    def _begin(self, t: float, q: Array, v: Array) -> str:
        if self._target is not None and (self._unloading is None or self._unloading.is_done(t, self.composition)):
            self._enter(t, q)
        elif self._loading is not None:
            self._load(t)
        if not self._has_anchors:
            contacts = self.composition.contacts.contacts
            for i, contact in enumerate(contacts):
                self.composition.anchors[i] = self.composition.anchor_at(contact, q)
            problem = self._in_the_air(t, q, contacts)
            if problem:
                return problem
            self._has_anchors = True
            self._stand()
        if self.torque_rate is not None:
            self._bound_rates(t)
        self._started = True
        return ""

    def _in_the_air(self, t: float, q: Array, contacts: Sequence[Contact]) -> str:
        """Which contact does not touch the ground, and how far it is, in words, or ""."""
        if self.ground is None:
            return ""
        problems = (in_the_air(self.model, contact, q, self.ground, t, _TOUCHES) for contact in contacts)
        return next((problem for problem in problems if problem), "")

    def _stand(self) -> None:
        if self._falls is not None and self.composition.is_watched:
            self._falls.stand_on(self.composition.contacts.contacts, self.composition.anchors)
        elif self._falls is not None:
            self._falls.reset()

    def _watch(self, t: float) -> str:
        if self._falls is None or not self.composition.is_watched:
            return ""
        problem = self._falls.problem(t, self.composition.views["center"])
        if problem and self.policy is not give_up:
            self._resting = StepReport(t, "held", problem)  # a robot that fell does not get up by itself
        return problem

    def _enter(self, t: float, q: Array) -> None:
        """Take over the set that was switched to."""
        assert self._target is not None
        (target, duration), old = self._target, self._set
        self._target = self._unloading = None
        if target is old:
            return
        if self._started and self._waits_for(t, q, old, target):
            self._target = target, duration
            return
        there = target.composition
        there.pressing[:] = INFINITE
        if self._started:
            before = {place(contact): old.composition.pressing[i] for i, contact in enumerate(old.contacts)}
            for i, contact in enumerate(target.contacts):
                kept = kept_anchor(old.contacts, contact)
                there.anchors[i] = there.anchor_at(contact, q) if kept is None else old.composition.anchors[kept]
                new = least_force(there) if duration != 0.0 else INFINITE
                there.pressing[i] = before.get(place(contact), new)
            target.supervisor.take_over(old.supervisor)
            if isinstance(target.brake, WholeBodyBrake):
                target.brake.go_on(self._t, self._last_torques)
        self._use(target)
        self._let_grow(range(len(target.contacts)), duration)
        if self._started:
            self._stand()

    def _waits_for(self, t: float, q: Array, old: ContactSet, target: ContactSet) -> bool:
        """Whether a contact that comes does not touch the ground yet."""
        before = {place(contact) for contact in old.contacts}
        coming = [contact for contact in target.contacts if place(contact) not in before]
        self._waiting = self._in_the_air(t, q, coming)
        return bool(self._waiting)

    def _load(self, t: float) -> None:
        """Let the normal forces of new contacts grow; the first step with them tells how fast."""
        assert self._loading is not None
        loading = self._loading
        if loading.slopes is None:
            limits = self.composition.pressing.copy()
            limits[list(loading.coming)] = INFINITE
            seconds, forces = end_of_ramp(self.composition, limits, self._change(loading.duration))
            least = 10.0 * least_force(self.composition)
            loading.slopes = np.maximum(forces, least) / max(seconds, 1e-9)
        if loading.is_done(t, self.composition, self._normal_forces()):
            self._loading = None

    def _normal_forces(self) -> Array:
        """N of every contact at the last step; the robot's weight where they are not known."""
        forces = self.composition.normal_forces(self._torques.unknowns)
        return np.where(np.isfinite(forces), forces, 9.81 * self.model.mass)

    def _bound_rates(self, t: float) -> None:
        """Bounds on the torques of this step: the motors', and not farther from the last than their rate allows."""
        assert self.torque_rate is not None
        step = t - self._t_of_torques
        effort = np.minimum(self.composition.effort, INFINITE)
        lower, upper = self.composition.torques
        lower[:], upper[:] = -effort, effort
        if self._started and step > 0.0:
            np.maximum(self._last_torques - step * self.torque_rate, lower, out=lower)
            np.minimum(self._last_torques + step * self.torque_rate, upper, out=upper)

    def _without_solution(self, t: float) -> tuple[Array | None, StepReport]:
        """Ramps and rates of torques give way before anything else does, whatever the policy."""
        rows = self.composition.rows()
        is_ramp = np.array([name.startswith(f"{RATE}: ") or name.endswith(f": {RAMP}") for name in rows.names])
        if is_ramp.any():
            u, report = relax_rows(self, t, replace(rows, relaxable=is_ramp))
            if u is not None:
                return u, report
        return super()._without_solution(t)

    def _step(self, t: float, q: Any, v: Any) -> Array:
        command = super()._step(t, q, v)
        self._last_torques[:], self._t_of_torques = command, t
        return command

    def _hold(self, t: float, q: Array, v: Array, report: StepReport) -> Array:
        effort = np.minimum(self.composition.effort, INFINITE)
        self.composition.torques[:] = -effort, effort
        return super()._hold(t, q, v, report)

    # --- what it knows ------------------------------------------------------------------------------------------------

    @property
    def report(self) -> StepReport:
        """What the controller says about its last step; where the state is singular, it says so."""
        report = super().report
        if report.status == "solved" and not report.reason:
            reason = singular(self.composition)
            if reason:
                self._report = report = replace(report, reason=reason)
        return report

    @property
    def margins(self) -> dict[str, Margin]:
        """How far the last command is from cones, centers of pressure and limits of motors, in N, N m and m."""
        return margins(self)

    @property
    def last_torques(self) -> Array:
        """τ (nv,) of the last step."""
        return self._last_torques.copy()

    @property
    def unknowns(self) -> Array:
        """What the solver found at the last step: the unknowns that the equalities leave."""
        return self._torques.unknowns

    def at_rest(self, task: Task, residual: Array, r: Array) -> Array:
        return r if isinstance(task, ForceTask) else residual - self.jacobians[task.name] @ self.accelerations

    @property
    def accelerations(self) -> Array:
        """v̇ (nv,) of the last step."""
        return self._torques.solution()[: self.model.nv]

    @property
    def errors(self) -> dict[str, Array]:
        """Errors of the tasks at the last step, by name; of tasks on forces with the forces of that step."""
        found_errors, start = super().errors, 0
        of_forces = self._torques.force_errors()
        for task in self.composition.force_tasks:
            size = len(found_errors[task.name])
            found_errors[task.name] = of_forces[start : start + size]
            start += size
        return found_errors

    @property
    def contact_forces(self) -> dict[str, Array]:
        """φ (k,) of every contact at the last step, by name; see :class:`dqdyn.contacts.Contact`."""
        phi, contacts = self._torques.solution()[self.model.nv :], self.composition.contacts
        return {c.name: phi[part] for c, part in zip(contacts.contacts, contacts.parts, strict=True)}

    @property
    def contact_wrenches(self) -> dict[str, Array]:
        """[f_t1, f_t2, f_n, τ_t1, τ_t2, τ_n] in N and N m of every contact at the last step, by name."""
        contacts = self.composition.contacts.contacts
        return {c.name: c.wrench(phi) for c, phi in zip(contacts, self.contact_forces.values(), strict=True)}
