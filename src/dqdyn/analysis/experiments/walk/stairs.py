"""Up three stairs of 10 cm with the left hand on a wall, by the controller and the states that walk on flat ground."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from dqdyn import control as ct
from dqdyn import scenes
from dqdyn.analysis.experiments.experiment import AnyFigure, Claim, Table
from dqdyn.analysis.experiments.figures import figure
from dqdyn.analysis.experiments.machine_figures import graph_of
from dqdyn.analysis.experiments.walk.part import Part
from dqdyn.analysis.experiments.walk.pictures import case_of, events_of, from_above, spans_of
from dqdyn.analysis.standing.setting import FRICTION, Standing, multi_contact_humanoid
from dqdyn.analysis.walking.climbing import Climb, HandOnWall
from dqdyn.analysis.walking.gait import Gait, Style, Timing
from dqdyn.analysis.walking.walked import Push, Walked, Walker, random_pushes, start_of, walk
from dqdyn.arrays import Array
from dqdyn.footsteps import FootstepPlan, Sole, StepAdjustment
from dqdyn.geometry.primitives import Plane
from dqdyn.progress import Progress
from dqdyn.robots.multi_contact import PALM

COUNT, RISE, RUN = 3, 0.10, 0.30
"""Stairs, m of height each, m of depth each."""
FOOT, WALL = 0.20, 0.50
"""m from the robot to the foot of the stairs, and to the wall on its left."""
HAND = "left_hand"
PALM_LINK = "left_palm"
DURATION = 27.0
"""s in which the robot is on top."""
NEAR, SLIP = 5e-3, 2e-3
"""m: of footprints from their footsteps, and of feet that stand, without pushes."""
SEED = 17
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


def climb(
    setting: Stairs, climber: Climber, push: Push | None = None, duration: float = DURATION, **options: Any
) -> Climbed:
    """One climb of ``duration`` s; ``options`` are those of :func:`~dqdyn.analysis.walking.walked.walk`."""
    walked = walk(climber, duration, push, **{"scene": setting.scene} | options)
    planned = tuple(step for plan in setting.stretches for step in plan.steps)
    values = {name: getattr(walked, name) for name in Walked.__dataclass_fields__}
    return replace(Climbed(**values), planned=planned)


# --- the part of the experiment ---------------------------------------------------------------------------------------


def part(pushes: int = 10, ratio: float = 0.3, substeps: Sequence[int] = (1, 2), show: bool | None = None) -> Part:
    """The climb at all ``substeps`` of the engine, and with the first of them ``pushes`` runs of one push each.

    ``ratio``: of the force that the standing robot survives as a pendulum. ``show``: a progress bar.
    """
    setting = stairs()
    climber = setting.climber()
    total = len(substeps) + pushes
    with Progress(total, f"{total} climbs", show) as bar:
        done = iter(range(1, total + 1))

        def one(push: Push | None, engine: int) -> Climbed:
            found = climb(setting, climber, push, substeps=engine)
            bar.at(next(done))
            return found

        plain = {engine: one(None, engine) for engine in substeps}
        graph = graph_of(climber.machine, "stairs: the state machine")
        drawn = random_pushes(pushes, ratio, 3.0, DURATION - 4.0, seed=SEED)
        pushed = [one(push, substeps[0]) for push in drawn]
    first = plain[substeps[0]]
    cases = [case_of(f"{COUNT} stairs with a hand on the wall", first, setting.scene)]
    hardest = min(pushed, key=lambda run: run.hand_forces[run.is_stepping].min(initial=np.inf), default=None)
    if hardest is not None:
        cases.append(case_of("stairs, pushed: the run whose palm nearly leaves the wall", hardest, setting.scene))
    text = (
        f"Our humanoid with palms of {setting.standing.robot.mass:.1f} kg climbs {COUNT} stairs, {100 * RISE:.0f} cm "
        f"high and {100 * RUN:.0f} cm deep, with its left palm on a wall: for every stair the palm goes ahead, presses "
        "with 25 N, and lies still while both feet step up. Controller, gait and states are those of the flat ground, "
        "and the states of the hand.",
    )
    return Part(
        text,
        tuple(_claims(plain, pushed, ratio)),
        tuple(cases),
        (*_figures(first), graph),
        (_table(setting.standing, pushed),),
    )


def _claims(plain: dict[int, Climbed], pushed: Sequence[Climbed], ratio: float) -> Iterator[Claim]:
    runs = plain.values()
    yield Claim(
        f"up {COUNT} stairs of {100 * RISE:.0f} cm without a fall, at every step of the engine",
        "; ".join(
            f"engine step {1e3 / engine:g} µs: feet {100 * min(run.feet(f)[-1, 2] for f in run.standing.feet):.1f} cm "
            f"up, {run.why or 'stands at the end'}"
            for engine, run in plain.items()
        ),
        all(run.stayed_up and _is_up(run) for run in runs),
    )
    for text, limit, values in (
        (f"every footprint on a stair is within {1e3 * NEAR:g} mm of its footstep", NEAR, [r.deviation for r in runs]),
        (f"no foot slips on a stair by more than {1e3 * SLIP:g} mm", SLIP, [run.slip for run in runs]),
    ):
        measured = " and ".join(f"{1e3 * value:.2g} mm" for value in values)
        yield Claim(text, f"{measured} at the most", all(value <= limit for value in values))
    least = [float(run.hand_forces[run.is_stepping].min(initial=np.inf)) for run in runs]
    yield Claim(
        "the palm presses on the wall whenever the robot is on one foot",
        " and ".join(f"{force:.1f} N" for force in least) + " at the least",
        all(0.0 < force < np.inf for force in least),
    )
    up = [run for run in pushed if run.stayed_up and _is_up(run)]
    falls = "".join(f", {run.why}" for run in pushed if not run.stayed_up)
    yield Claim(
        f"no fall on the stairs in {len(pushed)} runs with a random push of {ratio:g} of the standing robot's bound",
        f"{len(up)} of {len(pushed)} reach the top and stand{falls}",
        len(up) == len(pushed),
    )


def _is_up(run: Climbed) -> bool:
    return all(abs(run.feet(foot)[-1, 2] - COUNT * RISE) < 0.01 for foot in run.standing.feet)


def _table(standing: Standing, pushed: Sequence[Climbed]) -> Table:
    rows = [
        (
            f"{run.push.start:.2f}",
            f"{np.degrees(run.push.angle):.0f}",
            f"{run.push.force(standing):.0f}",
            f"{run.hand_forces[run.is_stepping].min(initial=np.inf):.1f}",
            run.why or "stands on top",
        )
        for run in pushed
        if run.push is not None
    ]
    columns = ("time in s", "direction in °", "N", "palm on one foot, least N", "end")
    return Table("Pushed on the stairs; directions from ahead to the left", columns, tuple(rows))


def _figures(run: Climbed) -> Iterator[AnyFigure]:
    spans, events = spans_of(run), events_of(run)
    yield from_above("stairs: footsteps, center of mass and divergent component", run)
    heights = {foot: (run.trajectory, run.feet(foot)[:, 2]) for foot in run.standing.feet}
    heights["center of mass"] = (run.trajectory, run.centers[:, 2])
    yield figure("stairs: heights", "m", heights, spans=spans, events=events)
    forces = {foot: (run.trajectory, run.forces(foot)) for foot in run.standing.feet}
    yield figure("stairs: normal forces below the feet", "N", forces, spans=spans, events=events)
    palm = {"left palm": (run.trajectory, run.hand_forces)}
    yield figure("stairs: normal force of the palm", "N", palm, spans=spans, events=events)
