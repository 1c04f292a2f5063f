"""Postures on feet and hands, up to a handstand, by one whole-body controller: Bouyarmane, section VI."""

from __future__ import annotations

from collections.abc import Iterator

from dqdyn.analysis.experiments.experiment import AnyFigure, Case, Claim, Result, Span
from dqdyn.analysis.experiments.feet_and_hands.measured import claims, duration_of_steps, loads
from dqdyn.analysis.experiments.feet_and_hands.postures import Posture, postures
from dqdyn.analysis.experiments.feet_and_hands.printed import compared
from dqdyn.analysis.experiments.feet_and_hands.running import Run, Timed, follow, replayed
from dqdyn.analysis.experiments.feet_and_hands.setting import LIMBS, ground, humanoid
from dqdyn.analysis.experiments.feet_and_hands.states import STAGES, STANCES, machine, tasks_by_key
from dqdyn.analysis.experiments.feet_and_hands.targets import Targets
from dqdyn.analysis.experiments.figures import draw, figure, joint_figures, phases
from dqdyn.errors import Error

NAME, TITLE = "feet-and-hands", "A humanoid on its feet, on feet and hands, and in a handstand"
SUBSTEPS = 1, 4
"""Steps of MuJoCo per control step, in two runs."""
_TEXT = (
    "A humanoid with 27 joints on a free base stands on two feet and on one, lays its hands on the ground, leans on "
    "them, raises one leg after the other into a handstand, lifts one hand, and comes back to its feet. The "
    "coordinates are the same throughout: the orientation of the base is a unit quaternion, whatever touches.",
    "Tasks are the center of mass, by its divergent component, the posture, and the limb that moves; a state machine "
    "goes on to the next posture when one is reached, or when a limb has touched the ground. The paper does not "
    "print postures, gains and efforts: they are ours, found by inverse kinematics from joint angles, and so is the "
    "robot, in the place of HRP-2.",
    "On our own dynamics contacts are unilateral with Coulomb's friction; the controller presses with soles and palms "
    "without a border of 1 cm.",
)
_SPARE = 2.0  # s after the last state
_EQUAL = 1e-6  # N m


def experiment(plant: str | None = None, stages: int = len(STAGES), printed: bool = True) -> Result:
    """The whole sequence, on our own dynamics or in MuJoCo with two steps of the engine.

    ``stages``: how many of the sequence, from its start. ``printed``: compare a whole sequence with the programs as
    they are printed, which takes longest to compile.
    """
    if not isinstance(stages, int) or isinstance(stages, bool) or not 1 <= stages <= len(STAGES):
        raise Error(f"{NAME} has {len(STAGES)} stages: give a number of them from 1 on; found {stages!r}.")
    robot, chosen = humanoid(), STAGES[:stages]
    found = postures(robot)
    targets = Targets(robot, found["standing"])
    law = Timed(machine(robot, found, targets, chosen), targets)
    seconds = sum(stage.seconds + stage.stays for stage in chosen) + _SPARE
    if plant is None:
        runs = [follow("own dynamics", law, seconds)]
    else:
        runs = [follow(f"{plant}, {1.0 / k:g} ms", law, seconds, plant, substeps=k) for k in SUBSTEPS]
    every = [claim for run in runs for claim in claims(run, chosen)]
    if chosen == STAGES:
        every += [*_printed(runs[0], found, targets)] if printed else []
        every.append(duration_of_steps(runs, replayed(law, runs[0])))
    return Result(
        NAME,
        TITLE,
        "Bouyarmane, section VI, figs. 2, 3 and 4",
        _TEXT,
        tuple(every),
        tuple(_case(run) for run in runs),
        tuple(_figures(runs)),
        tuple(loads(run, chosen) for run in runs),
    )


def _printed(run: Run, found: dict[str, Posture], targets: Targets) -> Iterator[Claim]:
    for c in compared(run, found, targets, tasks_by_key(found, targets)):
        yield Claim(
            f"{c.equation} as printed, with a unit quaternion for the base, gives the torques of the controller",
            f"{c.difference:.1e} N m apart at most in {c.states} states on {len(c.contacts)} contacts, of torques up "
            f"to {c.largest:.0f} N m",
            c.difference < _EQUAL and c.states > 0,
        )


def _case(run: Run) -> Case:
    path = draw("path", points=run.centers, name="center of mass")
    return Case(run.name, run.trajectory, (path,), ground(), run.spans)


def _stances(run: Run) -> tuple[Span, ...]:
    """Spans of what carries the robot; after the last stage that of the last."""
    by_state = {stage.name: STANCES[stage.on] for stage in STAGES} | {"done": STANCES[STAGES[-1].on], "failed": ""}
    return phases(run.trajectory.time, [by_state[state] for state in run.states_of_samples])


def _figures(runs: list[Run]) -> list[AnyFigure]:
    spans = _stances(runs[0])
    figures: list[AnyFigure] = [
        figure(
            f"{run.name}: normal forces measured by the plant",
            "N",
            {limb.replace("_", " "): (run.trajectory, run.normal_forces(limb)) for limb in LIMBS},
            {"weight": 9.81 * run.trajectory.robot.mass},
            spans=_stances(run),
        )
        for run in runs
    ]
    heights = {run.name: (run.trajectory, run.centers[:, 2]) for run in runs}
    figures.append(figure("height of the center of mass", "m", heights, spans=spans))
    ahead = {run.name: (run.trajectory, run.centers[:, 0]) for run in runs}
    figures.append(figure("center of mass from feet (0 m) to hands (0.3 m)", "m", ahead, spans=spans))
    names = [f"left_{joint}" for joint in ("hip_pitch", "knee", "shoulder_pitch", "elbow", "wrist_pitch")]
    figures += joint_figures("joints", {run.name: run.trajectory for run in runs}, names, spans=spans)
    return [*figures, runs[0].history]
