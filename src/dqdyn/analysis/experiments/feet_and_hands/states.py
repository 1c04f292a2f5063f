"""The state machine: which limbs carry the robot, which posture it goes to, and when that is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dqdyn import control as ct
from dqdyn.analysis.experiments.feet_and_hands.postures import Posture
from dqdyn.analysis.experiments.feet_and_hands.setting import FEET, HANDS, SUPPORTS
from dqdyn.analysis.experiments.feet_and_hands.targets import Targets
from dqdyn.robot import Robot

NEAR, TURNED = 0.01, 0.2
"""m of the divergent component and of limbs, rad of all joints together, up to which a posture counts as reached."""
TOUCH = 8.0
"""N of a limb that has touched down."""
DIVERGENT, LIMB, PELVIS, POSTURE, MOMENTUM, FORCES = 1e4, 100.0, 3.0, 1.0, 1e-3, 1e-4
"""Weights of the tasks, for errors in m/s, m/s² and rad/s², rad/s², rad/s², N m and N."""


@dataclass(frozen=True)
class Stage:
    """``seconds`` s on the way to a posture, on some limbs, with tasks for those that move, then some that it stays.

    ``lands``: the way is over when the moving limbs touch the ground.
    """

    name: str
    posture: str
    on: tuple[str, ...]
    seconds: float
    moving: tuple[str, ...] = ()
    lands: bool = False
    stays: float = 0.0


_THREE = "left_foot", *HANDS
_ALL = *FEET, *HANDS
STAGES = (
    Stage("stand", "standing", FEET, 0.5),
    Stage("shift to the right", "over the right foot", FEET, 1.5),
    Stage("lift the left foot", "on the right foot", ("right_foot",), 1.5, ("left_foot",), stays=1.0),
    Stage("lower the left foot", "left foot low", ("right_foot",), 1.5, ("left_foot",)),
    Stage("set down the left foot", "over the right foot", ("right_foot",), 1.0, ("left_foot",), lands=True),
    Stage("shift back", "standing", FEET, 1.2),
    Stage("bend", "bent", FEET, 2.5, HANDS),
    Stage("set down the hands", "on feet and hands", FEET, 1.0, HANDS, lands=True),
    Stage("lean on the hands", "leaning", _ALL, 2.5, stays=0.3),
    Stage("raise the right leg", "one leg up", _THREE, 2.0, ("right_foot",)),
    Stage("raise the left leg", "scissors", HANDS, 2.0),
    Stage("handstand", "handstand", HANDS, 2.0, stays=3.0),
    Stage("shift to the right hand", "over the right hand", HANDS, 2.5),
    Stage("lift the left hand", "on the right hand", ("right_hand",), 1.5, ("left_hand",), stays=1.0),
    Stage("set down the left hand", "over the right hand", ("right_hand",), 1.2, ("left_hand",), lands=True),
    Stage("shift back to both hands", "handstand", HANDS, 2.5),
    Stage("open the legs", "scissors", HANDS, 2.0),
    Stage("lower the left leg", "left leg low", HANDS, 2.0, ("left_foot",)),
    Stage("set down the left leg", "one leg up", HANDS, 1.5, ("left_foot",), lands=True),
    Stage("lower the right leg", "right leg low", _THREE, 2.0, ("right_foot",)),
    Stage("set down the right leg", "leaning", _THREE, 1.0, ("right_foot",), lands=True),
    Stage("lean back", "on feet and hands", _ALL, 2.5),
    Stage("lift the hands", "bent", FEET, 1.0, HANDS),
    Stage("rise", "standing", FEET, 2.5),
)
"""Double and single support, feet and hands, a handstand on both hands and on one, and back to the feet."""
STANCES = {
    FEET: "both feet",
    ("right_foot",): "one foot",
    _ALL: "feet and hands",
    _THREE: "a foot and hands",
    HANDS: "both hands",
    ("right_hand",): "one hand",
}
"""What carries the robot, in words."""


def tasks_of(on: Sequence[str], moving: Sequence[str], targets: Targets, height: float) -> tuple[ct.Task, ...]:
    """Center of mass, posture and limbs that move as tasks [Bouyarmane, section VI], on the ground with some limbs.

    ``height`` in m of the center of mass is that of its pendulum. The center of mass is asked for by its divergent
    component, so that palms and wrists balance as soles and ankles do.
    """
    forces = ct.ForceRegularisation(components=("f_t1", "f_t2", "tau_t1", "tau_t2", "tau_n"), weight=FORCES)
    return (
        ct.DivergentComponentTask(targets.center, height=height, gain=5.0, weight=DIVERGENT),
        ct.RotationTask("pelvis", targets.pelvis, gain=5.0, weight=PELVIS),
        ct.PostureTask(targets.posture, joints="motors", gain=5.0, weight=POSTURE),
        *(ct.PoseTask(limb, targets.limbs[limb], gain=10.0, weight=LIMB) for limb in moving),
        ct.MomentumTask(part="angular", gain=5.0, weight=MOMENTUM),
        forces,
    )


Key = tuple[tuple[str, ...], tuple[str, ...]]
"""Limbs that carry, limbs that move: what has a program of its own."""


def tasks_by_key(
    postures: Mapping[str, Posture], targets: Targets, stages: Sequence[Stage] = STAGES
) -> dict[Key, tuple[ct.Task, ...]]:
    """The tasks of all stages; those with the same contacts and moving limbs share them.

    Heights are rounded to 0.1 m: the divergent component is of a pendulum that the robot resembles only.
    """
    heights: dict[Key, list[float]] = {}
    for stage in stages:
        heights.setdefault((stage.on, stage.moving), []).append(float(postures[stage.posture].center[2]))
    return {key: tasks_of(*key, targets, round(float(np.mean(each)), 1)) for key, each in heights.items()}


def machine(
    robot: Robot,
    postures: Mapping[str, Posture],
    targets: Targets,
    stages: Sequence[Stage] = STAGES,
    *,
    progress: bool | None = None,
) -> ct.StateMachine:
    """All stages in a row, whole-body control by torques; it ends in the last posture, or where it failed.

    Stances on one foot and on two are those of [Bouyarmane, fig. 2] and [Bouyarmane, fig. 4], stances on one hand and
    on two those of [Bouyarmane, fig. 3].
    """
    tasks = tasks_by_key(postures, targets, stages)
    limits = ct.JointLimits(gain=20.0)
    names = [*(stage.name for stage in stages[1:]), "done"]
    states = [
        _state(stage, following, postures[stage.posture], targets, tasks[stage.on, stage.moving], limits)
        for stage, following in zip(stages, names, strict=True)
    ]
    end = stages[-1]
    last = ct.State("done", tasks[end.on, end.moving], [limits], [SUPPORTS[limb] for limb in end.on], ends="done")
    states += [last, ct.State("failed", ends="failed")]
    return ct.StateMachine(robot, states, stages[0].name, "whole-body", progress=progress, ground=0.0)


def _state(
    stage: Stage,
    following: str,
    goal: Posture,
    targets: Targets,
    tasks: Sequence[ct.Task],
    limits: ct.JointLimits,
) -> ct.State:
    def enter(moment: ct.Moment) -> None:
        targets.aim(goal, stage.seconds, stage.moving, stage.lands)

    def during(moment: ct.Moment) -> None:
        targets.move(moment.elapsed)

    g = ct.guards
    if stage.lands:
        done = g.touching(*stage.moving, force=TOUCH, during=0.02)
    else:
        balanced = g.reached("divergent component", NEAR, during=0.05)
        limbs = [g.reached(f"pose of {limb}", NEAR) for limb in stage.moving]
        done = g.all_of(g.after(stage.seconds + stage.stays), balanced, g.reached("posture", TURNED), *limbs)
    transitions = [
        ct.Transition(following, done),
        ct.Transition("failed", g.unsolved(during=0.1)),
        ct.Transition("failed", g.stalled("divergent component", tolerance=5.0 * NEAR)),
    ]
    contacts = [SUPPORTS[limb] for limb in stage.on]
    limit = stage.seconds + stage.stays + 2.0
    return ct.State(stage.name, tasks, [limits], contacts, transitions, limit, enter=enter, during=during)
