"""Whole-body control: torques of the motors under contacts, loops and limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dqdyn.algebra.real import real_array
from dqdyn.arrays import Array
from dqdyn.contacts.contact import Contact
from dqdyn.control.controllers.printed_forms import literal_program, require_form
from dqdyn.control.controllers.torque import mass_and_bias
from dqdyn.control.core.build import (
    Constraints,
    Damping,
    Infeasible,
    SolverName,
    Tasks,
    warn_of_forbidden_targets,
)
from dqdyn.control.core.coordinates import AnyRobot, in_coordinates, own_robot
from dqdyn.control.core.design import Design
from dqdyn.control.core.errors import ControlError, refused
from dqdyn.control.core.optimum import Optimise, Optimum, StrictLevels
from dqdyn.control.core.settings import is_number, number, positive
from dqdyn.control.whole_body.composition import WholeBodyComposition
from dqdyn.control.whole_body.contact_sets import Asked, listed
from dqdyn.control.whole_body.context import Contacts
from dqdyn.control.whole_body.controller import WholeBodyController
from dqdyn.control.whole_body.forms import Form
from dqdyn.control.whole_body.ground import Ground, as_ground
from dqdyn.control.whole_body.null_space import LiteralController
from dqdyn.errors import Error, unknown_name
from dqdyn.robot import Robot


def whole_body_controller(
    robot: AnyRobot,
    tasks: Tasks,
    constraints: Constraints = (),
    *,
    contacts: Contact | Sequence[Contact] = (),
    damping: Damping = 1e-3,
    force_damping: float = 1e-5,
    contact_rate: float = 10.0,
    coulomb_friction: bool = False,
    torque_rate: float | Sequence[float] | Mapping[str, float] | None = None,
    ground: Ground | None = None,
    fall_margin: float | None = 0.1,
    infeasible: Infeasible = "relax",
    solver: SolverName = "daqp",
    form: Form = "eliminated",
) -> WholeBodyController:
    """A function (t, q, v) → τ that minimises the tasks over accelerations and contact forces [Bouyarmane, eq. (36)].

    Obeyed are the equation of motion with the robot's motors only, ``contacts`` (:mod:`dqdyn.contacts`) with their
    friction cones, the motors' limits, the robot's own constraints (loops, wheels), and ``constraints``. Contacts hold
    where they are at the first step; what they drift decays at ``contact_rate`` ρ in 1/s, as ë + 2ρ ė + ρ² e = 0.

    ``tasks``: a list, or a list of lists for strict priorities, the highest first. ``damping`` λ and ``force_damping``
    λ_f: λ²‖v̇‖² + λ_f²‖φ‖² is added to the cost, φ the contact forces in N. ``infeasible``: "raise", "relax", "hold", or
    "rest", which brings the robot to rest for good.

    ``coulomb_friction``: whether friction · sign(v) of the joints is compensated. It is not unless asked for: sign(v)
    of a robot that stands still flickers from step to step, and so would torques. Damping always is.

    ``torque_rate`` in N m/s (N/s of prismatic joints), one number, one per axis, or by name of joints: by how much a
    torque changes at most from one step to the next; where no command allows it, it gives way, and the report says so.
    Contacts change while the loop runs by ``controller.prepare`` and ``controller.switch``.

    ``ground``, a height z in m, a plane or a scene: contacts more than 1 cm away from it are told, with how far they
    are. ``fall_margin`` in m: a robot on a free base whose capture point is farther than that outside of its support
    polygon falls; the report says so, and the robot is brought to rest until the next reset. None does not watch it.

    Of a robot in coordinates it is a function (t, q, q̇) → τ (nv). ``form``: "eliminated" leaves no equality to the
    solver; "minimal", "projected" and "multipliers" are the programs that Bouyarmane prints, over accelerations,
    torques and contact forces in the robot's coordinates, for study: same torques, far slower, and without rates of
    torques and further sets of contacts (:mod:`dqdyn.control.whole_body.forms`).
    """
    asked, robot = robot, own_robot(robot)
    require_form(asked, form)
    rate = number(contact_rate, "contact_rate", 0.0)
    if not robot.actuated.any():
        raise ControlError(f"{robot.name!r} has no motors to control: give it some by robot.with_motors(…).")
    weight = number(force_damping, "force_damping", 0.0)
    if not isinstance(coulomb_friction, (bool, np.bool_)):
        raise refused("coulomb_friction is True or False", coulomb_friction)
    dynamics = mass_and_bias(robot, bool(coulomb_friction))
    rates = None if torque_rate is None else _torque_rates(robot, torque_rate)

    def designed(asked: Asked) -> tuple[Design, Contacts]:
        """Tasks, constraints and contacts, checked."""
        design = Design.of(
            robot.model,
            "torque",
            tasks if asked.tasks is None else asked.tasks,
            constraints if asked.constraints is None else asked.constraints,
            damping if asked.damping is None else asked.damping,
        )
        warn_of_forbidden_targets(design, robot.model)
        return design, Contacts(robot.model, tuple(robot.actuated.tolist()), _contacts(robot, asked.contacts), rate)

    def make(asked: Asked) -> tuple[WholeBodyComposition, Optimise]:
        """The program of a set, and what solves it."""
        design, active = designed(asked)
        composition = WholeBodyComposition(robot, design, active, dynamics, weight, rates is not None)
        size, levels = composition.size, len(design.tasks)
        if levels == 1:
            return composition, Optimum(size, solver, guess=True)
        optimum = StrictLevels(size, solver, levels, guess=True)
        optimum.prepare(composition.views)
        return composition, optimum

    floor = None if ground is None else as_ground(ground)
    margin = None if fall_margin is None else number(fall_margin, "fall_margin in m", 0.0)
    if form != "eliminated":
        if rates is not None:
            raise ControlError(f"form={form!r} does not bound torque rates: leave out torque_rate.", form=form)
        composition, optimum = literal_program(asked, *designed(Asked(contacts)), dynamics, weight, form, solver)
        return in_coordinates(asked, LiteralController(composition, optimum, infeasible, None, None, floor, margin))
    controller = WholeBodyController(*make(Asked(contacts)), infeasible, make, rates, floor, margin)
    return in_coordinates(asked, controller)


def _torque_rates(robot: Robot, given: Any) -> Array:
    """(nv,) in N m/s or N/s: one number for all motors, one per axis, or by name of joints, the others without."""
    rates = np.full(robot.nv, math.inf)
    if isinstance(given, Mapping):
        names = {joint.name: joint.v for joint in robot.model.joints}
        for name, value in given.items():
            if name not in names:
                raise unknown_name("joint", name, names)
            rates[names[name]] = positive(value, f"torque rate of {name}")
        return rates
    if is_number(given):
        return np.full(robot.nv, positive(given, "torque rate"))
    found = real_array(given, "torque_rate", Error, argument="torque_rate")
    if found.shape != (robot.nv,) or not (found > 0.0).all():
        wanted = f"torque_rate is a number above 0, one per axis ({robot.nv}), or a dictionary by joint, in N m/s"
        raise refused(wanted, given)
    return found


def _contacts(robot: Robot, contacts: Contact | Sequence[Contact]) -> tuple[Contact, ...]:
    """Those that are not off, checked."""
    given = listed(contacts)
    for contact in given:
        contact.check(robot.model)
    names = [contact.name for contact in given]
    for name in names:
        if names.count(name) > 1:
            raise ControlError(f"two contacts are named {name!r}: give one of them another name.", contact=name)
    return tuple(contact for contact in given if contact.mode != "off")
