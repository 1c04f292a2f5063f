"""A walk in stretches with a hand on a wall: the hand lies there while the feet step, and goes ahead in between.

Four sets of contacts serve stairs of any length: both feet, both feet and the hand, either foot and the hand.

    the way of the hand, seen from above:      wall ────●───────────────●────
                                                         ╲             ╱
                                                          ╰───────────╯   6 cm off the wall
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqdyn import contacts
from dqdyn import control as ct
from dqdyn.analysis.walking.gait import Gait
from dqdyn.analysis.walking.states import BEGIN, Walk, falls
from dqdyn.arrays import Array
from dqdyn.footsteps import FootstepPlan, Quintic
from dqdyn.geometry.primitives import Plane

REACH, LOAD, ON_TOP = "hand to the wall", "load the hand", "stand"
_OFF, _LEAVE, _GO, _APPROACH = 0.06, 0.4, 1.6, 0.08
"""m from the wall at which the hand goes; s to leave the wall, and to be opposite of its goal; m/s towards the wall."""
_HAND = 100.0  # weight of the hand's way, for errors in m/s²
_PRESSED = 1e-2  # weight of the force, for errors in N


@dataclass(frozen=True)
class HandOnWall:
    """A palm on a wall: the ``frame``, half its length and width in m, the ``wall`` with its normal to the robot.

    ``press`` in N: what it is to press with; ``touches`` in N: when it counts as lying on the wall.
    """

    frame: str
    half: tuple[float, float]
    wall: Plane
    friction: float = 0.7
    press: float = 25.0
    touches: float = 3.0

    def contact(self) -> contacts.Contact:
        """The palm as a face."""
        length, width = self.half
        return contacts.face(self.frame, half_length=length, half_width=width, friction=self.friction)


class HandTarget:
    """The way of a palm off the wall, along it, and onto it again."""

    def __init__(self, hand: HandOnWall, place: Array) -> None:
        self.hand, self._normal = hand, np.asarray(hand.wall.normal, float)
        self.position, self.surface = ct.Measured(place), ct.Measured(hand.wall)
        self._along = Quintic.between(0.0, 1.0, place, place)
        self._off = Quintic.between(0.0, 1.0, 0.0, 0.0)

    def go(self, t: float, here: Array, goal: Array) -> None:
        """From where it is to a point of the wall, beginning now."""
        n, level = self._normal, float(self.hand.wall.distance)
        on_wall = [p - (p @ n - level) * n for p in (here, goal)]
        self._along = Quintic.between(t + 0.5 * _LEAVE, t + _GO, *on_wall)
        off = float(here @ n) - level
        self._off = Quintic.between(t, t + (_LEAVE if off < _OFF else _GO), off, _OFF)

    def move(self, t: float) -> None:
        """Move the targets; after the way along the wall the palm goes on towards it until it is told to stay."""
        n, (place, *rates), (off, *off_rates) = self._normal, self._along.at(t), self._off.at(t)
        late = max(t - self._along.end, 0.0)
        off, speed = off - _APPROACH * late, off_rates[0] - (_APPROACH if late > 0.0 else 0.0)
        self.position.update(place + off * n, rates[0] + speed * n, rates[1] + off_rates[1] * n)
        level = float(self.hand.wall.distance)
        self.surface.update([*n, level + float(off[0])], [0.0, 0.0, 0.0, float(speed[0])])

    def tasks(self) -> list[ct.Task]:
        """The palm's place, and the palm parallel to the wall."""
        return [
            ct.TranslationTask(self.hand.frame, self.position, gain=8.0, weight=_HAND, name="hand"),
            ct.SurfaceTask(self.hand.frame, self.surface, gain=6.0, weight=_HAND, name="palm"),
        ]


class Climb:
    """Stretches of footsteps, each with the hand at a place of the wall: ``places`` (k, 3) in m.

    The machine: hand to the wall, load it, walk the stretch, hand to the wall, …, stand.
    """

    def __init__(
        self, gait: Gait, stretches: Sequence[FootstepPlan], hand: HandOnWall, places: Array, **options: Any
    ) -> None:
        self.gait, self.stretches, self.hand, self.places = gait, tuple(stretches), hand, np.asarray(places)
        robot, q0 = gait.robot, gait.standing.q0
        self.target = HandTarget(hand, robot.pose(hand.frame, q0).translation)
        self.contact = hand.contact()
        press = ct.ContactWrenchTask(self.contact, hand.press, components="f_n", weight=_PRESSED, name="press")
        self.walk = Walk(gait, more=[press], holding=[self.contact], after=REACH, **options)
        self.reset()

    def reset(self) -> None:
        """Begin again with the first stretch."""
        self.stretch = -1
        self.gait.take(self.stretches[0])

    def states(self) -> tuple[ct.State, ...]:
        """Those of the walk, and those of the hand."""
        gait, walk = self.gait, self.walk
        feet = list(gait.standing.supports)
        balance = gait.targets.tasks(gait.omega)
        common: dict[str, Any] = {"constraints": walk.constraints, "during": self._during}
        fell = falls(gait)
        touches = ct.guards.touching(self.contact, force=self.hand.touches, during=0.01)
        opposite = ct.guards.after(0.9 * _GO)
        lies = ct.Transition(LOAD, ct.guards.all_of(touches, opposite), "the palm lies on the wall")
        walking = walk.states()
        loaded: dict[str, Any] = {"tasks": walking[0].tasks, "contacts": [*feet, self.contact], **common}
        is_last = ct.guards.when(lambda _: self.stretch >= len(self.stretches), "all stairs are climbed")
        return (
            ct.State(
                REACH,
                tasks=[*balance, *self.target.tasks()],
                contacts=feet,
                enter=self._reach,
                transitions=[fell, lies],
                time_limit=_GO + 3.0,
                ramp=0.2,
                **common,
            ),
            ct.State(
                LOAD,
                transitions=[
                    fell,
                    ct.Transition(ON_TOP, ct.guards.all_of(is_last, ct.guards.after(0.4)), "all stairs are climbed"),
                    ct.Transition(BEGIN, ct.guards.after(0.4)),
                ],
                time_limit=2.0,
                ramp=0.2,
                **loaded,
            ),
            *walking,
            ct.State(ON_TOP, ends="done", **loaded),
        )

    def machine(self, **options: Any) -> ct.StateMachine:
        """``options`` of its whole-body controller."""
        settings = {"fall_margin": None} | options
        return ct.StateMachine(self.gait.robot, self.states(), REACH, "whole-body", **settings)

    def _reach(self, moment: ct.Moment) -> None:
        self.stretch += 1
        if self.stretch == 0:
            self.gait.reset()
        if self.stretch < len(self.stretches):
            self.gait.take(self.stretches[self.stretch])
        here = moment.robot.pose(self.hand.frame, moment.q).translation
        self.target.go(moment.t, here, self.places[min(self.stretch, len(self.places) - 1)])

    def _during(self, moment: ct.Moment) -> None:
        self.target.move(moment.t)
        if self.gait.reference is not None:
            self.gait.move(moment.t, moment.q, moment.v)
