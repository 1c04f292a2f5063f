"""Up three stairs of 10 cm with the left hand on a wall, by the controller and the states that walk on flat ground."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from dqdyn import control as ct
from dqdyn import scenes
from dqdyn.analysis.standing.setting import FRICTION, Standing, multi_contact_humanoid
from dqdyn.analysis.walking.climbing import Climb, HandOnWall
from dqdyn.analysis.walking.gait import Gait, Style, Timing
from dqdyn.analysis.walking.walked import Push, Walked, Walker, start_of, walk
from dqdyn.arrays import Array
from dqdyn.footsteps import FootstepPlan, Sole, StepAdjustment
from dqdyn.geometry.primitives import Plane
from dqdyn.robots.multi_contact import PALM

COUNT, RISE, RUN = 3, 0.10, 0.30
"""Stairs, m of height each, m of depth each."""
FOOT, WALL = 0.20, 0.50
"""m from the robot to the foot of the stairs, and to the wall on its left."""
HAND = "left_hand"
PALM_LINK = "left_palm"
DURATION = 27.0
"""s in which the robot is on top."""
_SHOULDER = 1.05  # m over the feet, where the palm lies
_AHEAD = 0.05  # m before the middle of a stretch


@dataclass(frozen=True, eq=False)
class Climbed(Walked):
    """A walk with the left palm on the wall."""

    @property
    def others(self) -> set[str]:
        return self.standing.others(self.trajectory.about["touched"]) - {PALM_LINK}

    @cached_property
    def hand_forces(self) -> Array:
        """Normal forces (n,) in N of the palm, as the plant measures them."""
        return np.asarray(self.trajectory.extra[f"normal_force/{PALM_LINK}"])

    @cached_property
    def is_stepping(self) -> Array:
        """Whether the robot stands on one foot (n,)."""
        time, found = self.trajectory.time, np.zeros(len(self.trajectory), dtype=bool)
        for begin, end in zip(self.events, [*self.events[1:], None], strict=True):
            if begin.to.startswith("on "):
                found |= (time >= begin.t) & (time < (np.inf if end is None else end.t))
        return found


class Climber(Walker):
    """Its machine begins with the first stretch again when it is reset."""

    def __init__(self, climb: Climb, machine: ct.StateMachine) -> None:
        self.climb = climb
        super().__init__(machine, climb.gait)

    def reset(self) -> None:
        self.climb.reset()
        super().reset()


@dataclass(frozen=True, eq=False)
class Stairs:
    """Scene, footsteps and places of the hand for a robot that stands before the stairs."""

    standing: Standing

    @cached_property
    def scene(self) -> scenes.Scene:
        going_up = scenes.stairs(COUNT, RISE, RUN, at=(FOOT, 0.0, 0.0), width=0.9, friction=FRICTION)
        wall = scenes.wall((0.5, WALL, 0.0), (0.0, -1.0, 0.0), width=3.0, friction=FRICTION)
        return scenes.Scene([scenes.ground(friction=FRICTION), *going_up, wall])

    @cached_property
    def stretches(self) -> tuple[FootstepPlan, ...]:
        """Two steps onto every stair, left foot first, into the middle of the tread."""
        sole, start, found = Sole(self.standing.half_length, self.standing.half_width), start_of(self.standing), []
        feet = start
        for i in range(COUNT):
            x, z = FOOT + (i + 0.5) * RUN, (i + 1) * RISE
            left, right = (step.moved([x - step.position[0], 0.0, z]) for step in start)
            found.append(FootstepPlan(feet, (left, right), sole))
            feet = left, right
        return tuple(found)

    @cached_property
    def places(self) -> Array:
        """Of the palm on the wall (k, 3) in m: one for every stretch, and one for the end."""
        ends = [plan.start[0].position for plan in self.stretches] + [self.stretches[-1].steps[0].position]
        middles = [0.5 * (a + b) for a, b in pairwise(ends)] + [ends[-1] + [0.1, 0.0, 0.0]]
        return np.array([[p[0] + _AHEAD, WALL, z[2] + _SHOULDER] for p, z in zip(middles, ends, strict=True)])

    def climber(self, **options: Any) -> Climber:
        """The machine, compiled; ``options`` of its whole-body controller."""
        timing = Timing(single=1.0, double=0.4, begin=1.2, end=1.2)
        # The tread leaves 4 cm before and behind the sole: the next footstep does not give way to pushes ahead.
        style = Style(clearance=0.04, adjustment=StepAdjustment((1.0, 0.03)))
        gait = Gait(self.standing, self.stretches[0], None, timing, style, scene=self.scene)
        hand = HandOnWall(HAND, PALM, Plane((0.0, -1.0, 0.0), distance=-WALL), friction=FRICTION)
        climb = Climb(gait, self.stretches, hand, self.places, constraints=[ct.JointLimits(gain=20.0)])
        return Climber(climb, climb.machine(progress=False, **options))


def stairs() -> Stairs:
    """Before the humanoid with palms."""
    return Stairs(multi_contact_humanoid())


def climb(setting: Stairs, climber: Climber, push: Push | None = None, **options: Any) -> Climbed:
    """One climb; ``options`` are those of :func:`~dqdyn.analysis.walking.walked.walk`."""
    walked = walk(climber, DURATION, push, **{"scene": setting.scene} | options)
    planned = tuple(step for plan in setting.stretches for step in plan.steps)
    values = {name: getattr(walked, name) for name in Walked.__dataclass_fields__}
    return replace(Climbed(**values), planned=planned)
