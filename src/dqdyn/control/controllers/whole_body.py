"""Whole-body control: torques of the motors under contacts, loops and limits."""

from __future__ import annotations

from collections.abc import Sequence

from dqdyn.contacts.contact import Contact
from dqdyn.control.controllers.printed_forms import literal_controller, require_form
from dqdyn.control.controllers.torque import mass_and_bias
from dqdyn.control.core.build import (
    Constraints,
    Infeasible,
    SolverName,
    Tasks,
    warn_of_forbidden_targets,
)
from dqdyn.control.core.coordinates import AnyRobot, in_coordinates, own_robot
from dqdyn.control.core.design import Design
from dqdyn.control.core.errors import ControlError, refused
from dqdyn.control.core.optimum import Optimum, StrictLevels
from dqdyn.control.core.settings import number
from dqdyn.control.whole_body.composition import WholeBodyComposition
from dqdyn.control.whole_body.context import Contacts
from dqdyn.control.whole_body.controller import WholeBodyController
from dqdyn.control.whole_body.forms import Form
from dqdyn.robot import Robot


def whole_body_controller(
    robot: AnyRobot,
    tasks: Tasks,
    constraints: Constraints = (),
    *,
    contacts: Contact | Sequence[Contact] = (),
    damping: float = 1e-3,
    force_damping: float = 1e-5,
    contact_rate: float = 10.0,
    infeasible: Infeasible = "relax",
    solver: SolverName = "daqp",
    form: Form = "eliminated",
) -> WholeBodyController:
    """A function (t, q, v) → τ that minimises the tasks over accelerations and contact forces [Bouyarmane, eq. (36)].

    Obeyed are the equation of motion with the robot's motors only, ``contacts`` (:mod:`dqdyn.contacts`) with their
    friction cones, the motors' limits, the robot's own constraints (loops, wheels), and ``constraints``. Contacts hold
    where they are at the first step; what they drift decays at ``contact_rate`` ρ in 1/s, as ë + 2ρ ė + ρ² e = 0.

    ``tasks``: a list, or a list of lists for strict priorities, the highest first. ``damping`` λ and ``force_damping``
    λ_f: λ²‖v̇‖² + λ_f²‖φ‖² is added to the cost, φ the contact forces in N. ``infeasible``: "raise", "relax" or "hold".

    Of a robot in coordinates it is a function (t, q, q̇) → τ (nv). ``form``: "eliminated" leaves no equality to the
    solver; "minimal", "projected" and "multipliers" are the programs that Bouyarmane prints, over accelerations,
    torques and contact forces in the robot's coordinates, for study: same torques, far slower
    (:mod:`dqdyn.control.whole_body.forms`).
    """
    asked, robot = robot, own_robot(robot)
    require_form(asked, form)
    given = _contacts(robot, contacts)
    rate = number(contact_rate, "contact_rate", 0.0)
    if not robot.actuated.any():
        raise ControlError(f"{robot.name!r} has no motors to control: give it some by robot.with_motors(…).")
    design = Design.of(robot.model, "torque", tasks, constraints, damping)
    warn_of_forbidden_targets(design, robot.model)
    active = Contacts(robot.model, tuple(robot.actuated.tolist()), given, rate)
    weight = number(force_damping, "force_damping", 0.0)
    dynamics, levels = mass_and_bias(robot), len(design.tasks)
    if form != "eliminated":
        literal = literal_controller(asked, design, active, dynamics, weight, form, solver, infeasible)
        return in_coordinates(asked, literal)
    composition = WholeBodyComposition(robot, design, active, dynamics, weight)
    size = composition.size
    optimum = Optimum(size, solver, guess=True) if levels == 1 else StrictLevels(size, solver, levels, guess=True)
    if isinstance(optimum, StrictLevels):
        optimum.prepare(composition.views)
    return in_coordinates(asked, WholeBodyController(composition, optimum, infeasible))


def _contacts(robot: Robot, contacts: Contact | Sequence[Contact]) -> tuple[Contact, ...]:
    """Those that are not off, checked."""
    try:
        given = (contacts,) if isinstance(contacts, Contact) else tuple(contacts)
    except TypeError:
        raise refused("contacts are a list of dqdyn.contacts.Contact", contacts) from None
    for contact in given:
        if not isinstance(contact, Contact):
            raise refused("contacts are a list of dqdyn.contacts.Contact", contact)
        contact.check(robot.model)
    names = [contact.name for contact in given]
    for name in names:
        if names.count(name) > 1:
            raise ControlError(f"two contacts are named {name!r}: give one of them another name.", contact=name)
    return tuple(contact for contact in given if contact.mode != "off")
