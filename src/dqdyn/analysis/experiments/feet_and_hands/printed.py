"""The quadratic programs as they are printed, with a quaternion among the coordinates, at states of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqdyn import control as ct
from dqdyn.analysis.experiments.feet_and_hands.postures import Posture
from dqdyn.analysis.experiments.feet_and_hands.running import Run
from dqdyn.analysis.experiments.feet_and_hands.setting import SUPPORTS
from dqdyn.analysis.experiments.feet_and_hands.states import STAGES, Key
from dqdyn.analysis.experiments.feet_and_hands.targets import Targets
from dqdyn.control.whole_body.forms import Form
from dqdyn.progress import Progress

STATES = 20
"""States of the run at which programs are compared."""
PRINTED: dict[str, tuple[str, Form]] = {
    "eq. (37)": ("handstand", "projected"),
    "eq. (38)": ("lean back", "multipliers"),
}
"""What is printed: the stage whose contacts and tasks it is compared for, and the form of the program."""


@dataclass(frozen=True)
class Comparison:
    """Of a printed program with the controller of the run: the largest difference of torques, and their size, N m."""

    equation: str
    contacts: tuple[str, ...]
    states: int
    difference: float
    largest: float


def compared(
    run: Run,
    postures: dict[str, Posture],
    targets: Targets,
    tasks: dict[Key, tuple[ct.Task, ...]],
    *,
    progress: bool | None = None,
) -> list[Comparison]:
    """Torques by the printed programs of Bouyarmane, (37) and (38), beside those of the controller.

    The robot is in coordinates with a unit quaternion for the orientation of its base, one too many, whose length is a
    condition of the program. Targets are the postures that the robot was on its way to, at rest.
    """
    with Progress(len(PRINTED), "comparing printed programs", progress) as bar:
        found = []
        for k, (equation, (stage, form)) in enumerate(PRINTED.items(), 1):
            found.append(_compared(run, postures, targets, tasks, equation, stage, form))
            bar.at(k)
    return found


def _compared(
    run: Run,
    postures: dict[str, Posture],
    targets: Targets,
    tasks: dict[Key, tuple[ct.Task, ...]],
    equation: str,
    name: str,
    form: Form,
) -> Comparison:
    robot = run.trajectory.robot
    stages = {stage.name: stage for stage in STAGES}
    key = stages[name].on, stages[name].moving
    contacts, limits = [SUPPORTS[limb] for limb in key[0]], [ct.JointLimits(gain=20.0)]
    fast = ct.whole_body_controller(robot, tasks[key], limits, contacts=contacts)
    floating = robot.in_coordinates("quaternion")
    literal = ct.whole_body_controller(floating, tasks[key], limits, contacts=contacts, form=form)
    same = [
        i
        for i, state in enumerate(run.states_of_samples)
        if state in stages and (stages[state].on, stages[state].moving) == key
    ]
    difference = largest = 0.0
    for i in same[:: max(1, len(same) // STATES)][:STATES]:
        goal = postures[stages[run.states_of_samples[i]].posture]
        targets.center.update(goal.center[:2])
        targets.posture.update(goal.q)
        targets.pelvis.update(goal.q[:4])
        t, q, v = float(run.trajectory.time[i]), run.trajectory.q[i], run.trajectory.v[i]
        fast.reset()
        literal.reset()
        torques = fast(t, q, v), literal(t, *floating.from_minimal(q, v))
        difference = max(difference, float(np.abs(torques[0] - torques[1]).max()))
        largest = max(largest, float(np.abs(torques[0]).max()))
    return Comparison(equation, key[0], min(len(same), STATES), difference, largest)
