"""A pendulum hits a humanoid with a hand on a table: Quiroz, section 4.4, fig. 4.9."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dqdyn.algebra.real import real_number
from dqdyn.analysis.experiments.experiment import Case, Result
from dqdyn.analysis.experiments.figures import draw, phases
from dqdyn.analysis.experiments.pendulum_blow import claims, pictures, setting
from dqdyn.analysis.experiments.pendulum_blow.blows import DURATION, Balance, Blow, Ring, Search, searched
from dqdyn.analysis.experiments.pendulum_blow.pendulum import Pendulum
from dqdyn.analysis.experiments.pendulum_blow.postures import Posture, Steps, polygon, postures
from dqdyn.analysis.experiments.pendulum_blow.study import VARIED, Study
from dqdyn.errors import Error
from dqdyn.progress import Progress
from dqdyn.simulate.problem import is_whole

NAME, TITLE = "pendulum-blow", "A pendulum hits a humanoid that leans on a table"
MOMENTUM = 105.0
"""N s of the ball in the blow that both postures get."""
AWAY = 2.0 / 3.0
"""Of that blow, with which the search begins for blows away from the hand."""
RESOLUTION, SUBSTEPS = 0.05, (1, 2)
_RUNS = 33  # about, for the progress bar


def experiment(
    plant: str | None = None,
    momentum: float = MOMENTUM,
    duration: float = DURATION,
    resolution: float = RESOLUTION,
    substeps: Sequence[int] = SUBSTEPS,
) -> Result:
    """Both postures get the same blow, slightly weaker and stronger ones, and others until the greatest is found.

    In MuJoCo whatever ``plant`` is: on our own dynamics there is no pendulum to touch.
    ``momentum`` of the ball in N s; the greatest blow that is survived is found to ``resolution``, a share of it; all
    that with each number of ``substeps``, of the engine per control step.
    """
    if not 0.0 < real_number(resolution, f"the resolution of {NAME}") < 1.0:
        raise Error(f"the resolution of {NAME} is a share between 0 and 1, as 0.05; found {resolution!r}.")
    if not isinstance(substeps, Sequence) or not substeps or not all(map(is_whole, substeps)):
        raise Error(f"substeps of {NAME} are a list of whole numbers from 1 on, as [1, 2]; found {substeps!r}.")
    return report(studied(real_number(momentum, f"the momentum of {NAME}"), duration, resolution, substeps))


def report(study: Study) -> Result:
    """Claims, figures and tables; drawn are the runs at the first engine step."""
    pair = study.pair(next(iter(study.searches)))
    return Result(
        NAME,
        TITLE,
        "Quiroz, section 4.4, fig. 4.9",
        pictures.text(study),
        tuple(claims.all_claims(study)),
        (_steps_case(study.steps), *(_case(blow) for blow in pair)),
        tuple(pictures.figures(study)),
        (pictures.summary(study), pictures.all_runs(study)),
    )


def studied(momentum: float, duration: float, resolution: float, substeps: Sequence[int]) -> Study:
    """All runs."""
    start, pendulum = setting.start(), Pendulum()
    pendulum.angle(max(VARIED) * momentum)  # an error now, not after the controllers are compiled
    steps = postures(start)
    ring = Ring(start, Balance(start), pendulum)
    done = 0
    with Progress(_RUNS, "blows of the pendulum in MuJoCo") as bar:

        def noted() -> None:
            nonlocal done
            done += 1
            bar.at(min(done, _RUNS))

        def search(ring: Ring, posture: Posture, first: Sequence[float], count: int) -> Search:
            blows = []
            for each in first:
                blows.append(ring.blow(posture, each, duration=duration, substeps=count))
                noted()
            found = Search(blows)
            for found in searched(ring, posture, blows, resolution, duration):  # noqa: B007 (the last one counts)
                noted()
            return found

        near, far = steps.both
        first = [momentum, *(factor * momentum for factor in VARIED)]
        searches = {n: (search(ring, near, first, n), search(ring, far, first, n)) for n in substeps}
        other = replace(ring, pendulum=replace(pendulum, direction=-pendulum.direction))
        one = substeps[0]
        away = search(other, near, [AWAY * momentum], one), search(other, far, [AWAY * momentum], one)
    return Study(start, steps, ring, momentum, searches, away)


def _case(blow: Blow) -> Case:
    drawn = draw("support_polygon", polygon=blow.posture.polygon, center=blow.centers)
    name = f"{blow.posture.name}: {'falls' if blow.fell else 'stays'}"
    return Case(name, blow.trajectory, (drawn,), scene=blow.scene)


def _steps_case(steps: Steps) -> Case:
    run, start = steps.run, steps.unmaximised.standing
    centers = [start.robot.center_of_mass(q) for q in run.q]
    drawn = draw("support_polygon", polygon=[polygon(start, q) for q in run.q], center=centers)
    spans = phases(run.time, steps.states)
    return Case("Steps I and II", run, (drawn,), scene=setting.scene(), spans=spans)
