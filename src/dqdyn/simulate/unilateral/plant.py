"""Our own dynamics as plant with unilateral contacts: ``dq.simulate(robot, …, contacts=[…], ground=0.0)``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from dqdyn.arrays import Array
from dqdyn.contacts.contact import Contact
from dqdyn.errors import Error, StateError, unknown_name
from dqdyn.model.description import WORLD
from dqdyn.progress import Progress
from dqdyn.scenes.scene import Scene
from dqdyn.simulate.assembly import assembled
from dqdyn.simulate.loops import alive
from dqdyn.simulate.observation import Observation
from dqdyn.simulate.problem import TOO_FAST, Problem, joint_of, number, shown
from dqdyn.simulate.record import Record, completed
from dqdyn.simulate.trajectory import Trajectory
from dqdyn.simulate.unilateral.joint_stops import DEEP, JointStops
from dqdyn.simulate.unilateral.observed import link_contacts
from dqdyn.simulate.unilateral.report import ContactLog
from dqdyn.simulate.unilateral.round_contact import RoundContact
from dqdyn.simulate.unilateral.stepping import Step, Stepper
from dqdyn.simulate.unilateral.surfaces import Ground, SceneSurface, TouchedSurface
from dqdyn.simulate.unilateral.touching import Corners, Pairs, Touching

OPTIONS = ("scene", "ground", "limits")
SUNK = 5e-3
"""m by which contacts may sink in on the way before the step is called too large."""


def run(
    problem: Problem,
    controller: Any,
    contacts: Any,
    progress: bool | None = None,
    *,
    scene: Scene | None = None,
    ground: float | None = None,
    limits: bool = False,
    **unknown: Any,
) -> Trajectory:
    """The trajectory with lift-off, inelastic impacts and Coulomb's friction, in steps of dt.

    ``contacts``: values of :mod:`dqdyn.contacts`, or :class:`RoundContact`; whether they are open, stick or slip is
    found, whatever their mode says, but those that are "off" are left out. ``scene``: what they may meet, with the
    friction of its bodies, as with plant="mujoco". ``ground``: the height in m of a level plane, with the friction of
    the contacts. A contact with another body of the robot meets the plane across its normal, through where it is at the
    start. ``limits``: whether joints stop at their limits. ``extra`` is that of
    :class:`~dqdyn.simulate.unilateral.report.ContactLog`; ``a`` is the change of v over a step, impacts included.
    """
    if unknown:
        raise unknown_name("option of a simulation with contacts", next(iter(unknown)), OPTIONS)
    if problem.batch:
        raise Error("a simulation with contacts runs one state at a time: pass q0 of shape (nq,).")
    if not isinstance(limits, (bool, np.bool_)):
        raise Error(f"limits is True or False; found {shown(limits)}.", argument="limits")
    robot = problem.robot
    touching = checked_contacts(problem, contacts, bool(limits))
    surfaces = touched_surfaces(scene, ground, any(contact.partner == WORLD for contact in touching))
    robot.require_regular(problem.q0)
    record = Record.begin(problem, controller, integrator="time-stepping", limits=bool(limits))
    if record.actuation.level == "velocity":
        raise Error("contacts need forces, but the controller gives velocities: wrap it in a torque controller.")
    corners = Corners(robot, touching, surfaces, problem.q0[0])
    stops = JointStops(robot, bool(limits))
    _require_outside(corners, stops, problem)
    plant = _Plant(record, Stepper(robot, corners, stops, problem.dt))

    def steps() -> None:
        with Progress(problem.steps, f"simulating {robot.name} with contacts", progress) as bar:
            plant.all_steps(bar)

    return completed(steps, record.stop, plant.trajectory)


def checked_contacts(problem: Problem, contacts: Any, limits: bool) -> list[Touching]:
    """The contacts that may touch, on frames of the robot, with names of their own."""
    one = isinstance(contacts, (Contact, RoundContact))
    listed = [contacts] if one else list(contacts) if isinstance(contacts, Iterable) else [contacts]
    for contact in listed:
        if not isinstance(contact, (Contact, RoundContact)):
            made = "contacts.point, contacts.edge, contacts.face or RoundContact"
            raise Error(f"contacts are values of {made}; found {shown(contact)}.", argument="contacts")
        if isinstance(contact, Contact):
            contact.check(problem.robot.model)
        else:
            problem.robot.model.frame(contact.frame)
    names = [contact.name for contact in listed]
    for name in names:
        if names.count(name) > 1:
            remedy = "give one of them another name=..."
            raise Error(f"two contacts are named {name!r}: {remedy}.", contact=name)
    touching = [contact for contact in listed if contact.mode != "off"]
    if not touching and not limits:
        what = "every contact is 'off'" if listed else "there are no contacts"
        raise Error(f"{what}, so nothing can touch: give contacts=[...] or limits=True, or use another integrator.")
    return touching


def touched_surfaces(scene: Any, ground: Any, needed: bool) -> list[TouchedSurface]:
    """Bodies of the scene and the ground."""
    if scene is not None and not isinstance(scene, Scene):
        raise Error(f"scene is a dq.Scene; found {shown(scene)}.", argument="scene")
    surfaces: list[TouchedSurface] = []
    if ground is not None:
        surfaces.append(Ground(number("ground", ground, "a finite height in m")))
    for body in scene or ():
        if body.motion in ("free", "hinged"):
            what = f"a simulation with contacts moves the robot alone, but {body.name!r} of the scene has a mass"
            raise Error(
                f"{what}: use plant='mujoco', or make it a body that stands or follows a function.", body=body.name
            )
        if body.restitution or body.rolling_friction:
            what = "bounces" if body.restitution else "has rolling friction"
            text = f"{body.name!r} of the scene {what}, which a simulation with contacts=[...] leaves out"
            raise Error(f"{text}: use plant='mujoco', or set it to 0.", body=body.name)
        surfaces.append(SceneSurface(body))
    if needed and not surfaces:
        raise Error("contacts with the world have nothing to meet: give ground=0.0 (a height in m) or scene=...")
    return surfaces


def _require_outside(corners: Corners, stops: JointStops, problem: Problem) -> None:
    """An error where the start is inside a surface: being pushed out would throw the robot."""
    pairs = corners.at(problem.q0[0], problem.start, problem.dt)
    if pairs.gap.min(initial=0.0) < -DEEP:
        contact, surface, depth = _deepest(corners, pairs)
        what = f"the contact {contact!r} is {depth:.3g} m inside {surface!r} at the start"
        raise StateError(f"{what}: change q0, or the scene.", contact=contact, surface=surface, found=depth)
    stops.require_inside(problem.q0[0])


def _deepest(corners: Corners, pairs: Pairs) -> tuple[str, str, float]:
    """Which contact is deepest inside which surface, and how far in m."""
    i = int(pairs.gap.argmin())
    return corners.owners[pairs.corner[i]].name, corners.surfaces[pairs.surface[i]].name, -float(pairs.gap[i])


class _Plant:
    """The state, and what was seen of it."""

    def __init__(self, record: Record, stepper: Stepper) -> None:
        self.record, self.problem, self.stepper = record, record.problem, stepper
        self.q, self.v = self.problem.q0[0], self.problem.v0[0]
        self.log = ContactLog(self.problem.robot, stepper.corners)
        self.a: list[Array] = []
        record.states.append(self.problem.state0[None])
        self.doubt = ""
        self.bodies = {name: frame.body for name, frame in self.problem.robot.model.frames.items()}

    def all_steps(self, bar: Progress) -> None:
        """Ask, solve, record, move."""
        p, asked, last = self.problem, self.record.actuation.asked, None
        for k in range(p.steps + 1):
            t = p.start + k * p.dt
            if asked is not None and asked.observe is not None:
                last = last or self.stepper.solve(t, self.q, self.v, self._acceleration(k, np.zeros(p.robot.nv)))
                seen = link_contacts(p.robot.model, self.stepper.corners, last, p.dt)
                asked.tell(Observation(t, seen, bodies=self.bodies))
            force = self._force(k, t)
            sampled = p.is_sample(k)
            if sampled:
                if k:
                    self.record.states.append(np.concatenate([self.q, self.v])[None, None])
                if asked is not None:
                    self.record.tau.append(np.array(force)[None, None])
                    asked.note()
                bar.at(k)
            last = step = self.stepper.solve(t, self.q, self.v, self._acceleration(k, force))
            self._judge(t, step)
            if sampled:
                self.log.add(self.q, step, p.dt)
                # Last, for it counts the samples that are complete, should the run be interrupted.
                self.a.append((step.v - self.v) / p.dt - self.stepper.axes.turning(self.v))
            if not alive(step.v, 0):
                self._diverged(t, step.v)
                return
            if k < p.steps:
                self.q, self.v = self.stepper.moved(t, self.q, step.v)

    def trajectory(self) -> Trajectory:
        """What was recorded; a sample that was begun when the run stopped has no acceleration and is left out."""
        kept = len(self.a)
        missing = len(self.record.states) - kept
        if missing:
            del self.record.states[max(kept, 1) :]
        nv = self.problem.robot.nv
        self.record.measured = np.array(self.a)[:, None] if self.a else np.full((1, 1, nv), np.nan)
        trajectory = assembled(self.record)
        status = self.doubt if trajectory.finished and self.doubt else trajectory.status
        extra = self.log.arrays(len(trajectory)) if self.a else {}
        return replace(trajectory, extra={**trajectory.extra, **extra}, status=status)

    def _force(self, k: int, t: float) -> Array:
        """τ (nv,) of the controller; it may keep its arguments, or spoil them."""
        actuation = self.record.actuation
        if actuation.asked is not None:
            return np.asarray(actuation.asked(t, self.q[None].copy(), self.v[None].copy())[0])
        tau = actuation.tau[min(k, len(actuation.tau) - 1), 0]
        if actuation.law is None:
            return np.asarray(tau)
        return np.array(self.record.system.forces(t, self.q.tolist(), self.v.tolist(), tau.tolist()), dtype=float)

    def _acceleration(self, k: int, force: Array) -> Array:
        """Of the tree, under the forces and the wrenches of the problem."""
        p = self.problem
        now = p.wrenches[min(k, len(p.wrenches) - 1), 0]
        wrenches = {frame: now[6 * i : 6 * i + 6] for i, frame in enumerate(p.frames)} or None
        if wrenches is None:
            return self.stepper.tree.forward_dynamics(self.q, self.v, np.asarray(force))
        return self.stepper.tree.forward_dynamics(
            self.q, self.v, np.asarray(force), wrenches, expressed=p.expressed, check=False
        )

    def _diverged(self, t: float, v: Array) -> None:
        p = self.problem
        fastest = joint_of(p.robot.model, int(np.argmax(np.nan_to_num(np.abs(v), nan=np.inf))))
        why = f"joint {fastest!r} would move faster than {TOO_FAST:g} rad/s or m/s"
        remedy = f"the step of {p.dt:g} s is too large for these forces: take a smaller one"
        self.record.stop(f"diverged after t = {t:.6g} s: {why}; {remedy}.")

    def _judge(self, t: float, step: Step) -> None:
        """Keep the first reason to doubt the run."""
        if self.doubt:
            return
        if not step.converged:
            what = f"at t = {t:.6g} s no impulses were found that keep Coulomb's law better than {step.error:.2g} m/s"
            self.doubt = f"doubtful: {what}; take a smaller step than {self.problem.dt:g} s, or less friction."
        elif step.pairs.gap.min(initial=0.0) < -SUNK:
            contact, surface, depth = _deepest(self.stepper.corners, step.pairs)
            what = f"the contact {contact!r} sank {depth:.2g} m into {surface!r} at t = {t:.6g} s"
            self.doubt = f"doubtful: {what}; take a smaller step than {self.problem.dt:g} s."
