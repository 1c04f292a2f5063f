"""The states of a walk: both feet, one foot, both feet, …, driven by time and by touch-down.

Three sets of contacts serve a list of footsteps of any length: nothing is compiled while the robot walks. "begin" and
"both feet" go over to the foot that will stand when the load is on it; while it stands, the other foot swings until it
touches; after the last step the robot stands on both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dqdyn import control as ct
from dqdyn.analysis.standing.setting import Standing
from dqdyn.analysis.walking.gait import Gait
from dqdyn.contacts import Contact

BEGIN, BOTH, STAND, FELL = "begin", "both feet", "stand", "fell"
RAMP = 0.04
"""s in which the forces of a foot go up or down when it comes or goes."""
TOUCHES = 30.0
"""N that a foot presses with when it has landed."""
PATIENCE = 0.3
"""s that a foot may be late."""
_FALLEN = 0.6  # of the height of the base


def on_one(foot: str) -> str:
    """The name of the state in which a foot stands alone."""
    return f"on {foot}"


def falls(gait: Gait) -> ct.Transition:
    """To the failing end, where the base is too low."""
    lowest = _FALLEN * gait.standing.q0[6]
    has_fallen = ct.guards.when(lambda moment: bool(moment.q[6] - gait.ground < lowest), "the robot has fallen")
    return ct.Transition(FELL, has_fallen, kind="failure")


@dataclass(frozen=True, eq=False)
class Walk:
    """States of a gait, from "begin" to "stand"; what they have besides is the same in all of them.

    ``more``: tasks; ``constraints``; ``holding``: contacts that stay, such as a hand on a wall. ``after``: the state
    that follows when the robot stands on both feet again, by default the final one, "stand".
    """

    gait: Gait
    more: Sequence[ct.Task] = ()
    constraints: Sequence[Any] = ()
    holding: Sequence[Contact] = ()
    after: str = STAND
    ramp: float = RAMP
    touches: float = TOUCHES

    @property
    def standing(self) -> Standing:
        return self.gait.standing

    def states(self) -> tuple[ct.State, ...]:
        """All of them, with "stand" and "fell" unless another one follows."""
        gait, supports = self.gait, dict(zip(self.standing.feet, self.standing.supports, strict=True))
        double = [*gait.targets.tasks(gait.omega), *self.more]
        common: dict[str, Any] = {"constraints": self.constraints, "during": self._during, "ramp": self.ramp}
        on_both = common | {"tasks": double, "contacts": [*supports.values(), *self.holding]}
        lifts = [self._lifts(foot) for foot in supports]
        fell = falls(gait)
        timing = gait.timing
        found = [
            ct.State(BEGIN, transitions=[fell, *lifts], time_limit=2.0 * timing.begin, enter=self._begin, **on_both),
            ct.State(
                BOTH,
                transitions=[fell, self._stands(), *lifts],
                time_limit=2.0 * (timing.end + timing.single),
                enter=self._land,
                **on_both,
            ),
        ]
        for foot, support in supports.items():
            other = gait.plan.other(foot)
            swing = gait.targets.foot_tasks(other)
            touched = ct.guards.touching(supports[other], force=self.touches)
            swung = ct.guards.when(self._may_land, "half of the swing is over")
            found.append(
                ct.State(
                    on_one(foot),
                    tasks=[*double, *swing],
                    contacts=[support, *self.holding],
                    transitions=[fell, ct.Transition(BOTH, ct.guards.all_of(touched, swung), f"{other} has landed")],
                    time_limit=max(timing.single, timing.slowest) + PATIENCE,
                    enter=self._hold,
                    **common,
                )
            )
        if self.after == STAND:
            found.append(ct.State(STAND, ends="done", **on_both))
        return (*found, ct.State(FELL, ends="failed"))

    def machine(self, **options: Any) -> ct.StateMachine:
        """The machine of these states alone; ``options`` of its whole-body controller."""
        settings = {"fall_margin": None} | options  # a robot that steps leaves its support polygon at every step
        return ct.StateMachine(self.standing.robot, self.states(), BEGIN, "whole-body", **settings)

    # --- guards -----------------------------------------------------------------------------------------------

    def _lifts(self, foot: str) -> ct.Transition:
        """To the state in which ``foot`` stands, when the load is on it."""
        gait = self.gait

        def is_loaded(moment: ct.Moment) -> bool:
            return not gait.done and gait.supporting == foot and moment.t >= gait.double_ends - self.ramp

        return ct.Transition(on_one(foot), ct.guards.when(is_loaded, f"the load is on {foot}"), f"load on {foot}")

    def _stands(self) -> ct.Transition:
        gait = self.gait

        def is_over(moment: ct.Moment) -> bool:
            return gait.done and moment.t >= gait.double_ends

        return ct.Transition(self.after, ct.guards.when(is_over, "all steps are made"))

    def _may_land(self, moment: ct.Moment) -> bool:
        path = self.gait.path
        return path is not None and moment.t >= path.start + 0.5 * path.duration

    # --- what states do ---------------------------------------------------------------------------------------

    def _begin(self, moment: ct.Moment) -> None:
        self.gait.reset()
        self.gait.begin(moment.t, moment.q, moment.v)

    def _land(self, moment: ct.Moment) -> None:
        self.gait.land(moment.t, moment.q, moment.v)

    def _hold(self, moment: ct.Moment) -> None:
        self.gait.hold(moment.q)

    def _during(self, moment: ct.Moment) -> None:
        gait = self.gait
        if gait.path is None and moment.state not in (BEGIN, BOTH, STAND):
            switching = getattr(moment.controller, "switching", "")
            if not switching.startswith(("unloading", "waiting")):
                gait.lift(moment.t, moment.q, moment.v)
        gait.move(moment.t, moment.q, moment.v)
