"""The two postures that are hit: with the palm on the table where it comes to it, and with the area maximised.

Steps I and II of Quiroz, section 4.5, by the velocities of law (3.1) with the rates of table 6.2. Beside what that
table lists, the center of mass and the trunk's orientation are held, which the paper leaves free: both postures then
differ in the hand, and so in the support polygon, and are hit in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dqdyn import control as ct
from dqdyn.analysis.experiments.multi_contact.setting import HAND
from dqdyn.analysis.experiments.multi_contact.strategy import HOLD, RATES, ZONE
from dqdyn.analysis.experiments.pendulum_blow import setting
from dqdyn.analysis.standing.setting import Standing
from dqdyn.arrays import Array
from dqdyn.contacts import SupportPolygon, support_polygon
from dqdyn.control.core.term import ControlPart
from dqdyn.errors import Error
from dqdyn.simulate import Trajectory, simulate

CONTACT, MAXIMISE, DONE, FAILED = "make contact", "maximise the area", "done", "failed"
UNMAXIMISED, MAXIMISED = "unmaximised", "maximised"
FLAT, TOUCHING = 2e-3, 2e-4  # rad and m of a palm that lies on the table
DT, LIMIT = 0.01, 20.0  # s of a step, and for a state


@dataclass(frozen=True, eq=False)
class Posture:
    """At rest on soles and palm: ``standing`` with its q0, and ``polygon``, what both span from above."""

    name: str
    standing: Standing
    polygon: SupportPolygon

    @property
    def q0(self) -> Array:
        return self.standing.q0

    @property
    def hand(self) -> Array:
        """Where the middle of the palm is (3,), m."""
        return np.asarray(self.standing.robot.pose(HAND, self.q0).translation)


@dataclass(frozen=True, eq=False)
class Steps:
    """How the robot came to both postures: a ``run`` by velocities, and ``states``, that at every sample."""

    unmaximised: Posture
    maximised: Posture
    run: Trajectory
    states: tuple[str, ...]

    @property
    def both(self) -> tuple[Posture, Posture]:
        return self.unmaximised, self.maximised


def machine(standing: Standing) -> ct.StateMachine:
    """The palm to the table, then the area until it grows no more."""
    robot, q0, top, region = standing.robot, standing.q0, setting.surface(), setting.region()
    held: list[ControlPart] = [
        *(ct.PoseTask(foot, robot.pose(foot, q0), gain=HOLD) for foot in standing.feet),
        ct.CenterOfMassTask(standing.center, gain=HOLD),
        ct.RotationTask(standing.chest, robot.pose(standing.chest, q0), gain=HOLD),
        ct.JointLimits(gain=ZONE),
    ]
    in_region = ct.ContactRegion(setting.palm(), region, gain=ZONE, name="region")
    above = ct.ContactRegion(setting.palm(), surface=top, gain=ZONE, name="above the table")
    on_table = ct.SurfaceTask(HAND, top, gain=HOLD, name="palm on the table")
    eta, damping = RATES["contact"]
    touch = ct.SurfaceTask(HAND, top, gain=eta, name="palm to the table")
    first = ct.State(
        CONTACT,
        [touch],
        [*held, in_region, above],
        transitions=[ct.Transition(MAXIMISE, ct.guards.reached(touch.name, [FLAT, FLAT, TOUCHING]), "touching")],
        time_limit=LIMIT,
        options={"damping": damping},
    )
    eta, damping = RATES["maximise"]
    area = ct.SupportAreaTask([*standing.soles, setting.palm()], gain=eta, name="area")
    second = ct.State(
        MAXIMISE,
        [area],
        [*held, in_region, on_table],
        transitions=[ct.Transition(DONE, ct.guards.stalled(area.name), "grows no more", kind="success")],
        time_limit=LIMIT,
        options={"damping": damping},
    )
    states = [first, second, ct.State(DONE, ends="done"), ct.State(FAILED, ends="failed")]
    return ct.StateMachine(robot, states, start=CONTACT)


def postures(standing: Standing) -> Steps:
    """From ``standing``, with the hand above the table, to the unmaximised and the maximised posture."""
    steps = machine(standing)
    run = simulate(standing.robot, steps, 2.0 * LIMIT, DT, q0=standing.q0, progress=False)
    if steps.ended != "done":
        raise Error(f"the hand did not come to rest on the table: {steps.log[-1]}.")
    ends = {event.source: event.t for event in steps.log if event.source}
    run = run.part(slice(0, round(ends[MAXIMISE] / DT) + 1))
    found = {}
    for name, state in ((UNMAXIMISED, CONTACT), (MAXIMISED, MAXIMISE)):
        q = run.q[round(ends[state] / DT)]
        found[name] = Posture(name, replace(standing, q0=q), polygon(standing, q))
    names = tuple(CONTACT if t < ends[CONTACT] else MAXIMISE for t in run.time)
    return Steps(found[UNMAXIMISED], found[MAXIMISED], run, names)


def polygon(standing: Standing, q: Array) -> SupportPolygon:
    """What soles and palm span at q, seen from above."""
    return support_polygon(standing.robot, q, [*standing.soles, setting.palm()], level=False)
