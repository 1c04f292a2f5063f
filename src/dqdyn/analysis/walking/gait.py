"""The gait: what moves when, over a plan of footsteps, whoever drives it.

A step has two parts: double support, in which the load goes over to the foot that will stand, and single support, in
which the other foot swings. The gait is told when they begin, and at every control step moves the targets of the tasks:
the divergent component of motion over the footsteps that are left, the swinging foot, the trunk. Where a push displaces
the divergent component farther than the sole can correct, the next footstep gives way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from dqdyn.algebra.values import Pose
from dqdyn.analysis.standing.setting import Standing
from dqdyn.analysis.walking.signals import Targets
from dqdyn.arrays import Array
from dqdyn.errors import Error, unknown_name
from dqdyn.footsteps import (
    DivergentReference,
    Footstep,
    FootstepPlan,
    Phase,
    Quintic,
    StepAdjustment,
    SwingPath,
    first_phase,
)
from dqdyn.footsteps.adjustment import carried
from dqdyn.footsteps.checks import number
from dqdyn.footsteps.plans import Surfaces
from dqdyn.footsteps.swing import highest_between

_AFTER = 0.01  # s after which what has come to rest is not moved any more
_AIMED, _RETIMED, _REACHED = 2e-3, 0.02, 5e-3  # m, s, m by which a swing changes before it is aimed anew


@dataclass(frozen=True)
class Timing:
    """s of single and of double support, and of the first and the last double support, from and to rest."""

    single: float = 0.6
    double: float = 0.2
    begin: float = 1.0
    end: float = 1.2
    quickest: float = 0.4
    slowest: float = 1.2
    """s of single support after a push, which may need a step that is sooner or later."""

    def __post_init__(self) -> None:
        for part in fields(self):
            number(getattr(self, part.name), f"{part.name} of the timing in s", 0.0, above=True)


@dataclass(frozen=True)
class Style:
    """Of a gait, in m and s."""

    clearance: float = 0.05
    inward: float = 0.01
    """m from the middle of the sole to the zero-moment point, towards the other foot."""
    ahead: float = 0.0
    search: float = 0.1
    """m/s at which a foot that has not landed in time goes on down."""
    settle: float = 0.12
    """s before it lands in which a footstep is not displaced any more."""
    keep: float = 0.5
    """Part of a displacement that the following steps take over, and so on; the plan is met again by and by."""
    adjustment: StepAdjustment | None = StepAdjustment()

    def __post_init__(self) -> None:
        for name in ("clearance", "search", "settle", "keep"):
            number(getattr(self, name), f"{name} of the style", 0.0)
        for name in ("inward", "ahead"):
            number(getattr(self, name), f"{name} of the style in m")
        if not isinstance(self.adjustment, StepAdjustment | None):
            raise Error(f"the adjustment of a style is a StepAdjustment or None; found {self.adjustment!r}.")


class Gait:
    """Moves ``targets`` along a ``plan``; ``k`` is the step that is being made, from 0 on."""

    def __init__(
        self,
        standing: Standing,
        plan: FootstepPlan,
        targets: Targets | None = None,
        timing: Timing | None = None,
        style: Style | None = None,
        scene: Surfaces | None = None,
    ) -> None:
        if not isinstance(plan, FootstepPlan):
            raise Error(f"a gait takes a FootstepPlan; found {plan!r}.", found=plan)
        for foot in plan.feet:
            if foot not in standing.feet:
                raise unknown_name("foot of the robot", foot, standing.feet)
        self.standing, self.plan = standing, plan
        self.timing, self.style, self.scene = timing or Timing(), style or Style(), scene
        self.targets = Targets(standing) if targets is None else targets
        self.omega, self.robot = standing.omega, standing.robot
        self._heading0 = _mean_heading(*plan.start)
        self.reset()

    def reset(self) -> None:
        """Begin again."""
        self._restart()
        self.reference: DivergentReference | None = None
        self._heading = Quintic.between(0.0, 1.0, 0.0, 0.0)
        self.targets.goal.update(self.standing.center[:2])
        self.targets.height.update(float(self.standing.center[2]))
        self.targets.heading.turn(0.0)

    def take(self, plan: FootstepPlan) -> None:
        """Go on with another plan, from where the robot stands."""
        self.plan = plan
        self._restart()

    def _restart(self) -> None:
        self.k = 0
        self.steps: list[Footstep] = list(self.plan.steps)
        self.standing_at: dict[str, Footstep] = {step.foot: step for step in self.plan.start}
        self.landed: list[Footstep] = []
        self.path: SwingPath | None = None
        self.double_ends = 0.0
        self.displaced = np.zeros(2)

    # --- the plan ---------------------------------------------------------------------------------------------

    @property
    def ground(self) -> float:
        """z in m of the lower foot that stands, or stood last."""
        return min(float(step.position[2]) for step in self.standing_at.values())

    @property
    def done(self) -> bool:
        """Whether all steps were made."""
        return self.k >= len(self.steps)

    @property
    def swinging(self) -> str:
        """The foot of the present step."""
        return self.steps[self.k].foot

    @property
    def supporting(self) -> str:
        """The foot that stands during the present step."""
        return self.plan.other(self.swinging)

    def pressure(self, step: Footstep) -> Array:
        """Where in a sole the zero-moment point is meant to be (3,) in m."""
        return step.point(self.style.ahead, -self.plan.side(step.foot) * self.style.inward)

    @property
    def _rest(self) -> Array:
        """Between both feet (3,)."""
        return np.asarray(0.5 * sum(self.pressure(step) for step in self.standing_at.values()))

    def _ahead(self) -> list[Phase]:
        """From single support of the present step to rest."""
        timing, phases = self.timing, []
        stands, other = self.standing_at[self.supporting], self.standing_at[self.swinging]
        for step in self.steps[self.k :]:
            z = self.pressure(stands)
            phases.append(Phase(timing.single, z, z))
            other, stands = stands, step
            phases.append(Phase(timing.double, z, self.pressure(stands)))
        middle = 0.5 * (self.pressure(stands) + self.pressure(other))
        phases[-1] = Phase(timing.end, phases[-1].first, middle)
        return phases

    # --- events -----------------------------------------------------------------------------------------------

    def begin(self, t: float, q: Array, v: Array) -> None:
        """From rest on both feet, until ``double_ends``."""
        phases = self._ahead()
        rest = DivergentReference(phases, self.omega, start=t + self.timing.begin)
        xi = self._component(q, v)
        first = first_phase(xi, phases[0].first, rest.ends[0], self.timing.begin, self.omega)
        if self.reference is None:
            self._first = np.asarray(self.robot.center_of_mass(q))
        self._follow(t, [first, *phases])
        self.double_ends = t + self.timing.begin

    def land(self, t: float, q: Array, v: Array) -> None:
        """The swinging foot stands; the double support is to last until ``double_ends``."""
        foot, stood = self.swinging, self.standing_at[self.supporting]
        assert self.path is not None
        early = max(self.path.finish - t, 0.0)
        place = Footstep(foot, self.robot.pose(foot, q))
        self.landed.append(place)
        self.standing_at[foot] = place
        planned = self.plan.steps[self.k]
        self.k += 1
        self._pass_on(place.position - planned.position)
        self.path = None
        if self.done:
            duration = self.timing.end + early
            phases = [Phase(duration, self.pressure(stood), self._rest)]
        else:
            duration = self.timing.double + early
            phases = [Phase(duration, self.pressure(stood), self.pressure(place)), *self._ahead()]
        self._follow(t, phases)
        self.double_ends = t + duration

    def hold(self, q: Array) -> None:
        """The foot of the present step is about to leave the ground: until it does, it stays where it is."""
        here = self.robot.pose(self.swinging, q)
        self.targets.feet[self.swinging].move(SwingPath(here, here, 1.0).at(0.0))

    def _pass_on(self, displaced: Array) -> None:
        """The steps that are left take over a part of a displacement, less and less, within reach."""
        for j in range(self.k, len(self.steps)):
            displaced = displaced * self.style.keep
            before = self.standing_at[self.plan.steps[j - 1].foot] if j == self.k else self.steps[j - 1]
            self.steps[j] = self._within_reach(before, self.plan.steps[j].moved([*displaced[:2], 0.0]))

    def _within_reach(self, stands: Footstep, step: Footstep) -> Footstep:
        low, high = self.plan.limits(stands)
        axes = stands.axes
        seen = axes.T @ (step.position - stands.position)
        seen[:2] = np.clip(seen[:2], low, high)
        place = stands.position + axes @ seen
        return Footstep(step.foot, Pose(rotation=step.pose.rotation, translation=[*place[:2], step.position[2]]))

    def lift(self, t: float, q: Array, v: Array) -> None:
        """The foot of the present step leaves the ground."""
        foot, step = self.swinging, self.steps[self.k]
        self._follow(t, self._ahead())
        self.path = self.swing_path(t, self.robot.pose(foot, q), step)
        stands = self.standing_at[self.supporting]
        now, goal = float(self._heading.at(t)[0][0]), _mean_heading(stands, step) - self._heading0
        goal = now + math.remainder(goal - now, 2.0 * math.pi)
        self._heading = Quintic.between(t, t + self.timing.single, now, goal)
        self.displaced = np.zeros(2)

    def swing_path(self, t: float, here: Pose, step: Footstep) -> SwingPath:
        """The way of a foot from where it is to a footstep, over what ``scene`` has between them."""
        top = None if self.scene is None else highest_between(here, step.pose, self.scene, self.plan.sole)
        return SwingPath(here, step.pose, self.timing.single, self.style.clearance, top, start=t)

    def _follow(self, t: float, phases: list[Phase]) -> None:
        """A new reference from now on; the height of its center of mass goes on from where the last one has it."""
        if self.reference is not None:
            self._first = self.reference.center(t, self._first)[0]
        self.reference = DivergentReference(phases, self.omega, start=t)

    # --- at every control step --------------------------------------------------------------------------------

    def move(self, t: float, q: Array, v: Array) -> None:
        """Move all targets."""
        assert self.reference is not None
        motion = self.reference.at(t)
        xi, rate = motion.component[:2], motion.rate[:2]
        if self.path is not None:
            xi, rate = self._swing(t, q, v, xi, rate)
        self.targets.goal.update(xi, rate)
        center, velocity = self.reference.center(t, self._first)
        second = self.omega * (motion.rate[2] - velocity[2])
        self.targets.height.update(float(center[2]), float(velocity[2]), float(second))
        if t <= self._heading.end + _AFTER:
            self.targets.heading.turn(*(float(x[0]) for x in self._heading.at(t)))

    def _swing(self, t: float, q: Array, v: Array, xi: Array, rate: Array) -> tuple[Array, Array]:
        """Move the swinging foot, and displace where it lands; ξ and its rate follow that."""
        assert self.path is not None
        left = self.path.finish - t
        if self.style.adjustment is not None and left > self.style.settle:
            now = self._component(q, v)[:2]
            before, left = left, self._adjust(t, left, now, now - xi)
            if left != before and self.reference is not None:
                xi, rate = (x[:2] for x in self.reference.at(t)[:2])
        motion = self.path.at(t)
        if left < 0.0:
            position = motion.position + [0.0, 0.0, self.style.search * left]
            motion = motion._replace(position=position, velocity=np.array([0.0, 0.0, -self.style.search]))
        self.targets.feet[self.swinging].move(motion)
        moved = math.exp(-self.omega * max(left, 0.0)) * carried(self.omega, self.timing.double) * self.displaced
        return xi + moved, rate + self.omega * moved

    def _adjust(self, t: float, left: float, xi: Array, error: Array) -> float:
        """Displace the next footstep, and where it cannot be far enough, its time; gives the time that is left in s."""
        assert self.path is not None
        assert self.style.adjustment is not None
        stands, step, omega, double = (
            self.standing_at[self.supporting], self.steps[self.k], self.omega, self.timing.double
        )  # fmt: skip
        axes = stands.axes[:2, :2]
        way = self.style.adjustment.displacement(axes.T @ error, left, omega, double)
        if not way.any() and not self.displaced.any():
            return left
        low, high = (limit - axes.T @ (step.position - stands.position)[:2] for limit in self.plan.limits(stands))
        beyond = (way < low - _REACHED) | (way > high + _REACHED)
        wanted = self._within_reach(stands, step.moved([*(axes @ way), 0.0]))
        finish = self.path.finish
        if beyond.any() and self.reference is not None:
            z, end = self.pressure(stands)[:2], self.reference.ends[1][:2]
            most = np.where(way > 0.0, high, low)
            times = self.style.adjustment.landing(axes.T @ xi, axes.T @ z, axes.T @ end, most, omega, double)
            better = times[beyond & np.isfinite(times)]
            if len(better):
                soonest = max(self.path.start + self.timing.quickest, t + self.style.settle)
                latest = max(self.path.start + self.timing.slowest, soonest)
                finish = min(max(t + float(better.min()), soonest), latest)
        is_retimed = abs(finish - self.path.finish) > _RETIMED
        if is_retimed or np.abs(wanted.position - self.path.end.translation).max() > _AIMED:
            self.path = self.path.aimed(t, wanted.pose, finish if is_retimed else None)
        self.displaced = (wanted.position - step.position)[:2]
        if is_retimed:
            z3 = self.pressure(stands)
            self._follow(t, [Phase(self.path.finish - t, z3, z3), *self._ahead()[1:]])
        return self.path.finish - t

    def _component(self, q: Any, v: Any) -> Array:
        """ξ (3,) of the robot."""
        return np.asarray(self.robot.center_of_mass(q) + self.robot.center_of_mass_velocity(q, v) / self.omega)


def _mean_heading(a: Footstep, b: Footstep) -> float:
    return a.heading + 0.5 * math.remainder(b.heading - a.heading, 2.0 * math.pi)
